//! Group commit on SQLite: waiting writes run in one transaction and are committed once, and each caller gets its result. One
//! failed write undoes no other: its group is rolled back and run again with each write in its own savepoint.

use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow};
use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::availability::Availability;
use crate::error::Outage;
use crate::sql::{Tx, query};
use crate::sqlite::Readers;
use crate::sqlite_files;
use crate::transaction::Transaction;
use crate::wakes::Wakes;

/// Groups that run their writes in savepoints, counting from the second run of a group in which a write failed: a client whose
/// writes fail makes at most one group in so many run twice. The other groups have no savepoints, because SQLite copies each page
/// that is first changed in one.
const CAREFUL_GROUPS: u32 = 16;

/// Takes the write lock at once: a later upgrade can fail without waiting.
const BEGIN: &str = "begin immediate";

pub(crate) type RunResult = Result<(), ()>;
/// The work of a write, which can be run again after it was rolled back.
pub(crate) type Run = Box<dyn for<'t> FnMut(&'t mut Tx) -> BoxFuture<'t, RunResult> + Send>;

/// The channel that tells a caller whether its write was committed.
pub(crate) type CommitReply = oneshot::Sender<Result<(), CommitFailure>>;
/// The permit of the application's share, kept until the commit.
pub(crate) type SharePermit = Option<OwnedSemaphorePermit>;

/// Why a group of writes was not committed.
#[derive(Clone)]
pub(crate) struct CommitFailure {
    cause: String,
    outage: Option<Outage>,
}

impl CommitFailure {
    fn new(e: &Error) -> CommitFailure {
        CommitFailure { cause: format!("{e:#}"), outage: Outage::from_error(e).cloned() }
    }

    /// The same as the error of each of the writes.
    pub(crate) fn into_error(self) -> Error {
        match self.outage {
            Some(outage) => outage.into_error(),
            None => anyhow!("the write was not committed: {}", self.cause),
        }
    }
}

/// The handles that each commit on SQLite is reported to.
pub(crate) struct CommitObservers {
    pub(crate) readers: Readers,
    pub(crate) wakes: Wakes,
}

/// One write: the work, and the channel for the result of its commit.
pub(crate) struct Write {
    pub(crate) run: Run,
    pub(crate) transaction: Transaction,
    pub(crate) committed: CommitReply,
    /// Kept until the commit.
    pub(crate) _share: SharePermit,
}

/// Opens the connection that writes.
pub(crate) fn connect(file: &Path) -> Result<Tx> {
    Ok(Tx::Sqlite(sqlite_files::open(file).context("cannot open the database for writing")?))
}

/// The writer's thread: takes the waiting writes, runs them, commits once and reports the result to each caller.
pub(crate) async fn serve(
    file: PathBuf,
    mut connection: Tx,
    mut queue: mpsc::Receiver<Write>,
    size: usize,
    told: CommitObservers,
) {
    let mut group = Vec::with_capacity(size);
    let mut careful = 0;
    while queue.recv_many(&mut group, size).await > 0 {
        let waiting: Vec<Write> = std::mem::take(&mut group);
        if commit_group(&mut connection, waiting, &mut careful, &told).await.is_err() {
            // The connection's state is unknown: a fresh one has no half-done transaction.
            tracing::error!("the database writer lost its connection's state and reconnects");
            match connect(&file) {
                Ok(fresh) => connection = fresh,
                Err(e) => tracing::error!(error = %format!("{e:#}"), "the database writer cannot reconnect"),
            }
        }
    }
}

/// Runs and commits a group. Err: the connection can no longer be trusted. Each write has got its result either way. `careful`:
/// the number of groups that still run in savepoints.
async fn commit_group(
    connection: &mut Tx,
    mut writes: Vec<Write>,
    careful: &mut u32,
    told: &CommitObservers,
) -> Result<(), ()> {
    let ran = run_group(connection, &mut writes, careful).await;
    told.readers.commit_begins();
    let outcome = match ran {
        Ok(()) => run(connection, "commit").await,
        Err(e) => Err(e),
    };
    // Before any caller is notified: a caller that knows of its write must find it. Also counted when the commit failed, because
    // it may have taken effect late.
    told.readers.commit_ended();
    let outcome = outcome.map_err(|e| CommitFailure::new(&e));
    let mut trusted = Ok(());
    if outcome.is_err() {
        trusted = roll_back(connection).await.map_err(|_| ());
    }
    record_availability(told.readers.availability(), &writes, &outcome);
    for write in writes {
        if outcome.is_ok() {
            write.transaction.committed(&told.wakes);
        }
        let _ = write.committed.send(outcome.clone());
    }
    trusted
}

/// Records an outage during the writes of a group, or that rows were changed without one.
fn record_availability(availability: &Availability, writes: &[Write], outcome: &Result<(), CommitFailure>) {
    let of_writes = writes.iter().find_map(|write| write.transaction.outage());
    let of_commit = outcome.as_ref().err().and_then(|failure| failure.outage.clone());
    match of_writes.or(of_commit) {
        Some(outage) => availability.note(&outage),
        None if outcome.is_ok() && writes.iter().any(|write| write.transaction.has_changed()) => {
            availability.note_write();
        }
        None => {}
    }
}

/// Begins a transaction and runs the writes in it. A failed write leaves no trace; the others of its group continue.
async fn run_group(connection: &mut Tx, writes: &mut [Write], careful: &mut u32) -> Result<()> {
    run(connection, BEGIN).await?;
    let alone = writes.len() == 1;
    if alone || *careful == 0 {
        if all_succeed(connection, writes).await {
            return Ok(());
        }
        for write in writes.iter() {
            write.transaction.rolled_back();
        }
        roll_back(connection).await?;
        run(connection, BEGIN).await?;
        if alone {
            // An empty transaction is harmless.
            return Ok(());
        }
        *careful = CAREFUL_GROUPS;
    }
    *careful = careful.saturating_sub(1);
    for write in writes {
        run_one(connection, write).await?;
    }
    Ok(())
}

/// Runs writes until one fails. False: one failed, and everything is to be rolled back.
async fn all_succeed(connection: &mut Tx, writes: &mut [Write]) -> bool {
    for write in writes {
        if (write.run)(connection).await.is_err() || has_ended(connection) {
            return false;
        }
    }
    true
}

/// Runs a write inside of a savepoint.
async fn run_one(connection: &mut Tx, write: &mut Write) -> Result<()> {
    run(connection, "savepoint one").await?;
    if (write.run)(connection).await.is_err() {
        write.transaction.rolled_back();
        if has_ended(connection) {
            // The writes before this one are undone with it.
            let outage = write.transaction.outage();
            return Err(outage.map_or_else(|| anyhow!("SQLite ended the transaction"), Outage::into_error));
        }
        run(connection, "rollback to one").await?;
    }
    run(connection, "release one").await
}

/// Ends the transaction, unless SQLite has done so by itself, as when the disk is full.
async fn roll_back(connection: &mut Tx) -> Result<()> {
    if has_ended(connection) {
        return Ok(());
    }
    run(connection, "rollback").await
}

/// Whether no transaction is open.
fn has_ended(connection: &Tx) -> bool {
    matches!(connection, Tx::Sqlite(connection) if connection.is_autocommit())
}

async fn run(connection: &mut Tx, sql: &'static str) -> Result<()> {
    query(sql).execute(connection).await.map(|_| ())
}
