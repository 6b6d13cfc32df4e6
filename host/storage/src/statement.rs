//! A statement with its parameters, and a row of its answer; statements run in `sql.rs`.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use anyhow::{Context, Result};
use base::error::{Code, Refusal};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use sqlx::postgres::PgRow;
use sqlx::{Row as _, ValueRef as _};

/// A parameter: text or `bigint`, and null of either. On PostgreSQL also an array of one of them.
#[derive(Clone, Debug)]
pub enum Value<'q> {
    Text(Option<Cow<'q, str>>),
    Integer(Option<i64>),
    Texts(Vec<Option<Cow<'q, str>>>),
    Integers(Vec<Option<i64>>),
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

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Value::Integer(Some(number)) => ValueRef::Integer(*number),
            Value::Text(None) | Value::Integer(None) => ValueRef::Null,
            Value::Texts(_) | Value::Integers(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no arrays".into()));
            }
        }))
    }
}

/// A type that a column can be read as.
pub trait Column:
    rusqlite::types::FromSql + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>
{
    /// The bytes of a text; a number and a null have none.
    fn text_bytes(&self) -> usize;
}

impl Column for String {
    fn text_bytes(&self) -> usize {
        self.len()
    }
}

impl Column for Option<String> {
    fn text_bytes(&self) -> usize {
        self.as_ref().map_or(0, String::len)
    }
}

impl Column for i64 {
    fn text_bytes(&self) -> usize {
        0
    }
}

impl Column for Option<i64> {
    fn text_bytes(&self) -> usize {
        0
    }
}

/// The positions of an answer's columns that were read by name. SQLite compares a name with that of each column; code that reads
/// a row uses the same names in the same order as for the row before, and finds them here. Also counts the bytes of the columns
/// that were read by number: `Row::bytes` asks SQLite for the rest only.
#[derive(Default)]
pub struct Places {
    /// Number of columns of the present row that were read so far.
    asked: Cell<usize>,
    /// Names in the order in which they were read, and their columns.
    known: RefCell<Vec<(&'static str, usize)>>,
    /// How many columns of the present row, from the left, were measured when they were read.
    measured: Cell<usize>,
    /// The bytes of those columns.
    measured_bytes: Cell<usize>,
}

impl Places {
    /// Another row begins.
    pub(crate) fn next_row(&self) {
        self.asked.set(0);
        self.measured.set(0);
        self.measured_bytes.set(0);
    }

    /// Records the bytes of a column that was read. Counts each column once, and only those that are read from left to right.
    fn measure(&self, at: usize, bytes: usize) {
        if at == self.measured.get() {
            self.measured.set(at + 1);
            self.measured_bytes.set(self.measured_bytes.get() + bytes);
        }
    }

    /// The column of this name.
    fn column(&self, row: &rusqlite::Row<'_>, name: &'static str) -> rusqlite::Result<usize> {
        let nth = self.asked.replace(self.asked.get() + 1);
        let mut known = self.known.borrow_mut();
        if let Some((_, column)) = known.get(nth).filter(|(same, _)| std::ptr::eq(*same, name)) {
            return Ok(*column);
        }
        let statement: &rusqlite::Statement<'_> = row.as_ref();
        let column = statement.column_index(name)?;
        known.truncate(nth);
        known.push((name, column));
        Ok(column)
    }
}

/// One row of an answer, while it is being read.
pub enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>, &'r Places),
    Postgres(&'r PgRow),
}

impl<'r> Row<'r> {
    /// A column by its name.
    pub fn get<T: Column>(&self, name: &'static str) -> Result<T> {
        match self {
            Row::Sqlite(row, places) => {
                let value = places.column(row, name).and_then(|column| row.get(column));
                value.with_context(|| format!("column {name}"))
            }
            Row::Postgres(row) => row.try_get(name).with_context(|| format!("column {name}")),
        }
    }

    /// The bytes of the columns as they are stored. On SQLite the columns that `columns` has read were measured then, and are not
    /// read again.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Row::Sqlite(row, places) => {
                let length = |at: usize| match row.get_ref(at) {
                    Ok(ValueRef::Text(text)) => text.len(),
                    Ok(_) | Err(_) => 0,
                };
                let statement: &rusqlite::Statement<'_> = row.as_ref();
                let rest = (places.measured.get()..statement.column_count()).map(length);
                places.measured_bytes.get() + rest.sum::<usize>()
            }
            Row::Postgres(row) => {
                let length = |at: usize| match row.try_get_raw(at) {
                    // A null has none.
                    Ok(value) => value.as_bytes().map_or(0, |bytes| bytes.len()),
                    Err(_) => 0,
                };
                (0..row.len()).map(length).sum()
            }
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
    /// The next column, a borrowed text; none for null.
    pub fn text(&mut self) -> Result<Option<&'a str>> {
        let at = self.next;
        self.next += 1;
        match self.row {
            Row::Sqlite(row, places) => {
                let text = row.get_ref(at)?.as_str_or_null()?;
                places.measure(at, text.map_or(0, str::len));
                Ok(text)
            }
            Row::Postgres(row) => row.try_get(at).with_context(|| format!("column number {at}")),
        }
    }

    /// Whether the next column, which stays the next, is null.
    pub fn is_null(&self) -> Result<bool> {
        match self.row {
            Row::Sqlite(row, _) => Ok(matches!(row.get_ref(self.next)?, ValueRef::Null)),
            Row::Postgres(row) => {
                let raw = row.try_get_raw(self.next);
                Ok(raw.with_context(|| format!("column number {}", self.next))?.is_null())
            }
        }
    }

    /// The next column.
    #[expect(clippy::should_implement_trait, reason = "each column has its own type")]
    pub fn next<T: Column>(&mut self) -> Result<T> {
        let at = self.next;
        self.next += 1;
        match self.row {
            Row::Sqlite(row, places) => {
                let value: T = row.get(at).with_context(|| format!("column number {at}"))?;
                places.measure(at, value.text_bytes());
                Ok(value)
            }
            Row::Postgres(row) => row.try_get(at).with_context(|| format!("column number {at}")),
        }
    }
}

/// The first rows of an answer, limited by their number or their bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk<T> {
    pub rows: Vec<T>,
    /// Whether no rows follow. False where the very last row ended the read by its bytes: the next read then has no rows.
    pub is_last: bool,
}

/// A statement with its parameters.
pub struct Query<'q> {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value<'q>>,
    /// Whether the statement has no time limit.
    pub(crate) is_endless: bool,
    /// The read ends with the row that reaches this number of bytes.
    pub(crate) max_bytes: usize,
}

/// A statement: `$1` stands for the first parameter.
pub fn query<'q>(sql: &'static str) -> Query<'q> {
    Query { sql, values: Vec::with_capacity(8), is_endless: false, max_bytes: usize::MAX }
}

impl<'q> Query<'q> {
    /// The next parameter.
    pub fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Removes the time limit of a read: for commands of the operator.
    pub fn endless(mut self) -> Self {
        self.is_endless = true;
        self
    }
}

/// Seconds after which a statement that took too long may be retried.
const TRY_AGAIN_S: u64 = 1;

/// Turns a statement that took too long into a retryable error for its caller.
pub(crate) fn too_long(e: anyhow::Error) -> anyhow::Error {
    tracing::warn!(error = %format!("{e:#}"), "a statement took too long and was stopped");
    overloaded_error("the database could not answer this in time; try again, or ask for less at a time")
}

/// A statement that waited too long for rows that another transaction has locked.
pub(crate) fn locked(e: anyhow::Error) -> anyhow::Error {
    tracing::warn!(error = %format!("{e:#}"), "a statement waited too long for a lock and was stopped");
    overloaded_error("another change of the same data takes long; try again")
}

/// A statement that conflicted with others: a deadlock, or too little memory.
pub(crate) fn not_beside_others(e: anyhow::Error) -> anyhow::Error {
    tracing::debug!(error = %format!("{e:#}"), "the database could not run a statement beside others");
    overloaded_error("the database could not do this beside other requests; try again")
}

/// The error of a write of which the database stopped a statement, so that nothing is committed.
pub(crate) fn not_committed() -> anyhow::Error {
    tracing::warn!("a write went on after one of its statements was stopped: it is not committed");
    overloaded_error("the database could not do this in time; try again")
}

/// The error of work that waited too long for a connection to the database. `lane` names the kind of work. A server that takes no
/// more connections is logged in a separate line.
pub(crate) fn no_connection(lane: &str, is_crowded: bool) -> anyhow::Error {
    if is_crowded {
        return overloaded_error("the database takes no more connections at the moment; try again");
    }
    tracing::warn!(lane, "no connection to the database became free in time");
    overloaded_error("the database is busy with other requests; try again")
}

fn overloaded_error(message: &str) -> anyhow::Error {
    anyhow::Error::new(Refusal::new(Code::Overloaded, message).retry_after_s(TRY_AGAIN_S))
}
