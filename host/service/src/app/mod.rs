//! `App`: everything that a request or a job needs, in one concrete struct that is cheap to clone.

pub mod busy_times_cache;
pub mod config;
pub mod database_clock;
pub mod event_log;
pub mod freshness;
pub mod host_identity;
pub mod jwks;
pub mod live_channels;
pub mod log_queue;
pub mod metrics;
pub mod named_locks;
pub mod oidc_client;
pub mod page_cache;
pub mod pull_progress;
pub mod recent_cache;
pub mod request_log;
pub mod resource_kind;
pub mod running_claims;
pub mod signed_in_operator;
pub mod sold_out_slots;
pub mod stored_response;
pub mod stream_keys;
pub mod supervise;
pub mod throttle_limit;
pub mod token_renewals;
pub mod usage;
pub mod usage_units;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use base::clock::{Clock, Entropy};
use base::ids::{self, Kind};
use base::keyring::{Keyring, MASTER_KEY_BYTES};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use compute::Compute;
use compute::named_semaphores::Shares;
use merging::Ranking;
use runtime::Runtime;
use storage::connections::Connection;
use storage::items::Item;
use storage::oauth_clients::OAuthClient;
use storage::old_secrets::PresentedKey;
use storage::throttles::ConnectionThrottles;
use storage::{Db, Options, installation};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::app::busy_times_cache::BusyTimes;
use crate::app::config::Config;
use crate::app::database_clock::ClockDeviation;
use crate::app::freshness::Freshness;
use crate::app::host_identity::Presence;
use crate::app::jwks::JwksCache;
use crate::app::live_channels::Watches;
use crate::app::metrics::Metrics;
use crate::app::named_locks::NamedLocks;
use crate::app::oidc_client::OidcClient;
use crate::app::page_cache::PageCache;
use crate::app::pull_progress::PullProgress;
use crate::app::recent_cache::RecentCache;
use crate::app::request_log::RequestLog;
use crate::app::running_claims::RunningClaims;
use crate::app::signed_in_operator::SignedInOperator;
use crate::app::sold_out_slots::SoldOut;
use crate::app::stream_keys::StreamKeys;
use crate::app::token_renewals::Renewals;
use crate::app::usage::Counters;

/// Maximum passwords that are hashed concurrently: each hash takes a processor and 19 MiB for some 30 ms.
const HASHES_AT_ONCE: usize = 2;
/// Maximum hashes that wait for a permit.
const MAX_WAITING_HASHES: usize = 32;

/// The shared handles.
#[derive(Clone)]
pub struct App(Arc<Handles>);

/// Cached metadata of an authorization server: the document, or time (Unix ms) and reason of the last failure.
pub type CachedMetadata =
    std::result::Result<serde_json::Map<String, serde_json::Value>, (i64, Box<base::error::Refusal>)>;

/// The shared handles that `App` derefs to.
pub struct Handles {
    pub config: Config,
    pub clock: Clock,
    /// The difference between the machine's clock and the database's.
    pub clock_deviation: ClockDeviation,
    pub entropy: Entropy,
    pub db: Db,
    /// Claims of Idempotency-Keys of requests that run in this process.
    pub claims: RunningClaims,
    pub keyring: Keyring,
    pub runtime: Runtime,
    pub locks: NamedLocks,
    pub freshness: Freshness,
    /// Wakes requests that wait for an initial sync to reach older messages.
    pub coverage: PullProgress,
    /// Providers that tell of changes by themselves.
    pub watches: Watches,
    /// Recently opened calendars, with their connections.
    pub opened: RecentCache<(Connection, Item)>,
    /// Metadata of authorization servers: the document, or time (Unix ms) and reason of the last failure.
    pub metadata: RecentCache<CachedMetadata>,
    /// Public keys by which providers sign tokens.
    pub jwks: JwksCache,
    /// Token renewals at providers in progress.
    pub renewals: Renewals,
    /// OAuth clients by application and provider, as recently read: a change by another process takes effect within a second.
    pub registrations: RecentCache<Option<OAuthClient>>,
    /// Accounts that post notifications for applications, by provider and setting: a change takes effect within a second.
    pub posters: RecentCache<BTreeMap<String, BTreeSet<String>>>,
    /// Waits that providers asked for, by connection; none: the connection does not exist.
    pub throttles: RecentCache<Option<ConnectionThrottles>>,
    /// Recently used keys by hash: a key that another process revokes still works for a second.
    pub keys: RecentCache<PresentedKey>,
    /// Whether any valid key lists a site among its domains, by the site's host.
    pub sites: RecentCache<bool>,
    pub pages: PageCache,
    /// Busy times of calendars that are searched often.
    pub busy_times: BusyTimes,
    /// Popular slots that are taken.
    pub sold_out: SoldOut,
    /// Merge suggestions that are being paged through.
    pub rankings: RecentCache<Ranking>,
    /// Computes merge suggestions: at most two at a time, since each takes much memory, and one per tenant.
    pub merging: Compute,
    /// Runs CPU-bound work.
    pub compute: Compute,
    /// Hashes passwords of operators, at most `HASHES_AT_ONCE` at a time.
    pub hashing: Compute,
    /// Permits for running and waiting password hashes; beyond them hashes are refused.
    pub hashing_room: Arc<Semaphore>,
    /// Sessions of operators by the hashes of their cookies: a change by another process takes effect within a second.
    pub operator_sessions: RecentCache<SignedInOperator>,
    /// The client of the panel's OpenID provider, if the settings name one.
    pub oidc: Option<OidcClient>,
    pub usage: Counters,
    pub request_log: RequestLog,
    pub metrics: Metrics,
    /// This host's permits for event streams, and the shares of each API key and each application.
    pub stream_room: Arc<Semaphore>,
    pub stream_shares: Shares,
    pub application_stream_shares: Shares,
    /// The API keys of open event streams.
    pub stream_keys: StreamKeys,
    /// Whether the process is asked to end, and takes no new requests.
    draining: watch::Sender<bool>,
    /// Time until which work in progress may then continue.
    drain_ends_at: watch::Sender<Option<Instant>>,
    /// The unique name of this run of the process: claims of other runs on the same SQLite file are void.
    pub boot: String,
    pub presence: Presence,
}

impl Deref for App {
    type Target = Handles;

    fn deref(&self) -> &Handles {
        &self.0
    }
}

impl App {
    /// Opens everything: data directory, master key, database with its migrations, connectors.
    pub async fn start(config: Config, clock: Clock, entropy: Entropy) -> Result<App> {
        std::fs::create_dir_all(&config.data_dir)
            .with_context(|| format!("cannot make the data directory {}", config.data_dir.display()))?;
        let keyring = open_keyring(&config.data_dir, &entropy)?;
        let options = Options {
            group_commit: config.group_commit,
            readers: 8,
            pools: config.database_pools.clone(),
            connect_within_ms: config.database_pools.acquire_ms,
            ..Options::for_url(config.database())
        };
        let db = Db::open(&options).await?;
        // Before anything is written, or compared with a clock.
        let clock_deviation = ClockDeviation::default();
        database_clock::follow(&db, &clock, &clock_deviation).await?;
        same_keyring(&db, &keyring).await?;
        let oidc = match config.admin_oidc {
            Some(_) => Some(OidcClient::new(&extra_roots(&config)?)?),
            None => None,
        };
        let runtime = Runtime::start(runtime_config(&config, &keyring, &clock)?).await?;
        let boot = ids::new(Kind::Request, &clock, &entropy);
        let streams = config.event_streams;
        let request_log = RequestLog::new(config.request_log_days > 0);
        Ok(App(Arc::new(Handles {
            config,
            clock,
            clock_deviation,
            entropy,
            claims: RunningClaims::new(db.clone()),
            db,
            keyring,
            runtime,
            locks: NamedLocks::default(),
            freshness: Freshness::default(),
            coverage: PullProgress::default(),
            watches: Watches::default(),
            opened: RecentCache::default(),
            registrations: RecentCache::default(),
            posters: RecentCache::default(),
            throttles: RecentCache::default(),
            keys: RecentCache::default(),
            sites: RecentCache::default(),
            pages: PageCache::default(),
            busy_times: BusyTimes::default(),
            sold_out: SoldOut::default(),
            rankings: RecentCache::lasting(60_000, 2),
            metadata: RecentCache::lasting(3_600_000, 1_000),
            jwks: JwksCache::default(),
            renewals: Renewals::default(),
            merging: Compute::new(2),
            compute: Compute::default(),
            hashing: Compute::new(HASHES_AT_ONCE),
            hashing_room: Arc::new(Semaphore::new(HASHES_AT_ONCE + MAX_WAITING_HASHES)),
            operator_sessions: RecentCache::default(),
            oidc,
            usage: Counters::default(),
            request_log,
            metrics: Metrics::default(),
            stream_room: Arc::new(Semaphore::new(streams.of_host)),
            stream_shares: Shares::new(streams.of_key),
            application_stream_shares: Shares::new(streams.of_application),
            stream_keys: StreamKeys::default(),
            draining: watch::Sender::new(false),
            drain_ends_at: watch::Sender::new(None),
            presence: Presence::new(boot.clone()),
            boot,
        })))
    }

    /// The current time, ms since 1970.
    pub fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Returns a new canonical id.
    pub fn new_id(&self, kind: Kind) -> String {
        ids::new(kind, &self.clock, &self.entropy)
    }

    /// Starts draining: `/readyz` refuses from now on, so that load balancers send nothing more; event streams end, so that clients
    /// reconnect to another host; no delivery to a webhook begins any more. Background work that must not be left half-done has to end by
    /// `ends_at`; a further call can set an earlier time.
    pub fn start_draining(&self, ends_at: Instant) {
        self.drain_ends_at.send_replace(Some(ends_at));
        self.draining.send_replace(true);
    }

    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Becomes true when the service is asked to end.
    pub fn draining(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    /// Returns the time until which background work may continue; none while the process is not asked to end.
    pub fn drain_ends_at(&self) -> watch::Receiver<Option<Instant>> {
        self.drain_ends_at.subscribe()
    }
}

/// Name of the installation's value that holds the fingerprint of its master key.
pub const KEYRING_ID: &str = "keyring_id";

/// Fails if the database's secrets are sealed with another master key, so that this host could not open them.
pub async fn same_keyring(db: &Db, keyring: &Keyring) -> Result<()> {
    let own = keyring.id().to_owned();
    let settled: Result<String> =
        db.write(move |tx| Box::pin(async move { installation::settle(tx, KEYRING_ID, &own).await })).await;
    ensure_key_of_database(&settled?, keyring)
}

/// Fails if this is not the fingerprint of the master key.
pub fn ensure_key_of_database(fingerprint: &str, keyring: &Keyring) -> Result<()> {
    ensure!(
        fingerprint == keyring.id(),
        "this database belongs to the master key {fingerprint}, and this host has {}: give it the right one with SWITCHBOARD_MASTER_KEY or SWITCHBOARD_MASTER_KEY_FILE, or put the right {MASTER_KEY_FILE} into the data directory",
        keyring.id()
    );
    Ok(())
}

/// The connector of the provider that this process serves itself.
pub const SANDBOX: &str = "sandbox";

/// The store of installed connectors.
pub fn connector_dir(config: &Config) -> PathBuf {
    config.data_dir.join("connectors")
}

/// Reads the certificates to trust in addition to the system's, each file as a PEM text.
fn extra_roots(config: &Config) -> Result<Vec<String>> {
    let read = |file: &PathBuf| {
        let pem = std::fs::read_to_string(file);
        pem.with_context(|| format!("cannot read the CA file {}", file.display()))
    };
    config.ca_files.iter().map(read).collect()
}

/// Returns the settings of the connectors' runtime.
pub fn runtime_config(config: &Config, keyring: &Keyring, clock: &Clock) -> Result<runtime::Config> {
    let extra_roots_pem = extra_roots(config)?;
    // The sandbox provider is this very process: its connector, and no other, must reach its one address.
    let own_provider = config
        .sandbox
        .then(|| runtime::OwnProvider { connector: SANDBOX.to_owned(), address: config.own_address() });
    let clock = clock.clone();
    Ok(runtime::Config {
        cache_dir: config.data_dir.join("cache"),
        store_dir: connector_dir(config),
        bundle_dir: config.connectors_dir.clone(),
        artefact_key: keyring.artefact_key(),
        egress_allow: config.egress_allow.clone(),
        webhook_allow: config.webhook_allow.clone(),
        approved_origins: Vec::new(),
        own_provider,
        lookup: Arc::new(runtime::SystemLookup),
        transport: None,
        limits: runtime::Limits::default(),
        now: Arc::new(move || clock.now_ms()),
        http: runtime::HttpSettings {
            extra_roots_pem,
            redirect: config.connector_redirect.clone(),
            ..runtime::HttpSettings::default()
        },
        compile_in_child: config.compile_program.clone(),
        lines: config.connector_lines,
        observer: config.connector_observer.clone(),
        shared: config.connector_code.clone(),
    })
}

/// The file beside the database that holds the master key.
pub const MASTER_KEY_FILE: &str = "master.key";

/// Opens the keyring of a data directory. The master key comes from `SWITCHBOARD_MASTER_KEY` (base64), from the file that
/// `SWITCHBOARD_MASTER_KEY_FILE` names, or from `<data_dir>/master.key`, which the first start creates (mode 0600).
pub fn open_keyring(data_dir: &Path, entropy: &Entropy) -> Result<Keyring> {
    let text =
        match (std::env::var("SWITCHBOARD_MASTER_KEY"), std::env::var_os("SWITCHBOARD_MASTER_KEY_FILE")) {
            (Ok(text), _) => Zeroizing::new(text),
            (_, Some(file)) => Zeroizing::new(
                std::fs::read_to_string(&file)
                    .with_context(|| format!("cannot read {}", Path::new(&file).display()))?,
            ),
            _ => master_key_file(&data_dir.join(MASTER_KEY_FILE))?,
        };
    let master = Zeroizing::new(BASE64_STANDARD.decode(text.trim()).context("the master key is not base64")?);
    Keyring::new(&master, entropy.clone())
}

fn master_key_file(path: &Path) -> Result<Zeroizing<String>> {
    use std::io::Write;

    match std::fs::read_to_string(path) {
        Ok(text) => return Ok(Zeroizing::new(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    }
    let made = Zeroizing::new(BASE64_STANDARD.encode(Entropy::system().bytes::<MASTER_KEY_BYTES>()));
    // Written to a temporary file and then linked: a host that starts at the same moment sees the whole key or none.
    let folder = path.parent().context("the master key needs a directory")?;
    let mut aside = tempfile::NamedTempFile::new_in(folder).context("cannot write the master key")?;
    aside
        .write_all(made.as_bytes())
        .and_then(|()| aside.as_file().sync_all())
        .context("cannot write the master key")?;
    match aside.persist_noclobber(path) {
        Ok(_) => {
            tracing::warn!(
                file = %path.display(),
                "made a new master key; back it up: without it stored credentials and API keys are lost"
            );
            Ok(made)
        }
        // Another host was first.
        Err(e) if e.error.kind() == ErrorKind::AlreadyExists => {
            let text = std::fs::read_to_string(path);
            Ok(Zeroizing::new(text.with_context(|| format!("cannot read {}", path.display()))?))
        }
        Err(e) => Err(e.error).with_context(|| format!("cannot make the master key {}", path.display())),
    }
}
