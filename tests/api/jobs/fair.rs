//! One application's backlog delays the others by what is under way, and not by what it has waiting.

use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use base::error::Result;
use base::tenant::Tenant;
use harness::TestServer;
use storage::jobs::{self, NewJob};
use switchboard::app::App;
use switchboard::job_runner::kind::{JobEnd, JobKind, JobRun};
use switchboard::job_runner::runner;
use switchboard::jobs::REQUIRED_JOBS;
use tokio::sync::{Semaphore, watch};

use crate::jobs::NOTHING;

/// Jobs of the backlog: more than the runner reads at a time.
const MANY: usize = 600;
/// Turns of this class that go on at the same time.
const PLACES: usize = 6;

/// Jobs that tell whose they are, and last until the test ends them.
const LASTS: JobKind = JobKind { name: "lasts", run: |turn| Box::pin(last(turn)), ..NOTHING };
static KINDS: [JobKind; 1] = [LASTS];
static BEGUN: LazyLock<(Semaphore, Mutex<Vec<String>>)> =
    LazyLock::new(|| (Semaphore::new(0), Mutex::default()));
static END: Semaphore = Semaphore::const_new(0);

async fn last(turn: &JobRun) -> Result<JobEnd> {
    BEGUN.1.lock().expect("no panic").push(turn.job.tenant.application_id.clone());
    BEGUN.0.add_permits(1);
    END.acquire().await.expect("it is open").forget();
    Ok(JobEnd::Done)
}

async fn enqueue(app: &App, application: &'static str, count: usize, due_at: i64) {
    let done: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let tenant = Tenant { organization_id: "org".into(), application_id: application.into() };
                for number in 0..count {
                    let new = NewJob {
                        kind: LASTS.name,
                        key: &format!("{application}-{number}"),
                        class: LASTS.class,
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

/// The applications of the turns that have begun, when there are so many.
async fn begun(count: usize) -> Vec<String> {
    let all = tokio::time::timeout(Duration::from_secs(60), BEGUN.0.acquire_many(count as u32));
    all.await.expect("the turns begin").expect("it is open").forget();
    std::mem::take(&mut *BEGUN.1.lock().expect("no panic"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_full_of_one_tenant_hides_nobody() {
    let server = TestServer::start().await;
    let (app, now) = (&server.app, server.app.now());
    enqueue(app, "greedy", MANY, now - 60_000).await;
    enqueue(app, "modest", 1, now - 1).await;
    enqueue(app, "other", 1, now).await;
    let (_stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    let mut first = begun(PLACES).await;
    first.sort_unstable();
    assert_eq!(first, ["greedy", "greedy", "greedy", "greedy", "modest", "other"]);
    END.add_permits(PLACES);
    assert_eq!(begun(PLACES).await, ["greedy"; PLACES]);
    running.abort();
}
