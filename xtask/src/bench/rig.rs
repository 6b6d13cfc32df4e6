//! The server that the cases share, with an account of the sandbox connected.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use crate::bench::load::Load;
use crate::http::Client;
use crate::project;
use crate::server::{self, Options, Server};

const SCOPES: &str = "connections.read,connections.write,calendar.read,calendar.write,api_keys.write";

/// The measured build, and the length of measurements.
pub struct Rig {
    pub binary: PathBuf,
    /// Seconds of each run of load.
    pub seconds: u64,
}

/// A server with a key without a practical rate limit, and a calendar to write to.
pub struct Subject {
    pub server: Server,
    pub client: Client,
    pub key: String,
    pub connection: String,
    pub calendar: String,
}

impl Rig {
    /// Returns the folder of the case, emptied.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = project::target().join("bench").join(name);
        server::empty(&folder)?;
        Ok(folder)
    }

    /// Starts a server on this data directory.
    pub fn server(&self, data_dir: &Path, environment: &[(&str, &str)]) -> Result<Server> {
        self.server_that_reaches(data_dir, &[], environment)
    }

    /// Starts a server whose connectors may reach these addresses beyond the public internet.
    pub fn server_that_reaches(
        &self,
        data_dir: &Path,
        places: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Server> {
        let environment =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let listen = server::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let (binary, data_dir) = (self.binary.clone(), data_dir.to_owned());
        let egress_allow = places.iter().map(|place| (*place).to_owned()).collect();
        Server::start(Options { binary, data_dir, listen, egress_allow, environment })
    }

    /// Starts a server with an empty database, makes a key and connects an account.
    pub fn subject(&self, name: &str, environment: &[(&str, &str)]) -> Result<Subject> {
        let server = self.server(&self.folder(name)?, environment)?;
        let (_, key) = server.create_key(SCOPES, &["--rate-limit-per-minute", "100000000"])?;
        let key = key["key"].as_str().context("`keys create --json` printed no key")?.to_owned();
        let client = Client::new(&server.url, &key);
        let body = json!({
            "provider": "sandbox",
            "credentials": { "username": "bench@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection = client.send("POST", "/v1/connections", &[], Some(&body))?.expect(&[201])?;
        let connection = id(&connection)?;
        let body = json!({ "connection_id": connection, "name": "Bench" });
        let calendar = id(&client.send("POST", "/v1/calendars", &[], Some(&body))?.expect(&[201])?)?;
        Ok(Subject { server, client, key, connection, calendar })
    }
}

impl Subject {
    /// Creates an event on this day of January 2030, and returns its id.
    pub fn create_event(&self, number: usize) -> Result<String> {
        let day = 1 + number % 28;
        let body = json!({
            "connection_id": self.connection,
            "title": format!("Event {number}"),
            "start": format!("2030-01-{day:02}T09:00:00Z"),
            "end": format!("2030-01-{day:02}T10:00:00Z"),
        });
        let path = format!("/v1/calendars/{}/events", self.calendar);
        id(&self.client.send("POST", &path, &[], Some(&body))?.expect(&[201])?)
    }

    /// Runs `work` while one event changes every 100 ms, because responses that never change could be cached.
    pub fn while_changing<T>(&self, event: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = format!("/v1/calendars/{}/events/{event}", self.calendar);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| -> Result<()> {
                let client = Client::new(&self.server.url, &self.key);
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let body = json!({ "metadata": { "number": number.to_string() } });
                    client.send("PATCH", &path, &[], Some(&body))?.expect(&[200])?;
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(())
            });
            let outcome = work();
            stop.store(true, Ordering::Relaxed);
            writer.join().map_err(|_| anyhow!("the writer panicked"))??;
            outcome
        })
    }

    /// Load on one path of this server, with the key.
    pub fn load(&self, method: &'static str, path: String, status: u16, clients: usize) -> Load {
        let headers = vec![format!("authorization: Bearer {}", self.key)];
        Load {
            address: self.server.options.listen,
            method,
            path,
            choices: Arc::default(),
            headers,
            body: String::new(),
            status,
            clients,
        }
    }
}

fn id(resource: &Value) -> Result<String> {
    Ok(resource["id"].as_str().context("there is no id in the answer")?.to_owned())
}
