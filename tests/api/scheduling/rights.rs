//! The scopes that an event type needs of the key that saves it, and its use of them for invitees.

use harness::TestServer;
use serde_json::{Value, json};

use super::lifecycle::{path, read};
use super::pools::{desks, host};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, mail, on, text};

/// The codes of an answer's warnings.
fn warned(answer: &Value) -> Vec<&str> {
    let all = answer["warnings"].as_array().expect("warnings");
    all.iter().filter_map(|warning| warning["code"].as_str()).collect()
}

/// The fields of a refusal that the key lacks a scope for.
fn lacking(error: &Value) -> Vec<&str> {
    assert_eq!(error["type"], "permission_error", "{error:#}");
    let details = error["details"].as_array().expect("details");
    assert!(details.iter().all(|detail| detail["code"] == "insufficient_scope"), "{error:#}");
    assert_eq!(error["param"], details[0]["field"], "{error:#}");
    details.iter().filter_map(|detail| detail["field"].as_str()).collect()
}

/// A key that only manages event types gets access to no calendar through them: neither to busy times nor to writes.
#[tokio::test]
async fn an_event_type_needs_the_right_to_its_hosts_calendars() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let mut body = alice.event_type("intro");
    body["hosts"] = json!([host(alice, json!({})), host(bob, json!({ "role": "optional" }))]);
    for scopes in [
        &["scheduling.write"][..],
        &["scheduling.write", "calendar.freebusy", "email.send"],
        &["scheduling.write", "calendar.read", "email.write"],
    ] {
        let weak = server.client_with(scopes).await;
        let refused = weak.post(EVENT_TYPES, body.clone()).send().await.refused(403, "insufficient_scope");
        assert_eq!(lacking(&refused), ["hosts[0].connectionId", "hosts[1].connectionId"], "{scopes:?}");
        assert!(text(&refused["message"]).contains("calendar.write"), "{refused:#}");
    }
    assert_eq!(alice.api.all(EVENT_TYPES).await, Vec::<Value>::new());
    let enough = server.client_with(&["scheduling.write", "calendar.write"]).await;
    enough.post(EVENT_TYPES, body).send().await.expect(201);
}

/// Mail to people is sent from accounts that the key may send from, or not at all.
#[tokio::test]
async fn an_event_type_needs_the_right_to_send_from_its_hosts_accounts() {
    let server = TestServer::start().await;
    let (sends, silent) = (mail::host(&server).await, Desk::of(&server, "bob").await);
    let weak = server.client_with(&["scheduling.write", "calendar.write"]).await;
    let refused = weak.post(EVENT_TYPES, sends.event_type("intro")).send().await;
    let refused = refused.refused(403, "insufficient_scope");
    assert_eq!(lacking(&refused), ["hosts[0].connectionId"]);
    assert!(text(&refused["message"]).contains("email.send"), "{refused:#}");
    let mut asked_for = silent.event_type("intro");
    asked_for["notifications"] = json!({ "invitee": true, "connectionId": sends.connection });
    let refused = weak.post(EVENT_TYPES, asked_for.clone()).send().await.refused(403, "insufficient_scope");
    assert_eq!(lacking(&refused), ["notifications.connectionId", "notifications.invitee"]);
    assert_eq!(sends.api.all(EVENT_TYPES).await, Vec::<Value>::new());

    // Without any mail it needs no right to send.
    let mut muted = sends.event_type("muted");
    muted["notifications"] = json!({ "invitee": false, "hosts": false });
    let muted = weak.post(EVENT_TYPES, muted).send().await.expect(201);
    assert_eq!(warned(&muted), [] as [&str; 0]);
    // If no account can send, the event type says that no mail is sent, and stays so whatever accounts are granted later.
    let made = weak.post(EVENT_TYPES, silent.event_type("silent")).send().await.expect(201);
    assert_eq!(warned(&made), ["notification_unavailable"]);
    let told = (&made["notifications"]["invitee"], &made["notifications"]["hosts"]);
    assert_eq!(told, (&json!(false), &json!(false)));

    let strong = server.client_with(&["scheduling.write", "calendar.write", "email.send"]).await;
    let made = strong.post(EVENT_TYPES, asked_for).send().await.expect(201);
    assert_eq!(made["notifications"]["invitee"], true);
    assert_eq!(warned(&made), [] as [&str; 0]);
}

/// A change needs the rights to the changed parts, and has no effect without them.
#[tokio::test]
async fn a_change_needs_the_rights_to_what_acts_from_then_on() {
    let server = TestServer::start().await;
    let (sends, bob) = (mail::host(&server).await, Desk::of(&server, "bob").await);
    let id = sends.open("intro", json!({})).await;
    let path = format!("{EVENT_TYPES}/{id}");
    let before = sends.api.get(&path).send().await.expect(200);
    let (weak, calendars) = (
        server.client_with(&["scheduling.write"]).await,
        server.client_with(&["scheduling.write", "calendar.write"]).await,
    );
    let own = before["hosts"][0].clone();
    let mut elsewhere = own.clone();
    elsewhere["conflictCalendarIds"] = json!([]);
    let both = json!([own, host(&bob, json!({}))]);
    for (key, change, fields) in [
        (&weak, json!({ "hosts": both }), vec!["hosts[1].connectionId", "hosts[1].connectionId"]),
        (&weak, json!({ "hosts": [elsewhere] }), vec!["hosts[0].connectionId"]),
        (&weak, json!({ "locations": [{ "type": "googleMeet" }] }), vec!["locations[0].type"]),
        (&calendars, json!({ "hosts": both }), vec!["hosts[1].connectionId"]),
        (
            &calendars,
            json!({ "notifications": { "connectionId": sends.connection } }),
            vec!["notifications.connectionId"],
        ),
    ] {
        let refused = key.patch(&path, change.clone()).send().await.refused(403, "insufficient_scope");
        assert_eq!(lacking(&refused), fields, "{change}");
    }
    assert_eq!(sends.api.get(&path).send().await.expect(200), before);

    let off = json!({ "notifications": { "invitee": false, "hosts": false } });
    calendars.patch(&path, off).send().await.expect(200);
    let back = calendars.patch(&path, json!({ "notifications": { "invitee": true } })).send().await;
    assert_eq!(lacking(&back.refused(403, "insufficient_scope")), ["notifications.invitee"]);
    calendars.patch(&path, json!({ "hosts": both })).send().await.expect(200);
    // Hosts that do not change need no right to them.
    let mut renamed = calendars.get(&path).send().await.expect(200)["hosts"].clone();
    renamed[1]["displayName"] = json!("Bob");
    let change = json!({ "title": "Call", "hosts": renamed, "locations": [{ "type": "inPerson", "value": "Room 1" }] });
    let changed = weak.patch(&path, change).send().await.expect(200);
    assert_eq!((&changed["title"], &changed["hosts"][1]["displayName"]), (&json!("Call"), &json!("Bob")));
    weak.patch(&path, json!({ "hosts": [renamed[0]] })).send().await.expect(200);
}

/// A key that books needs no right but to book: the event type acts with those that it was given.
#[tokio::test]
async fn a_booking_acts_with_the_rights_of_its_event_type() {
    let mailbox = mail::mailbox().await;
    let server = &mailbox.server;
    let desk = mail::host(server).await;
    let maker = server.client_with(&["scheduling.write", "calendar.write", "email.send"]).await;
    let id = text(&maker.post(EVENT_TYPES, desk.event_type("intro")).send().await.expect(201)["id"]);
    desk.event(&format!("{DAY}T09:00:00Z"), &format!("{DAY}T10:00:00Z")).await;
    let browser = server.client_with(&["scheduling.book"]).await;
    let slots = browser.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    let first = &slots["data"][0];
    assert_eq!((&slots["complete"], &first["start"]), (&json!(true), &json!(format!("{DAY}T10:00:00.000Z"))));
    browser.post(BOOKINGS, booking(&id, "09:00")).send().await.refused(409, "slot_unavailable");
    let mut body = booking(&id, "10:00");
    body["inviteeEmail"] = json!(mailbox.address);
    let booked = browser.post(BOOKINGS, body).send().await.expect(201);
    mail::deliver(server).await;
    let written = read(&desk.api, &booked).await;
    assert_eq!(written["calendarEvents"][0]["status"], "written", "{written:#}");
    let told = mailbox.list("").await;
    assert_eq!(told[0]["from"][0]["email"], "alice@sandbox.test", "{told:#?}");
    // The calendar itself is as closed as it was.
    let events = format!("/v1/calendars/{}/events", desk.calendar);
    browser.get(&events).send().await.refused(403, "insufficient_scope");
    let manager = server.client_with(&["scheduling.write"]).await;
    manager.get(&events).send().await.refused(403, "insufficient_scope");
    manager.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
}
