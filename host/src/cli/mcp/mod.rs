//! `switchboard mcp`: connects assistants to a server, by a bridge from stdio to its `/mcp`, and prints the settings of their clients.

mod bridge;
mod client_settings;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::cli::mcp::bridge::Bridge;
use crate::cli::mcp::client_settings::Config;
use crate::cli::serve::Signals;
use crate::cli::server_options::ServerOptions;

/// Connect an assistant to a server, by the Model Context Protocol
///
/// For clients that start a program and speak to it by stdin and stdout. Each message is posted to /mcp of the server with the API key,
/// which decides what the assistant can read and do. Clients that speak HTTP can use that address themselves.
///
/// The API key comes from a profile, a variable or a file, never from an argument. Ends when stdin is closed.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  switchboard login
  switchboard mcp config --for claude
  switchboard mcp --profile production")]
pub struct Mcp {
    #[command(subcommand)]
    command: Option<McpCommand>,
    #[command(flatten)]
    server: ServerOptions,
}

#[derive(Subcommand)]
enum McpCommand {
    Config(Config),
}

impl Mcp {
    /// Runs the bridge until stdin is closed, or prints the settings of a client.
    pub async fn run(self) -> Result<ExitCode> {
        match self.command {
            Some(McpCommand::Config(config)) => config.run(),
            None => bridge(&self.server).await,
        }
    }
}

async fn bridge(options: &ServerOptions) -> Result<ExitCode> {
    options.ensure_stdin_is_free()?;
    let mut signals = Signals::new()?;
    let bridge = Bridge::new(&options.resolve()?)?;
    tokio::select! {
        ended = bridge.run() => ended?,
        () = signals.end() => {}
    }
    Ok(ExitCode::SUCCESS)
}
