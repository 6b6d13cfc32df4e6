//! `cargo xtask demo`: from a clean machine to a running server that has just demonstrated its main job.

mod mail;
mod oauth;
mod people;
mod scheduling;
mod walk;
mod webhooks;

use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::connectors;
use crate::demo::walk::{Walk, text};
use crate::http::Client;
use crate::progress::Steps;
use crate::project;
use crate::server::{self, Build, Options, Server};

/// The scopes of the demo's API key.
const SCOPES: &str = "email.read,email.write,email.send,connections.read,connections.write,calendar.read,calendar.write,calendar.freebusy,contacts.read,\
    contacts.write,tasks.read,tasks.write,scheduling.read,scheduling.write,scheduling.book,usage.read,api_keys.write,webhooks.read,\
    webhooks.write";

/// Number of steps: toolchain, connectors, server build, server start, walk.
const STEPS: usize = 5;
/// Entries of the default data directory that are kept from one demo to the next: the compiled connectors, and the master key that
/// authenticates them. Without them every start compiles the connectors again.
const KEPT: [&str; 2] = ["cache", "master.key"];

#[derive(clap::Args)]
pub struct DemoArguments {
    /// End after the walk instead of leaving the server up; exit code 0 when every answer was as expected.
    #[arg(long)]
    exit: bool,
    /// Take the server and the connectors as the tests have them: after `cargo xtask test` both are built already.
    #[arg(long)]
    dev: bool,
    /// Build the server and the connectors with full optimisation, which takes several times as long.
    #[arg(long, conflicts_with = "dev")]
    release: bool,
    /// The address of the server; another free port is taken if this one is in use.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The provider to connect: `sandbox` needs no account, the others take the options below.
    #[arg(long, default_value = "sandbox", value_parser = ["sandbox", "dav", "jmap", "imap"])]
    provider: String,
    /// The CalDAV or JMAP server, such as `https://dav.example.org/`.
    #[arg(long, required_if_eq_any([("provider", "dav"), ("provider", "jmap")]))]
    server_url: Option<String>,
    /// The IMAP server, `host:port`.
    #[arg(long, required_if_eq("provider", "imap"))]
    imap: Option<SocketName>,
    /// The server that mail is sent through, `host:port`.
    #[arg(long, required_if_eq("provider", "imap"))]
    smtp: Option<SocketName>,
    /// How the lines to both are encrypted.
    #[arg(long, default_value = "implicit", value_parser = ["implicit", "starttls", "none"])]
    tls: String,
    #[arg(long, required_if_eq_any([("provider", "dav"), ("provider", "jmap"), ("provider", "imap")]))]
    username: Option<String>,
    /// The address of a mailbox, where neither its server nor the user name tells it.
    #[arg(long)]
    email: Option<String>,
    #[arg(long, required_if_eq_any([("provider", "dav"), ("provider", "jmap"), ("provider", "imap")]))]
    password: Option<String>,
    /// Keep the database here; without it the demo begins with an empty one.
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

impl DemoArguments {
    /// How the server is built.
    fn build(&self) -> Build {
        match (self.dev, self.release) {
            (true, _) => Build::Dev,
            (false, true) => Build::Release,
            (false, false) => Build::Demo,
        }
    }
}

/// `host:port`.
#[derive(Clone)]
struct SocketName {
    host: String,
    port: u16,
}

impl std::str::FromStr for SocketName {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (host, port) = text.rsplit_once(':').context("write host:port")?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(SocketName { host, port: port.parse().context("the port is a number")? })
    }
}

/// Builds and starts the server, runs the walk, and stays or ends.
pub fn run(arguments: &DemoArguments) -> Result<()> {
    let mut steps = Steps::new(STEPS);
    connectors::build(&connectors::ConnectorsArguments::all(!arguments.release), |text| steps.begin(text))?;
    let binary = server::build(arguments.build(), |text| steps.begin(text))?;
    let (data_dir, _lock) = data_dir(arguments)?;
    let listen = server::free_address(arguments.listen)?;
    steps.begin(&format!("starting the server on {listen}, database in {}", data_dir.display()));
    if !data_dir.join("cache").exists() {
        eprintln!("    the first start compiles the connectors; the next ones take them from the cache");
    }
    let mut egress_allow = egress(arguments.server_url.as_deref())?;
    for server in [&arguments.imap, &arguments.smtp].into_iter().flatten() {
        egress_allow.extend(network(&server.host));
    }
    let environment = webhooks::ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let server = Server::start(Options { binary, data_dir, listen, egress_allow, environment })?;
    eprintln!("    ready after {} ms", server.ready_after.as_millis());
    steps.begin("creating an API key and walking through the main job");
    let key = create_key(&server)?;
    if arguments.provider == "sandbox" {
        register_redirect(&server, &key)?;
    }
    let key = text(&key, "key")?;
    let walked = Walk::new(Client::new(&server.url, &key), connect_body(arguments)).run();
    let connection =
        walked.with_context(|| format!("the walk failed; the server's log ends:\n{}", server.log_tail()))?;
    if arguments.exit {
        project::step("stopping the server (SIGTERM)");
        server.stop()?;
        println!("\nAll answers were as expected, and the server ended with 0.");
        return Ok(());
    }
    farewell(&server, &key, &connection);
    stay(server)
}

/// Returns the data directory. The default one is emptied except for `KEPT`, and locked against a second demo. It is not `target/demo`,
/// which is cargo's folder for the profile `demo`.
fn data_dir(arguments: &DemoArguments) -> Result<(PathBuf, Option<File>)> {
    if let Some(dir) = &arguments.data_dir {
        return Ok((std::path::absolute(dir)?, None));
    }
    let folder = project::target().join("demo-data");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let lock = File::create(folder.join("lock"))?;
    if lock.try_lock().is_err() {
        bail!("another demo is running on {}: end it, or give --data-dir", folder.display());
    }
    let data = folder.join("data");
    empty_except(&data, &KEPT).with_context(|| format!("cannot empty {}", data.display()))?;
    Ok((data, Some(lock)))
}

/// Removes all entries of the folder `path` except these; creates the folder if it is missing.
fn empty_except(path: &Path, kept: &[&str]) -> Result<()> {
    fs::create_dir_all(path)?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if kept.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the private networks to allow: connectors otherwise reach only public addresses, and a CalDAV server may be on a private one.
fn egress(server_url: Option<&str>) -> Result<Vec<String>> {
    let Some(url) = server_url else { return Ok(Vec::new()) };
    let rest = url
        .split_once("://")
        .map(|(_, rest)| rest)
        .context("--server-url must begin with http:// or https://")?;
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    Ok(network(host))
}

/// Returns the networks of a host that may have a private address.
fn network(host: &str) -> Vec<String> {
    if host == "localhost" {
        return vec!["127.0.0.0/8".to_owned(), "::1/128".to_owned()];
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => vec![format!("{address}/32")],
        Ok(IpAddr::V6(address)) => vec![format!("{address}/128")],
        Err(_) => Vec::new(),
    }
}

fn create_key(server: &Server) -> Result<Value> {
    let (line, key) = server.create_key(SCOPES, &[])?;
    println!("\n── Create an API key, on the command line\n$ {line}");
    println!("{}", serde_json::to_string_pretty(&key)?);
    Ok(key)
}

/// Registers the demo's address as the redirect URI to which users return after OAuth.
fn register_redirect(server: &Server, key: &Value) -> Result<()> {
    let application = text(key, "applicationId")?;
    let arguments = ["apps", "redirects", application.as_str(), "--add", oauth::REDIRECT, "--json"];
    let line = format!("switchboard {}", arguments.join(" "));
    let mut command = project::command(&server.options.binary.to_string_lossy());
    // Uses only the demo's own database, not one named in the environment.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SWITCHBOARD_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).arg("--data-dir").arg(&server.options.data_dir);
    let redirects = project::output(&mut command, "registering a redirect URI")?;
    println!("\n── Register where users return to after OAuth, on the command line\n$ {line}");
    println!("{}", redirects.trim_end());
    Ok(())
}

fn connect_body(arguments: &DemoArguments) -> Value {
    let scopes = json!([
        "email.read",
        "email.write",
        "email.send",
        "calendar.read",
        "calendar.write",
        "contacts.read",
        "contacts.write",
        "tasks.read",
        "tasks.write"
    ]);
    let mut credentials = json!({ "username": arguments.username, "password": arguments.password });
    let mut settings = json!({});
    if let Some(email) = &arguments.email {
        settings["email"] = json!(email);
    }
    match arguments.provider.as_str() {
        "imap" => {
            for (name, server) in [("imap", &arguments.imap), ("smtp", &arguments.smtp)] {
                credentials[name] = json!(
                    server.as_ref().map(|s| json!({ "host": s.host, "port": s.port, "tls": arguments.tls }))
                );
            }
        }
        "dav" | "jmap" => settings["serverUrl"] = json!(arguments.server_url),
        _ => credentials = json!({ "username": "alice@sandbox.test", "password": "sandbox" }),
    }
    json!({
        "provider": arguments.provider,
        "settings": settings,
        "credentials": credentials,
        "scopes": scopes,
    })
}

fn farewell(server: &Server, key: &str, connection: &str) {
    let url = &server.url;
    println!("\nSwitchboard is running; Ctrl-C ends it.\n");
    println!("  API documentation  {url}/docs");
    println!("  OpenAPI document   {url}/openapi.json");
    println!("  API key            {key}");
    println!("  connection         {connection}");
    println!("  data and log       {}", server.options.data_dir.display());
    println!("\n  curl -H 'Authorization: Bearer {key}' '{url}/v1/calendars?connection_id={connection}'\n");
}

/// Waits for Ctrl-C, SIGTERM or the end of the server.
fn stay(mut server: Server) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => return Ok(()),
                _ = terminate.recv() => return Ok(()),
                () = tokio::time::sleep(Duration::from_millis(300)) => if let Some(status) = server.ended()? {
                    bail!("the server ended: {status}\n{}", server.log_tail());
                },
            }
        }
    })?;
    project::step("stopping the server");
    server.stop()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{KEPT, egress, empty_except};

    #[test]
    fn a_new_demo_keeps_the_compiled_connectors_and_their_key() {
        let folder = std::env::temp_dir().join(format!("switchboard-demo-{}", std::process::id()));
        fs::create_dir_all(folder.join("cache")).unwrap();
        fs::create_dir_all(folder.join("connectors")).unwrap();
        for name in ["cache/a.cwasm", "connectors/index", "master.key", "switchboard.db"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        empty_except(&folder, &KEPT).unwrap();
        let left = ["cache/a.cwasm", "master.key", "connectors", "switchboard.db"];
        assert_eq!(left.map(|name| folder.join(name).exists()), [true, true, false, false]);
        fs::remove_dir_all(&folder).unwrap();
        empty_except(&folder, &KEPT).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_private_server_is_allowed_by_its_own_address_alone() {
        let of = |url| egress(Some(url)).unwrap();
        assert_eq!(of("http://127.0.0.1:5232/dav/"), ["127.0.0.1/32"]);
        assert_eq!(of("https://[fd00::1]:8443/"), ["fd00::1/128"]);
        assert_eq!(of("http://localhost/"), ["127.0.0.0/8", "::1/128"]);
        assert!(of("https://dav.example.org/").is_empty());
        assert!(egress(Some("dav.example.org")).is_err());
    }
}
