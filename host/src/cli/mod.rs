//! The `switchboard` command: its subcommands, and the module of each. Answers go to stdout, the log and errors to stderr; an error is a
//! line with its cause and a line with its remedy. Exit codes: 0 success; 1 failure; 2 wrong usage; 3 a connector failed its tests, its
//! check with --strict, or a step of `connector try`; 4 the server cannot be reached, or failed.

mod admin;
mod answer_failure;
mod apps;
mod backup;
mod bundle;
mod call;
mod checks;
mod completions;
mod connector;
mod describe;
mod doctor;
mod first_operator;
mod hidden_input;
mod jobs;
mod keys;
mod listen;
mod listen_address;
mod listener;
mod listeners;
mod login;
mod master_key;
mod mcp;
mod migrate;
mod network;
mod oidc_options;
mod output;
mod overview;
mod pools;
mod profiles;
mod refusal;
mod restore;
mod serve;
mod serve_settings;
mod server_options;
mod settings;
mod settings_file;
mod store;
mod store_options;
pub mod telemetry;
mod threads;
mod trigger;
mod urls;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::threads::block_on;

const AFTER_HELP: &str = "\
Try it:
  switchboard serve --sandbox
  switchboard keys create --scopes all
  switchboard login
  switchboard api GET /v1/connections

Every setting of `serve` can also come from an environment variable (SWITCHBOARD_DATA_DIR for --data-dir) or from a
TOML file (--config); flags go before the environment, the environment before the file.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a connector failed its tests or checks, 4 the server cannot be
reached or failed. Errors go to stderr: a line with the cause, and a line with the remedy.";

/// One HTTP API over mailboxes, calendars, address books and task lists
#[derive(Parser)]
#[command(name = "switchboard", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
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
    Login(Box<login::Login>),
    Logout(login::Logout),
    Api(Box<call::ApiCall>),
    Listen(Box<listen::Listen>),
    Trigger(Box<trigger::Trigger>),
    Mcp(Box<mcp::Mcp>),
    Openapi(describe::Openapi),
    Migrate(migrate::Migrate),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Doctor(Box<doctor::Doctor>),
    Completions(completions::Completions),
    Man(completions::ManPages),
    /// Compiles the component on stdin; the host starts this itself
    #[command(name = runtime::CHILD_COMMAND, hide = true)]
    CompileConnector {
        #[arg(long = runtime::LINES_FLAG)]
        lines: bool,
    },
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let path = command_path(&matches);
    let Some(command) = cli.command else { return end(quietly(overview::run()), &path) };
    let done = match command {
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
        Command::Login(login) => quietly(login.run()),
        Command::Logout(logout) => logout.run(),
        Command::Api(api) => quietly(api.run()),
        Command::Listen(listen) => quietly(listen.run()),
        Command::Trigger(trigger) => quietly(trigger.run()),
        Command::Mcp(mcp) => quietly(mcp.run()),
        Command::Openapi(openapi) => openapi.run(),
        Command::Migrate(migrate) => quietly(migrate.run()),
        Command::Backup(backup) => quietly(backup.run()),
        Command::Restore(restore) => quietly(restore.run()),
        Command::Doctor(doctor) => logging(doctor::LOG, doctor.run()),
        Command::Completions(completions) => completions.run(Cli::command()),
        Command::Man(pages) => pages.run(Cli::command()),
    };
    end(done, &path)
}

/// The words of the command: `switchboard keys create`.
fn command_path(matches: &ArgMatches) -> String {
    let mut path = "switchboard".to_owned();
    let mut inner = matches;
    while let Some((name, matches)) = inner.subcommand() {
        path.push(' ');
        path.push_str(name);
        inner = matches;
    }
    path
}

/// Ends a command: writes its error, and returns the exit code of the process. An error without a remedy gets the way to the help of the
/// command, whose words are `path`.
fn end(done: Result<ExitCode>, path: &str) -> ExitCode {
    match done {
        Ok(code) => {
            telemetry::finish("");
            code
        }
        Err(e) => {
            let e = refusal::with_help(e, &format!("`{path} --help` explains the command and its options"));
            telemetry::finish(&refusal::render(&e));
            ExitCode::from(refusal::exit_code(&e))
        }
    }
}

/// The environment variables that the commands read.
fn variables() -> Vec<OsString> {
    let mut command = Cli::command();
    command.build();
    let arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let of_flags = arguments.filter_map(clap::Arg::get_env).map(OsString::from);
    let of_server = [server_options::KEY_VARIABLE, server_options::SERVER_VARIABLE];
    of_flags.chain(of_server.map(OsString::from)).collect()
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
    fn the_path_of_a_command_is_its_words() {
        let path = |words: &[&str]| command_path(&Cli::command().get_matches_from(words));
        assert_eq!(path(&["switchboard", "keys", "list"]), "switchboard keys list");
        assert_eq!(path(&["switchboard", "connectors", "list"]), "switchboard connector list");
        assert_eq!(path(&["switchboard"]), "switchboard");
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
