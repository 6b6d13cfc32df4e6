//! `switchboard` without a command: where you are, and the one next command.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use http::HeaderMap;
use service::app::config::Config;

use crate::cli::login;
use crate::cli::output::answer;
use crate::cli::server_options::{self, ServerAccess, ServerOptions};

/// Time limit for the server's answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyState {
    None,
    /// There is a key, and no server to try it at.
    Untried,
    Refused,
    Accepted,
}

/// The facts that decide on the next command.
struct Situation {
    has_data: bool,
    is_local: bool,
    is_running: bool,
    key: KeyState,
}

/// Prints the data directory, the server and the key of this place, and what to do next.
pub async fn run() -> Result<ExitCode> {
    let data_dir = std::env::var_os("SWITCHBOARD_DATA_DIR").map_or(Config::default().data_dir, PathBuf::from);
    let options = ServerOptions::from_variables();
    let access = options.resolve()?;
    let is_running = is_running(&access).await;
    let situation = Situation {
        has_data: has_data(&data_dir),
        is_local: login::is_on_this_machine(&access.server),
        is_running,
        key: key_state(&access, is_running).await,
    };
    answer(&format!(
        "Switchboard {}\ndata directory  {} ({})\nserver          {} ({})\nAPI key         {}\n\nnext: {}\nall commands: switchboard --help",
        env!("CARGO_PKG_VERSION"),
        data_dir.display(),
        if situation.has_data { "found" } else { "not found" },
        access.server,
        if is_running { "running" } else { "not reachable" },
        describe_key(situation.key, options.key_place()),
        situation.next_command(),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a server has used this data directory.
fn has_data(dir: &Path) -> bool {
    ["switchboard.db", "master.key"].iter().any(|name| dir.join(name).is_file())
}

async fn is_running(access: &ServerAccess) -> bool {
    let url = server_options::url_of(&access.server, "/healthz");
    let answer = access.client.get(&url, HeaderMap::new(), PROBE_TIMEOUT).await;
    answer.is_ok_and(|answer| answer.status == 200)
}

async fn key_state(access: &ServerAccess, is_running: bool) -> KeyState {
    match access.key() {
        Err(_) => KeyState::None,
        Ok(_) if !is_running => KeyState::Untried,
        Ok(key) => match login::check(&access.client, &access.server, key).await {
            Ok(()) => KeyState::Accepted,
            Err(_) => KeyState::Refused,
        },
    }
}

fn describe_key(state: KeyState, place: String) -> String {
    match state {
        KeyState::None => "none".to_owned(),
        KeyState::Untried => place,
        KeyState::Refused => format!("{place} (the server refuses it)"),
        KeyState::Accepted => format!("{place} (works)"),
    }
}

impl Situation {
    /// The next command.
    fn next_command(&self) -> &'static str {
        match (self.is_running, self.key) {
            (false, _) if !self.is_local => "switchboard login --server URL",
            (false, _) if self.has_data => "switchboard serve",
            (false, _) => "switchboard serve --sandbox",
            (true, KeyState::Accepted) => "switchboard api GET /v1/connections",
            (true, _) if self.has_data && self.is_local => {
                "switchboard keys create --scopes all | head -1 | switchboard login"
            }
            (true, _) => "switchboard login",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_command_follows_from_where_you_are() {
        let next = |has_data, is_running, key| {
            Situation { has_data, is_local: true, is_running, key }.next_command().to_owned()
        };
        assert_eq!(next(false, false, KeyState::None), "switchboard serve --sandbox");
        assert_eq!(next(true, false, KeyState::Untried), "switchboard serve");
        assert_eq!(
            next(true, true, KeyState::None),
            "switchboard keys create --scopes all | head -1 | switchboard login"
        );
        assert_eq!(next(false, true, KeyState::Refused), "switchboard login");
        assert_eq!(next(false, true, KeyState::Accepted), "switchboard api GET /v1/connections");
        let remote = Situation { has_data: true, is_local: false, is_running: false, key: KeyState::Untried };
        assert_eq!(remote.next_command(), "switchboard login --server URL");
    }
}
