//! SQLite, through rusqlite: connections, and statements that run at once on the caller's thread.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

use crate::storage::sql::{Query, Row, Value};

/// Prepared statements that a connection keeps: more than the program has.
const STATEMENTS: usize = 256;

/// WAL lets readers go on beside the writer; FULL makes a commit survive a power cut; the timeout is for the moments in which
/// another process (a `switchboard keys` command) writes. The log is worked into the file every 16 MiB, the most that one table of
/// its index covers: a page that many commits changed is then written there once.
const PRAGMAS: &str = "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
                       pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -8000; \
                       pragma wal_autocheckpoint = 4000;";

/// Opens the database, and makes the file if there is none.
pub fn open(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // One plan per statement: without this, a bound time that differs from the last makes SQLite plan the query anew, which costs
    // more than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Connections that read. As many are in use as threads read at one moment; `keep` of them stay open between reads.
#[derive(Clone)]
pub struct Readers {
    shared: Arc<Shared>,
    /// Whether a read transaction stays open between reads.
    hold: bool,
}

struct Shared {
    file: PathBuf,
    keep: usize,
    /// Twice the writer's commits, and one more while one is under way.
    turns: AtomicU64,
    idle: Mutex<Vec<Connection>>,
    /// One for each of `keep` threads, which so finds the pages that it read last in its own processor's cache.
    held: Box<[Mutex<Option<Held>>]>,
}

/// A connection with a read transaction open.
struct Held {
    /// The count of commits before it began.
    commits: u64,
    connection: Connection,
}

impl Readers {
    /// Opens the first, so that a database that cannot be read is told at once.
    pub fn open(file: &Path, keep: usize) -> Result<Readers> {
        let (turns, idle) = (AtomicU64::default(), Mutex::default());
        let held = (0..keep.max(1)).map(|_| Mutex::default()).collect();
        let shared = Arc::new(Shared { file: file.to_owned(), keep, turns, idle, held });
        shared.give_back(shared.connect()?);
        Ok(Readers { shared, hold: false })
    }

    /// The same for what only this process writes. To begin and to end a read transaction takes file locks that cost more than
    /// most reads, so one is held from read to read until the next commit.
    pub fn holding(&self) -> Readers {
        Readers { shared: self.shared.clone(), hold: true }
    }

    /// Runs `work` on a connection of its own.
    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        match self.commits().filter(|_| self.hold) {
            Some(commits) => self.shared.with_held(commits, work),
            None => self.shared.with_idle(work),
        }
    }

    /// How many commits the writer has made; none while one is under way, when some readers see it and others do not yet.
    pub fn commits(&self) -> Option<u64> {
        self.shared.settled()
    }

    /// The writer is about to commit. What is held ends: the log can only begin anew when nobody reads its old part.
    pub fn commit_begins(&self) {
        self.shared.turns.fetch_add(1, Ordering::AcqRel);
        self.shared.release();
    }

    /// The writer has committed, or has tried to.
    pub fn commit_ended(&self) {
        self.shared.turns.fetch_add(1, Ordering::AcqRel);
    }

    /// Closes what is idle. The file alone is then the whole database, for those who copy it: the log is worked in first,
    /// passively, which waits for nobody and may do less.
    pub fn close(&self) {
        self.shared.release();
        let _ = self.shared.with_idle(|c| Ok(c.execute_batch("pragma wal_checkpoint(passive)")?));
        if let Ok(mut idle) = self.shared.idle.lock() {
            idle.clear();
        }
    }
}

impl Shared {
    fn settled(&self) -> Option<u64> {
        let turns = self.turns.load(Ordering::Acquire);
        turns.is_multiple_of(2).then_some(turns / 2)
    }

    fn connect(&self) -> Result<Connection> {
        let connection = open(&self.file)?;
        connection.execute_batch("pragma query_only = on")?;
        Ok(connection)
    }

    fn take(&self) -> Result<Connection> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.map_or_else(|| self.connect(), Ok).context("cannot open the database for reading")
    }

    fn give_back(&self, connection: Connection) {
        if let Ok(mut idle) = self.idle.lock()
            && idle.len() < self.keep
        {
            idle.push(connection);
        }
    }

    fn with_idle<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let connection = self.take()?;
        let outcome = work(&connection);
        self.give_back(connection);
        outcome
    }

    /// `commits` was counted before: what is read is at least as new.
    fn with_held<T>(&self, commits: u64, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let held = self.own().lock().ok().and_then(|mut own| own.take());
        let held = match held {
            Some(held) if held.commits == commits => held,
            other => {
                if let Some(old) = other {
                    self.end(old.connection);
                }
                let connection = self.take()?;
                connection.execute_batch("begin")?;
                Held { commits, connection }
            }
        };
        let outcome = work(&held.connection);
        self.hold(held);
        outcome
    }

    /// The place of the calling thread.
    fn own(&self) -> &Mutex<Option<Held>> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        &self.held[THREAD.with(|thread| thread % self.held.len())]
    }

    fn hold(&self, held: Held) {
        if let Ok(mut own) = self.own().lock()
            // Under the lock: a commit that begins now finds it there and ends it.
            && self.settled() == Some(held.commits)
            && own.is_none()
        {
            *own = Some(held);
            return;
        }
        self.end(held.connection);
    }

    fn release(&self) {
        for held in &self.held {
            let held = held.lock().ok().and_then(|mut held| held.take());
            if let Some(held) = held {
                self.end(held.connection);
            }
        }
    }

    /// A connection that cannot end its transaction is closed.
    fn end(&self, connection: Connection) {
        if connection.execute_batch("rollback").is_ok() {
            self.give_back(connection);
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

    #[test]
    fn what_is_held_between_reads_is_as_new_as_the_last_commit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("test.db");
        let writer = open(&file).unwrap();
        writer.execute_batch("create table t (x integer)").unwrap();
        let readers = Readers::open(&file, 1).unwrap().holding();
        let count = || {
            let read = |c: &Connection| Ok(c.query_row("select count(*) from t", [], |row| row.get(0))?);
            readers.with::<i64>(read).unwrap()
        };
        assert_eq!(count(), 0);
        assert!(readers.shared.own().lock().unwrap().is_some());
        readers.commit_begins();
        writer.execute_batch("insert into t values (1)").unwrap();
        // Nobody was told yet, and nothing is held.
        assert_eq!(count(), 1);
        assert!(readers.shared.own().lock().unwrap().is_none());
        readers.commit_ended();
        assert_eq!(count(), 1);
        // What others write is seen with the next commit of ours.
        writer.execute_batch("insert into t values (2)").unwrap();
        assert_eq!(count(), 1);
        readers.commit_begins();
        readers.commit_ended();
        assert_eq!(count(), 2);
    }
}
