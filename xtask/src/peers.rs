//! The test peers during a run: installed, started on free ports, their addresses for the tests' environment, and stopped at the end.
//! `tests/peers/peers.sh` does the work.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project;

/// The peers that the tests need today; the others of `tests/peers` are for future surfaces.
const NEEDED: [&str; 8] = ["radicale", "cyrus", "faults", "postgres", "dovecot", "exim", "oidcp", "emulate"];
/// First ports that are tried; a set takes some 200 from there.
const BASES: [u16; 8] = [4600, 5600, 6600, 7600, 8600, 9600, 10600, 11600];
/// The ports that the needed peers listen on, from the base.
const OFFSETS: [u16; 19] = [2, 3, 10, 24, 30, 43, 54, 70, 71, 72, 73, 74, 80, 124, 125, 143, 165, 187, 193];
/// Exim's port, from the base.
const EXIM: u16 = 125;
/// Unix sockets below the state directory have a short limit.
const LONGEST_DIR: usize = 60;

/// Running peers. Dropped, they are stopped.
pub struct Peers {
    dir: PathBuf,
    base: u16,
    names: Vec<&'static str>,
    /// Options that are passed to the peers' scripts.
    options: Vec<(&'static str, &'static str)>,
    /// Environment variables that the tests read: `PEERS_UP`, `RADICALE_URL`, and so on.
    pub environment: Vec<(String, String)>,
}

impl Peers {
    /// Installs missing peers and starts the needed ones with empty stores and the seed.
    pub fn start() -> Result<Peers> {
        Peers::start_only(&NEEDED, &[])
    }

    /// Starts only these peers, with options that their scripts read from the environment.
    pub fn start_only(names: &[&'static str], options: &[(&'static str, &'static str)]) -> Result<Peers> {
        let (names, options) = (names.to_vec(), options.to_vec());
        let mut peers = Peers { dir: state_dir(), base: BASES[0], names, options, environment: Vec::new() };
        // An interrupted run may have left peers that hold the ports and the data.
        peers.call("stop")?;
        peers.base = *BASES
            .iter()
            .find(|base| free(**base))
            .context("there is no free range of ports for the peers")?;
        for verb in ["install", "reset", "start", "seed"] {
            peers.call(verb)?;
        }
        let lines = project::output(&mut peers.command("env"), "reading the peers' addresses")?;
        peers.environment = lines
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(k, v)| (k.into(), v.into()))
            .collect();
        peers.environment.extend(peers.cyrus_to_exim().map(|port| ("CYRUS_SMTP_PORT".to_owned(), port)));
        let up = peers
            .environment
            .iter()
            .find(|(name, _)| name == "PEERS_UP")
            .map(|(_, up)| up.as_str())
            .unwrap_or_default();
        if let Some(down) = peers.names.iter().find(|name| !up.split(',').any(|other| other == **name)) {
            bail!("the peer {down} is not up");
        }
        Ok(peers)
    }

    /// One of the addresses.
    pub fn get(&self, name: &str) -> Result<String> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        Ok(found.with_context(|| format!("the peers tell no {name}"))?.1.clone())
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = project::command("bash");
        command.arg(project::root().join("tests/peers/peers.sh")).arg(verb).args(&self.names);
        command.env("PEERS_DIR", &self.dir).env("PEERS_PORT_BASE", self.base.to_string());
        command.envs(self.options.iter().copied());
        command.envs(self.cyrus_to_exim().map(|port| ("PEERS_CYRUS_SMTP_PORT", port)));
        command
    }

    /// Returns the address of Exim, to which Cyrus sends mail when both are up, so that people on Cyrus and on Dovecot can write to each
    /// other.
    fn cyrus_to_exim(&self) -> Option<String> {
        let has = |name: &str| self.names.contains(&name);
        (has("cyrus") && has("exim")).then(|| (self.base + EXIM).to_string())
    }

    fn call(&self, verb: &str) -> Result<()> {
        let what = format!("peers {verb}");
        project::run(self.command(verb).stdin(std::process::Stdio::null()), &what)
            .with_context(|| format!("{what} (see {}); `--no-peers` runs the rest", self.dir.display()))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        if let Err(error) = self.call("stop") {
            eprintln!("    cannot stop the peers: {error:#}");
        }
    }
}

/// Returns `target/peers`, or a short path in the cache if that is too long.
pub fn state_dir() -> PathBuf {
    let dir = project::target().join("peers");
    if dir.as_os_str().len() <= LONGEST_DIR {
        return dir;
    }
    let home = std::env::var_os("HOME").unwrap_or_else(|| "/var/tmp".into());
    Path::new(&home).join(".cache/switchboard-peers")
}

fn free(base: u16) -> bool {
    OFFSETS.iter().all(|offset| TcpListener::bind(("127.0.0.1", base + offset)).is_ok())
}
