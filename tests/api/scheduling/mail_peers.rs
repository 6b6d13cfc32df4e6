//! The mail of bookings on servers that others wrote: the calendar is Radicale's, which invites nobody, the mail goes out through Dovecot
//! and Exim, and Python's `email` and `icalendar` read what arrives.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::Actor;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use switchboard::jobs::booking_event::BOOKING_EVENT;
use switchboard::jobs::booking_mail::BOOKING_MAIL;
use switchboard::jobs::runner;

use super::lifecycle::path;
use super::{BOOKINGS, EVENT_TYPES, text};
use crate::dav;
use crate::email::mailbox::{Mailbox, Provider};

/// An account of Radicale's that no other test writes to.
const USER: &str = "t13";

/// The interpreter that has `icalendar`.
fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        assert_ne!(
            std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(),
            Ok("1"),
            "ORACLE_PYTHON is not set"
        );
        println!("NOT RUN: ORACLE_PYTHON is not set; `cargo xtask test` sets it");
    }
    python
}

/// What Python reads in a message.
fn invitation(python: &str, raw: &str) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/api/scheduling/invitation.py");
    let mut command = Command::new(python);
    let mut child =
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let raw = BASE64_STANDARD.encode(raw);
    let writer = std::thread::spawn(move || stdin.write_all(raw.as_bytes()));
    let output = child.wait_with_output().expect("Python ends");
    writer.join().expect("no panic").expect("Python reads to the end");
    assert!(output.status.success(), "Python cannot read the message");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The message with this subject that was sent since the last look, as it has arrived.
async fn arrived(mailbox: &Mailbox, subject: &str, known: &mut BTreeSet<String>) -> String {
    for kinds in [[BOOKING_EVENT], [BOOKING_MAIL]] {
        runner::drain(&mailbox.server.app, &kinds).await.expect("the jobs are run");
    }
    mailbox.server.hand_over().await;
    let sent = mailbox.list("").await;
    let sent = sent.iter().filter(|message| message["subject"] == subject);
    let new: Vec<String> =
        sent.map(|m| text(&m["internetMessageId"])).filter(|id| known.insert(id.clone())).collect();
    let [id] = &new[..] else { panic!("one message {subject}: {new:?}") };
    mailbox.other.arrived(id).await
}

/// An event type on Radicale that can be booked at any time, whose mail goes out through the mailbox.
async fn event_type(api: &Actor, url: &str, mailbox: &Mailbox) -> Value {
    let connection = text(&dav::connect(api, url, USER).await["id"]);
    let calendar = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
    let calendar = text(&api.post("/v1/calendars", calendar).send().await.expect(201)["id"]);
    let body = json!({
        "slug": "intro", "title": "Gr\u{fc}\u{df}e, Welt; \u{2713}", "durationMinutes": 30,
        "hosts": [{
            "connectionId": connection, "calendarId": calendar, "conflictCalendarIds": [calendar],
            "displayName": "Alice",
        }],
        "schedule": {
            "timeZone": "UTC",
            "weekly": [{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "00:00" }],
        },
        "locations": [{ "type": "inPerson", "value": "Main St. 1, Berlin; room \u{201e}7\u{201c}" }],
        "notifications": { "connectionId": mailbox.connection, "hosts": false },
        "titleTemplate": "{title}",
    });
    api.post(EVENT_TYPES, body).send().await.expect(201)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_invitation_is_read_by_icalendar() {
    let (Some(url), Some(python)) = (dav::peer("RADICALE_URL"), python()) else { return };
    let Some(mailbox) = Mailbox::open(Provider::Dovecot).await else { return };
    let api = &mailbox.api;
    let event_type = event_type(api, &url, &mailbox).await;
    let title = text(&event_type["title"]);
    let now = Timestamp::from_millisecond(mailbox.server.app.now()).expect("a time");
    let day = now.to_zoned(TimeZone::UTC).date().checked_add(3.days()).expect("a date");
    let at = |time: &str| format!("{day}T{time}:00Z");
    let compact = |time: &str| at(time).replace(['-', ':'], "");

    let body = json!({
        "eventTypeId": event_type["id"], "start": at("09:00"), "inviteeEmail": mailbox.other.address,
        "inviteeName": "Ada \"the first\", Countess; L\u{f6}w",
    });
    let booked = api.post(BOOKINGS, body).send().await.expect(201);
    assert_eq!(booked["warnings"], json!([]));
    let known = &mut BTreeSet::new();
    let first = invitation(&python, &arrived(&mailbox, &title, known).await);
    assert_eq!(
        (&first["contentType"], &first["subject"], &first["method"]),
        (&json!("REQUEST"), &json!(title), &json!("REQUEST"))
    );
    assert_eq!((&first["uid"], &first["sequence"]), (&booked["iCalUid"], &json!(0)));
    assert_eq!((&first["start"], &first["end"]), (&json!(compact("09:00")), &json!(compact("09:30"))));
    assert_eq!(
        (&first["summary"], &first["location"]),
        (&json!(title), &event_type["locations"][0]["value"])
    );
    assert_eq!(first["organizer"], format!("mailto:{}", mailbox.address));
    assert_eq!(first["attendees"], json!([format!("mailto:{}", mailbox.other.address)]));
    assert_eq!(first["names"], json!(["Ada 'the first', Countess; L\u{f6}w"]));
    assert_eq!(first["isSameAsFile"], true);

    let moved = json!({ "start": at("15:30") });
    api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    let second = invitation(&python, &arrived(&mailbox, &title, known).await);
    assert_eq!((&second["uid"], &second["sequence"]), (&first["uid"], &json!(1)));
    assert_eq!(second["start"], compact("15:30"));

    api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    let last = invitation(&python, &arrived(&mailbox, &format!("Cancelled: {title}"), known).await);
    assert_eq!(
        (&last["method"], &last["contentType"], &last["status"]),
        (&json!("CANCEL"), &json!("CANCEL"), &json!("CANCELLED"))
    );
    assert_eq!((&last["uid"], &last["sequence"]), (&first["uid"], &json!(2)));
}
