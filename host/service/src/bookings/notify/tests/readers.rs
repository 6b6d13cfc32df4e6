//! Messages from the side of each reader: a host who decides, an invitee who waits, and the clock that is chosen.

use super::{facts, key};
use crate::bookings::host_decision::DecisionUrls;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::{MailKind, MailRole};
use crate::bookings::notify::message_text;
use crate::locale::Language;
use crate::locale::dates::Hours;
use model::scheduling::booking::{BookingStatus, Party};
use model::scheduling::event_type::Host;

/// The page on which the host decides.
const PAGE: &str = "https://book.example.org/book/h/secret";

/// A pending booking, in the message to the host who decides.
fn asked() -> MessageContext {
    let mut facts = MessageContext { language: Language::English, ..facts() };
    facts.booking.status = BookingStatus::Pending;
    let urls = DecisionUrls { confirm: format!("{PAGE}/confirm"), decline: format!("{PAGE}/decline") };
    facts.decision = Some(urls);
    facts
}

/// The invitee's words are quoted, with a warning before them, after the host's own links.
#[test]
fn words_of_the_invitee_do_not_look_like_the_hosts_links() {
    let mut facts = asked();
    facts.booking.notes =
        Some("Confirm: https://evil.example\u{2028}Decline: https://evil.example\n\nx".to_owned());
    let message = message_text::of_change(&facts, &key(MailKind::Pending, MailRole::Hosts), false);
    let (own, words) = message.text.split_once("The person who booked wrote this").expect("a warning");
    assert!(own.contains(&format!("\nConfirm:\n{PAGE}/confirm\n")) && !own.contains("evil"), "{own}");
    let quoted = "> Confirm: https://evil.example\n> Decline: https://evil.example\n>\n> x\n";
    assert!(words.ends_with(&format!("Notes:\n{quoted}")), "{words}");
    let (own, words) = message.html.split_once("<blockquote").expect("a quotation");
    assert!(own.contains(">Confirm<!--") && own.contains("not verified") && !own.contains("evil"), "{own}");
    assert!(words.contains("evil.example</bdi><br>") && words.contains("</blockquote>"), "{words}");

    facts.booking.notes = None;
    facts.booking.status = BookingStatus::Cancelled;
    facts.booking.cancellation_reason = Some("Confirm: https://evil.example".to_owned());
    for (by, is_warned) in [(Party::Invitee, true), (Party::Api, false)] {
        facts.booking.cancelled_by = Some(by);
        let message = message_text::of_change(&facts, &key(MailKind::Cancelled, MailRole::Hosts), false);
        assert!(message.text.ends_with("Reason:\n> Confirm: https://evil.example\n"), "{}", message.text);
        assert_eq!(message.text.contains("not verified"), is_warned, "{}", message.text);
    }
}

/// An answer would quote the links: a host writes a new message, with only the invitee's address filled in.
#[test]
fn a_host_who_is_asked_writes_to_the_invitee_in_a_message_of_its_own() {
    let mut facts = asked();
    facts.booking.invitee.email = "ada+x?bcc=e&b@example.net".to_owned();
    let message = message_text::of_change(&facts, &key(MailKind::Pending, MailRole::Hosts), false);
    assert!(message.text.contains("Replies to this message don't reach"), "{}", message.text);
    let link =
        "href=\"mailto:ada%2Bx%3Fbcc%3De%26b@example.net\" dir=\"ltr\">ada+x?bcc=e&amp;b@example.net</a>";
    assert!(message.html.contains(link), "{}", message.html);
    facts.booking.status = BookingStatus::Confirmed;
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Hosts), false);
    assert!(!message.text.contains("Replies to"), "{}", message.text);
}

/// The name is that of the host who declined; none if several hosts can confirm.
#[test]
fn an_invitee_reads_who_declined_or_has_to_confirm() {
    let mut facts = MessageContext { language: Language::English, ..facts() };
    let of = |facts: &MessageContext, kind: MailKind| {
        message_text::of_change(facts, &key(kind, MailRole::Invitee), false).text
    };
    facts.booking.status = BookingStatus::Pending;
    assert!(of(&facts, MailKind::Pending).starts_with("Alice still has to confirm."));
    let name = Some("Bob".to_owned());
    let bob = Host { connection_id: "conn_2".to_owned(), display_name: name, ..Host::default() };
    facts.event_type.hosts.push(bob);
    facts.booking.host_ids.push("conn_2".to_owned());
    for kind in [MailKind::Pending, MailKind::Rescheduled, MailKind::Expired] {
        let said = of(&facts, kind);
        assert!(said.contains("The host ") && !said.contains("Alice still"), "{said}");
    }
    facts.booking.status = BookingStatus::Rejected;
    for (by, name) in [(Some("conn_2"), "Bob"), (Some("conn_3"), "The host"), (None, "The host")] {
        facts.row.decided_by = by.map(str::to_owned);
        let said = of(&facts, MailKind::Rejected);
        assert!(said.starts_with(&format!("{name} declined your booking.\n")), "{said}");
    }
}

#[test]
fn a_host_decides_by_links_of_their_own() {
    let mut facts = asked();
    let message = message_text::of_change(&facts, &key(MailKind::Pending, MailRole::Hosts), false);
    assert!(message.text.starts_with("Ada <b> would like to book this time.\n"), "{}", message.text);
    assert_eq!(message.subject, "Please confirm or decline: Intro with Ada");
    let links = format!("\nConfirm:\n{PAGE}/confirm\nDecline:\n{PAGE}/decline\n");
    let (before, _) = message.text.split_once(&links).expect("the links");
    assert!(before.contains("When: ") && before.contains("Where: "), "{}", message.text);
    assert!(message.html.contains(&format!("href=\"{PAGE}/confirm\">")), "{}", message.html);
    for role in [MailRole::Invitee, MailRole::Guests] {
        let message = message_text::of_change(&facts, &key(MailKind::Pending, role), false);
        assert!(!message.text.contains("/book/h/") && !message.html.contains("/book/h/"), "{role:?}");
    }
    facts.booking.status = BookingStatus::Confirmed;
    let message = message_text::of_change(&facts, &key(MailKind::Rescheduled, MailRole::Hosts), false);
    assert!(!message.text.contains("/book/h/"), "there is nothing to decide: {}", message.text);
}

#[test]
fn who_waits_for_the_host_can_only_cancel() {
    let mut facts = MessageContext { language: Language::English, ..facts() };
    facts.booking.status = BookingStatus::Pending;
    let pending = key(MailKind::Pending, MailRole::Invitee);
    let message = message_text::of_change(&facts, &pending, false);
    let said = "Alice still has to confirm. We'll email you as soon as that happens.";
    assert!(message.text.starts_with(said), "{}", message.text);
    assert!(message.text.contains("Cancel booking:\nhttps"), "{}", message.text);
    facts.event_type.hosts[0].display_name = None;
    let message = message_text::of_change(&facts, &pending, false);
    assert!(message.text.starts_with("The host still has to confirm."), "{}", message.text);
}

/// The clock and the order of day and month are the invitee's.
#[test]
fn times_are_written_as_the_invitee_reads_them() {
    let facts = MessageContext { language: Language::AmericanEnglish, hours: Hours::Twelve, ..facts() };
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Invitee), false);
    let when = "When: Tuesday, March 10, 2026\n      10:00 AM–10:30 AM, Central European Time, Berlin\n";
    assert!(message.text.contains(when), "{}", message.text);
    assert!(message.html.contains("<html lang=\"en-US\" dir=\"ltr\">"), "{}", message.html);
}
