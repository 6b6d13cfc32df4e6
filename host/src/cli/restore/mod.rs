//! `switchboard restore`: restores a backup into an empty directory. Everything is checked before any file is put in place; the database
//! comes last.

mod places;
mod unpack;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use base::keyring::Keyring;
use clap::Args;
use serde_json::json;
use service::app;
use service::app::config::Config;
use service::manage::checks;
use storage::postgres_dump::restore_arguments;
use storage::{Db, Options, migrations};

use crate::cli::backup::manifest::{BackupEngine, BackupManifest, DATABASE, SETTINGS};
use crate::cli::master_key::{self, KeyMatch};
use crate::cli::output::{answer, command_line};
use crate::cli::refusal::{ensure_or_help, failure, with_help};
use crate::cli::restore::places::RestorePlaces;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// Remedy for a file that cannot be unpacked.
const UNPACK_HELP: &str =
    "check that the file is a complete backup and that the disk has room, or restore another backup";

/// Restore a backup into an empty data directory
///
/// Reads a file of `switchboard backup`. The data directory must be empty except for the master key that the backup belongs to; the key
/// may come from SWITCHBOARD_MASTER_KEY or SWITCHBOARD_MASTER_KEY_FILE instead. All files and the database are checked before any is put
/// in place. Stop the server that the backup comes from before you start another one on the copy: both would do the same work.
#[derive(Args)]
#[command(after_help = "\
Example:
  mkdir -m 700 /var/lib/switchboard
  cp /safe/master.key /var/lib/switchboard/
  switchboard restore /backups/today.tar --data-dir /var/lib/switchboard
  switchboard doctor --data-dir /var/lib/switchboard")]
pub struct Restore {
    /// File that `switchboard backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON: {"dataDir", "manifest", "pgRestore"}. `manifest` is null if an earlier restore was complete already
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Restore {
    pub async fn run(self) -> Result<ExitCode> {
        let config = self.place.resolve()?;
        store::create_data_dir(&config.data_dir)?;
        // No server can start there meanwhile.
        let _lock = store::Lock::take(&config)?;
        let places = RestorePlaces::new(&config);
        if places.finish_earlier()? {
            let said = "an earlier restore was complete already; nothing is left to do";
            let found = json!({ "dataDir": config.data_dir, "manifest": null, "pgRestore": null });
            answer(&if self.json { serde_json::to_string_pretty(&found)? } else { said.to_owned() })?;
            return Ok(ExitCode::SUCCESS);
        }
        places.ensure_empty()?;
        let keyring = master_key::find(&config.data_dir)?;
        let unpacked = unpacked(&self.file, &config, &places, keyring.as_ref()).await;
        if unpacked.is_err() {
            // The next attempt would discard the files too; the original error matters more.
            let _ = places.discard();
        }
        let manifest = unpacked
            .map_err(|e| with_help(e, UNPACK_HELP))
            .with_context(|| format!("cannot restore {}", self.file.display()))?;
        places.put_in_place()?;
        report(&config, &manifest, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Unpacks a backup beside its final places, and checks its database there.
async fn unpacked(
    file: &Path,
    config: &Config,
    places: &RestorePlaces,
    keyring: Option<&Keyring>,
) -> Result<BackupManifest> {
    let manifest = unpack::unpack(file, places, |manifest| check(manifest, config, places, keyring))?;
    if let (Some(staged), Some(keyring)) = (&places.staged_database, keyring) {
        let url = format!("sqlite://{}", staged.display());
        let db = Db::connect(&Options { read_only: true, ..Options::for_url(url) }).await?;
        let checked = check_database(&db, keyring, &manifest).await;
        db.close().await;
        checked.context("its database cannot be used")?;
    }
    Ok(manifest)
}

/// Compares a backup with its destination before anything is unpacked.
fn check(
    manifest: &BackupManifest,
    config: &Config,
    places: &RestorePlaces,
    keyring: Option<&Keyring>,
) -> Result<()> {
    let (schema, latest) = (manifest.schema_version, migrations::latest());
    ensure_or_help(
        schema <= latest,
        || {
            format!(
                "it was made by switchboard {} with schema {schema}, and this program knows schemas up to {latest}",
                manifest.version
            )
        },
        || "use that version, or a newer one".to_owned(),
    )?;
    match (manifest.engine, config.sqlite_file()) {
        (BackupEngine::Sqlite, None) => {
            return Err(failure(
                "it holds a SQLite database, and the database URL is not one of SQLite",
                "leave the database URL out",
            ));
        }
        (BackupEngine::Postgres, Some(_)) => {
            return Err(failure(
                "it comes from an installation on PostgreSQL",
                "name the database with --database-url or --database-url-file",
            ));
        }
        _ => {}
    }
    let (wanted, data_dir) = (&manifest.key_fingerprint, config.data_dir.display());
    let keyring = keyring.ok_or_else(|| {
        failure(
            format!("it needs the master key {wanted}"),
            format!(
                "put the key into {data_dir} as {}, or set SWITCHBOARD_MASTER_KEY or SWITCHBOARD_MASTER_KEY_FILE",
                app::MASTER_KEY_FILE
            ),
        )
    })?;
    ensure_or_help(
        keyring.id() == wanted,
        || format!("it belongs to the master key {wanted}, and the one given is {}", keyring.id()),
        || "use the master key of the installation that was backed up: no other one can open it".to_owned(),
    )?;
    ensure_room(manifest, places)
}

/// Fails if a disk has less free space than the files to be put on it need.
fn ensure_room(manifest: &BackupManifest, places: &RestorePlaces) -> Result<()> {
    let database = manifest.files.iter().filter(|file| file.name == DATABASE).map(|file| file.size).max();
    let (total, database) = (manifest.total_bytes(), database.unwrap_or(0));
    let needs = match &places.staged_database {
        // The database may be on another disk.
        Some(staged) if staged.parent() != places.staging.parent() => {
            vec![(&places.staging, total.saturating_sub(database)), (staged, database)]
        }
        _ => vec![(&places.staging, total)],
    };
    for (place, needed) in needs {
        let free = checks::free_bytes(place)?;
        ensure_or_help(
            free >= needed,
            || {
                let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
                format!("it takes {needed} MiB at {}, and {free} MiB are free there", place.display())
            },
            || "free some room, or name a directory on another disk with --data-dir".to_owned(),
        )?;
    }
    Ok(())
}

/// Fails unless the database is intact, is the one in the manifest, and belongs to the master key.
async fn check_database(db: &Db, keyring: &Keyring, manifest: &BackupManifest) -> Result<()> {
    let said = db.integrity().await?;
    ensure!(said.first().is_some_and(|first| first == "ok"), "it is damaged: {}", said.join("; "));
    migrations::pending(db).await?;
    let is_listed = migrations::version(db).await? == manifest.schema_version
        && master_key::ensure_matches(db, keyring).await? != KeyMatch::Unused;
    ensure!(is_listed, "it is not the one that the manifest of the backup describes");
    Ok(())
}

fn report(config: &Config, manifest: &BackupManifest, as_json: bool) -> Result<()> {
    let line = match manifest.engine {
        BackupEngine::Sqlite => None,
        BackupEngine::Postgres => {
            Some(command_line("pg_restore", &restore_arguments(&config.database(), "FILE.dump")?))
        }
    };
    if as_json {
        let text = json!({ "dataDir": config.data_dir, "manifest": manifest, "pgRestore": line });
        return answer(&serde_json::to_string_pretty(&text)?);
    }
    let data_dir = config.data_dir.display();
    let mut text = format!(
        "restored into {data_dir}: the backup of {} by switchboard {}, schema {}\n",
        manifest.taken_at, manifest.version, manifest.schema_version
    );
    if manifest.files.iter().any(|file| file.name == SETTINGS) {
        text.push_str(&format!("its settings are in {}\n", config.data_dir.join(SETTINGS).display()));
    }
    if let Some(line) = line {
        text.push_str(&format!(
            "the database is not in the backup; restore it into an empty one with\n  {line}\n"
        ));
    }
    text.push_str("before you start a server: stop the one that the backup comes from\n");
    answer(&text)
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;
    use storage::installation;

    use super::*;
    use crate::cli::backup::manifest::FORMAT;

    #[tokio::test]
    async fn a_database_that_the_manifest_does_not_tell_of_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let keyring = app::open_keyring(dir.path(), &Entropy::system()).unwrap();
        let db = Db::open(&Options::for_url(format!("sqlite://{}", dir.path().join("a.db").display())))
            .await
            .unwrap();
        let mut manifest = BackupManifest {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            schema_version: migrations::latest(),
            engine: BackupEngine::Sqlite,
            key_fingerprint: keyring.id().to_owned(),
            taken_at: "2026-03-01T08:00:00Z".to_owned(),
            files: Vec::new(),
        };
        let refused = check_database(&db, &keyring, &manifest).await.unwrap_err().to_string();
        assert!(refused.contains("not the one that the manifest"), "no host has used it: {refused}");
        let id = keyring.id().to_owned();
        let settled: Result<String> = db
            .write(move |tx| Box::pin(async move { installation::settle(tx, app::KEYRING_ID, &id).await }))
            .await;
        settled.unwrap();
        check_database(&db, &keyring, &manifest).await.unwrap();
        manifest.schema_version -= 1;
        assert!(check_database(&db, &keyring, &manifest).await.is_err(), "it has another schema");
        db.close().await;
    }
}
