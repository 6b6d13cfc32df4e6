//! SQLite, through rusqlite: connections, and statements that run synchronously on the caller's thread. A read that turns out to be slow is
//! stopped and run again where it delays only its own caller.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rusqlite::{CachedStatement, Connection};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

use crate::availability::Availability;
use crate::error::Outage;
use crate::sqlite_files::{failed, open, open_read_only};
use crate::statement::{Chunk, Places, Query, Row, Value, too_long};

/// Steps of SQLite's virtual machine between two checks of a read's budget. A row takes some dozens of steps.
const LOOK_EVERY: i32 = 1_000;
/// Budget checks of a read on its caller's thread: a few milliseconds.
const LOOKS_ON_CALLERS_THREAD: i64 = 100;
/// Budget checks of a read on a thread that delays only its own caller: some seconds.
const AT_MOST: i64 = 400_000;
/// Maximum number of concurrent long reads.
const LONG_READS: usize = 4;

/// How long a read may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Short enough to run on the caller's thread, ahead of its other work.
    AtOnce,
    AtMost,
    /// For commands of the operator.
    Endless,
}

impl Patience {
    fn looks(self) -> i64 {
        match self {
            Patience::AtOnce => LOOKS_ON_CALLERS_THREAD,
            Patience::AtMost => AT_MOST,
            Patience::Endless => i64::MAX,
        }
    }
}

/// Read connections. One is in use per reading thread; `keep` of them stay open between reads.
#[derive(Clone)]
pub struct Readers {
    shared: Arc<ReaderState>,
    /// Whether a read transaction stays open between reads.
    hold: bool,
}

struct ReaderState {
    file: PathBuf,
    is_read_only: bool,
    availability: Availability,
    keep: usize,
    /// Twice the number of the writer's commits, plus one during a commit.
    turns: AtomicU64,
    idle: Mutex<Vec<Reading>>,
    /// Permits for reads that take long.
    long: Semaphore,
    /// One open snapshot for each of `keep` threads, so that each finds recently read pages in its own processor's cache.
    held: Box<[Mutex<Option<OpenSnapshot>>]>,
}

/// A connection for reading, which is interrupted when a read takes too long.
pub struct Reading {
    connection: Connection,
    /// Checks that are left in the read's budget.
    left: Arc<AtomicI64>,
}

impl Reading {
    /// Reads all rows of a result, or those up to the query's byte limit, each through `read`.
    pub fn rows<T>(
        &self,
        query: &Query<'_>,
        patience: Patience,
        read: &mut impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Chunk<T>> {
        self.left.store(patience.looks(), Ordering::Relaxed);
        rows(&self.connection, query, read)
    }
}

/// A connection with a read transaction open.
struct OpenSnapshot {
    /// The count of commits before it began.
    commits: u64,
    connection: Reading,
}

impl Readers {
    /// Opens the first connection, so that a database that cannot be read is reported at once.
    pub fn open(file: &Path, keep: usize) -> Result<Readers> {
        Readers::open_with(file, keep, false)
    }

    /// Opens a database without a writer, or one that another process writes. Changes no file.
    pub fn open_read_only(file: &Path, keep: usize) -> Result<Readers> {
        Readers::open_with(file, keep, true)
    }

    fn open_with(file: &Path, keep: usize, is_read_only: bool) -> Result<Readers> {
        let (turns, idle, long) = (AtomicU64::default(), Mutex::default(), Semaphore::new(LONG_READS));
        let held = (0..keep.max(1)).map(|_| Mutex::default()).collect();
        let availability = Availability::new(format!("the database {}", file.display()));
        let file = file.to_owned();
        let shared =
            Arc::new(ReaderState { file, is_read_only, availability, keep, turns, idle, long, held });
        shared.give_back(shared.connect()?);
        Ok(Readers { shared, hold: false })
    }

    /// Whether the database can be used; the writer shares it.
    pub(crate) fn availability(&self) -> &Availability {
        &self.shared.availability
    }

    /// Returns readers for a database that only this process writes. Beginning and ending a read transaction takes file locks that cost
    /// more than most reads, so a transaction stays open from read to read until the next commit.
    pub fn holding(&self) -> Readers {
        Readers { shared: self.shared.clone(), hold: true }
    }

    /// Reads the rows of a result, up to the query's byte limit. A read that is too slow for the caller's thread is restarted where it
    /// blocks no other work; then `read` sees the first rows again. Fails with a refusal if it is too slow there too.
    pub async fn rows<T>(
        &self,
        query: &Query<'_>,
        read: &mut impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Chunk<T>> {
        let found = self.rows_at_last(query, read).await;
        if let Some(outage) = found.as_ref().err().and_then(Outage::from_error) {
            self.shared.availability.note(outage);
        }
        found
    }

    /// The rows, read on this thread or where that blocks no other work.
    async fn rows_at_last<T>(
        &self,
        query: &Query<'_>,
        read: &mut impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Chunk<T>> {
        if !query.is_endless {
            let found = self.with(|c| c.rows(query, Patience::AtOnce, read));
            match found {
                Err(e) if was_stopped(&e) => {}
                found => return found,
            }
        }
        let patience = if query.is_endless { Patience::Endless } else { Patience::AtMost };
        let _turn = self.shared.long.acquire().await.context("the database is closed")?;
        tracing::debug!(sql = query.sql, "a read takes long");
        let found = aside(|| self.with(|c| c.rows(query, patience, read)));
        found.map_err(|e| if was_stopped(&e) { too_long(e) } else { e })
    }

    /// Runs `work` on its own connection.
    pub fn with<T>(&self, work: impl FnOnce(&Reading) -> Result<T>) -> Result<T> {
        match self.commits().filter(|_| self.hold) {
            Some(commits) => self.shared.with_held(commits, work),
            None => self.shared.with_idle(work),
        }
    }

    /// The number of commits so far; none during a commit, which only some readers see yet.
    pub fn commits(&self) -> Option<u64> {
        self.shared.settled()
    }

    /// Announces a commit. Closes the open snapshots: SQLite can restart its write-ahead log only when no connection reads the old part.
    pub fn commit_begins(&self) {
        self.shared.turns.fetch_add(1, Ordering::AcqRel);
        self.shared.release();
    }

    /// Announces the end of a commit, successful or not.
    pub fn commit_ended(&self) {
        self.shared.turns.fetch_add(1, Ordering::AcqRel);
    }

    /// Closes the idle connections, so that the file alone is the whole database and can be copied: the write-ahead log is checkpointed
    /// first, passively, which waits for no connection and may be incomplete.
    pub fn close(&self) {
        self.shared.release();
        let checkpoint = |c: &Reading| {
            c.left.store(Patience::Endless.looks(), Ordering::Relaxed);
            Ok(c.connection.execute_batch("pragma wal_checkpoint(passive)")?)
        };
        let _ = self.shared.with_idle(checkpoint);
        if let Ok(mut idle) = self.shared.idle.lock() {
            idle.clear();
        }
    }
}

impl ReaderState {
    fn settled(&self) -> Option<u64> {
        let turns = self.turns.load(Ordering::Acquire);
        turns.is_multiple_of(2).then_some(turns / 2)
    }

    fn connect(&self) -> Result<Reading> {
        let mut connection = match self.is_read_only {
            true => open_read_only(&self.file)?,
            false => open(&self.file)?,
        };
        connection.execute_batch("pragma query_only = on")?;
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let looked = left.clone();
        let is_over = move || looked.fetch_sub(1, Ordering::Relaxed) <= 0;
        connection.progress_handler(LOOK_EVERY, Some(is_over))?;
        Ok(Reading { connection, left })
    }

    fn take(&self) -> Result<Reading> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let opened = idle.map_or_else(|| self.connect(), Ok);
        let opened = opened.map_err(|e| e.downcast::<rusqlite::Error>().map_or_else(|e| e, failed));
        opened.context("cannot open the database for reading")
    }

    fn give_back(&self, connection: Reading) {
        if let Ok(mut idle) = self.idle.lock()
            && idle.len() < self.keep
        {
            idle.push(connection);
        }
    }

    fn with_idle<T>(&self, work: impl FnOnce(&Reading) -> Result<T>) -> Result<T> {
        let connection = self.take()?;
        let outcome = work(&connection);
        self.give_back(connection);
        outcome
    }

    /// Runs `work` on the open snapshot. `commits` was read before, so the rows are at least as new.
    fn with_held<T>(&self, commits: u64, work: impl FnOnce(&Reading) -> Result<T>) -> Result<T> {
        let held = self.own().lock().ok().and_then(|mut own| own.take());
        let held = match held {
            Some(held) if held.commits == commits => held,
            other => {
                if let Some(old) = other {
                    self.end(old.connection);
                }
                let connection = self.take()?;
                connection.left.store(AT_MOST, Ordering::Relaxed);
                connection.connection.execute_batch("begin").map_err(failed)?;
                OpenSnapshot { commits, connection }
            }
        };
        let outcome = work(&held.connection);
        self.hold(held);
        outcome
    }

    /// The slot of the calling thread.
    fn own(&self) -> &Mutex<Option<OpenSnapshot>> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        &self.held[THREAD.with(|thread| thread % self.held.len())]
    }

    fn hold(&self, held: OpenSnapshot) {
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

    /// Ends the transaction of a connection; closes the connection if that fails.
    fn end(&self, connection: Reading) {
        connection.left.store(AT_MOST, Ordering::Relaxed);
        if connection.connection.execute_batch("rollback").is_ok() {
            self.give_back(connection);
        }
    }
}

/// Whether a read was stopped because it took too long.
fn was_stopped(e: &anyhow::Error) -> bool {
    e.chain()
        .filter_map(|cause| cause.downcast_ref::<rusqlite::Error>())
        .any(|cause| cause.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted))
}

/// Runs long work on this thread, after handing the other tasks of the thread to another one. A single-threaded runtime has no other.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Reads all rows of a result, or those up to the query's byte limit, each through `read`.
pub fn rows<T>(
    connection: &Connection,
    query: &Query<'_>,
    read: &mut impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Chunk<T>> {
    let mut statement = prepare(connection, query)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    let (mut bytes, mut is_last) = (0_usize, true);
    let places = Places::default();
    while let Some(row) = rows.next().map_err(failed)? {
        places.next_row();
        let row = Row::Sqlite(row, &places);
        found.push(read(&row)?);
        if query.max_bytes < usize::MAX {
            bytes = bytes.saturating_add(row.bytes());
            if bytes >= query.max_bytes {
                is_last = false;
                break;
            }
        }
    }
    drop(rows);
    #[cfg(test)]
    crate::tests::recorder::note(connection, query.sql, &query.values, &statement, found.len());
    Ok(Chunk { rows: found, is_last })
}

/// Executes a statement; returns the number of changed rows.
pub fn execute(connection: &Connection, query: &Query<'_>) -> Result<u64> {
    execute_rows(connection, query.sql, [&query.values])
}

/// Executes a statement once with the values of each row; returns the number of changed rows.
pub fn execute_rows<'q>(
    connection: &Connection,
    sql: &'static str,
    rows: impl IntoIterator<Item = &'q Vec<Value<'q>>>,
) -> Result<u64> {
    let mut statement = prepare_text(connection, sql)?;
    let numbers = numbers(&statement, sql)?;
    let mut changed = 0;
    for values in rows {
        bind(&mut statement, &numbers, values)?;
        let of_row = statement.raw_execute().map_err(failed)?;
        #[cfg(test)]
        crate::tests::recorder::note(connection, sql, values, &statement, of_row);
        changed += of_row as u64;
    }
    Ok(changed)
}

fn prepare<'c>(connection: &'c Connection, query: &Query<'_>) -> Result<CachedStatement<'c>> {
    let mut statement = prepare_text(connection, query.sql)?;
    let numbers = numbers(&statement, query.sql)?;
    bind(&mut statement, &numbers, &query.values)?;
    Ok(statement)
}

fn prepare_text<'c>(connection: &'c Connection, sql: &'static str) -> Result<CachedStatement<'c>> {
    connection.prepare_cached(sql).map_err(failed).with_context(|| format!("cannot prepare {sql}"))
}

/// Returns the index of each parameter's value: to SQLite `$3` is a name, and parameters are numbered in order of appearance.
fn numbers(statement: &CachedStatement<'_>, sql: &str) -> Result<Vec<usize>> {
    let number = |at| {
        let name = statement.parameter_name(at).and_then(|name| name.get(1..)?.parse::<usize>().ok());
        name.and_then(|number| number.checked_sub(1))
            .with_context(|| format!("parameter {at} has no number in {sql}"))
    };
    (1..=statement.parameter_count()).map(number).collect()
}

fn bind(statement: &mut CachedStatement<'_>, numbers: &[usize], values: &[Value<'_>]) -> Result<()> {
    for (at, number) in (1..).zip(numbers) {
        let value = values.get(*number).with_context(|| format!("parameter {at} has no value"))?;
        statement.raw_bind_parameter(at, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::query;

    /// The second row is read in another order than the first, the third in yet another.
    #[test]
    fn columns_are_found_by_their_names_in_whatever_order_they_are_asked_for() {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "select 1 as a, 2 as b, 3 as c union all select 1, 2, 3 union all select 1, 2, 3";
        let orders = [["a", "b", "c"], ["c", "a", "b"], ["a", "c", "a"]];
        let mut asked = orders.iter();
        let read = &mut |row: &Row<'_>| {
            let order = asked.next().unwrap();
            order.iter().map(|name| row.get::<i64>(name)).collect::<Result<Vec<i64>>>()
        };
        let found = rows(&connection, &query(sql), read).unwrap().rows;
        assert_eq!(found, [[1, 2, 3], [3, 1, 2], [1, 3, 1]]);
        let missing = rows(&connection, &query("select 1 as a"), &mut |row: &Row<'_>| row.get::<i64>("b"));
        assert!(missing.is_err());
    }

    #[test]
    fn a_parameter_is_found_by_its_number_wherever_it_stands() {
        let connection = Connection::open_in_memory().unwrap();
        let query = query("select $3, $1, $2, $1").bind("a").bind(7_i64).bind(None::<&str>);
        let row = |row: &Row<'_>| {
            let mut column = row.columns();
            let (third, first): (Option<String>, String) = (column.next()?, column.next()?);
            Ok((third, first, column.next::<i64>()?, column.next::<String>()?))
        };
        let found = rows(&connection, &query, &mut { row }).unwrap().rows;
        assert_eq!(found, [(None, "a".to_owned(), 7, "a".to_owned())]);
    }

    #[test]
    fn a_read_ends_with_the_row_that_reaches_its_bytes() {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "select column1 as t from (values ('aaaa'), ('bbbb'), ('cccc'), ('dddd'))";
        let read = |max_bytes, by_number| {
            let query = Query { max_bytes, ..crate::statement::query(sql) };
            let read = &mut |row: &Row<'_>| match by_number {
                true => row.columns().next::<String>(),
                false => row.get::<String>("t"),
            };
            let found = rows(&connection, &query, read).unwrap();
            (found.rows.len(), found.is_last)
        };
        for by_number in [false, true] {
            let ended = [0, 4, 5, 12].map(|max_bytes| read(max_bytes, by_number));
            assert_eq!(ended, [(1, false), (1, false), (2, false), (3, false)]);
            // The row that reaches the limit is the last one: only another read can tell that.
            assert_eq!(read(16, by_number), (4, false));
            assert_eq!([17, 99, usize::MAX].map(|max_bytes| read(max_bytes, by_number)), [(4, true); 3]);
        }
    }

    /// Columns that are read by number, all or some or twice, by name, or not at all.
    #[test]
    fn a_row_has_the_same_bytes_however_it_was_read() {
        let connection = Connection::open_in_memory().unwrap();
        let sql =
            "select 'four' as a, 12345 as b, null as c, 'ü' as d, '' as e, x'0102' as f, 'seven77' as g";
        let bytes = "four".len() + "ü".len() + "seven77".len();
        let measured = |look: &dyn Fn(&Row<'_>) -> Result<()>| {
            let read = &mut |row: &Row<'_>| {
                look(row)?;
                Ok(row.bytes())
            };
            rows(&connection, &query(sql), read).unwrap().rows
        };
        let by_number = |row: &Row<'_>| -> Result<()> {
            let mut column = row.columns();
            assert_eq!((column.text()?, column.next::<i64>()?), (Some("four"), 12345));
            assert_eq!((column.next::<Option<String>>()?, column.text()?), (None, Some("ü")));
            Ok(())
        };
        let by_name = |row: &Row<'_>| -> Result<()> { row.get::<String>("g").map(drop) };
        assert_eq!(measured(&|_| Ok(())), [bytes]);
        assert_eq!(measured(&by_name), [bytes]);
        assert_eq!(measured(&by_number), [bytes]);
        let twice = |row: &Row<'_>| -> Result<()> {
            by_number(row)?;
            by_name(row)?;
            by_number(row)
        };
        assert_eq!(measured(&twice), [bytes]);
        // A row with a column of another type than requested is still measured whole.
        let wrongly = |row: &Row<'_>| -> Result<()> {
            let mut column = row.columns();
            assert!(column.next::<i64>().is_err() && column.next::<i64>().is_ok());
            Ok(())
        };
        assert_eq!(measured(&wrongly), [bytes]);
    }

    #[test]
    fn each_row_of_an_answer_is_measured_by_itself() {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "select column1 as t, column2 as u from (values ('a', 'bb'), ('ccc', null), ('', 'dddd'))";
        let read = &mut |row: &Row<'_>| {
            let mut column = row.columns();
            let texts = (column.next::<String>()?, column.text()?.map(str::to_owned));
            Ok((row.bytes(), texts.0.len() + texts.1.map_or(0, |text| text.len())))
        };
        let found = rows(&connection, &query(sql), read).unwrap().rows;
        assert_eq!(found, [(3, 3), (3, 3), (4, 4)]);
    }

    #[test]
    fn readers_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("test.db");
        open(&file).unwrap().execute_batch("create table t (x text)").unwrap();
        let readers = Readers::open(&file, 1).unwrap();
        let refused = readers.with(|c| execute(&c.connection, &query("insert into t values ($1)").bind("a")));
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
            let read =
                |c: &Reading| Ok(c.connection.query_row("select count(*) from t", [], |row| row.get(0))?);
            readers.with::<i64>(read).unwrap()
        };
        assert_eq!(count(), 0);
        assert!(readers.shared.own().lock().unwrap().is_some());
        readers.commit_begins();
        writer.execute_batch("insert into t values (1)").unwrap();
        // No reader was notified yet, and nothing is held.
        assert_eq!(count(), 1);
        assert!(readers.shared.own().lock().unwrap().is_none());
        readers.commit_ended();
        assert_eq!(count(), 1);
        // Writes of others are seen after our next commit.
        writer.execute_batch("insert into t values (2)").unwrap();
        assert_eq!(count(), 1);
        readers.commit_begins();
        readers.commit_ended();
        assert_eq!(count(), 2);
    }

    const ENDLESS: &str =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n";

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_read_that_takes_long_keeps_nobody_waiting_and_is_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let readers = Readers::open(&dir.path().join("test.db"), 1).unwrap();
        let (held, (sender, done)) = (readers.clone(), tokio::sync::oneshot::channel());
        // It does not occupy the only worker: other requests are answered first.
        let slow = tokio::spawn(async move {
            let found = held.rows(&query(ENDLESS), &mut |row| row.get::<i64>("n")).await;
            let _ = sender.send(());
            found
        });
        let mut done = done;
        while readers.shared.long.available_permits() == LONG_READS {
            assert!(done.try_recv().is_err(), "it was stopped before it had its time");
            tokio::task::yield_now().await;
        }
        let one = query("select 1 as n");
        let quick = tokio::spawn(async move { readers.rows(&one, &mut |row| row.get::<i64>("n")).await });
        assert_eq!(quick.await.unwrap().unwrap().rows, [1]);
        assert!(done.try_recv().is_err(), "the slow one was over first");
        let refused = base::error::Error::from(slow.await.unwrap().unwrap_err());
        assert_eq!(refused.code(), Some(base::error::Code::Overloaded), "{refused}");
    }

    #[tokio::test]
    async fn a_read_may_take_longer_than_a_moment() {
        let dir = tempfile::tempdir().unwrap();
        let readers = Readers::open(&dir.path().join("test.db"), 1).unwrap();
        let sql = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select i from n";
        let at_once = readers.with(|c| c.rows(&query(sql), Patience::AtOnce, &mut |row| row.get::<i64>("i")));
        assert!(was_stopped(&at_once.unwrap_err()));
        let found = readers.rows(&query(sql), &mut |row| row.get::<i64>("i")).await.unwrap().rows;
        assert_eq!((found.len(), found.first(), found.last()), (300_000, Some(&1), Some(&300_000)));
    }
}
