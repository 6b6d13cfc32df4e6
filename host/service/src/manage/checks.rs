//! Checks of the machine, the data directory, the database and the connectors, for `switchboard doctor` and the panel. A finding has a code and
//! values; its readers put it into words.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use runtime::{Allocation, Runtime};
use rustix::fs::Access;
use storage::dialect::Dialect;
use storage::{Db, migrations};

use crate::app::MASTER_KEY_FILE;
use crate::app::config::Config;

/// The folder of a data directory in which the files of a restore wait. While it is there, the restore has not come to its end.
pub const RESTORE_FOLDER: &str = "restore.tmp";

/// Variables that the master key can come from in place of its file.
const KEY_VARIABLES: [&str; 2] = ["SWITCHBOARD_MASTER_KEY", "SWITCHBOARD_MASTER_KEY_FILE"];
/// Less free space than this is a warning; less than a tenth of it a failure.
const FREE_BYTES: u64 = 1 << 30;
/// 2025-01-01T00:00:00Z: a clock before it was never set.
const EARLIEST_MS: i64 = 1_735_689_600_000;
/// Files from this far in the future mean that the clock went back.
const SKEW_MS: i64 = 60_000;

/// How much a finding matters; a later one matters more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

impl CheckStatus {
    /// The status as it is sent and printed.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckStatus::Ok => "ok",
            CheckStatus::Warn => "warn",
            CheckStatus::Fail => "fail",
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckFinding {
    /// The data directory can be written.
    DirWritable,
    /// The data directory does not exist.
    DirMissing,
    /// A restore into the data directory has not come to its end.
    RestoreUnfinished,
    /// The data directory cannot be written; the cause.
    DirReadOnly(String),
    /// Free space of the data directory in MiB: enough, little, or too little to write for long.
    SpaceEnough(u64),
    SpaceLittle(u64),
    SpaceNone(u64),
    /// The free space is not known; the cause.
    SpaceUnknown(String),
    /// The clock is plausible, was never set, or shows a time before the last write of the database.
    ClockPlausible,
    ClockUnset,
    ClockWentBack,
    /// The machine's clock is so many milliseconds ahead of the database's.
    ClockDeviates(i64),
    /// The file of the master key is for its owner alone, is missing, or others may read it.
    KeyPrivate,
    KeyMissing(PathBuf),
    KeyExposed(PathBuf),
    /// Files of the database are for their owner alone, or others may read these.
    FilesPrivate,
    FilesExposed(Vec<PathBuf>),
    /// The schema is this program's, or lacks so many migrations.
    SchemaCurrent,
    SchemaPending(usize),
    /// The database is sound, is PostgreSQL's own business, or is damaged: the lines of the engine.
    DatabaseSound,
    DatabaseTrusted,
    DatabaseDamaged(Vec<String>),
    /// The connectors in service, by name and version: all that are known, none, or not those with these causes.
    ConnectorsLoaded(Vec<(String, String)>),
    ConnectorsMissing,
    ConnectorsBroken(BTreeMap<String, String>),
    /// Instances of connectors come out of a pool, or are made one by one for want of address space.
    InstancesPooled,
    InstancesOnDemand,
}

impl CheckFinding {
    /// How much it matters.
    pub fn status(&self) -> CheckStatus {
        match self {
            CheckFinding::DirWritable
            | CheckFinding::SpaceEnough(_)
            | CheckFinding::ClockPlausible
            | CheckFinding::KeyPrivate
            | CheckFinding::FilesPrivate
            | CheckFinding::SchemaCurrent
            | CheckFinding::DatabaseSound
            | CheckFinding::DatabaseTrusted
            | CheckFinding::ConnectorsLoaded(_)
            | CheckFinding::InstancesPooled => CheckStatus::Ok,
            CheckFinding::DirMissing
            | CheckFinding::SpaceLittle(_)
            | CheckFinding::ClockWentBack
            | CheckFinding::ClockDeviates(_)
            | CheckFinding::FilesExposed(_)
            | CheckFinding::SchemaPending(_)
            | CheckFinding::ConnectorsMissing
            | CheckFinding::InstancesOnDemand => CheckStatus::Warn,
            CheckFinding::RestoreUnfinished
            | CheckFinding::DirReadOnly(_)
            | CheckFinding::SpaceNone(_)
            | CheckFinding::SpaceUnknown(_)
            | CheckFinding::ClockUnset
            | CheckFinding::KeyMissing(_)
            | CheckFinding::KeyExposed(_)
            | CheckFinding::DatabaseDamaged(_)
            | CheckFinding::ConnectorsBroken(_) => CheckStatus::Fail,
        }
    }

    /// The code, as it is sent.
    pub fn code(&self) -> &'static str {
        match self {
            CheckFinding::DirWritable => "writable",
            CheckFinding::DirMissing => "missing",
            CheckFinding::RestoreUnfinished => "restore_unfinished",
            CheckFinding::DirReadOnly(_) => "not_writable",
            CheckFinding::SpaceEnough(_) => "enough_space",
            CheckFinding::SpaceLittle(_) => "little_space",
            CheckFinding::SpaceNone(_) => "no_space",
            CheckFinding::SpaceUnknown(_) => "unknown_space",
            CheckFinding::ClockPlausible => "clock_plausible",
            CheckFinding::ClockUnset => "clock_unset",
            CheckFinding::ClockWentBack => "clock_went_back",
            CheckFinding::ClockDeviates(_) => "clock_deviates",
            CheckFinding::KeyPrivate => "key_private",
            CheckFinding::KeyMissing(_) => "key_missing",
            CheckFinding::KeyExposed(_) => "key_exposed",
            CheckFinding::FilesPrivate => "files_private",
            CheckFinding::FilesExposed(_) => "files_exposed",
            CheckFinding::SchemaCurrent => "schema_current",
            CheckFinding::SchemaPending(_) => "schema_pending",
            CheckFinding::DatabaseSound => "database_sound",
            CheckFinding::DatabaseTrusted => "database_trusted",
            CheckFinding::DatabaseDamaged(_) => "database_damaged",
            CheckFinding::ConnectorsLoaded(_) => "connectors_loaded",
            CheckFinding::ConnectorsMissing => "connectors_missing",
            CheckFinding::ConnectorsBroken(_) => "connectors_broken",
            CheckFinding::InstancesPooled => "instances_pooled",
            CheckFinding::InstancesOnDemand => "instances_on_demand",
        }
    }
}

/// Whether the data directory is there and can be written.
pub fn data_dir(config: &Config) -> CheckFinding {
    let dir = &config.data_dir;
    if !dir.exists() {
        return CheckFinding::DirMissing;
    }
    if dir.join(RESTORE_FOLDER).exists() {
        return CheckFinding::RestoreUnfinished;
    }
    match rustix::fs::access(dir.as_path(), Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => CheckFinding::DirWritable,
        Err(e) => CheckFinding::DirReadOnly(e.to_string()),
    }
}

/// Whether the data directory has room.
pub fn free_space(config: &Config) -> CheckFinding {
    match free_bytes(&config.data_dir) {
        Ok(free) if free < FREE_BYTES / 10 => CheckFinding::SpaceNone(free >> 20),
        Ok(free) if free < FREE_BYTES => CheckFinding::SpaceLittle(free >> 20),
        Ok(free) => CheckFinding::SpaceEnough(free >> 20),
        Err(e) => CheckFinding::SpaceUnknown(format!("{e:#}")),
    }
}

/// Bytes that are free where a file or a directory is, or is to be.
pub fn free_bytes(path: &Path) -> Result<u64> {
    let there = path.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let stat = rustix::fs::statvfs(there)
        .with_context(|| format!("cannot ask for the free space of {}", there.display()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Whether the machine's clock, which shows `now` (ms since 1970), is plausible beside the database's file.
pub fn clock(config: &Config, now: i64) -> CheckFinding {
    if now < EARLIEST_MS {
        return CheckFinding::ClockUnset;
    }
    let modified = config.sqlite_file().and_then(|f| f.metadata().ok()).and_then(|m| m.modified().ok());
    let modified_ms = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_millis());
    match i64::try_from(modified_ms) {
        Ok(ms) if ms > now + SKEW_MS => CheckFinding::ClockWentBack,
        _ => CheckFinding::ClockPlausible,
    }
}

/// Whether the file of the master key is there, and for its owner alone; none where the key comes from a variable. What the key opens is not
/// looked at: a host that runs has it.
pub fn master_key_file(config: &Config) -> Option<CheckFinding> {
    if KEY_VARIABLES.iter().any(|variable| std::env::var_os(variable).is_some()) {
        return None;
    }
    let path = config.data_dir.join(MASTER_KEY_FILE);
    Some(match path.metadata() {
        Ok(metadata) if metadata.permissions().mode() & 0o077 == 0 => CheckFinding::KeyPrivate,
        Ok(_) => CheckFinding::KeyExposed(path),
        Err(_) => CheckFinding::KeyMissing(path),
    })
}

/// Whether the files of the SQLite database are for their owner alone.
pub fn database_files(config: &Config) -> CheckFinding {
    match exposed_files(config) {
        exposed if exposed.is_empty() => CheckFinding::FilesPrivate,
        exposed => CheckFinding::FilesExposed(exposed),
    }
}

/// Files of the SQLite database that other users of this machine can read or write; none where their folder keeps them out.
pub fn exposed_files(config: &Config) -> Vec<PathBuf> {
    let mode = |path: &Path| path.metadata().map_or(0, |metadata| metadata.permissions().mode());
    let Some(database) = config.sqlite_file() else { return Vec::new() };
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
    if mode(folder.unwrap_or(Path::new("."))) & 0o011 == 0 {
        return Vec::new();
    }
    let files = ["", "-wal", "-shm"].into_iter().map(|suffix| {
        let mut name = database.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    });
    files.filter(|file| mode(file) & 0o077 != 0).collect()
}

/// Whether the database has this program's schema.
///
/// # Errors
/// Errors of the database, and a schema that is newer than this program.
pub async fn schema(db: &Db) -> Result<CheckFinding> {
    Ok(match migrations::pending(db).await?.len() {
        0 => CheckFinding::SchemaCurrent,
        missing => CheckFinding::SchemaPending(missing),
    })
}

/// Whether the database is sound. On SQLite all of it is read.
///
/// # Errors
/// Errors of the database.
pub async fn integrity(db: &Db) -> Result<CheckFinding> {
    let lines = db.integrity().await?;
    Ok(match lines.first().map(String::as_str) {
        Some("ok") if db.dialect() == Dialect::Postgres => CheckFinding::DatabaseTrusted,
        Some("ok") => CheckFinding::DatabaseSound,
        _ => CheckFinding::DatabaseDamaged(lines),
    })
}

/// Whether all connectors were loaded.
pub fn connectors(runtime: &Runtime) -> CheckFinding {
    let problems = runtime.status().problems;
    if !problems.is_empty() {
        return CheckFinding::ConnectorsBroken(problems);
    }
    let connectors = runtime.list();
    let named = connectors.iter().map(|c| (c.manifest.name.clone(), c.manifest.version.clone()));
    match named.collect::<Vec<_>>() {
        loaded if loaded.is_empty() => CheckFinding::ConnectorsMissing,
        loaded => CheckFinding::ConnectorsLoaded(loaded),
    }
}

/// Whether instances of connectors come out of a pool.
pub fn instances(runtime: &Runtime) -> CheckFinding {
    match runtime.status().allocation {
        Allocation::Pooling => CheckFinding::InstancesPooled,
        Allocation::OnDemand => CheckFinding::InstancesOnDemand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(dir: &Path) -> Config {
        Config { data_dir: dir.to_owned(), ..Config::default() }
    }

    #[test]
    fn a_data_directory_is_missing_broken_off_or_writable() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(data_dir(&config(&dir.path().join("none"))), CheckFinding::DirMissing);
        assert_eq!(data_dir(&config(dir.path())), CheckFinding::DirWritable);
        std::fs::create_dir(dir.path().join(RESTORE_FOLDER)).unwrap();
        let found = data_dir(&config(dir.path()));
        assert_eq!((found.code(), found.status()), ("restore_unfinished", CheckStatus::Fail));
    }

    #[test]
    fn a_master_key_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (config, path) = (config(dir.path()), dir.path().join(MASTER_KEY_FILE));
        assert_eq!(master_key_file(&config), Some(CheckFinding::KeyMissing(path.clone())));
        std::fs::write(&path, b"").unwrap();
        let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0o640);
        assert_eq!(master_key_file(&config), Some(CheckFinding::KeyExposed(path.clone())));
        set_mode(0o600);
        assert_eq!(master_key_file(&config), Some(CheckFinding::KeyPrivate));
    }

    #[test]
    fn a_clock_is_compared_with_the_database() {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path());
        std::fs::write(dir.path().join("switchboard.db"), b"").unwrap();
        assert_eq!(clock(&config, 0), CheckFinding::ClockUnset);
        assert_eq!(clock(&config, EARLIEST_MS), CheckFinding::ClockWentBack);
        assert_eq!(clock(&config, i64::MAX / 2), CheckFinding::ClockPlausible);
    }
}
