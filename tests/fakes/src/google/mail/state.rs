//! Messages that come into mailboxes from elsewhere, and what their users do by other programs.

use crate::google::mail::mailbox::{Mailbox, NewMail, SendAsAddress};
use crate::google::state::State;

/// Milliseconds from the record of a message in the history until it can be read, where it comes late.
const LATE_MS: i64 = 3_000;
/// Milliseconds until a search finds a message by its Message-ID, where the index lags behind.
const INDEX_MS: i64 = 5_000;

impl State {
    /// The mailbox of a user.
    ///
    /// # Panics
    /// The user has none.
    pub fn mailbox(&mut self, user: &str) -> &mut Mailbox {
        self.mail.get_mut(user).unwrap_or_else(|| panic!("{user} has no mailbox"))
    }

    /// Delivers a message into a user's inbox, unread; its id.
    pub fn deliver(&mut self, user: &str, raw: &[u8]) -> String {
        self.put_mail(user, raw, &["INBOX", "UNREAD"])
    }

    /// Puts a message into a user's mailbox now, with these labels; its id.
    pub fn put_mail(&mut self, user: &str, raw: &[u8], labels: &[&str]) -> String {
        let now = self.clock.now_ms();
        self.put_mail_at(user, raw, labels, now)
    }

    /// The same of a message that Google accepted at this time, in Unix milliseconds. The time in its head does not count.
    pub fn put_mail_at(&mut self, user: &str, raw: &[u8], labels: &[&str], internal_ms: i64) -> String {
        let now = self.clock.now_ms();
        let readable_ms = if self.traps.fires("late_message") { now + LATE_MS } else { now };
        let indexed_ms = self.indexed_ms(now);
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.mailbox(user).add(NewMail {
            raw: raw.to_vec(),
            labels,
            thread_id: None,
            internal_ms,
            readable_ms,
            indexed_ms,
            follows_references: true,
        })
    }

    /// The time from which on a search finds a message by its Message-ID that is stored now.
    pub(super) fn indexed_ms(&mut self, now: i64) -> i64 {
        if self.traps.fires("late_index") { now + INDEX_MS } else { now }
    }

    /// Puts a draft into a user's mailbox, as Gmail's own page does; the draft's id.
    pub fn put_draft(&mut self, user: &str, raw: &[u8]) -> String {
        let message = self.put_mail(user, raw, &["DRAFT"]);
        let mailbox = self.mailbox(user);
        let draft = format!("r{}", 7_000_000_000_000_000_000_u64 + mailbox.number());
        mailbox.drafts.insert(draft.clone(), message);
        draft
    }

    /// Saves another version of a draft, as Gmail's own page does: its message gets another id.
    pub fn change_draft(&mut self, user: &str, draft: &str, raw: &[u8]) {
        let old = self.mailbox(user).drafts.get(draft).cloned().unwrap_or_default();
        let thread_id = self.mailbox(user).messages.get(&old).map(|message| message.thread_id.clone());
        self.mailbox(user).remove(&old);
        let new = self.put_mail(user, raw, &["DRAFT"]);
        let mailbox = self.mailbox(user);
        if let (Some(thread_id), Some(message)) = (thread_id, mailbox.messages.get_mut(&new)) {
            message.thread_id = thread_id;
        }
        mailbox.drafts.insert(draft.to_owned(), new);
    }

    /// Adds an address that a user sends as, once it is verified.
    pub fn add_alias(&mut self, user: &str, email: &str, name: &str, is_accepted: bool) {
        let status = if is_accepted { "accepted" } else { "pending" };
        let alias =
            SendAsAddress { email: email.to_owned(), name: name.to_owned(), status: status.to_owned() };
        self.mailbox(user).aliases.push(alias);
    }

    /// Puts rare but real messages into a user's inbox: one of a hundred parts, one in an unknown charset, and one whose reads have no
    /// payload. Returns their ids.
    pub fn add_odd_mail(&mut self, user: &str) -> Vec<String> {
        let head = |subject: &str| {
            format!(
                "From: Odd <odd@elsewhere.test>\r\nTo: {user}\r\nSubject: {subject}\r\nMessage-ID: <{}@odd.test>\r\n\
                 Date: Sun, 01 Feb 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n",
                subject.replace(' ', "-")
            )
        };
        let parts: String = (0..100)
            .map(|number| {
                format!(
                    "--m\r\nContent-Type: application/octet-stream\r\n\
                     Content-Disposition: attachment; filename=f{number}.bin\r\n\r\n{number}\r\n"
                )
            })
            .collect();
        let many = format!(
            "{}Content-Type: multipart/mixed; boundary=m\r\n\r\n{parts}--m--\r\n",
            head("A hundred parts")
        );
        let charset = format!(
            "{}Content-Type: text/plain; charset=x-klingon\r\n\r\nnuqneH {}\r\n",
            head("Unknown charset"),
            "\u{e9}"
        );
        let bare = format!("{}Content-Type: text/plain\r\n\r\nText\r\n", head("No payload"));
        let all = [many, charset, bare];
        let ids: Vec<String> = all.iter().map(|raw| self.deliver(user, raw.as_bytes())).collect();
        if let Some(message) = ids.last().and_then(|id| self.mailbox(user).messages.get_mut(id)) {
            message.lacks_payload = true;
        }
        ids
    }
}
