//! A statement and its rows, the same for both engines. SQLite runs on the caller's thread: its reads take microseconds, and
//! handing one to another thread costs more than the read. PostgreSQL is waited for.

use std::borrow::Cow;

use anyhow::{Context, Result};
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row as _};

use crate::storage::dialect::Dialect;
use crate::storage::{postgres, sqlite};

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
}

/// A statement: `$1` stands for the first parameter.
pub fn query<'q>(sql: &'static str) -> Query<'q> {
    Query { sql, values: Vec::with_capacity(8) }
}

impl<'q> Query<'q> {
    /// The next parameter.
    pub fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Every row, each through `read`.
    pub async fn fetch_all<T>(
        self,
        on: impl Into<On<'_>>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match on.into() {
            On::Reader(Reader::Sqlite(readers)) => readers.with(|c| sqlite::rows(c, &self, &mut read)),
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
