//! Keys that are bound to connections: they see and change only what belongs to these connections, in every operation.

use harness::receiver::Receiver;
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use super::lifecycle::{book, path, run_jobs};
use super::pools::{desks, host};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, on, starts, text};
use crate::events::stream::Events;

const SCHEDULES: &str = "/v1/scheduling/schedules";
const EVENTS: &str = "/v1/events?type=booking.*,event_type.*";

/// A key of the application that is bound to these desks' connections.
async fn bound(server: &TestServer, desks: &[&Desk]) -> Actor {
    let ids = desks.iter().map(|desk| desk.connection.clone()).collect();
    server.key("test", |key| key.connection_ids = ids).await
}

/// Weekdays between these times.
fn hours(start: &str, end: &str) -> Value {
    json!({
        "name": "Office", "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": start, "end": end }],
    })
}

/// The ids of what events are about, each once.
fn subjects(events: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> = events.iter().map(|event| text(&event["data"]["resourceId"])).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn sorted<const N: usize>(ids: [&str; N]) -> Vec<String> {
    let mut ids = ids.map(str::to_owned).to_vec();
    ids.sort();
    ids
}

/// Alice and Bob with three event types: both as required hosts, Alice alone, and Alice with Bob as an optional host.
struct Office {
    server: TestServer,
    receiver: Receiver,
    all: Vec<Desk>,
    together: String,
    alone: String,
    invited: String,
}

impl Office {
    async fn open() -> Office {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let server =
            TestServer::builder().config(|config| config.webhook_allow = vec![loopback]).start().await;
        let all = desks(&server, &["alice", "bob"]).await;
        let [alice, bob] = &all[..] else { panic!("two desks") };
        let both = json!([host(alice, json!({})), host(bob, json!({}))]);
        let guest = json!([host(alice, json!({})), host(bob, json!({ "role": "optional" }))]);
        let together = alice.open("together", json!({ "hosts": both })).await;
        let alone = alice.open("alone", json!({})).await;
        let invited = alice.open("invited", json!({ "hosts": guest })).await;
        Office { server, receiver: Receiver::start().await, all, together, alone, invited }
    }

    fn alice(&self) -> &Desk {
        &self.all[0]
    }
}

/// A booking with a host whom the key may not use is invisible to it: in responses, in lists, in the log, on the stream, at its webhook.
/// All other bookings are complete in all of these.
#[tokio::test]
async fn a_booking_with_another_host_is_nowhere_for_a_bound_key() {
    let mut office = Office::open().await;
    let (bound_key, whole) = (bound(&office.server, &[office.alice()]).await, &office.alice().api);
    let webhook = json!({ "url": office.receiver.url(), "eventTypes": ["booking.*", "event_type.*"] });
    bound_key.post("/v1/webhooks", webhook).send().await.expect(201);
    let begin = whole.get("/v1/events").send().await.expect(200)["last_sequence"].clone();

    let hidden = [
        book(office.alice(), &office.together, "09:00").await,
        book(office.alice(), &office.invited, "10:00").await,
    ];
    let own = book(office.alice(), &office.alone, "11:00").await;
    run_jobs(&office.server).await;
    for booked in hidden.iter().chain([&own]) {
        whole.post(path(booked, "/cancel"), json!({ "reason": "ill" })).send().await.expect(200);
    }
    let change = json!({ "title": "Another title" });
    for id in [&office.together, &office.invited, &office.alone] {
        whole.patch(format!("{EVENT_TYPES}/{id}"), change.clone()).send().await.expect(200);
    }
    run_jobs(&office.server).await;

    let seen = sorted([&text(&own["id"]), &office.alone]);
    for booked in &hidden {
        bound_key.get(path(booked, "")).send().await.refused(404, "not_found");
        let body = json!({ "manageToken": booked["manageToken"] });
        bound_key.post(path(booked, "/cancel"), body).send().await.refused(404, "not_found");
    }
    let listed = bound_key.all(BOOKINGS).await;
    assert_eq!(listed.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [&own["id"]]);
    let logged = bound_key.all(&format!("{EVENTS}&after_sequence={begin}")).await;
    assert_eq!(subjects(&logged), seen);
    let all = whole.all(&format!("{EVENTS}&after_sequence={begin}")).await;
    assert_eq!(subjects(&all).len(), 6);
    for event in &all {
        let read = bound_key.get(format!("/v1/events/{}", text(&event["id"]))).send().await;
        match seen.contains(&text(&event["data"]["resourceId"])) {
            true => assert_eq!(read.expect(200), *event),
            false => drop(read.refused(404, "not_found")),
        }
    }
    let query = format!("?type=booking.*,event_type.*&after_sequence={begin}");
    let mut stream = Events::open(&office.server, &bound_key, &query, None).await;
    for event in &logged {
        assert_eq!(stream.event().await, *event);
    }
    office.server.deliver().await;
    let delivered: Vec<Value> = office.receiver.taken().iter().map(|received| received.json()).collect();
    assert_eq!(subjects(&delivered), seen);
    let bobs = &office.all[1].connection;
    assert!(logged.iter().chain(&delivered).all(|event| !event.to_string().contains(bobs.as_str())));
    // Nothing of it is kept from a key that may use both.
    let both = bound(&office.server, &[&office.all[0], &office.all[1]]).await;
    assert_eq!(both.all(&format!("{EVENTS}&after_sequence={begin}")).await, all);
}

/// A key that may use both hosts sees and moves their joint bookings; a key for one of the two does not.
#[tokio::test]
async fn a_key_moves_what_is_of_its_connections_alone() {
    let office = Office::open().await;
    let booked = book(office.alice(), &office.together, "09:00").await;
    let (alices, both) = (
        bound(&office.server, &[&office.all[0]]).await,
        bound(&office.server, &[&office.all[0], &office.all[1]]).await,
    );
    let later = json!({ "start": format!("{DAY}T10:00:00Z") });
    let mut with_token = later.clone();
    with_token["manageToken"] = booked["manageToken"].clone();
    for body in [later.clone(), with_token] {
        alices.post(path(&booked, "/reschedule"), body).send().await.refused(404, "not_found");
    }
    let mut slots = on(&office.together, DAY);
    alices.post(SLOTS, slots.clone()).send().await.refused(404, "not_found");
    slots["eventTypeId"] = json!(office.alone);
    slots["rescheduleBookingId"] = booked["id"].clone();
    alices.post(SLOTS, slots).send().await.refused(404, "not_found");
    let moved = both.post(path(&booked, "/reschedule"), later).send().await.expect(200);
    assert_eq!(moved["start"], format!("{DAY}T10:00:00.000Z"));
}

/// An event type mails from an account that its key must be allowed to use: a change of the event type changes that account's mail. Its
/// bookings belong to its hosts.
#[tokio::test]
async fn whoever_changes_what_an_account_says_may_use_it() {
    let server = TestServer::start().await;
    let (host, sender) = (Desk::of(&server, "bob").await, super::mail::host(&server).await);
    let fields = json!({ "notifications": { "connectionId": sender.connection } });
    let id = host.open("intro", fields).await;
    let own = bound(&server, &[&host]).await;
    let path_of_it = format!("{EVENT_TYPES}/{id}");
    own.get(&path_of_it).send().await.refused(404, "not_found");
    own.patch(&path_of_it, json!({ "title": "Win a prize" })).send().await.refused(404, "not_found");
    own.delete(&path_of_it).send().await.refused(404, "not_found");
    own.post(format!("{path_of_it}/links"), json!({})).send().await.refused(404, "not_found");
    assert_eq!(own.all(EVENT_TYPES).await, Vec::<Value>::new());
    let booked = own.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!(own.get(path(&booked, "")).send().await.expect(200)["hostIds"], json!([host.connection]));
    let both = bound(&server, &[&host, &sender]).await;
    both.patch(&path_of_it, json!({ "title": "Call" })).send().await.expect(200);
}

/// A schedule decides when hosts can be booked: a bound key changes those of its own hosts, and sees no others.
#[tokio::test]
async fn a_bound_key_changes_the_hours_of_its_own_hosts_alone() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let (alices, bobs) = (bound(&server, &[alice]).await, bound(&server, &[bob]).await);
    let path_of = |schedule: &Value| format!("{SCHEDULES}/{}", text(&schedule["id"]));
    let shared = alice.api.post(SCHEDULES, hours("09:00", "10:00")).send().await.expect(201);
    let of_bob = bob.open("bob", json!({ "schedule": null, "scheduleId": shared["id"] })).await;

    // Neither there nor to be named.
    alices.get(path_of(&shared)).send().await.refused(404, "not_found");
    alices.patch(path_of(&shared), hours("00:00", "24:00")).send().await.refused(404, "not_found");
    alices.delete(path_of(&shared)).send().await.refused(404, "not_found");
    assert_eq!(alices.all(SCHEDULES).await, Vec::<Value>::new());
    let mut naming = alice.event_type("intro");
    (naming["schedule"], naming["scheduleId"]) = (Value::Null, shared["id"].clone());
    let refused = alices.post(EVENT_TYPES, naming.clone()).send().await.refused(400, "invalid_parameter");
    assert_eq!(refused["param"], "scheduleId");
    let mut unknown = naming.clone();
    unknown["scheduleId"] = json!("sch_00000000000000000000000000");
    let nothing = alices.post(EVENT_TYPES, unknown).send().await.refused(400, "invalid_parameter");
    assert_eq!(refused["message"], nothing["message"]);
    assert_eq!(starts(&alice.api, &on(&of_bob, DAY)).await, ["09:00", "09:30"]);

    // The schedule belongs to Bob's event type only: his key may change it.
    bobs.patch(path_of(&shared), hours("10:00", "11:00")).send().await.expect(200);
    assert_eq!(starts(&alice.api, &on(&of_bob, DAY)).await, ["10:00", "10:30"]);
    // From now on it is Alice's schedule too: both keys see it, and neither may change it.
    let of_alice = alice.open("intro", json!({ "schedule": null, "scheduleId": shared["id"] })).await;
    for key in [&alices, &bobs] {
        let read = key.get(path_of(&shared)).send().await.expect(200);
        assert_eq!(key.all(SCHEDULES).await, [read]);
        let refused = key.patch(path_of(&shared), hours("00:00", "24:00")).send().await;
        refused.refused(403, "forbidden");
        let refused = key.delete(path_of(&shared)).send().await.refused(403, "forbidden");
        assert!(!refused.to_string().contains(&of_alice) && !refused.to_string().contains(&of_bob));
    }
    assert_eq!(starts(&alice.api, &on(&of_alice, DAY)).await, ["10:00", "10:30"]);

    // A schedule that it makes is its own, and its event types may use it; a key for all connections can take it over.
    let own = alices.post(SCHEDULES, hours("08:00", "09:00")).send().await.expect(201);
    bobs.get(path_of(&own)).send().await.refused(404, "not_found");
    let change = json!({ "scheduleId": own["id"] });
    alices.patch(format!("{EVENT_TYPES}/{of_alice}"), change.clone()).send().await.expect(200);
    alices.patch(path_of(&own), hours("08:00", "08:30")).send().await.expect(200);
    assert_eq!(starts(&alice.api, &on(&of_alice, DAY)).await, ["08:00"]);
    alices.delete(path_of(&own)).send().await.refused(409, "invalid_state");
    alice.api.patch(format!("{EVENT_TYPES}/{of_bob}"), change).send().await.expect(200);
    alices.patch(path_of(&own), hours("07:00", "08:00")).send().await.refused(403, "forbidden");
    alice.api.patch(path_of(&own), hours("07:00", "08:00")).send().await.expect(200);
}
