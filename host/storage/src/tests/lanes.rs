//! Lanes: the connections that an application with many writes leaves to others, and the refusal of a write that waits too long.

use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use base::error::{Code, Error};
use tokio::sync::{RwLockReadGuard, Semaphore};
use tokio::task::{JoinSet, yield_now};

use crate::Db;
use crate::Options;
use crate::PoolLimits;
use crate::PoolUsage;
use crate::Tx;
use crate::lane::Lane;
use crate::sql::query;
use crate::tests::POSTGRES_RECORDER;
use crate::tests::jobs::own_schema;

/// Writes that one application does at once.
const CONCURRENT_WRITES: usize = 200;

/// A PostgreSQL database with these bounds. None: there is no server.
async fn postgres(pools: PoolLimits) -> Option<(Db, RwLockReadGuard<'static, ()>)> {
    let Ok(url) = std::env::var("POSTGRES_URL") else {
        assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "POSTGRES_URL is not set");
        eprintln!("not run: POSTGRES_URL is not set");
        return None;
    };
    let unrecorded = POSTGRES_RECORDER.read().await;
    let url = own_schema(&url).await;
    Some((Db::open(&Options { pools, ..Options::for_url(url) }).await.unwrap(), unrecorded))
}

/// A write that lasts until `end` has a permit for it; adds a permit to `begun` when it runs.
async fn held(db: Db, lane: Lane, (begun, end): (Arc<Semaphore>, Arc<Semaphore>)) -> Result<()> {
    let write = db.write(move |_| {
        Box::pin(async move {
            begun.add_permits(1);
            end.acquire().await?.forget();
            Ok(())
        })
    });
    lane.scope(write).await
}

fn closed() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// A write of an application that records when it is done.
async fn noted(db: Db, application: &'static str, order: Arc<Mutex<Vec<&'static str>>>) -> Result<()> {
    let write = db.write(move |_| {
        Box::pin(async move {
            order.lock().unwrap().push(application);
            Ok(())
        })
    });
    Lane::requests().for_application(application).scope(write).await
}

async fn quick(db: &Db, lane: Lane) -> Result<()> {
    lane.scope(db.write(|_| Box::pin(ready(Ok(()))))).await
}

fn usage(db: &Db, lane: &str) -> PoolUsage {
    db.pool_usage().into_iter().find(|pool| pool.lane == lane).unwrap()
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap();
}

async fn all(mut writes: JoinSet<Result<()>>) {
    while let Some(done) = writes.join_next().await {
        done.unwrap().unwrap();
    }
}

/// The order in which SQLite's one writer runs queued writes: the write of another application is in the first group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_application_fills_half_a_group_of_writes_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("lanes.db").display());
    let db = Db::open(&Options::for_url(url)).await.unwrap();
    let (begun, end, order) = (closed(), closed(), Arc::default());
    let mut writes = JoinSet::new();
    writes.spawn(held(db.clone(), Lane::requests(), (Arc::clone(&begun), Arc::clone(&end))));
    // Otherwise some of the others might be done before it.
    begun.acquire().await.unwrap().forget();
    for _ in 0..CONCURRENT_WRITES {
        writes.spawn(noted(db.clone(), "greedy", Arc::clone(&order)));
    }
    until(|| db.queued_writes() == 1 + CONCURRENT_WRITES).await;
    writes.spawn(noted(db.clone(), "other", Arc::clone(&order)));
    until(|| db.queued_writes() == 1 + CONCURRENT_WRITES + 1).await;
    end.add_permits(1);
    all(writes).await;
    let order = order.lock().unwrap();
    let before = order.iter().position(|application| *application == "other").unwrap();
    assert_eq!(
        (order.len(), before <= 64),
        (CONCURRENT_WRITES + 1, true),
        "{before} writes were done before it"
    );
}

/// An application has four of PostgreSQL's twelve connections for writing, however many it requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_application_leaves_connections_to_others() {
    let limits = PoolLimits { acquire_ms: 60_000, idle_ms: 60_000, ..PoolLimits::default() };
    let Some((db, _unrecorded)) = postgres(limits).await else { return };
    let end = closed();
    let mut writes = JoinSet::new();
    for _ in 0..64 {
        writes.spawn(held(
            db.clone(),
            Lane::requests().for_application("greedy"),
            (closed(), Arc::clone(&end)),
        ));
    }
    until(|| {
        let PoolUsage { in_use, waiting, .. } = usage(&db, "writes");
        (in_use, waiting) == (4, 60)
    })
    .await;
    for lane in [
        Lane::requests().for_application("other"),
        Lane::requests(),
        Lane::jobs().for_application("greedy"),
        Lane::jobs(),
        Lane::lease(),
    ] {
        quick(&db, lane).await.unwrap();
    }
    let read = query("select count(*) as n from applications");
    let read = read.fetch_one(db.reader(), |row| row.get::<i64>("n"));
    assert_eq!(Lane::requests().for_application("greedy").scope(read).await.unwrap(), 0);
    assert_eq!(usage(&db, "writes").waiting, 60, "all of them still wait");
    end.add_permits(64);
    all(writes).await;
    assert_eq!(usage(&db, "writes").waiting, 0);
}

/// A request that finds no connection in time is refused, and may be retried.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wait_for_a_connection_has_an_end() {
    let limits = PoolLimits { writes: 1, acquire_ms: 1_000, idle_ms: 60_000, ..PoolLimits::default() };
    let Some((db, _unrecorded)) = postgres(limits).await else { return };
    let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let mut writes = JoinSet::new();
    let (writer, has_begun, may_end) = (db.clone(), Arc::clone(&begun), Arc::clone(&end));
    writes.spawn(async move {
        let write = writer.write(move |_| {
            Box::pin(async move {
                has_begun.add_permits(1);
                may_end.acquire().await?.forget();
                Ok(())
            })
        });
        Lane::requests().scope(write).await
    });
    begun.acquire().await.unwrap().forget();
    let Error::Refused(refusal) = Error::from(quick(&db, Lane::requests()).await.unwrap_err()) else {
        panic!("it is refused")
    };
    assert_eq!((refusal.code, refusal.retry_after_s), (Code::Overloaded, Some(1)));
    end.add_permits(1);
    all(writes).await;
    until(|| usage(&db, "writes").in_use == 0).await;
    quick(&db, Lane::requests()).await.unwrap();
}

async fn set(tx: &mut Tx, name: &'static str, value: &'static str) -> Result<()> {
    let sql = "insert into installation (name, value) values ($1, $2) \
               on conflict (name) do update set value = excluded.value";
    query(sql).bind(name).bind(value).execute(tx).await.map(|_| ())
}

/// A write that sets the value `locked` and lasts until `end` has a permit for it.
async fn locking(db: Db, is_locked: Arc<Semaphore>, end: Arc<Semaphore>) -> Result<()> {
    let write = db.write(move |tx| {
        Box::pin(async move {
            set(tx, "locked", "first").await?;
            is_locked.add_permits(1);
            end.acquire().await?.forget();
            Ok(())
        })
    });
    write.await
}

/// A write that waits for a row which another transaction has locked is refused, and rolled back whole: even where it continues
/// after the refusal of its statement.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_waits_for_a_lock_is_undone_whole() {
    let limits = PoolLimits { lock_ms: 200, idle_ms: 60_000, ..PoolLimits::default() };
    let Some((db, _unrecorded)) = postgres(limits).await else { return };
    let (end, is_locked) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let locks = tokio::spawn(locking(db.clone(), Arc::clone(&is_locked), Arc::clone(&end)));
    is_locked.acquire().await.unwrap().forget();
    let ran = Arc::new(AtomicUsize::new(0));
    for goes_on in [false, true] {
        let ran = Arc::clone(&ran);
        let waits: Result<(), Error> = db
            .write(move |tx| {
                Box::pin(async move {
                    ran.fetch_add(1, Ordering::SeqCst);
                    set(tx, "beside", "second").await?;
                    let waited = set(tx, "locked", "second").await;
                    if goes_on { Ok(()) } else { waited.map_err(Error::from) }
                })
            })
            .await;
        assert_eq!(waits.unwrap_err().code(), Some(Code::Overloaded));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 2, "it is not tried again by itself");
    end.add_permits(1);
    locks.await.unwrap().unwrap();
    let sql = "select name, value from installation where name in ('beside', 'locked') order by name";
    let kept = query(sql)
        .fetch_all(db.reader(), |row| Ok((row.get::<String>("name")?, row.get::<String>("value")?)))
        .await;
    assert_eq!(kept.unwrap(), [("locked".to_owned(), "first".to_owned())]);
}

/// A transaction that does nothing, as that of a process that is paused, leaves its locks to others; its work is done again afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_transaction_keeps_no_locks() {
    assert_eq!(PoolLimits::default().idle_ms, 5_000);
    let limits = PoolLimits { idle_ms: 200, lock_ms: 60_000, statement_ms: 60_000, ..PoolLimits::default() };
    let Some((db, _unrecorded)) = postgres(limits).await else { return };
    let (end, is_locked) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let paused = tokio::spawn(locking(db.clone(), Arc::clone(&is_locked), Arc::clone(&end)));
    is_locked.acquire().await.unwrap().forget();
    let other: Result<()> = db.write(|tx| Box::pin(async move { set(tx, "locked", "second").await })).await;
    other.unwrap();
    assert!(!paused.is_finished(), "it is still paused");
    // One permit for the transaction that the server ended, one for its repetition.
    end.add_permits(2);
    paused.await.unwrap().unwrap();
    let sql = "select value from installation where name = 'locked'";
    let kept = query(sql).fetch_one(db.reader(), |row| row.get::<String>("value")).await;
    assert_eq!((kept.unwrap().as_str(), db.write_retries()), ("first", 1));
}
