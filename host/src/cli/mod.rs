//! The `switchboard` command: what can be said on its command line, and where each command is. Answers go to stdout, the log
//! and errors to stderr. Exit code 0: done; 1: failed, with one sentence why; 2: the command line makes no sense.

mod apps;
mod connectors;
mod describe;
mod doctor;
mod keys;
mod listener;
mod migrate;
mod serve;
mod settings;
mod store;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::telemetry;

const AFTER_HELP: &str = "\
Try it:
  switchboard serve --sandbox
  switchboard keys create --scopes all
  curl -H 'Authorization: Bearer <key>' http://127.0.0.1:8080/v1/connections

Every setting of `serve` can also come from an environment variable (SWITCHBOARD_DATA_DIR for --data-dir) or from a
TOML file (--config); flags go before the environment, the environment before the file.";

/// One HTTP API over mailboxes, calendars, address books and task lists
#[derive(Parser)]
#[command(name = "switchboard", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(Box<serve::Serve>),
    #[command(subcommand)]
    Keys(keys::Keys),
    #[command(subcommand)]
    Apps(apps::Apps),
    #[command(subcommand)]
    Connectors(connectors::Connectors),
    Openapi(describe::Openapi),
    Migrate(migrate::Migrate),
    Doctor(Box<doctor::Doctor>),
    /// Compiles the component on stdin; the host starts this itself
    #[command(name = runtime::CHILD_COMMAND, hide = true)]
    CompileConnector,
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let done = match Cli::parse().command {
        // Before any other thread: it limits its own address space.
        Command::CompileConnector => {
            return ExitCode::from(u8::try_from(runtime::compile_child_main()).unwrap_or(1));
        }
        Command::Serve(serve) => serve.run(),
        Command::Keys(keys) => quietly(keys.run()),
        Command::Apps(apps) => quietly(apps.run()),
        Command::Connectors(connectors) => quietly(connectors.run()),
        Command::Openapi(openapi) => openapi.run(),
        Command::Migrate(migrate) => quietly(migrate.run()),
        Command::Doctor(doctor) => quietly(doctor.run()),
    };
    match done {
        Ok(code) => code,
        Err(e) => {
            // stderr is the last resort: if it is closed, nobody can be told.
            let _ = writeln!(std::io::stderr(), "error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command that works on the store and ends; only warnings are logged.
fn quietly(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    telemetry::start(Some(telemetry::Format::Human), "warn")?;
    block_on(work)
}

/// Runs `work` on a runtime that does not wait for threads that still run when it is done.
fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads of the process")?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}

/// Writes an answer to stdout. That nobody reads it to its end (`| head`) is no error.
fn answer(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{}", text.trim_end()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

/// Lines with columns as wide as their widest cell.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::Config;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_tells_the_real_defaults() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("serve").unwrap().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let default = Config::default();
        for shown in [
            default.listen.to_string(),
            default.data_dir.display().to_string(),
            default.connectors_dir.unwrap().display().to_string(),
            default.freshness_ms.to_string(),
            default.poll_interval_ms.to_string(),
            default.anonymous_per_minute.to_string(),
        ] {
            assert!(help.contains(&format!("[default: {shown}]")), "{shown}");
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned()]];
        assert_eq!(table(&rows), "a     b\nlong  c\n");
    }
}
