//! Notifications are hints: an authentic one makes a pull due, and has no other effect.

use futures::FutureExt;
use harness::{Exchange, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use storage::wakes::JobClass;

use crate::email::mailbox::until;
use crate::local_reads::{held, hold, let_go, source};
use crate::push::{HOUR_MS, NOTIFICATIONS, World};

#[tokio::test]
async fn a_handshake_is_echoed_as_text() {
    let server = TestServer::start().await;
    let ask = |query: &str| {
        let path = format!("{NOTIFICATIONS}?{query}");
        server.anonymous().ask(Method::POST, path, None).send()
    };
    let echoed = ask("validationToken=Validation%3A+%3Cb%3E%26%C3%A4").await;
    assert_eq!((echoed.status, echoed.text.as_str()), (200, "Validation: <b>&ä"));
    assert_eq!(echoed.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(echoed.header("x-content-type-options"), Some("nosniff"));
    let error = ask("validationToken=a%0D%0Ab").await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "validationToken");
    ask(&format!("validationToken={}", "x".repeat(4_097))).await.refused(400, "invalid_parameter");
    // Another parameter is none, and without any the request brings nothing.
    ask("token=x").await.refused(401, "missing_api_key");
    let nowhere = server.anonymous().post("/v1/providers/nobody/notifications?validationToken=x", json!({}));
    nowhere.send().await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_only_pulls() {
    let world = World::start().await;
    let next_at = world.pull_job(0).await.due_at;
    assert_eq!(next_at, Some(world.server.app.now() + HOUR_MS), "the provider is trusted");
    assert_eq!(world.shown(0).await["status"], "active");
    world.make(0, "lunch").await;
    let due = Some(world.server.app.now());
    until("the provider has posted", async || (world.pull_job(0).await.due_at == due).then_some(())).await;
    assert_eq!(world.counted("authentic"), 1);
    assert_eq!(world.here(0).await, 0, "what the notification says is not believed");
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here(0).await, 1);
    let now = world.server.app.now();
    assert_eq!(world.watch(0).await.last_notified_at, Some(now));
    assert_eq!(world.pull_job(0).await.due_at, Some(now + HOUR_MS));
    // A body changes nothing, and neither does a second notification of a pull that is already due.
    let watch = world.watch(0).await;
    let request = world.server.anonymous().post(NOTIFICATIONS, json!({ "deleted": [world.calendars[0].0] }));
    let request = request.header("x-sandbox-channel", &watch.id).header("x-sandbox-state", "not_exists");
    request.header("x-sandbox-token", &world.token(&watch)).send().await.expect(202);
    let job = world.pull_job(0).await;
    assert_eq!(job.due_at, Some(now));
    world.notify(&watch.id, &world.token(&watch)).await.expect(202);
    assert_eq!(world.pull_job(0).await, job);
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here(0).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_secret_only_counts() {
    let world = World::with(&["Shared", "Work"]).await;
    let (watch, other, before) = (world.watch(0).await, world.watch(1).await, world.pull_job(0).await);
    let right = world.token(&watch);
    let wakes = world.server.app.db.wakes();
    // A wake that was left from the start.
    let _ = wakes.woken(JobClass::Pull).now_or_never();
    let answers = [
        world.notify(&watch.id, "wrong").await,
        world.notify(&watch.id, &world.token(&other)).await,
        world.notify("wat_nobodys", &right).await,
    ];
    // Hosts of one database wake each other too.
    let is_alone = !world.server.app.db.is_shared();
    assert!(!is_alone || wakes.woken(JobClass::Pull).now_or_never().is_none(), "nobody is woken");
    let taken = world.notify(&other.id, &world.token(&other)).await;
    for answer in answers {
        // The response does not reveal the right value.
        assert_eq!((answer.status, &answer.text), (taken.status, &taken.text));
    }
    assert_eq!((world.counted("wrong_secret"), world.counted("unknown_watch")), (2, 1));
    assert_eq!(world.counted("authentic"), 1);
    assert_eq!((world.pull_job(0).await, world.watch(0).await), (before, watch.clone()));
    let without = world.server.anonymous().post(NOTIFICATIONS, Value::Null);
    without.header("x-sandbox-channel", &watch.id).send().await.refused(401, "missing_api_key");
    let large = world.server.anonymous().post(NOTIFICATIONS, json!({ "x": "x".repeat(300_000) }));
    large.send().await.refused(413, "payload_too_large");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_for_one_watch_harms_no_other() {
    let world = World::with(&["Shared", "Work"]).await;
    let (flooded, other) = (world.watch(0).await, world.watch(1).await);
    let token = world.token(&flooded);
    let mut statuses = Vec::new();
    // More than the provider may send in a second, of which the clock of a test shows none.
    for _ in 0..250 {
        statuses.push(world.notify(&flooded.id, &token).await.status);
    }
    let (taken, refused) = statuses.split_at(22);
    assert!(taken.iter().all(|status| *status == 202), "{taken:?}");
    // Google repeats after 503, and not after 429.
    assert!(refused.iter().all(|status| *status == 503), "{refused:?}");
    world.notify(&other.id, &world.token(&other)).await.expect(202);
    assert_eq!(world.server.pull().await, 2, "each calendar is pulled once");
    // A notification that came too soon is not lost: it is due a second later.
    let refused = world.notify(&flooded.id, &token).await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    world.server.clock.advance_ms(1_000);
    for _ in 0..3 {
        world.notify(&flooded.id, &token).await.expect(202);
        world.server.pull().await;
    }
    let now = world.server.app.now();
    assert_eq!(world.pull_job(0).await.due_at, Some(now + 1_000), "the third of a second");
}

/// Names of watches cost nothing to invent: notifications that are merged under them count for the provider too.
#[tokio::test]
async fn a_flood_under_many_names_has_one_budget() {
    let server = TestServer::start().await;
    let mut taken = 0;
    for name in 0..12 {
        for _ in 0..22 {
            let answer = stranger(&server, &format!("invented {name}"), None).await;
            assert!(matches!(answer.status, 202 | 503), "{answer}");
            taken += u64::from(answer.status == 202);
        }
    }
    assert_eq!(taken, 12 * 2 + 200, "2 of each name, and 200 of the 20 of each that are merged");
}

/// A network that is too quick uses up its own budget, and not the provider's.
#[tokio::test]
async fn a_stranger_does_not_use_up_the_budget_of_a_provider() {
    let proxies = vec!["127.0.0.1/32".parse().expect("a network")];
    let server = TestServer::builder().config(|config| config.trusted_proxies = proxies).start().await;
    let handshake = async |from: &str| {
        let path = format!("{NOTIFICATIONS}?validationToken=x");
        server.anonymous().ask(Method::POST, path, None).header("x-forwarded-for", from).send().await
    };
    for name in 0..200 {
        stranger(&server, &format!("invented {name}"), Some("203.0.113.7")).await.expect(202);
        assert_eq!(handshake("203.0.113.7").await.status, 200);
    }
    let refused = stranger(&server, "another", Some("203.0.113.7")).await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(503, "overloaded");
    handshake("203.0.113.7").await.refused(503, "overloaded");
    stranger(&server, "another", Some("198.51.100.1")).await.expect(202);
    assert_eq!(handshake("198.51.100.1").await.status, 200);
}

/// Posts a provider's notification for an unknown watch; behind a proxy, from this address.
async fn stranger(server: &TestServer, channel: &str, from: Option<&str>) -> Exchange {
    let request = server.anonymous().post(NOTIFICATIONS, Value::Null);
    let request = request.header("x-sandbox-channel", channel).header("x-sandbox-token", "guessed");
    match from {
        Some(from) => request.header("x-forwarded-for", from).send().await,
        None => request.send().await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_notification_is_found_by_the_delta_pass() {
    let world = World::start().await;
    world.provider.post("/sandbox/faults", json!({ "pushLost": true })).send().await.expect(201);
    world.make(0, "lunch").await;
    assert_eq!(world.server.pull().await, 0, "nobody knows of it");
    world.server.clock.advance_ms(HOUR_MS);
    assert_eq!(world.server.pull().await, 1);
    assert_eq!((world.here(0).await, world.counted("authentic")), (1, 0));
}

/// A watched calendar. Data read more than a second ago is served only if the copy is current.
async fn in_step() -> World {
    World::on(TestServer::builder().config(|config| config.freshness_ms = 1_000), &["Shared"]).await
}

/// A pull is as old as its beginning: the provider may have answered before the change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_during_a_pull_is_not_taken_for_read() {
    let world = in_step().await;
    let (ours, theirs) = &world.calendars[0];
    let events = format!("/v1/calendars/{ours}/events");
    // Requests of the same millisecond share a fresh read.
    world.server.clock.advance_ms(1);
    hold(&world.provider, &format!("/sandbox/v1/calendars/{theirs}/events")).await;
    let change = async {
        held(&world.provider).await;
        world.server.clock.advance_ms(2_000);
        world.make(0, "lunch").await;
        let now = Some(world.server.app.now());
        let posted = async || (world.watch(0).await.last_notified_at == now).then_some(());
        until("the provider has posted", posted).await;
        world.server.clock.advance_ms(3_000);
        let_go(&world.provider).await;
    };
    let reading = world.api.get(format!("{events}?fresh=true")).send();
    let (read, ()) = tokio::join!(reading, change);
    assert_eq!(source(&read), (Some("provider"), Some("5")), "{read}");
    assert_eq!(read.expect(200)["data"], json!([]));
    let next = world.api.get(&events).send().await;
    assert_eq!(source(&next), (Some("provider"), Some("0")), "{next}");
    assert_eq!(next.expect(200)["data"].as_array().map(Vec::len), Some(1));
}

/// However lately another one came.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_each_notification_the_provider_is_asked() {
    let world = in_step().await;
    let watch = world.watch(0).await;
    let (token, events) = (world.token(&watch), format!("/v1/calendars/{}/events", world.calendars[0].0));
    world.notify(&watch.id, &token).await.expect(202);
    world.server.clock.advance_ms(500);
    assert_eq!(world.server.pull().await, 1);
    world.server.clock.advance_ms(2_000);
    let read = world.api.get(&events).send().await;
    assert_eq!(source(&read), (Some("local"), Some("2")), "that one was read: {read}");
    world.notify(&watch.id, &token).await.expect(202);
    let read = world.api.get(&events).send().await;
    assert_eq!(source(&read), (Some("provider"), Some("0")), "{read}");
}
