//! `switchboard doctor`: whether this machine and this data directory are fit to serve. Changes nothing that lasts.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use base::clock::{Clock, Entropy};
use clap::Args;
use runtime::{Allocation, Runtime};
use serde_json::json;
use storage::dialect::Dialect;
use storage::{Db, migrations};

use crate::app;
use crate::app::config::Config;
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
/// Takes the settings of `serve`, checks the data directory, the master key, the database (schema and, on SQLite, integrity),
/// the connectors, the clock, free space and memory for pooled instances. May run beside a server. Exit code 1: something
/// fails.
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
    match store::open(config).await {
        Ok(db) => {
            note("database schema", schema(&db).await);
            note("database integrity", integrity(&db).await);
            db.close().await;
        }
        // Before the first start there is none, and that is in order.
        Err(_) if config.sqlite_file().is_some_and(|f| !f.exists()) => {
            note("database", warn("there is none yet; the first start makes it"));
        }
        Err(e) => note("database", Err(e)),
    }
    match start_runtime(config).await {
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
    tempfile::NamedTempFile::new_in(dir).with_context(|| format!("cannot write into {}", dir.display()))?;
    ok(format!("{} can be written", dir.display()))
}

fn free_space(dir: &Path) -> CheckResult {
    let Some(there) = dir.ancestors().find(|d| d.exists()).or(Some(Path::new("."))) else { return ok("") };
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let stat = rustix::fs::statvfs(there)
        .with_context(|| format!("cannot ask for the free space of {}", there.display()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
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

    for variable in ["SWITCHBOARD_MASTER_KEY", "SWITCHBOARD_MASTER_KEY_FILE"] {
        if std::env::var_os(variable).is_some() {
            app::open_keyring(&config.data_dir, &Entropy::system())?;
            return ok(format!("from {variable}"));
        }
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

/// Loads the connectors as `serve` would; before the first start in a directory that goes away again.
async fn start_runtime(config: &Config) -> Result<Runtime> {
    let scratch = match config.data_dir.join(app::MASTER_KEY_FILE).exists() {
        true => None,
        false => Some(tempfile::tempdir().context("cannot make a temporary directory")?),
    };
    let data_dir = scratch.as_ref().map_or(config.data_dir.clone(), |s| s.path().to_owned());
    let config = Config { data_dir, ..config.clone() };
    let keyring = app::open_keyring(&config.data_dir, &Entropy::system())?;
    Runtime::start(app::runtime_config(&config, &keyring, &Clock::system())?).await
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
