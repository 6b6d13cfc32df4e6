//! `/v1/webhooks/{webhookId}/deliveries`: the deliveries of events to a subscription.

use serde_json::{Value, json};

use crate::webhooks::desk::{CREATED, Desk, id, ids};

/// The event and the replay of each.
fn told(deliveries: &[Value]) -> Vec<(&str, Option<&str>)> {
    deliveries.iter().map(|d| (d["eventId"].as_str().expect("an id"), d["replayId"].as_str())).collect()
}

#[tokio::test]
async fn deliveries_are_listed_newest_first() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["one", "two", "three"]).await;
    let replay = desk.replay(&webhook, &[id(&first[0])]).await;
    desk.server.deliver().await;
    let replay_id = replay["replayId"].as_str();
    let path = format!("{webhook}/deliveries");
    let all = desk.api.all(&path).await;
    let sent = ids(&first);
    assert_eq!(told(&all), [(sent[2], None), (sent[1], None), (sent[0], replay_id), (sent[0], None)]);
    let newest = &all[0];
    assert!(newest["id"].as_str().is_some_and(|id| id.starts_with("whd_")), "{newest:#}");
    assert_eq!(webhook, format!("/v1/webhooks/{}", newest["webhookId"].as_str().expect("an id")));
    assert_eq!(
        (&newest["status"], &newest["nextAttemptAt"], &newest["sequence"]),
        (&json!("delivered"), &Value::Null, &first[2].json()["sequence"])
    );
    let attempt = &newest["attempts"][0];
    assert_eq!(
        (&attempt["n"], &attempt["statusCode"], &attempt["error"], &attempt["responseSnippet"]),
        (&json!(1), &json!(204), &Value::Null, &Value::Null)
    );
    for limit in 1..=3 {
        assert_eq!(desk.api.all(&format!("{path}?limit={limit}")).await, all, "pages of {limit}");
    }
}

/// Deliveries can be filtered by status, and by event.
#[tokio::test]
async fn deliveries_are_found_by_status_and_event() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["one", "two"]).await;
    desk.receiver.answer(500, &[]);
    let failed = desk.delivered(&["three"]).await;
    desk.replay(&webhook, &[id(&first[0])]).await;
    let path = format!("{webhook}/deliveries");
    let of = async |query: String| desk.api.all(&format!("{path}?{query}")).await;
    let (one, two, three) = (id(&first[0]), id(&first[1]), id(&failed[0]));
    assert_eq!(told(&of("status=delivered".to_owned()).await), [(two, None), (one, None)]);
    let pending = of("status=pending&limit=1".to_owned()).await;
    assert_eq!(pending.iter().map(|d| &d["eventId"]).collect::<Vec<_>>(), [three, one]);
    assert_eq!(
        (&pending[0]["attempts"][0]["statusCode"], &pending[0]["attempts"][0]["error"]),
        (&json!(500), &json!("http"))
    );
    assert!(pending[0]["nextAttemptAt"].is_string(), "it is tried again: {:#}", pending[0]);
    assert_eq!(pending[1]["attempts"], json!([]), "the replay waits");
    for status in ["failed", "discarded"] {
        assert_eq!(of(format!("status={status}")).await, Vec::<Value>::new(), "{status}");
    }
    assert_eq!(of(format!("event_id={one}")).await.len(), 2);
    assert_eq!(told(&of(format!("event_id={one}&status=delivered&limit=1")).await), [(one, None)]);
    assert_eq!(of("event_id=ev_00000000000000000000000000".to_owned()).await, Vec::<Value>::new());

    desk.set(&webhook, "disabled").await;
    desk.server.deliver().await;
    let discarded = desk.api.all(&format!("{path}?status=discarded")).await;
    assert_eq!(discarded.iter().map(|d| &d["eventId"]).collect::<Vec<_>>(), [three, one]);
}

#[tokio::test]
async fn a_wrong_question_is_refused() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.delivered(&["one", "two"]).await;
    let path = format!("{webhook}/deliveries");
    let long = format!("event_id={}", "x".repeat(65));
    for (query, param) in [
        ("status=late", "status"),
        ("status=delivered&status=failed", "status"),
        ("limit=0", "limit"),
        (long.as_str(), "event_id"),
        ("event_id=no%20id", "event_id"),
    ] {
        let error = desk.api.get(format!("{path}?{query}")).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param);
    }
    let page = desk.api.get(format!("{path}?limit=1")).send().await.expect(200);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let moved = desk.api.get(format!("{path}?status=failed&cursor={cursor}")).send().await;
    moved.refused(400, "invalid_cursor");

    let stranger = desk.server.key("another", |_| ()).await;
    stranger.get(&path).send().await.refused(404, "not_found");
    let calendars = desk.server.client_with(&["calendar.read"]).await;
    calendars.get(&path).send().await.refused(403, "insufficient_scope");
}

/// Each attempt counts in the usage of its application, whatever its result, with its duration.
#[tokio::test]
async fn attempts_are_counted() {
    let mut desk = Desk::start().await;
    let usage = async |desk: &Desk| desk.api.get("/v1/usage").send().await.expect(200)["webhooks"].clone();
    let before = usage(&desk).await;
    let counted =
        |usage: &Value| (usage["deliveries"].clone(), usage["failed"].clone(), usage["p95Ms"].clone());
    assert_eq!(counted(&before), (json!(0), json!(0), Value::Null));
    let webhook = desk.subscribe(CREATED).await;
    let first = desk.delivered(&["one", "two"]).await;
    desk.receiver.answer(500, &[]);
    desk.delivered(&["three"]).await;
    assert_eq!(counted(&usage(&desk).await), (json!(3), json!(1), json!(1)), "the clock stood still");

    // The second attempt of the third event, and a replay of the first: the endpoint takes a while to answer them.
    desk.server.clock.advance_ms(6_000);
    desk.replay(&webhook, &[id(&first[0])]).await;
    let held = desk.receiver.hold().await;
    let (clock, receiver) = (&desk.server.clock, &mut desk.receiver);
    let answer = async {
        receiver.next().await;
        clock.advance_ms(120);
        drop(held);
    };
    tokio::join!(answer, desk.server.deliver());
    let after = usage(&desk).await;
    assert_eq!((&after["deliveries"], &after["failed"]), (&json!(5), &json!(1)), "{after:#}");
    assert!(after["p95Ms"].as_i64().is_some_and(|ms| (150..=300).contains(&ms)), "{after:#}");

    // They are the application's own, and of the days that are asked for.
    let other = desk.server.key("other", |_| ()).await;
    let others = other.get("/v1/usage").send().await.expect(200)["webhooks"].clone();
    assert_eq!(counted(&others), (json!(0), json!(0), Value::Null));
    let path = "/v1/usage?start=2026-02-01&end=2026-02-28";
    let earlier = desk.api.get(path).send().await.expect(200)["webhooks"].clone();
    assert_eq!(counted(&earlier), (json!(0), json!(0), Value::Null));
}
