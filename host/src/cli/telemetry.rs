//! The log: lines on stderr, for people or as JSON for machines. Field names: `request_id`, `connection`, `connector`, `error`.

use std::io::IsTerminal;

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::{EnvFilter, fmt};

/// How log lines look.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One JSON object per line
    Json,
    /// Text with colours on a terminal
    Human,
}

/// Starts logging for this process, once. `level` is a level or a list of directives (`info,switchboard::sync=debug`); without
/// a format a terminal gets text and everything else JSON.
pub fn start(format: Option<Format>, level: &str) -> Result<()> {
    let filter = EnvFilter::try_new(level)
        .with_context(|| format!("log_level \"{level}\" must be error, warn, info, debug, trace or a list such as info,switchboard::sync=debug"))?;
    let terminal = std::io::stderr().is_terminal();
    let format = format.unwrap_or(if terminal { Format::Human } else { Format::Json });
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        Format::Json => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
        }
        Format::Human => lines.with_ansi(terminal).with_target(false).try_init(),
    };
    started.map_err(|e| anyhow!("cannot start the log: {e}"))?;
    log_panics();
    Ok(())
}

/// A panic is one line of the log like everything else.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("no message");
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "panic: {message}");
    }));
}
