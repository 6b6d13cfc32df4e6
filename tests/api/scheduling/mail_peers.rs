//! The mail of bookings on third-party servers: the calendar is on Radicale, which sends no invitations, and mail is sent through Dovecot
//! and Exim. Python's `email` and `icalendar` read the arrived mail, and Cyrus stores it in a calendar.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::Actor;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use service::bookings::event_write::BOOKING_EVENT;
use service::bookings::notify::send::BOOKING_MAIL;
use service::job_runner::runner;

use super::lifecycle::path;
use super::{BOOKINGS, EVENT_TYPES, text};
use crate::dav;
use crate::email::mailbox::{Mailbox, Provider, escaped, until};

/// An account of Radicale's that no other test writes to.
const USER: &str = "t13";
/// One of Cyrus', which takes invitations that arrive into its calendar.
const GUEST: &str = "t03";
/// Has Cyrus do so (its Sieve extension for RFC 6047).
const SCRIPT: &str = "require [\"body\", \"vnd.cyrus.imip\"];\r\n\
                      if body :content \"text/calendar\" :contains \"METHOD:\" { processimip; }\r\n";

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

/// Returns the invitation in a message, as Python's libraries read it.
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

/// Runs the jobs that the service runs by itself: the calendar is written, then messages, then they are handed over.
async fn deliver(mailbox: &Mailbox) {
    for kinds in [[BOOKING_EVENT], [BOOKING_MAIL]] {
        runner::drain(&mailbox.server.app, &kinds).await.expect("the jobs are run");
    }
    mailbox.server.hand_over().await;
}

/// The message with this subject that was sent since the last look, as it has arrived.
async fn arrived(mailbox: &Mailbox, subject: &str, known: &mut BTreeSet<String>) -> String {
    deliver(mailbox).await;
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

/// Calls a method of JMAP for Sieve on Cyrus, and returns its response.
async fn sieve(url: &str, method: &str, mut arguments: Value) -> Value {
    arguments["accountId"] = json!(GUEST);
    let body = json!({
        "using": ["urn:ietf:params:jmap:core", "https://cyrusimap.org/ns/jmap/sieve"],
        "methodCalls": [[method, arguments, "0"]],
    });
    let answer = post(url, "/jmap/", "application/json", body.to_string()).await;
    answer["methodResponses"][0][1].clone()
}

async fn post(url: &str, path: &str, media_type: &str, body: String) -> Value {
    let client = harness::http_client().build().expect("an HTTP client");
    let request =
        client.post(format!("{}{path}", url.trim_end_matches('/'))).basic_auth(GUEST, Some("secret"));
    let answer = request.header("content-type", media_type).body(body).send().await.expect("Cyrus answers");
    let text = answer.text().await.expect("a text");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}: {text}"))
}

/// Whether Cyrus runs a script on what arrives.
async fn has_script(url: &str) -> bool {
    let known = sieve(url, "SieveScript/get", json!({ "ids": null })).await;
    let all = known["list"].as_array().unwrap_or_else(|| panic!("no list: {known:#}"));
    all.iter().any(|script| script["isActive"] == true)
}

/// Has Cyrus take invitations from now on. A script of an earlier run is good.
async fn take_invitations(url: &str) {
    if has_script(url).await {
        return;
    }
    let stored = post(url, &format!("/jmap/upload/{GUEST}/"), "application/sieve", SCRIPT.to_owned()).await;
    let new = json!({ "name": "invitations", "blobId": stored["blobId"] });
    let set = json!({ "create": { "new": new }, "onSuccessActivateScript": "#new" });
    let answer = sieve(url, "SieveScript/set", set).await;
    assert!(answer["created"]["new"].is_object(), "{answer:#}");
    assert!(has_script(url).await, "it is not run: {answer:#}");
}

/// The events with this UID in all calendars of a connection, as they are at the provider now.
async fn events_of(mailbox: &Mailbox, connection: &str, uid: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for calendar in mailbox.all(&format!("/v1/calendars?connection_id={connection}")).await {
        let path = format!("/v1/calendars/{}/events?i_cal_uid={}", text(&calendar["id"]), escaped(uid));
        found.extend(mailbox.all(&path).await);
    }
    found
}

/// A calendar server that knows nothing of this service puts the invitation into the invitee's calendar, moves it there and takes it out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_invitation_is_taken_by_cyrus() {
    let (Some(radicale), Some(cyrus)) = (dav::peer("RADICALE_URL"), dav::peer("CYRUS_URL")) else { return };
    let Some(mailbox) = Mailbox::open(Provider::Dovecot).await else { return };
    take_invitations(&cyrus).await;
    let api = &mailbox.api;
    let event_type = event_type(api, &radicale, &mailbox).await;
    let guest = text(&dav::connect(api, &cyrus, GUEST).await["id"]);
    let now = Timestamp::from_millisecond(mailbox.server.app.now()).expect("a time");
    let day = now.to_zoned(TimeZone::UTC).date().checked_add(4.days()).expect("a date");
    let at = |time: &str| json!(format!("{day}T{time}:00.000Z"));

    let body = json!({
        "eventTypeId": event_type["id"], "start": at("09:00"), "inviteeEmail": format!("{GUEST}@cyrus.test"),
        "inviteeName": "Grace",
    });
    let booked = api.post(BOOKINGS, body).send().await.expect(201);
    let uid = text(&booked["iCalUid"]);
    deliver(&mailbox).await;
    let taken = until("the event is in the invitee's calendar", async || {
        events_of(&mailbox, &guest, &uid).await.pop()
    })
    .await;
    assert_eq!((&taken["start"], &taken["end"]), (&at("09:00"), &at("09:30")));
    assert_eq!(
        (&taken["title"], &taken["location"]),
        (&event_type["title"], &event_type["locations"][0]["value"])
    );
    assert_eq!(taken["organizer"]["email"], json!(mailbox.address));
    assert_ne!(taken["status"], "cancelled");

    let moved = json!({ "start": at("15:30") });
    api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(&mailbox).await;
    until("the event is moved", async || {
        let all = events_of(&mailbox, &guest, &uid).await;
        assert_eq!(all.len(), 1, "{all:#?}");
        (all[0]["start"] == at("15:30")).then_some(())
    })
    .await;

    api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    deliver(&mailbox).await;
    // Cyrus marks it, or takes it away, as the account has it.
    until("the event is cancelled", async || {
        let all = events_of(&mailbox, &guest, &uid).await;
        all.iter().all(|event| event["status"] == "cancelled").then_some(())
    })
    .await;
}
