//! SQL, one file per table family, as free functions: `find`, `list`, `insert`, `update`, `delete`. "Not found" is `None`
//! here. The same statements run on SQLite and PostgreSQL; what differs is in `dialect.rs` and `writer.rs`.

pub mod api_keys;
pub mod connections;
pub mod dialect;
pub mod idempotency;
pub mod items;
pub mod log;
pub mod migrations;
pub mod sync_states;
pub mod usage;
mod writer;

use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use sqlx::any::{AnyPoolOptions, AnyRow};
use sqlx::{AnyConnection, AnyPool, Row};

use crate::storage::dialect::Dialect;
use crate::storage::writer::Writer;

/// The connection inside a transaction; queries take it as executor.
pub type Tx = AnyConnection;

/// The database: readers that never wait for writers, and writes that commit in groups (SQLite) or each in their own
/// transaction (PostgreSQL). Cheap to clone.
#[derive(Clone)]
pub struct Db {
    dialect: Dialect,
    readers: AnyPool,
    writer: Writer,
}

/// How to open the database.
pub struct Options {
    /// `sqlite:///path/file.db` or `postgres://…`.
    pub url: String,
    /// False: one commit per write, to compare with.
    pub group_commit: bool,
    /// Most connections for reading.
    pub readers: u32,
}

impl Db {
    /// Opens the database, makes the SQLite file if it is missing, and applies the migrations.
    /// Fails on a schema that is newer than this program.
    pub async fn open(options: &Options) -> Result<Db> {
        let db = Db::connect(options).await?;
        let mut connection = db.readers.acquire().await?;
        migrations::apply(&mut connection).await?;
        drop(connection);
        Ok(db)
    }

    /// Opens the database as it is, without migrating it.
    pub async fn connect(options: &Options) -> Result<Db> {
        sqlx::any::install_default_drivers();
        let dialect = Dialect::of(&options.url)?;
        let url = dialect.connect_url(&options.url);
        let readers = AnyPoolOptions::new()
            .max_connections(options.readers)
            .min_connections(1)
            .acquire_timeout(Duration::from_secs(5))
            .test_before_acquire(dialect == Dialect::Postgres)
            .after_connect(move |connection, _| Box::pin(dialect.prepare(connection)))
            .connect(&url)
            .await
            .with_context(|| format!("cannot open the database {}", dialect.shown(&options.url)))?;
        let writer = match dialect {
            Dialect::Sqlite => Writer::single(&url, options.group_commit).await?,
            Dialect::Postgres => Writer::pooled(readers.clone()),
        };
        Ok(Db { dialect, readers, writer })
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The pool for queries that change nothing.
    pub fn reader(&self) -> &AnyPool {
        &self.readers
    }

    /// Runs `work` in a write transaction and commits it: when this returns `Ok`, the change is on disk. An error rolls back
    /// what `work` did and nothing else. `work` must only talk to the database: others wait for the same commit.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<anyhow::Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.writer.write(work).await
    }

    /// Whether the database answers and has this program's schema.
    pub async fn check(&self) -> Result<()> {
        let mut connection = self.readers.acquire().await?;
        migrations::check(&mut connection).await
    }

    /// What SQLite says of the file's integrity: `["ok"]`, or the damage. PostgreSQL looks after it itself.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        if self.dialect == Dialect::Postgres {
            return Ok(vec!["ok".to_owned()]);
        }
        let rows = sqlx::query("pragma integrity_check")
            .fetch_all(&self.readers)
            .await
            .context("cannot check the database")?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Writes that wait for the writer now.
    pub fn queued_writes(&self) -> usize {
        self.writer.queued()
    }

    /// Waits for what was queued and closes the files.
    pub async fn close(&self) {
        self.writer.close().await;
        if self.dialect == Dialect::Sqlite {
            // The file alone is then the whole database, for those who copy it. Passive: it waits for nobody and may do less.
            let _ = sqlx::query("pragma wal_checkpoint(passive)").execute(&self.readers).await;
        }
        self.readers.close().await;
    }
}

impl From<sqlx::Error> for crate::error::Error {
    fn from(e: sqlx::Error) -> Self {
        crate::error::Error::Internal(anyhow::Error::new(e).context("database"))
    }
}

/// A JSON column as a value. A row that we wrote always parses; if it does not, the error says which column.
pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &AnyRow, column: &'static str) -> Result<T> {
    let text: String = row.try_get(column)?;
    serde_json::from_str(&text)
        .with_context(|| format!("column {column} does not hold the JSON that it should"))
}

/// A value as a JSON column.
pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types always serialise")
}
