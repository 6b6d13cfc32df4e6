//! What differs between SQLite and PostgreSQL in SQL, and nothing else.

use anyhow::{Result, bail};

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

    /// How many tables there are with the name `$1`.
    pub fn count_tables(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select count(*) as n from sqlite_master where type = 'table' and name = $1",
            Dialect::Postgres => {
                "select count(*) as n from pg_catalog.pg_tables where schemaname = current_schema() and tablename = $1"
            }
        }
    }

    /// Lets one process at a time change the schema. SQLite's write transaction does that by itself.
    pub fn lock_schema(self) -> &'static str {
        match self {
            Dialect::Sqlite => "select 1",
            // An arbitrary number of ours, held until the transaction ends.
            Dialect::Postgres => "set local statement_timeout = 0; select pg_advisory_xact_lock(7311952038)",
        }
    }
}

/// The statement of the engine behind a `Reader`, of two that differ only in how they take a JSON array of texts apart: `among!` stands
/// for a list of them, `$n` being the array.
macro_rules! among {
    ($reader:expr, $before:expr, $array:literal, $after:expr) => {
        match $reader.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, "(select value from json_each(", $array, "))", $after)
            }
            $crate::dialect::Dialect::Postgres => {
                concat!($before, "(select json_array_elements_text(cast(", $array, " as json)))", $after)
            }
        }
    };
}

/// The same, for a condition that a column is one of the texts in a JSON array: `one_of!` stands for the comparison. PostgreSQL guesses that
/// a list of unknown length is long, and may read the whole collection to join it; an array it looks up in the index, text by text.
macro_rules! one_of {
    ($reader:expr, $before:expr, $array:literal) => {
        match $reader.dialect() {
            $crate::dialect::Dialect::Sqlite => {
                concat!($before, " in (select value from json_each(", $array, "))")
            }
            $crate::dialect::Dialect::Postgres => {
                concat!($before, " = any(array(select json_array_elements_text(cast(", $array, " as json))))")
            }
        }
    };
}

pub(crate) use {among, one_of};
