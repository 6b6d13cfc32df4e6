//! The writer. On SQLite one thread owns the one writing connection and commits what waits as a group: one fsync serves many
//! writes, each inside its own savepoint so that one that fails takes nothing with it. On PostgreSQL a write is a
//! transaction of its own.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::PgPool;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::storage::sql::{Tx, query};
use crate::storage::sqlite::{self, Readers};

/// Writes that may wait; more wait for a place in the queue.
const QUEUE: usize = 1024;
/// Writes in one commit: bounds how long the first waits for the last.
const GROUP: usize = 128;
/// How long a commit waits for company, and with how many clients at work it does: their writes are on their way, and one
/// commit for several costs the processor and the disk little more than one commit. (PostgreSQL's `commit_delay` and
/// `commit_siblings`.) Whoever writes alone, one request after the other, never waits.
const DELAY: Duration = Duration::from_millis(4);
const SIBLINGS: usize = 5;

/// Takes the write lock at once: a later upgrade can fail without waiting.
const BEGIN: &str = "begin immediate";

type Ran = Result<(), ()>;
type Run = Box<dyn for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Ran> + Send>;

/// One write: the work, and who wants to know that it was committed.
struct Write {
    run: Run,
    committed: oneshot::Sender<Result<(), String>>,
}

#[derive(Clone)]
enum Kind {
    Single(mpsc::Sender<Write>),
    Pooled(PgPool),
}

/// Runs write transactions. Cheap to clone.
#[derive(Clone)]
pub struct Writer {
    kind: Kind,
    queued: Arc<AtomicUsize>,
    at_work: Arc<AtomicUsize>,
}

/// Somebody whose work ends in a write; until this is dropped.
pub struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Writer {
    /// SQLite: one connection, on a thread of its own because a commit waits for the disk. Without `group` every write is
    /// committed alone. `readers` are told of every commit.
    pub fn single(file: &Path, readers: Readers, group: bool) -> Result<Writer> {
        let connection = connect(file)?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let at_work = Arc::new(AtomicUsize::new(0));
        let groups = Groups { queue, size: if group { GROUP } else { 1 }, at_work: at_work.clone() };
        let (file, runtime) = (file.to_owned(), Handle::current());
        std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || runtime.block_on(serve(file, connection, groups, &readers)))
            .context("cannot start the database writer")?;
        Ok(Writer { kind: Kind::Single(sender), queued: Arc::default(), at_work })
    }

    /// PostgreSQL: transactions from the pool.
    pub fn pooled(pool: PgPool) -> Writer {
        Writer { kind: Kind::Pooled(pool), queued: Arc::default(), at_work: Arc::default() }
    }

    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// See `Db::at_work`.
    pub fn at_work(&self) -> AtWork {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(self.at_work.clone())
    }

    /// See `Db::write`.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.queued.fetch_add(1, Ordering::Relaxed);
        let outcome = match &self.kind {
            Kind::Single(sender) => queue(sender, work).await,
            Kind::Pooled(pool) => transact(pool, work).await,
        };
        self.queued.fetch_sub(1, Ordering::Relaxed);
        outcome
    }

    /// Waits until everything queued before was committed.
    pub async fn close(&self) {
        let _: Result<(), Error> = self.write(|_| Box::pin(async { Ok(()) })).await;
    }
}

fn connect(file: &Path) -> Result<Tx> {
    Ok(Tx::Sqlite(sqlite::open(file).context("cannot open the database for writing")?))
}

async fn queue<T, E, F>(sender: &mpsc::Sender<Write>, work: F) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
{
    let (result, outcome) = oneshot::channel();
    let run: Run = Box::new(move |tx| {
        Box::pin(async move {
            // A panic must cost its own request, not the writer that everybody shares.
            let done = AssertUnwindSafe(work(tx)).catch_unwind().await.map_err(|_| ())?;
            let ran = if done.is_ok() { Ok(()) } else { Err(()) };
            // Nobody listens when the request was dropped; the write stands all the same.
            let _ = result.send(done);
            ran
        })
    });
    let (committed, commit) = oneshot::channel();
    sender.send(Write { run, committed }).await.map_err(|_| anyhow!("the database writer has stopped"))?;
    commit
        .await
        .map_err(|_| anyhow!("the database writer has stopped"))?
        .map_err(|cause| anyhow!("the write was not committed: {cause}"))?;
    outcome.await.map_err(|_| anyhow!("a write panicked"))?
}

async fn transact<T, E, F>(pool: &PgPool, work: F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
{
    let begun = pool.begin().await.map_err(|e| Error::new(e).context("cannot begin a transaction"))?;
    let mut tx = Tx::Postgres(begun);
    let done = work(&mut tx).await;
    if let (Ok(_), Tx::Postgres(tx)) = (&done, tx) {
        tx.commit().await.map_err(|e| Error::new(e).context("cannot commit"))?;
    }
    done
}

/// What waits, in groups.
struct Groups {
    queue: mpsc::Receiver<Write>,
    size: usize,
    at_work: Arc<AtomicUsize>,
}

impl Groups {
    /// The next group; empty when the database is closed.
    async fn next(&mut self) -> Vec<Write> {
        let mut group = Vec::new();
        self.queue.recv_many(&mut group, self.size).await;
        let until = Instant::now() + DELAY;
        while !group.is_empty() && group.len() < self.worth_waiting_for() {
            let room = self.size - group.len();
            match timeout_at(until, self.queue.recv_many(&mut group, room)).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => break,
            }
        }
        group
    }

    /// The size of a group that need not wait: half of those at work. The others wait for their providers.
    fn worth_waiting_for(&self) -> usize {
        match self.at_work.load(Ordering::Relaxed) {
            few if few < SIBLINGS => 1,
            many => (many / 2).min(self.size),
        }
    }
}

/// The writer's thread: take what waits, run it, commit once, tell everybody.
async fn serve(file: PathBuf, mut connection: Tx, mut groups: Groups, readers: &Readers) {
    loop {
        let group = groups.next().await;
        if group.is_empty() {
            return;
        }
        if commit_group(&mut connection, group, readers).await.is_err() {
            // The connection's state is unknown: a fresh one has no half-done transaction.
            tracing::error!("the database writer lost its connection's state and reconnects");
            match connect(&file) {
                Ok(fresh) => connection = fresh,
                Err(e) => tracing::error!(error = %format!("{e:#}"), "the database writer cannot reconnect"),
            }
        }
    }
}

/// Err: the connection cannot be trusted any more. Each write has been told its outcome either way.
async fn commit_group(connection: &mut Tx, writes: Vec<Write>, readers: &Readers) -> Result<(), ()> {
    let mut ran: Vec<oneshot::Sender<Result<(), String>>> = Vec::with_capacity(writes.len());
    let mut broken = run(connection, BEGIN).await.map_err(|e| e.to_string());
    let alone = writes.len() == 1;
    for write in writes {
        if broken.is_ok() {
            broken = run_one(connection, write.run, alone).await.map_err(|e| e.to_string());
        }
        ran.push(write.committed);
    }
    readers.commit_begins();
    let outcome = match broken {
        Ok(()) => run(connection, "commit").await.map_err(|e| e.to_string()),
        Err(cause) => Err(cause),
    };
    // Before anybody is told: who knows of a write must find it. Counted too when the commit failed, which may have been late.
    readers.commit_ended();
    let mut trusted = Ok(());
    if outcome.is_err() {
        trusted = run(connection, "rollback").await.map_err(|_| ());
    }
    for committed in ran {
        let _ = committed.send(outcome.clone());
    }
    trusted
}

/// A write that fails leaves no trace; the others of its group go on. A lone one needs no savepoint: an empty transaction
/// is as good as none.
async fn run_one(connection: &mut Tx, work: Run, alone: bool) -> Result<()> {
    if !alone {
        run(connection, "savepoint one").await?;
    }
    let ran = work(connection).await;
    match (ran, alone) {
        (Ok(()), true) => {}
        (Ok(()), false) => {
            run(connection, "release one").await?;
        }
        (Err(()), true) => {
            run(connection, "rollback").await?;
            run(connection, BEGIN).await?;
        }
        (Err(()), false) => {
            run(connection, "rollback to one").await?;
            run(connection, "release one").await?;
        }
    }
    Ok(())
}

async fn run(connection: &mut Tx, sql: &'static str) -> Result<()> {
    query(sql).execute(connection).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    fn write() -> Write {
        Write { run: Box::new(|_| Box::pin(async { Ok(()) })), committed: oneshot::channel().0 }
    }

    fn groups(at_work: usize) -> (mpsc::Sender<Write>, Groups) {
        let (sender, queue) = mpsc::channel(QUEUE);
        (sender, Groups { queue, size: GROUP, at_work: Arc::new(AtomicUsize::new(at_work)) })
    }

    #[tokio::test]
    async fn who_writes_alone_does_not_wait() {
        let (sender, mut groups) = groups(SIBLINGS - 1);
        assert!(sender.try_send(write()).is_ok());
        assert_eq!(groups.next().now_or_never().map(|group| group.len()), Some(1));
    }

    #[tokio::test]
    async fn a_commit_waits_for_company_that_is_on_its_way() {
        let (sender, mut groups) = groups(2 * 3);
        let mut next = pin!(groups.next());
        for _ in 0..2 {
            assert!(sender.try_send(write()).is_ok());
            assert!(next.as_mut().now_or_never().is_none());
        }
        assert!(sender.try_send(write()).is_ok());
        assert_eq!(next.now_or_never().map(|group| group.len()), Some(3));
    }

    #[tokio::test]
    async fn a_commit_does_not_wait_for_ever() {
        let (sender, mut groups) = groups(1_000);
        assert!(sender.try_send(write()).is_ok());
        assert_eq!(groups.next().await.len(), 1);
    }
}
