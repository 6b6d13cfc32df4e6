//! The settings of `serve`, from three places: the command line, `SWITCHBOARD_*` environment variables, a TOML file. A setting
//! has one name: `--data-dir`, `SWITCHBOARD_DATA_DIR`, `data_dir`. The defaults are `Config`'s.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::BoolishValueParser;
use secrecy::SecretString;
use serde::Deserialize;
use service::app::config::{Config, VerdictFailure};
use storage::PoolLimits;

use crate::cli::checks::Switch;
use crate::cli::listen_address::ListenAddress;
use crate::cli::network::Network;
use crate::cli::oidc_options::OidcOptions;
use crate::cli::pools::PoolSettings;
use crate::cli::refusal::with_help;
use crate::cli::serve_settings::ServeSettings;
use crate::cli::settings_file::{self, read_secret};
use crate::cli::store_options::StoreOptions;
use crate::cli::telemetry::Format;
use crate::cli::{bundle, checks, urls};

/// Settings of `serve`. In the file every field has the flag's name with underscores.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// TOML file with settings: the flags' names with underscores, for example `data_dir = "/var/lib/switchboard"`
    #[arg(long, env = "SWITCHBOARD_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Address to serve the API on, with an IP address or a host name; port 0 takes a free port [default: 127.0.0.1:8080]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<ListenAddress>,
    /// Directory of the database, the master key and the installed connectors; created if it is missing [default: data]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Database: sqlite:///path/file.db or postgres://user:password@host/name [default: switchboard.db in the data directory]
    #[arg(
        long,
        help_heading = "Store",
        env = "SWITCHBOARD_DATABASE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    database_url: Option<String>,
    /// File that holds the database URL, for URLs with a password
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_URL_FILE", value_name = "FILE")]
    database_url_file: Option<PathBuf>,
    /// URL for notifications between hosts: the same PostgreSQL database without a transaction pooler [default: the database URL]
    #[arg(
        long,
        help_heading = "Store",
        env = "SWITCHBOARD_DATABASE_LISTEN_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    database_listen_url: Option<String>,
    /// PostgreSQL connections for reads of requests; one application gets at most half of them [default: 12]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_READ_CONNECTIONS", value_name = "N")]
    database_read_connections: Option<u32>,
    /// PostgreSQL connections for writes of requests; one application gets at most a third of them [default: 12]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_WRITE_CONNECTIONS", value_name = "N")]
    database_write_connections: Option<u32>,
    /// PostgreSQL connections for background jobs; one application gets at most half of them [default: 8]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_JOB_CONNECTIONS", value_name = "N")]
    database_job_connections: Option<u32>,
    /// Time that a request waits for a PostgreSQL connection before it is refused with 503 [default: 5000]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_ACQUIRE_TIMEOUT_MS", value_name = "MS")]
    database_acquire_timeout_ms: Option<u64>,
    /// Time that a PostgreSQL statement waits for a lock before its request is rolled back and refused with 503 [default: 5000]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_DATABASE_LOCK_TIMEOUT_MS", value_name = "MS")]
    database_lock_timeout_ms: Option<u64>,
    /// Time that a PostgreSQL statement may take before its request is rolled back and refused with 503 [default: 15000]
    #[arg(
        long,
        help_heading = "Store",
        env = "SWITCHBOARD_DATABASE_STATEMENT_TIMEOUT_MS",
        value_name = "MS"
    )]
    database_statement_timeout_ms: Option<u64>,
    /// URL at which clients and providers reach this service [default: http://<listen>]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// Directory of connectors to load at start [default: target/connectors/bundle]
    #[arg(long, help_heading = "Connectors", env = "SWITCHBOARD_CONNECTORS", value_name = "DIR")]
    connectors: Option<PathBuf>,
    /// For development: reload connectors when files in --connectors change, and prefer them to installed ones
    #[arg(
        long,
        help_heading = "Connectors",
        env = "SWITCHBOARD_WATCH_CONNECTORS",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
    )]
    watch_connectors: Option<bool>,
    /// Private network in which providers are allowed, for example 10.1.0.0/16 (repeatable). Public addresses are always allowed. Only in
    /// these networks credentials are sent over plain http or to a mail server without TLS
    #[arg(
        long,
        help_heading = "Connectors",
        env = "SWITCHBOARD_EGRESS_ALLOW",
        value_name = "CIDR",
        value_delimiter = ','
    )]
    egress_allow: Vec<Network>,
    /// Private network to which webhooks may be delivered, for example 10.2.0.0/16 (repeatable). Public addresses are always allowed. Only
    /// in these networks a webhook may have an http URL
    #[arg(
        long,
        help_heading = "Network",
        env = "SWITCHBOARD_WEBHOOK_ALLOW",
        value_name = "CIDR",
        value_delimiter = ','
    )]
    webhook_allow: Vec<Network>,
    /// PEM file with certificate authorities to trust in addition to those of the system (repeatable)
    #[arg(
        long,
        help_heading = "Connectors",
        env = "SWITCHBOARD_CA_FILE",
        value_name = "FILE",
        value_delimiter = ','
    )]
    ca_file: Vec<PathBuf>,
    /// Serve the sandbox provider at /sandbox, to try everything without an account at a provider
    #[arg(
        long,
        help_heading = "Connectors",
        env = "SWITCHBOARD_SANDBOX",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
    )]
    sandbox: Option<bool>,
    /// Address or network of a proxy whose X-Forwarded-For header is trusted (repeatable)
    #[arg(
        long,
        help_heading = "Network",
        env = "SWITCHBOARD_TRUSTED_PROXY",
        value_name = "CIDR",
        value_delimiter = ','
    )]
    trusted_proxy: Vec<Network>,
    /// Format of log lines [default: human on a terminal, else json]
    #[arg(long, help_heading = "Log", env = "SWITCHBOARD_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<Format>,
    /// Log level: error, warn, info, debug or trace, or by module, for example `info,service::sync=debug` [default: info]
    #[arg(long, help_heading = "Log", env = "SWITCHBOARD_LOG_LEVEL", value_name = "LEVEL")]
    log_level: Option<String>,
    /// Maximum age of the local copy when it answers a read; if it is older, the provider is asked first. Collections that clients follow
    /// are answered at once while they are in sync. 0: every read asks the provider first [default: 10000]
    #[arg(long, help_heading = "Sync", env = "SWITCHBOARD_FRESHNESS_MS", value_name = "MS")]
    freshness_ms: Option<i64>,
    /// Shortest time between two reads of a followed collection from the provider. A quiet one is read less often: at least every 15
    /// minutes, or every hour where the provider reports changes [default: 60000]
    #[arg(long, help_heading = "Sync", env = "SWITCHBOARD_POLL_INTERVAL_MS", value_name = "MS")]
    poll_interval_ms: Option<i64>,
    /// Days for which events are kept for change feeds, the event log and replays: 30 to 365 [default: 30]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_EVENTS_DAYS", value_name = "DAYS")]
    events_days: Option<i64>,
    /// Days for which the request log of the panel is kept: 1 to 365, or 0 to log no requests [default: 7]
    #[arg(long, help_heading = "Store", env = "SWITCHBOARD_REQUEST_LOG_DAYS", value_name = "DAYS")]
    request_log_days: Option<i64>,
    /// Requests per minute allowed from one address without a valid API key [default: 300]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_ANONYMOUS_RATE_LIMIT", value_name = "N")]
    anonymous_rate_limit: Option<u64>,
    /// Id of the application that /book/{slug} belongs to; /book/{handle}/{slug} names its own [default: the first application]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_BOOKING_APPLICATION", value_name = "ID")]
    booking_application: Option<String>,
    /// URL to which booking pages post each form, to have it accepted or refused; http only in a private network [default: none, all are
    /// accepted]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_BOOKING_VERDICT_URL", value_name = "URL")]
    booking_verdict_url: Option<String>,
    /// Treatment of forms for which that URL gives no verdict within two seconds [default: open]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_BOOKING_VERDICT_FAILURE", value_name = "WHAT")]
    booking_verdict_failure: Option<VerdictFailure>,
    /// Separate address for /metrics, without a token; it should be reachable only for collectors [default: none]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    metrics_listen: Option<ListenAddress>,
    /// File with the bearer token for /metrics on the address of the API [default: none, no metrics there]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_METRICS_TOKEN_FILE", value_name = "FILE")]
    metrics_token_file: Option<PathBuf>,
    /// Separate address for the administration panel; it should be reachable only for its users [default: that of the API, at /admin]
    #[arg(long, help_heading = "Panel", env = "SWITCHBOARD_ADMIN_LISTEN", value_name = "ADDRESS:PORT")]
    admin_listen: Option<ListenAddress>,
    /// URL at which browsers reach the administration panel, without /admin [default: the public URL, or the panel's address]
    #[arg(long, help_heading = "Panel", env = "SWITCHBOARD_ADMIN_URL", value_name = "URL")]
    admin_url: Option<String>,
    /// Serve no administration panel
    #[arg(
        long,
        help_heading = "Panel",
        env = "SWITCHBOARD_NO_ADMIN",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
    )]
    no_admin: Option<bool>,
    /// Allow signing in to the panel over plain http under a name that is not local to this machine. Others on the network can then read
    /// passwords
    #[arg(
        long,
        help_heading = "Panel",
        env = "SWITCHBOARD_ADMIN_ALLOW_HTTP",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
    )]
    admin_allow_http: Option<bool>,
    /// Issuer URL of an OpenID provider for signing in to the panel; http only on this machine [default: none]
    #[arg(long, help_heading = "Panel", env = "SWITCHBOARD_ADMIN_OIDC_ISSUER", value_name = "URL")]
    admin_oidc_issuer: Option<String>,
    /// Client id of the panel at that provider
    #[arg(long, help_heading = "Panel", env = "SWITCHBOARD_ADMIN_OIDC_CLIENT_ID", value_name = "ID")]
    admin_oidc_client_id: Option<String>,
    /// File with that client's secret [default: none, a public client]
    #[arg(
        long,
        help_heading = "Panel",
        env = "SWITCHBOARD_ADMIN_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE"
    )]
    admin_oidc_client_secret_file: Option<PathBuf>,
    /// Name of the provider on the sign-in button [default: the host of its URL]
    #[arg(long, help_heading = "Panel", env = "SWITCHBOARD_ADMIN_OIDC_NAME", value_name = "NAME")]
    admin_oidc_name: Option<String>,
    /// Time for which /readyz answers 503 after SIGTERM before connections are refused [default: 1000]
    #[arg(long, help_heading = "Network", env = "SWITCHBOARD_DRAIN_DELAY_MS", value_name = "MS")]
    drain_delay_ms: Option<u64>,
    /// Commit writes in groups (SQLite); off only to compare
    #[arg(long, env = "SWITCHBOARD_GROUP_COMMIT", hide = true)]
    group_commit: Option<Switch>,
}

impl Settings {
    /// Fills missing settings from the file, if one is named, and from the defaults. The error names the setting.
    pub fn resolve(self) -> Result<ServeSettings> {
        let file = self.config.as_deref().map(settings_file::read).transpose();
        let resolved = file.and_then(|file| self.or(file.unwrap_or_default()).resolved());
        resolved.map_err(|e| with_help(e, "`switchboard serve --help` says what each setting takes"))
    }

    fn or(self, file: Settings) -> Settings {
        let list = |own: Vec<Network>, other: Vec<Network>| if own.is_empty() { other } else { own };
        // The URL and the file that contains it are one setting.
        let (database_url, database_url_file) = match (self.database_url, self.database_url_file) {
            (None, None) => (file.database_url, file.database_url_file),
            own => own,
        };
        Settings {
            config: self.config,
            listen: self.listen.or(file.listen),
            data_dir: self.data_dir.or(file.data_dir),
            database_url,
            database_url_file,
            database_listen_url: self.database_listen_url.or(file.database_listen_url),
            database_read_connections: self.database_read_connections.or(file.database_read_connections),
            database_write_connections: self.database_write_connections.or(file.database_write_connections),
            database_job_connections: self.database_job_connections.or(file.database_job_connections),
            database_acquire_timeout_ms: self
                .database_acquire_timeout_ms
                .or(file.database_acquire_timeout_ms),
            database_lock_timeout_ms: self.database_lock_timeout_ms.or(file.database_lock_timeout_ms),
            database_statement_timeout_ms: self
                .database_statement_timeout_ms
                .or(file.database_statement_timeout_ms),
            public_url: self.public_url.or(file.public_url),
            connectors: self.connectors.or(file.connectors),
            watch_connectors: self.watch_connectors.or(file.watch_connectors),
            egress_allow: list(self.egress_allow, file.egress_allow),
            webhook_allow: list(self.webhook_allow, file.webhook_allow),
            ca_file: if self.ca_file.is_empty() { file.ca_file } else { self.ca_file },
            sandbox: self.sandbox.or(file.sandbox),
            trusted_proxy: list(self.trusted_proxy, file.trusted_proxy),
            log_format: self.log_format.or(file.log_format),
            log_level: self.log_level.or(file.log_level),
            freshness_ms: self.freshness_ms.or(file.freshness_ms),
            poll_interval_ms: self.poll_interval_ms.or(file.poll_interval_ms),
            events_days: self.events_days.or(file.events_days),
            request_log_days: self.request_log_days.or(file.request_log_days),
            anonymous_rate_limit: self.anonymous_rate_limit.or(file.anonymous_rate_limit),
            booking_application: self.booking_application.or(file.booking_application),
            booking_verdict_url: self.booking_verdict_url.or(file.booking_verdict_url),
            booking_verdict_failure: self.booking_verdict_failure.or(file.booking_verdict_failure),
            metrics_listen: self.metrics_listen.or(file.metrics_listen),
            metrics_token_file: self.metrics_token_file.or(file.metrics_token_file),
            admin_listen: self.admin_listen.or(file.admin_listen),
            admin_url: self.admin_url.or(file.admin_url),
            no_admin: self.no_admin.or(file.no_admin),
            admin_allow_http: self.admin_allow_http.or(file.admin_allow_http),
            admin_oidc_issuer: self.admin_oidc_issuer.or(file.admin_oidc_issuer),
            admin_oidc_client_id: self.admin_oidc_client_id.or(file.admin_oidc_client_id),
            admin_oidc_client_secret_file: self
                .admin_oidc_client_secret_file
                .or(file.admin_oidc_client_secret_file),
            admin_oidc_name: self.admin_oidc_name.or(file.admin_oidc_name),
            drain_delay_ms: self.drain_delay_ms.or(file.drain_delay_ms),
            group_commit: self.group_commit.or(file.group_commit),
        }
    }

    fn resolved(self) -> Result<ServeSettings> {
        let default = Config::default();
        let database_pools = self.pools()?;
        let freshness_ms = checks::freshness_ms(self.freshness_ms)?;
        let poll_interval_ms = checks::poll_interval_ms(self.poll_interval_ms)?;
        let events_days = checks::events_days(self.events_days)?;
        let drain_delay = checks::drain_delay(self.drain_delay_ms)?;
        let metrics_token = self.metrics_token_file.as_deref().map(read_secret).transpose()?;
        let oidc = OidcOptions {
            issuer: self.admin_oidc_issuer,
            client_id: self.admin_oidc_client_id,
            client_secret_file: self.admin_oidc_client_secret_file,
            name: self.admin_oidc_name,
        };
        let connectors_named = self.connectors.is_some();
        let config = Config {
            listen: self.listen.map_or(default.listen, |address| address.0),
            data_dir: self.data_dir.unwrap_or(default.data_dir),
            database_url: urls::database(self.database_url, self.database_url_file.as_deref())?,
            database_listen_url: self.database_listen_url.filter(|u| !u.is_empty()),
            database_pools,
            public_url: urls::public(self.public_url)?,
            connectors_dir: self.connectors.or_else(bundle::find),
            watch_connectors: self.watch_connectors.unwrap_or(default.watch_connectors),
            egress_allow: self.egress_allow.into_iter().map(|n| n.0).collect(),
            webhook_allow: self.webhook_allow.into_iter().map(|n| n.0).collect(),
            ca_files: self.ca_file,
            sandbox: self.sandbox.unwrap_or(default.sandbox),
            trusted_proxies: self.trusted_proxy.into_iter().map(|n| n.0).collect(),
            group_commit: self.group_commit.map_or(default.group_commit, |s| s == Switch::On),
            freshness_ms,
            poll_interval_ms,
            events_days,
            request_log_days: checks::request_log_days(self.request_log_days)?,
            anonymous_per_minute: self.anonymous_rate_limit.unwrap_or(default.anonymous_per_minute),
            booking_application: self.booking_application.filter(|id| !id.is_empty()),
            booking_verdict_url: urls::verdict(self.booking_verdict_url.as_deref())?,
            booking_verdict_failure: self.booking_verdict_failure.unwrap_or_default(),
            metrics_token: metrics_token.map(SecretString::from),
            metrics_listen: self.metrics_listen.map(|address| address.0),
            admin: !self.no_admin.unwrap_or(!default.admin),
            admin_listen: self.admin_listen.map(|address| address.0),
            admin_url: urls::admin(self.admin_url)?,
            admin_allow_http: self.admin_allow_http.unwrap_or(default.admin_allow_http),
            admin_oidc: oidc.resolved()?,
            compile_program: std::env::current_exe().ok(),
            ..default
        };
        Ok(ServeSettings {
            config,
            log_format: self.log_format,
            log_level: self.log_level.unwrap_or_else(|| "info".to_owned()),
            drain_delay,
            connectors_named,
        })
    }

    /// Returns the limits of the PostgreSQL connections.
    fn pools(&self) -> Result<PoolLimits> {
        let given = PoolSettings {
            read_connections: self.database_read_connections,
            write_connections: self.database_write_connections,
            job_connections: self.database_job_connections,
            acquire_timeout_ms: self.database_acquire_timeout_ms,
            lock_timeout_ms: self.database_lock_timeout_ms,
            statement_timeout_ms: self.database_statement_timeout_ms,
        };
        given.resolved()
    }
}

impl StoreOptions {
    /// Resolves the settings of a command that works on the database, with or without a running server.
    pub fn resolve(self) -> Result<Config> {
        let settings = Settings {
            config: self.config,
            data_dir: self.data_dir,
            database_url: self.database_url,
            database_url_file: self.database_url_file,
            ..Settings::default()
        };
        Ok(settings.resolve()?.config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_goes_before_the_file_and_the_file_before_the_defaults() {
        let file: Settings = settings_file::parse(
            "listen = \"127.0.0.1:1\"\nfreshness_ms = 5\negress_allow = [\"10.0.0.1\"]\n\
             webhook_allow = [\"10.2.0.0/16\"]\nsandbox = true",
        )
        .unwrap();
        let given = Settings { listen: "127.0.0.1:2".parse().ok(), ..Settings::default() };
        let resolved = given.or(file).resolved().unwrap().config;
        assert_eq!((resolved.listen.port(), resolved.freshness_ms, resolved.sandbox), (2, 5, true));
        assert_eq!(resolved.egress_allow, ["10.0.0.1/32".parse().unwrap()]);
        assert_eq!(resolved.webhook_allow, ["10.2.0.0/16".parse().unwrap()]);
        assert_eq!(resolved.poll_interval_ms, Config::default().poll_interval_ms);
    }

    #[test]
    fn a_fault_in_the_file_names_the_line_and_the_key() {
        for (text, said) in [
            ("sandbox = true\nlistn = \"x\"", "line 2: unknown field `listn`"),
            ("listen = \"here\"", "line 1: \"here\" has no port: use here:8080"),
            ("egress_allow = [\"10.0.0.0/99\"]", "neither an address nor a network"),
            ("group_commit = \"maybe\"", "unknown variant `maybe`"),
            ("config = \"other.toml\"", "unknown field `config`"),
        ] {
            let error = format!("{:#}", settings_file::parse::<Settings>(text).unwrap_err());
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (text, said) in [
            ("public_url = \"ftp://x\"", "public_url"),
            ("booking_verdict_url = \"ftp://x\"", "booking_verdict_url: the URL must be http or https"),
            ("poll_interval_ms = 1", "poll_interval_ms"),
            ("drain_delay_ms = 60000", "drain_delay_ms"),
            ("events_days = 29", "events_days must be 30 to 365"),
            ("events_days = 366", "events_days must be 30 to 365"),
            ("request_log_days = -1", "request_log_days must be 0 to 365"),
            ("request_log_days = 366", "request_log_days must be 0 to 365"),
            ("database_write_connections = 0", "database_write_connections must be 1 to 1000"),
            ("database_lock_timeout_ms = 0", "database_lock_timeout_ms must be 1 to 600000"),
            ("database_url_file = \"/nowhere/at/all\"", "/nowhere/at/all"),
            ("admin_url = \"admin.example.com\"", "admin_url must begin with http:// or https://"),
            ("admin_url = \"https://admin.example.com/admin?x=1\"", "admin_url"),
            ("admin_oidc_name = \"Example\"", "admin_oidc_name goes with admin_oidc_issuer"),
            ("admin_oidc_issuer = \"https://id.example.com\"", "admin_oidc_client_id is missing"),
        ] {
            let error =
                format!("{:#}", settings_file::parse::<Settings>(text).unwrap().resolved().unwrap_err());
            assert!(error.contains(said), "{error}");
        }
    }
}
