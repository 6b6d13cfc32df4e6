//! The other side: `peer.mjs`, a search for slots in Node with luxon on SQLite. It generates the data of both sides, and commits rows.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::node;
use crate::project;

/// The seed of the data, the same in every run.
const SEED: usize = 39;

/// The program, installed.
pub struct SearchProgram(node::NodeProgram);

impl SearchProgram {
    pub fn install() -> Result<SearchProgram> {
        let sources = "xtask/src/bench/scheduling";
        Ok(SearchProgram(node::install("scheduling-packages", sources, "peer.mjs")?))
    }

    /// Generates events for this number of calendars and days, and returns them with their range.
    pub fn data(&self, calendars: usize, days: usize) -> Result<Value> {
        let mut command = self.command("data");
        command.args([SEED, calendars, days].map(|number| number.to_string()));
        let text = project::output(&mut command, "making the data")?;
        serde_json::from_str(&text).context("the data are no JSON")
    }

    /// Starts the search on this input; `folder` is for its database.
    pub fn serve(&self, input: &Path, folder: &Path) -> Result<Peer> {
        let mut command = self.command("serve");
        command.arg(input).arg(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start Node")?;
        let output = child.stdout.take().context("Node has no standard output")?;
        // From here on it is killed when dropped.
        let mut peer = Peer { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let port = line.trim_end().strip_prefix("ready ").and_then(|port| port.parse().ok());
        peer.address.set_port(port.with_context(|| format!("Node says {line:?}"))?);
        Ok(peer)
    }

    /// Commits one row `count` times, with this library preloaded; returns the microseconds of each.
    pub fn insert(&self, folder: &Path, count: usize, preload: &str) -> Result<Vec<u32>> {
        let mut command = self.command("insert");
        command.arg(folder).arg(count.to_string()).env("LD_PRELOAD", preload);
        let text = project::output(&mut command, "committing rows")?;
        serde_json::from_str(&text).context("the times are no JSON")
    }

    fn command(&self, what: &str) -> Command {
        let mut command = project::command(&self.0.node.to_string_lossy());
        // Node warns that its SQLite is experimental.
        command.arg("--no-warnings").arg(&self.0.script).arg(what);
        command
    }
}

/// The running search; killed when it is dropped.
pub struct Peer {
    child: Child,
    pub address: SocketAddr,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Best effort: the process has no state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
