//! Messages with an invitation for calendars (RFC 6047).

use mail::build::{CalendarPart, Outgoing, OutgoingFile, build};
use mail::read::message;
use model::Instant;
use model::email::{CalendarMethod, EmailAddress};

fn outgoing() -> Outgoing {
    let person = |email: &str| EmailAddress { name: None, email: email.to_owned() };
    Outgoing {
        message_id: "1@example.org".to_owned(),
        date: Instant::from_millis(1_700_000_000_000),
        from: vec![person("alice@example.org")],
        to: vec![person("ada@example.net")],
        subject: Some("Intro call".to_owned()),
        calendar: Some(CalendarPart {
            method: "REQUEST",
            text: "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n".to_owned(),
        }),
        ..Outgoing::default()
    }
}

fn text(outgoing: &Outgoing) -> String {
    String::from_utf8(build(outgoing).expect("it can be written").bytes).expect("it is UTF-8")
}

/// Programs take the last alternative that they understand.
#[test]
fn it_is_the_last_alternative() {
    let (text_alone, html) = (Some("Hello".to_owned()), Some("<p>Hello</p>".to_owned()));
    let written = text(&Outgoing { text: text_alone, html, ..outgoing() });
    let at = |part: &str| written.find(part).unwrap_or_else(|| panic!("{part} is not in {written}"));
    let order = [
        "multipart/alternative",
        "text/plain",
        "text/html",
        "text/calendar; method=REQUEST; charset=utf-8",
        "METHOD:REQUEST",
    ];
    assert!(order.map(at).is_sorted(), "{written}");
    let read = message(written.as_bytes()).expect("it can be read");
    assert_eq!(read.message.calendar_method, Some(CalendarMethod::Request));
    assert_eq!(read.text.as_deref().map(str::trim_end), Some("Hello"));
}

#[test]
fn alone_it_is_the_message() {
    let written = text(&outgoing());
    assert!(!written.contains("multipart"), "{written}");
    assert!(written.contains("Content-Type: text/calendar; method=REQUEST; charset=utf-8\r\n"), "{written}");
}

#[test]
fn files_stand_beside_it() {
    let file = OutgoingFile {
        filename: Some("invite.ics".to_owned()),
        content_type: Some("application/ics".to_owned()),
        content: b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n".to_vec(),
        ..OutgoingFile::default()
    };
    let written = text(&Outgoing { text: Some("Hello".to_owned()), attachments: vec![file], ..outgoing() });
    let read = message(written.as_bytes()).unwrap().message;
    assert_eq!(read.calendar_method, Some(CalendarMethod::Request));
    assert!(read.attachments.iter().any(|file| file.filename.as_deref() == Some("invite.ics")), "{written}");
}
