//! The database, opened once: whom to read from, and how to write.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::BoxFuture;

use crate::availability::Availability;
use crate::dialect::Dialect;
use crate::pools::{PoolLimits, PoolUsage, Pools};
use crate::sql::{Reader, Tx, query};
use crate::sqlite;
use crate::wakes::Wakes;
use crate::writer::Writer;

/// The database: readers that never wait for writers, and writes that commit in groups (SQLite) or each in their own
/// transaction (PostgreSQL). Cheap to clone.
#[derive(Clone)]
pub struct Db {
    dialect: Dialect,
    reader: Reader,
    resources: Reader,
    writer: Writer,
    wakes: Wakes,
    availability: Availability,
}

/// How to open the database.
pub struct Options {
    /// `sqlite:///path/file.db` or `postgres://…`.
    pub url: String,
    /// False: one commit per write, to compare with.
    pub group_commit: bool,
    /// SQLite: connections for reading that are kept.
    pub readers: u32,
    /// PostgreSQL: bounds of its connections.
    pub pools: PoolLimits,
    /// PostgreSQL: how long the server is tried again where it cannot be reached at first, ms.
    pub connect_within_ms: u64,
    /// SQLite: no file is made or changed, and each write fails.
    pub read_only: bool,
}

impl Options {
    /// The database at `url` for a command, which asks few questions, one after the other.
    pub fn for_url(url: impl Into<String>) -> Options {
        Options {
            url: url.into(),
            group_commit: true,
            readers: 2,
            pools: PoolLimits::default(),
            connect_within_ms: 0,
            read_only: false,
        }
    }
}

impl Db {
    /// Opens the database as it is, without migrating it.
    pub async fn connect(options: &Options) -> Result<Db> {
        let dialect = Dialect::from_url(&options.url)?;
        let wakes = Wakes::default();
        let opened = match dialect {
            Dialect::Sqlite => open_sqlite(options, &wakes),
            Dialect::Postgres => {
                let within = Duration::from_millis(options.connect_within_ms);
                let pools = Pools::open(&options.url, &options.pools, within).await;
                pools.map(|pools| (Reader::Postgres(pools.clone()), Writer::pooled(pools, wakes.clone())))
            }
        };
        let (reader, writer) = opened
            .with_context(|| format!("cannot open the database {}", dialect.redact_url(&options.url)))?;
        let availability = match &reader {
            Reader::Sqlite(readers) => readers.availability().clone(),
            Reader::Postgres(pools) => pools.availability().clone(),
        };
        let resources = reader.holding();
        Ok(Db { dialect, reader, resources, writer, wakes, availability })
    }

    /// Whether other processes may use it at the same time.
    pub fn is_shared(&self) -> bool {
        matches!(self.dialect, Dialect::Postgres)
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// For queries that change nothing.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The same for what only this process writes, resources above all: cheaper where one database file is read again and again.
    /// (Beside a running host on SQLite, a command of ours may write API keys, applications and their OAuth clients, and nothing else.)
    pub fn resources(&self) -> &Reader {
        &self.resources
    }

    /// Runs `work` in a write transaction and commits it: when this returns `Ok`, the change is on disk. An error rolls back
    /// what `work` did and nothing else. `work` must only talk to the database: others wait for the same commit. Where several transactions
    /// run at once (PostgreSQL), the database can give one up in favour of another; its work is then run again, some times at most. On SQLite
    /// it is run once more when another write of its group failed. So what is to happen once belongs into `Tx::after_commit`. Jobs that it
    /// enqueued wake the runner of this process after the commit.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<anyhow::Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Clone + Send + 'static,
    {
        self.writer.write(work).await
    }

    /// Wakes the runner of jobs in this process.
    pub fn wakes(&self) -> &Wakes {
        &self.wakes
    }

    /// Returns the result of SQLite's integrity check: `["ok"]`, or the damage. Always `["ok"]` on PostgreSQL, which checks its own pages.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        if self.dialect == Dialect::Postgres {
            return Ok(vec!["ok".to_owned()]);
        }
        let checked = query("pragma integrity_check")
            .endless()
            .fetch_all(&self.reader, |row| row.columns().next())
            .await;
        checked.context("cannot check the database")
    }

    /// Bytes that the database takes on its disk.
    pub async fn size_bytes(&self) -> Result<i64> {
        query(self.dialect.database_size()).fetch_one(&self.reader, |row| row.get("bytes")).await
    }

    /// Whether the last write failed for want of room or of leave to write.
    pub(crate) fn is_unwritable(&self) -> bool {
        self.availability.is_unwritable()
    }

    /// How often this process has committed: while it stays the same, so does what `resources` finds. None while it commits, and
    /// where others may write too.
    pub fn commits(&self) -> Option<u64> {
        match &self.reader {
            Reader::Sqlite(readers) => readers.commits(),
            Reader::Postgres(_) => None,
        }
    }

    /// Writes that wait for the writer now.
    pub fn queued_writes(&self) -> usize {
        self.writer.queued()
    }

    /// How the connections for each kind of work are used now: of PostgreSQL's four pools, or of SQLite's one writer.
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        match &self.reader {
            Reader::Postgres(pools) => pools.usage(),
            Reader::Sqlite(_) => {
                let queued = self.writer.queued();
                let in_use = u32::from(queued > 0);
                vec![PoolUsage { lane: "writes", most: 1, in_use, waiting: queued.saturating_sub(1) }]
            }
        }
    }

    /// How often a write was run again because the database gave it up in favour of another, since the start.
    pub fn write_retries(&self) -> u64 {
        self.writer.retries()
    }

    /// Waits for queued writes and closes the files.
    pub async fn close(&self) {
        self.writer.close().await;
        match &self.reader {
            Reader::Sqlite(readers) => readers.close(),
            Reader::Postgres(pools) => pools.close().await,
        }
    }
}

/// The file that a database URL names; none on PostgreSQL and in memory.
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path).split('?').next().unwrap_or_default();
    (!path.is_empty() && path != ":memory:").then(|| PathBuf::from(path))
}

fn open_sqlite(options: &Options, wakes: &Wakes) -> Result<(Reader, Writer)> {
    let file = sqlite_file(&options.url).context("a SQLite database needs a file")?;
    if options.read_only {
        let readers = sqlite::Readers::open_read_only(&file, options.readers as usize)?;
        return Ok((Reader::Sqlite(readers), Writer::absent(wakes.clone())));
    }
    let readers = sqlite::Readers::open(&file, options.readers as usize)?;
    let writer = Writer::single(&file, readers.clone(), wakes.clone(), options.group_commit)?;
    Ok((Reader::Sqlite(readers), writer))
}
