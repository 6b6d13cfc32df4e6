//! `/v1/webhooks/{webhookId}/replay`: events are sent once more, by their ids.

use serde_json::{Value, json};
use storage::sql::query;

use crate::webhooks::desk::{CREATED, Desk, id, ids};

/// Sets the number of waiting deliveries of the only replay.
async fn let_wait(desk: &Desk, count: i64) {
    let changed: anyhow::Result<u64> = desk
        .server
        .app
        .db
        .write(move |tx| {
            Box::pin(
                async move { query("update webhook_replays set written = $1").bind(count).execute(tx).await },
            )
        })
        .await;
    assert_eq!(changed.expect("it is written"), 1);
}

#[tokio::test]
async fn an_event_is_sent_once_more_with_the_same_id() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let asked = desk.api.post(format!("{webhook}/replay"), json!({ "event_ids": ids(&first) })).send().await;
    let location = asked.header("location").map(str::to_owned);
    let replay = asked.expect(202);
    let replay_id = replay["replayId"].as_str().expect("an id");
    assert!(replay_id.starts_with("rpl_"), "{replay_id}");
    assert_eq!(location, Some(format!("{webhook}/replays/{replay_id}")));
    assert_eq!((&replay["eventCount"], &replay["status"]), (&json!(1), &json!("running")));
    assert_eq!(replay["warnings"], json!([]));

    desk.server.deliver().await;
    let again = desk.receiver.next().await;
    assert_eq!((id(&again), &again.body), (id(&first[0]), &first[0].body));
    assert_eq!((again.header("webhook-replay"), first[0].header("webhook-replay")), (replay_id, ""));
    assert_eq!(again.header("webhook-attempt"), "1");
    assert!(desk.receiver.taken().is_empty(), "it is sent once");
    let standing = desk.standing(&webhook, &replay).await;
    assert_eq!(
        (&standing["status"], &standing["sent"], &standing["failed"]),
        (&json!("completed"), &json!(1), &json!(0))
    );
}

/// A replay follows the order of the log, whatever the order of the requested ids.
#[tokio::test]
async fn a_replay_keeps_the_order_of_the_log() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.api.patch(webhook.as_str(), json!({ "maxConcurrent": 1 })).send().await.expect(200);
    let first = desk.delivered(&["one", "two", "three", "four", "five", "six"]).await;
    let reversed: Vec<&str> = ids(&first).into_iter().rev().collect();
    desk.replay(&webhook, &reversed).await;
    desk.server.deliver().await;
    assert_eq!(ids(&desk.receiver.taken()), ids(&first));
}

#[tokio::test]
async fn a_paused_or_disabled_subscription_is_refused() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let body = json!({ "eventIds": ids(&first) });
    for status in ["paused", "disabled"] {
        desk.set(&webhook, status).await;
        let error = desk.api.post(format!("{webhook}/replay"), body.clone()).send().await;
        let error = error.refused(409, "invalid_state");
        assert!(error["message"].as_str().is_some_and(|m| m.contains(status)), "{error:#}");
    }
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

/// The rest of a replay waits while the subscription is paused, and is given up when it is disabled.
#[tokio::test]
async fn a_replay_waits_for_a_pause_and_ends_with_the_subscription() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let waits = desk.replay(&webhook, &ids(&first)).await;
    desk.set(&webhook, "paused").await;
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    assert_eq!(desk.standing(&webhook, &waits).await["status"], "running");
    desk.set(&webhook, "active").await;
    desk.server.deliver().await;
    assert_eq!(ids(&desk.receiver.taken()), ids(&first));
    assert_eq!(desk.standing(&webhook, &waits).await["status"], "completed");

    let ends = desk.replay(&webhook, &ids(&first)).await;
    desk.set(&webhook, "disabled").await;
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    let standing = desk.standing(&webhook, &ends).await;
    assert_eq!(
        (&standing["status"], &standing["reason"], &standing["failed"]),
        (&json!("failed"), &json!("webhook_disabled"), &json!(1))
    );
}

/// An unknown id and one of another application are refused in the same words.
#[tokio::test]
async fn unknown_and_foreign_events_are_refused() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let stranger = desk.server.key("another", |_| ()).await;
    let theirs = json!({ "url": desk.receiver.url(), "eventTypes": ["*"] });
    let theirs = stranger.post("/v1/webhooks", theirs).send().await.expect(201);
    let theirs = format!("/v1/webhooks/{}/replay", theirs["id"].as_str().expect("an id"));
    let error = stranger.post(theirs, json!({ "eventIds": ids(&first) })).send().await;
    let foreign = error.refused(400, "invalid_parameter");

    let never = "ev_00000000000000000000000000";
    let asked = json!({ "eventIds": [never] });
    let unknown =
        desk.api.post(format!("{webhook}/replay"), asked).send().await.refused(400, "invalid_parameter");
    assert_eq!((&foreign["param"], &foreign["message"]), (&unknown["param"], &unknown["message"]));
    let asked = json!({ "eventIds": [id(&first[0]), never, "no id"] });
    let error =
        desk.api.post(format!("{webhook}/replay"), asked).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "eventIds[1]");
    let fields: Vec<&Value> =
        error["details"].as_array().expect("a list").iter().map(|detail| &detail["field"]).collect();
    assert_eq!(fields, ["eventIds[1]", "eventIds[2]"]);
    // Nor is another application's subscription there.
    let asked = json!({ "eventIds": ids(&first) });
    stranger.post(format!("{webhook}/replay"), asked).send().await.refused(404, "not_found");
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

#[tokio::test]
async fn an_event_that_the_subscription_does_not_ask_for_is_left_out() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning", "Review"]).await;
    desk.api
        .patch(webhook.as_str(), json!({ "eventTypes": ["calendar.event.deleted"] }))
        .send()
        .await
        .expect(200);
    let replay = desk.replay(&webhook, &ids(&first)).await;
    assert_eq!((&replay["eventCount"], &replay["status"]), (&json!(0), &json!("completed")));
    assert_eq!(
        (&replay["warnings"][1]["code"], &replay["warnings"][1]["target"]),
        (&json!("event_skipped"), &json!("eventIds[1]"))
    );
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

#[tokio::test]
async fn a_wrong_list_of_events_is_refused() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let one = id(&first[0]);
    let many: Vec<String> = (0..1_001).map(|n| format!("ev_{n}")).collect();
    for (body, code, param) in [
        (json!({}), "missing_field", "eventIds"),
        (json!({ "eventIds": [] }), "missing_field", "eventIds"),
        (json!({ "eventIds": many }), "invalid_parameter", "eventIds"),
        (json!({ "eventIds": [one, one] }), "invalid_parameter", "eventIds[1]"),
        (json!({ "eventIds": [7] }), "invalid_parameter", "eventIds[0]"),
    ] {
        let error = desk.api.post(format!("{webhook}/replay"), body).send().await.refused(400, code);
        assert_eq!(error["param"], param);
    }
    let reader = desk.server.client_with(&["webhooks.read"]).await;
    let body = json!({ "eventIds": [one] });
    reader.post(format!("{webhook}/replay"), body).send().await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn the_same_key_replays_once() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let body = json!({ "eventIds": ids(&first) });
    let ask = || desk.api.post(format!("{webhook}/replay"), body.clone()).keyed("k");
    let replay = ask().send().await.expect(202);
    let again = ask().send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(202), replay);
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 1);
}

#[tokio::test]
async fn two_replays_at_once_both_arrive() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning", "Review"]).await;
    let mut asked = ids(&first);
    asked.sort_unstable();
    let (a, b) = tokio::join!(desk.replay(&webhook, &asked), desk.replay(&webhook, &asked));
    desk.server.deliver().await;
    let received = desk.receiver.taken();
    for replay in [&a, &b] {
        let id = replay["replayId"].as_str().expect("an id");
        let mut of: Vec<&str> = received
            .iter()
            .filter(|r| r.header("webhook-replay") == id)
            .map(|r| r.header("webhook-id"))
            .collect();
        of.sort_unstable();
        assert_eq!(of, asked);
        assert_eq!(desk.standing(&webhook, replay).await["sent"], 2);
    }
    assert_eq!(received.len(), 4);
}

#[tokio::test]
async fn a_deleted_subscription_replays_nothing() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let replay = desk.replay(&webhook, &ids(&first)).await;
    desk.api.delete(webhook.as_str()).send().await.expect(204);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    let body = json!({ "eventIds": ids(&first) });
    desk.api.post(format!("{webhook}/replay"), body).send().await.refused(404, "not_found");
    let path = format!("{webhook}/replays/{}", replay["replayId"].as_str().expect("an id"));
    desk.api.get(path).send().await.refused(404, "not_found");
}

/// It is tried again as any delivery is, and the endpoint is none the worse for it.
#[tokio::test]
async fn a_failed_replay_is_tried_again_and_counts_for_nothing() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let replay = desk.replay(&webhook, &ids(&first)).await;
    desk.receiver.answer(500, &[]);
    desk.server.deliver().await;
    desk.receiver.next().await;
    assert_eq!(desk.api.get(webhook.as_str()).send().await.expect(200)["consecutiveFailures"], 0);
    assert_eq!(desk.standing(&webhook, &replay).await["status"], "running");
    desk.server.clock.advance_ms(6_000);
    desk.server.deliver().await;
    assert_eq!(desk.receiver.next().await.header("webhook-attempt"), "2");
    assert_eq!(desk.standing(&webhook, &replay).await["status"], "completed");
}

/// A replay of an undelivered event does not replace its delivery.
#[tokio::test]
async fn an_event_that_still_waits_is_sent_for_itself_too() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.create_event("Planning").await;
    let waiting = desk.logged().await;
    desk.replay(&webhook, &[waiting[0].as_str()]).await;
    desk.server.deliver().await;
    let received = desk.receiver.taken();
    assert_eq!(ids(&received), [waiting[0].as_str(), waiting[0].as_str()]);
    let marked = received.iter().filter(|r| !r.header("webhook-replay").is_empty());
    assert_eq!(marked.count(), 1);
}

/// However often a webhook is paused and resumed: what replays have waiting at it has a bound, and the refusal names it.
#[tokio::test]
async fn at_most_a_hundred_thousand_deliveries_of_replays_wait() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let by_ids = json!({ "eventIds": ids(&first) });
    let of_a_range = json!({ "from": harness::START });
    desk.ask_replay(&webhook, by_ids.clone()).await;
    let_wait(&desk, 100_000).await;
    for body in [by_ids.clone(), of_a_range] {
        let asked = desk.api.post(format!("{webhook}/replay"), body).send().await;
        assert_eq!(asked.header("retry-after"), Some("60"));
        let error = asked.refused(429, "rate_limited");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("100,000")), "{error:#}");
    }
    let nothing = json!({ "from": "2026-02-01T00:00:00Z", "to": "2026-02-02T00:00:00Z" });
    desk.ask_replay(&desk.subscribe(CREATED).await, by_ids.clone()).await;
    assert_eq!(desk.ask_replay(&webhook, nothing).await["status"], "completed");
}

/// A key that is bound to connections can only replay their events.
#[tokio::test]
async fn a_bound_key_replays_its_own_events_only() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["Planning"]).await;
    let other = desk.api.connect_account("bob").await;
    let bound = desk.server.key("test", |key| key.connection_ids = vec![other]).await;
    let body = json!({ "eventIds": ids(&first) });
    bound.post(format!("{webhook}/replay"), body.clone()).send().await.refused(404, "not_found");
    let own = json!({ "url": desk.receiver.url(), "eventTypes": ["*"] });
    let own = bound.post("/v1/webhooks", own).send().await.expect(201);
    let own = format!("/v1/webhooks/{}/replay", own["id"].as_str().expect("an id"));
    let error = bound.post(own, body).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "eventIds[0]");
}
