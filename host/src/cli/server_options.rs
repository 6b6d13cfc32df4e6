//! The server that a command calls, and the API key for it: from flags, environment variables, or a profile of `switchboard login`.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use http::HeaderValue;
use runtime::{OperatorClient, PostError};
use url::Url;
use zeroize::Zeroizing;

use crate::cli::profiles::{self, DEFAULT_PROFILE, Profile, Profiles};
use crate::cli::refusal::{SERVER_FAILED, WRONG_USAGE, ensure_or_help, exit_failure, failure};

/// The variable with the API key.
pub const KEY_VARIABLE: &str = "SWITCHBOARD_API_KEY";
/// The variable with the URL of the server.
pub const SERVER_VARIABLE: &str = "SWITCHBOARD_SERVER";
/// The program's `User-Agent`.
pub const USER_AGENT: &str = concat!("Switchboard/", env!("CARGO_PKG_VERSION"));

/// The server of a command unless another is named.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// Most bytes of a secret.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// The server and its API key
#[derive(Args, Clone, Debug, Default)]
pub struct ServerOptions {
    /// URL of the server [default: SWITCHBOARD_SERVER, else that of the profile, else http://127.0.0.1:8080]
    #[arg(long, value_name = "URL", value_parser = parse_server)]
    server: Option<Url>,
    /// File that holds the API key; - reads it from stdin [default: SWITCHBOARD_API_KEY, else the key of the profile]
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// Environment variable that holds the API key [default: SWITCHBOARD_API_KEY]
    #[arg(long, value_name = "VAR", conflicts_with = "api_key_file")]
    api_key_env: Option<String>,
    /// Profile that `switchboard login` saved; if named, it takes precedence over SWITCHBOARD_SERVER and SWITCHBOARD_API_KEY
    #[arg(long, env = "SWITCHBOARD_PROFILE", value_name = "NAME", value_parser = profiles::parse_name)]
    profile: Option<String>,
    /// PEM file with certificate authorities to trust in addition to the usual ones (repeatable)
    #[arg(long, env = "SWITCHBOARD_CA_FILE", value_name = "FILE", value_delimiter = ',')]
    ca_file: Vec<PathBuf>,
}

/// A server that a command calls.
pub struct ServerAccess {
    pub server: Url,
    pub client: OperatorClient,
    key: Result<Zeroizing<String>, MissingKey>,
}

/// The reason why there is no key.
#[derive(Debug, PartialEq, Eq)]
enum MissingKey {
    None,
    /// The key of the profile is for this server.
    OfOtherServer(String),
}

impl ServerOptions {
    /// The options of a command line without flags.
    pub fn from_variables() -> ServerOptions {
        let files = std::env::var("SWITCHBOARD_CA_FILE").unwrap_or_default();
        ServerOptions {
            profile: std::env::var("SWITCHBOARD_PROFILE").ok().filter(|name| !name.is_empty()),
            ca_file: files.split(',').filter(|file| !file.is_empty()).map(PathBuf::from).collect(),
            ..ServerOptions::default()
        }
    }

    /// Refuses a key from stdin, for a command that reads something else from there.
    pub fn ensure_stdin_is_free(&self) -> Result<()> {
        if self.api_key_file.as_deref() != Some(Path::new("-")) {
            return Ok(());
        }
        Err(exit_failure(
            WRONG_USAGE,
            "--api-key-file: this command reads the messages of its client from stdin",
            "run `switchboard login`, or name a file with the key",
        ))
    }

    /// The flags that name the same server and key in a command that runs in another folder.
    pub fn flags(&self) -> Result<Vec<String>> {
        let file = |file: &PathBuf| -> Result<String> {
            let path = std::path::absolute(file)
                .map_err(|e| cannot_read(file, &e.to_string(), "name the file with its folder"))?;
            Ok(path.display().to_string())
        };
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
        if let Some(server) = &self.server {
            add("--server", server.to_string());
        }
        if let Some(key) = &self.api_key_file {
            add("--api-key-file", file(key)?);
        }
        if let Some(variable) = &self.api_key_env {
            add("--api-key-env", variable.clone());
        }
        if let Some(profile) = &self.profile {
            add("--profile", profile.clone());
        }
        for authority in &self.ca_file {
            add("--ca-file", file(authority)?);
        }
        Ok(flags)
    }

    /// The place of the key, if there is one: its variable, or the profile.
    pub fn key_place(&self) -> String {
        match self.profile.is_none() && read_variable(KEY_VARIABLE).is_some() {
            true => KEY_VARIABLE.to_owned(),
            false => format!("profile {}", self.profile_name()),
        }
    }

    /// The server, the key and the HTTP client that the command uses.
    pub fn resolve(&self) -> Result<ServerAccess> {
        let client = self.client()?;
        let from_variables = self.profile.is_none();
        let server = match &self.server {
            Some(server) => Some(server.clone()),
            None if from_variables => server_of_variable()?,
            None => None,
        };
        let key = match self.own_key()? {
            Some(key) => Some(key),
            None if from_variables => read_variable(KEY_VARIABLE),
            None => None,
        };
        let profile = match server.is_some() && key.is_some() {
            true => None,
            false => self.load_profile()?,
        };
        let (server, key) = combine(server, key, profile)?;
        Ok(ServerAccess { server, client, key })
    }

    /// The HTTP client, which also trusts the authorities of `--ca-file`.
    pub fn client(&self) -> Result<OperatorClient> {
        let roots = self.ca_file.iter().map(|file| {
            let text = std::fs::read_to_string(file);
            text.map_err(|e| cannot_read(file, &e.to_string(), "name a PEM file with --ca-file"))
        });
        OperatorClient::new(&roots.collect::<Result<Vec<String>>>()?)
    }

    /// The key of the file or of the variable that a flag names.
    pub fn own_key(&self) -> Result<Option<Zeroizing<String>>> {
        if let Some(file) = &self.api_key_file {
            return read_secret_text(file).map(Some);
        }
        let Some(name) = &self.api_key_env else { return Ok(None) };
        let key = read_variable(name).ok_or_else(|| {
            failure(
                format!("there is no API key in the variable {}", without_secret(name)),
                "set it, or name a file with --api-key-file; `switchboard keys create` creates a key",
            )
        });
        key.map(Some)
    }

    /// The name of the profile.
    pub fn profile_name(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }

    /// The server that a login is for. `profile` is the one that it replaces.
    pub fn login_server(&self, profile: Option<&Profile>) -> Result<Url> {
        let variable = server_of_variable()?;
        let saved = profile.and_then(|profile| Url::parse(&profile.server).ok());
        match self.server.clone().or(variable).or(saved) {
            Some(server) => Ok(server),
            None => Url::parse(DEFAULT_SERVER).context("the default server has no URL"),
        }
    }

    fn load_profile(&self) -> Result<Option<Profile>> {
        // Without a home there are no profiles, which is a fault only if one is named.
        if self.profile.is_none() && !profiles::has_folder() {
            return Ok(None);
        }
        let profiles = Profiles::load()?;
        let found = profiles.find(self.profile_name()).cloned();
        ensure_or_help(
            found.is_some() || self.profile.is_none(),
            || format!("there is no profile \"{}\" in {}", self.profile_name(), profiles.path().display()),
            || format!("run `switchboard login --profile {}`", self.profile_name()),
        )?;
        Ok(found)
    }
}

/// Completes server and key from a profile. Its key is for its own server alone.
fn combine(
    server: Option<Url>,
    key: Option<Zeroizing<String>>,
    profile: Option<Profile>,
) -> Result<(Url, Result<Zeroizing<String>, MissingKey>)> {
    let parsed = profile.map(|profile| {
        let server = parse_server(&profile.server).map_err(|why| {
            failure(format!("the server of the profile: {why}"), "run `switchboard login --server URL` again")
        });
        server.map(|server| (server, Zeroizing::new(profile.api_key)))
    });
    let saved = parsed.transpose()?;
    let default = Url::parse(DEFAULT_SERVER).context("the default server has no URL")?;
    let server = server.or_else(|| saved.as_ref().map(|(server, _)| server.clone())).unwrap_or(default);
    let key = match (key, saved) {
        (Some(key), _) => Ok(key),
        (None, Some((own, key))) if own == server => Ok(key),
        (None, Some((own, _))) => Err(MissingKey::OfOtherServer(own.to_string())),
        (None, None) => Err(MissingKey::None),
    };
    Ok((server, key))
}

impl ServerAccess {
    /// The API key.
    ///
    /// # Errors
    /// If there is none for this server, with the ways to name one.
    pub fn key(&self) -> Result<&Zeroizing<String>> {
        self.key.as_ref().map_err(|missing| match missing {
            MissingKey::None => failure(
                "there is no API key",
                format!(
                    "run `switchboard login`, or set {KEY_VARIABLE}; `switchboard keys create` creates a key"
                ),
            ),
            MissingKey::OfOtherServer(other) => failure(
                format!("there is no API key for {}: the profile is for {other}", self.server),
                format!(
                    "run `switchboard login --server {} --profile NAME`, or set {KEY_VARIABLE}",
                    self.server
                ),
            ),
        })
    }
}

/// The value of `Authorization` with this key.
pub fn authorization(key: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
        failure(
            "the API key has characters that no API key has",
            "use the key as `switchboard keys create` printed it, on one line",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The URL of a path of the server. `path` begins with a slash, and is percent-encoded.
pub fn url_of(server: &Url, path: &str) -> Url {
    let mut url = server.clone();
    url.set_query(None);
    url.set_path(&format!("{}{path}", server.path().trim_end_matches('/')));
    url
}

/// The sentence that says why a server gave no answer, with its host and port.
pub fn describe_failure(server: &Url, error: &PostError) -> String {
    let host = server.host_str().unwrap_or_default();
    let place = server.port_or_known_default().map_or(host.to_owned(), |port| format!("{host}:{port}"));
    match error {
        PostError::Dns => format!("the name of the server {place} cannot be looked up"),
        PostError::Connect => format!("the server {place} cannot be reached: it accepts no connection"),
        PostError::Tls => {
            format!("no TLS connection with the server {place}, or its certificate is not trusted")
        }
        PostError::Timeout => format!("the server {place} does not answer"),
        PostError::BlockedAddress => format!("the address of the server {place} is refused"),
        PostError::Http(why) => format!("the server {place}: {why}"),
    }
}

/// The failure of a command whose server gave no answer.
pub fn no_answer(server: &Url, error: &PostError) -> anyhow::Error {
    let help = match error {
        PostError::Tls => {
            "name its certificate authority with --ca-file, or check the scheme and port of --server"
        }
        PostError::Timeout => "check that it runs and is not overloaded, then try again",
        PostError::Http(_) => "check that --server names a Switchboard server, then try again",
        _ => "start it with `switchboard serve`, or name another one with --server",
    };
    exit_failure(SERVER_FAILED, describe_failure(server, error), help)
}

/// Parses the URL of a server: absolute, http or https, without credentials.
pub fn parse_server(text: &str) -> std::result::Result<Url, &'static str> {
    runtime::parse_webhook_url(text)
}

fn server_of_variable() -> Result<Option<Url>> {
    let text = std::env::var(SERVER_VARIABLE).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let url = parse_server(text.trim()).map_err(|why| {
        failure(format!("{SERVER_VARIABLE}: {why}"), format!("set it to a URL such as {DEFAULT_SERVER}"))
    });
    url.map(Some)
}

/// The text in an environment variable; none if it is empty or no UTF-8.
pub fn read_variable(name: &str) -> Option<Zeroizing<String>> {
    let text = std::env::var(name).ok().map(Zeroizing::new)?;
    Some(Zeroizing::new(text.trim().to_owned())).filter(|text| !text.is_empty())
}

/// The secret in a file, or in stdin if the file is `-`, without the line end that editors add.
pub fn read_secret_text(file: &Path) -> Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().take(MAX_SECRET_BYTES).read_to_string(&mut text),
        false => {
            std::fs::File::open(file).and_then(|file| file.take(MAX_SECRET_BYTES).read_to_string(&mut text))
        }
    };
    let help = "name a file that holds the secret alone, on one line";
    read.map_err(|e| cannot_read(file, &e.to_string(), help))?;
    ensure_or_help(!text.trim().is_empty(), || format!("{} is empty", shown(file)), || help.to_owned())?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}

fn cannot_read(file: &Path, why: &str, help: &str) -> anyhow::Error {
    failure(format!("cannot read {}: {why}", shown(file)), help)
}

fn shown(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { without_secret(&file.display().to_string()) }
}

/// A name that a flag gives, for an error: a secret in its place is not shown.
fn without_secret(name: &str) -> String {
    let is_secret =
        ["uc_live_", "uc_test_", "uc_tok_", "whsec_"].iter().any(|prefix| name.starts_with(prefix));
    if is_secret { "… (a secret, not its name)".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn combined(server: Option<&str>, key: Option<&str>, profile: Option<&str>) -> (String, Option<String>) {
        let profile =
            profile.map(|server| Profile { server: server.to_owned(), api_key: "of_profile".to_owned() });
        let key = key.map(|key| Zeroizing::new(key.to_owned()));
        let (server, key) = combine(server.map(url), key, profile).unwrap();
        (server.to_string(), key.ok().map(|key| key.to_string()))
    }

    #[test]
    fn the_key_of_a_profile_goes_to_its_own_server_alone() {
        let (own, other) = ("https://api.example.com/", "https://other.example.com/");
        let of_profile = Some("of_profile".to_owned());
        assert_eq!(combined(None, None, Some(own)), (own.to_owned(), of_profile.clone()));
        assert_eq!(combined(Some(own), None, Some(own)), (own.to_owned(), of_profile));
        assert_eq!(combined(Some(other), None, Some(own)), (other.to_owned(), None));
        let given = Some("given".to_owned());
        assert_eq!(combined(Some(other), Some("given"), Some(own)), (other.to_owned(), given.clone()));
        assert_eq!(combined(None, Some("given"), None), (format!("{DEFAULT_SERVER}/"), given));
    }

    #[test]
    fn a_server_without_an_answer_is_named_with_host_and_port() {
        let said = describe_failure(&url("https://api.example.com/base"), &PostError::Connect);
        assert_eq!(said, "the server api.example.com:443 cannot be reached: it accepts no connection");
        let said = describe_failure(&url("http://127.0.0.1:8080"), &PostError::Timeout);
        assert_eq!(said, "the server 127.0.0.1:8080 does not answer");
    }

    #[test]
    fn a_path_follows_the_base_of_the_server() {
        let base = url("https://example.com/switchboard/?x=1");
        assert_eq!(url_of(&base, "/v1/usage").as_str(), "https://example.com/switchboard/v1/usage");
    }

    #[test]
    fn the_error_of_a_key_does_not_show_it() {
        let refused = authorization("uc_live_a\nb").unwrap_err();
        assert!(!format!("{refused:#}").contains("uc_live"), "{refused:#}");
        let key = "uc_live_in_place_of_a_name";
        let of_file = read_secret_text(Path::new(key)).unwrap_err();
        let options = ServerOptions { api_key_env: Some(key.to_owned()), ..ServerOptions::default() };
        let of_variable = options.own_key().unwrap_err();
        assert!(!format!("{of_file:#} {of_variable:#}").contains("uc_live"), "{of_file:#} {of_variable:#}");
    }
}
