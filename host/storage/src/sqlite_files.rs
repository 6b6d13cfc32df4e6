//! SQLite's files: opening them, and the meaning of SQLite's errors.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Result;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use url::Url;

use crate::error::{is_sqlite_busy, sqlite_outage};
use crate::statement::locked;
use crate::transaction;

/// Prepared statements that a connection caches: more than the program has.
const STATEMENTS: usize = 256;

/// WAL lets readers go on beside the writer; FULL makes a commit survive a power cut; the timeout is for the moments in which
/// another process (a `switchboard keys` command) writes. The log is worked into the file every 16 MiB, the most that one table of
/// its index covers: a page that many commits changed is then written there once.
const PRAGMAS: &str = "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
                       pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -8000; \
                       pragma wal_autocheckpoint = 4000;";
/// The settings of a connection that writes nothing, not even the kind of its journal.
const READ_ONLY_PRAGMAS: &str =
    "pragma busy_timeout = 10000; pragma temp_store = memory; pragma cache_size = -8000;";

/// Opens the database, and creates the file if there is none: for this user alone, and SQLite gives its other files the same
/// mode. An existing file keeps its mode.
pub fn open(file: &Path) -> Result<Connection> {
    // If it cannot be created, SQLite reports the reason in a moment.
    let _ = File::options().write(true).create_new(true).mode(0o600).open(file);
    let connection = Connection::open(file)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // One plan per statement: without this, a bound time that differs from the last makes SQLite plan the query again, which
    // costs more than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Opens an existing database for reading while others may write to it.
pub fn open_beside(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.execute_batch(READ_ONLY_PRAGMAS)?;
    Ok(connection)
}

/// Opens an existing database, and changes no file but the index of a log (`-shm`). A database without a log beside it has no
/// other user and is opened as immutable: looking for its log would create one.
pub fn open_read_only(file: &Path) -> Result<Connection> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return open_beside(file);
    }
    let path = std::path::absolute(file)?;
    let uri = Url::from_file_path(&path);
    let mut uri = uri.map_err(|()| anyhow::anyhow!("{} is no path of a file", path.display()))?;
    uri.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri.as_str(), flags | OpenFlags::SQLITE_OPEN_URI)?;
    connection.execute_batch(READ_ONLY_PRAGMAS)?;
    Ok(connection)
}

/// Converts the error of a statement or a commit. The transaction in which it runs records whether the database itself failed.
pub fn failed(e: rusqlite::Error) -> anyhow::Error {
    if let Some(outage) = sqlite_outage(&e) {
        transaction::met_outage(&outage);
        return outage.into_error();
    }
    if is_sqlite_busy(&e) { locked(e.into()) } else { e.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_made_for_its_owner_alone_and_keeps_the_mode_that_it_has() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            let metadata = std::fs::metadata(dir.path().join(name)).unwrap();
            metadata.permissions().mode() & 0o777
        };
        let connection = open(&dir.path().join("test.db")).unwrap();
        connection.execute_batch("create table t (x text)").unwrap();
        assert_eq!(["test.db", "test.db-wal", "test.db-shm"].map(mode), [0o600; 3]);
        std::fs::write(dir.path().join("old.db"), b"").unwrap();
        std::fs::set_permissions(dir.path().join("old.db"), PermissionsExt::from_mode(0o640)).unwrap();
        open(&dir.path().join("old.db")).unwrap().execute_batch("create table t (x text)").unwrap();
        assert_eq!(mode("old.db"), 0o640);
    }

    #[test]
    fn a_read_only_look_makes_and_changes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a database?.db");
        let files = || {
            let entries = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap);
            let mut found: Vec<_> =
                entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
            found.sort();
            found
        };
        let count = || {
            let found = open_read_only(&file).unwrap();
            found.query_row("select count(*) from t", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert!(open_read_only(&file).is_err(), "there is none yet");
        assert!(files().is_empty());
        let writer = open(&file).unwrap();
        writer.execute_batch("create table t (x text); insert into t values ('a')").unwrap();
        assert_eq!(count(), 1, "beside one who writes");
        writer.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
        drop(writer);
        let before = files();
        assert_eq!(count(), 1, "after the last one who wrote");
        assert_eq!(files(), before);
    }
}
