//! `switchboard doctor`: checks whether this machine and this data directory are ready to serve. Writes nothing there.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use authoring::Fault;
use base::clock::{Clock, Entropy};
use base::keyring::{Keyring, MASTER_KEY_BYTES};
use clap::Args;
use runtime::Runtime;
use serde_json::json;
use service::app;
use service::app::config::Config;
use service::manage::checks::{self, CheckFinding, CheckStatus};
use storage::Db;

use crate::cli::master_key::{self, KeyMatch, KeySource};
use crate::cli::output::{answer, table};
use crate::cli::settings::Settings;
use crate::cli::store;

/// The log filter of the command: warnings, and each connector that is compiled, which takes some seconds.
pub const LOG: &str = "warn,runtime::artefacts=info";

/// Check that everything `serve` needs is in order
///
/// Takes the settings of `serve` and checks the data directory, the master key, the database (that it belongs to the master key, its
/// schema and, on SQLite, its integrity), the connectors, the clock, free space and memory for pooled instances. Failures come first.
/// Writes nothing, and may run beside a server. Exit code 1: a check fails.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  switchboard doctor\n  switchboard doctor --config /etc/switchboard.toml --json"
)]
pub struct Doctor {
    /// Print JSON: {"ok", "checks": [{"name", "status", "message"}]}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

/// The result of a check as text.
struct CheckLine {
    name: &'static str,
    status: CheckStatus,
    message: String,
}

/// A check's result: success or a warning; an error is a failure.
type CheckResult = Result<(CheckStatus, String)>;

fn ok(message: impl Into<String>) -> CheckResult {
    Ok((CheckStatus::Ok, message.into()))
}

fn warn(message: impl Into<String>) -> CheckResult {
    Ok((CheckStatus::Warn, message.into()))
}

impl Doctor {
    pub async fn run(self) -> Result<ExitCode> {
        let config = self.settings.resolve()?.config;
        let findings = examine(&config).await;
        let fails = findings.iter().any(|f| f.status == CheckStatus::Fail);
        if self.json {
            let checks: Vec<_> = findings
                .iter()
                .map(|f| json!({ "name": f.name, "status": f.status.as_str(), "message": f.message }))
                .collect();
            answer(&serde_json::to_string_pretty(&json!({ "ok": !fails, "checks": checks }))?)?;
        } else {
            let row =
                |f: &CheckLine| vec![f.status.as_str().to_owned(), f.name.to_owned(), f.message.clone()];
            answer(&table(&findings.iter().map(row).collect::<Vec<_>>()))?;
        }
        Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

async fn examine(config: &Config) -> Vec<CheckLine> {
    let mut findings = Vec::new();
    let mut note = |name, found: CheckResult| {
        let (status, message) = found.unwrap_or_else(|e| (CheckStatus::Fail, failure_text(&e)));
        findings.push(CheckLine { name, status, message });
    };
    note("data directory", Ok(words(config, checks::data_dir(config))));
    note("free space", Ok(words(config, checks::free_space(config))));
    note("master key", master_key(config));
    note("clock", Ok(words(config, checks::clock(config, Clock::system().now_ms()))));
    if config.sqlite_file().is_some() {
        note("database file", Ok(words(config, checks::database_files(config))));
    }
    // If the master key cannot be read, the check above has reported that.
    let keyring = master_key::find(&config.data_dir);
    let mut is_right_key = keyring.is_ok();
    match store::open_to_read(config).await {
        Ok(db) => {
            note("database schema", checks::schema(&db).await.map(|found| words(config, found)));
            note("database integrity", checks::integrity(&db).await.map(|found| words(config, found)));
            if let Ok(keyring) = &keyring {
                let found = stored_secrets(config, &db, keyring.as_ref()).await;
                is_right_key = found.is_ok();
                note("stored secrets", found);
            }
            db.close().await;
        }
        // Before the first start there is no database, which is no failure.
        Err(_) if config.sqlite_file().is_some_and(|f| !f.exists()) => {
            note("database", warn("there is none yet; the first start creates it"));
        }
        Err(e) => note("database", Err(e)),
    }
    match keyring.ok().filter(|_| is_right_key) {
        None => note("connectors", warn("not checked: their compiled code is verified with the master key")),
        Some(keyring) => match start_runtime(config, keyring).await {
            Ok(runtime) => {
                note("connectors", Ok(words(config, checks::connectors(&runtime))));
                note("instances", Ok(words(config, checks::instances(&runtime))));
            }
            Err(e) => note("connectors", Err(e)),
        },
    }
    findings.sort_by_key(|finding| Reverse(finding.status));
    findings
}

/// Returns the cause of a failure, with its remedy if it has one.
fn failure_text(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Fault>() {
        Some(fault) => format!("{error:#}; {}", fault.help),
        None => format!("{error:#}"),
    }
}

/// Returns a finding as text, with its remedy if it has one.
fn words(config: &Config, finding: CheckFinding) -> (CheckStatus, String) {
    let (status, dir) = (finding.status(), config.data_dir.display());
    let message = match finding {
        CheckFinding::DirWritable => format!("{dir} can be written"),
        CheckFinding::DirMissing => format!("{dir} does not exist yet; the first start creates it"),
        CheckFinding::RestoreUnfinished => {
            "a restore into it was broken off: run `switchboard restore` again".to_owned()
        }
        CheckFinding::DirReadOnly(cause) => format!("cannot write into {dir}: {cause}"),
        CheckFinding::SpaceEnough(mib) | CheckFinding::SpaceLittle(mib) => format!("{mib} MiB free"),
        CheckFinding::SpaceNone(mib) => {
            format!("{mib} MiB free; the database will soon fail to write")
        }
        CheckFinding::SpaceUnknown(cause) => cause,
        CheckFinding::ClockPlausible => "plausible".to_owned(),
        CheckFinding::ClockUnset => "the clock is years behind; set it".to_owned(),
        CheckFinding::ClockWentBack => {
            "the database has entries from the future: the clock was set back".to_owned()
        }
        CheckFinding::ClockDeviates(ms) => format!("the clock is {ms} ms ahead of the database's"),
        CheckFinding::KeyPrivate | CheckFinding::FilesPrivate => "for its owner alone".to_owned(),
        CheckFinding::KeyMissing(file) => format!("{} is missing: restore the key", file.display()),
        CheckFinding::KeyExposed(file) => {
            format!("others may read {}: run `chmod 600 {}`", file.display(), file.display())
        }
        CheckFinding::FilesExposed(files) => {
            format!("others may read it: run `{}`", store::chmod(&files))
        }
        CheckFinding::SchemaCurrent => "up to date".to_owned(),
        CheckFinding::SchemaPending(n) => {
            format!("{n} migrations are missing; the next start applies them")
        }
        CheckFinding::DatabaseSound => "sound".to_owned(),
        CheckFinding::DatabaseTrusted => "PostgreSQL looks after it itself".to_owned(),
        CheckFinding::DatabaseDamaged(lines) => format!("damaged: {}; restore a backup", lines.join("; ")),
        CheckFinding::ConnectorsLoaded(loaded) => {
            let named: Vec<String> =
                loaded.iter().map(|(name, version)| format!("{name} {version}")).collect();
            named.join(", ")
        }
        CheckFinding::ConnectorsMissing => {
            "there are none; build them with `cargo xtask connectors`, or name them with --connectors"
                .to_owned()
        }
        CheckFinding::ConnectorsBroken(problems) => broken_connectors(&problems),
        CheckFinding::InstancesPooled => "pooled".to_owned(),
        CheckFinding::InstancesOnDemand => {
            "too little address space for a pool: calls of connectors are slower; see `ulimit -v`".to_owned()
        }
    };
    (status, message)
}

/// Returns the first connector that cannot be loaded, with its cause, and the number of the others.
fn broken_connectors(problems: &BTreeMap<String, String>) -> String {
    let more = match problems.len() {
        0 | 1 => String::new(),
        n => format!("; {} more cannot be loaded", n - 1),
    };
    let first = problems.iter().next().map(|(name, cause)| format!("{name}: {cause}"));
    first.unwrap_or_default() + &more
}

/// Compares the database's secrets with the master key as `serve` does, and opens one of them. Without a master key there must be none.
async fn stored_secrets(config: &Config, db: &Db, keyring: Option<&Keyring>) -> CheckResult {
    let Some(keyring) = keyring else {
        master_key::ensure_new(db, &config.data_dir).await?;
        return ok("there are none yet");
    };
    ok(match master_key::ensure_matches(db, keyring).await? {
        KeyMatch::Unused => "there are none yet",
        KeyMatch::Fingerprint => "sealed with this master key",
        KeyMatch::SealedValue => "open with this master key",
    })
}

fn master_key(config: &Config) -> CheckResult {
    use std::os::unix::fs::PermissionsExt;

    if let Some(KeySource::Variable(variable)) = master_key::find_source(&config.data_dir) {
        app::open_keyring(&config.data_dir, &Entropy::system())
            .with_context(|| format!("the key in {variable} cannot be used"))?;
        return ok(format!("from {variable}"));
    }
    let path = config.data_dir.join(app::MASTER_KEY_FILE);
    let Ok(metadata) = std::fs::metadata(&path) else {
        return match config.sqlite_file().is_some_and(|f| f.exists()) {
            true => Ok((
                CheckStatus::Fail,
                format!(
                    "{} is missing, but there is a database: restore the key, or nothing in the database can be decrypted",
                    path.display()
                ),
            )),
            false => warn("there is none yet; the first start creates it"),
        };
    };
    app::open_keyring(&config.data_dir, &Entropy::system())?;
    match metadata.permissions().mode() & 0o077 {
        0 => ok(format!("{}, for its owner alone", path.display())),
        _ => Ok((
            CheckStatus::Fail,
            format!("others may read {}: run `chmod 600 {}`", path.display(), path.display()),
        )),
    }
}

/// Loads the connectors as `serve` would. Compiled code is read from the data directory; what is compiled now is written to a temporary
/// directory. Before the first start the master key is random and not stored.
async fn start_runtime(config: &Config, keyring: Option<Keyring>) -> Result<Runtime> {
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let keyring = match keyring {
        Some(keyring) => keyring,
        None => Keyring::new(&Entropy::system().bytes::<MASTER_KEY_BYTES>(), Entropy::system())?,
    };
    let mut settings = app::runtime_config(config, &keyring, &Clock::system())?;
    let cache = scratch.path().join("cache");
    link_files(&settings.cache_dir, &cache).context("cannot read compiled connectors")?;
    settings.cache_dir = cache;
    if !settings.store_dir.join("packages").exists() {
        settings.store_dir = scratch.path().join("connectors");
    }
    Runtime::start(settings).await
}

/// Creates a folder with a link to each file of another one, which may be missing. Replacing a link leaves the original file unchanged.
fn link_files(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir(to)?;
    if !from.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(std::path::absolute(from)?)? {
        let entry = entry?;
        std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
