//! PostgreSQL, through sqlx.

use std::time::Duration;

use anyhow::Result;
use sqlx::postgres::{PgArguments, PgPoolOptions, PgRow};
use sqlx::{PgExecutor, PgPool, Postgres};

use crate::storage::sql::{Query, Row, Value};

/// Connects; `most` is how many connections there may be at one moment.
pub async fn open(url: &str, most: u32) -> Result<PgPool> {
    let options = PgPoolOptions::new().max_connections(most).min_connections(1);
    Ok(options.acquire_timeout(Duration::from_secs(5)).connect(url).await?)
}

fn prepared<'q>(query: Query<'q>) -> sqlx::query::Query<'q, Postgres, PgArguments> {
    let statement = sqlx::query(query.sql);
    query.values.into_iter().fold(statement, |statement, value| match value {
        Value::Text(text) => statement.bind(text),
        Value::Integer(number) => statement.bind(number),
    })
}

/// Every row of an answer.
pub async fn rows<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<Vec<PgRow>> {
    Ok(prepared(query).fetch_all(on).await?)
}

/// The rows, each through `read`.
pub fn read<T>(rows: &[PgRow], read: &mut impl FnMut(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(|row| read(&Row::Postgres(row))).collect()
}

/// How many rows it changed.
pub async fn execute<'e>(on: impl PgExecutor<'e>, query: Query<'_>) -> Result<u64> {
    Ok(prepared(query).execute(on).await?.rows_affected())
}

/// Statements without parameters.
pub async fn batch<'e>(on: impl PgExecutor<'e>, sql: &'static str) -> Result<()> {
    sqlx::raw_sql(sql).execute(on).await?;
    Ok(())
}
