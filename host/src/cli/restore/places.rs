//! The places of a restore's files: first they wait beside their places, so that a restore that was broken off leaves nothing that a server
//! would take for its data.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use service::app;
use service::app::config::Config;
use service::manage::checks::RESTORE_FOLDER;

use crate::cli::backup::manifest::{CONNECTORS, DATABASE, SETTINGS};
use crate::cli::refusal::{ensure_or_help, failure};

/// Entries of a data directory that is empty all the same.
const IGNORED: [&str; 3] = [app::MASTER_KEY_FILE, "lost+found", "switchboard.db.lock"];

/// The end of a database's name while it waits beside its place.
const STAGED_SUFFIX: &str = ".restoring";
/// The file in the staging folder that names the place of the database, written before any other.
const PLACE: &str = "place";
/// Its content on PostgreSQL.
const POSTGRES: &str = "PostgreSQL";

/// The places of a restore.
pub struct RestorePlaces {
    data_dir: PathBuf,
    /// The folder beside the places in which files wait; while it is there, no server starts.
    pub staging: PathBuf,
    /// None on PostgreSQL.
    database: Option<PathBuf>,
    /// The database beside its place. None on PostgreSQL.
    pub staged_database: Option<PathBuf>,
}

impl RestorePlaces {
    pub fn new(config: &Config) -> RestorePlaces {
        let database = config.sqlite_file();
        let staged_database = database.as_deref().map(|file| with_suffix(file, STAGED_SUFFIX));
        let (data_dir, staging) = (config.data_dir.clone(), config.data_dir.join(RESTORE_FOLDER));
        RestorePlaces { data_dir, staging, database, staged_database }
    }

    /// Clears away what a restore that was broken off has left. Returns true where it had come to its end: everything is in its place.
    ///
    /// # Errors
    /// Where that restore was of a database in another place: what is left of it is not told from other files then.
    pub fn finish_earlier(&self) -> Result<bool> {
        let begun = match std::fs::read(self.staging.join(PLACE)) {
            Ok(begun) => PathBuf::from(OsString::from_vec(begun)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                // It had not begun to unpack.
                remove(&self.staging)?;
                return Ok(false);
            }
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", self.staging.display())),
        };
        ensure_or_help(
            begun == self.database_place()?,
            || format!("a restore of the database {} was broken off here", begun.display()),
            || {
                let staging = self.staging.display();
                format!("run it again with its --database-url, or remove {staging} to start over")
            },
        )?;
        // The last rename takes the database from beside its place.
        let is_whole = match (&self.database, &self.staged_database) {
            (Some(database), Some(staged)) => is_there(database) && !is_there(staged),
            _ => false,
        };
        if !is_whole {
            // These came from that restore: the folder was empty when it began, and no server has started since.
            remove(&self.data_dir.join(CONNECTORS))?;
            remove(&self.data_dir.join(SETTINGS))?;
        }
        self.discard()?;
        Ok(is_whole)
    }

    /// Makes the folder in which files wait, and notes there, on disk, of which place they are.
    pub fn begin(&self) -> Result<()> {
        let context = || format!("cannot write into {}", self.staging.display());
        DirBuilder::new().mode(0o700).create(&self.staging).with_context(context)?;
        let mut file = File::create_new(self.staging.join(PLACE)).with_context(context)?;
        file.write_all(self.database_place()?.as_os_str().as_bytes()).with_context(context)?;
        file.sync_all().with_context(context)?;
        sync(&self.staging)?;
        sync(&self.data_dir)
    }

    /// The database's place as the staging folder names it.
    fn database_place(&self) -> Result<PathBuf> {
        match &self.database {
            Some(file) => std::path::absolute(file).context("the path of the database"),
            None => Ok(PathBuf::from(POSTGRES)),
        }
    }

    /// Fails where there are data that the restore would mix with its own.
    pub fn ensure_empty(&self) -> Result<()> {
        let context = || format!("cannot read {}", self.data_dir.display());
        for entry in std::fs::read_dir(&self.data_dir).with_context(context)? {
            let name = entry.with_context(context)?.file_name();
            ensure_or_help(
                IGNORED.iter().any(|ignored| name == *ignored),
                || format!("{} is not empty: it has {}", self.data_dir.display(), name.to_string_lossy()),
                || "restore into an empty directory, which may hold the master key".to_owned(),
            )?;
        }
        for suffix in ["", "-wal", "-shm", "-journal", STAGED_SUFFIX] {
            let file = self.database.as_deref().map(|file| with_suffix(file, suffix));
            // A log that belongs to another database would be played into this one. A link leads to a place that may come to be.
            if let Some(file) = file.filter(|file| is_there(file)) {
                return Err(failure(
                    format!("{} is there already", file.display()),
                    "move it away, or restore into another directory",
                ));
            }
        }
        Ok(())
    }

    /// The place beside its own of a file of the backup.
    pub fn staged(&self, name: &str) -> PathBuf {
        match &self.staged_database {
            Some(database) if name == DATABASE => database.clone(),
            _ => self.staging.join(name),
        }
    }

    /// Puts what waits into its places. The database is the last: with it the restore is done.
    pub fn put_in_place(&self) -> Result<()> {
        for name in [CONNECTORS, SETTINGS] {
            let staged = self.staging.join(name);
            if staged.exists() {
                rename(&staged, &self.data_dir.join(name))?;
            }
        }
        sync(&self.data_dir)?;
        if let (Some(staged), Some(database)) = (&self.staged_database, &self.database) {
            rename(staged, database)?;
            sync(database.parent().unwrap_or(&self.data_dir))?;
        }
        self.discard()
    }

    /// Removes what waits beside its place.
    pub fn discard(&self) -> Result<()> {
        if let Some(staged) = &self.staged_database {
            remove(staged)?;
        }
        remove(&self.staging)?;
        sync(&self.data_dir)
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether there is a file, or a link, wherever that leads.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).with_context(|| format!("cannot put {} in its place", to.display()))
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

fn sync(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("cannot sync {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> (tempfile::TempDir, RestorePlaces) {
        let dir = tempfile::tempdir().unwrap();
        let config = Config { data_dir: dir.path().to_owned(), ..Config::default() };
        (dir, RestorePlaces::new(&config))
    }

    #[test]
    fn a_place_with_data_is_refused_by_their_name() {
        let (dir, places) = places();
        std::fs::write(dir.path().join(app::MASTER_KEY_FILE), b"key").unwrap();
        places.ensure_empty().unwrap();
        for name in ["switchboard.db", "switchboard.db-wal", "connectors", "notes.txt"] {
            std::fs::write(dir.path().join(name), b"").unwrap();
            let refused = places.ensure_empty().unwrap_err().to_string();
            assert!(refused.contains(name) && refused.contains("not empty"), "{refused}");
            std::fs::remove_file(dir.path().join(name)).unwrap();
        }
    }

    #[test]
    fn a_place_with_a_link_or_a_file_of_that_name_is_refused() {
        let (dir, _) = places();
        let data_dir = dir.path().join("data");
        std::fs::create_dir(&data_dir).unwrap();
        let database = dir.path().join("elsewhere.db");
        let database_url = Some(format!("sqlite://{}", database.display()));
        let places = RestorePlaces::new(&Config { data_dir, database_url, ..Config::default() });
        places.ensure_empty().unwrap();
        std::os::unix::fs::symlink("nowhere", &database).unwrap();
        assert!(places.ensure_empty().unwrap_err().to_string().contains("is there already"));
        std::fs::remove_file(&database).unwrap();
        std::fs::write(dir.path().join("elsewhere.db.restoring"), b"mine").unwrap();
        assert!(places.ensure_empty().unwrap_err().to_string().contains("elsewhere.db.restoring"));
        assert!(!places.finish_earlier().unwrap());
        assert!(dir.path().join("elsewhere.db.restoring").exists(), "it is of no restore");
    }

    #[test]
    fn a_restore_that_was_broken_off_is_cleared_away_or_finished() {
        let (dir, places) = places();
        let at = |name: &str| dir.path().join(name);
        assert!(!places.finish_earlier().unwrap(), "there was none");
        // It ended before it began to unpack.
        std::fs::create_dir(&places.staging).unwrap();
        assert!(!places.finish_earlier().unwrap() && !places.staging.exists());
        // It ended among its files.
        places.begin().unwrap();
        std::fs::create_dir_all(places.staged("connectors/packages")).unwrap();
        std::fs::write(places.staged("switchboard.db"), b"half").unwrap();
        std::fs::create_dir(at(CONNECTORS)).unwrap();
        assert!(!places.finish_earlier().unwrap());
        places.ensure_empty().unwrap();
        // It ended between the last rename and the end.
        places.begin().unwrap();
        std::fs::create_dir(at(CONNECTORS)).unwrap();
        std::fs::write(at("switchboard.db"), b"whole").unwrap();
        assert!(places.finish_earlier().unwrap());
        assert!(at(CONNECTORS).exists() && at("switchboard.db").exists() && !places.staging.exists());
    }

    #[test]
    fn a_restore_of_another_database_is_neither_finished_nor_cleared_away() {
        let (dir, places) = places();
        let at = |name: &str| dir.path().join(name);
        places.begin().unwrap();
        std::fs::write(places.staged("switchboard.db"), b"half").unwrap();
        std::fs::create_dir(at(CONNECTORS)).unwrap();
        std::fs::write(at("live.db"), b"another").unwrap();
        let live = format!("sqlite://{}", at("live.db").display());
        for url in [live.as_str(), "postgres://db/sb"] {
            let data_dir = dir.path().to_owned();
            let other = Config { data_dir, database_url: Some(url.to_owned()), ..Config::default() };
            let refused = RestorePlaces::new(&other).finish_earlier().unwrap_err().to_string();
            assert!(refused.contains("switchboard.db was broken off here"), "{refused}");
        }
        for name in ["restore.tmp", "switchboard.db.restoring", "connectors", "live.db"] {
            assert!(at(name).exists(), "{name}");
        }
        assert!(!places.finish_earlier().unwrap());
        assert!(!at("switchboard.db.restoring").exists() && at("live.db").exists());
    }
}
