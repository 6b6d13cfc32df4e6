//! The writer. On SQLite one task owns the one writing connection and commits what waits as a group: one fsync serves many
//! writes, each inside its own savepoint so that one that fails takes nothing with it. On PostgreSQL a write is a
//! transaction of its own.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Error, Result, anyhow};
use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyPool, ConnectOptions, Connection, Executor};
use tokio::sync::{mpsc, oneshot};

use crate::storage::Tx;
use crate::storage::dialect::Dialect;

/// Writes that may wait; more wait for a place in the queue.
const QUEUE: usize = 1024;
/// Writes in one commit: bounds how long the first waits for the last.
const GROUP: usize = 128;

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
    Pooled(AnyPool),
}

/// Runs write transactions. Cheap to clone.
#[derive(Clone)]
pub struct Writer {
    kind: Kind,
    queued: Arc<AtomicUsize>,
}

impl Writer {
    /// SQLite: one connection, one task. Without `group` every write is committed alone.
    pub async fn single(url: &str, group: bool) -> Result<Writer> {
        let connection = connect(url).await?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let queued = Arc::new(AtomicUsize::new(0));
        let size = if group { GROUP } else { 1 };
        tokio::spawn(serve(url.to_owned(), connection, queue, size));
        Ok(Writer { kind: Kind::Single(sender), queued })
    }

    /// PostgreSQL: transactions from the pool.
    pub fn pooled(pool: AnyPool) -> Writer {
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

async fn connect(url: &str) -> Result<Tx> {
    let options: AnyConnectOptions = url.parse()?;
    let mut connection = options.connect().await.context("cannot open the database for writing")?;
    Dialect::Sqlite.prepare(&mut connection).await?;
    Ok(connection)
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

async fn transact<T, E, F>(pool: &AnyPool, work: F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
{
    let mut tx = pool.begin().await.map_err(|e| Error::new(e).context("cannot begin a transaction"))?;
    let done = work(&mut tx).await;
    if done.is_ok() {
        tx.commit().await.map_err(|e| Error::new(e).context("cannot commit"))?;
    }
    done
}

/// The writer's task: take what waits, run it, commit once, tell everybody.
async fn serve(url: String, mut connection: Tx, mut queue: mpsc::Receiver<Write>, size: usize) {
    let mut group = Vec::with_capacity(size);
    while queue.recv_many(&mut group, size).await > 0 {
        let waiting: Vec<Write> = std::mem::take(&mut group);
        if commit_group(&mut connection, waiting).await.is_err() {
            // The connection's state is unknown: a fresh one has no half-done transaction.
            tracing::error!("the database writer lost its connection's state and reconnects");
            match connect(&url).await {
                Ok(fresh) => connection = fresh,
                Err(e) => tracing::error!(error = %format!("{e:#}"), "the database writer cannot reconnect"),
            }
        }
    }
    let _ = connection.close().await;
}

/// Err: the connection cannot be trusted any more. Each write has been told its outcome either way.
async fn commit_group(connection: &mut Tx, writes: Vec<Write>) -> Result<(), ()> {
    let mut ran: Vec<oneshot::Sender<Result<(), String>>> = Vec::with_capacity(writes.len());
    let mut broken = connection.execute("begin immediate").await.map(|_| ()).map_err(|e| e.to_string());
    let alone = writes.len() == 1;
    for write in writes {
        if broken.is_ok() {
            broken = run_one(connection, write.run, alone).await.map_err(|e| e.to_string());
        }
        ran.push(write.committed);
    }
    let outcome = match broken {
        Ok(()) => connection.execute("commit").await.map(|_| ()).map_err(|e| e.to_string()),
        Err(cause) => Err(cause),
    };
    let mut trusted = Ok(());
    if outcome.is_err() {
        trusted = connection.execute("rollback").await.map(|_| ()).map_err(|_| ());
    }
    for committed in ran {
        let _ = committed.send(outcome.clone());
    }
    trusted
}

/// A write that fails leaves no trace; the others of its group go on. A lone one needs no savepoint: an empty transaction
/// is as good as none.
async fn run_one(connection: &mut Tx, run: Run, alone: bool) -> Result<(), sqlx::Error> {
    if !alone {
        connection.execute("savepoint one").await?;
    }
    let ran = run(connection).await;
    match (ran, alone) {
        (Ok(()), true) => {}
        (Ok(()), false) => {
            connection.execute("release one").await?;
        }
        (Err(()), true) => {
            connection.execute("rollback").await?;
            connection.execute("begin immediate").await?;
        }
        (Err(()), false) => {
            connection.execute("rollback to one").await?;
            connection.execute("release one").await?;
        }
    }
    Ok(())
}
