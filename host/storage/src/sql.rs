//! Readers and transactions, the same for both engines. SQLite runs on the caller's thread: its reads take microseconds, and
//! handing one to another thread costs more than the read; a read that takes longer is moved (`sqlite.rs`). PostgreSQL is waited
//! for.

use anyhow::{Context, Result};

use crate::dialect::Dialect;
use crate::lane;
use crate::pools::Pools;
use crate::postgres;
use crate::sqlite;
use crate::sqlite_files;
use crate::transaction::{self, LockRank};

pub use crate::statement::{Chunk, Column, Columns, Query, Row, Value, query};

/// Bytes after which a read of resources ends, whatever the number of rows: a page shows no more, and a read needs memory for
/// this and one row.
pub const CHUNK_BYTES: usize = 4 << 20;

/// A database for queries that change nothing. Cheap to clone.
#[derive(Clone)]
pub enum Reader {
    Sqlite(sqlite::Readers),
    Postgres(Pools),
}

impl Reader {
    /// The engine that it reads.
    pub fn dialect(&self) -> Dialect {
        match self {
            Reader::Sqlite(_) => Dialect::Sqlite,
            Reader::Postgres(_) => Dialect::Postgres,
        }
    }

    /// See `Readers::holding`; a no-op on PostgreSQL.
    pub fn holding(&self) -> Reader {
        match self {
            Reader::Sqlite(readers) => Reader::Sqlite(readers.holding()),
            Reader::Postgres(pools) => Reader::Postgres(pools.clone()),
        }
    }
}

/// A write transaction.
pub enum Tx {
    Sqlite(rusqlite::Connection),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

impl Tx {
    /// The engine that it runs in.
    pub fn dialect(&self) -> Dialect {
        match self {
            Tx::Sqlite(_) => Dialect::Sqlite,
            Tx::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs the hook after the commit, before the caller of `Db::write` gets its result, and not at all if the write is rolled
    /// back. The hook runs on the writer's thread, which blocks all writes: set a flag, wake a task, and nothing more.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + 'static) {
        transaction::after_commit(hook);
    }

    /// To be called before rows of this rank are locked or changed. Where debug assertions are on, it fails if the transaction holds a
    /// lock of a higher rank, and not this one.
    pub fn takes(&mut self, rank: LockRank) -> Result<()> {
        transaction::takes(rank, "")
    }

    /// The same for rows that have an order among each other.
    pub(crate) fn takes_row(&mut self, rank: LockRank, id: &str) -> Result<()> {
        transaction::takes(rank, id)
    }

    /// For tests that combine calls in one transaction which no real transaction combines: locks may be taken in any order.
    #[cfg(test)]
    pub(crate) fn in_any_order(&mut self) {
        transaction::in_any_order();
    }

    /// Runs statements without parameters.
    pub async fn batch(&mut self, sql: &'static str) -> Result<()> {
        match self {
            Tx::Sqlite(connection) => connection.execute_batch(sql).map_err(sqlite_files::failed),
            Tx::Postgres(tx) => postgres::batch(&mut **tx, sql).await,
        }
    }
}

/// The reader or transaction on which a statement runs.
pub enum On<'a> {
    Reader(&'a Reader),
    Tx(&'a mut Tx),
}

impl On<'_> {
    /// The engine that it runs in.
    pub fn dialect(&self) -> Dialect {
        match self {
            On::Reader(reader) => reader.dialect(),
            On::Tx(tx) => tx.dialect(),
        }
    }

    /// The same reader or transaction for one more statement.
    pub fn again(&mut self) -> On<'_> {
        match self {
            On::Reader(reader) => On::Reader(reader),
            On::Tx(tx) => On::Tx(tx),
        }
    }
}

impl<'a> From<&'a Reader> for On<'a> {
    fn from(reader: &'a Reader) -> Self {
        On::Reader(reader)
    }
}

impl<'a> From<&'a mut Tx> for On<'a> {
    fn from(tx: &'a mut Tx) -> Self {
        On::Tx(tx)
    }
}

/// Whether a write failed because of its data (a constraint, a value that the engine does not take), and so would fail again,
/// rather than because of the database itself or of a reference that this program got wrong. By SQLite's result codes and
/// PostgreSQL's classes 22 (data exception), 23 (integrity constraint) and 54 (program limit).
pub fn is_of_the_data(e: &anyhow::Error) -> bool {
    const FOREIGN_KEY: i32 = rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY;
    use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
    e.chain().any(|cause| {
        let sqlite = cause.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
        let postgres = cause.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
        let class = postgres.and_then(sqlx::error::DatabaseError::code);
        let extended = cause.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
        let is_reference = extended.is_some_and(|e| e.extended_code == FOREIGN_KEY)
            || class.as_ref().is_some_and(|code| code == "23503");
        !is_reference
            && (matches!(sqlite, Some(ConstraintViolation | TooBig | TypeMismatch))
                || class.is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class))))
    })
}

/// Counts a statement for the present work: for the lane that began the write transaction, else for the caller's.
fn count(rows: u64) {
    if !transaction::with_counts(|counts| counts.add(rows)) {
        lane::with_counts(|counts| counts.add(rows));
    }
}

/// Counts the rows that a statement changed.
pub(crate) fn note_changed(rows: u64) {
    count(rows);
    if rows > 0 {
        transaction::changed_rows();
    }
}

impl<'q> Query<'q> {
    /// Every row, each through `read`, which may see the first rows twice.
    pub async fn fetch_all<T>(
        self,
        on: impl Into<On<'_>>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        Ok(self.fetch(on.into(), &mut read).await?.rows)
    }

    /// The rows up to the query's bytes, each through `read`, which may see the first rows twice.
    async fn fetch<T>(self, on: On<'_>, read: &mut impl FnMut(&Row<'_>) -> Result<T>) -> Result<Chunk<T>> {
        let found = match on {
            On::Reader(Reader::Sqlite(readers)) => readers.rows(&self, read).await,
            On::Tx(Tx::Sqlite(connection)) => sqlite::rows(connection, &self, read),
            // Boxed: the future of a server's answer is large, and every future that runs a query would be as large.
            On::Reader(Reader::Postgres(pools)) => postgres::read(&Box::pin(pools.rows(self)).await?, read),
            On::Tx(Tx::Postgres(tx)) => {
                postgres::read(&Box::pin(postgres::rows(&mut **tx, self)).await?, read)
            }
        };
        count(found.as_ref().map_or(0, |chunk| chunk.rows.len()) as u64);
        found
    }

    /// The rows of a statement with this limit, as many as have `CHUNK_BYTES` together, and at least one; each through `read`,
    /// which may see the first rows twice.
    pub async fn fetch_chunk<T>(
        mut self,
        on: impl Into<On<'_>>,
        limit: i64,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Chunk<T>> {
        self.max_bytes = CHUNK_BYTES;
        let found = self.fetch(on.into(), &mut read).await?;
        // The statement's own limit is reached: it returns no more rows, even if there are some.
        let is_last = found.is_last && (found.rows.len() as i64) < limit;
        Ok(Chunk { is_last, ..found })
    }

    /// The rows, as many as fit in the bytes; each through `read`, which may see the first rows twice.
    pub async fn fetch_within<T>(
        mut self,
        on: impl Into<On<'_>>,
        bytes: usize,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Chunk<T>> {
        self.max_bytes = bytes;
        self.fetch(on.into(), &mut read).await
    }

    /// The first row, if there is one.
    pub async fn fetch_optional<T>(
        self,
        on: impl Into<On<'_>>,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.fetch_all(on, read).await?.into_iter().next())
    }

    /// The one row that there must be.
    pub async fn fetch_one<T>(
        self,
        on: impl Into<On<'_>>,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let sql = self.sql;
        let found = self.fetch_optional(on, read).await?;
        found.with_context(|| format!("no row came back from {sql}"))
    }

    /// Runs it. Returns how many rows it changed.
    pub async fn execute(self, tx: &mut Tx) -> Result<u64> {
        let changed = match tx {
            Tx::Sqlite(connection) => sqlite::execute(connection, &self),
            Tx::Postgres(tx) => Box::pin(postgres::execute(&mut **tx, self)).await,
        };
        note_changed(*changed.as_ref().unwrap_or(&0));
        changed
    }
}
