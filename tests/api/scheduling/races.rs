//! Many who want the same time.

use std::collections::BTreeMap;

use harness::TestServer;
use serde_json::json;

use super::{BOOKINGS, DAY, Desk, booking, checker, on, starts};

/// How many answers had each status.
async fn all_at_once(desk: &Desk, bodies: Vec<serde_json::Value>) -> BTreeMap<u16, usize> {
    let asked: Vec<_> = bodies
        .into_iter()
        .map(|body| {
            let ask = desk.api.post(BOOKINGS, body);
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut statuses = BTreeMap::new();
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        if answer.status == 409 {
            assert_eq!(answer.answer["error"]["code"], "slot_unavailable", "{answer}");
        }
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    statuses
}

/// Exactly one of a hundred gets the slot, the others are told so.
#[tokio::test]
async fn a_hundred_clients_one_slot() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let bodies = (0..100).map(|_| booking(&id, "09:00")).collect();
    assert_eq!(all_at_once(&desk, bodies).await, BTreeMap::from([(201, 1), (409, 99)]));
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
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

/// Whoever wants times next to each other, whose buffers overlap, gets a time or is told that it is taken. Nobody waits for another one who
/// waits for them.
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
    // From 09:00 to 12:00 there is room for four with 15 minutes between them, and whatever was taken first leaves room for two.
    assert!((2..=4).contains(&count(201)), "{statuses:?}");
    let checked = checker::check(&server.app.db).await;
    assert_eq!(checked.meetings, count(201), "{checked}");
}
