//! Opening the database from a command: beside a running server, after one, or before the first.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base::file_lock::FileLock;
use service::app::config::Config;
use service::manage::checks::RESTORE_FOLDER;
use storage::{Db, Options, migrations};

use crate::cli::master_key;
use crate::cli::refusal::{ensure_or_help, failure, with_help};

fn options(config: &Config) -> Options {
    Options { pools: config.database_pools.clone(), ..Options::for_url(config.database()) }
}

/// Remedy of a database that cannot be opened.
const DATABASE_HELP: &str =
    "check the address of the database (--database-url, --data-dir), and that its server runs";
/// Remedy for a schema that does not match this program.
const SCHEMA_HELP: &str =
    "`switchboard migrate` updates an older database; a newer one needs a newer version of the program";
/// Remedy for a missing database.
const MISSING_HELP: &str =
    "name the data directory or the database of your server with --data-dir or --database-url";
/// Remedy for a missing database, for commands that can create one.
const INIT_HELP: &str =
    "name those of your server with --data-dir or --database-url; add --init to create new ones";

/// Opens the database and brings its schema up to date. `init`: an installation that does not exist is created.
///
/// # Errors
/// Without `init` if there is no installation; nothing is created then.
pub async fn open_current(config: &Config, init: bool) -> Result<Db> {
    ensure_restored(config)?;
    match init {
        true => make_data_dir(config)?,
        false => ensure_exists(config, INIT_HELP)?,
    }
    let db = Db::connect(&options(config)).await.map_err(open_failure)?;
    let opened = async {
        if !init {
            ensure_used(&db, config).await?;
        }
        migrations::apply(&db).await.map_err(|e| with_help(e, SCHEMA_HELP))
    };
    let opened = opened.await;
    match opened {
        Ok(()) => Ok(db),
        Err(e) => {
            db.close().await;
            Err(e)
        }
    }
}

/// Opens the existing database, whatever its schema.
pub async fn open(config: &Config) -> Result<Db> {
    ensure_exists(config, MISSING_HELP)?;
    Db::connect(&options(config)).await.map_err(open_failure)
}

/// Opens the existing database read-only, without creating or changing a file.
pub async fn open_to_read(config: &Config) -> Result<Db> {
    ensure_exists(config, MISSING_HELP)?;
    Db::connect(&Options { read_only: true, ..options(config) }).await.map_err(open_failure)
}

/// Fails unless the schema of the database matches this program.
pub async fn ensure_schema(db: &Db) -> Result<()> {
    db.check().await.map_err(|e| with_help(e, SCHEMA_HELP))
}

fn open_failure(error: anyhow::Error) -> anyhow::Error {
    with_help(error, DATABASE_HELP)
}

/// Fails if there is no SQLite database at this path.
pub fn ensure_file(file: &Path) -> Result<()> {
    match file.exists() {
        true => Ok(()),
        false => Err(no_database(file, MISSING_HELP)),
    }
}

fn no_database(file: &Path, help: &str) -> anyhow::Error {
    failure(format!("there is no database {}", file.display()), help)
}

fn ensure_exists(config: &Config, help: &str) -> Result<()> {
    match config.sqlite_file().filter(|file| !file.exists()) {
        Some(file) => Err(no_database(&file, help)),
        None => Ok(()),
    }
}

/// Fails if no server has created the database's tables.
async fn ensure_used(db: &Db, config: &Config) -> Result<()> {
    if migrations::version(db).await? > 0 {
        return Ok(());
    }
    let url = db.dialect().redact_url(&config.database());
    Err(failure(format!("the database {url} is empty: no server has used it"), INIT_HELP))
}

/// Fails if a SQLite database belongs to a missing master key: a start would create a new key, which cannot open it.
pub async fn ensure_master_key(config: &Config) -> Result<()> {
    let exists = config.sqlite_file().is_some_and(|file| file.exists());
    if !exists || master_key::find_source(&config.data_dir).is_some() {
        return Ok(());
    }
    let db = open_to_read(config).await?;
    let checked = master_key::ensure_new(&db, &config.data_dir).await;
    db.close().await;
    checked
}

/// Creates the data directory with `init`; otherwise fails if the directory or its master key is missing.
pub fn ensure_data_dir(config: &Config, init: bool) -> Result<()> {
    if init {
        return make_data_dir(config);
    }
    ensure_restored(config)?;
    let dir = config.data_dir.display();
    if !config.data_dir.is_dir() {
        return Err(failure(format!("there is no data directory {dir}"), INIT_HELP));
    }
    if master_key::find_source(&config.data_dir).is_none() {
        return Err(failure(format!("no server has used the data directory {dir}"), INIT_HELP));
    }
    Ok(())
}

/// Fails if a restore into the data directory was interrupted, so that its files are incomplete.
fn ensure_restored(config: &Config) -> Result<()> {
    match config.data_dir.join(RESTORE_FOLDER).exists() {
        true => Err(failure(
            format!("a restore into {} was broken off", config.data_dir.display()),
            "run `switchboard restore` again",
        )),
        false => Ok(()),
    }
}

/// Creates the data directory if it is missing; its files are accessible to this user only.
///
/// # Errors
/// If a restore into the directory was interrupted.
pub fn make_data_dir(config: &Config) -> Result<()> {
    create_data_dir(&config.data_dir)?;
    ensure_restored(config)
}

/// Creates the directory if it is missing, accessible to this user only.
pub fn create_data_dir(dir: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    ensure_plain(dir)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|e| {
        failure(
            format!("cannot create the data directory {}: {e}", dir.display()),
            "name a directory that you may create with --data-dir",
        )
    })
}

/// Fails if the URL of a SQLite database in this folder would name another file.
pub fn ensure_plain(folder: &Path) -> Result<()> {
    ensure_or_help(
        !folder.as_os_str().as_encoded_bytes().contains(&b'?'),
        || format!("the directory {} has a ? in its name", folder.display()),
        || "name another directory".to_owned(),
    )
}

/// Returns the command that denies other users of this machine access to these files.
pub fn chmod(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!("chmod 600 {}", names.join(" "))
}

/// The lock that keeps other servers from using the same SQLite file. The operating system releases it with the process, however that ends.
/// None: a PostgreSQL database, which several servers may share.
pub struct Lock(#[expect(dead_code, reason = "held for its lock")] Option<FileLock>);

impl Lock {
    /// Takes the lock beside the database file. Fails if another server holds it.
    pub fn take(config: &Config) -> Result<Lock> {
        let Some(database) = config.sqlite_file() else { return Ok(Lock(None)) };
        let mut name = database.into_os_string();
        name.push(".lock");
        let path = PathBuf::from(name);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                // Read only for the message that a second server prints.
                file.set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| write!(file, "{}", std::process::id()))?;
                Ok(Lock(Some(FileLock::held(file))))
            }
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Without the process id the message is only less helpful.
                let _ = file.take(32).read_to_string(&mut owner);
                let owner = owner.trim();
                Err(failure(
                    format!(
                        "process {owner} (a server or `switchboard connector try`) uses this database: {} is locked",
                        path.display()
                    ),
                    "stop that process first; for several servers use PostgreSQL (--database-url)",
                ))
            }
            Err(TryLockError::Error(e)) => Err(e).with_context(|| format!("cannot lock {}", path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_server_on_a_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config { data_dir: dir.path().to_owned(), ..Config::default() };
        let first = Lock::take(&config).unwrap();
        let refused = Lock::take(&config).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        drop(first);
        assert!(Lock::take(&config).is_ok());
    }
}
