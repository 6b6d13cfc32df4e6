//! Event types with several hosts: who has to be free, who is chosen, and that each of them is in one place at a time.

use std::collections::{BTreeMap, BTreeSet};

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, on, starts, text};

/// The desks of these accounts, in one application.
pub(super) async fn desks(server: &TestServer, accounts: &[&str]) -> Vec<Desk> {
    let mut desks = Vec::new();
    for account in accounts {
        desks.push(Desk::of(server, account).await);
    }
    desks
}

/// A host whose bookings are written to this desk's calendar, with these fields.
pub(super) fn host(desk: &Desk, fields: Value) -> Value {
    let mut host = json!({
        "connectionId": desk.connection, "calendarId": desk.calendar, "conflictCalendarIds": [desk.calendar],
    });
    for (name, value) in fields.as_object().expect("an object") {
        host[name] = value.clone();
    }
    host
}

/// Returns these hosts as a rotation.
fn rotation(desks: &[Desk]) -> Value {
    desks.iter().map(|desk| host(desk, json!({ "role": "rotation" }))).collect()
}

/// Books these times of a day one after the other; how many each host was given.
async fn given(desk: &Desk, event_type: &str, day: &str, times: &[&str]) -> BTreeMap<String, usize> {
    let mut given = BTreeMap::new();
    for time in times {
        let mut body = booking(event_type, time);
        body["start"] = json!(format!("{day}T{time}:00Z"));
        let booked = desk.api.post(BOOKINGS, body).send().await.expect(201);
        *given.entry(text(&booked["organizerConnectionId"])).or_insert(0) += 1;
    }
    given
}

/// A meeting of several takes all of them, in their calendars and in other event types.
#[tokio::test]
async fn a_collective_meets_only_when_all_can() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts = json!([host(alice, json!({})), host(bob, json!({ "role": "rotation" }))]);
    let id = alice.open("both", json!({ "hosts": hosts, "assignment": "collective" })).await;
    bob.event("2026-03-10T09:00:00Z", "2026-03-10T10:00:00Z").await;
    alice.event("2026-03-10T11:00:00Z", "2026-03-10T11:30:00Z").await;
    assert_eq!(starts(&alice.api, &on(&id, DAY)).await, ["10:00", "10:30", "11:30"]);

    let booked = alice.api.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);
    assert_eq!(booked["hostIds"], json!([alice.connection, bob.connection]));
    assert_eq!(booked["organizerConnectionId"], json!(alice.connection));
    assert_eq!(booked["calendarEvents"].as_array().map(Vec::len), Some(2));
    alice.api.post(BOOKINGS, booking(&id, "09:00")).send().await.refused(409, "slot_unavailable");
    for (slug, desk) in [("alice", alice), ("bob", bob)] {
        let own = desk.open(slug, json!({})).await;
        assert!(!starts(&desk.api, &on(&own, DAY)).await.contains(&"10:00".to_owned()));
    }
}

/// An optional host gets the event; neither a full calendar nor one that cannot be read is in the way.
#[tokio::test]
async fn an_optional_host_never_blocks() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let [alice, bob] = &all[..] else { panic!("two desks") };
    let hosts = json!([host(alice, json!({})), host(bob, json!({ "role": "optional" }))]);
    let id = alice.open("intro", json!({ "hosts": hosts })).await;
    bob.event("2026-03-10T09:00:00Z", "2026-03-10T12:00:00Z").await;
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    server.provider("bob").post("/sandbox/faults", fault).send().await.expect(201);
    server.clock.advance_ms(1);
    let answer = alice.api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    assert_eq!((answer["data"].as_array().map(Vec::len), &answer["complete"]), (Some(6), &json!(true)));
    assert_eq!(answer["data"][0]["hostIds"], json!([alice.connection]));
    let booked = alice.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!(booked["hostIds"], json!([alice.connection]));
    let invited: BTreeSet<String> = booked["calendarEvents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| text(&event["connectionId"]))
        .collect();
    assert_eq!(invited, BTreeSet::from([alice.connection.clone(), bob.connection.clone()]));
}

/// A required host is in every meeting of a pool; with that host busy there is none, however free the others are.
#[tokio::test]
async fn a_required_host_of_a_pool_is_needed() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let [alice, bob, carol] = &all[..] else { panic!("three desks") };
    let role = json!({ "role": "rotation" });
    let hosts = json!([host(alice, json!({})), host(bob, role.clone()), host(carol, role)]);
    let id = alice.open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    alice.event("2026-03-10T09:00:00Z", "2026-03-10T11:00:00Z").await;
    bob.event("2026-03-10T11:00:00Z", "2026-03-10T11:30:00Z").await;
    assert_eq!(starts(&alice.api, &on(&id, DAY)).await, ["11:00", "11:30"]);
    let booked = alice.api.post(BOOKINGS, booking(&id, "11:00")).send().await.expect(201);
    assert_eq!(booked["hostIds"], json!([alice.connection, carol.connection]));
}

/// A slot of a pool can be booked as often as the pool has hosts, and each booking gets another one.
#[tokio::test]
async fn a_pool_takes_as_many_as_it_has_hosts() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let hosts = rotation(&all);
    let id = all[0].open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    let listed = all[0].api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    assert_eq!(listed["data"][0]["hostCount"], 3);
    let asked: Vec<_> = (0..5)
        .map(|_| {
            let ask = all[0].api.post(BOOKINGS, booking(&id, "09:00"));
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut organizers = BTreeSet::new();
    let mut refused = 0;
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        if answer.status == 201 {
            organizers.insert(text(&answer.answer["organizerConnectionId"]));
        } else {
            answer.refused(409, "slot_unavailable");
            refused += 1;
        }
    }
    assert_eq!((organizers.len(), refused), (3, 2));
    assert!(!starts(&all[0].api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
}

/// However late a host's turn comes: if all others are busy, that host is chosen.
#[tokio::test]
async fn the_last_of_many_is_found() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol", "dave", "erin"]).await;
    let hosts: Value = (0..)
        .zip(&all)
        .map(|(priority, desk)| host(desk, json!({ "role": "rotation", "priority": priority })))
        .collect();
    let id = all[0].open("pool", json!({ "hosts": hosts, "assignment": "priority" })).await;
    let first = given(&all[0], &id, DAY, &["10:00", "10:30"]).await;
    assert_eq!(first, BTreeMap::from([(all[0].connection.clone(), 2)]), "the smallest priority that is free");
    for desk in &all[..4] {
        desk.event("2026-03-10T09:00:00Z", "2026-03-10T09:30:00Z").await;
    }
    let booked = all[0].api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!(booked["hostIds"], json!([all[4].connection]));
    all[0].api.post(BOOKINGS, booking(&id, "09:00")).send().await.refused(409, "slot_unavailable");
}

/// A host whose calendar cannot be read is not chosen; if only that one is left, availability is unknown.
#[tokio::test]
async fn a_pool_goes_on_without_a_dead_calendar() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob"]).await;
    let hosts = rotation(&all);
    let id = all[0].open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    server.provider("bob").post("/sandbox/faults", fault).send().await.expect(201);
    server.clock.advance_ms(1);
    let answer = all[0].api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    assert_eq!((answer["data"].as_array().map(Vec::len), &answer["complete"]), (Some(6), &json!(false)));
    assert_eq!(answer["unavailable_hosts"][0]["hostId"], json!(all[1].connection));
    let booked = all[0].api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!(booked["hostIds"], json!([all[0].connection]));
    let again = all[0].api.post(BOOKINGS, booking(&id, "09:00")).send().await;
    again.refused(503, "availability_unknown");
}

/// Shares of 2 and 1 are two thirds and one third; a share of 0 is nothing.
#[tokio::test]
async fn weights_hold_over_many_bookings() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let hosts: Value = [2, 1, 0]
        .into_iter()
        .zip(&all)
        .map(|(weight, desk)| host(desk, json!({ "role": "rotation", "weight": weight })))
        .collect();
    let fields = json!({ "hosts": hosts, "assignment": "roundRobin", "roundRobinStrategy": "weighted" });
    let id = all[0].open("pool", fields).await;
    let mut total = given(&all[0], &id, DAY, &["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"]).await;
    for (host, more) in given(&all[0], &id, "2026-03-11", &["09:00", "09:30", "10:00"]).await {
        *total.entry(host).or_insert(0) += more;
    }
    let expected = BTreeMap::from([(all[0].connection.clone(), 6), (all[1].connection.clone(), 3)]);
    assert_eq!(total, expected);
}

/// A new host does not get all bookings until the others' past ones are balanced.
#[tokio::test]
async fn a_new_host_is_not_flooded() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let two = rotation(&all[..2]);
    let id = all[0].open("pool", json!({ "hosts": two, "assignment": "roundRobin" })).await;
    let before = given(&all[0], &id, DAY, &["09:00", "09:30", "10:00", "10:30"]).await;
    let expected = BTreeMap::from([(all[0].connection.clone(), 2), (all[1].connection.clone(), 2)]);
    assert_eq!(before, expected);
    server.clock.advance_ms(1);
    let change = json!({ "hosts": rotation(&all) });
    all[0].api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    let after = given(&all[0], &id, "2026-03-11", &["09:00", "09:30", "10:00"]).await;
    assert!(after.len() == 3 && after.values().all(|count| *count == 1), "{after:?}");
}

/// The turn rotates: the host whose last meeting was made longest ago is next, whenever it takes place.
#[tokio::test]
async fn the_turn_goes_round() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let hosts = rotation(&all);
    let fields = json!({ "hosts": hosts, "assignment": "roundRobin", "roundRobinStrategy": "soonest" });
    let id = all[0].open("pool", fields).await;
    let mut order = Vec::new();
    let slots = [("12", "09:00"), ("10", "09:00"), ("11", "09:00"), ("10", "10:00"), ("13", "09:00")];
    for (day, time) in slots {
        server.clock.advance_ms(1);
        let one = given(&all[0], &id, &format!("2026-03-{day}"), &[time]).await;
        order.extend(one.into_keys());
    }
    let first: BTreeSet<&String> = order[..3].iter().collect();
    assert_eq!(first.len(), 3, "{order:?}");
    assert_eq!(order[3..], order[..2]);
}
