//! `switchboard serve`: starts so that nothing is served too early, and stops so that nothing is lost.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use base::clock::{Clock, Entropy};
use clap::Args;
use sandbox_provider::{self, Sandbox, guide};
use service::app::App;
use service::app::config::Config;
use service::app::supervise::{Backoff, supervised};
use service::jobs;
use service::manage::{checks, connector_uploads};
use storage::lane::Lane;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::api;
use crate::cli::first_operator;
use crate::cli::listeners::Listeners;
use crate::cli::refusal::{ensure_or_help, with_help};
use crate::cli::serve_settings::ServeSettings;
use crate::cli::settings::Settings;
use crate::cli::threads::block_on;
use crate::cli::{store, telemetry};
use crate::routes::{self, ServiceRoutes};

/// Maximum time from the signal to the end of the process.
const DRAIN: Duration = Duration::from_secs(10);
/// The last part of that time, reserved for closing the database.
const CLOSE: Duration = Duration::from_millis(1_500);
/// Additional time for token renewals in progress: such a request takes at most 20 s.
const RENEW: Duration = Duration::from_secs(15);

/// Environment variables that correspond to no flag.
const OTHER_VARIABLES: [&str; 4] = [
    "SWITCHBOARD_MASTER_KEY",
    "SWITCHBOARD_MASTER_KEY_FILE",
    first_operator::EMAIL_VARIABLE,
    first_operator::PASSWORD_FILE_VARIABLE,
];

/// Serve the API
///
/// The first start creates the data directory, the database and a master key. Back up the master key: without it, stored credentials
/// and API keys are lost. To use your own, set SWITCHBOARD_MASTER_KEY to 32 bytes in base64, or SWITCHBOARD_MASTER_KEY_FILE to a
/// file that holds them.
///
/// The administration panel is at /admin. While there is no operator, each start logs a link to create the first one. With
/// SWITCHBOARD_ADMIN_EMAIL and SWITCHBOARD_ADMIN_PASSWORD_FILE the first start creates it without a link.
///
/// On SIGTERM, /readyz answers 503 and event streams end. Then no new connections are accepted, and requests and webhook deliveries in
/// progress are completed. The process ends with code 0 within 10 seconds, or within 25 while tokens are being renewed at a provider. A
/// second signal ends it at once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard serve --sandbox
  switchboard serve --listen 0.0.0.0:8080 --data-dir /var/lib/switchboard
  switchboard serve --public-url https://api.example.com --trusted-proxy 10.0.0.0/8
  switchboard serve --config /etc/switchboard.toml
  SWITCHBOARD_DATABASE_URL_FILE=/run/secrets/database-url switchboard serve

A settings file:
  listen = \"0.0.0.0:8080\"
  data_dir = \"/var/lib/switchboard\"
  egress_allow = [\"10.1.0.0/16\"]")]
pub struct Serve {
    #[command(flatten)]
    settings: Settings,
}

impl Serve {
    /// Serves until the process is asked to stop. `known`: the environment variables of all commands.
    pub fn run(self, known: &[OsString]) -> Result<ExitCode> {
        let resolved = self.settings.resolve()?;
        telemetry::start(resolved.log_format, &resolved.log_level)?;
        note_unknown_variables(known);
        block_on(serve(resolved, None))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Warns of unknown variables: a misspelt one silently leaves the default, which can be dangerous.
fn note_unknown_variables(known: &[OsString]) {
    for (name, _) in std::env::vars_os() {
        let ours =
            name.to_str().is_some_and(|n| n.starts_with("SWITCHBOARD_") && !OTHER_VARIABLES.contains(&n));
        if ours && !known.contains(&name) {
            tracing::warn!(variable = %name.to_string_lossy(), "unknown setting; see `switchboard serve --help`");
        }
    }
}

/// A service that accepts requests.
pub struct BoundService {
    pub app: App,
    /// Its operations, for calls within this process.
    pub service: Router,
}

/// Serves until the process is asked to stop. `ready` is notified as soon as requests are accepted.
pub async fn serve(resolved: ServeSettings, ready: Option<oneshot::Sender<BoundService>>) -> Result<()> {
    let ServeSettings { mut config, drain_delay, connectors_named, .. } = resolved;
    // From here on a signal ends the process in order, even during its start.
    let mut signals = Signals::new()?;
    check_connectors(&config, connectors_named)?;
    store::make_data_dir(&config)?;
    // Held until the process ends, in whatever way.
    let _lock = store::Lock::take(&config)?;
    store::ensure_master_key(&config).await?;
    let mut listeners = Listeners::bind(&mut config).await?;
    let started = tokio::select! {
        started = start(config) => started?,
        () = signals.end() => return Ok(()),
    };
    let StartedService { app, routes, first_operator, _watch } = started;
    let exposed = checks::exposed_files(&app.config);
    if !exposed.is_empty() {
        tracing::warn!("other users of this machine can read the database: run `{}`", store::chmod(&exposed));
    }

    let (stop, stopping) = watch::channel(false);
    let mut working = in_background(&app, &stopping, "jobs", jobs::run);
    if let Some(listener) = listeners.metrics.take() {
        tracing::info!("metrics on http://{}/metrics", listener.address()?);
        let routes = api::system::metrics_routes(app.clone());
        tokio::spawn(listener.serve(routes, app.metrics.clone(), stopping.clone()));
    }
    if let Some(ready) = ready {
        // The receiver may be gone already.
        let _ = ready.send(BoundService { app: app.clone(), service: routes.main.clone() });
    }
    let serving = listeners.serve(routes, app.metrics.clone(), stopping);
    let mut serving = tokio::spawn(app.claims.open().during(serving));
    log_ready(&app, first_operator.as_deref());

    let asked = signals.end_or_interrupt().await;
    let deadline = Instant::now() + DRAIN;
    app.start_draining(deadline - CLOSE);
    tracing::info!("stopping: requests in progress have {} s to complete", DRAIN.as_secs());
    let drained = async {
        // After an interrupt at a terminal there is no load balancer to wait for.
        if asked == StopReason::ToEnd {
            tokio::time::sleep(drain_delay).await;
        }
        stop.send_replace(true);
        (&mut serving).await
    };
    tokio::select! {
        drained = tokio::time::timeout_at(deadline - CLOSE, drained) => match drained {
            Ok(_) => {}
            Err(_) => tracing::warn!("requests were still in progress when the time limit ended"),
        },
        _ = signals.end_or_interrupt() => stop_at_once(&app),
    }
    stop.send_replace(true);
    serving.abort();
    await_jobs(&app, &mut signals, &mut working, deadline).await;
    await_renewals(&app, &mut signals, deadline + RENEW).await;
    close(&app, deadline.max(Instant::now() + CLOSE)).await;
    Ok(())
}

/// Logs the address of the service, the test accounts, and the line about the first operator.
fn log_ready(app: &App, first_operator: Option<&str>) {
    tracing::info!(
        public_url = app.config.public_address(),
        connectors = app.runtime.list().len(),
        "listening on http://{}",
        app.config.listen
    );
    if app.config.sandbox {
        tracing::info!("the sandbox has test accounts: {}; see docs/sandbox.md", guide::sign_in_hint());
    }
    if let Some(line) = first_operator {
        tracing::info!("{line}");
    }
}

/// Waits for background work: messages being handed over and deliveries that a webhook may already have received should not be interrupted;
/// unfinished jobs are released.
async fn await_jobs(app: &App, signals: &mut Signals, working: &mut JoinHandle<()>, deadline: Instant) {
    tokio::select! {
        _ = tokio::time::timeout_at(deadline, &mut *working) => {}
        _ = signals.end_or_interrupt() => {
            stop_at_once(app);
            let _ = tokio::time::timeout_at(deadline, &mut *working).await;
        }
    }
    working.abort();
}

/// Stops background work at once; its jobs are released.
fn stop_at_once(app: &App) {
    tracing::warn!("stopping at once");
    app.start_draining(Instant::now());
}

/// Runs a loop beside the requests, and restarts it if it panics.
fn in_background<F: Future<Output = ()> + Send + 'static>(
    app: &App,
    stopping: &watch::Receiver<bool>,
    work: &'static str,
    run: fn(App, watch::Receiver<bool>) -> F,
) -> JoinHandle<()> {
    let (app, stopping) = (app.clone(), stopping.clone());
    let (metrics, stop) = (app.metrics.clone(), stopping.clone());
    let start = move || Lane::jobs().scope(run(app.clone(), stopping.clone()));
    tokio::spawn(supervised(metrics, work, stop, Backoff::default(), start))
}

/// Waits for token renewals in progress: at many providers a renewal invalidates the old tokens.
async fn await_renewals(app: &App, signals: &mut Signals, deadline: Instant) {
    let under_way = app.renewals.running();
    if under_way > 0 {
        tracing::info!(under_way, "stopping: tokens are being renewed");
    }
    tokio::select! {
        renewed = tokio::time::timeout_at(deadline, app.renewals.close()) => if renewed.is_err() {
            tracing::warn!("tokens were still being renewed when the time limit ended");
        },
        _ = signals.end_or_interrupt() => tracing::warn!("stopping at once"),
    }
}

/// Writes the last usage figures and log entries to the database. Acknowledged writes are on disk already.
async fn close(app: &App, deadline: Instant) {
    let work = async {
        if let Err(e) = app.usage.flush(&app.db).await {
            tracing::warn!(error = %format!("{e:#}"), "usage figures of the last seconds are lost");
        }
        if let Err(e) = service::app::request_log::writing::flush(app).await {
            tracing::warn!(error = %format!("{e:#}"), "the request log of the last seconds is lost");
        }
        app.db.close().await;
    };
    match tokio::time::timeout_at(deadline, work).await {
        Ok(()) => tracing::info!("stopped"),
        Err(_) => tracing::warn!("stopped before the database was closed"),
    }
}

/// The complete service, before it is served.
struct StartedService {
    app: App,
    routes: ServiceRoutes,
    /// A log line that says how to sign in to the panel for the first time.
    first_operator: Option<String>,
    /// Reloads connectors until it is dropped.
    _watch: Option<runtime::Watch>,
}

async fn start(config: Config) -> Result<StartedService> {
    let app = App::start(config, Clock::system(), Entropy::system()).await;
    let app =
        app.map_err(|e| with_help(e, "`switchboard doctor` with the same settings says what is wrong"))?;
    for (name, cause) in app.runtime.status().problems {
        tracing::error!(connector = %name, "connector not loaded: {cause}");
    }
    connector_uploads::remove_leftovers(&app).await;
    let first_operator = first_operator::prepare(&app).await?;
    let mut sandbox = None;
    if app.config.sandbox {
        let clock = app.clock.clone();
        let mut settings = sandbox_provider::Config::new(std::sync::Arc::new(move || clock.now_ms()));
        settings.data_dir = Some(app.config.data_dir.clone());
        settings.address = Some(format!("http://{}", app.config.own_address()));
        settings.public_address = Some(app.config.public_address());
        let provider = Sandbox::new(settings).context("cannot start the sandbox provider")?;
        sandbox = Some(sandbox_provider::router(provider));
    }
    let routes = routes::assemble(&app, sandbox);
    let watched = app.config.connectors_dir.clone().filter(|_| app.config.watch_connectors);
    let watch =
        watched.map(|dir| app.runtime.watch(&dir).with_context(|| format!("cannot watch {}", dir.display())));
    Ok(StartedService { app, routes, first_operator, _watch: watch.transpose()? })
}

/// Fails if connectors that were named are missing; those of a fresh checkout may not be built yet.
fn check_connectors(config: &Config, named: bool) -> Result<()> {
    let Some(dir) = config.connectors_dir.as_ref().filter(|dir| !dir.is_dir()) else { return Ok(()) };
    ensure_or_help(
        !named && !config.watch_connectors,
        || format!("there is no directory {} with connectors", dir.display()),
        || "name the folder that holds the folders of the connectors with --connectors".to_owned(),
    )?;
    tracing::warn!(
        dir = %dir.display(),
        "there are no bundled connectors; build them with `cargo xtask connectors`, or name them with --connectors"
    );
    Ok(())
}

/// The signal with which the process was asked to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StopReason {
    /// SIGTERM: a supervisor.
    ToEnd,
    /// SIGINT: a person at a terminal.
    Interrupt,
}

/// Signals to the process.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn new() -> Result<Signals> {
        let on = |kind| signal(kind).context("cannot listen to signals");
        Ok(Signals { terminate: on(SignalKind::terminate())?, interrupt: on(SignalKind::interrupt())? })
    }

    async fn end_or_interrupt(&mut self) -> StopReason {
        tokio::select! {
            _ = self.terminate.recv() => StopReason::ToEnd,
            _ = self.interrupt.recv() => StopReason::Interrupt,
        }
    }

    /// Waits until the process is asked to end.
    pub async fn end(&mut self) {
        self.end_or_interrupt().await;
    }
}
