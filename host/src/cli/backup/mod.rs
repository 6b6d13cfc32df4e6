//! `switchboard backup`: everything that is stored, in one file, while the server may run. The master key is not included.

pub mod archive;
pub mod manifest;
mod settings_text;
mod staging;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use base::clock::Clock;
use clap::Args;
use model::Instant;
use serde_json::json;
use service::app;
use service::app::config::Config;
use service::manage::checks;
use storage::postgres_dump::DumpTarget;
use storage::{Db, Options, migrations, snapshot};

use crate::cli::backup::archive::{BackupContent, BackupSource};
use crate::cli::backup::manifest::{
    BackupEngine, BackupManifest, CONNECTORS, DATABASE, FORMAT, SETTINGS, is_allowed,
};
use crate::cli::backup::staging::StagingFolder;
use crate::cli::output::{answer, command_line};
use crate::cli::refusal::{ensure_or_help, failure};
use crate::cli::serve::Signals;
use crate::cli::store_options::StoreOptions;
use crate::cli::{master_key, store};

/// Back up the database, the installed connectors and the settings into one file
///
/// The server may keep running. The file contains the SQLite database, the installed connectors, the settings file without its
/// passwords, and a manifest. It does not contain compiled code, the sandbox provider's journal or the master key. A restore needs the
/// master key: keep it, apart from the backup. With PostgreSQL the file does not contain the database; the command prints the `pg_dump`
/// line that copies it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard backup /backups/switchboard-$(date +%F).tar --data-dir /var/lib/switchboard
  switchboard backup /backups/today.tar --config /etc/switchboard.toml --json")]
pub struct Backup {
    /// File to write; it must not exist yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON: {"file", "bytes", "manifest", "pgDump"}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// The information on the database in a manifest.
struct DatabaseFacts {
    schema_version: i64,
    key_fingerprint: String,
    /// None on SQLite.
    dump: Option<DumpTarget>,
}

impl Backup {
    pub async fn run(self) -> Result<ExitCode> {
        let settings_file = self.place.config.clone();
        let config = self.place.resolve()?;
        let target = std::path::absolute(&self.file).context("the path of the backup")?;
        ensure_or_help(
            target.symlink_metadata().is_err(),
            || format!("{} exists, and no backup is overwritten", target.display()),
            || "name a new file".to_owned(),
        )?;
        let folder = target.parent().context("the backup needs a directory")?;
        ensure_or_help(
            folder.is_dir(),
            || format!("there is no directory {}", folder.display()),
            || "create it, or name a file in another directory".to_owned(),
        )?;
        store::ensure_plain(folder)?;
        let mut signals = Signals::new()?;
        let staging = StagingFolder::create(folder)?;
        let made = tokio::select! {
            made = make(&config, settings_file.as_deref(), &target, staging.path()) => made?,
            () = signals.end() => {
                staging.remove();
                return Err(failure("the backup was interrupted and removed", "run the command again"));
            }
        };
        report(&target, &made, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A completed backup.
struct WrittenBackup {
    bytes: u64,
    manifest: BackupManifest,
    /// None on SQLite.
    dump: Option<DumpTarget>,
}

/// Writes a backup to `target`, by way of the folder `staging`.
async fn make(
    config: &Config,
    settings_file: Option<&Path>,
    target: &Path,
    staging: &Path,
) -> Result<WrittenBackup> {
    let mut sources = Vec::new();
    let db = match config.sqlite_file() {
        Some(file) => {
            let copy = copy_database(&file, staging).await?;
            let content = BackupContent::File(copy.clone());
            sources.push(BackupSource { name: DATABASE.to_owned(), content });
            open(&copy).await?
        }
        None => store::open_to_read(config).await?,
    };
    let facts = facts(&db, config).await;
    db.close().await;
    let facts = facts?;
    sources.extend(connectors(&app::connector_dir(config))?);
    if let Some(file) = settings_file {
        let content = BackupContent::Bytes(settings(file)?.into_bytes());
        sources.push(BackupSource { name: SETTINGS.to_owned(), content });
    }
    let (target, staging) = (target.to_owned(), staging.to_owned());
    let written = tokio::task::spawn_blocking(move || -> Result<WrittenBackup> {
        let manifest = BackupManifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: facts.schema_version,
            engine: if facts.dump.is_some() { BackupEngine::Postgres } else { BackupEngine::Sqlite },
            key_fingerprint: facts.key_fingerprint,
            taken_at: Instant::from_millis(Clock::system().now_ms()).to_string(),
            files: sources.iter().map(BackupSource::measure).collect::<Result<_>>()?,
        };
        let bytes = archive::write(&target, &staging, &manifest, &sources)?;
        Ok(WrittenBackup { bytes, manifest, dump: facts.dump })
    });
    written.await?
}

/// Copies the SQLite database into a folder, and checks the copy.
async fn copy_database(file: &Path, folder: &Path) -> Result<PathBuf> {
    store::ensure_file(file)?;
    // Room for the copy, and for the archive with the copy in it.
    let needed = size_with_log(file).saturating_mul(2);
    let free = checks::free_bytes(folder)?;
    ensure_or_help(
        free >= needed,
        || {
            let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
            format!(
                "{} has {free} MiB free, and the backup takes up to {needed} MiB while it is written",
                folder.display()
            )
        },
        || "free some room, or name a file on another disk".to_owned(),
    )?;
    let copy = folder.join(DATABASE);
    snapshot::copy(file, &copy).await?;
    Ok(copy)
}

/// Returns the bytes of a SQLite database with its write-ahead log.
fn size_with_log(file: &Path) -> u64 {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    size(file).saturating_add(size(Path::new(&log)))
}

/// Opens a copy of a SQLite database, and fails if it is damaged.
async fn open(copy: &Path) -> Result<Db> {
    let url = format!("sqlite://{}", copy.display());
    let db = Db::connect(&Options { read_only: true, ..Options::for_url(url) }).await?;
    let said = db.integrity().await?;
    ensure_or_help(
        said.first().is_some_and(|first| first == "ok"),
        || format!("the database is damaged: {}", said.join("; ")),
        || "restore an earlier backup".to_owned(),
    )?;
    Ok(db)
}

async fn facts(db: &Db, config: &Config) -> Result<DatabaseFacts> {
    Ok(DatabaseFacts {
        key_fingerprint: master_key::load_fingerprint(db).await?,
        schema_version: migrations::version(db).await?,
        dump: DumpTarget::load(db, &config.database()).await?,
    })
}

/// Lists the files of the installed connectors. The index is read first: later packages do no harm, and existing ones never change.
fn connectors(store: &Path) -> Result<Vec<BackupSource>> {
    let index = match std::fs::read(store.join("index.json")) {
        Ok(index) => index,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).context("cannot read the list of installed connectors"),
    };
    let name = format!("{CONNECTORS}/index.json");
    let mut sources = vec![BackupSource { name, content: BackupContent::Bytes(index) }];
    for package in sorted_entries(&store.join("packages"))? {
        for path in sorted_entries(&package)? {
            let (Some(package), Some(file)) = (package.file_name(), path.file_name()) else { continue };
            let name =
                format!("{CONNECTORS}/packages/{}/{}", package.to_string_lossy(), file.to_string_lossy());
            // A package that is being installed is in a folder whose name begins with a dot.
            if path.is_file() && is_allowed(&name) {
                sources.push(BackupSource { name, content: BackupContent::File(path) });
            }
        }
    }
    Ok(sources)
}

/// The entries of a folder in the order of their names.
fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Returns the text of a settings file without its passwords.
fn settings(file: &Path) -> Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    settings_text::without_secrets(&text).with_context(|| format!("cannot use {}", file.display()))
}

fn report(target: &Path, written: &WrittenBackup, as_json: bool) -> Result<()> {
    let WrittenBackup { bytes, manifest, dump } = written;
    let dump_file = format!("{}.dump", target.display());
    // For this user alone, like the backup.
    let line = dump
        .as_ref()
        .map(|dump| format!("(umask 077; {})", command_line("pg_dump", &dump.dump_arguments(&dump_file))));
    if as_json {
        let text = json!({ "file": target, "bytes": bytes, "manifest": manifest, "pgDump": line });
        return answer(&serde_json::to_string_pretty(&text)?);
    }
    let mut text = format!(
        "wrote {} ({} MiB, schema {}, {} files)\n\
         a restore needs the master key {}, which is not in the backup: keep it apart\n",
        target.display(),
        bytes.div_ceil(1 << 20),
        manifest.schema_version,
        manifest.files.len(),
        manifest.key_fingerprint
    );
    if let (Some(line), Some(dump)) = (line, dump.as_ref()) {
        text.push_str(&format!("the database is not in the backup; copy it now with\n  {line}\n"));
        if let Some(advice) = dump_advice(dump.major_version) {
            text.push_str(&format!("{advice}\n"));
        }
    }
    answer(&text)
}

/// Returns advice if this machine has no `pg_dump` for a server of this major version.
fn dump_advice(server: i64) -> Option<String> {
    let said = std::process::Command::new("pg_dump").arg("--version").output().ok();
    let text = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    match pg_dump_version(&text) {
        Some(version) if version >= server => None,
        Some(version) => Some(format!(
            "pg_dump here is version {version}, older than the server ({server}): run that line where a newer one is installed"
        )),
        None => Some(format!(
            "there is no pg_dump here: run that line where version {server} or newer is installed"
        )),
    }
}

/// The major version in `pg_dump (PostgreSQL) 15.4 (Debian 15.4-1)`.
fn pg_dump_version(text: &str) -> Option<i64> {
    let version = text.split(") ").nth(1)?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_pg_dump_is_read() {
        assert_eq!(pg_dump_version("pg_dump (PostgreSQL) 15.4 (Debian 15.4-1)\n"), Some(15));
        assert_eq!(pg_dump_version("pg_dump (PostgreSQL) 17beta1\n"), Some(17));
        assert_eq!(pg_dump_version(""), None);
    }

    #[test]
    fn connectors_are_the_index_and_whole_packages() {
        let dir = tempfile::tempdir().unwrap();
        assert!(connectors(dir.path()).unwrap().is_empty(), "none is installed");
        for folder in ["packages/ab", "packages/.tmpX"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
            std::fs::write(dir.path().join(folder).join("component.wasm"), b"code").unwrap();
        }
        std::fs::write(dir.path().join("index.json"), b"{}").unwrap();
        std::fs::write(dir.path().join("index.lock"), b"").unwrap();
        let names: Vec<String> =
            connectors(dir.path()).unwrap().into_iter().map(|source| source.name).collect();
        assert_eq!(names, ["connectors/index.json", "connectors/packages/ab/component.wasm"]);
    }
}
