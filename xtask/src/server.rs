//! The host as `cargo xtask` builds it, and a running `switchboard`: start, key creation, and stop by SIGTERM.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::connectors;
use crate::http::Client;
use crate::progress;
use crate::project::{self, DEMO_PROFILE, DIST_PROFILE};

/// Time limit for a server to become ready. Its first start compiles the connectors, which takes an unoptimized server minutes on a busy
/// machine.
const START: Duration = Duration::from_secs(300);
/// Time limit for a server to stop: it promises 10 s.
const DRAIN: Duration = Duration::from_secs(12);

/// The build of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// The binary of the tests, with their features and few optimized libraries: exists once the tests were built.
    Dev,
    /// The binary of `cargo xtask demo`: optimized only as far as that does not delay the first demo.
    Demo,
    /// The binary that is benchmarked and shipped.
    Dist,
    /// The binary of a plain `cargo build --release`.
    Release,
}

impl Build {
    /// The name of the profile, the arguments of the `cargo` that builds the host with it, and the binary's folder below the
    /// target folder.
    fn cargo(self) -> (&'static str, Vec<&'static str>, &'static str) {
        let of_profile = |name| (name, vec!["build", "--profile", name, "-p", "switchboard"], name);
        match self {
            Build::Dev => ("dev", vec!["build", "--workspace", "--bin", "switchboard"], "debug"),
            Build::Demo => of_profile(DEMO_PROFILE),
            Build::Dist => of_profile(DIST_PROFILE),
            Build::Release => of_profile("release"),
        }
    }
}

/// Builds the host and returns the path of its binary. `step` reports that the build begins.
pub fn build(how: Build, step: impl FnOnce(&str)) -> Result<PathBuf> {
    let (profile, arguments, folder) = how.cargo();
    step(&format!("building the server (profile {profile})"));
    let total = progress::count_packages(project::cargo(), &["switchboard".to_owned()], None);
    progress::build(project::cargo().args(arguments), "the server", total)?;
    Ok(project::target().join(folder).join("switchboard"))
}

/// The options of a server.
pub struct Options {
    pub binary: PathBuf,
    pub data_dir: PathBuf,
    pub listen: SocketAddr,
    /// Private networks (CIDR) that connectors may reach.
    pub egress_allow: Vec<String>,
    pub environment: Vec<(String, String)>,
}

/// A running server. It is killed when dropped without `stop`.
pub struct Server {
    child: Child,
    pub options: Options,
    pub url: String,
    /// Time from the start of the process to the first 200 of `/readyz`.
    pub ready_after: Duration,
}

impl Server {
    /// Starts the server with the sandbox provider and waits until it is ready. Its output goes to `server.log` in the data
    /// directory.
    pub fn start(options: Options) -> Result<Server> {
        fs::create_dir_all(&options.data_dir).context("cannot create the data directory")?;
        let log = File::create(options.data_dir.join("server.log")).context("cannot create server.log")?;
        let mut command = switchboard(&options);
        command.arg("serve").arg("--sandbox");
        command.arg("--listen").arg(options.listen.to_string());
        command.arg("--data-dir").arg(&options.data_dir).arg("--connectors").arg(connectors::bundle());
        for cidr in &options.egress_allow {
            command.arg("--egress-allow").arg(cidr);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let start = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {}", options.binary.display()))?;
        let url = format!("http://{}", options.listen);
        let mut server = Server { child, options, url, ready_after: Duration::ZERO };
        server.await_ready(start)?;
        Ok(server)
    }

    fn await_ready(&mut self, start: Instant) -> Result<()> {
        let client = Client::new(&self.url, "");
        while start.elapsed() < START {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended while it started: {status}\n{}", self.log_tail());
            }
            if client.send("GET", "/readyz", &[], None).is_ok_and(|answer| answer.status == 200) {
                self.ready_after = start.elapsed();
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        bail!("the server was not ready after {} s\n{}", START.as_secs(), self.log_tail());
    }

    /// Returns the last lines of the server's log.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.options.data_dir.join("server.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Creates a key; returns the command line and its output.
    pub fn create_key(&self, scopes: &str, extra: &[&str]) -> Result<(String, Value)> {
        let mut command = switchboard(&self.options);
        command.args(["keys", "create", "--json", "--scopes", scopes]).args(extra);
        command.arg("--data-dir").arg(&self.options.data_dir);
        let text = project::output(&mut command, "creating an API key")?;
        let line = format!("switchboard keys create --json --scopes {scopes}");
        Ok((line, serde_json::from_str(&text).context("`keys create --json` did not print JSON")?))
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status, once the server has ended.
    pub fn ended(&mut self) -> Result<Option<std::process::ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Asks the server to end and waits for that. Fails if it takes too long, or ends with another status than 0.
    pub fn stop(mut self) -> Result<()> {
        let start = Instant::now();
        if self.child.try_wait()?.is_none() {
            kill_process(Pid::from_child(&self.child), Signal::TERM).context("cannot signal the server")?;
        }
        while start.elapsed() < DRAIN {
            if let Some(status) = self.child.try_wait()? {
                if !status.success() {
                    bail!("the server ended with {status}\n{}", self.log_tail());
                }
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the server did not end {} s after SIGTERM\n{}", DRAIN.as_secs(), self.log_tail());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Best effort after an error, since a further failure cannot be reported.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Returns the command of the binary with the settings of `options` and none of the caller's environment, which might name a real database.
fn switchboard(options: &Options) -> Command {
    let mut command = project::command(&options.binary.to_string_lossy());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SWITCHBOARD_") {
            command.env_remove(name);
        }
    }
    command.envs(options.environment.iter().cloned());
    command
}

/// Returns `wanted` if its port is free, else the same IP address with another free port.
pub fn free_address(wanted: SocketAddr) -> Result<SocketAddr> {
    let listener = TcpListener::bind(wanted).or_else(|_| TcpListener::bind((wanted.ip(), 0)));
    Ok(listener.with_context(|| format!("no free port on {}", wanted.ip()))?.local_addr()?)
}

/// Creates an empty folder at `path`, removing existing content.
pub fn empty(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("cannot empty {}", path.display()))?;
    }
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::Build;

    #[test]
    fn each_build_has_its_profile_and_its_folder() {
        for (how, arguments, folder) in [
            (Build::Dev, "build --workspace --bin switchboard", "debug"),
            (Build::Demo, "build --profile demo -p switchboard", "demo"),
            (Build::Dist, "build --profile dist -p switchboard", "dist"),
            (Build::Release, "build --profile release -p switchboard", "release"),
        ] {
            let (_, given, found) = how.cargo();
            assert_eq!((given.join(" ").as_str(), found), (arguments, folder), "{how:?}");
        }
    }
}
