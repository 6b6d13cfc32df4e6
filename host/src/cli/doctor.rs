//! `switchboard doctor`: whether this machine and this data directory are fit to serve. Writes nothing there.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use base::clock::{Clock, Entropy};
use base::keyring::Keyring;
use clap::Args;
use runtime::{Allocation, Runtime};
use rustix::fs::Access;
use serde_json::json;
use service::app;
use service::app::config::Config;
use storage::dialect::Dialect;
use storage::{Db, migrations};

use crate::cli::master_key::{self, KeyMatch, KeySource};
use crate::cli::output::{answer, table};
use crate::cli::settings::Settings;
use crate::cli::store;

/// Less free space than this is a warning; less than a tenth of it a failure.
const FREE_BYTES: u64 = 1 << 30;
/// 2025-01-01T00:00:00Z: a clock before it was never set.
const EARLIEST_MS: i64 = 1_735_689_600_000;
/// Files from this far in the future mean that the clock went back.
const SKEW_MS: i64 = 60_000;

/// Check whether everything that `serve` needs is in order
///
/// Takes the settings of `serve`, checks the data directory, the master key and whether the database belongs to it, the database
/// (schema and, on SQLite, integrity), the connectors, the clock, free space and memory for pooled instances. Writes nothing, and may
/// run beside a server. Exit code 1: something fails.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    Warn,
    Fail,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

/// What one check found.
struct CheckFinding {
    name: &'static str,
    status: Status,
    message: String,
}

/// A check's result: good news or a warning. An error is a failure.
type CheckResult = Result<(Status, String)>;

fn ok(message: impl Into<String>) -> CheckResult {
    Ok((Status::Ok, message.into()))
}

fn warn(message: impl Into<String>) -> CheckResult {
    Ok((Status::Warn, message.into()))
}

impl Doctor {
    pub async fn run(self) -> Result<ExitCode> {
        let config = self.settings.resolve()?.config;
        let findings = examine(&config).await;
        let fails = findings.iter().any(|f| f.status == Status::Fail);
        if self.json {
            let checks: Vec<_> = findings
                .iter()
                .map(|f| json!({ "name": f.name, "status": f.status.as_str(), "message": f.message }))
                .collect();
            answer(&serde_json::to_string_pretty(&json!({ "ok": !fails, "checks": checks }))?)?;
        } else {
            let row =
                |f: &CheckFinding| vec![f.status.as_str().to_owned(), f.name.to_owned(), f.message.clone()];
            answer(&table(&findings.iter().map(row).collect::<Vec<_>>()))?;
        }
        Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

async fn examine(config: &Config) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut note = |name, found: CheckResult| {
        let (status, message) = found.unwrap_or_else(|e| (Status::Fail, format!("{e:#}")));
        findings.push(CheckFinding { name, status, message });
    };
    note("data directory", data_dir(config));
    note("free space", free_space(&config.data_dir));
    note("master key", master_key(config));
    note("clock", clock(config));
    if config.sqlite_file().is_some() {
        note("database file", database_file(config));
    }
    // One that cannot be read was told of already.
    let keyring = master_key::find(&config.data_dir).ok().flatten();
    let mut is_other_key = false;
    match store::open_to_read(config).await {
        Ok(db) => {
            note("database schema", schema(&db).await);
            note("database integrity", integrity(&db).await);
            if let Some(keyring) = &keyring {
                let found = stored_secrets(&db, keyring).await;
                is_other_key = found.is_err();
                note("stored secrets", found);
            }
            db.close().await;
        }
        // Before the first start there is none, and that is in order.
        Err(_) if config.sqlite_file().is_some_and(|f| !f.exists()) => {
            note("database", warn("there is none yet; the first start makes it"));
        }
        Err(e) => note("database", Err(e)),
    }
    if is_other_key {
        note("connectors", warn("not checked: their compiled code is verified with the master key"));
        return findings;
    }
    match start_runtime(config, keyring).await {
        Ok(runtime) => {
            note("connectors", connectors(&runtime));
            note("instances", instances(&runtime));
        }
        Err(e) => note("connectors", Err(e)),
    }
    findings
}

fn data_dir(config: &Config) -> CheckResult {
    let dir = &config.data_dir;
    if !dir.exists() {
        return warn(format!("{} does not exist yet; the first start makes it", dir.display()));
    }
    if dir.join(store::RESTORE_FOLDER).exists() {
        let message = "a restore into it was broken off: run `switchboard restore` again";
        return Ok((Status::Fail, message.to_owned()));
    }
    rustix::fs::access(dir.as_path(), Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| format!("cannot write into {}", dir.display()))?;
    ok(format!("{} can be written", dir.display()))
}

fn database_file(config: &Config) -> CheckResult {
    match store::exposed_files(config).as_slice() {
        [] => ok("for its owner alone"),
        exposed => warn(format!("others may read it: run `{}`", store::chmod(exposed))),
    }
}

/// The database's secrets, compared with the master key as `serve` does, and one of them opened.
async fn stored_secrets(db: &Db, keyring: &Keyring) -> CheckResult {
    ok(match master_key::ensure_matches(db, keyring).await? {
        KeyMatch::Unused => "there are none yet",
        KeyMatch::Fingerprint => "sealed with this master key",
        KeyMatch::SealedValue => "open with this master key",
    })
}

fn free_space(dir: &Path) -> CheckResult {
    let free = store::free_bytes(dir)?;
    let message = format!("{} MiB free", free >> 20);
    match free {
        free if free < FREE_BYTES / 10 => {
            Ok((Status::Fail, format!("{message}; the database will soon fail to write")))
        }
        free if free < FREE_BYTES => warn(message),
        _ => ok(message),
    }
}

fn master_key(config: &Config) -> CheckResult {
    use std::os::unix::fs::PermissionsExt;

    if let Some(KeySource::Variable(variable)) = master_key::find_source(&config.data_dir) {
        app::open_keyring(&config.data_dir, &Entropy::system())?;
        return ok(format!("from {variable}"));
    }
    let path = config.data_dir.join(app::MASTER_KEY_FILE);
    let Ok(metadata) = std::fs::metadata(&path) else {
        return match config.sqlite_file().is_some_and(|f| f.exists()) {
            true => Ok((
                Status::Fail,
                format!(
                    "{} is missing, but there is a database: restore the key, or nothing in it can be opened",
                    path.display()
                ),
            )),
            false => warn("there is none yet; the first start makes it"),
        };
    };
    app::open_keyring(&config.data_dir, &Entropy::system())?;
    match metadata.permissions().mode() & 0o077 {
        0 => ok(format!("{}, for its owner alone", path.display())),
        _ => Ok((
            Status::Fail,
            format!("others may read {}: run `chmod 600 {}`", path.display(), path.display()),
        )),
    }
}

fn clock(config: &Config) -> CheckResult {
    let now = Clock::system().now_ms();
    if now < EARLIEST_MS {
        return Ok((Status::Fail, "the clock is years behind; set it".to_owned()));
    }
    let modified = config.sqlite_file().and_then(|f| f.metadata().ok()).and_then(|m| m.modified().ok());
    let modified_ms =
        modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |d| d.as_millis());
    match i64::try_from(modified_ms) {
        Ok(ms) if ms > now + SKEW_MS => warn("the database was written in the future: the clock went back"),
        _ => ok("plausible"),
    }
}

async fn schema(db: &Db) -> CheckResult {
    let pending = migrations::pending(db).await?;
    match pending.len() {
        0 => ok("up to date"),
        n => warn(format!("{n} migrations are missing; the next start applies them")),
    }
}

async fn integrity(db: &Db) -> CheckResult {
    let said = db.integrity().await?;
    match said.first().map(String::as_str) {
        Some("ok") if db.dialect() == Dialect::Postgres => ok("PostgreSQL looks after it itself"),
        Some("ok") => ok("sound"),
        _ => Ok((Status::Fail, format!("damaged: {}; restore a backup", said.join("; ")))),
    }
}

/// Loads the connectors as `serve` would. Compiled code is read from the data directory, and what is compiled now goes into a directory that
/// goes away again.
async fn start_runtime(config: &Config, keyring: Option<Keyring>) -> Result<Runtime> {
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let keyring = match keyring {
        Some(keyring) => keyring,
        None => app::open_keyring(scratch.path(), &Entropy::system())?,
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

/// Makes a folder with a link to each file of another one, which need not be there. What replaces a link leaves the file as it is.
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

fn connectors(runtime: &Runtime) -> CheckResult {
    let problems = runtime.status().problems;
    if let Some((name, cause)) = problems.iter().next() {
        let more = if problems.len() > 1 {
            format!("; {} more cannot be loaded", problems.len() - 1)
        } else {
            String::new()
        };
        return Ok((Status::Fail, format!("{name}: {cause}{more}")));
    }
    let loaded: Vec<String> =
        runtime.list().iter().map(|c| format!("{} {}", c.manifest.name, c.manifest.version)).collect();
    match loaded.is_empty() {
        true => {
            warn("there are none; build them with `cargo xtask connectors`, or name them with --connectors")
        }
        false => ok(loaded.join(", ")),
    }
}

fn instances(runtime: &Runtime) -> CheckResult {
    match runtime.status().allocation {
        Allocation::Pooling => ok("pooled"),
        Allocation::OnDemand => {
            warn("too little address space for a pool: calls of connectors are slower; see `ulimit -v`")
        }
    }
}
