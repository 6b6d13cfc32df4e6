//! Tests of the text of messages, and of their invitations.

mod parts;
mod readers;

use base::tenant::Tenant;
use itip::{cancel, request};
use model::Instant;
use model::email::EmailAddress;
use model::scheduling::Schedule;
use model::scheduling::booking::{Booking, BookingPlace, BookingStatus, Guest, Invitee, Party};
use model::scheduling::event_type::{EventType, Host, MeetingPlaceKind};
use storage::connections::Connection;
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::mail::InvitationRow;

use crate::bookings::notify::context::{MessageContext, NotifiedHost, valid_address};
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::sender::Sender;
use crate::bookings::notify::{invitation, message_text};
use crate::locale::Language;
use crate::locale::dates::Hours;

const START_MS: i64 = 1_773_133_200_000;
const NOW_MS: i64 = START_MS - 86_400_000;

fn tenant() -> Tenant {
    Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() }
}

fn connection() -> Connection {
    Connection {
        id: "conn_1".to_owned(),
        tenant: tenant(),
        provider: "sandbox".to_owned(),
        connector_version: "1".to_owned(),
        status: "active".to_owned(),
        status_reason: None,
        status_changed_at: 0,
        display_name: None,
        email: Some("alice@example.org".to_owned()),
        external_account_id: "a".to_owned(),
        username: None,
        addresses: Vec::new(),
        surfaces: Vec::new(),
        requested_scopes: Vec::new(),
        granted_scopes: Vec::new(),
        provider_scopes: Vec::new(),
        time_zone: None,
        settings: serde_json::Map::new(),
        credentials: String::new(),
        credentials_version: 1,
        token_expires_at: None,
        last_refresh_at: None,
        last_refresh_error: None,
        failing_since: None,
        tags: std::collections::BTreeMap::new(),
        metadata: std::collections::BTreeMap::new(),
        etag: String::new(),
        created_at: 0,
        updated_at: 0,
    }
}

fn row() -> BookingRow {
    BookingRow {
        id: "bk_1".to_owned(),
        tenant: tenant(),
        event_type_id: "et_1".to_owned(),
        meeting_id: "mtg_1".to_owned(),
        status: "confirmed".to_owned(),
        start_at: START_MS,
        end_at: START_MS + 1_800_000,
        invitee_email: "ada@example.net".to_owned(),
        body: "{}".to_owned(),
        metadata: "{}".to_owned(),
        etag: String::new(),
        version: 1,
        confirm_by: None,
        manage_version: 1,
        clock_hours: None,
        decided_at: None,
        decided_by: None,
        created_at: 0,
        updated_at: 0,
    }
}

/// 10 March 2026, 10:00 to 10:30 in Berlin, where it is 09:00 in UTC.
fn facts() -> MessageContext {
    let booking = Booking {
        status: BookingStatus::Confirmed,
        start: Instant::from_millis(START_MS),
        end: Instant::from_millis(START_MS + 1_800_000),
        time_zone: "Europe/Berlin".to_owned(),
        title: "Intro with Ada".to_owned(),
        slug: "intro".to_owned(),
        invitee: Invitee {
            name: Some("Ada <b>".to_owned()),
            email: "ada@example.net".to_owned(),
            ..Invitee::default()
        },
        guests: ["bob@example.net", "ADA@example.net", "Bob@example.net", "no address"]
            .map(|email| Guest { name: None, email: email.to_owned() })
            .to_vec(),
        organizer_connection_id: Some("conn_1".to_owned()),
        host_ids: vec!["conn_1".to_owned()],
        location: Some(BookingPlace {
            kind: MeetingPlaceKind::Link,
            value: None,
            join_url: Some("https://meet.example.org/a?b&c".to_owned()),
        }),
        notes: Some("Bring\na pen".to_owned()),
        i_cal_uid: "bk_1@example.org".to_owned(),
        sequence: 2,
        ..Booking::default()
    };
    let host = Host {
        connection_id: "conn_1".to_owned(),
        display_name: Some("Alice".to_owned()),
        ..Host::default()
    };
    MessageContext {
        row: row(),
        booking,
        event_type: EventType { title: "Intro".to_owned(), hosts: vec![host], ..EventType::default() },
        is_closed: false,
        sender: Sender { connection: connection(), from: valid_address(Some("Alice"), "alice@example.org") },
        hosts: vec![NotifiedHost {
            connection_id: "conn_1".to_owned(),
            address: valid_address(None, "alice@example.org"),
        }],
        decision: None,
        invitation: None,
        manage_url: "https://book.example.org/book/b/secret?lang=de".to_owned(),
        booking_url: "https://book.example.org/book/acme/intro?lang=de".to_owned(),
        language: Language::German,
        hours: Hours::TwentyFour,
        now: NOW_MS,
    }
}

fn key(kind: MailKind, role: MailRole) -> MailKey {
    MailKey { booking_id: "bk_1".to_owned(), kind, sequence: 2, role }
}

#[test]
fn an_invitee_reads_what_when_where_and_how_to_change_it() {
    let message = message_text::of_change(&facts(), &key(MailKind::Confirmed, MailRole::Invitee), false);
    assert_eq!(message.subject, "Bestätigt: Intro mit Alice");
    let text = "Ihre Buchung ist bestätigt.\n\n\
                Was: Intro mit Alice\n\
                Wann: Dienstag, 10. März 2026\n\
                \x20     10:00–10:30, Mitteleuropäische Zeit, Berlin\n\
                Ort: Online\n\
                \x20    https://meet.example.org/a?b&c\n\
                Mit: Alice\n\n\
                In den Kalender:\nhttps://book.example.org/book/b/secret/invite.ics?lang=de\n\n\
                Buchung ansehen:\nhttps://book.example.org/book/b/secret?lang=de\n\
                Verschieben:\nhttps://book.example.org/book/b/secret/move?lang=de\n\
                Buchung stornieren:\nhttps://book.example.org/book/b/secret/cancel?lang=de\n";
    assert_eq!(message.text, text);
    assert!(message.html.contains("<html lang=\"de\" dir=\"ltr\">"), "{}", message.html);
    assert!(message.html.contains("href=\"https://meet.example.org/a?b&amp;c\""), "{}", message.html);
}

/// French has a non-breaking space before a colon.
#[test]
fn a_french_subject_has_a_space_before_its_colon() {
    let facts = MessageContext { language: Language::French, ..facts() };
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Invitee), false);
    assert!(message.subject.starts_with("Confirmée\u{a0}: Intro"), "{:?}", message.subject);
}

#[test]
fn an_invitation_has_the_plain_title_as_its_subject() {
    let message = message_text::of_change(&facts(), &key(MailKind::Confirmed, MailRole::Invitee), true);
    assert_eq!(message.subject, "Intro mit Alice");
}

#[test]
fn guests_have_no_link_that_changes_the_booking() {
    let facts = facts();
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Guests), true);
    assert!(message.text.starts_with("Sie sind eingeladen."), "{}", message.text);
    assert!(!message.text.contains("secret") && !message.html.contains("secret"));
    let theirs = request(&invitation::request(&facts, MailRole::Guests, NOW_MS));
    assert!(!theirs.replace("\r\n ", "").contains("secret"), "{theirs}");
    let invitees = request(&invitation::request(&facts, MailRole::Invitee, NOW_MS));
    assert!(invitees.replace("\r\n ", "").contains("secret"), "{invitees}");
    let people = facts.recipients(MailRole::Guests);
    assert_eq!(people, [EmailAddress { name: None, email: "bob@example.net".to_owned() }], "each once");
}

/// Hosts read English, in the zone of the event type, and see the attendees.
#[test]
fn hosts_read_who_comes_and_what_they_wrote() {
    let schedule = Schedule { time_zone: "Asia/Tokyo".to_owned(), ..Schedule::default() };
    let event_type = EventType { schedule: Some(schedule), ..facts().event_type };
    let facts = MessageContext { language: Language::English, event_type, ..facts() };
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Hosts), false);
    assert_eq!(message.subject, "Confirmed: Intro with Ada");
    for line in ["18:00–18:30, Asia/Tokyo", "Invitee: Ada <b>\n", "Notes:\n> Bring\n> a pen\n"] {
        assert!(message.text.contains(line), "{line} is not in {}", message.text);
    }
    let html = &message.html;
    assert!(
        html.contains("Ada &lt;b&gt;") && html.contains("<bdi>Bring</bdi><br>\n<bdi>a pen</bdi>"),
        "{html}"
    );
    assert!(!message.text.contains("secret"), "{}", message.text);
}

#[test]
fn what_does_not_take_place_leads_to_other_times() {
    let mut facts = facts();
    facts.booking.cancellation_reason = Some("Krank\r\nBcc: x@y.test\u{7}".to_owned());
    let cancelled = key(MailKind::Cancelled, MailRole::Invitee);
    let message = message_text::of_change(&facts, &cancelled, false);
    assert!(message.text.contains("Grund:\n> Krank\n> Bcc: x@y.test\n"), "{}", message.text);
    assert!(
        message.text.contains("/book/acme/intro") && !message.text.contains("secret"),
        "{}",
        message.text
    );
    facts.is_closed = true;
    let message = message_text::of_change(&facts, &cancelled, false);
    assert!(!message.text.contains("/book/"), "{}", message.text);
}

/// A name or a number of the invitee's becomes no link for anybody but hosts, who see both.
#[test]
fn names_that_read_as_links_and_numbers_go_to_hosts_alone() {
    let mut facts = facts();
    facts.language = Language::English;
    facts.booking.invitee.name = Some("Reset at evil.example".to_owned());
    facts.booking.invitee.phone = Some("+1 900 555 0100".to_owned());
    facts.booking.guests[0].name = Some("evil.example".to_owned());
    let place = BookingPlace { kind: MeetingPlaceKind::PhoneInvitee, value: None, join_url: None };
    facts.booking.location = Some(place);
    for role in [MailRole::Invitee, MailRole::Guests] {
        let message = message_text::of_change(&facts, &key(MailKind::Confirmed, role), true);
        let invitation = request(&invitation::request(&facts, role, NOW_MS)).replace("\r\n ", "");
        for text in [&message.subject, &message.text, &message.html, &invitation] {
            assert!(!text.contains("evil.example") && !text.contains("555"), "{role:?}: {text}");
        }
        assert!(facts.recipients(role).iter().all(|person| person.name.is_none()));
    }
    let message = message_text::of_change(&facts, &key(MailKind::Confirmed, MailRole::Hosts), false);
    for line in ["Invitee: Reset at evil.example\n", "+1 900 555 0100\n"] {
        assert!(message.text.contains(line), "{line} is not in {}", message.text);
    }
}

/// The addresses of a booking are not verified.
#[test]
fn what_an_invitee_writes_goes_to_hosts_alone() {
    let mut facts = facts();
    facts.language = Language::English;
    facts.booking.cancellation_reason = Some("See https://evil.example".to_owned());
    for (by, role, is_shown) in [
        (Party::Invitee, MailRole::Hosts, true),
        (Party::Invitee, MailRole::Invitee, false),
        (Party::Invitee, MailRole::Guests, false),
        (Party::Api, MailRole::Invitee, true),
    ] {
        facts.booking.cancelled_by = Some(by);
        let message = message_text::of_change(&facts, &key(MailKind::Cancelled, role), false);
        assert_eq!(message.text.contains("evil.example"), is_shown, "{by:?}, {role:?}: {}", message.text);
    }
}

/// The invitation marks the invitee as accepted if they chose the time, and asks them if another party did. Guests are always asked.
#[test]
fn an_invitee_is_asked_for_an_answer_to_a_time_that_others_chose() {
    let mut facts = facts();
    for (by, has_accepted) in [
        (None, true),
        (Some(Party::Invitee), true),
        (Some(Party::Host), false),
        (Some(Party::Api), false),
        (Some(Party::System), false),
    ] {
        facts.booking.rescheduled_by = by;
        let text = request(&invitation::request(&facts, MailRole::Invitee, NOW_MS)).replace("\r\n ", "");
        let answer_of = |address: &str| {
            let mut lines = text.lines();
            let line = lines.find(|line| line.starts_with("ATTENDEE") && line.ends_with(address));
            line.expect("an attendee").contains("PARTSTAT=ACCEPTED;RSVP=FALSE")
        };
        assert_eq!(answer_of("mailto:ada@example.net"), has_accepted, "{by:?}: {text}");
        assert!(!answer_of("mailto:bob@example.net"), "{by:?}: {text}");
        assert_eq!(text.matches("PARTSTAT=NEEDS-ACTION;RSVP=TRUE").count(), 2 - usize::from(has_accepted));
    }
}

#[test]
fn a_host_whose_event_has_no_time_reads_what_to_do() {
    let facts = MessageContext { language: Language::English, ..facts() };
    let message = message_text::of_change(&facts, &key(MailKind::AllDay, MailRole::Hosts), false);
    assert_eq!(message.subject, "Time needed: Intro with Ada");
    // A host beside the organizer reads it too.
    for part in [
        "in the organizer's calendar",
        "The booking keeps its time.",
        "give the event a time again",
        "delete the event",
    ] {
        assert!(message.text.replace('\n', " ").contains(part), "{part} is not in {}", message.text);
    }
    assert!(!message.text.contains("secret"), "{}", message.text);
}

/// A changed invitation names the organizer who sent it, whichever account sends now.
#[test]
fn an_organizer_keeps_the_invitation() {
    let mut facts = facts();
    let sent = InvitationRow {
        booking_id: "bk_1".to_owned(),
        role: "invitee".to_owned(),
        tenant: tenant(),
        i_cal_uid: "bk_1@example.org".to_owned(),
        sequence: 1,
        organizer_email: "alice@example.org".to_owned(),
        connection_id: "conn_alice".to_owned(),
        created_at: 5,
        updated_at: 5,
    };
    facts.invitation = Some(sent.clone());
    let same = invitation::request(&facts, MailRole::Invitee, NOW_MS);
    assert_eq!((same.organizer.email.as_str(), same.organizer.sent_by), ("alice@example.org", None));

    facts.sender.from = valid_address(Some("Office"), "office@example.org");
    let other = invitation::request(&facts, MailRole::Invitee, NOW_MS);
    assert_eq!(other.organizer.email, "alice@example.org");
    assert_eq!(other.organizer.sent_by.as_deref(), Some("office@example.org"));
    let kept = invitation::invitation_row(&facts, MailRole::Invitee, NOW_MS);
    assert_eq!((kept.sequence, kept.created_at, kept.updated_at), (2, 5, NOW_MS));
    assert_eq!(kept.organizer_email, "alice@example.org");
    assert_eq!(kept.connection_id, "conn_alice", "the office sends on her behalf");

    let text = cancel(&invitation::cancellation(&facts, &sent, NOW_MS));
    for line in ["METHOD:CANCEL\r\n", "SEQUENCE:2\r\n", "UID:bk_1@example.org\r\n"] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

/// A message about the conference link changes no time: the invitation keeps its SEQUENCE, and the later of two revisions counts.
#[test]
fn a_link_that_comes_later_updates_the_invitation() {
    let mut facts = facts();
    let first = invitation::invitation_row(&facts, MailRole::Invitee, NOW_MS);
    facts.invitation = Some(first.clone());
    let later = invitation::request(&facts, MailRole::Invitee, NOW_MS + 1);
    assert_eq!((later.uid.as_str(), later.sequence), (first.i_cal_uid.as_str(), first.sequence));
    assert_eq!(later.stamp, Instant::from_millis(NOW_MS + 1_000));
    assert_eq!(later.location.as_deref(), Some("https://meet.example.org/a?b&c"));
    facts.language = Language::English;
    let conference = key(MailKind::Conference, MailRole::Invitee);
    let message = message_text::of_change(&facts, &conference, false);
    assert_eq!(message.subject, "Link to join: Intro with Alice");
    assert!(
        message.text.contains("Where: Online\n       https://meet.example.org/a?b&c\n"),
        "{}",
        message.text
    );
    assert!(message.text.starts_with("Here is the link to join."), "{}", message.text);
}

/// Both times of a move, and both ends of a meeting, are unambiguous: when daylight saving time ends, a local time comes twice.
#[test]
fn times_on_both_sides_of_a_change_of_clocks_have_their_offsets() {
    let at = |text: &str| text.parse::<Instant>().expect("an instant");
    let mut facts = MessageContext { language: Language::English, ..facts() };
    facts.booking.previous_start = Some(at("2026-10-25T00:30:00Z"));
    facts.booking.start = at("2026-10-25T00:45:00Z");
    facts.booking.end = at("2026-10-25T01:15:00Z");
    let moved = message_text::of_change(&facts, &key(MailKind::Rescheduled, MailRole::Invitee), false);
    for line in [
        "When: Sunday, 25 October 2026\n      02:45 (UTC+02:00)–02:15 (UTC+01:00), Central European Time, Berlin\n",
        "Before: Sunday, 25 October 2026, 02:30 (UTC+02:00)\n",
    ] {
        assert!(moved.text.contains(line), "{line} is not in {}", moved.text);
    }
    facts.booking.start = at("2026-10-26T09:00:00Z");
    facts.booking.end = at("2026-10-26T09:30:00Z");
    facts.booking.previous_start = Some(at("2026-10-23T08:00:00Z"));
    let moved = message_text::of_change(&facts, &key(MailKind::Rescheduled, MailRole::Guests), false);
    for line in [
        "When: Monday, 26 October 2026\n      10:00–10:30, Central European Time, Berlin\n",
        "Before: Friday, 23 October 2026, 10:00\n",
    ] {
        assert!(moved.text.contains(line), "{line} is not in {}", moved.text);
    }
}
