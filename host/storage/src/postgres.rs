//! PostgreSQL, through sqlx.

use anyhow::{Error, Result};
use futures::TryStreamExt;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{PgExecutor, Postgres};

use crate::error::postgres_outage;
use crate::statement::{Chunk, Query, Row, Value, locked, not_beside_others, too_long};
use crate::transaction;

/// The server stopped a statement: it took too long, or an administrator cancelled it.
const QUERY_CANCELED: &str = "57014";
/// `lock_not_available`: the server stopped a statement that waited too long for a lock.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// `serialization_failure` and `deadlock_detected`: the server aborted the transaction in favour of another one. And
/// `idle_in_transaction_session_timeout`: this process was paused, and the server ended the session before anything was
/// committed.
const GIVEN_UP: [&str; 3] = ["40001", "40P01", "25P03"];
/// `insufficient_resources`, `out_of_memory` and `configuration_limit_exceeded`: the server could not do it now.
const EXHAUSTED: [&str; 3] = ["53000", "53200", "53400"];

/// Converts the error of a statement or a commit. The transaction in which it runs records whether another attempt can succeed,
/// whether a statement was stopped, and whether the server itself failed.
pub fn failed(e: sqlx::Error) -> Error {
    if let Some(outage) = postgres_outage(&e) {
        transaction::met_outage(&outage);
        return outage.into_error();
    }
    let code = e.as_database_error().and_then(DatabaseError::code);
    let is = |codes: &[&str]| code.as_deref().is_some_and(|code| codes.contains(&code));
    if is(&GIVEN_UP) {
        transaction::given_up();
    }
    let (took_too_long, is_locked) = (is(&[QUERY_CANCELED]), is(&[LOCK_NOT_AVAILABLE]));
    let is_exhausted = is(&EXHAUSTED);
    if took_too_long || is_locked || is_exhausted {
        transaction::stopped();
    }
    match (took_too_long, is_locked) {
        (true, _) => too_long(e.into()),
        (_, true) => locked(e.into()),
        _ if is_exhausted || is(&GIVEN_UP) => not_beside_others(e.into()),
        _ => e.into(),
    }
}

fn bind_values<'q>(query: Query<'q>) -> sqlx::query::Query<'q, Postgres, PgArguments> {
    let statement = sqlx::query(query.sql);
    query.values.into_iter().fold(statement, |statement, value| match value {
        Value::Text(text) => statement.bind(text),
        Value::Integer(number) => statement.bind(number),
        Value::Texts(texts) => statement.bind(texts),
        Value::Integers(numbers) => statement.bind(numbers),
    })
}

/// Every row of an answer, or those up to the query's bytes: rows that the server sends after them are dropped one by one.
pub async fn rows<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<Chunk<PgRow>> {
    #[cfg(test)]
    crate::tests::recorder::note_postgres(&query);
    let max_bytes = query.max_bytes;
    if max_bytes == usize::MAX {
        let rows = bind_values(query).fetch_all(on).await.map_err(failed)?;
        return Ok(Chunk { rows, is_last: true });
    }
    let mut stream = bind_values(query).fetch(on);
    let mut found = Chunk { rows: Vec::new(), is_last: true };
    let mut bytes = 0_usize;
    while let Some(row) = stream.try_next().await.map_err(failed)? {
        bytes = bytes.saturating_add(Row::Postgres(&row).bytes());
        found.rows.push(row);
        if bytes >= max_bytes {
            found.is_last = false;
            break;
        }
    }
    Ok(found)
}

/// The rows, each through `read`.
pub fn read<T>(found: &Chunk<PgRow>, read: &mut impl FnMut(&Row<'_>) -> Result<T>) -> Result<Chunk<T>> {
    let rows = found.rows.iter().map(|row| read(&Row::Postgres(row))).collect::<Result<Vec<T>>>()?;
    Ok(Chunk { rows, is_last: found.is_last })
}

/// How many rows it changed.
pub async fn execute<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<u64> {
    #[cfg(test)]
    crate::tests::recorder::note_postgres(&query);
    Ok(bind_values(query).execute(on).await.map_err(failed)?.rows_affected())
}

/// Statements without parameters.
pub async fn batch<'e>(on: impl PgExecutor<'e>, sql: &'static str) -> Result<()> {
    sqlx::raw_sql(sql).execute(on).await.map_err(failed)?;
    Ok(())
}
