//! The sender of a message that may be a report: a mail system, a mailing list, or a person. A phrase in a text proves nothing, since
//! people quote bounces, forward them and write about them; the decision rests on what the envelope left in the header.

use crate::read::field::{Field, last};
use crate::threads::{forward_subject, reply_subject};

/// In rising order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sender {
    /// A person: no text makes this message a report.
    Person,
    /// The program of a mailing list: it passes reports on, and writes none.
    List,
    /// Named like a mail system, or without a return path: the text has to begin as a report.
    Perhaps,
    /// A mail system.
    System,
}

/// Accounts that no person writes from, lower case; others may follow.
const DAEMONS: [&str; 9] = [
    "mailer-daemon",
    "mailerdaemon",
    "mailer_daemon",
    "mailer.daemon",
    "mail-daemon",
    "maildaemon",
    "mail.daemon",
    "mdaemon",
    // Exchange Online: `MicrosoftExchange` and the organisation's number.
    "microsoftexchange",
];

/// Accounts that a person may write from as well (RFC 2142 5).
const ROLES: [&str; 7] = [
    "postmaster",
    "mail-admin",
    "mailadmin",
    "system-administrator",
    "systemadministrator",
    "bounce",
    "bounces",
];

/// Beginnings of the display names that programs use, lower case.
const NAMES: [&str; 16] = [
    "mail delivery",
    "mail deliver system",
    "mailer-daemon",
    "mailer daemon",
    "mail daemon",
    "mail administrator",
    "system administrator",
    "mail system",
    "delivery subsystem",
    "delivery system",
    "postmaster",
    "interscan",
    "content-filter at",
    "courier mail server",
    "systemadministrator",
    "mail-system",
];

/// Programs of mailing lists: the account, or what it begins or ends with.
const LISTS: [&str; 4] = ["mailman", "listserv", "majordomo", "sympa"];

/// Whether a message from here can be a report at all, so that it is worth reading whole: its address or the name before it is one of a
/// mail system, of a service that passes complaints on, or of a mailing list.
pub fn may_report(name: Option<&str>, email: &str) -> bool {
    /// Parts of the accounts that send complaints (RFC 5965), and those that programs of lists put around a list's name.
    const PARTS: [&str; 4] = ["complaints", "fbl", "bounce", "owner-"];
    let local = email.split('@').next().unwrap_or_default().to_lowercase();
    let name = name.unwrap_or_default().to_lowercase();
    DAEMONS.iter().chain(&PARTS).any(|part| local.contains(part))
        || ROLES.iter().chain(&LISTS).any(|account| local == *account)
        || NAMES.iter().any(|part| name.contains(part))
}

/// Classifies the sender by the header.
pub fn sender(header: &[Field<'_>]) -> Sender {
    let value = |name| last(header, name).map(|field| field.text().to_lowercase()).unwrap_or_default();
    let from = value("from");
    let local = local_part(&from);
    if DAEMONS.iter().any(|name| local.starts_with(name)) {
        return Sender::System;
    }
    let has = |name| last(header, name).is_some();
    let path = value("return-path");
    // Some servers write themselves where nothing stood; qmail's double bounces have `#@[]`.
    let is_null = path == "<>" || path.starts_with("<mailer-daemon@") || path == "<#@[]>";
    let submitted = value("auto-submitted");
    let is_auto = !submitted.is_empty() && !submitted.starts_with("no");
    let subject = last(header, "subject").map(|field| field.text()).unwrap_or_default();
    let is_answer = has("in-reply-to") || has("references");
    let is_named = ROLES.contains(&local) || NAMES.iter().any(|name| from.contains(name));
    if is_named && (is_null || is_auto || has("x-failed-recipients")) {
        return Sender::System;
    }
    if is_null && has("x-failed-recipients") && !is_answer {
        return Sender::System;
    }
    if is_named {
        // The postmaster in person: answers, passes on, writes to a list.
        let is_passed_on = !subject.is_empty()
            && (reply_subject(&subject).trim() == subject.trim()
                || forward_subject(&subject).trim() == subject.trim());
        let is_mailing = has("list-id") || has("list-unsubscribe");
        return if is_answer || is_passed_on || is_mailing { Sender::Person } else { Sender::Perhaps };
    }
    if LISTS.contains(&local) || local.starts_with("owner-") || local.ends_with("-bounces") {
        return if has("in-reply-to") { Sender::Person } else { Sender::List };
    }
    // Answers of absent people, and receipts, have no return path either (RFC 3834 3.3, RFC 8098 2.1).
    let is_answering =
        submitted.starts_with("auto-replied") || is_answer || has("x-autoreply") || has("x-autorespond");
    if is_null && !is_answering { Sender::Perhaps } else { Sender::Person }
}

/// The account of the first address, which is in brackets, or the whole text.
fn local_part(from: &str) -> &str {
    let address = from.rsplit_once('<').map_or(from, |(_, address)| address);
    address.split(['@', '>']).next().unwrap_or_default().trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::may_report;

    #[test]
    fn addresses_and_names_of_mail_systems_may_report() {
        for email in [
            "MAILER-DAEMON@a.org",
            "MicrosoftExchange329e71ec@b.org",
            "postmaster@a",
            "mdaemon@c",
            "list-bounces@d",
            "owner-list@d",
        ] {
            assert!(may_report(None, email), "{email}");
        }
        assert!(may_report(Some("Mail Delivery System"), "noreply@a.org"));
        for email in ["alice@a.org", "", "sales@postmaster.org", "the.postmaster.fan@a.org"] {
            assert!(!may_report(Some("Alice"), email), "{email}");
        }
    }
}
