//! Every setting: name, default, meaning. Read from the command line, `SWITCHBOARD_*` environment variables and a TOML file,
//! in this order of precedence (`cli/`).

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

/// How forms of the booking page are treated about which the service that gives verdicts is silent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum VerdictFailure {
    /// They are taken
    #[default]
    Open,
    /// They are refused for now
    Closed,
}

/// The host's settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address that the API listens on.
    pub listen: SocketAddr,
    /// The folder of all that lasts: the database (unless `database_url` says otherwise), the master key, installed
    /// connectors, compiled code.
    pub data_dir: PathBuf,
    /// `sqlite://…` or `postgres://…`; none: `<data_dir>/switchboard.db`.
    pub database_url: Option<String>,
    /// PostgreSQL's URL for LISTEN and NOTIFY between hosts; none: `database_url`.
    pub database_listen_url: Option<String>,
    /// Bounds of the connections to PostgreSQL.
    pub database_pools: PoolLimits,
    /// How clients and providers reach this service from outside; none: `http://<listen>`.
    pub public_url: Option<String>,
    /// Let providers post their notifications to an address without TLS, at `public_url` or where the API is served. For tests: no flag
    /// changes it.
    pub push_over_http: bool,
    /// The bundle of connectors to load at start.
    pub connectors_dir: Option<PathBuf>,
    /// Reload connectors when files in `connectors_dir` change. For development.
    pub watch_connectors: bool,
    /// Private address ranges that providers may have: nothing by default.
    pub egress_allow: Vec<IpNet>,
    /// Private address ranges that webhooks may be delivered to, by plain http too: nothing by default.
    pub webhook_allow: Vec<IpNet>,
    /// PEM files with roots to trust beside the usual ones.
    pub ca_files: Vec<PathBuf>,
    /// Serve the sandbox provider under `/sandbox`.
    pub sandbox: bool,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Commit writes in groups (SQLite). Off only to compare.
    pub group_commit: bool,
    /// How old the local copy may be when it answers a read, in milliseconds; older asks the provider first. What is followed and in step
    /// answers all the same (`sync::staleness`), unless this is 0: then every read asks the provider first.
    pub freshness_ms: i64,
    /// How often a followed collection is pulled at the most, in milliseconds; a quiet one is read more rarely, every 15 minutes at the
    /// least, every hour where the provider tells of changes.
    pub poll_interval_ms: i64,
    /// How many sources a provider is asked for at a time. For tests: no flag changes it.
    pub pull_page: u32,
    /// How long the event log is kept, in days from 30 to 365, and with it positions in change feeds, deliveries that were given up, and
    /// replays.
    pub events_days: i64,
    /// How long the request log is kept, in days up to 365; 0: nothing is logged.
    pub request_log_days: i64,
    /// Bounds of event streams. For tests: no flag changes them.
    pub event_streams: EventStreams,
    /// How long an attempt to deliver to a webhook may take, until the head of the answer is there. For tests: no flag changes it.
    pub webhook_deadline: Duration,
    /// How long the test of a webhook waits for the first attempt. For tests: no flag changes it.
    pub webhook_test_wait: Duration,
    /// Requests per minute of a caller without a valid key, per address.
    pub anonymous_per_minute: u64,
    /// The id of the application that `/book/{slug}` belongs to; none: the one that was made first.
    pub booking_application: Option<String>,
    /// The operator's service that accepts or refuses forms of the booking page; none: every well-formed one is accepted.
    pub booking_verdict_url: Option<Url>,
    /// The treatment of a form when the service gives no verdict.
    pub booking_verdict_failure: VerdictFailure,
    /// The bearer token that `/metrics` requires; none: `/metrics` is not served beside the API.
    pub metrics_token: Option<SecretString>,
    /// A listener of its own for `/metrics`, without a token; none: there is no such listener.
    pub metrics_listen: Option<SocketAddr>,
    /// Serve the administration panel.
    pub admin: bool,
    /// A listener of its own for the administration panel; none: it is served beside the API.
    pub admin_listen: Option<SocketAddr>,
    /// How browsers reach the administration panel, without `/admin` and without a trailing slash; none: `admin_address` says it.
    pub admin_url: Option<String>,
    /// People may sign in to the panel over plain http under a name that is not this machine's own.
    pub admin_allow_http: bool,
    /// The OpenID provider by which people may sign in to the panel; none: by passwords alone.
    pub admin_oidc: Option<OidcSettings>,
    /// The program that compiles connectors, apart from the process that holds secrets; none: compile in this process.
    pub compile_program: Option<PathBuf>,
    /// Traps of connectors tell files and lines. While a connector is written: no flag changes it.
    pub connector_lines: bool,
    /// Receives each call of a connector, for `connector dev`. No flag sets it.
    pub connector_observer: Option<Arc<dyn CallObserver>>,
    /// The server that plays the provider of a connector while it is written: no flag changes it.
    pub connector_redirect: Option<ProviderRedirect>,
    /// Compiled connectors that the hosts of one process share, for tests. No flag sets it.
    pub connector_code: Option<SharedCode>,
}

/// The OpenID provider by which operators sign in to the administration panel.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The issuer, exactly as the provider names itself.
    pub issuer: String,
    pub client_id: String,
    /// None: a public client, which is bound to its codes by PKCE alone.
    pub client_secret: Option<SecretString>,
    /// The name on the button.
    pub name: String,
    /// Longest time of a request to the provider. For tests: no flag changes it.
    pub deadline: Duration,
}

/// Bounds of the event streams that clients keep open (`webhooks::stream`).
#[derive(Clone, Copy, Debug)]
pub struct EventStreams {
    /// How often a stream looks at the log when nothing tells it that the log has grown.
    pub look_every: Duration,
    /// How often a stream sends a comment, so that nothing on the way takes it for dead, and looks at its API key again.
    pub beat_every: Duration,
    /// After this time a stream ends, and its client opens another one.
    pub longest: Duration,
    /// Streams of one API key at this host.
    pub of_key: usize,
    /// Streams of one application at this host, of all its keys.
    pub of_application: usize,
    /// Streams of this host.
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
    /// The database's URL.
    pub fn database(&self) -> String {
        let default = || format!("sqlite://{}", self.data_dir.join("switchboard.db").display());
        self.database_url.clone().unwrap_or_else(default)
    }

    /// The database's file; none on PostgreSQL and in memory.
    pub fn sqlite_file(&self) -> Option<PathBuf> {
        storage::sqlite_file(&self.database())
    }

    /// The address at which this process reaches itself: the one that it listens on, or the loopback address of the family if it listens
    /// on all.
    pub fn own_address(&self) -> SocketAddr {
        reachable(self.listen)
    }

    /// The base of links to the administration panel, without a trailing slash: `admin_url`, else where the panel listens by itself, else the
    /// public URL, else where the API listens. An address that stands for all of the machine is the loopback address in a link.
    pub fn admin_address(&self) -> String {
        let public = || self.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        match (&self.admin_url, self.admin_listen) {
            (Some(url), _) => url.clone(),
            (None, Some(address)) => format!("http://{}", reachable(address)),
            (None, None) => public().unwrap_or_else(|| format!("http://{}", self.own_address())),
        }
    }

    /// How long the event log is kept, in milliseconds.
    pub fn events_ms(&self) -> i64 {
        self.events_days.saturating_mul(86_400_000)
    }

    /// How long the request log is kept, in milliseconds.
    pub fn request_log_ms(&self) -> i64 {
        self.request_log_days.saturating_mul(86_400_000)
    }

    /// Whether others can reach this service: only then can it be told that a message was opened.
    pub fn can_track(&self) -> bool {
        self.public_url.is_some()
    }

    /// The address that clients know, without a trailing slash.
    pub fn public_address(&self) -> String {
        let url = self.public_url.clone().unwrap_or_else(|| format!("http://{}", self.listen));
        url.trim_end_matches('/').to_owned()
    }
}

/// An address at which this machine reaches what listens there.
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
