//! Endpoints that are broken, or mean harm: each costs itself, and little of the service.

use std::time::{Duration, Instant};

use harness::receiver::{Conduct, Hostile, Receiver};
use serde_json::{Value, json};
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use service::webhooks::delivery::DELIVER;
use service::webhooks::fanout;
use tokio::sync::watch;

use crate::webhooks::changes::{UPDATED, log, log_long, resource};
use crate::webhooks::desk::Desk;

/// How long an attempt may take where the endpoint does not answer: short, for the test waits for it.
const DEADLINE: Duration = Duration::from_millis(300);

/// A service whose attempts take no longer than `DEADLINE`.
async fn hurried() -> Desk {
    Desk::start_with(|config| config.webhook_deadline = DEADLINE).await
}

/// The path of a subscription to updates at this URL.
async fn subscribe(desk: &Desk, url: &str) -> String {
    let body = json!({ "url": url, "eventTypes": [UPDATED] });
    let made = desk.api.post("/v1/webhooks", body).send().await.expect(201);
    format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
}

async fn last_failure(desk: &Desk, webhook: &str) -> Value {
    let shown = desk.api.get(webhook).send().await.expect(200);
    assert_eq!(shown["consecutiveFailures"], 1);
    shown["lastFailure"].clone()
}

/// The last attempt of the only delivery.
async fn attempt(desk: &Desk, webhook: &str) -> Value {
    let deliveries = desk.api.all(&format!("{webhook}/deliveries")).await;
    assert_eq!(deliveries.len(), 1);
    deliveries[0]["attempts"][0].clone()
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut desk = Desk::start().await;
    let mut elsewhere = Receiver::start().await;
    let webhook = subscribe(&desk, &desk.receiver.url()).await;
    let there = elsewhere.url();
    for status in [301, 302, 303, 307, 308] {
        desk.receiver.answer(status, &[("location", there.as_str())]);
        desk.receiver.answer(204, &[]);
        log(&desk, &["a"]).await;
        desk.server.deliver().await;
        assert_eq!(last_failure(&desk, &webhook).await["status"], status);
        assert_eq!(last_failure(&desk, &webhook).await["error"], "redirect");
        // It is tried again, at the URL of the subscription.
        desk.server.clock.advance_ms(6_000);
        desk.server.deliver().await;
        assert_eq!(desk.receiver.taken().len(), 2);
    }
    assert!(elsewhere.taken().is_empty());
}

/// The status is what counts. Of the body little is read, and less is kept.
#[tokio::test]
async fn a_huge_answer_is_cut_off() {
    let desk = Desk::start().await;
    for (status, kept) in [(200, None), (500, Some(1_024))] {
        let endpoint = Hostile::start(Conduct::EndlessBody(status)).await;
        let webhook = subscribe(&desk, &endpoint.url()).await;
        log(&desk, &["a"]).await;
        desk.server.deliver().await;
        endpoint.closed().await;
        let attempt = attempt(&desk, &webhook).await;
        assert_eq!(attempt["statusCode"], status);
        assert_eq!(attempt["responseSnippet"].as_str().map(str::len), kept);
        assert_eq!(endpoint.connections(), 1);
        // The system's buffer of a socket, and no more.
        assert!(endpoint.sent() < 64 << 20, "{} bytes", endpoint.sent());
        desk.api.delete(webhook.as_str()).send().await.expect(204);
    }
}

#[tokio::test]
async fn a_receiver_that_drips_holds_one_attempt_only_so_long() {
    let desk = hurried().await;
    let endpoint = Hostile::start(Conduct::DrippingHead).await;
    let webhook = subscribe(&desk, &endpoint.url()).await;
    log(&desk, &["a"]).await;
    let began = Instant::now();
    desk.server.deliver().await;
    assert!((DEADLINE..Duration::from_secs(60)).contains(&began.elapsed()), "{:?}", began.elapsed());
    assert_eq!(last_failure(&desk, &webhook).await["error"], "timeout");
    endpoint.closed().await;
    assert_eq!(endpoint.connections(), 1);
}

#[tokio::test]
async fn an_endless_head_ends() {
    let desk = Desk::start().await;
    let endpoint = Hostile::start(Conduct::EndlessHead).await;
    let webhook = subscribe(&desk, &endpoint.url()).await;
    log(&desk, &["a"]).await;
    desk.server.deliver().await;
    endpoint.closed().await;
    let failure = last_failure(&desk, &webhook).await;
    assert_eq!((&failure["error"], &failure["status"]), (&json!("http"), &Value::Null));
    assert!(endpoint.sent() < 64 << 20, "{} bytes", endpoint.sent());
}

#[tokio::test]
async fn an_endpoint_that_says_nothing_is_not_waited_for() {
    let desk = hurried().await;
    let endpoint = Hostile::start(Conduct::Silent).await;
    // The second one waits for the handshake of TLS.
    for url in [endpoint.url(), endpoint.https_url()] {
        let webhook = subscribe(&desk, &url).await;
        log(&desk, &["a"]).await;
        desk.server.deliver().await;
        assert_eq!(last_failure(&desk, &webhook).await["error"], "timeout");
        desk.api.delete(webhook.as_str()).send().await.expect(204);
        endpoint.closed().await;
    }
    assert_eq!(endpoint.connections(), 2);
}

/// The jobs that a service runs for deliveries.
static DELIVERING: [JobKind; 2] = [fanout::FANOUT, DELIVER];
/// More endpoints than runs begin at a time.
const SLOW: usize = 40;

#[tokio::test]
async fn a_slow_endpoint_delays_no_other() {
    // An attempt at an endpoint that does not answer outlasts the test.
    let mut desk = Desk::start_with(|config| config.webhook_deadline = Duration::from_secs(3_600)).await;
    let mut slow = Receiver::start().await;
    for n in 0..SLOW {
        subscribe(&desk, &format!("{}/{n}", slow.url())).await;
    }
    let held = slow.hold().await;
    let (stop, stopping) = watch::channel(false);
    let app = desk.server.app.clone();
    let running = tokio::spawn(async move {
        tokio::join!(
            runner::run(app.clone(), &DELIVERING, REQUIRED_JOBS, stopping.clone()),
            fanout::match_events(&app, stopping)
        )
    });
    log(&desk, &["a"]).await;
    for _ in 0..SLOW {
        slow.next().await;
    }
    subscribe(&desk, &desk.receiver.url()).await;
    for _ in 0..3 {
        log(&desk, &["a"]).await;
        desk.receiver.next().await;
    }
    drop(held);
    stop.send_replace(true);
    running.await.expect("the runner ends without a panic");
}

/// Endpoints that hang have 16 MiB of bodies of an application. What finds no room among them comes a second later, and short bodies go
/// out at once.
#[tokio::test]
async fn long_bodies_wait_for_room_and_hold_up_no_short_ones() {
    let mut desk = Desk::start_with(|config| config.webhook_deadline = Duration::from_secs(3_600)).await;
    for _ in 0..2 {
        desk.subscription(json!({ "eventTypes": [UPDATED], "maxConcurrent": 64 })).await;
    }
    let names: Vec<String> = (0..36).map(|n| format!("long {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    log_long(&desk, &names, 240 << 10).await;
    log(&desk, &["short"]).await;
    let held = desk.receiver.hold().await;
    let app = desk.server.app.clone();
    fanout::wake(&app, None).await.expect("the feeds are read");
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &DELIVERING, REQUIRED_JOBS, stopping));
    // 68 of the 72 long ones, and both short ones.
    let mut short = 0;
    for _ in 0..70 {
        short += usize::from(resource(&desk.receiver.next().await) == "short");
    }
    assert_eq!(short, 2);

    drop(held);
    stop.send_replace(true);
    running.await.expect("the runner ends without a panic");
    assert!(desk.receiver.taken().is_empty(), "the others wait");
    desk.server.clock.advance_ms(1_000);
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 4);
}
