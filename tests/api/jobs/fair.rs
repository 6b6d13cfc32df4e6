//! Fairness of jobs: one application's backlog delays others by its running jobs only, not by its queue; and hanging jobs of one
//! application leave permits to the others, and to its other work.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use base::error::Result;
use base::tenant::Tenant;
use harness::TestServer;
use service::app::App;
use service::job_runner::kind::{JobEnd, JobKind, JobRun};
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use storage::jobs::{self, NewJob};
use storage::wakes::JobClass;
use tokio::sync::{Notify, Semaphore, watch};

use crate::jobs::NOTHING;

/// Jobs of the backlog: more than the runner reads at a time.
const BACKLOG_JOBS: usize = 600;
/// Maximum simultaneous runs of this class, and those of one application.
const PLACES: usize = 8;
const OF_ONE: usize = 6;

/// Jobs that tell whose they are, and last until the test ends them.
const LASTS: JobKind = JobKind { name: "lasts", run: |turn| Box::pin(last(turn)), ..NOTHING };
static KINDS: [JobKind; 1] = [LASTS];
static BEGUN: LazyLock<Starts> = LazyLock::new(Starts::default);
static END: Semaphore = Semaphore::const_new(0);

/// Runs that have begun.
struct Starts {
    count: Semaphore,
    names: Mutex<Vec<String>>,
}

impl Default for Starts {
    fn default() -> Starts {
        Starts { count: Semaphore::new(0), names: Mutex::default() }
    }
}

impl Starts {
    fn note(&self, name: &str) {
        self.names.lock().expect("no panic").push(name.to_owned());
        self.count.add_permits(1);
    }

    /// Returns the names of the runs that have begun since the last call, once there are this many.
    async fn next(&self, count: usize) -> Vec<String> {
        let all = tokio::time::timeout(Duration::from_secs(60), self.count.acquire_many(count as u32));
        all.await.expect("the turns begin").expect("it is open").forget();
        std::mem::take(&mut *self.names.lock().expect("no panic"))
    }
}

async fn last(turn: &JobRun) -> Result<JobEnd> {
    BEGUN.note(&turn.job.tenant.application_id);
    END.acquire().await.expect("it is open").forget();
    Ok(JobEnd::Done)
}

async fn enqueue(app: &App, kind: JobKind, application: &'static str, count: usize, due_at: i64) {
    let done: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let tenant = Tenant { organization_id: "org".into(), application_id: application.into() };
                for number in 0..count {
                    let new = NewJob {
                        kind: kind.name,
                        key: &format!("{application}-{number}"),
                        class: kind.class,
                        tenant: &tenant,
                        connection_id: None,
                        target: "",
                        due_at: Some(due_at),
                        args: None,
                    };
                    jobs::enqueue(tx, &new, due_at).await?;
                }
                Ok(())
            })
        })
        .await;
    done.expect("the jobs are enqueued");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_full_of_one_tenant_hides_nobody() {
    let server = TestServer::start().await;
    let (app, now) = (&server.app, server.app.now());
    enqueue(app, LASTS, "greedy", BACKLOG_JOBS, now - 60_000).await;
    enqueue(app, LASTS, "modest", 1, now - 1).await;
    enqueue(app, LASTS, "other", 1, now).await;
    let (_stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    let mut first = BEGUN.next(PLACES).await;
    first.sort_unstable();
    assert_eq!(first[..OF_ONE], ["greedy"; OF_ONE]);
    assert_eq!(first[OF_ONE..], ["modest", "other"]);
    END.add_permits(PLACES);
    assert_eq!(BEGUN.next(OF_ONE).await, ["greedy"; OF_ONE]);
    running.abort();
}

/// Pulls at providers that answer nothing, but for those of the application that is well.
const HANGS: JobKind =
    JobKind { name: "hangs", class: JobClass::Pull, run: |turn| Box::pin(hang(turn)), ..NOTHING };
static HANGING: [JobKind; 1] = [HANGS];
static HUNG: LazyLock<Starts> = LazyLock::new(Starts::default);
/// More than the places that pulls have: six that are fast and ten that last for one application, eight and fourteen for all.
const MORE_THAN_PLACES: usize = 24;

async fn hang(turn: &JobRun) -> Result<JobEnd> {
    turn.allow_preemption();
    HUNG.note(&turn.job.id);
    if turn.job.tenant.application_id == "well" {
        return Ok(JobEnd::Done);
    }
    pending().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pulls_that_hang_keep_neither_their_application_nor_others_from_their_places() {
    let server = TestServer::start().await;
    let (app, now) = (&server.app, server.app.now());
    enqueue(app, HANGS, "hanging", 100, now - 1).await;
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &HANGING, REQUIRED_JOBS, stopping));
    // Runs that get no permit beside the long ones leave theirs to the next ones, and wait.
    let begun = HUNG.next(MORE_THAN_PLACES).await;
    assert_eq!(begun.iter().collect::<BTreeSet<_>>().len(), begun.len(), "each has begun once");
    enqueue(app, HANGS, "well", 1, now).await;
    loop {
        let next = HUNG.next(1).await;
        if next.iter().any(|id| id == "hangs:well-0") {
            break;
        }
        // Before it: what had been begun already, and no more than the fast places of the other application.
        assert!(next.len() <= OF_ONE, "{next:?}");
    }
    let waiting = jobs::find(app.db.reader(), &begun[begun.len() - 1]).await.expect("a query");
    assert!(waiting.is_some(), "what hangs is not given up");
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(60), running).await.expect("it ends").expect("without a panic");
}

/// Pulls that last, and one that does not.
const LINGERS: JobKind =
    JobKind { name: "lingers", class: JobClass::Pull, run: |turn| Box::pin(linger(turn)), ..NOTHING };
const PASSES: JobKind =
    JobKind { name: "passes", class: JobClass::Pull, run: |turn| Box::pin(pass(turn)), ..NOTHING };
static SLOW_AND_FAST: [JobKind; 2] = [LINGERS, PASSES];
static LINGERING: LazyLock<Starts> = LazyLock::new(Starts::default);
static HAS_PASSED: Notify = Notify::const_new();
/// Permits of long runs, of one application.
const SLOW_OF_ONE: usize = 10;

async fn linger(turn: &JobRun) -> Result<JobEnd> {
    LINGERING.note(&turn.job.id);
    pending().await
}

async fn pass(_: &JobRun) -> Result<JobEnd> {
    HAS_PASSED.notify_one();
    Ok(JobEnd::Done)
}

/// More accounts than the runner reads at a time, at hanging providers, and a healthy one of the same application that is due after them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_pulls_of_an_application_do_not_hide_its_fast_ones() {
    let server = TestServer::start().await;
    let (app, now) = (&server.app, server.app.now());
    enqueue(app, LINGERS, "greedy", BACKLOG_JOBS, now - 60_000).await;
    let marked: anyhow::Result<()> = app
        .db
        .write(|tx| {
            Box::pin(async move { tx.batch("update jobs set is_slow = 1 where kind = 'lingers'").await })
        })
        .await;
    marked.expect("they are slow");
    enqueue(app, PASSES, "greedy", 1, now).await;
    let (_stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &SLOW_AND_FAST, REQUIRED_JOBS, stopping));
    assert_eq!(LINGERING.next(SLOW_OF_ONE).await.len(), SLOW_OF_ONE);
    let passed = tokio::time::timeout(Duration::from_secs(60), HAS_PASSED.notified()).await;
    passed.expect("the fast one is not behind the slow ones");
    running.abort();
}
