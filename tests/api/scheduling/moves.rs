//! Rescheduling: its rules, and the hosts of a meeting.

use harness::TestServer;
use serde_json::{Value, json};

use super::lifecycle::{book, logged, path, read, run_jobs};
use super::pools::{desks, host};
use super::provider_side::events;
use super::{DAY, Desk, EVENT_TYPES, SLOTS, on, text, time_of};

fn at(time: &str) -> Value {
    json!({ "start": format!("{DAY}T{time}:00Z") })
}

/// The times of the day to which a booking can be moved.
async fn times(desk: &Desk, event_type: &str, booked: &Value) -> Vec<String> {
    let mut query = on(event_type, DAY);
    query["rescheduleBookingId"] = booked["id"].clone();
    let answer = desk.api.post(SLOTS, query).send().await.expect(200);
    answer["data"].as_array().expect("a list").iter().map(|slot| time_of(&slot["start"])).collect()
}

/// The hours are those of the schedule that the event type names.
#[tokio::test]
async fn a_move_goes_by_the_shared_hours() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let office = json!({
        "name": "Office", "timeZone": "UTC", "weekly": [{ "days": [2], "start": "09:00", "end": "10:30" }],
    });
    let made = desk.api.post("/v1/scheduling/schedules", office).send().await.expect(201);
    let id = desk.open("intro", json!({ "schedule": null, "scheduleId": made["id"] })).await;
    let booked = book(&desk, &id, "09:00").await;
    assert_eq!(times(&desk, &id, &booked).await, ["09:00", "09:30", "10:00"]);
    let moved = desk.api.post(path(&booked, "/reschedule"), at("10:00")).send().await.expect(200);
    assert_eq!(moved["rescheduleCount"], 1);
    desk.api.post(path(&booked, "/reschedule"), at("10:30")).send().await.refused(409, "slot_unavailable");
}

/// A booking of a pool keeps its host when it is moved, so the search offers that host's times only; with others in the meeting its time
/// is not free for one of them.
#[tokio::test]
async fn what_is_offered_for_a_move_can_be_had() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts: Value = all.iter().map(|desk| host(desk, json!({ "role": "rotation" }))).collect();
    let pool = alice.open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    let booked = book(alice, &pool, "09:00").await;
    let is_of_alice = booked["organizerConnectionId"] == json!(alice.connection);
    let keeper = if is_of_alice { alice } else { bob };
    keeper.event("2026-03-10T10:00:00Z", "2026-03-10T11:30:00Z").await;
    assert_eq!(times(alice, &pool, &booked).await, ["09:00", "09:30", "11:30"]);
    let refused = alice.api.post(path(&booked, "/reschedule"), at("10:00")).send().await;
    refused.refused(409, "slot_unavailable");
    let moved = alice.api.post(path(&booked, "/reschedule"), at("11:30")).send().await.expect(200);
    assert_eq!(moved["hostIds"], booked["hostIds"]);

    let fields = json!({ "seatsPerSlot": 2, "slotIntervalMinutes": 15 });
    let class = bob.open("class", fields).await;
    let first = book(bob, &class, "09:00").await;
    assert!(times(bob, &class, &first).await.contains(&"09:15".to_owned()), "the meeting moves");
    book(bob, &class, "09:00").await;
    assert!(!times(bob, &class, &first).await.contains(&"09:15".to_owned()), "the meeting stays");
    let refused = bob.api.post(path(&first, "/reschedule"), at("09:15")).send().await;
    refused.refused(409, "slot_unavailable");
}

/// A host who left the rotation is not waited for: another one takes the meeting.
#[tokio::test]
async fn a_booking_of_a_host_who_left_can_be_moved() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let in_rotation = |desk: &Desk| host(desk, json!({ "role": "rotation" }));
    let hosts: Value = all.iter().map(in_rotation).collect();
    let pool = all[0].open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    let booked = book(&all[0], &pool, "09:00").await;
    let is_of_first = booked["organizerConnectionId"] == json!(all[0].connection);
    let stays = if is_of_first { &all[1] } else { &all[0] };
    let change = json!({ "hosts": [in_rotation(stays)] });
    all[0].api.patch(format!("{EVENT_TYPES}/{pool}"), change).send().await.expect(200);
    assert!(times(&all[0], &pool, &booked).await.contains(&"10:00".to_owned()));
    let moved = all[0].api.post(path(&booked, "/reschedule"), at("10:00")).send().await.expect(200);
    assert_eq!(moved["hostIds"], json!([stays.connection]));
}

/// Only the organizer invites: all other hosts have the meeting in their own calendar. A new organizer invites with another event.
#[tokio::test]
async fn one_host_invites() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts = json!([host(alice, json!({})), host(bob, json!({}))]);
    let id = alice.open("both", json!({ "hosts": hosts, "assignment": "collective" })).await;
    let booked = book(alice, &id, "09:00").await;
    run_jobs(&server).await;
    let (of_alice, of_bob) = (events(&server, alice).await, events(&server, bob).await);
    assert_eq!((of_alice.len(), of_bob.len()), (1, 1));
    assert_eq!(of_alice[0]["attendees"][0]["email"], "ada@example.org");
    assert_eq!(of_bob[0]["attendees"], json!([]));
    assert_eq!(of_alice[0]["iCalUid"], of_bob[0]["iCalUid"]);

    let change = json!({ "hosts": [host(bob, json!({}))] });
    alice.api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    alice.api.post(path(&booked, "/reschedule"), at("10:00")).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(events(&server, alice).await, Vec::<Value>::new());
    let now_of_bob = events(&server, bob).await;
    let [event] = &now_of_bob[..] else { panic!("one event: {now_of_bob:#?}") };
    assert_eq!(event["attendees"][0]["email"], "ada@example.org");
    let shown = read(&alice.api, &booked).await;
    assert_eq!((&shown["status"], &shown["iCalUid"]), (&json!("confirmed"), &event["iCalUid"]));
    assert_ne!(event["iCalUid"], of_bob[0]["iCalUid"]);
}

/// Two simultaneous moves to the same time are one move.
#[tokio::test]
async fn a_move_that_comes_twice_at_once_moves_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    let asked: Vec<_> = (0..4)
        .map(|_| {
            let ask = desk.api.post(path(&booked, "/reschedule"), at("10:30"));
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut moved = 0;
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        if answer.status == 200 {
            moved += 1;
        } else {
            answer.refused(400, "invalid_parameter");
        }
    }
    assert_eq!(moved, 1);
    let shown = read(&desk.api, &booked).await;
    assert_eq!((&shown["rescheduleCount"], &shown["sequence"]), (&json!(1), &json!(1)));
    assert_eq!(shown["previousStart"], json!(format!("{DAY}T09:00:00.000Z")));
    let told = logged(&server, &text(&booked["id"])).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "booking.rescheduled").count(), 1, "{told:?}");
}

/// A time that cannot be booked cannot be chosen for a move; a key with the scope to write is not bound by that.
#[tokio::test]
async fn an_invitee_moves_nothing_of_an_event_type_that_is_closed() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    let closed = json!({ "active": false });
    desk.api.patch(format!("{EVENT_TYPES}/{id}"), closed).send().await.expect(200);
    let browser = server.client_with(&["scheduling.book"]).await;
    let mut body = at("10:00");
    body["manageToken"] = booked["manageToken"].clone();
    browser.post(path(&booked, "/reschedule"), body).send().await.refused(403, "forbidden");
    desk.api.post(path(&booked, "/reschedule"), at("10:00")).send().await.expect(200);
}

/// An optional host who deletes the event cancels no meeting.
#[tokio::test]
async fn an_optional_host_who_deletes_the_event_cancels_nothing() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts = json!([host(alice, json!({})), host(bob, json!({ "role": "optional" }))]);
    let id = alice.open("intro", json!({ "hosts": hosts })).await;
    let booked = book(alice, &id, "09:00").await;
    run_jobs(&server).await;
    let events = read(&alice.api, &booked).await["calendarEvents"].clone();
    let mut each = events.as_array().expect("a list").iter();
    let of_bob = each.find(|event| event["connectionId"] == json!(bob.connection));
    let event = text(&of_bob.expect("bob is invited")["eventId"]);
    let own = format!("/v1/calendars/{}/events/{event}", bob.calendar);
    let deleted = bob.api.delete(own).send().await;
    assert!(deleted.status < 300, "{deleted}");
    server.clock.advance_ms(60_000);
    run_jobs(&server).await;
    assert_eq!(read(&alice.api, &booked).await["status"], "confirmed");
}

/// A booking that held nothing gets its time and the events of all its hosts with its confirmation.
#[tokio::test]
async fn a_confirmation_invites_optional_hosts() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts = json!([host(alice, json!({})), host(bob, json!({ "role": "optional" }))]);
    let fields = json!({ "hosts": hosts, "requiresConfirmation": true, "pendingBlocksSlot": false });
    let id = alice.open("intro", fields).await;
    let booked = book(alice, &id, "09:00").await;
    assert_eq!(booked["calendarEvents"], json!([]));
    alice.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    let shown = read(&alice.api, &booked).await;
    let events = shown["calendarEvents"].as_array().expect("a list");
    let statuses: Vec<&Value> = events.iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, [&json!("written"), &json!("written")], "{shown:#}");
    assert_eq!(shown["hostIds"], json!([alice.connection]));
    let again = alice.api.post(path(&book(alice, &id, "10:00").await, "/confirm"), json!({}));
    again.send().await.expect(200);
}
