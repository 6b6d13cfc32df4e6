//! Connections to the database: reading requests, writing requests and jobs have separate lanes, and no application can take all of a
//! lane. On SQLite, with one writer and parallel readers, only what applies there too is tested here; the order of its queue is in
//! `host/storage/src/tests/lanes.rs`.

use std::sync::Arc;
use std::time::Duration;

use harness::TestServer;
use serde_json::json;
use storage::lane::Lane;
use storage::sql::query;
use storage::{Db, Options, PoolLimits, PoolUsage};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

use crate::jobs::{NOTHING, drain, enqueue};

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Transactions that last until they are ended.
struct Held {
    end: Arc<Semaphore>,
    transactions: JoinSet<anyhow::Result<()>>,
}

impl Held {
    /// Begins this number of idle transactions in this lane.
    async fn begin(db: &Db, lane: &Lane, number: u32) -> Held {
        let mut held = Held { end: Arc::new(Semaphore::new(0)), transactions: JoinSet::new() };
        let begun = Arc::new(Semaphore::new(0));
        for _ in 0..number {
            let transaction = transaction(db.clone(), None, Arc::clone(&begun), Arc::clone(&held.end));
            held.transactions.spawn(lane.clone().scope(transaction));
        }
        wait_for(&begun, number).await;
        held
    }

    /// A transaction of another program, which has locked the row of an application.
    async fn locked(server: &TestServer, application: &'static str) -> Held {
        let options = Options { pools: patient(), ..Options::for_url(server.app.config.database()) };
        let db = Db::connect(&options).await.expect("the database");
        let mut held = Held { end: Arc::new(Semaphore::new(0)), transactions: JoinSet::new() };
        let begun = Arc::new(Semaphore::new(0));
        let end = Arc::clone(&held.end);
        held.transactions.spawn(transaction(db, Some(application), Arc::clone(&begun), end));
        wait_for(&begun, 1).await;
        held
    }

    async fn end(mut self) {
        self.end.add_permits(self.transactions.len());
        while let Some(ended) = self.transactions.join_next().await {
            ended.expect("no panic").expect("it is committed");
        }
    }
}

async fn transaction(
    db: Db,
    locks: Option<&'static str>,
    begun: Arc<Semaphore>,
    end: Arc<Semaphore>,
) -> anyhow::Result<()> {
    let write = db.write(move |tx| {
        Box::pin(async move {
            if let Some(name) = locks {
                let sql = "select id from applications where name = $1 for update";
                query(sql).bind(name).fetch_one(&mut *tx, |row| row.get::<String>("id")).await?;
            }
            begun.add_permits(1);
            end.acquire().await?.forget();
            Ok(())
        })
    });
    write.await
}

async fn wait_for(begun: &Semaphore, number: u32) {
    let all = tokio::time::timeout(LIMIT, begun.acquire_many(number)).await.expect("they begin");
    all.expect("nobody closes it").forget();
}

/// Bounds with which a transaction may do nothing for as long as a test takes.
fn patient() -> PoolLimits {
    PoolLimits { idle_ms: 60_000, ..PoolLimits::default() }
}

fn usage(db: &Db, lane: &str) -> PoolUsage {
    db.pool_usage().into_iter().find(|pool| pool.lane == lane).expect("a pool")
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.expect("it comes about");
}

fn not_on_sqlite(server: &TestServer) -> bool {
    let is_sqlite = !server.app.db.is_shared();
    if is_sqlite {
        eprintln!("not run on SQLite, whose one writer waits for no lock and has no connections to share");
    }
    is_sqlite
}

/// 64 writes of one application wait for a lock that another program holds. They have four of the twelve connections for writing, the
/// rest wait before the pool, and other applications are served as usual.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_with_64_writers_slows_others_three_times_at_most() {
    let pools = PoolLimits { acquire_ms: 60_000, lock_ms: 60_000, statement_ms: 60_000, ..patient() };
    let server = TestServer::builder().config(|config| config.database_pools = pools).start().await;
    if not_on_sqlite(&server) {
        return;
    }
    let db = &server.app.db;
    let (greedy, other) = (server.key("greedy", |_| ()).await, server.key("other", |_| ()).await);
    let connection = format!("/v1/connections/{}", other.connect_account("bob").await);
    let held = Held::locked(&server, "greedy").await;
    let key = || json!({ "name": "a key", "scopes": ["usage.read"] });
    let mut writes = JoinSet::new();
    for _ in 0..64 {
        writes.spawn(greedy.post("/v1/api-keys", key()).send());
    }
    until(|| {
        let PoolUsage { in_use, waiting, .. } = usage(db, "writes");
        (in_use, waiting) == (4, 60)
    })
    .await;
    for _ in 0..20 {
        other.post("/v1/api-keys", key()).send().await.expect(201);
        other.get(&connection).send().await.expect(200);
        greedy.get("/v1/connections").send().await.expect(200);
    }
    assert!(usage(db, "writes").waiting >= 60, "nothing of it has ended meanwhile");
    assert!(writes.try_join_next().is_none());
    held.end().await;
    while let Some(written) = writes.join_next().await {
        written.expect("no panic").expect(201);
    }
}

/// A statement that waits for a lock is refused after five seconds, which are half a second here. It has changed nothing, and can be
/// repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_waits_five_seconds_is_503() {
    assert_eq!(PoolLimits::default().lock_ms, 5_000);
    let server = TestServer::builder().config(|config| config.database_pools.lock_ms = 500).start().await;
    if not_on_sqlite(&server) {
        return;
    }
    let api = server.key("locked", |_| ()).await;
    let path = format!("/v1/connections/{}", api.connect_account("alice").await);
    let before = api.get(&path).send().await.expect(200);
    let held = Held::locked(&server, "locked").await;
    let refused = api.delete(&path).send().await;
    assert_eq!(refused.header("retry-after"), Some("1"), "{refused}");
    let error = refused.refused(503, "overloaded");
    assert_eq!((&error["type"], &error["retryable"]), (&json!("api_error"), &json!(true)), "{error:#}");
    assert_eq!(api.get(&path).send().await.expect(200), before, "it is still connected");
    held.end().await;
    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
}

/// All connections for writing are taken (on SQLite: the one writer is at work), and reads are answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_do_not_wait_for_writers() {
    let server = TestServer::builder().config(|config| config.database_pools = patient()).start().await;
    let api = server.client().await;
    let id = api.connect_account("alice").await;
    let db = &server.app.db;
    let held = Held::begin(db, &Lane::requests(), usage(db, "writes").most).await;
    assert_eq!(usage(db, "writes").in_use, usage(db, "writes").most);
    for path in [format!("/v1/connections/{id}"), "/v1/connections".to_owned(), "/v1/usage".to_owned()] {
        let read = tokio::time::timeout(LIMIT, api.get(&path).send()).await;
        read.unwrap_or_else(|_| panic!("{path} waits")).expect(200);
    }
    held.end().await;
}

/// Jobs have connections of their own: when they use all of them, requests are answered, and when requests use all of theirs, jobs are run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_do_not_take_the_requests_connections() {
    let server = TestServer::builder().config(|config| config.database_pools = patient()).start().await;
    if not_on_sqlite(&server) {
        return;
    }
    let (app, db) = (&server.app, &server.app.db);
    let api = server.client().await;
    let held = Held::begin(db, &Lane::jobs(), usage(db, "jobs").most).await;
    assert_eq!(usage(db, "jobs").in_use, usage(db, "jobs").most);
    let key = json!({ "name": "a key", "scopes": ["usage.read"] });
    api.post("/v1/api-keys", key).send().await.expect(201);
    api.get("/v1/connections").send().await.expect(200);
    held.end().await;

    enqueue(app, NOTHING, "one", None).await;
    let held = Held::begin(db, &Lane::requests(), usage(db, "writes").most).await;
    let turns = tokio::time::timeout(LIMIT, Lane::jobs().scope(drain(app, &[NOTHING]))).await;
    assert_eq!(turns.expect("jobs do not wait for requests"), 1);
    held.end().await;
}
