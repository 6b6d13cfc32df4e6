//! The `switchboard` command: what can be said on its command line, and where each command is. Answers go to stdout, the log
//! and errors to stderr. Exit code 0: done; 1: failed, with one sentence why, and where it is known what to do; 2: the command line
//! makes no sense; 3: a connector did not pass its tests, its check with --strict, or a
//! step of `connector try`.

mod admin;
mod apps;
mod backup;
mod bundle;
mod checks;
mod connector;
mod describe;
mod doctor;
mod first_operator;
mod jobs;
mod keys;
mod listen;
mod listen_address;
mod listener;
mod listeners;
mod master_key;
mod migrate;
mod network;
mod oidc_options;
mod output;
mod pools;
mod refusal;
mod restore;
mod serve;
mod serve_settings;
mod settings;
mod settings_file;
mod store;
mod store_options;
pub mod telemetry;
mod threads;
mod urls;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use authoring::Fault;
use clap::{CommandFactory, Parser, Subcommand};

use crate::cli::threads::block_on;

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
    Admin(admin::Admin),
    #[command(subcommand, alias = "connectors")]
    Connector(connector::Connector),
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    Listen(Box<listen::Listen>),
    Openapi(describe::Openapi),
    Migrate(migrate::Migrate),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Doctor(Box<doctor::Doctor>),
    /// Compiles the component on stdin; the host starts this itself
    #[command(name = runtime::CHILD_COMMAND, hide = true)]
    CompileConnector {
        #[arg(long = runtime::LINES_FLAG)]
        lines: bool,
    },
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let done = match Cli::parse().command {
        // Before any other thread: it limits its own address space.
        Command::CompileConnector { lines } => {
            return ExitCode::from(u8::try_from(runtime::compile_child_main(lines)).unwrap_or(1));
        }
        Command::Serve(serve) => serve.run(&variables()),
        Command::Keys(keys) => quietly(keys.run()),
        Command::Apps(apps) => quietly(apps.run()),
        Command::Admin(admin) => quietly(admin.run()),
        Command::Connector(connector) => logging(&connector.log_level(), connector.run()),
        Command::Jobs(jobs) => quietly(jobs.run()),
        Command::Listen(listen) => quietly(listen.run()),
        Command::Openapi(openapi) => openapi.run(),
        Command::Migrate(migrate) => quietly(migrate.run()),
        Command::Backup(backup) => quietly(backup.run()),
        Command::Restore(restore) => quietly(restore.run()),
        Command::Doctor(doctor) => logging(doctor::LOG, doctor.run()),
    };
    match done {
        Ok(code) => {
            telemetry::finish("");
            code
        }
        Err(e) => {
            let help = e.downcast_ref::<Fault>().map(|fault| format!("help: {}\n", fault.help));
            telemetry::finish(&format!("error: {e:#}\n{}", help.unwrap_or_default()));
            ExitCode::FAILURE
        }
    }
}

/// The environment variables that the commands read.
fn variables() -> Vec<OsString> {
    let mut command = Cli::command();
    command.build();
    let arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let of_flags = arguments.filter_map(clap::Arg::get_env).map(OsString::from);
    of_flags.chain([OsString::from(listen::KEY_VARIABLE)]).collect()
}

/// Runs a command that works on the store and ends; only warnings are logged.
fn quietly(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    logging("warn", work)
}

fn logging(level: &str, work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    telemetry::start(Some(telemetry::Format::Human), level)?;
    block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use service::app::config::Config;

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
}
