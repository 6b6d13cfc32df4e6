//! The writer. On SQLite one thread owns the one writing connection and commits waiting writes as a group (`commit_group.rs`):
//! one fsync serves many writes. On PostgreSQL each write is a transaction, on a connection of its lane. On both an
//! application has a share, so that many writes of one do not delay those of others for long.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use base::clock::Entropy;
use base::error::{Code, Refusal};
use compute::named_semaphores::Shares;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::commit_group::{CommitFailure, CommitObservers, Run, Write, connect, serve};
use crate::error::Outage;
use crate::lane::{Lane, LaneKind};
use crate::pools::{CountGuard, Pools};
use crate::postgres;
use crate::sql::Tx;
use crate::sqlite::Readers;
use crate::statement;
use crate::transaction::Transaction;
use crate::wakes::Wakes;

/// Writes that may wait in the queue; further callers wait for room in it.
const QUEUE: usize = 1024;
/// Writes in one commit: bounds the wait of the first for the last.
const GROUP: usize = 128;
/// Writes of one application that wait or are being committed: half a group, so that the writes of the others are in the same one or in
/// the next.
const SHARE: usize = GROUP / 2;

/// How often one write is attempted on PostgreSQL, which aborts a transaction in a deadlock.
const ATTEMPTS: u32 = 5;
/// The shortest and the longest wait before the next attempt, ms: random, so that two writes in a deadlock do not meet again.
const AGAIN_MS: (u64, u64) = (5, 80);
/// Seconds after which a write that failed at every attempt may be requested again.
const TRY_AGAIN_S: u64 = 1;

/// The queue of the one writer.
#[derive(Clone)]
struct Queue {
    sender: mpsc::Sender<Write>,
    requests: Arc<Shares>,
    jobs: Arc<Shares>,
}

#[derive(Clone)]
enum Kind {
    Single(Queue),
    Pooled(Pools),
    /// The database was opened for reading.
    Absent,
}

/// Runs write transactions. Cheap to clone.
#[derive(Clone)]
pub struct Writer {
    kind: Kind,
    wakes: Wakes,
    queued: Arc<AtomicUsize>,
    retries: Arc<AtomicU64>,
}

impl Writer {
    /// SQLite: one connection, on its own thread because a commit waits for the disk. Without `group` every write is
    /// committed alone. `readers` are notified of every commit.
    pub fn single(file: &Path, readers: Readers, wakes: Wakes, group: bool) -> Result<Writer> {
        let connection = connect(file)?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let queued = Arc::new(AtomicUsize::new(0));
        let size = if group { GROUP } else { 1 };
        let (file, runtime) = (file.to_owned(), Handle::current());
        let told = CommitObservers { readers, wakes: wakes.clone() };
        std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || runtime.block_on(serve(file, connection, queue, size, told)))
            .context("cannot start the database writer")?;
        let shares = || Arc::new(Shares::new(SHARE));
        let kind = Kind::Single(Queue { sender, requests: shares(), jobs: shares() });
        Ok(Writer { kind, wakes, queued, retries: Arc::default() })
    }

    /// PostgreSQL: transactions from the pools.
    pub fn pooled(pools: Pools, wakes: Wakes) -> Writer {
        Writer { kind: Kind::Pooled(pools), wakes, queued: Arc::default(), retries: Arc::default() }
    }

    /// A database that was opened for reading: each write fails.
    pub fn absent(wakes: Wakes) -> Writer {
        Writer { kind: Kind::Absent, wakes, queued: Arc::default(), retries: Arc::default() }
    }

    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// See `Db::write_retries`.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// See `Db::write`.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Clone + Send + 'static,
    {
        // Also counted if its caller no longer waits, and the future is dropped.
        let _queued = CountGuard::new(&self.queued);
        match &self.kind {
            Kind::Single(single) => queue(single, work).await,
            Kind::Pooled(pools) => self.transact(pools, work).await,
            Kind::Absent => Err(anyhow!("the database was opened for reading alone").into()),
        }
    }

    /// Runs the work in its own transaction, and again where PostgreSQL aborted it in favour of another.
    async fn transact<T, E, F>(&self, pools: &Pools, work: F) -> Result<T, E>
    where
        E: From<Error>,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Clone,
    {
        for attempt in 1..=ATTEMPTS {
            let transaction = Transaction::new();
            let outcome = try_once(pools, &transaction, work.clone()).await;
            match transaction.outage() {
                Some(outage) => pools.note(&outage),
                None if outcome.is_ok() && transaction.has_changed() => pools.availability().note_write(),
                None => {}
            }
            // The result of work that ignored the refusal must be discarded: nothing of it was committed.
            if !transaction.is_given_up() {
                if outcome.is_ok() {
                    transaction.committed(&self.wakes);
                }
                return outcome;
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            if attempt < ATTEMPTS {
                tokio::time::sleep(random_wait(AGAIN_MS)).await;
            }
        }
        tracing::warn!("the database gave up a write {ATTEMPTS} times in favour of others");
        let message = "the database could not do this beside other changes; try again";
        Err(Error::new(Refusal::new(Code::Overloaded, message).retry_after_s(TRY_AGAIN_S)).into())
    }

    /// Waits until everything queued before was committed.
    pub async fn close(&self) {
        let _: Result<(), Error> = self.write(|_| Box::pin(async { Ok(()) })).await;
    }
}

async fn queue<T, E, F>(single: &Queue, work: F) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Clone + Send + 'static,
{
    // The result of the last run; none: it panicked.
    let result: Arc<Mutex<Option<Result<T, E>>>> = Arc::default();
    let transaction = Transaction::new();
    let (during, kept) = (transaction.clone(), result.clone());
    let run: Run = Box::new(move |tx| {
        let (work, during, kept) = (work.clone(), during.clone(), kept.clone());
        Box::pin(async move {
            // A panic affects its own request, not the shared writer.
            let done = AssertUnwindSafe(during.during(work(tx))).catch_unwind().await.ok();
            // The result of work that ignored an outage must be discarded: SQLite may have undone all before it.
            let is_whole = matches!(done, Some(Ok(_))) && during.outage().is_none();
            let ran = if is_whole { Ok(()) } else { Err(()) };
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = done;
            ran
        })
    });
    let (committed, commit) = oneshot::channel();
    let lane = Lane::current();
    let share = match lane.kind() {
        LaneKind::Jobs => lane.share(&single.jobs).await,
        LaneKind::Requests | LaneKind::Lease => lane.share(&single.requests).await,
    };
    single
        .sender
        .send(Write { run, transaction: transaction.clone(), committed, _share: share })
        .await
        .map_err(|_| anyhow!("the database writer has stopped"))?;
    commit
        .await
        .map_err(|_| anyhow!("the database writer has stopped"))?
        .map_err(CommitFailure::into_error)?;
    let done = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    let done = done.ok_or_else(|| anyhow!("a write panicked"))?;
    match transaction.outage() {
        Some(outage) if done.is_ok() => Err(outage.into_error().into()),
        _ => done,
    }
}

/// One attempt: begins, runs the work, commits.
async fn try_once<T, E, F>(pools: &Pools, transaction: &Transaction, work: F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
{
    // Boxed: a future that waits for a server is large, and every future that writes would be as large.
    let begun = Box::pin(pools.begin()).await;
    let (_share, begun) = begun.map_err(|e| e.context("cannot begin a transaction"))?;
    let mut tx = Tx::Postgres(begun);
    let done = transaction.during(work(&mut tx)).await;
    let Tx::Postgres(tx) = tx else { return done };
    let outage = transaction.outage();
    let is_stopped = transaction.is_stopped() || outage.is_some();
    if is_stopped || transaction.is_given_up() {
        // At once: others need not wait for its locks until the connection is used again.
        let _ = tx.rollback().await;
    } else if done.is_ok() {
        let committed = transaction.during(async { tx.commit().await.map_err(postgres::failed) }).await;
        committed.map_err(|e| e.context("cannot commit"))?;
    }
    match done {
        // The result of work that ignored the refusal must be discarded: nothing of it was committed.
        Ok(_) if is_stopped => Err(outage.map_or_else(statement::not_committed, Outage::into_error).into()),
        done => done,
    }
}

/// A random wait between the two, in milliseconds.
fn random_wait((least, most): (u64, u64)) -> Duration {
    let random = u64::from(u16::from_be_bytes(Entropy::system().bytes()));
    Duration::from_millis(least + random % (most - least + 1))
}
