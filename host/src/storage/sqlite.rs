//! SQLite, through rusqlite: connections, and statements that run at once on the caller's thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

use crate::storage::sql::{Query, Row, Value};

/// Prepared statements that a connection keeps: more than the program has.
const STATEMENTS: usize = 256;

/// WAL lets readers go on beside the writer; FULL makes a commit survive a power cut; the timeout is for the moments in which
/// another process (a `switchboard keys` command) writes.
const PRAGMAS: &str = "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
                       pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -8000;";

/// Opens the database, and makes the file if there is none.
pub fn open(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Connections that read. As many are in use as threads read at one moment; `keep` of them stay open between reads.
#[derive(Clone)]
pub struct Readers(Arc<Idle>);

struct Idle {
    file: PathBuf,
    keep: usize,
    connections: Mutex<Vec<Connection>>,
}

impl Readers {
    /// Opens the first, so that a database that cannot be read is told at once.
    pub fn open(file: &Path, keep: usize) -> Result<Readers> {
        let readers =
            Readers(Arc::new(Idle { file: file.to_owned(), keep, connections: Mutex::new(Vec::new()) }));
        let first = readers.connect()?;
        readers.give_back(first);
        Ok(readers)
    }

    fn connect(&self) -> Result<Connection> {
        let connection = open(&self.0.file)?;
        connection.execute_batch("pragma query_only = on")?;
        Ok(connection)
    }

    fn give_back(&self, connection: Connection) {
        if let Ok(mut idle) = self.0.connections.lock()
            && idle.len() < self.0.keep
        {
            idle.push(connection);
        }
    }

    /// Runs `work` on a connection of its own.
    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.0.connections.lock().ok().and_then(|mut c| c.pop());
        let connection =
            idle.map_or_else(|| self.connect(), Ok).context("cannot open the database for reading")?;
        let outcome = work(&connection);
        self.give_back(connection);
        outcome
    }

    /// Closes what is idle. The file alone is then the whole database, for those who copy it: the log is worked in first,
    /// passively, which waits for nobody and may do less.
    pub fn close(&self) {
        let _ = self.with(|c| Ok(c.execute_batch("pragma wal_checkpoint(passive)")?));
        if let Ok(mut idle) = self.0.connections.lock() {
            idle.clear();
        }
    }
}

/// Every row of an answer, each through `read`.
pub fn rows<T>(
    connection: &Connection,
    query: &Query<'_>,
    read: &mut impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = prepare(connection, query)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(&Row::Sqlite(row))?);
    }
    Ok(found)
}

/// How many rows it changed.
pub fn execute(connection: &Connection, query: &Query<'_>) -> Result<u64> {
    Ok(prepare(connection, query)?.raw_execute()? as u64)
}

fn prepare<'c>(connection: &'c Connection, query: &Query<'_>) -> Result<CachedStatement<'c>> {
    let mut statement =
        connection.prepare_cached(query.sql).with_context(|| format!("cannot prepare {}", query.sql))?;
    for at in 1..=statement.parameter_count() {
        // To SQLite `$3` is a name, numbered in the order of appearance.
        let number = statement.parameter_name(at).and_then(|name| name.get(1..)?.parse::<usize>().ok());
        let value = number.and_then(|n| query.values.get(n.checked_sub(1)?));
        let value = value.with_context(|| format!("parameter {at} has no value in {}", query.sql))?;
        statement.raw_bind_parameter(at, value)?;
    }
    Ok(statement)
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Value::Integer(Some(number)) => ValueRef::Integer(*number),
            Value::Text(None) | Value::Integer(None) => ValueRef::Null,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::sql::query;

    #[test]
    fn a_parameter_is_found_by_its_number_wherever_it_stands() {
        let connection = Connection::open_in_memory().unwrap();
        let query = query("select $3, $1, $2, $1").bind("a").bind(7_i64).bind(None::<&str>);
        let row = |row: &Row<'_>| {
            let mut column = row.columns();
            let (third, first): (Option<String>, String) = (column.next()?, column.next()?);
            Ok((third, first, column.next::<i64>()?, column.next::<String>()?))
        };
        let found = rows(&connection, &query, &mut { row }).unwrap();
        assert_eq!(found, [(None, "a".to_owned(), 7, "a".to_owned())]);
    }

    #[test]
    fn readers_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("test.db");
        open(&file).unwrap().execute_batch("create table t (x text)").unwrap();
        let readers = Readers::open(&file, 1).unwrap();
        let refused = readers.with(|c| execute(c, &query("insert into t values ($1)").bind("a")));
        assert!(format!("{:#}", refused.unwrap_err()).contains("readonly"));
    }
}
