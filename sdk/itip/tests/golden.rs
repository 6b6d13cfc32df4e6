//! Messages, compared byte by byte with files. Lines of the files end with a line feed; those of the messages with CRLF.

use itip::{Attendee, Invite, Organizer, cancel, entry, request};
use model::Instant;

fn at(text: &str) -> Instant {
    text.parse().expect("an instant")
}

fn invite() -> Invite {
    Invite {
        uid: "bk_01@book.example.org".to_owned(),
        sequence: 0,
        stamp: at("2026-03-01T08:00:00.250Z"),
        start: at("2026-03-10T09:00:00Z"),
        end: at("2026-03-10T09:30:00Z"),
        title: "Intro call with Ada".to_owned(),
        description: Some(
            "Move or cancel this appointment:\nhttps://book.example.org/book/b/token".to_owned(),
        ),
        location: Some("Room 7; Main St. 1, Berlin".to_owned()),
        is_tentative: false,
        organizer: Organizer {
            name: Some("Alice".to_owned()),
            email: "alice@example.org".to_owned(),
            sent_by: None,
        },
        attendees: vec![
            Attendee {
                name: Some("Ada Lovelace".to_owned()),
                email: "ada@example.net".to_owned(),
                has_accepted: true,
            },
            Attendee { name: None, email: "bob@example.net".to_owned(), has_accepted: false },
        ],
    }
}

fn same(message: &str, golden: &str) {
    assert_eq!(message, golden.replace('\n', "\r\n"));
}

#[test]
fn an_invitation() {
    same(&request(&invite()), include_str!("golden/request.ics"));
}

/// The same object with a later time, which may still be refused.
#[test]
fn an_invitation_that_was_moved() {
    let moved = Invite {
        sequence: 2,
        stamp: at("2026-03-02T08:00:00Z"),
        start: at("2026-10-25T00:30:00Z"),
        end: at("2026-10-25T01:30:00Z"),
        description: None,
        location: None,
        is_tentative: true,
        ..invite()
    };
    same(&request(&moved), include_str!("golden/moved.ics"));
}

#[test]
fn a_cancellation_by_somebody_else_for_the_organizer() {
    let organizer = Organizer { sent_by: Some("office@example.org".to_owned()), ..invite().organizer };
    let cancelled = Invite { sequence: 1, description: None, location: None, organizer, ..invite() };
    same(&cancel(&cancelled), include_str!("golden/cancel.ics"));
}

/// A file for one's own calendar has no organizer or attendees, and requests no answer.
#[test]
fn a_file_for_a_calendar() {
    same(&entry(&invite()), include_str!("golden/entry.ics"));
    assert!(entry(&Invite { is_tentative: true, ..invite() }).contains("STATUS:TENTATIVE\r\n"));
}

/// No text that people write ends a line, a parameter or a property.
#[test]
fn texts_of_others_stay_texts() {
    let evil = "x\r\nATTENDEE:mailto:evil@x.test\nEND:VEVENT\u{2028}BEGIN:VALARM\u{85}\u{0}";
    let hostile = Invite {
        uid: format!("u{evil}"),
        title: format!("Call, \"{evil}\"; \\n"),
        description: Some(evil.to_owned()),
        location: Some(evil.to_owned()),
        organizer: Organizer {
            name: Some(format!("\";X=y:{evil}")),
            email: format!("a\"{evil}@example.org"),
            sent_by: None,
        },
        attendees: vec![Attendee {
            name: Some("^n\"\u{fc}\u{1f600}".repeat(40)),
            email: "\"a;b:c,d\"@example.net".to_owned(),
            has_accepted: true,
        }],
        ..invite()
    };
    let message = request(&hostile);
    same(&message, include_str!("golden/hostile.ics"));
    let unfolded = message.replace("\r\n ", "");
    let count = |start: &str| unfolded.split("\r\n").filter(|line| line.starts_with(start)).count();
    assert_eq!((count("ATTENDEE"), count("ORGANIZER"), count("BEGIN:"), count("END:")), (1, 1, 2, 2));
    assert!(message.split("\r\n").all(|line| line.len() <= 75), "{message}");
    assert!(!message.replace("\r\n", "").contains(['\r', '\n']), "a line feed alone");
}
