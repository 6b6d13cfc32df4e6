//! The mail about a booking, and its recipients. It goes out through the host's own account, or the one that the event type names for it.

use base::tenant::Tenant;
use harness::TestServer;
use serde_json::{Value, json};
use service::bookings::event_write::BOOKING_EVENT;
use service::bookings::notify::remind::BOOKING_REMIND;
use service::bookings::notify::send::BOOKING_MAIL;
use service::job_runner::runner;
use storage::jobs::{self, NewJob};
use storage::sql::query;
use storage::wakes::JobClass;

use super::lifecycle::{entries, logged, path, read};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, pools, text};
use crate::email::mailbox::{Mailbox, Provider, escaped};

const HOUR_MS: i64 = 60 * 60_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The invitee's mailbox, on a separate service.
pub async fn mailbox() -> Mailbox {
    Mailbox::open(Provider::Sandbox).await.expect("the sandbox needs no server")
}

/// A host who can be booked, and whose account may send mail.
pub async fn host(server: &TestServer) -> Desk {
    host_of(server, "alice").await
}

/// Returns a host with this account.
pub async fn host_of(server: &TestServer, account: &str) -> Desk {
    let api = server.client().await;
    let account = json!({
        "provider": "sandbox", "displayName": "Alice Adams",
        "credentials": { "username": format!("{account}@sandbox.test"), "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write", "email.read", "email.write", "email.send"],
    });
    let connection = text(&api.connect(account).await["id"]);
    let calendar = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
    let calendar = text(&api.post("/v1/calendars", calendar).send().await.expect(201)["id"]);
    Desk { api, connection, calendar }
}

/// Ada, whose mailbox it is, books.
pub async fn book(desk: &Desk, mailbox: &Mailbox, event_type: &str, fields: Value) -> Value {
    let mut body = booking(event_type, "09:00");
    body["inviteeEmail"] = json!(mailbox.address);
    for (name, value) in fields.as_object().expect("an object") {
        body[name] = value.clone();
    }
    desk.api.post(BOOKINGS, body).send().await.expect(201)
}

/// The work that the service does by itself: calendars are written, then messages, then they are handed over.
pub async fn deliver(server: &TestServer) {
    for kinds in [[BOOKING_EVENT], [BOOKING_REMIND], [BOOKING_MAIL]] {
        runner::drain(&server.app, &kinds).await.expect("the jobs are run");
    }
    server.hand_over().await;
}

/// The one message with this subject, as its recipient has it.
pub async fn received(mailbox: &Mailbox, subject: &str) -> Value {
    let found = mailbox.titled(subject).await;
    mailbox.read(&found["id"]).await
}

/// Subjects of everything that came, in the order of the alphabet.
pub async fn subjects(mailbox: &Mailbox) -> Vec<String> {
    let mut all: Vec<String> = mailbox.list("").await.iter().map(|m| text(&m["subject"])).collect();
    all.sort();
    all
}

/// The message with this subject that hosts have, among all that their account sent and got.
async fn received_by_host(mailbox: &Mailbox, desk: &Desk, subject: &str) -> Value {
    mailbox.server.clock.advance_ms(1);
    let query = format!("/v1/email/messages?connection_id={}&subject={}", desk.connection, escaped(subject));
    let page = desk.api.get(query).header("cache-control", "no-cache").send().await.expect(200);
    let mut all = page["data"].as_array().expect("a list").iter();
    let found = all.find(|m| m["to"][0]["email"] == "alice@sandbox.test").expect("the hosts have one");
    desk.api.get(format!("/v1/email/messages/{}", text(&found["id"]))).send().await.expect(200)
}

/// The account's credentials are refused from now on, until `connected_anew`.
async fn expired(server: &TestServer, desk: &Desk) {
    let fault = json!({ "status": 401, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    let refresh = format!("/v1/connections/{}/refresh", desk.connection);
    desk.api.post(refresh, json!({})).send().await.refused(409, "reauth_required");
}

async fn connected_anew(server: &TestServer, desk: &Desk) {
    server.provider("alice").delete("/sandbox/faults").send().await.expect(204);
    let refresh = format!("/v1/connections/{}/refresh", desk.connection);
    desk.api.post(refresh, json!({})).send().await.expect(200);
}

pub fn body(message: &Value) -> String {
    text(&message["body"]["text"])
}

/// The address below a label of a message.
#[track_caller]
pub fn address_below<'s>(said: &'s str, label: &str) -> &'s str {
    let label = format!("{label}:");
    let mut lines = said.lines().skip_while(|line| *line != label);
    lines.nth(1).unwrap_or_else(|| panic!("no {label} in {said}"))
}

/// The sandbox invites by itself: the message says what, when and how to change it, and nothing is in the calendar twice.
#[tokio::test]
async fn the_invitee_is_told_by_the_hosts_own_account() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({ "inviteeTimeZone": "Europe/Berlin" })).await;
    assert_eq!(booked["warnings"], json!([]));
    deliver(&mailbox.server).await;

    let message = received(&mailbox, "Confirmed: Intro call with Alice").await;
    assert_eq!(message["from"], json!([{ "name": "Alice", "email": "alice@sandbox.test" }]));
    assert_eq!(message["to"], json!([{ "name": "Ada", "email": mailbox.address }]));
    assert_eq!(message["calendarMethod"], Value::Null);
    let said = body(&message);
    for line in [
        "Your booking is confirmed.",
        "When: Tuesday, 10 March 2026\n      10:00–10:30, Central European Time, Berlin\n",
        "With: Alice",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    // The link leads to the booking's page.
    let address = format!("http://{}", mailbox.server.app.config.listen);
    let link = address_below(&said, "View booking").strip_prefix(&address).expect("a link");
    assert!(link.starts_with("/book/b/") && link.ends_with("?lang=en"), "{link}");
    let page = mailbox.server.anonymous().get(link).send().await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("Intro call"), "{}", page.text);
}

/// Each step has one message, however often the jobs are run.
#[tokio::test]
async fn every_change_is_told_once() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(&mailbox.server).await;
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    deliver(&mailbox.server).await;
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(&mailbox.server).await;
    let reason = json!({ "reason": "I am ill" });
    desk.api.post(path(&booked, "/cancel"), reason).send().await.expect(200);
    deliver(&mailbox.server).await;
    deliver(&mailbox.server).await;

    let all = [
        "Cancelled: Intro call with Alice",
        "Confirmed: Intro call with Alice",
        "New time: Intro call with Alice",
        "Waiting for confirmation: Intro call with Alice",
    ];
    assert_eq!(subjects(&mailbox).await, all);
    let moved = body(&received(&mailbox, "New time: Intro call with Alice").await);
    assert!(moved.contains("Before: Tuesday, 10 March 2026, 09:00"), "{moved}");
    let cancelled = body(&received(&mailbox, "Cancelled: Intro call with Alice").await);
    assert!(cancelled.contains("> I am ill"), "{cancelled}");
    assert!(cancelled.contains("/intro?lang=en") && !cancelled.contains("/book/b/"), "{cancelled}");
}

/// A repeated job for the same change, as after a repair of the database, sends nothing.
#[tokio::test]
async fn the_same_change_is_not_told_again() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(&mailbox.server).await;
    let key = format!("{}:confirmed:0:invitee", text(&booked["id"]));
    let app = &mailbox.server.app;
    let tenants = storage::api_keys::tenants(app.db.reader()).await.expect("a query");
    let tenant: Tenant = tenants.into_iter().next().expect("the test's own");
    let again: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let job = NewJob {
                    kind: BOOKING_MAIL.name,
                    key: &key,
                    class: JobClass::Send,
                    tenant: &tenant,
                    connection_id: None,
                    target: "",
                    due_at: Some(0),
                    args: None,
                };
                jobs::enqueue(tx, &job, 0).await
            })
        })
        .await;
    again.expect("the job is enqueued");
    deliver(&mailbox.server).await;
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"]);
}

/// A booking that is cancelled before its first mail sends only the cancellation.
#[tokio::test]
async fn what_was_overtaken_is_not_told() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    deliver(&mailbox.server).await;
    assert_eq!(subjects(&mailbox).await, ["Cancelled: Intro call with Alice"]);
}

/// A class has an event of the host without attendees: each seat gets an invitation of its own, which is updated and cancelled.
#[tokio::test]
async fn a_seat_has_an_invitation_of_its_own() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("class", json!({ "seatsPerSlot": 3 })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(&mailbox.server).await;
    let invited = received(&mailbox, "Intro call with Alice").await;
    assert_eq!(invited["calendarMethod"], "request");
    let files = invited["attachments"].as_array().expect("a list");
    let is_invitation = |file: &Value| file["filename"] == "invite.ics";
    assert!(files.iter().any(is_invitation), "{invited:#}");

    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(&mailbox.server).await;
    let all = mailbox.list("").await;
    let requests = all.iter().filter(|m| m["subject"] == "Intro call with Alice").count();
    assert_eq!((requests, all.len()), (2, 2), "{all:#?}");
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    deliver(&mailbox.server).await;
    let cancelled = received(&mailbox, "Cancelled: Intro call with Alice").await;
    assert_eq!(cancelled["calendarMethod"], "cancel");
}

/// Hosts can reply to the invitee.
#[tokio::test]
async fn hosts_are_told_too() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let questions = json!([{ "key": "topic", "label": "Topic", "type": "text" }]);
    let fields = json!({ "questions": questions, "notifications": { "invitee": false } });
    let id = desk.open("intro", fields).await;
    let fields = json!({ "answers": { "topic": "Looms" }, "notes": "Bring a pen" });
    book(&desk, &mailbox, &id, fields).await;
    deliver(&mailbox.server).await;
    assert_eq!(subjects(&mailbox).await, Vec::<String>::new());

    let message = received_by_host(&mailbox, &desk, "Confirmed: Intro call with Ada").await;
    assert_eq!(message["replyTo"], json!([{ "name": "Ada", "email": mailbox.address }]));
    let said = body(&message);
    for line in ["Invitee: Ada", "> Bring a pen\n", "Topic:\n> Looms\n"] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    assert!(!said.contains("/book/b/"), "the link is the invitee's: {said}");
}

/// An account with only a calendar leaves the mail to the account that the event type names.
#[tokio::test]
async fn another_account_sends_for_a_host_who_cannot() {
    let mailbox = mailbox().await;
    let desk = Desk::of(&mailbox.server, "alice").await;
    let mute = desk.open("mute", json!({})).await;
    let booked = book(&desk, &mailbox, &mute, json!({})).await;
    assert_eq!(booked["warnings"][0]["code"], "notification_unavailable");
    deliver(&mailbox.server).await;
    assert_eq!(subjects(&mailbox).await, Vec::<String>::new());

    let office = mailbox.connect_other().await;
    let fields = json!({ "notifications": { "connectionId": office } });
    let id = desk.open("intro", fields).await;
    let later = json!({ "start": format!("{DAY}T10:00:00Z") });
    let booked = book(&desk, &mailbox, &id, later).await;
    assert_eq!(booked["warnings"], json!([]));
    deliver(&mailbox.server).await;
    let message = received(&mailbox, "Confirmed: Intro call with Alice").await;
    assert_eq!(message["from"][0]["email"], mailbox.other.address);
}

/// A reminder is sent at its time, and not for a booking that was moved or has ended.
#[tokio::test]
async fn a_reminder_comes_before_the_booking() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let reminders = json!([
        { "minutesBefore": 60, "channel": "email" },
        { "minutesBefore": 60, "channel": "webhook" },
        { "minutesBefore": 20 * 24 * 60, "channel": "email" },
    ]);
    let id = desk.open("intro", json!({ "notifications": { "reminders": reminders } })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(server).await;
    let before = subjects(&mailbox).await;

    // An hour before the first time, which it has no more.
    server.clock.advance_ms(9 * DAY_MS);
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, before);
    server.clock.advance_ms(HOUR_MS);
    deliver(server).await;
    let reminder = received(&mailbox, "Reminder: Intro call with Alice").await;
    assert!(body(&reminder).contains("When: Tuesday, 10 March 2026\n      10:00"), "{reminder:#}");
    let last = logged(server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.reminder", "system")]).pop());
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
}

/// Texts of users are plain text in every part of a message.
#[tokio::test]
async fn hostile_texts_stay_texts() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({ "seatsPerSlot": 2 })).await;
    let name = "Ada\"; X=1 <script>alert(1)</script>, ATTENDEE:mailto:evil@x.test \u{1f600}";
    let guests = json!([{ "name": name, "email": mailbox.other.address }]);
    let booked = book(&desk, &mailbox, &id, json!({ "inviteeName": name, "guests": guests })).await;
    deliver(&mailbox.server).await;

    let all = mailbox.list("").await;
    let [listed] = &all[..] else { panic!("one message: {all:#?}") };
    let message = mailbox.read(&listed["id"]).await;
    assert_eq!(message["subject"], "Intro call with Alice");
    assert_eq!(message["to"], json!([{ "name": name, "email": mailbox.address }]));
    assert_eq!((&message["cc"], &message["bcc"]), (&json!([]), &json!([])));
    let raw = mailbox.there.raw(&text(&message["internetMessageId"])).await;
    assert!(!raw.contains("\nATTENDEE:mailto:evil"), "{raw}");

    // The guest is invited, and cannot change the booking.
    let theirs = mailbox.other.contents().await;
    let id = theirs.keys().next().expect("the guest has a message");
    let raw = mailbox.other.raw(id).await;
    assert!(raw.contains("method=REQUEST") && !raw.contains("/book/b/"), "{raw}");

    // The hosts read the name, and a reason.
    let browser = mailbox.server.client_with(&["scheduling.book"]).await;
    let cancel = json!({ "manageToken": booked["manageToken"], "reason": "<b>Late</b>" });
    browser.post(path(&booked, "/cancel"), cancel).send().await.expect(200);
    deliver(&mailbox.server).await;
    let hosts = received_by_host(&mailbox, &desk, "Cancelled: Intro call with Ada").await;
    let html = text(&hosts["body"]["html"]);
    assert!(html.contains("&lt;script&gt;") && html.contains("&lt;b&gt;Late"), "{html}");
    assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
}

/// A message has plain text, the same as HTML without external content, and the invitation, in this order: programs show the last part
/// that they support.
#[tokio::test]
async fn a_message_has_text_html_and_the_invitation() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let question =
        json!({ "key": "size", "label": "Team size", "type": "select", "options": ["1–10", "11–100"] });
    let place = json!([{ "type": "link", "value": "https://meet.example.org/alice" }]);
    let fields = json!({ "seatsPerSlot": 2, "questions": [question], "locations": place });
    let id = desk.open("intro", fields).await;
    book(&desk, &mailbox, &id, json!({ "answers": { "size": "11–100" } })).await;
    deliver(&mailbox.server).await;

    let message = received(&mailbox, "Intro call with Alice").await;
    let raw = mailbox.there.raw(&text(&message["internetMessageId"])).await;
    let at =
        |part: &str| raw.find(&format!("Content-Type: {part}")).unwrap_or_else(|| panic!("no {part}: {raw}"));
    assert!(at("multipart/alternative") < at("text/plain") && at("text/plain") < at("text/html"), "{raw}");
    assert!(at("text/html") < at("text/calendar"), "{raw}");

    let (said, html) = (body(&message), text(&message["body"]["html"]));
    let view = address_below(&said, "View booking");
    for part in ["https://meet.example.org/alice", "Team size", "11–100", view] {
        assert!(said.contains(part) && html.contains(&part.replace('&', "&amp;")), "{part}: {said} {html}");
    }
    for absent in ["<table", "<img", "src=", "url("] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 72 || line.starts_with("http")), "{said}");
}

/// The addresses of a booking are not verified: texts of an invitee are mailed to the hosts only.
#[tokio::test]
async fn what_the_invitee_writes_goes_to_the_hosts_alone() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    let browser = mailbox.server.client_with(&["scheduling.book"]).await;
    let body_of = json!({ "manageToken": booked["manageToken"], "reason": "See https://evil.example" });
    browser.post(path(&booked, "/cancel"), body_of).send().await.expect(200);
    deliver(&mailbox.server).await;
    let subject = "Cancelled: Intro call with Alice";
    let invitees = body(&received(&mailbox, subject).await);
    assert!(!invitees.contains("Reason:") && !invitees.contains("evil"), "{invitees}");
    let hosts = body(&received_by_host(&mailbox, &desk, "Cancelled: Intro call with Ada").await);
    assert!(hosts.contains("> See https://evil.example"), "{hosts}");
}

/// The booking changes while a server refuses mail: only the last state is sent, and nothing after it.
#[tokio::test]
async fn what_waits_in_the_outbox_is_taken_back_by_what_overtakes_it() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let provider = server.provider("alice");
    let away = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1/mail/send" });
    provider.post("/sandbox/faults", away).send().await.expect(201);
    let id = desk.open("class", json!({ "seatsPerSlot": 3 })).await;
    let guests = json!([{ "email": mailbox.other.address }]);
    let booked = book(&desk, &mailbox, &id, json!({ "guests": guests })).await;
    deliver(server).await;
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(server).await;
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, Vec::<String>::new());

    provider.delete("/sandbox/faults").send().await.expect(204);
    for _ in 0..5 {
        server.clock.advance_ms(6 * HOUR_MS);
        deliver(server).await;
    }
    assert_eq!(subjects(&mailbox).await, ["Cancelled: Intro call with Alice"]);
    assert_eq!(mailbox.other.contents().await.len(), 1, "the guest has one too");
}

/// The bookings of an event type outlive it, and so do its mail settings.
#[tokio::test]
async fn a_deleted_event_type_still_says_who_is_told() {
    let mailbox = mailbox().await;
    let desk = Desk::of(&mailbox.server, "alice").await;
    let office = mailbox.connect_other().await;
    let told = desk.open("told", json!({ "notifications": { "connectionId": office } })).await;
    let fields = json!({ "notifications": { "connectionId": office, "invitee": false } });
    let quiet = desk.open("quiet", fields).await;
    let first = book(&desk, &mailbox, &told, json!({})).await;
    let later = json!({ "start": format!("{DAY}T10:00:00Z") });
    let second = book(&desk, &mailbox, &quiet, later).await;
    deliver(&mailbox.server).await;
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"]);
    for id in [&told, &quiet] {
        desk.api.delete(format!("{EVENT_TYPES}/{id}")).send().await.expect(204);
    }
    for booked in [&first, &second] {
        desk.api.post(path(booked, "/cancel"), json!({})).send().await.expect(200);
    }
    deliver(&mailbox.server).await;
    let all = ["Cancelled: Intro call with Alice", "Confirmed: Intro call with Alice"];
    assert_eq!(subjects(&mailbox).await, all);
    let cancelled = body(&received(&mailbox, all[0]).await);
    assert!(cancelled.contains("With: Alice") && !cancelled.contains("/book/"), "{cancelled}");
}

/// Guests have nothing but the invitation: whether the provider sends it is asked until the account answers.
#[tokio::test]
async fn guests_wait_for_an_account_that_does_not_answer() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let office = mailbox.connect_other().await;
    let id = desk.open("intro", json!({ "notifications": { "connectionId": office } })).await;
    let guests = json!([{ "email": "guest@sandbox.test" }]);
    book(&desk, &mailbox, &id, json!({ "guests": guests })).await;
    expired(server, &desk).await;
    let waiting = async || {
        query("select count(*) as n from jobs where id like 'booking_mail:%:guests'")
            .fetch_one(server.app.db.reader(), |row| row.get::<i64>("n"))
            .await
            .expect("a query")
    };
    deliver(server).await;
    server.clock.advance_ms(61_000);
    deliver(server).await;
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"], "the invitee knows");
    assert_eq!(waiting().await, 1);
    server.clock.advance_ms(HOUR_MS);
    deliver(server).await;
    assert_eq!(waiting().await, 1);

    connected_anew(server, &desk).await;
    server.clock.advance_ms(HOUR_MS);
    deliver(server).await;
    assert_eq!(waiting().await, 0, "the sandbox has invited them");
}

/// An account that cannot be used when a reminder is due sends none after the booking's start.
#[tokio::test]
async fn nobody_is_reminded_of_what_has_begun() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let reminders = json!([{ "minutesBefore": 60, "channel": "email" }]);
    let id = desk.open("intro", json!({ "notifications": { "reminders": reminders } })).await;
    book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    server.clock.advance_ms(9 * DAY_MS);
    expired(server, &desk).await;
    deliver(server).await;
    server.clock.advance_ms(2 * HOUR_MS);
    connected_anew(server, &desk).await;
    for _ in 0..2 {
        deliver(server).await;
        server.clock.advance_ms(DAY_MS);
    }
    assert_eq!(subjects(&mailbox).await, ["Confirmed: Intro call with Alice"]);
}

/// For calendars, another organizer means another event: the former one cancels the invitation, and the new one sends a new one.
#[tokio::test]
async fn the_organizer_who_invited_takes_the_invitation_back() {
    let mailbox = mailbox().await;
    let alice = host(&mailbox.server).await;
    let bob = host_of(&mailbox.server, "bob").await;
    let id = alice.open("class", json!({ "seatsPerSlot": 3 })).await;
    let booked = book(&alice, &mailbox, &id, json!({})).await;
    deliver(&mailbox.server).await;
    let change = json!({ "hosts": [pools::host(&bob, json!({}))] });
    alice.api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    let moved = json!({ "start": format!("{DAY}T10:00:00Z") });
    let moved = alice.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    assert_eq!(moved["organizerConnectionId"], json!(bob.connection));
    assert_ne!(moved["iCalUid"], booked["iCalUid"]);
    deliver(&mailbox.server).await;

    // She is no host of the event type any more, which so has no name of hers.
    let taken_back = received(&mailbox, "Cancelled: Intro call").await;
    assert_eq!(
        (&taken_back["from"][0]["email"], &taken_back["calendarMethod"]),
        (&json!("alice@sandbox.test"), &json!("cancel"))
    );
    let all = mailbox.list("").await;
    // The account of the other host is called Alice Adams.
    let titles = [json!("Intro call with Alice"), json!("Intro call with Alice Adams")];
    let requests = all.iter().filter(|m| titles.contains(&m["subject"]));
    let mut from: Vec<String> = requests.map(|m| text(&m["from"][0]["email"])).collect();
    from.sort();
    assert_eq!(from, ["alice@sandbox.test", "bob@sandbox.test"]);
}
