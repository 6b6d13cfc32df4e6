//! PostgreSQL, through sqlx.

use anyhow::{Error, Result};
use futures::TryStreamExt;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{PgExecutor, Postgres};

use crate::statement::{Query, Row, Value, locked, too_long};
use crate::transaction;

/// The server stopped a statement: it took too long, or an administrator wants it so.
const QUERY_CANCELED: &str = "57014";
/// `lock_not_available`: the server stopped a statement that waited too long for a lock.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// `serialization_failure` and `deadlock_detected`: the server gave the transaction up in favour of another one.
const GIVEN_UP: [&str; 2] = ["40001", "40P01"];

/// The error of a statement or a commit. The transaction in which it runs notes whether another attempt can succeed, and whether a statement
/// was stopped.
pub fn failed(e: sqlx::Error) -> Error {
    let code = e.as_database_error().and_then(DatabaseError::code);
    let is = |codes: &[&str]| code.as_deref().is_some_and(|code| codes.contains(&code));
    if is(&GIVEN_UP) {
        transaction::given_up();
    }
    let (took_too_long, is_locked) = (is(&[QUERY_CANCELED]), is(&[LOCK_NOT_AVAILABLE]));
    if took_too_long || is_locked {
        transaction::stopped();
    }
    match (took_too_long, is_locked) {
        (true, _) => too_long(e.into()),
        (_, true) => locked(e.into()),
        _ => e.into(),
    }
}

fn prepared<'q>(query: Query<'q>) -> sqlx::query::Query<'q, Postgres, PgArguments> {
    let statement = sqlx::query(query.sql);
    query.values.into_iter().fold(statement, |statement, value| match value {
        Value::Text(text) => statement.bind(text),
        Value::Integer(number) => statement.bind(number),
    })
}

/// Every row of an answer, or those up to the query's bytes: what the server sends after them is dropped row by row.
pub async fn rows<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<Vec<PgRow>> {
    #[cfg(test)]
    crate::tests::recorder::note_postgres(&query);
    let max_bytes = query.max_bytes;
    if max_bytes == usize::MAX {
        return prepared(query).fetch_all(on).await.map_err(failed);
    }
    let mut stream = prepared(query).fetch(on);
    let mut found = Vec::new();
    let mut bytes = 0_usize;
    while let Some(row) = stream.try_next().await.map_err(failed)? {
        bytes = bytes.saturating_add(Row::Postgres(&row).bytes());
        found.push(row);
        if bytes >= max_bytes {
            break;
        }
    }
    Ok(found)
}

/// The rows, each through `read`.
pub fn read<T>(rows: &[PgRow], read: &mut impl FnMut(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(|row| read(&Row::Postgres(row))).collect()
}

/// How many rows it changed.
pub async fn execute<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<u64> {
    #[cfg(test)]
    crate::tests::recorder::note_postgres(&query);
    Ok(prepared(query).execute(on).await.map_err(failed)?.rows_affected())
}

/// Statements without parameters.
pub async fn batch<'e>(on: impl PgExecutor<'e>, sql: &'static str) -> Result<()> {
    sqlx::raw_sql(sql).execute(on).await.map_err(failed)?;
    Ok(())
}
