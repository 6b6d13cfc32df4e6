//! `switchboard connector try`: runs each read operation of a connector for a connected account.

mod calls;
mod failure;
mod report;
mod steps;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use authoring::Fault;
use base::clock::{Clock, Entropy};
use clap::Args;
use runtime::LoadedConnector;
use service::app::App;
use service::app::config::Config;
use storage::connections::{self as connection_rows, Connection};
use storage::{Db, api_keys, migrations};

use crate::cli::connector::try_account::calls::{CallMeter, TrialAccount};
use crate::cli::connector::try_account::report::TrialReport;
use crate::cli::master_key;
use crate::cli::output::answer;
use crate::cli::serve::Signals;
use crate::cli::settings::Settings;
use crate::cli::store::{self, Lock};

/// Exit code: a step failed.
const STEPS_FAILED: u8 = 3;
/// The log level of the command: a failed step is in the report, and log lines for a connector's author may contain data of the account.
pub const LOG: &str = "error,runtime=off";
/// Time limit for storing tokens that are being renewed.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Read a connected account through its connector, and show what works
///
/// Reads, for each surface of the connection: the account's capabilities, its collections, pages of the first three, one record, and the
/// changes since. Changes nothing at the provider or in the local copy. Shows counts, requests, times, scopes and failures with their
/// remedies, but no content, address or id of the account. Takes the settings of `serve`, and may run beside a server.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard connector try google --connection conn_01JQ8Z6V9C4T7R2M5N8P3K1W0X
  switchboard connector try imap --connection conn_01JQ8Z6V9C4T7R2M5N8P3K1W0X --pages 20 --json

Exit code 3: a step failed.")]
pub struct Trial {
    /// The connector's name
    #[arg(value_name = "NAME")]
    name: String,
    /// The connection, by its id
    #[arg(long, value_name = "ID")]
    connection: String,
    /// Maximum number of pages to read of a collection or of the mailbox before its changes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pages: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

impl Trial {
    pub async fn run(self) -> Result<ExitCode> {
        let Trial { name, connection, pages, json, settings } = self;
        let config = settings.resolve()?.config;
        ensure_usable(&config).await?;
        // A server on the same SQLite file renews tokens itself. Two processes that do it at once can end the grant, so it is done here
        // only if no server can be running.
        let lock = Lock::take(&config).ok();
        let mut signals = Signals::new()?;
        let meter = Arc::new(CallMeter::default());
        let config = Config { connector_observer: Some(meter.clone()), ..config };
        let app = App::start(config, Clock::system(), Entropy::system()).await?;
        let wanted = TrialRequest { name: &name, connection: &connection, pages, renews: lock.is_some() };
        let report = tokio::select! {
            report = examine(&app, &meter, wanted) => report,
            () = signals.end() => Err(anyhow::anyhow!("interrupted before the account was read")),
        };
        // Tokens that were issued and not stored would be lost. A second signal ends the command at once.
        tokio::select! {
            _ = tokio::time::timeout(RENEWAL_TIMEOUT, app.renewals.close()) => {}
            () = signals.end() => {}
        }
        app.db.close().await;
        let report = report?;
        answer(&if json { serde_json::to_string_pretty(&report)? } else { report.text() })?;
        Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(STEPS_FAILED) })
    }
}

/// An account to read.
struct TrialRequest<'a> {
    /// The connector's name.
    name: &'a str,
    /// The connection's id.
    connection: &'a str,
    pages: u32,
    /// Whether this process may renew tokens.
    renews: bool,
}

/// Fails if `serve` has not used the database yet, or has another master key or version: no key or schema is created or migrated here.
async fn ensure_usable(config: &Config) -> Result<()> {
    let db = store::open_to_read(config).await?;
    let usable = ensure_database(&db, config).await;
    db.close().await;
    usable
}

async fn ensure_database(db: &Db, config: &Config) -> Result<()> {
    let Some(keyring) = master_key::find(&config.data_dir)? else {
        return Err(Fault::new(
            format!("there is no master key in {}", config.data_dir.display()),
            "name the server's data directory with --data-dir, or its key with SWITCHBOARD_MASTER_KEY_FILE",
        )
        .into());
    };
    master_key::ensure_matches(db, &keyring).await?;
    if migrations::pending(db).await?.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        "the database has the schema of an older version",
        "run the same version as the server, or update the database first: switchboard migrate",
    )
    .into())
}

async fn examine(app: &App, meter: &CallMeter, wanted: TrialRequest<'_>) -> Result<TrialReport> {
    let connection = find_connection(app, wanted.connection).await?;
    if connection.provider != wanted.name {
        let provider = &connection.provider;
        return Err(Fault::new(
            format!(
                "the connection {} is of the connector {provider}, not of {}",
                connection.id, wanted.name
            ),
            format!("switchboard connector try {provider} --connection {}", connection.id),
        )
        .into());
    }
    let connector = load_connector(app, wanted.name)?;
    let account = TrialAccount { app, connection: &connection, meter, renews: wanted.renews };
    let surfaces = steps::run(&account, &connector, wanted.pages).await;
    Ok(TrialReport::new(&connection, &connector, surfaces))
}

/// The connection with this id, in any application.
async fn find_connection(app: &App, id: &str) -> Result<Connection> {
    for tenant in api_keys::tenants(app.db.reader()).await? {
        if let Some(connection) = connection_rows::find(app.db.reader(), &tenant, id).await? {
            return Ok(connection);
        }
    }
    let help = "GET /v1/connections lists those of an application with their ids";
    Err(Fault::new(format!("there is no connection {id:?}"), help).into())
}

fn load_connector(app: &App, name: &str) -> Result<Arc<LoadedConnector>> {
    if let Some(connector) = app.runtime.find(name) {
        return Ok(connector);
    }
    let cause = app.runtime.status().problems.get(name).map(|cause| format!(": {cause}"));
    Err(Fault::new(
        format!("the connector {name} is not in service{}", cause.unwrap_or_default()),
        "name the folder of the bundled connectors with --connectors, or install it: switchboard connector install DIR",
    )
    .into())
}
