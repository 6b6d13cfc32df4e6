//! `switchboard mcp config`: the entry by which a client starts the bridge.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::cli::output::{answer, print_note};
use crate::cli::server_options::ServerOptions;

/// Print the entry for the settings of a client
///
/// The entry starts this program with the same server and profile. It holds no API key: run `switchboard login` first, or name a file
/// with --api-key-file.
#[derive(Args)]
pub struct Config {
    /// The client
    #[arg(long = "for", value_name = "CLIENT")]
    client: AssistantClient,
    #[command(flatten)]
    server: ServerOptions,
}

/// A client with a settings file of its own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AssistantClient {
    /// Claude Desktop
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
}

impl Config {
    /// Prints the entry to stdout, and to stderr where it belongs.
    pub fn run(self) -> Result<ExitCode> {
        self.server.ensure_stdin_is_free()?;
        let program = std::env::current_exe().context("the program's own path is not known")?;
        let mut arguments = vec!["mcp".to_owned()];
        arguments.extend(self.server.flags()?);
        let entry = self.client.entry(&program.display().to_string(), &arguments);
        print_note(self.client.place());
        answer(&serde_json::to_string_pretty(&entry)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl AssistantClient {
    fn entry(self, program: &str, arguments: &[String]) -> Value {
        match self {
            AssistantClient::Claude | AssistantClient::Cursor => json!({
                "mcpServers": { "switchboard": { "command": program, "args": arguments } },
            }),
            AssistantClient::Vscode => json!({
                "servers": { "switchboard": { "type": "stdio", "command": program, "args": arguments } },
            }),
        }
    }

    /// A note with the file that the entry belongs in.
    fn place(self) -> &'static str {
        match self {
            AssistantClient::Claude => {
                "add this to claude_desktop_config.json (Settings > Developer > Edit Config), then restart Claude:"
            }
            AssistantClient::Cursor => "add this to ~/.cursor/mcp.json, or to .cursor/mcp.json of a project:",
            AssistantClient::Vscode => {
                "add this to .vscode/mcp.json, or run \"MCP: Open User Configuration\":"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_form_of_its_client() {
        let arguments = ["mcp", "--profile", "work"].map(str::to_owned);
        let claude = AssistantClient::Claude.entry("/bin/switchboard", &arguments);
        assert_eq!(claude["mcpServers"]["switchboard"]["args"], json!(["mcp", "--profile", "work"]));
        let vscode = AssistantClient::Vscode.entry("/bin/switchboard", &arguments);
        assert_eq!(vscode["servers"]["switchboard"]["command"], "/bin/switchboard");
    }
}
