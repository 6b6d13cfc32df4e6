//! The state of an installation: its hosts, its database, the checks that need no second process, its jobs and its connectors.

use std::collections::BTreeMap;

use base::error::{Code, Result, refuse};
use storage::dialect::Dialect;
use storage::hosts::{self as host_rows, Host};
use storage::job_admin::{self, Count};
use storage::{PoolUsage, migrations};

use crate::app::App;
use crate::manage::checks::{self, CheckFinding, CheckStatus};

/// The lock of a check of the database's integrity.
const INTEGRITY_LOCK: &str = "database integrity";

/// A process that works on the database.
#[derive(Clone, Debug)]
pub struct HostHealth {
    pub host: Host,
    /// Its lease is valid, or it is this process on SQLite, where no lease is renewed. Otherwise others take over its jobs.
    pub is_alive: bool,
    /// It is this process.
    pub is_own: bool,
}

/// A check by its name, with its result.
#[derive(Clone, Debug)]
pub struct HealthCheck {
    /// `data_dir`, `free_space`, `clock`, `master_key`, `database_files`, `schema`, `connectors`, `instances` or `integrity`.
    pub name: &'static str,
    pub finding: CheckFinding,
}

/// The state of the database.
#[derive(Clone, Debug)]
pub struct DatabaseHealth {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    /// The room that it takes on its disk; none where the database does not say it.
    pub size_bytes: Option<i64>,
    /// The version of its schema, and the one of this program.
    pub schema_version: i64,
    pub latest_version: i64,
    /// The connections of this process.
    pub pools: Vec<PoolUsage>,
    /// Writes of this process that wait.
    pub queued_writes: usize,
    /// Writes that were run again since this process started.
    pub write_retries: u64,
}

/// The state of an installation. Data directory, connections and connectors are those of this process.
#[derive(Clone, Debug)]
pub struct InstallationHealth {
    pub version: &'static str,
    pub hosts: Vec<HostHealth>,
    pub database: DatabaseHealth,
    pub checks: Vec<HealthCheck>,
    /// Jobs by class and state.
    pub jobs: Vec<Count>,
    /// Connectors that could not be loaded, with the cause.
    pub connector_problems: BTreeMap<String, String>,
}

impl InstallationHealth {
    /// The status of the worst check.
    pub fn status(&self) -> CheckStatus {
        self.checks.iter().map(|check| check.finding.status()).max().unwrap_or(CheckStatus::Ok)
    }
}

/// The processes that work on the database, in the order in which they started.
///
/// # Errors
/// Errors of the database.
pub async fn hosts(app: &App) -> Result<Vec<HostHealth>> {
    let (now, own, is_shared) = (app.now(), app.presence.id(), app.db.is_shared());
    let found = host_rows::list(app.db.reader()).await?;
    let health = |host: Host| {
        let is_own = host.id == own;
        // On SQLite a host is alone, and renews no lease.
        HostHealth { is_alive: host.lease_until > now || (is_own && !is_shared), is_own, host }
    };
    Ok(found.into_iter().map(health).collect())
}

/// The state of the installation.
///
/// # Errors
/// Errors of the database.
pub async fn load(app: &App) -> Result<InstallationHealth> {
    Ok(InstallationHealth {
        version: env!("CARGO_PKG_VERSION"),
        hosts: hosts(app).await?,
        database: database(app).await?,
        checks: run_checks(app).await?,
        jobs: job_admin::counts(app.db.reader()).await?,
        connector_problems: app.runtime.status().problems,
    })
}

async fn database(app: &App) -> Result<DatabaseHealth> {
    Ok(DatabaseHealth {
        engine: match app.db.dialect() {
            Dialect::Sqlite => "sqlite",
            Dialect::Postgres => "postgres",
        },
        // A role may be kept from asking for it.
        size_bytes: app.db.size_bytes().await.ok(),
        schema_version: migrations::version(&app.db).await?,
        latest_version: migrations::latest(),
        pools: app.db.pool_usage(),
        queued_writes: app.db.queued_writes(),
        write_retries: app.db.write_retries(),
    })
}

/// The checks of `switchboard doctor` that need no second process. The integrity of the database is checked on request alone.
async fn run_checks(app: &App) -> Result<Vec<HealthCheck>> {
    let config = &app.config;
    let mut checks = vec![
        HealthCheck { name: "data_dir", finding: checks::data_dir(config) },
        HealthCheck { name: "free_space", finding: checks::free_space(config) },
        HealthCheck { name: "clock", finding: clock(app) },
    ];
    if let Some(finding) = checks::master_key_file(config) {
        checks.push(HealthCheck { name: "master_key", finding });
    }
    if config.sqlite_file().is_some() {
        checks.push(HealthCheck { name: "database_files", finding: checks::database_files(config) });
    }
    checks.push(HealthCheck { name: "schema", finding: checks::schema(&app.db).await? });
    checks.push(HealthCheck { name: "connectors", finding: checks::connectors(&app.runtime) });
    checks.push(HealthCheck { name: "instances", finding: checks::instances(&app.runtime) });
    Ok(checks)
}

/// Whether the machine's clock is plausible, and agrees with the database's where there is one.
fn clock(app: &App) -> CheckFinding {
    match app.clock_deviation.warning() {
        Some(_) => CheckFinding::ClockDeviates(app.clock_deviation.ms()),
        None => checks::clock(&app.config, app.now()),
    }
}

/// Checks the integrity of the database, once at a time in this process: on SQLite all of it is read, which may take minutes.
///
/// # Errors
/// `overloaded` while another check runs; errors of the database.
pub async fn check_integrity(app: &App) -> Result<HealthCheck> {
    let Some(_lock) = app.locks.try_lock(INTEGRITY_LOCK) else {
        let message = "the integrity of the database is being checked; try again when that has ended";
        return Err(refuse(Code::Overloaded, message));
    };
    Ok(HealthCheck { name: "integrity", finding: checks::integrity(&app.db).await? })
}
