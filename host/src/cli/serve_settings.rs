//! The resolved settings of a server.

use std::time::Duration;

use service::app::config::Config;

use crate::cli::telemetry::Format;

/// All settings of `serve`.
#[derive(Debug)]
pub struct ServeSettings {
    pub config: Config,
    /// None: it depends on the log's destination.
    pub log_format: Option<Format>,
    pub log_level: String,
    pub drain_delay: Duration,
    /// Whether the connectors' folder was given, so that it must exist.
    pub connectors_named: bool,
}
