//! The two measured mail providers: Dovecot by IMAP and Cyrus by JMAP, each with a mailbox that the benchmark fills.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::bench::load::Load;
use crate::bench::mail::imap::Imap;
use crate::bench::mail::messages;
use crate::bench::rig::Rig;
use crate::http::Client;
use crate::peers::Peers;
use crate::project;
use crate::server::Server;

/// The protocol by which we access the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Imap,
    Jmap,
}

/// A mailbox of a provider.
#[derive(Clone)]
pub struct Account {
    pub protocol: Protocol,
    pub shown: &'static str,
    pub user: String,
    pub password: String,
    /// The port that the connector uses.
    pub port: u16,
    /// The port over which messages are stored.
    imap_port: u16,
    smtp_port: u16,
}

/// The needed peers. Exim is needed although no mail is sent, because the connector signs in there too.
pub const PEERS: [&str; 3] = ["dovecot", "cyrus", "exim"];

/// Returns the accounts, emptied.
pub fn accounts(peers: &Peers) -> Result<[Account; 2]> {
    let port = |name: &str| Ok::<u16, anyhow::Error>(peers.get(name)?.parse()?);
    let (password, smtp_port) = (peers.get("DOVECOT_PASSWORD")?, port("EXIM_PORT")?);
    let dovecot = Account {
        protocol: Protocol::Imap,
        shown: "IMAP (Dovecot)",
        user: "t01@example.test".to_owned(),
        password,
        port: port("DOVECOT_IMAP_PORT")?,
        imap_port: port("DOVECOT_IMAP_PORT")?,
        smtp_port,
    };
    let url = peers.get("CYRUS_URL")?;
    let place = url.trim_end_matches('/').rsplit(':').next();
    let cyrus = Account {
        protocol: Protocol::Jmap,
        shown: "JMAP (Cyrus)",
        user: "t01".to_owned(),
        password: peers.get("CYRUS_PASSWORD")?,
        port: place.and_then(|port| port.parse().ok()).context("CYRUS_URL names no port")?,
        imap_port: port("CYRUS_IMAP_PORT")?,
        smtp_port,
    };
    Ok([dovecot, cyrus])
}

impl Account {
    /// Returns the body that connects the account, with this port in place of the provider's own.
    fn connect_body(&self, port: u16) -> Value {
        let server = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
        let mut credentials = json!({ "username": self.user, "password": self.password });
        let mut settings = json!({});
        match self.protocol {
            Protocol::Imap => {
                credentials["imap"] = server(port);
                credentials["smtp"] = server(self.smtp_port);
            }
            Protocol::Jmap => settings["serverUrl"] = json!(format!("http://127.0.0.1:{port}/")),
        }
        let provider = if self.protocol == Protocol::Imap { "imap" } else { "jmap" };
        json!({ "provider": provider, "settings": settings, "credentials": credentials, "scopes": ["email.read"] })
    }

    /// Returns the account of another user of the same provider, emptied.
    pub fn second(&self) -> Account {
        Account { user: self.user.replacen("t01", "t02", 1), ..self.clone() }
    }

    /// Fills the inbox with this number of messages.
    pub fn fill(&self, count: usize) -> Result<()> {
        let mut imap = Imap::open(self.imap_port, &self.user, &self.password)?;
        imap.append((0..count).map(|number| (messages::date(number), messages::message(number))))
    }

    /// Adds a message to the inbox.
    pub fn put(&self, message: Vec<u8>) -> Result<()> {
        let mut imap = Imap::open(self.imap_port, &self.user, &self.password)?;
        imap.append(std::iter::once(("01-Feb-2026 00:00:00 +0000".to_owned(), message)))
    }

    /// The native client of this protocol, and the arguments with which it reaches the provider.
    pub fn native_client(&self) -> Result<(PathBuf, [String; 3])> {
        let (name, example, place) = match self.protocol {
            Protocol::Imap => ("connector-imap", "native_imap", self.port.to_string()),
            Protocol::Jmap => ("connector-jmap", "native_jmap", format!("http://127.0.0.1:{}/", self.port)),
        };
        let mut cargo = project::cargo();
        cargo.args(["build", "--release", "-p", name, "--example", example]);
        project::run(&mut cargo, &format!("building the native client for {}", self.shown))?;
        let program = project::target().join("release/examples").join(example);
        Ok((program, [place, self.user.clone(), self.password.clone()]))
    }
}

/// A server of ours with the account connected.
pub struct MailSubject {
    pub server: Server,
    pub client: Client,
    key: String,
    pub connection: String,
}

impl MailSubject {
    /// Starts a server with an empty database, which reaches the provider by this port.
    pub fn start(rig: &Rig, account: &Account, port: u16) -> Result<MailSubject> {
        let name = if account.protocol == Protocol::Imap { "mail-imap" } else { "mail-jmap" };
        let server = rig.server_that_reaches(&rig.folder(name)?, &["127.0.0.1/32"], &[])?;
        let (_, key) =
            server.create_key("connections.write,email.read", &["--rate-limit-per-minute", "100000000"])?;
        let key = key["key"].as_str().context("`keys create --json` printed no key")?.to_owned();
        let client = Client::new(&server.url, &key);
        let body = account.connect_body(port);
        let connected = client.send("POST", "/v1/connections", &[], Some(&body))?.expect(&[201])?;
        let connection = connected["id"].as_str().context("there is no id in the answer")?.to_owned();
        Ok(MailSubject { server, client, key, connection })
    }

    /// Requests of one client that are as fresh as the provider.
    pub fn load(&self, path: &str) -> Load {
        let headers =
            vec![format!("authorization: Bearer {}", self.key), "cache-control: no-cache".to_owned()];
        Load {
            address: self.server.options.listen,
            method: "GET",
            path: path.to_owned(),
            choices: [].into(),
            headers,
            body: String::new(),
            status: 200,
            clients: 1,
        }
    }

    /// Sends one such request.
    pub fn ask(&self, path: &str) -> Result<Value> {
        self.client.send("GET", path, &[("cache-control", "no-cache")], None)?.expect(&[200])
    }
}
