//! All settings: name, default, meaning. Read from the command line, `SWITCHBOARD_*` environment variables and a TOML file, in this order
//! of precedence (`cli/`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use ipnet::IpNet;
use runtime::{CallObserver, ProviderRedirect, SharedCode};
use secrecy::SecretString;
use serde::Deserialize;
use storage::PoolLimits;
use url::Url;

/// Treatment of booking forms for which the verdict service gives no verdict.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum VerdictFailure {
    /// Accept them
    #[default]
    Open,
    /// Refuse them for now, with 503
    Closed,
}

/// The host's settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address that the API listens on.
    pub listen: SocketAddr,
    /// The directory of all persistent data: the database (unless `database_url` is set), the master key, installed connectors, compiled
    /// code.
    pub data_dir: PathBuf,
    /// `sqlite://…` or `postgres://…`; none: `<data_dir>/switchboard.db`.
    pub database_url: Option<String>,
    /// PostgreSQL's URL for LISTEN and NOTIFY between hosts; none: `database_url`.
    pub database_listen_url: Option<String>,
    /// Limits of the connections to PostgreSQL.
    pub database_pools: PoolLimits,
    /// URL at which clients and providers reach this service; none: `http://<listen>`.
    pub public_url: Option<String>,
    /// Lets providers post their notifications to an address without TLS, at `public_url` or where the API is served. For tests: no flag
    /// sets it.
    pub push_over_http: bool,
    /// The bundle of connectors to load at start.
    pub connectors_dir: Option<PathBuf>,
    /// Reload connectors when files in `connectors_dir` change. For development.
    pub watch_connectors: bool,
    /// Private networks in which providers are allowed; none by default.
    pub egress_allow: Vec<IpNet>,
    /// Private networks to which webhooks may be delivered, also over plain http; none by default.
    pub webhook_allow: Vec<IpNet>,
    /// PEM files of certificate authorities to trust in addition to those of the system.
    pub ca_files: Vec<PathBuf>,
    /// Serve the sandbox provider under `/sandbox`.
    pub sandbox: bool,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Commit writes in groups (SQLite). Off only for comparisons.
    pub group_commit: bool,
    /// Maximum age of the local copy when it answers a read, ms; if it is older, the provider is asked first. Collections that clients
    /// follow are answered at once while they are in sync (`sync::staleness`), unless this is 0: then every read asks the provider first.
    pub freshness_ms: i64,
    /// Shortest interval between pulls of a followed collection, ms; a quiet one is read less often: at least every 15 minutes, or every
    /// hour where the provider reports changes.
    pub poll_interval_ms: i64,
    /// Records that a provider is asked for at a time. For tests: no flag sets it.
    pub pull_page: u32,
    /// Retention of the event log, days, 30 to 365; also of positions in change feeds, failed deliveries, and replays.
    pub events_days: i64,
    /// Retention of the request log, days, up to 365; 0: no requests are logged.
    pub request_log_days: i64,
    /// Limits of event streams. For tests: no flag sets them.
    pub event_streams: EventStreams,
    /// Time limit of an attempt to deliver to a webhook, up to the response head. For tests: no flag sets it.
    pub webhook_deadline: Duration,
    /// Time that the test of a webhook waits for the first attempt. For tests: no flag sets it.
    pub webhook_test_wait: Duration,
    /// Requests per minute from one address without a valid API key.
    pub anonymous_per_minute: u64,
    /// Id of the application that `/book/{slug}` belongs to; none: the first application.
    pub booking_application: Option<String>,
    /// URL of the operator's service that accepts or refuses booking forms; none: every well-formed one is accepted.
    pub booking_verdict_url: Option<Url>,
    /// Treatment of forms for which that service gives no verdict.
    pub booking_verdict_failure: VerdictFailure,
    /// Bearer token for `/metrics`; none: `/metrics` is not served on the address of the API.
    pub metrics_token: Option<SecretString>,
    /// Separate address for `/metrics`, without a token; none: not served separately.
    pub metrics_listen: Option<SocketAddr>,
    /// Serve the administration panel.
    pub admin: bool,
    /// Separate address for the administration panel; none: it is served with the API.
    pub admin_listen: Option<SocketAddr>,
    /// URL at which browsers reach the administration panel, without `/admin` and without a trailing slash; none: see `admin_address`.
    pub admin_url: Option<String>,
    /// Allow signing in to the panel over plain http under a name that is not local to this machine.
    pub admin_allow_http: bool,
    /// OpenID provider for signing in to the panel; none: passwords only.
    pub admin_oidc: Option<OidcSettings>,
    /// Program that compiles connectors, outside the process that holds secrets; none: this process compiles.
    pub compile_program: Option<PathBuf>,
    /// Whether traps of connectors name files and lines. For connector development: no flag sets it.
    pub connector_lines: bool,
    /// Receives each call of a connector, for `connector dev`. No flag sets it.
    pub connector_observer: Option<Arc<dyn CallObserver>>,
    /// The server that replaces a connector's provider during its development. No flag sets it.
    pub connector_redirect: Option<ProviderRedirect>,
    /// Compiled connectors shared by the hosts of one process, for tests. No flag sets it.
    pub connector_code: Option<SharedCode>,
}

/// The OpenID provider by which operators sign in to the administration panel.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The issuer, exactly as the provider names itself.
    pub issuer: String,
    pub client_id: String,
    /// None: a public client, protected by PKCE alone.
    pub client_secret: Option<SecretString>,
    /// The name of the provider on the sign-in button.
    pub name: String,
    /// Time limit of a request to the provider. For tests: no flag sets it.
    pub deadline: Duration,
}

/// Limits of the event streams that clients keep open (`webhooks::stream`).
#[derive(Clone, Copy, Debug)]
pub struct EventStreams {
    /// Interval between reads of the log without a notification that it has grown.
    pub look_every: Duration,
    /// Interval between comments, which keep proxies from closing the stream; the API key is checked again at each.
    pub beat_every: Duration,
    /// Time after which a stream ends, so that its client opens another one.
    pub longest: Duration,
    /// Maximum streams of one API key on this host.
    pub of_key: usize,
    /// Maximum streams of one application on this host, over all its keys.
    pub of_application: usize,
    /// Maximum streams on this host.
    pub of_host: usize,
}

impl Default for EventStreams {
    fn default() -> Self {
        EventStreams {
            look_every: Duration::from_secs(5),
            beat_every: Duration::from_secs(15),
            longest: Duration::from_secs(3_600),
            of_key: 10,
            of_application: 250,
            of_host: 1_000,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data_dir: PathBuf::from("data"),
            database_url: None,
            database_listen_url: None,
            database_pools: PoolLimits::default(),
            public_url: None,
            push_over_http: false,
            connectors_dir: Some(PathBuf::from("target/connectors/bundle")),
            watch_connectors: false,
            egress_allow: Vec::new(),
            webhook_allow: Vec::new(),
            ca_files: Vec::new(),
            sandbox: false,
            trusted_proxies: Vec::new(),
            group_commit: true,
            freshness_ms: 10_000,
            poll_interval_ms: 60_000,
            pull_page: 200,
            webhook_test_wait: Duration::from_secs(16),
            events_days: 30,
            request_log_days: 7,
            event_streams: EventStreams::default(),
            webhook_deadline: Duration::from_secs(15),
            anonymous_per_minute: 300,
            booking_application: None,
            booking_verdict_url: None,
            booking_verdict_failure: VerdictFailure::default(),
            metrics_token: None,
            metrics_listen: None,
            admin: true,
            admin_listen: None,
            admin_url: None,
            admin_allow_http: false,
            admin_oidc: None,
            compile_program: None,
            connector_lines: false,
            connector_observer: None,
            connector_redirect: None,
            connector_code: None,
        }
    }
}

impl Config {
    /// The URL of the database.
    pub fn database(&self) -> String {
        let default = || format!("sqlite://{}", self.data_dir.join("switchboard.db").display());
        self.database_url.clone().unwrap_or_else(default)
    }

    /// The file of the database; none for PostgreSQL and for a database in memory.
    pub fn sqlite_file(&self) -> Option<PathBuf> {
        storage::sqlite_file(&self.database())
    }

    /// The address at which this process reaches itself: the one that it listens on, or the loopback address of the same family if it
    /// listens on all addresses.
    pub fn own_address(&self) -> SocketAddr {
        reachable(self.listen)
    }

    /// The base URL of links to the administration panel, without a trailing slash: `admin_url`, else the panel's own address, else the
    /// public URL, else the address of the API. If the host listens on all addresses, links name the loopback address.
    pub fn admin_address(&self) -> String {
        let public = || self.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        match (&self.admin_url, self.admin_listen) {
            (Some(url), _) => url.clone(),
            (None, Some(address)) => format!("http://{}", reachable(address)),
            (None, None) => public().unwrap_or_else(|| format!("http://{}", self.own_address())),
        }
    }

    /// Retention of the event log, ms.
    pub fn events_ms(&self) -> i64 {
        self.events_days.saturating_mul(86_400_000)
    }

    /// Retention of the request log, ms.
    pub fn request_log_ms(&self) -> i64 {
        self.request_log_days.saturating_mul(86_400_000)
    }

    /// Whether others can reach this service: only then can it be told that a message was opened.
    pub fn can_track(&self) -> bool {
        self.public_url.is_some()
    }

    /// The URL that clients use, without a trailing slash.
    pub fn public_address(&self) -> String {
        let url = self.public_url.clone().unwrap_or_else(|| format!("http://{}", self.listen));
        url.trim_end_matches('/').to_owned()
    }
}

/// Returns an address at which this machine reaches a listener.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_the_panel_can_be_followed() {
        let at = |change: fn(&mut Config)| {
            let mut config = Config { listen: "0.0.0.0:8080".parse().unwrap(), ..Config::default() };
            change(&mut config);
            config.admin_address()
        };
        assert_eq!(at(|_| ()), "http://127.0.0.1:8080");
        assert_eq!(at(|c| c.public_url = Some("https://api.example.com/".into())), "https://api.example.com");
        assert_eq!(at(|c| c.admin_listen = "[::]:8090".parse().ok()), "http://[::1]:8090");
        assert_eq!(
            at(|c| c.admin_url = Some("https://admin.example.com".into())),
            "https://admin.example.com"
        );
    }

    #[test]
    fn a_process_that_listens_everywhere_reaches_itself_by_loopback() {
        for (listen, own) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("10.0.0.7:80", "10.0.0.7:80"),
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
        ] {
            let config = Config { listen: listen.parse().unwrap(), ..Config::default() };
            assert_eq!(config.own_address(), own.parse().unwrap(), "{listen}");
        }
    }
}
