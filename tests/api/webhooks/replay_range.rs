//! `/v1/webhooks/{webhookId}/replay` of a time range of any length, and of failed deliveries; and the list of replays.

use std::collections::BTreeSet;

use harness::TestServer;
use serde_json::{Value, json};
use service::job_runner::runner;
use service::retention;
use service::webhooks::replay::walk::REPLAY;
use storage::jobs;
use storage::sql::query;

use crate::webhooks::desk::{CREATED, Desk, id, ids};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// More events than one replay has waiting at a time.
const EVENTS_BEYOND_ONE_REPLAY: usize = 1_200;

/// The number that a statement finds.
async fn count(server: &TestServer, sql: &'static str) -> i64 {
    query(sql).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a number")
}

/// Deliveries that are written and have not ended.
const WAITING: &str = "select count(*) as n from webhook_deliveries where status = 'pending'";

/// Delivers until a replay is over, with the time that this takes.
async fn deliver_all(desk: &Desk, webhook: &str, replay: &Value) -> Value {
    for _ in 0..20 {
        desk.server.deliver().await;
        let standing = desk.standing(webhook, replay).await;
        if standing["status"] != "running" {
            return standing;
        }
        desk.server.clock.advance_ms(2_000);
    }
    panic!("it goes on: {:#}", desk.standing(webhook, replay).await);
}

/// Marks the first delivery of an event as one that was given up.
async fn give_up(desk: &Desk, event_id: &str) {
    let event_id = event_id.to_owned();
    let changed: anyhow::Result<u64> = desk
        .server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let sql =
                    "update webhook_deliveries set status = 'failed' where event_id = $1 and replay_id = ''";
                query(sql).bind(&event_id).execute(tx).await
            })
        })
        .await;
    assert_eq!(changed.expect("it is written"), 1);
}

/// From `from` on and before `to`, by the times at which the events happened.
#[tokio::test]
async fn a_replay_of_a_range() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let mut first = Vec::new();
    for title in ["eight", "nine", "ten"] {
        first.extend(desk.delivered(&[title]).await);
        desk.server.clock.advance_ms(HOUR_MS);
    }
    for (body, wanted) in [
        (json!({ "from": "2026-03-01T09:00:00Z", "to": "2026-03-01T10:00:00Z" }), &first[1..2]),
        (json!({ "from": "2026-03-01T08:59:59.999Z", "to": "2026-03-01T10:00:00.001Z" }), &first[1..]),
        (json!({ "from": "2026-03-01T09:00:00.001Z" }), &first[2..]),
        (json!({ "from": "2026-03-01T00:00:00Z", "to": "2027-01-01T00:00:00Z" }), &first[..]),
    ] {
        let replay = desk.ask_replay(&webhook, body).await;
        assert_eq!((&replay["eventCount"], &replay["counted"]), (&json!(wanted.len()), &json!(true)));
        desk.server.deliver().await;
        let again = desk.receiver.taken();
        let sent: BTreeSet<&str> = again.iter().map(id).collect();
        let expected: BTreeSet<&str> = wanted.iter().map(id).collect();
        assert_eq!((sent, again.len()), (expected, wanted.len()), "{replay:#}");
        for received in &again {
            assert_eq!(received.header("webhook-replay"), replay["replayId"]);
            assert!(first.iter().any(|f| f.body == received.body), "the bytes are the same");
        }
        let standing = desk.standing(&webhook, &replay).await;
        assert_eq!(
            (&standing["status"], &standing["sent"], &standing["continueFrom"]),
            (&json!("completed"), &json!(wanted.len()), &Value::Null)
        );
    }
}

#[tokio::test]
async fn a_range_without_events_is_over_at_once() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.delivered(&["Planning"]).await;
    let body = json!({ "from": "2026-02-01T00:00:00Z", "to": "2026-02-02T00:00:00Z" });
    let replay = desk.ask_replay(&webhook, body).await;
    assert_eq!((&replay["eventCount"], &replay["status"]), (&json!(0), &json!("completed")));
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

/// Events from before the subscription was made are sent too, if it asks for such events.
#[tokio::test]
async fn event_types_narrow_a_replay() {
    let mut desk = Desk::start().await;
    desk.log_events(3, "calendar.event.created").await;
    desk.log_events(2, "calendar.event.deleted").await;
    desk.log_events(1, "contact.created").await;
    let webhook = desk.subscribe(&["calendar.event.*"]).await;
    let types = |desk: &mut Desk| {
        let mut types: Vec<Value> = desk.receiver.taken().iter().map(|r| r.json()["type"].clone()).collect();
        types.sort_by_key(Value::to_string);
        types
    };
    let body = json!({ "from": harness::START, "eventTypes": ["calendar.event.deleted", "contact.*"] });
    let replay = desk.ask_replay(&webhook, body).await;
    assert_eq!(replay["eventTypes"], json!(["calendar.event.deleted", "contact.*"]));
    desk.server.deliver().await;
    assert_eq!(types(&mut desk), ["calendar.event.deleted"; 2]);

    let logged = desk.logged().await;
    let body = json!({ "eventIds": [logged[0]], "eventTypes": ["calendar.event.deleted"] });
    let replay = desk.ask_replay(&webhook, body).await;
    let warning = &replay["warnings"][0];
    assert_eq!((&warning["code"], &warning["field"]), (&json!("event_skipped"), &json!("eventIds[0]")));
    assert_eq!(replay["eventCount"], 0);
}

/// Deliveries that were given up are sent again until they have arrived.
#[tokio::test]
async fn only_failed_ones_again() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["one", "two", "three"]).await;
    give_up(&desk, id(&first[1])).await;
    let body = json!({ "from": harness::START, "onlyFailed": true });
    let replay = desk.ask_replay(&webhook, body.clone()).await;
    assert_eq!((&replay["eventCount"], &replay["onlyFailed"]), (&json!(1), &json!(true)));
    desk.server.deliver().await;
    assert_eq!(ids(&desk.receiver.taken()), [id(&first[1])]);
    let again = desk.ask_replay(&webhook, body).await;
    assert_eq!((&again["eventCount"], &again["status"]), (&json!(0), &json!("completed")));

    let body = json!({ "eventIds": ids(&first), "onlyFailed": true });
    let none = desk.ask_replay(&webhook, body.clone()).await;
    assert_eq!((&none["eventCount"], none["warnings"].as_array().map(Vec::len)), (&json!(0), Some(3)));
    give_up(&desk, id(&first[2])).await;
    desk.ask_replay(&webhook, body).await;
    desk.server.deliver().await;
    assert_eq!(ids(&desk.receiver.taken()), [id(&first[2])]);
}

/// Events are kept for 30 days: a replay from before would leave some out, and the answer names the earliest time.
#[tokio::test]
async fn a_replay_before_the_log_names_from() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.delivered(&["forgotten"]).await;
    let body = |from: &str| json!({ "from": from });
    desk.ask_replay(&webhook, body("2025-01-01T00:00:00Z")).await;
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 1, "nothing is forgotten yet, so nothing is missing");

    desk.server.clock.advance_ms(31 * DAY_MS);
    retention::clean(&desk.server.app).await.expect("it is cleaned");
    let kept = desk.delivered(&["kept"]).await;
    let early = desk.api.post(format!("{webhook}/replay"), body(harness::START)).send().await;
    let error = early.refused(400, "invalid_time_range");
    assert_eq!(error["param"], "from");
    let oldest = "2026-03-02T08:00:00.000Z";
    assert!(error["message"].as_str().is_some_and(|message| message.contains(oldest)), "{error:#}");
    desk.ask_replay(&webhook, body(oldest)).await;
    desk.server.deliver().await;
    assert_eq!(ids(&desk.receiver.taken()), ids(&kept));
}

#[tokio::test]
async fn a_wrong_range_is_refused() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let (now, later) = ("2026-03-01T08:00:00Z", "2026-03-01T08:00:01Z");
    let many: Vec<String> = (0..101).map(|n| format!("event.{n}")).collect();
    for (body, code, param) in [
        (json!({ "to": now }), "missing_field", "from"),
        (json!({ "onlyFailed": true }), "missing_field", "eventIds"),
        (json!({ "from": now, "to": now }), "invalid_time_range", "to"),
        (json!({ "from": later, "to": now }), "invalid_time_range", "to"),
        (json!({ "from": later }), "invalid_time_range", "from"),
        (json!({ "from": "2026-03-01" }), "invalid_parameter", "from"),
        (json!({ "from": 5 }), "invalid_parameter", "from"),
        (json!({ "from": now, "to": "soon" }), "invalid_parameter", "to"),
        (json!({ "eventIds": [id(&first[0])], "from": now }), "conflicting_fields", "from"),
        (json!({ "eventIds": [id(&first[0])], "to": later }), "conflicting_fields", "to"),
        (json!({ "from": now, "eventTypes": ["task.exploded"] }), "invalid_parameter", "eventTypes[0]"),
        (json!({ "from": now, "eventTypes": ["*", "*"] }), "invalid_parameter", "eventTypes[1]"),
        (json!({ "from": now, "eventTypes": many }), "invalid_parameter", "eventTypes"),
        (json!({ "from": now, "onlyFailed": "yes" }), "invalid_parameter", "onlyFailed"),
    ] {
        let error = desk.api.post(format!("{webhook}/replay"), body.clone()).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{body}");
    }
    for status in ["paused", "disabled"] {
        desk.set(&webhook, status).await;
        let asked = desk.api.post(format!("{webhook}/replay"), json!({ "from": now })).send().await;
        asked.refused(409, "invalid_state");
    }
    assert_eq!(desk.api.all(&format!("{webhook}/replays")).await, Vec::<Value>::new());
}

/// The host is killed while it writes the deliveries of a long replay: the next one continues there, and there are never more than about
/// a thousand rows.
#[tokio::test]
async fn a_replay_goes_on_after_a_kill() {
    let desk = Desk::start().await;
    desk.log_events(EVENTS_BEYOND_ONE_REPLAY, CREATED[0]).await;
    let logged: BTreeSet<String> = desk.logged().await.into_iter().collect();
    let webhook = desk.subscribe(CREATED).await;
    let replay = desk.ask_replay(&webhook, json!({ "from": harness::START })).await;
    assert_eq!((&replay["eventCount"], &replay["counted"]), (&json!(EVENTS_BEYOND_ONE_REPLAY), &json!(true)));

    let app = desk.server.app.clone();
    let walking = tokio::spawn(async move { runner::drain(&app, &[REPLAY]).await });
    while count(&desk.server, WAITING).await == 0 {
        tokio::task::yield_now().await;
    }
    walking.abort();
    // It ends as cancelled, or has just ended.
    let _ = walking.await;
    let Desk { server, api, connection, calendar, receiver } = desk;
    let server = server.restart().await;
    let api = harness::reconnected(&server, &api);
    let mut desk = Desk { server, api, connection, calendar, receiver };

    runner::drain(&desk.server.app, &[REPLAY]).await.expect("the jobs are run");
    assert_eq!(count(&desk.server, WAITING).await, 1_000);
    assert_eq!(desk.standing(&webhook, &replay).await["status"], "running");
    let ended = deliver_all(&desk, &webhook, &replay).await;
    assert_eq!(
        (&ended["status"], &ended["sent"], &ended["eventCount"]),
        (&json!("completed"), &json!(EVENTS_BEYOND_ONE_REPLAY), &json!(EVENTS_BEYOND_ONE_REPLAY))
    );
    let received = desk.receiver.taken();
    let sent: BTreeSet<String> = received.iter().map(|r| id(r).to_owned()).collect();
    assert_eq!((sent, received.len()), (logged, EVENTS_BEYOND_ONE_REPLAY), "each is sent, and once");
}

/// A pause ends a replay that is not completely written. Its written deliveries are sent when the subscription is resumed, and the replay
/// says where another one can continue.
#[tokio::test]
async fn a_pause_ends_a_long_replay() {
    let mut desk = Desk::start().await;
    desk.log_events(1_000, CREATED[0]).await;
    desk.server.clock.advance_ms(HOUR_MS);
    desk.log_events(EVENTS_BEYOND_ONE_REPLAY - 1_000, CREATED[0]).await;
    let webhook = desk.subscribe(CREATED).await;
    let replay = desk.ask_replay(&webhook, json!({ "from": "2026-03-01T07:00:00Z" })).await;
    runner::drain(&desk.server.app, &[REPLAY]).await.expect("the jobs are run");
    desk.set(&webhook, "paused").await;
    desk.server.clock.advance_ms(2_000);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    let failed = desk.standing(&webhook, &replay).await;
    assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("webhook_paused")));
    assert_eq!(failed["continueFrom"], "2026-03-01T07:59:59.000Z");

    desk.set(&webhook, "active").await;
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 1_000);
    let sent = desk.standing(&webhook, &replay).await;
    assert_eq!((&sent["status"], &sent["sent"]), (&json!("failed"), &json!(1_000)));
    // The times of these events are an hour apart, so the rest can be asked for exactly.
    let rest = desk.ask_replay(&webhook, json!({ "from": "2026-03-01T09:00:00Z" })).await;
    let rest = deliver_all(&desk, &webhook, &rest).await;
    assert_eq!(
        (&rest["status"], &rest["sent"]),
        (&json!("completed"), &json!(EVENTS_BEYOND_ONE_REPLAY - 1_000))
    );
    assert_eq!(desk.receiver.taken().len(), EVENTS_BEYOND_ONE_REPLAY - 1_000);
}

/// The rest of a paused replay is given up when the webhook is disabled.
#[tokio::test]
async fn what_a_pause_has_left_is_given_up_with_the_subscription() {
    let mut desk = Desk::start().await;
    desk.log_events(EVENTS_BEYOND_ONE_REPLAY, CREATED[0]).await;
    let webhook = desk.subscribe(CREATED).await;
    let replay = desk.ask_replay(&webhook, json!({ "from": harness::START })).await;
    runner::drain(&desk.server.app, &[REPLAY]).await.expect("the jobs are run");
    desk.set(&webhook, "paused").await;
    desk.server.clock.advance_ms(2_000);
    desk.server.deliver().await;
    assert_eq!(desk.standing(&webhook, &replay).await["reason"], "webhook_paused");
    desk.set(&webhook, "disabled").await;
    desk.set(&webhook, "active").await;
    assert_eq!(count(&desk.server, WAITING).await, 0);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    let standing = desk.standing(&webhook, &replay).await;
    assert_eq!(
        (&standing["status"], &standing["reason"], &standing["failed"]),
        (&json!("failed"), &json!("webhook_disabled"), &json!(1_000))
    );
}

/// All replays of a webhook together have at most 100,000 waiting deliveries: one of a range waits for room, then continues.
#[tokio::test]
async fn a_replay_waits_for_the_room_that_others_have_taken() {
    let mut desk = Desk::start().await;
    desk.log_events(200, CREATED[0]).await;
    let webhook = desk.subscribe(CREATED).await;
    let logged = desk.logged().await;
    let other = desk.replay(&webhook, &[logged[0].as_str()]).await;
    let replay = desk.ask_replay(&webhook, json!({ "from": harness::START })).await;
    let set_written = async |written: i64| {
        let id = other["replayId"].as_str().expect("an id").to_owned();
        let changed: anyhow::Result<u64> = desk
            .server
            .app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let sql = "update webhook_replays set written = $2 where id = $1";
                    query(sql).bind(&id).bind(written).execute(tx).await
                })
            })
            .await;
        assert_eq!(changed.expect("it is written"), 1);
    };
    set_written(99_950).await;
    runner::drain(&desk.server.app, &[REPLAY]).await.expect("the jobs are run");
    assert_eq!(count(&desk.server, WAITING).await, 1, "there is room for few, so that none are written");
    set_written(1).await;
    desk.server.clock.advance_ms(60_000);
    let ended = deliver_all(&desk, &webhook, &replay).await;
    assert_eq!((&ended["status"], &ended["sent"]), (&json!("completed"), &json!(200)));
    assert_eq!(desk.receiver.taken().len(), 201);
}

#[tokio::test]
async fn a_long_replay_ends_with_its_subscription() {
    let mut desk = Desk::start().await;
    desk.log_events(EVENTS_BEYOND_ONE_REPLAY, CREATED[0]).await;
    let (disabled, deleted) = (desk.subscribe(CREATED).await, desk.subscribe(CREATED).await);
    let asked = json!({ "from": harness::START });
    let ends = desk.ask_replay(&disabled, asked.clone()).await;
    let goes = desk.ask_replay(&deleted, asked).await;
    runner::drain(&desk.server.app, &[REPLAY]).await.expect("the jobs are run");
    desk.set(&disabled, "disabled").await;
    desk.api.delete(deleted.as_str()).send().await.expect(204);
    desk.server.clock.advance_ms(2_000);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    let standing = desk.standing(&disabled, &ends).await;
    assert_eq!(
        (&standing["status"], &standing["reason"], &standing["failed"]),
        (&json!("failed"), &json!("webhook_disabled"), &json!(1_000))
    );
    for replay in [&ends, &goes] {
        let job = format!("replay:{}", replay["replayId"].as_str().expect("an id"));
        let job = jobs::find(desk.server.app.db.reader(), &job).await.expect("a query");
        assert_eq!(job.map(|job| job.id), None);
    }
}

/// A replay has no effect on the endpoint's failure count, whatever its outcome.
#[tokio::test]
async fn a_replay_counts_nothing_against_the_endpoint() {
    let mut desk = Desk::start().await;
    desk.log_events(3, CREATED[0]).await;
    let webhook = desk.subscribe(CREATED).await;
    for _ in 0..3 {
        desk.receiver.answer(500, &[]);
    }
    let replay = desk.ask_replay(&webhook, json!({ "from": harness::START })).await;
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 3);
    let shown = desk.api.get(webhook.as_str()).send().await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["consecutiveFailures"], &shown["lastFailureAt"]),
        (&json!("active"), &json!(0), &Value::Null)
    );
    desk.server.clock.advance_ms(6_000);
    let standing = deliver_all(&desk, &webhook, &replay).await;
    assert_eq!((&standing["status"], &standing["sent"]), (&json!("completed"), &json!(3)));
}

/// Replays are listed with their requests, newest first.
#[tokio::test]
async fn replays_are_listed_newest_first() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let mut asked = Vec::new();
    for n in 1..=3 {
        desk.server.clock.advance_ms(1_000);
        let mut body = json!({ "from": "2026-03-01T07:00:00Z", "to": format!("2026-03-0{n}T12:00:00Z") });
        if n == 3 {
            body = json!({ "eventIds": ids(&first) });
        }
        asked.push(desk.ask_replay(&webhook, body).await["replayId"].clone());
    }
    let keys = desk.api.all("/v1/api-keys").await;
    let path = format!("{webhook}/replays");
    let page = desk.api.get(format!("{path}?limit=2")).send().await.expect(200);
    assert_eq!(page["data"].as_array().map(Vec::len), Some(2));
    let listed = desk.api.all(&format!("{path}?limit=2")).await;
    let order: Vec<&Value> = listed.iter().map(|replay| &replay["replayId"]).collect();
    assert_eq!(order, [&asked[2], &asked[1], &asked[0]]);
    let oldest = &listed[2];
    assert_eq!(
        (&oldest["from"], &oldest["to"], &oldest["createdBy"], &oldest["createdAt"]),
        (
            &json!("2026-03-01T07:00:00.000Z"),
            &json!("2026-03-01T12:00:00.000Z"),
            &keys[0]["id"],
            &json!("2026-03-01T08:00:01.000Z")
        )
    );
    assert_eq!((&listed[0]["from"], &listed[0]["eventCount"]), (&Value::Null, &json!(1)));

    let stranger = desk.server.key("another", |_| ()).await;
    stranger.get(&path).send().await.refused(404, "not_found");
    let other = desk.subscribe(CREATED).await;
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let moved = desk.api.get(format!("{other}/replays?cursor={cursor}")).send().await;
    moved.refused(400, "invalid_cursor");
}
