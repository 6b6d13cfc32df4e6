//! A statement and its rows, the same for both engines. SQLite runs on the caller's thread: its reads take microseconds, and
//! handing one to another thread costs more than the read; one that takes longer is moved (`sqlite.rs`). PostgreSQL is waited for.

use std::borrow::Cow;

use anyhow::{Context, Result};
use base::error::{Code, Refusal};
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row as _, ValueRef as _};

use crate::dialect::Dialect;
use crate::postgres;
use crate::sqlite;

/// Where queries that change nothing run. Cheap to clone.
#[derive(Clone)]
pub enum Reader {
    Sqlite(sqlite::Readers),
    Postgres(PgPool),
}

impl Reader {
    /// The engine that it reads.
    pub fn dialect(&self) -> Dialect {
        match self {
            Reader::Sqlite(_) => Dialect::Sqlite,
            Reader::Postgres(_) => Dialect::Postgres,
        }
    }

    /// See `Readers::holding`; PostgreSQL has nothing to hold.
    pub fn holding(&self) -> Reader {
        match self {
            Reader::Sqlite(readers) => Reader::Sqlite(readers.holding()),
            Reader::Postgres(pool) => Reader::Postgres(pool.clone()),
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

    /// Runs statements without parameters.
    pub async fn batch(&mut self, sql: &'static str) -> Result<()> {
        match self {
            Tx::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Tx::Postgres(tx) => postgres::batch(&mut **tx, sql).await,
        }
    }
}

/// What a statement runs on.
pub enum On<'a> {
    Reader(&'a Reader),
    Tx(&'a mut Tx),
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

/// A parameter: text or `bigint`, and null of either.
#[derive(Clone, Debug)]
pub enum Value<'q> {
    Text(Option<Cow<'q, str>>),
    Integer(Option<i64>),
}

impl<'q> From<&'q str> for Value<'q> {
    fn from(text: &'q str) -> Self {
        Value::Text(Some(text.into()))
    }
}

impl<'q> From<&'q String> for Value<'q> {
    fn from(text: &'q String) -> Self {
        Value::Text(Some(text.into()))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Some(text.into()))
    }
}

impl<'q> From<Option<&'q str>> for Value<'q> {
    fn from(text: Option<&'q str>) -> Self {
        Value::Text(text.map(Into::into))
    }
}

impl<'q> From<&'q Option<String>> for Value<'q> {
    fn from(text: &'q Option<String>) -> Self {
        Value::Text(text.as_deref().map(Into::into))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Value::Integer(number)
    }
}

/// What a column can be read as.
pub trait Column:
    rusqlite::types::FromSql + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>
{
}

impl Column for String {}
impl Column for Option<String> {}
impl Column for i64 {}
impl Column for Option<i64> {}

/// One row of an answer, while it is being read.
pub enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r PgRow),
}

impl<'r> Row<'r> {
    /// A column by its name.
    pub fn get<T: Column>(&self, name: &'static str) -> Result<T> {
        match self {
            Row::Sqlite(row) => row.get(name).with_context(|| format!("column {name}")),
            Row::Postgres(row) => row.try_get(name).with_context(|| format!("column {name}")),
        }
    }

    /// The columns one after the other, for rows that are read by the hundred.
    pub fn columns(&self) -> Columns<'_, 'r> {
        Columns { row: self, next: 0 }
    }
}

/// Reads a row from left to right.
pub struct Columns<'a, 'r> {
    row: &'a Row<'r>,
    next: usize,
}

impl<'a> Columns<'a, '_> {
    /// The next column, a text that stays where it lies; none for null.
    pub fn text(&mut self) -> Result<Option<&'a str>> {
        let at = self.next;
        self.next += 1;
        match self.row {
            Row::Sqlite(row) => Ok(row.get_ref(at)?.as_str_or_null()?),
            Row::Postgres(row) => row.try_get(at).with_context(|| format!("column number {at}")),
        }
    }

    /// Whether the next column, which stays the next, is null.
    pub fn is_null(&self) -> Result<bool> {
        match self.row {
            Row::Sqlite(row) => Ok(matches!(row.get_ref(self.next)?, rusqlite::types::ValueRef::Null)),
            Row::Postgres(row) => {
                let raw = row.try_get_raw(self.next);
                Ok(raw.with_context(|| format!("column number {}", self.next))?.is_null())
            }
        }
    }

    /// The next column.
    #[expect(clippy::should_implement_trait, reason = "each column has a type of its own")]
    pub fn next<T: Column>(&mut self) -> Result<T> {
        let at = self.next;
        self.next += 1;
        match self.row {
            Row::Sqlite(row) => row.get(at).with_context(|| format!("column number {at}")),
            Row::Postgres(row) => row.try_get(at).with_context(|| format!("column number {at}")),
        }
    }
}

/// A statement with its parameters.
pub struct Query<'q> {
    pub(super) sql: &'static str,
    pub(super) values: Vec<Value<'q>>,
    /// Whether it may take as long as it takes.
    pub(super) is_endless: bool,
}

/// A statement: `$1` stands for the first parameter.
pub fn query<'q>(sql: &'static str) -> Query<'q> {
    Query { sql, values: Vec::with_capacity(8), is_endless: false }
}

/// Seconds after which a read that took too long is worth another try.
const TRY_AGAIN_S: u64 = 1;

/// A read that took too long, as the error of whoever asked for it: one that is worth another try.
pub(super) fn too_long(e: anyhow::Error) -> anyhow::Error {
    tracing::warn!(error = %format!("{e:#}"), "a read took too long and was stopped");
    let message = "the database could not answer this in time; try again, or ask for less at a time";
    anyhow::Error::new(Refusal::new(Code::Overloaded, message).retry_after_s(TRY_AGAIN_S))
}

/// Whether a write failed for what was to be written (a constraint, a value that the engine does not take), and so would fail again, and
/// not for the database itself or for a reference that this program got wrong. By SQLite's result codes and PostgreSQL's classes 22 (data exception), 23 (integrity constraint) and 54
/// (program limit).
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

impl<'q> Query<'q> {
    /// The next parameter.
    pub fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Lets a read take as long as it takes: for commands of the operator.
    pub fn endless(mut self) -> Self {
        self.is_endless = true;
        self
    }

    /// Every row, each through `read`, which may see the first rows twice.
    pub async fn fetch_all<T>(
        self,
        on: impl Into<On<'_>>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match on.into() {
            On::Reader(Reader::Sqlite(readers)) => readers.rows(&self, &mut read).await,
            On::Tx(Tx::Sqlite(connection)) => sqlite::rows(connection, &self, &mut read),
            // Boxed: what waits for a server is large, and every future that asks a question would be as large.
            On::Reader(Reader::Postgres(pool)) => {
                postgres::read(&Box::pin(postgres::rows(pool, self)).await?, &mut read)
            }
            On::Tx(Tx::Postgres(tx)) => {
                postgres::read(&Box::pin(postgres::rows(&mut **tx, self)).await?, &mut read)
            }
        }
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

    /// Runs it; how many rows it changed.
    pub async fn execute(self, tx: &mut Tx) -> Result<u64> {
        match tx {
            Tx::Sqlite(connection) => sqlite::execute(connection, &self),
            Tx::Postgres(tx) => Box::pin(postgres::execute(&mut **tx, self)).await,
        }
    }
}
