//! `cargo xtask demo`: from a clean machine to a running server that has just shown its main job.

mod mail;
mod people;
mod walk;

use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::connectors;
use crate::demo::walk::Walk;
use crate::http::Client;
use crate::project;
use crate::server::{self, Build, Options, Server};

/// What the demo's key may do.
const SCOPES: &str = "email.read,email.write,email.send,connections.read,connections.write,calendar.read,calendar.write,calendar.freebusy,contacts.read,\
    contacts.write,tasks.read,tasks.write,usage.read,api_keys.write";

#[derive(clap::Args)]
pub struct Arguments {
    /// End after the walk instead of leaving the server up; exit code 0 when every answer was as expected.
    #[arg(long)]
    exit: bool,
    /// Take the server and the connectors as the tests have them: they are built far sooner.
    #[arg(long)]
    dev: bool,
    /// Where the server listens; another free port is taken when this one is in use.
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

/// Builds, starts, walks, and stays or ends.
pub fn run(arguments: &Arguments) -> Result<()> {
    connectors::run(&connectors::Arguments::all(arguments.dev))?;
    let binary = server::build(if arguments.dev { Build::Dev } else { Build::Release })?;
    let (data_dir, _lock) = data_dir(arguments)?;
    let listen = server::free_address(arguments.listen)?;
    project::step(&format!("starting the server on {listen}, database in {}", data_dir.display()));
    let mut egress_allow = egress(arguments.server_url.as_deref())?;
    for server in [&arguments.imap, &arguments.smtp].into_iter().flatten() {
        egress_allow.extend(network(&server.host));
    }
    let server = Server::start(Options { binary, data_dir, listen, egress_allow, environment: Vec::new() })?;
    eprintln!("    ready after {} ms", server.ready_after.as_millis());
    let key = create_key(&server)?;
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

/// The folder of the database. The default one is emptied, so a lock keeps a second demo out of it.
fn data_dir(arguments: &Arguments) -> Result<(PathBuf, Option<File>)> {
    if let Some(dir) = &arguments.data_dir {
        return Ok((std::path::absolute(dir)?, None));
    }
    let folder = project::target().join("demo");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    if lock.try_lock().is_err() {
        bail!("another demo is running on {}: end it, or give --data-dir", folder.display());
    }
    let data = folder.join("data");
    server::empty(&data)?;
    Ok((data, Some(lock)))
}

/// Connectors reach public addresses alone; a CalDAV server on a private one needs a word from the operator.
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

/// The networks that a host is in, if it may be private.
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

fn create_key(server: &Server) -> Result<String> {
    let (line, key) = server.create_key(SCOPES, &[])?;
    println!("\n── Create an API key, on the command line\n$ {line}");
    println!("{}", serde_json::to_string_pretty(&key)?);
    let secret = key["key"].as_str().context("`keys create --json` printed no key")?;
    Ok(secret.to_owned())
}

fn connect_body(arguments: &Arguments) -> Value {
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

/// Waits for Ctrl-C, SIGTERM or the server's own end.
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
    use super::egress;

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
