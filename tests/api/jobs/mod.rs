//! Background jobs: the cost of failing runs, the host that runs a job, and the state after a stop.

mod claims;
mod clock;
mod command;
mod fair;
mod lanes;
mod listen;
mod pulls;
mod watches;

use std::time::Duration;

use base::error::{Code, Result, refuse};
use base::tenant::Tenant;
use harness::TestServer;
use serde_json::{Value, json};
use service::app::App;
use service::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use service::job_runner::{lease, runner};
use service::jobs::{REQUIRED_JOBS, upkeep};
use service::retention;
use storage::hosts;
use storage::jobs::{self, Job, NewJob};
use storage::wakes::JobClass;
use tokio::sync::{Notify, watch};

const MINUTE_MS: i64 = 60_000;

/// A kind whose jobs have nothing to do.
const NOTHING: JobKind = JobKind {
    name: "nothing",
    class: JobClass::Upkeep,
    deadline_ms: None,
    max_attempts: Some(2),
    retry: RetryDelay { first_ms: MINUTE_MS, longest_ms: MINUTE_MS },
    run: |turn| Box::pin(do_nothing(turn)),
};

async fn do_nothing(_: &JobRun) -> Result<JobEnd> {
    Ok(JobEnd::Done)
}

/// Enqueues a job that is due now.
async fn enqueue(app: &App, kind: JobKind, key: &str, connection_id: Option<&str>) {
    let (key, connection_id, now) = (key.to_owned(), connection_id.map(str::to_owned), app.now());
    let done: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let tenant = Tenant { organization_id: String::new(), application_id: String::new() };
                let new = NewJob {
                    kind: kind.name,
                    key: &key,
                    class: kind.class,
                    tenant: &tenant,
                    connection_id: connection_id.as_deref(),
                    target: "",
                    due_at: Some(now),
                    args: None,
                };
                jobs::enqueue(tx, &new, now).await
            })
        })
        .await;
    done.expect("the job is enqueued");
}

async fn find(app: &App, id: &str) -> Option<Job> {
    jobs::find(app.db.reader(), id).await.expect("a query")
}

async fn drain(app: &App, kinds: &[JobKind]) -> u64 {
    runner::drain(app, kinds).await.expect("the jobs are run")
}

/// The code of the error that a job failed with last.
fn error_code(job: &Job) -> Value {
    let error: Value = serde_json::from_str(job.last_error.as_deref().expect("an error")).expect("JSON");
    error["code"].clone()
}

async fn panic(_: &JobRun) -> Result<JobEnd> {
    panic!("the kind is broken")
}

#[tokio::test]
async fn a_panic_is_that_jobs_failure() {
    let server = TestServer::start().await;
    let app = &server.app;
    let panics = JobKind { name: "panics", run: |turn| Box::pin(panic(turn)), ..NOTHING };
    enqueue(app, panics, "one", None).await;
    enqueue(app, NOTHING, "two", None).await;
    assert_eq!(drain(app, &[panics, NOTHING]).await, 2);
    assert!(find(app, "nothing:two").await.is_none(), "another job is not concerned");
    assert_eq!(app.metrics.panics("panics"), 1);
    let job = find(app, "panics:one").await.expect("it stays");
    assert_eq!((job.state.as_str(), job.attempts, job.owner.as_deref()), ("queued", 1, None));
    assert_eq!(error_code(&job), "panic");
    let due_at = job.due_at.expect("it is tried again");
    assert!((app.now() + MINUTE_MS..=app.now() + MINUTE_MS * 6 / 5).contains(&due_at), "{due_at}");

    // After the last attempt it is given up, and restarts when it is enqueued again.
    server.clock.advance_ms(2 * MINUTE_MS);
    assert_eq!(drain(app, &[panics]).await, 1);
    let job = find(app, "panics:one").await.expect("it stays");
    assert_eq!((job.state.as_str(), job.attempts, job.due_at), ("failed", 2, None));
    enqueue(app, panics, "one", None).await;
    let job = find(app, "panics:one").await.expect("it stays");
    assert_eq!((job.state.as_str(), job.attempts), ("queued", 0));
}

async fn refused(_: &JobRun) -> Result<JobEnd> {
    Err(refuse(Code::ProviderUnavailable, "the provider is away"))
}

async fn never_end(_: &JobRun) -> Result<JobEnd> {
    std::future::pending().await
}

async fn put_off(turn: &JobRun) -> Result<JobEnd> {
    Ok(JobEnd::PutOff(turn.app.now() + MINUTE_MS))
}

async fn come_again(turn: &JobRun) -> Result<JobEnd> {
    Ok(JobEnd::At(turn.app.now() + MINUTE_MS))
}

#[tokio::test]
async fn a_turn_ends_as_its_kind_says() {
    let server = TestServer::start().await;
    let app = &server.app;
    let kinds = [
        JobKind { name: "refused", run: |turn| Box::pin(refused(turn)), ..NOTHING },
        JobKind { name: "slow", deadline_ms: Some(1), run: |turn| Box::pin(never_end(turn)), ..NOTHING },
        JobKind { name: "put_off", run: |turn| Box::pin(put_off(turn)), ..NOTHING },
        JobKind { name: "again", run: |turn| Box::pin(come_again(turn)), ..NOTHING },
    ];
    for kind in kinds {
        enqueue(app, kind, "one", None).await;
    }
    assert_eq!(drain(app, &kinds).await, 4);
    let next = app.now() + MINUTE_MS;
    // For each: its error, and the effect on its attempts.
    let expected = [
        ("refused:one", Some("provider_unavailable"), 1),
        ("slow:one", Some("timeout"), 1),
        ("put_off:one", None, 0),
        ("again:one", None, 0),
    ];
    for (id, code, attempts) in expected {
        let job = find(app, id).await.expect("it stays");
        assert_eq!((job.state.as_str(), job.attempts), ("queued", attempts), "{id}");
        assert!(job.due_at >= Some(next), "{id}: {:?}", job.due_at);
        assert_eq!(job.last_error.is_some().then(|| error_code(&job)), code.map(Value::from), "{id}");
    }
    assert_eq!(drain(app, &kinds).await, 0, "none is due yet");
}

static RAN: Notify = Notify::const_new();

async fn ring(_: &JobRun) -> Result<JobEnd> {
    RAN.notify_one();
    Ok(JobEnd::Done)
}

const RINGS: JobKind = JobKind { name: "rings", run: |turn| Box::pin(ring(turn)), ..NOTHING };
const STAYS: JobKind = JobKind { name: "stays", run: |turn| Box::pin(stay(turn)), ..NOTHING };

static KINDS: [JobKind; 2] = [RINGS, STAYS];
static STAYED: Notify = Notify::const_new();

async fn stay(_: &JobRun) -> Result<JobEnd> {
    STAYED.notify_one();
    std::future::pending().await
}

/// The runner of a service: it runs jobs that are enqueued while it runs, and releases unfinished ones when it stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_gives_jobs_back_at_once() {
    let server = TestServer::start().await;
    let app = &server.app;
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    let limit = Duration::from_secs(60);
    for key in ["one", "two"] {
        enqueue(app, RINGS, key, None).await;
        tokio::time::timeout(limit, RAN.notified()).await.expect("the job is run");
    }
    enqueue(app, STAYS, "one", None).await;
    tokio::time::timeout(limit, STAYED.notified()).await.expect("the job is run");
    let job = find(app, "stays:one").await.expect("it is there");
    assert_eq!((job.state.as_str(), job.owner.as_ref()), ("running", Some(&app.boot)));
    stop.send_replace(true);
    tokio::time::timeout(limit, running).await.expect("the runner ends").expect("without a panic");
    let job = find(app, "stays:one").await.expect("it is there");
    assert_eq!((job.state.as_str(), job.attempts, job.owner), ("queued", 0, None));
    assert_eq!((job.due_at, job.crashes), (Some(app.now()), 0));
    assert_eq!(hosts::expired(app.db.reader(), i64::MAX).await.expect("a query"), [] as [String; 0]);
    // A job's result is written after its run: the stop has waited for no run, so another drain finds the rest.
    drain(app, &[RINGS]).await;
    assert!(find(app, "rings:one").await.is_none());
    assert!(find(app, "rings:two").await.is_none());
}

/// Two hosts on one database: the jobs of a dead one are taken over by the other, not before its lease ends. On SQLite a database belongs
/// to one host, and the next start takes over the jobs of an earlier one.
#[tokio::test]
async fn a_host_takes_over_from_one_that_is_gone() {
    let server = TestServer::start().await;
    enqueue(&server.app, NOTHING, "one", None).await;
    let lost = lease::HostLease::begin(&server.app).await.expect("a lease");
    let claim = jobs::Claim {
        owner: lost.id().to_owned(),
        fence: jobs::Fence::random(&server.app.entropy),
        now: server.app.now(),
        deadline_at: None,
    };
    let claimed: anyhow::Result<Vec<Job>> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { jobs::claim(tx, &["nothing:one".to_owned()], &claim).await }))
        .await;
    assert_eq!(claimed.expect("a claim").len(), 1);
    assert_eq!(drain(&server.app, &[NOTHING]).await, 0, "it is taken");
    match server.beside().await {
        Some(other) => {
            assert_eq!(lease::take_over(&other.app).await.expect("a look"), 0);
            server.clock.advance_ms(9_000);
            assert_eq!(lease::take_over(&other.app).await.expect("a look"), 1);
            assert_eq!(drain(&other.app, &[NOTHING]).await, 1);
        }
        None => {
            let server = server.restart().await;
            let lease = lease::HostLease::begin(&server.app).await.expect("a lease");
            let job = find(&server.app, "nothing:one").await.expect("it is there");
            assert_eq!((job.state.as_str(), job.crashes), ("queued", 1));
            assert_eq!(drain(&server.app, &[NOTHING]).await, 1);
            lease.end(&server.app).await.expect("it ends");
        }
    }
}

/// Balancers send nothing to a host that does no work in the background: what requests leave to be done would wait.
#[tokio::test]
async fn a_host_that_lost_its_lease_is_not_ready() {
    let server = TestServer::start().await;
    let anybody = server.anonymous();
    anybody.get("/readyz").send().await.expect(200);
    let lease = lease::HostLease::begin(&server.app).await.expect("a lease");
    assert_eq!(server.app.presence.id(), lease.id());
    anybody.get("/readyz").send().await.expect(200);
    server.clock.advance_ms(hosts::LEASE_MS);
    if server.app.db.is_shared() {
        let refused = anybody.get("/readyz").send().await;
        let reason = json!({ "status": "unavailable", "reason": "this host has lost its lease" });
        assert_eq!((refused.status, refused.answer), (503, reason));
    }
    lease.end(&server.app).await.expect("it is given back");
    anybody.get("/readyz").send().await.expect(200);
}

#[tokio::test]
async fn the_jobs_of_a_connection_go_with_it() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    enqueue(&server.app, NOTHING, "of it", Some(&connection)).await;
    enqueue(&server.app, NOTHING, "of none", None).await;
    api.delete(format!("/v1/connections/{connection}")).send().await.expect(204);
    runner::drain(&server.app, &[upkeep::PURGE]).await.expect("the data go");
    assert!(find(&server.app, "nothing:of it").await.is_none());
    assert!(find(&server.app, "nothing:of none").await.is_some());
}

/// A job that was given up is kept for a month.
#[tokio::test]
async fn a_failed_job_is_kept_for_thirty_days() {
    let server = TestServer::start().await;
    let app = &server.app;
    let kind =
        JobKind { name: "refused", max_attempts: Some(1), run: |turn| Box::pin(refused(turn)), ..NOTHING };
    enqueue(app, kind, "one", None).await;
    assert_eq!(drain(app, &[kind]).await, 1);
    server.clock.advance_ms(29 * 86_400_000);
    retention::clean(app).await.expect("a clean-up");
    let job = find(app, "refused:one").await.expect("it is kept");
    assert_eq!((job.state.as_str(), error_code(&job)), ("failed", json!("provider_unavailable")));
    server.clock.advance_ms(2 * 86_400_000);
    retention::clean(app).await.expect("a clean-up");
    assert!(find(app, "refused:one").await.is_none());
}
