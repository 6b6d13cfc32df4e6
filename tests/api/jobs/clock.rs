//! Machines whose clocks are wrong: hosts use the clock of their database, take nothing from living hosts, and report the deviation.

use std::time::Duration;

use base::clock::Clock;
use base::error::Result;
use harness::TestServer;
use serde_json::{Value, json};
use service::app::App;
use service::job_runner::kind::{JobEnd, JobKind, JobRun};
use service::job_runner::lease::{self, HostLease};
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use tokio::sync::{Notify, watch};

use crate::jobs::{MINUTE_MS, NOTHING, enqueue, find};

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);

const LONG_JOB: JobKind = JobKind { name: "long", run: |turn| Box::pin(go_on(turn)), ..NOTHING };
static LONG_KINDS: [JobKind; 1] = [LONG_JOB];
static HAS_BEGUN: Notify = Notify::const_new();

async fn go_on(_: &JobRun) -> Result<JobEnd> {
    HAS_BEGUN.notify_one();
    std::future::pending().await
}

/// Milliseconds between what two hosts take for the present.
fn difference_ms(one: &App, other: &App) -> i64 {
    (one.now() - other.now()).abs()
}

/// A host is started beside one that runs a job; the clock of its machine is wrong from the start, and is set while the host runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_five_minutes_ahead_takes_no_job_of_a_living_host() {
    let server = TestServer::builder().real_time().start().await;
    let app = &server.app;
    let clock = Clock::system();
    clock.set_machine_by_ms(5 * MINUTE_MS);
    let Some(other) = server.beside_with(clock.clone()).await else {
        eprintln!("not run on SQLite, where a database is one host's");
        return;
    };
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &LONG_KINDS, REQUIRED_JOBS, stopping));
    enqueue(app, LONG_JOB, "one", None).await;
    tokio::time::timeout(LIMIT, HAS_BEGUN.notified()).await.expect("the job is run");

    let lease = HostLease::begin(&other.app).await.expect("a lease");
    for by_ms in [0, 5 * MINUTE_MS, -20 * MINUTE_MS] {
        clock.set_machine_by_ms(by_ms);
        assert_eq!(lease::take_over(&other.app).await.expect("a look"), 0, "{by_ms}");
        let job = find(app, "long:one").await.expect("it is there");
        assert_eq!((job.state.as_str(), job.owner.as_ref(), job.crashes), ("running", Some(&app.boot), 0));
        assert!(difference_ms(app, &other.app) < MINUTE_MS, "{by_ms}");
        assert!(lease.may_claim(&other.app), "its own lease is as good");
    }
    enqueue(&other.app, NOTHING, "two", None).await;
    let due_at = find(app, "nothing:two").await.and_then(|job| job.due_at).expect("it is queued");
    assert!((due_at - app.now()).abs() < MINUTE_MS, "for the other host it is due now, too");
    lease.end(&other.app).await.expect("it ends");
    stop.send_replace(true);
    tokio::time::timeout(LIMIT, running).await.expect("it ends").expect("without a panic");
}

/// A warning, if there is one.
async fn warning(server: &TestServer) -> Option<String> {
    let ready: Value = server.anonymous().get("/readyz").send().await.expect(200);
    let warnings = ready["warnings"].as_array().expect("a list").clone();
    assert!(warnings.len() <= 1, "{warnings:?}");
    warnings.first().map(|warning| warning.as_str().expect("a text").to_owned())
}

#[tokio::test]
async fn a_host_whose_clock_is_wrong_says_so_and_stays_ready() {
    let server = TestServer::builder().real_time().start().await;
    let app = &server.app;
    assert_eq!(warning(&server).await, None);
    server.clock.set_machine_by_ms(5 * MINUTE_MS);
    assert_eq!(lease::take_over(app).await.expect("a look"), 0);
    if !app.db.is_shared() {
        assert_eq!(warning(&server).await, None, "there is no other clock");
        return;
    }
    let said = warning(&server).await.expect("a warning");
    assert!(
        said.starts_with("the machine's clock is 300.") || said.starts_with("the machine's clock is 299.")
    );
    assert!(said.contains(" s ahead of the database's"), "{said}");
    let deviation = app.clock_deviation.ms();
    assert!((deviation - 5 * MINUTE_MS).abs() < 1_000, "{deviation}");

    server.clock.set_machine_by_ms(-5 * MINUTE_MS);
    lease::take_over(app).await.expect("a look");
    assert_eq!(warning(&server).await, None);
}

/// The clock of a test is not the database's, and is no fault of the machine.
#[tokio::test]
async fn a_clock_that_a_test_moves_is_believed() {
    let server = TestServer::start().await;
    let before = server.app.now();
    server.clock.advance_ms(5 * MINUTE_MS);
    assert_eq!(lease::take_over(&server.app).await.expect("a look"), 0);
    assert_eq!(server.app.now(), before + 5 * MINUTE_MS);
    let ready = server.anonymous().get("/readyz").send().await.expect(200);
    assert_eq!((&ready["status"], &ready["warnings"]), (&json!("ready"), &json!([])));
}
