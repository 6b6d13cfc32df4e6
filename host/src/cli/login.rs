//! `switchboard login` and `switchboard logout`: save a server and an API key for the commands that call it, and forget them.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue, USER_AGENT};
use runtime::OperatorClient;
use url::{Host, Url};
use zeroize::Zeroizing;

use crate::cli::answer_failure::FailedAnswer;
use crate::cli::hidden_input::{is_terminal, read_hidden_line};
use crate::cli::output::{answer, print_note};
use crate::cli::profiles::{self, DEFAULT_PROFILE, Profile, Profiles};
use crate::cli::refusal::{INTERRUPTED, ensure_or_help, failure};
use crate::cli::serve::Signals;
use crate::cli::server_options::{self, ServerOptions, read_secret_text};

/// An operation that every valid key may call.
const CHECK_PATH: &str = "/v1/providers";
/// Time limit for the head of the answer, and for its body.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Save an API key and its server, for `api`, `listen` and `trigger`
///
/// Asks for the key without showing it, or reads it from --api-key-file or stdin. The key is tried before it is saved in
/// switchboard/profiles.toml in $XDG_CONFIG_HOME or ~/.config, which other users cannot read.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard login
  switchboard login --server https://api.example.com --profile production
  switchboard login --api-key-file key.txt")]
pub struct Login {
    #[command(flatten)]
    options: ServerOptions,
}

/// Remove a profile with its API key
#[derive(Args)]
pub struct Logout {
    /// Profile that `switchboard login` saved [default: default]
    #[arg(long, env = "SWITCHBOARD_PROFILE", value_name = "NAME", value_parser = profiles::parse_name)]
    profile: Option<String>,
}

impl Login {
    pub async fn run(self) -> Result<ExitCode> {
        let name = self.options.profile_name();
        let server = self.options.login_server(Profiles::load()?.find(name))?;
        let client = self.options.client()?;
        if is_readable_on_the_way(&server) {
            print_note(&format!(
                "warning: the connection to {server} is not encrypted, and the key can be read"
            ));
        }
        let Some(key) = self.key(&server).await? else { return Ok(ExitCode::from(INTERRUPTED)) };
        let mut signals = Signals::new()?;
        tokio::select! {
            checked = check(&client, &server, &key) => checked?,
            () = signals.end() => return Ok(ExitCode::from(INTERRUPTED)),
        }
        // Loaded again: another login may have saved its profile while this one waited for the key.
        let mut profiles = Profiles::load()?;
        profiles.insert(name, Profile { server: server.to_string(), api_key: key.to_string() });
        profiles.save()?;
        let path = profiles.path().display();
        answer(&format!(
            "logged in to {server}\nprofile {name} in {path}\n\nTry it: switchboard api GET /v1/connections"
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    /// The key; none after Ctrl-C.
    async fn key(&self, server: &Url) -> Result<Option<Zeroizing<String>>> {
        if let Some(key) = self.options.own_key()? {
            return Ok(Some(key));
        }
        if !is_terminal() {
            return read_secret_text(Path::new("-")).map(Some);
        }
        let key = read_hidden_line(&format!("API key for {server} (not shown): ")).await?;
        ensure_or_help(
            key.as_ref().is_none_or(|key| !key.is_empty()),
            || "no API key was entered".to_owned(),
            || "`switchboard keys create --scopes all` creates one, on the machine of the server".to_owned(),
        )?;
        Ok(key)
    }
}

impl Logout {
    pub fn run(self) -> Result<ExitCode> {
        let mut profiles = Profiles::load()?;
        let name = self.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        if !profiles.remove(name) {
            return Err(failure(
                format!("there is no profile \"{name}\" in {}", profiles.path().display()),
                "name another one with --profile",
            ));
        }
        profiles.save()?;
        answer(&format!(
            "removed the profile {name} from {}\nThe key still works: `switchboard keys revoke ID` ends it.",
            profiles.path().display()
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Tries the key at the server.
pub async fn check(client: &OperatorClient, server: &Url, key: &str) -> Result<()> {
    let mut url = server_options::url_of(server, CHECK_PATH);
    url.set_query(Some("limit=1"));
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, server_options::authorization(key)?);
    headers.insert(USER_AGENT, HeaderValue::from_static(server_options::USER_AGENT));
    let sent = client.get(&url, headers, CHECK_TIMEOUT).await;
    let answer = sent.map_err(|error| server_options::no_answer(server, &error))?;
    let (status, headers) = (answer.status, answer.headers.clone());
    if status == 200 {
        return Ok(());
    }
    // An error whose body does not arrive still has its status.
    let body = answer.whole(MAX_ANSWER_BYTES, CHECK_TIMEOUT).await.unwrap_or_default();
    Err(FailedAnswer { server, status, headers: &headers, body: &body }.error())
}

/// Whether the key would travel without encryption beyond this machine.
fn is_readable_on_the_way(server: &Url) -> bool {
    server.scheme() == "http" && !is_on_this_machine(server)
}

/// Whether the URL names this machine.
pub fn is_on_this_machine(server: &Url) -> bool {
    match server.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_connections_to_other_machines_are_readable() {
        for (server, is_readable) in [
            ("http://127.0.0.1:8080", false),
            ("http://[::1]:8080", false),
            ("http://localhost", false),
            ("https://api.example.com", false),
            ("http://api.example.com", true),
            ("http://10.0.0.5:8080", true),
        ] {
            assert_eq!(is_readable_on_the_way(&Url::parse(server).unwrap()), is_readable, "{server}");
        }
    }
}
