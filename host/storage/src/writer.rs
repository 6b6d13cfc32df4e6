//! The writer. On SQLite one thread owns the one writing connection and commits what waits as a group: one fsync serves many
//! writes, each inside its own savepoint so that one that fails takes nothing with it. On PostgreSQL a write is a
//! transaction of its own.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Error, Result, anyhow};
use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::PgPool;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::sql::{Tx, query};
use crate::sqlite::{self, Readers};

/// Writes that may wait; more wait for a place in the queue.
const QUEUE: usize = 1024;
/// Writes in one commit: bounds how long the first waits for the last.
const GROUP: usize = 128;

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
}

impl Writer {
    /// SQLite: one connection, on a thread of its own because a commit waits for the disk. Without `group` every write is
    /// committed alone. `readers` are told of every commit.
    pub fn single(file: &Path, readers: Readers, group: bool) -> Result<Writer> {
        let connection = connect(file)?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let queued = Arc::new(AtomicUsize::new(0));
        let size = if group { GROUP } else { 1 };
        let (file, runtime) = (file.to_owned(), Handle::current());
        std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || runtime.block_on(serve(file, connection, queue, size, &readers)))
            .context("cannot start the database writer")?;
        Ok(Writer { kind: Kind::Single(sender), queued })
    }

    /// PostgreSQL: transactions from the pool.
    pub fn pooled(pool: PgPool) -> Writer {
        Writer { kind: Kind::Pooled(pool), queued: Arc::default() }
    }

    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
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

/// The writer's thread: take what waits, run it, commit once, tell everybody.
async fn serve(
    file: PathBuf,
    mut connection: Tx,
    mut queue: mpsc::Receiver<Write>,
    size: usize,
    readers: &Readers,
) {
    let mut group = Vec::with_capacity(size);
    while queue.recv_many(&mut group, size).await > 0 {
        let waiting: Vec<Write> = std::mem::take(&mut group);
        if commit_group(&mut connection, waiting, readers).await.is_err() {
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
