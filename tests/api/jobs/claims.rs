//! Claims of Idempotency-Keys are left to their requests: while these run, no host takes one over, whether its own host stops or they
//! take long.

use std::time::{Duration, Instant};

use base::error::{Code, Result};
use harness::TestServer;
use service::app::App;
use service::job_runner::kind::{JobEnd, JobKind, JobRun};
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use storage::{hosts, idempotency};
use tokio::sync::{Notify, watch};

use crate::contract::idempotency::{claimed, try_claim};
use crate::jobs::{NOTHING, enqueue, find};

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);
/// Less than the lease of a host.
const STEP_MS: i64 = 6_000;

const GOES_ON: JobKind = JobKind { name: "goes_on", run: |turn| Box::pin(go_on(turn)), ..NOTHING };
static KINDS: [JobKind; 1] = [GOES_ON];
static NO_KINDS: [JobKind; 1] = [NOTHING];
static HAS_BEGUN: Notify = Notify::const_new();

async fn go_on(_: &JobRun) -> Result<JobEnd> {
    HAS_BEGUN.notify_one();
    std::future::pending().await
}

/// Until when the lease of the one host is valid; none: there is no host.
async fn lease_until(app: &App) -> Option<i64> {
    let all = hosts::list(app.db.reader()).await.expect("a query");
    all.first().map(|host| host.lease_until)
}

/// Until when the claim of the tests is its request's.
async fn claim_until(app: &App) -> i64 {
    let found = idempotency::find(app.db.reader(), "app_1", "scope").await.expect("a query");
    found.expect("a claim").lease_until
}

/// Lets others work while the test waits. Fails when that takes too long.
async fn wait_since(began: Instant) {
    assert!(began.elapsed() < LIMIT, "it does not come");
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// A rolling restart: the jobs go to others at once, and the claims of running requests stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_stops_keeps_the_claims_of_its_requests_until_they_end() {
    let server = TestServer::start().await;
    let app = &server.app;
    let Some(other) = server.beside().await else {
        eprintln!("not run on SQLite, where a database is one host's");
        return;
    };
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    enqueue(app, GOES_ON, "one", None).await;
    tokio::time::timeout(LIMIT, HAS_BEGUN.notified()).await.expect("the job is run");
    let attempt = claimed(app).await;

    app.start_draining(tokio::time::Instant::now() + LIMIT);
    stop.send_replace(true);
    let began = Instant::now();
    while find(app, "goes_on:one").await.expect("it is there").state != "queued" {
        wait_since(began).await;
    }
    // Longer than a claim is left to a host that is not there.
    for _ in 0..2 {
        server.clock.advance_ms(STEP_MS);
        let renewed = app.now() + hosts::LEASE_MS;
        while lease_until(app).await.expect("the host is there") < renewed {
            wait_since(began).await;
        }
    }
    let refused = try_claim(&other.app).await.err().and_then(|e| e.code());
    assert_eq!(refused, Some(Code::IdempotencyInProgress));

    drop(attempt);
    tokio::time::timeout(LIMIT, running).await.expect("it ends").expect("without a panic");
    assert_eq!(lease_until(app).await, None);
    let began = Instant::now();
    let attempt = loop {
        match try_claim(&other.app).await {
            Ok(attempt) => break attempt,
            Err(_) => wait_since(began).await,
        }
    };
    assert!(attempt.resumed);
}

/// While a listener is open, a request may come that makes a claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_stops_stays_while_requests_may_come() {
    let server = TestServer::start().await;
    let app = &server.app;
    let open = app.claims.open();
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &NO_KINDS, REQUIRED_JOBS, stopping));
    let began = Instant::now();
    while lease_until(app).await.is_none() {
        wait_since(began).await;
    }
    // The drain is over at once; the lease is not.
    app.start_draining(tokio::time::Instant::now());
    stop.send_replace(true);
    tokio::time::timeout(LIMIT, running).await.expect("it ends").expect("without a panic");
    assert!(lease_until(app).await.is_some());
    drop(open);
    let began = Instant::now();
    while lease_until(app).await.is_some() {
        wait_since(began).await;
    }
}

/// A request may take as long as it takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_is_left_to_a_request_that_takes_long() {
    let server = TestServer::start().await;
    let app = &server.app;
    let attempt = claimed(app).await;
    server.clock.advance_ms(100_000);
    assert!(claim_until(app).await < app.now());
    let refused = try_claim(app).await.err().and_then(|e| e.code());
    assert_eq!(refused, Some(Code::IdempotencyInProgress), "its own host knows that it runs");
    let Some(other) = server.beside().await else {
        eprintln!("the rest is not run on SQLite, where a database is one host's");
        return;
    };
    let (_stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &NO_KINDS, REQUIRED_JOBS, stopping));
    let began = Instant::now();
    while claim_until(app).await < app.now() {
        wait_since(began).await;
    }
    let refused = try_claim(&other.app).await.err().and_then(|e| e.code());
    assert_eq!(refused, Some(Code::IdempotencyInProgress), "the others are told");
    running.abort();
    drop(attempt);
}
