//! The log: lines on stderr, as text or as JSON. Field names: `request_id`, `connection`, `connector`, `error`. For the path of the lines
//! see `app::log_queue`.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use serde::Deserialize;
use service::app::log_queue;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::{EnvFilter, fmt};

use crate::cli::refusal::failure;

/// Directives that the chosen level does not change: the library of `/mcp` logs each request, and each error of a client as a warning.
const DEFAULT_DIRECTIVES: &str = "rmcp=error";
/// Longest wait at the end of a process for the reader of its log.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(1);

/// The same for a panic, which may end the process.
const PANIC_TIMEOUT: Duration = Duration::from_millis(100);

/// The format of log lines.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One JSON object per line
    Json,
    /// Text with colours on a terminal
    Human,
}

/// Starts logging for this process, once. `level` is a level or a list of directives (`info,service::sync=debug`); without a format a
/// terminal gets text and everything else JSON.
pub fn start(format: Option<Format>, level: &str) -> Result<()> {
    let filter = parse_filter(level)?;
    let terminal = std::io::stderr().is_terminal();
    let format = format.unwrap_or(if terminal { Format::Human } else { Format::Json });
    let queue = log_queue::open(report_dropped).context("cannot start the log")?;
    let lines = fmt().with_env_filter(filter).with_writer(queue);
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

/// Parses the filter of the log. A lone word has to be a level: as the name of a module it would silence everything else.
fn parse_filter(level: &str) -> Result<EnvFilter> {
    let has_level = |directive: &str| {
        let (_, level) = directive.rsplit_once('=').unwrap_or(("", directive));
        level.trim().parse::<LevelFilter>().is_ok()
    };
    let parse = || EnvFilter::try_new(format!("{DEFAULT_DIRECTIVES},{level}")).ok();
    let filter = level.split(',').all(has_level).then(parse).flatten();
    filter.ok_or_else(|| {
        failure(
            format!("log_level \"{level}\" is not a log level"),
            "use error, warn, info, debug or trace; for single modules a list such as info,service::sync=debug",
        )
    })
}

/// Writes the last text of a process, after its log. A log that is not read does not keep the process from ending.
pub fn finish(text: &str) {
    match log_queue::of_process() {
        Some(mut queue) => {
            // The queue accepts every line.
            let _ = queue.write_all(text.as_bytes());
            queue.wait_until_written(LAST_LINES_TIMEOUT);
        }
        // stderr is the last resort: if it is closed, the error is lost.
        None => drop(std::io::stderr().write_all(text.as_bytes())),
    }
}

/// Logs that lines are missing, once the log can be written again.
fn report_dropped(lines: u64) {
    tracing::warn!(lines, "log lines were dropped: stderr could not be written, or was not read in time");
}

/// Logs a panic as one line.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("no message");
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "panic: {message}");
        if let Some(queue) = log_queue::of_process() {
            queue.wait_until_written(PANIC_TIMEOUT);
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use authoring::Fault;

    use super::{Format, parse_filter, start};

    #[test]
    fn a_word_that_is_no_level_is_refused_with_the_levels() {
        for level in ["error", "INFO", "off", "info,service::sync=debug", "warn,runtime=info"] {
            assert!(parse_filter(level).is_ok(), "{level}");
        }
        for level in ["loud", "info,service::sync", "service::sync=loud", "info=x=y"] {
            let refused = parse_filter(level).unwrap_err();
            assert_eq!(refused.to_string(), format!("log_level \"{level}\" is not a log level"));
            let help = &refused.downcast_ref::<Fault>().unwrap().help;
            assert!(help.contains("error, warn, info, debug or trace"), "{help}");
        }
    }

    /// Run by the test below, in a process whose stderr is closed.
    #[test]
    #[ignore = "a_panic_with_a_closed_log_ends_its_own_work_alone runs it"]
    fn panics_with_a_closed_log() {
        start(Some(Format::Json), "info").unwrap();
        for _ in 0..3 {
            let work = std::thread::spawn(|| assert!(std::env::args().count() == 0, "a fault"));
            assert!(work.join().is_err());
        }
        println!("survived");
    }

    #[test]
    fn a_panic_with_a_closed_log_ends_its_own_work_alone() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([
            "cli::telemetry::tests::panics_with_a_closed_log",
            "--exact",
            "--ignored",
            "--nocapture",
        ]);
        let output = again.stdin(Stdio::null()).stderr(writer).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("survived"), "{:?}: {said}", output.status);
    }
}
