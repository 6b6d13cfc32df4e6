//! What differs between SQLite and PostgreSQL, and nothing else.

use anyhow::{Result, bail};
use sqlx::AnyConnection;
use sqlx::Executor;

/// The two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Reads it off the database URL.
    pub fn of(url: &str) -> Result<Self> {
        match url.split(':').next().unwrap_or_default() {
            "sqlite" => Ok(Dialect::Sqlite),
            "postgres" | "postgresql" => Ok(Dialect::Postgres),
            other => bail!("database URL starts with {other:?}; it must be sqlite:// or postgres://"),
        }
    }

    /// The URL to connect with: a missing SQLite file is made.
    pub fn connect_url(self, url: &str) -> String {
        match self {
            Dialect::Sqlite if !url.contains('?') => format!("{url}?mode=rwc"),
            _ => url.to_owned(),
        }
    }

    /// The URL without its password, for messages.
    pub fn shown(self, url: &str) -> String {
        match url::Url::parse(url) {
            Ok(mut parsed) if parsed.password().is_some() => {
                // Cannot fail for a URL that had a password.
                let _ = parsed.set_password(Some("***"));
                parsed.to_string()
            }
            _ => url.to_owned(),
        }
    }

    /// Readies a fresh connection. WAL lets readers go on beside the writer; FULL makes a commit survive a power cut; the
    /// timeout is for the moments in which another process (a `switchboard keys` command) writes.
    pub async fn prepare(self, connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
        if self == Dialect::Sqlite {
            let pragmas = "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
                           pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -8000;";
            connection.execute(pragmas).await?;
        }
        Ok(())
    }

    /// How a write transaction begins: SQLite takes the write lock at once, because a later upgrade can fail without waiting.
    pub fn begin(self) -> &'static str {
        match self {
            Dialect::Sqlite => "begin immediate",
            Dialect::Postgres => "begin",
        }
    }
}
