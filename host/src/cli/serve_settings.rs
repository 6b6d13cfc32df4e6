//! The settings of a server, decided.

use std::time::Duration;

use service::app::config::Config;

use crate::cli::telemetry::Format;

/// Everything that `serve` needs.
#[derive(Debug)]
pub struct ServeSettings {
    pub config: Config,
    /// None: it depends on where the log goes.
    pub log_format: Option<Format>,
    pub log_level: String,
    pub drain_delay: Duration,
    /// The connectors were asked for, so they have to be there.
    pub connectors_named: bool,
}
