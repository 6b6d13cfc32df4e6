//! Races for the same time.

use std::collections::BTreeMap;

use harness::{Ask, Exchange, TestServer};
use serde_json::{Value, json};

use super::pools::{desks, host};
use super::{BOOKINGS, DAY, Desk, booking, checker, on, starts, text};

/// Sends requests at the same time, and returns their responses.
async fn answers(asked: Vec<Ask>) -> Vec<Exchange> {
    let asked: Vec<_> = asked.into_iter().map(|ask| tokio::spawn(async move { ask.send().await })).collect();
    let mut answers = Vec::with_capacity(asked.len());
    for answer in asked {
        answers.push(answer.await.expect("the request is sent"));
    }
    answers
}

/// How many answers had each status.
async fn all_at_once(desk: &Desk, bodies: Vec<Value>) -> BTreeMap<u16, usize> {
    let asked = bodies.into_iter().map(|body| desk.api.post(BOOKINGS, body)).collect();
    let mut statuses = BTreeMap::new();
    for answer in answers(asked).await {
        if answer.status == 409 {
            assert_eq!(answer.answer["error"]["code"], "slot_unavailable", "{answer}");
        }
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    statuses
}

/// Exactly one of a hundred gets the slot, the others get the error.
#[tokio::test]
async fn a_hundred_clients_one_slot() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let bodies = (0..100).map(|_| booking(&id, "09:00")).collect();
    assert_eq!(all_at_once(&desk, bodies).await, BTreeMap::from([(201, 1), (409, 99)]));
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
}

/// Most losers of a race are refused from memory, and that ends with the race: as soon as a slot is free again, one of the next requests
/// gets it. The clock stands still, so that no entry expires.
#[tokio::test]
async fn a_slot_that_is_free_again_is_there_for_whoever_comes_then() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let later = json!({ "start": format!("{DAY}T11:00:00Z") });
    let ways = [
        ("09:00", json!({}), ("cancel", json!({}))),
        ("09:30", json!({}), ("reschedule", later)),
        ("10:00", json!({ "requiresConfirmation": true }), ("reject", json!({}))),
    ];
    for (time, fields, (verb, body)) in ways {
        let id = desk.open(verb, fields).await;
        let asked = (0..20).map(|_| desk.api.post(BOOKINGS, booking(&id, time))).collect();
        let answers = answers(asked).await;
        let won: Vec<&Exchange> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert_eq!(won.len(), 1, "{verb}");
        let path = format!("{BOOKINGS}/{}/{verb}", text(&won[0].answer["id"]));
        desk.api.post(path, body).send().await.expect(200);
        let bodies = (0..20).map(|_| booking(&id, time)).collect();
        assert_eq!(all_at_once(&desk, bodies).await, BTreeMap::from([(201, 1), (409, 19)]), "{verb}");
    }
}

/// A loser's response is stored under its key, like any other: a repeated request gets the same response, even if the slot is free by
/// then. Under another key it is another request.
#[tokio::test]
async fn a_loser_is_told_the_same_under_the_same_key() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let ask = |key: usize| desk.api.post(BOOKINGS, booking(&id, "09:00")).keyed(&format!("client {key}"));
    let answers = answers((0..20).map(ask).collect()).await;
    let (won, lost): (Vec<_>, Vec<_>) = (0..).zip(answers).partition(|(_, answer)| answer.status == 201);
    assert_eq!((won.len(), lost.len()), (1, 19));
    let path = format!("{BOOKINGS}/{}/cancel", text(&won[0].1.answer["id"]));
    desk.api.post(path, json!({})).send().await.expect(200);
    for (key, before) in lost {
        let again = ask(key).send().await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (409, Some("true")), "{again}");
        assert_eq!(again.answer["error"]["code"], "slot_unavailable");
        assert_eq!(again.answer["error"]["message"], before.answer["error"]["message"]);
    }
    ask(20).send().await.expect(201);
}

/// As many requests win as there is room for: a pool has as many places as hosts, a class as many as seats.
#[tokio::test]
async fn as_many_win_as_there_are_hosts_or_seats() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol"]).await;
    let hosts: Value = all.iter().map(|desk| host(desk, json!({ "role": "rotation" }))).collect();
    let pool = all[0].open("pool", json!({ "hosts": hosts, "assignment": "roundRobin" })).await;
    let class = all[0].open("class", json!({ "seatsPerSlot": 5 })).await;
    for (id, time, room) in [(pool, "09:00", 3), (class, "10:00", 5)] {
        let of_guest = |guest: usize| {
            let mut body = booking(&id, time);
            body["inviteeEmail"] = json!(format!("guest{guest}@example.org"));
            body
        };
        let statuses = all_at_once(&all[0], (0..40).map(of_guest).collect()).await;
        assert_eq!(statuses, BTreeMap::from([(201, room), (409, 40 - room)]), "{time}");
    }
    let checked = checker::check(&server.app.db).await;
    assert_eq!(checked.meetings, 4, "{checked}");
}

/// A host who is in two event types is in one place at a time: of meetings that overlap one is made.
#[tokio::test]
async fn two_event_types_share_a_host() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let short = desk.open("short", json!({})).await;
    let long = desk.open("long", json!({ "durationMinutes": 60 })).await;
    let bodies = (0..10)
        .flat_map(|_| [booking(&short, "09:30"), booking(&long, "09:00"), booking(&short, "09:00")])
        .collect();
    let statuses = all_at_once(&desk, bodies).await;
    let made = statuses.get(&201).copied().unwrap_or(0);
    // Either the long one, or both short ones.
    assert!(made == 1 || made == 2, "{statuses:?}");
    assert_eq!(statuses.values().sum::<usize>(), 30);
    let long_is_free = starts(&desk.api, &on(&long, DAY)).await.contains(&"09:00".to_owned());
    assert!(!long_is_free);
}

/// Requests for adjacent times whose buffers overlap get a time or `slot_unavailable`; none waits for another that waits for it.
#[tokio::test]
async fn adjacent_slots_with_buffers_never_deadlock() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let fields = json!({ "bufferBeforeMinutes": 15, "bufferAfterMinutes": 15, "slotIntervalMinutes": 15 });
    let (one, other) = (desk.open("one", fields.clone()).await, desk.open("other", fields).await);
    let times: Vec<String> = (0..11).map(|n| format!("{:02}:{:02}", 9 + n / 4, n % 4 * 15)).collect();
    let of_all = times.iter().flat_map(|time| [booking(&one, time), booking(&other, time)]);
    // In both directions at the same time.
    let bodies: Vec<_> = of_all.clone().chain(of_all.rev()).collect();
    let asked = bodies.len();
    let statuses = all_at_once(&desk, bodies).await;
    let count = |status: u16| statuses.get(&status).copied().unwrap_or(0);
    assert_eq!(count(201) + count(409), asked, "{statuses:?}");
    // From 09:00 to 12:00 there is room for four with 15 minutes between them. One blocks five of the eleven starts at most, so there are
    // at least three: free slots are not refused.
    assert!((3..=4).contains(&count(201)), "{statuses:?}");
    let checked = checker::check(&server.app.db).await;
    assert_eq!(checked.meetings, count(201), "{checked}");
}
