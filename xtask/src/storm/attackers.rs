//! The attackers, one at a time: each does the worst that is possible with its own key, or without one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::http::Client;
use crate::server::Server;
use crate::storm::costly::{self, Costly};
use crate::storm::invented;
use crate::storm::tenants;
use crate::storm::wire::{connect, exchange, request};
use crate::storm::writers;

/// The source address of attackers.
const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 66));
const SCOPES: &str = "connections.read,connections.write,calendar.read,calendar.write,email.read,email.write,email.send,usage.read,\
                      api_keys.write";
/// Events of the attacker's calendar: the service has to read through them and, at the end, delete them.
const EVENTS: usize = 3_000;
/// Bytes of HTML of the message that it reads repeatedly.
const HTML_BYTES: usize = 800 << 10;

/// The state that the attackers share.
pub struct Attacker {
    server: SocketAddr,
    key: String,
    /// Another key of the same tenant.
    other_key: String,
    connection: String,
    calendar: String,
    message: String,
    revoked: Arc<[String]>,
    costly: Costly,
    tarpit: SocketAddr,
}

/// An attack: its name, and its requests until the time is over.
pub type Attack = (&'static str, fn(Arc<Attacker>) -> JoinSet<()>);

/// All attacks, in their order: the last one ends the attacker's own account.
pub const ATTACKS: [Attack; 16] = [
    ("bodies of 1.9 MB: a long name over a long list", |a| {
        let body = format!("{{\"{}\":[{}0]}}", "k".repeat(300_000), "0,".repeat(800_000));
        repeat(16, &a, a.post("/v1/connections", &[], &body))
    }),
    ("bodies of 39 MB with an Idempotency-Key", |a| {
        let body = format!("{{\"a\":[{}0]}}", "0,".repeat(19_500_000));
        repeat(8, &a, a.post("/v1/email/send", &["idempotency-key: storm"], &body))
    }),
    ("bodies of 39 MB with two keys of one tenant", |a| {
        let body = format!("{{\"a\":[{}0]}}", "0,".repeat(19_500_000));
        let mut both = repeat(8, &a, a.post("/v1/email/send", &[], &body));
        spawn(&mut both, 8, &a, request("POST", "/v1/email/send", &a.other_key, &[], &body));
        both
    }),
    ("100 bodies of 39 MB that trickle in", |a| repeat_trickle(100, &a)),
    ("connections that say nothing whole", hoard),
    ("keys that were revoked", revoked_keys),
    ("probes", |a| repeat(32, &a, request("GET", "/readyz", "", &[], ""))),
    ("reading a message of 800 KB of comments", |a| {
        let path = format!("/v1/email/messages/{}?images=allow", a.message);
        repeat(8, &a, request("GET", &path, &a.key, &[], ""))
    }),
    ("usage figures and free text over 3,000 events", |a| {
        let usage = request("GET", "/v1/usage", &a.key, &[], "");
        let path = format!("/v1/calendars/{}/events?q=nothing&limit=200", a.calendar);
        let mut both = repeat(8, &a, usage);
        spawn(&mut both, 8, &a, request("GET", &path, &a.key, &[], ""));
        both
    }),
    ("free/busy of 50 times one calendar of hourly series, 8 at once", |a| {
        repeat(8, &a, a.post("/v1/calendars/freebusy/query", &[], &a.costly.free_busy))
    }),
    ("a series with 0.5 MB of description expanded, 8 at once", |a| {
        repeat(8, &a, request("GET", &a.costly.expansion, &a.key, &[], ""))
    }),
    ("a provider that is down and says for how long", |a| {
        repeat(32, &a, a.post(&a.costly.down, &[], &costly::event(0).to_string()))
    }),
    ("one Idempotency-Key, 64 times at once", |a| {
        let path = format!("/v1/calendars/{}/events", a.calendar);
        let body = json!({ "title": "x", "start": "2031-01-01T00:00:00Z", "end": "2031-01-01T01:00:00Z" });
        repeat(64, &a, a.post(&path, &["idempotency-key: the-same"], &body.to_string()))
    }),
    ("mail servers that never finish their greeting", |a| {
        let server = json!({ "host": a.tarpit.ip().to_string(), "port": a.tarpit.port(), "tls": "none" });
        let body = json!({ "provider": "imap", "scopes": ["email.read"],
            "credentials": { "username": "u", "password": "p", "imap": server, "smtp": server } });
        repeat(50, &a, a.post("/v1/connections", &[], &body.to_string()))
    }),
    (writers::NAME, |a| repeat(writers::CALLERS, &a, a.post(writers::PATH, &[], writers::BODY))),
    ("a large connection is deleted", |a| {
        let path = format!("/v1/connections/{}", a.connection);
        repeat(1, &a, request("DELETE", &path, &a.key, &[], ""))
    }),
];

/// An attack after a restart of the server, when it has no key cached: well-formed keys that were never issued, and malformed ones, from
/// the addresses of the well-behaved tenants.
pub const AFTER_RESTART: Attack = ("invented keys from everybody's address after a restart", |attacker| {
    let mut set = JoinSet::new();
    for number in 0..tenants::TENANTS {
        for _ in 0..2 {
            set.spawn(send_invented_keys(attacker.server, tenants::address(number)));
        }
    }
    set
});

impl Attacker {
    /// Makes the attacker's account with its content, and the mail server that never answers.
    pub fn make(server: &Server, tarpit: SocketAddr) -> Result<Attacker> {
        let new_key = || {
            let application = ["--application", "attacker", "--rate-limit-per-minute", "1000000"];
            let (_, made) = server.create_key(SCOPES, &application)?;
            Ok::<_, anyhow::Error>(made["key"].as_str().context("no key was printed")?.to_owned())
        };
        let (key, other_key) = (new_key()?, new_key()?);
        let client = Client::new(&server.url, &key);
        let post = |path: &str, body: &Value, status: u16| {
            client.send("POST", path, &[], Some(body))?.expect(&[status])
        };
        let id = |made: Value| Ok::<_, anyhow::Error>(made["id"].as_str().context("no id")?.to_owned());
        let account = json!({
            "provider": "sandbox", "credentials": { "username": "attacker@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write", "email.read", "email.write", "email.send"],
        });
        let connection = id(post("/v1/connections", &account, 201)?)?;
        let calendar =
            id(post("/v1/calendars", &json!({ "connectionId": connection, "name": "Large" }), 201)?)?;
        for number in 0..EVENTS {
            let (day, hour) = (1 + number % 28, number / 28 % 20);
            let body = json!({ "title": format!("Event {number}"), "start": format!("2030-01-{day:02}T{hour:02}:00:00Z"),
                "end": format!("2030-01-{day:02}T{hour:02}:30:00Z") });
            post(&format!("/v1/calendars/{calendar}/events"), &body, 201)?;
        }
        let comments = "<!--x!>-->";
        let message = json!({ "connectionId": connection, "subject": "x", "to": [{ "email": "a@sandbox.test" }],
            "from": [{ "email": "attacker@sandbox.test" }], "body": { "html": comments.repeat(HTML_BYTES / comments.len()) } });
        let message = id(post("/v1/email/messages", &message, 201)?)?;
        let revoked = (0..50).map(|number| {
            let made =
                post("/v1/api-keys", &json!({ "name": number.to_string(), "scopes": ["usage.read"] }), 201)?;
            let path = format!("/v1/api-keys/{}", made["id"].as_str().context("no id")?);
            client.send("DELETE", &path, &[], None)?.expect(&[204])?;
            Ok(made["key"].as_str().context("no key")?.to_owned())
        });
        let revoked = revoked.collect::<Result<Vec<_>>>()?.into();
        let costly = Costly::make(server, &client, &connection)?;
        let server = server.options.listen;
        Ok(Attacker { server, key, other_key, connection, calendar, message, revoked, costly, tarpit })
    }

    fn post(&self, path: &str, headers: &[&str], body: &str) -> Vec<u8> {
        let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
        request("POST", path, &self.key, &headers, body)
    }
}

/// Starts `callers` clients that send this request in a loop, each on a connection that it reopens when it breaks.
fn repeat(callers: usize, attacker: &Arc<Attacker>, request: Vec<u8>) -> JoinSet<()> {
    let mut set = JoinSet::new();
    spawn(&mut set, callers, attacker, request);
    set
}

fn spawn(set: &mut JoinSet<()>, callers: usize, attacker: &Arc<Attacker>, request: Vec<u8>) {
    let request = Arc::new(request);
    for _ in 0..callers {
        let (request, server) = (request.clone(), attacker.server);
        set.spawn(async move {
            loop {
                // The answers to an attacker do not matter here.
                if let Ok(mut stream) = connect(server, FROM).await {
                    while exchange(&mut stream, &request).await.is_ok() {}
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
}

fn repeat_trickle(callers: usize, attacker: &Arc<Attacker>) -> JoinSet<()> {
    let mut set = JoinSet::new();
    for _ in 0..callers {
        let attacker = attacker.clone();
        set.spawn(async move {
            let head = format!(
                "POST /v1/email/send HTTP/1.1\r\nhost: storm\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
                 content-length: 40000000\r\n\r\n{{\"a\":[",
                attacker.key
            );
            loop {
                if let Ok(mut stream) = connect(attacker.server, FROM).await
                    && stream.write_all(head.as_bytes()).await.is_ok()
                {
                    while stream.write_all(&[b' '; 512]).await.is_ok() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    set
}

/// Opens connections as fast as they are accepted, begins a request on each and leaves it unfinished.
fn hoard(attacker: Arc<Attacker>) -> JoinSet<()> {
    let mut set = JoinSet::new();
    for _ in 0..4 {
        let server = attacker.server;
        set.spawn(async move {
            let mut kept: Vec<TcpStream> = Vec::new();
            loop {
                if let Ok(mut stream) = connect(server, FROM).await
                    && stream.write_all(b"GET /v1/connections HTTP/1.1\r\nx: ").await.is_ok()
                {
                    kept.push(stream);
                }
                kept.truncate(500);
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        });
    }
    set
}

async fn send_invented_keys(server: SocketAddr, from: IpAddr) {
    let mut stream = None;
    loop {
        let request = request("GET", "/v1/connections", &invented::key(), &[], "");
        if stream.is_none() {
            stream = connect(server, from).await.ok();
        }
        let is_answered = match &mut stream {
            Some(open) => exchange(open, &request).await.is_ok(),
            None => false,
        };
        if !is_answered {
            stream = None;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn revoked_keys(attacker: Arc<Attacker>) -> JoinSet<()> {
    let mut set = JoinSet::new();
    for number in 0..32 {
        let attacker = attacker.clone();
        set.spawn(async move {
            let keys = attacker.revoked.iter().cycle().skip(number);
            let mut stream = None;
            for key in keys {
                let request = request("GET", "/v1/connections", key, &[], "");
                if stream.is_none() {
                    stream = connect(attacker.server, FROM).await.ok();
                }
                if let Some(open) = &mut stream
                    && exchange(open, &request).await.is_err()
                {
                    stream = None;
                }
            }
        });
    }
    set
}

/// Returns the runtime of the attackers. It is separate from the one whose requests are measured, and its threads yield to both that one
/// and the server: real attackers run on other machines, so their own cost must not count.
pub fn runtime() -> Result<Runtime> {
    let lowest = || {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(19);
    };
    Ok(Builder::new_multi_thread().worker_threads(2).enable_all().on_thread_start(lowest).build()?)
}

/// Starts a mail server that sends its greeting a letter a second, and never to the end.
pub async fn tarpit() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                while stream.write_all(b"*").await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
        }
    });
    Ok(address)
}
