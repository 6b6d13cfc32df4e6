//! Opening the store from a command: beside a running server, after one, or before the first.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use base::file_lock::FileLock;
use service::app::config::Config;
use service::manage::checks::RESTORE_FOLDER;
use storage::{Db, Options};

fn options(config: &Config) -> Options {
    Options { pools: config.database_pools.clone(), ..Options::for_url(config.database()) }
}

/// Opens the database and brings its schema up to date; makes it, and the data directory, where there is none.
pub async fn open_or_make(config: &Config) -> Result<Db> {
    make_data_dir(config)?;
    Db::open(&options(config)).await
}

/// Opens the database that is there, with whatever schema it has.
pub async fn open(config: &Config) -> Result<Db> {
    ensure_exists(config)?;
    Db::connect(&options(config)).await
}

/// The same to read it, without making or changing a file.
pub async fn open_to_read(config: &Config) -> Result<Db> {
    ensure_exists(config)?;
    Db::connect(&Options { read_only: true, ..options(config) }).await
}

fn ensure_exists(config: &Config) -> Result<()> {
    if let Some(file) = config.sqlite_file() {
        ensure!(
            file.exists(),
            "there is no database {}: name its place with --data-dir or --database-url, or start a server first",
            file.display()
        );
    }
    Ok(())
}

/// The data directory, made if it is missing; what is in it is for this user alone. Fails where a restore into it was broken off: what is
/// there is not whole.
pub fn make_data_dir(config: &Config) -> Result<()> {
    create_data_dir(&config.data_dir)?;
    ensure!(
        !config.data_dir.join(RESTORE_FOLDER).exists(),
        "a restore into {} was broken off: run `switchboard restore` again",
        config.data_dir.display()
    );
    Ok(())
}

/// Makes the directory if it is missing, for this user alone.
pub fn create_data_dir(dir: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    ensure_plain(dir)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot make the data directory {}", dir.display()))
}

/// Fails where the URL of a SQLite database in this folder would lead to another file.
pub fn ensure_plain(folder: &Path) -> Result<()> {
    ensure!(
        !folder.as_os_str().as_encoded_bytes().contains(&b'?'),
        "the directory {} has a ? in its name: name another one",
        folder.display()
    );
    Ok(())
}

/// The command that keeps other users of this machine off these files.
pub fn chmod(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!("chmod 600 {}", names.join(" "))
}

/// Keeps other servers off the same SQLite file for as long as it lives; the system ends it with the process, however that
/// ends. None: a PostgreSQL database, which several servers may share.
pub struct Lock(#[expect(dead_code, reason = "held for its lock")] Option<FileLock>);

impl Lock {
    /// Takes the lock beside the database file. Fails when another server has it.
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
                // Only for the message that a second server prints.
                file.set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| write!(file, "{}", std::process::id()))?;
                Ok(Lock(Some(FileLock::held(file))))
            }
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Without it the message is only less helpful.
                let _ = file.take(32).read_to_string(&mut owner);
                bail!(
                    "another server, or `switchboard connector try`, (process {}) uses this database: {} is locked; a SQLite database takes one server, use PostgreSQL for several",
                    owner.trim(),
                    path.display()
                )
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
