//! The other side: BullMQ on Redis. Both are processes of their own: Redis is that of the system, Node and the packages come from npm.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::bench::node;
use crate::bench::rig::Rig;
use crate::project;
use crate::server;

/// The time limit for Redis to answer.
const START: Duration = Duration::from_secs(20);

/// The time at which Redis writes its data to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    Never,
    EverySecond,
    /// Before it answers, like a commit of ours.
    Always,
}

impl Persistence {
    fn arguments(self) -> [&'static str; 6] {
        let (append, when) = match self {
            Persistence::Never => ("no", "no"),
            Persistence::EverySecond => ("yes", "everysec"),
            Persistence::Always => ("yes", "always"),
        };
        ["--save", "", "--appendonly", append, "--appendfsync", when]
    }
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Persistence::Never => "without persistence",
            Persistence::EverySecond => "flushing every second",
            Persistence::Always => "flushing always",
        })
    }
}

/// The files that BullMQ runs from.
pub struct Bullmq {
    node: PathBuf,
    program: PathBuf,
    folder: PathBuf,
}

/// The parameters of a run.
#[derive(Clone)]
pub struct Task {
    pub persistence: Persistence,
    /// Processes of Node, which share the queues.
    pub processes: usize,
    pub queues: usize,
    pub concurrency: usize,
    pub receiver: SocketAddr,
    pub secret: String,
    /// A file with a body in each line.
    pub bodies: PathBuf,
    /// Jobs that are added in a second, and for how many seconds; 0: one for each body and queue exists before the start.
    pub rate: usize,
    pub seconds: u64,
}

impl Bullmq {
    /// Installs missing parts.
    pub fn install(rig: &Rig) -> Result<Bullmq> {
        if !has_redis() {
            let mut install = project::command("bash");
            install.arg(project::root().join("tests/peers/peers.sh")).args(["install", "redis"]);
            project::run(&mut install, "installing redis-server")?;
            ensure!(has_redis(), "there is no redis-server");
        }
        let program = node::install("bullmq-packages", "xtask/src/bench/webhooks", "bullmq.mjs")?;
        Ok(Bullmq { node: program.node, program: program.script, folder: rig.folder("bullmq")? })
    }

    /// Starts an empty Redis, and the processes, which wait for `begin`.
    pub fn start(&self, task: &Task) -> Result<QueueRun> {
        let redis = self.redis(task.persistence)?;
        let started = (0..task.processes).map(|process| self.worker(task, redis.port, process));
        let mut workers = started.collect::<Result<Vec<Worker>>>()?;
        for worker in &mut workers {
            worker.expect("ready")?;
        }
        Ok(QueueRun { workers, redis })
    }

    fn redis(&self, persistence: Persistence) -> Result<Redis> {
        let data = self.folder.join("redis");
        server::empty(&data)?;
        let address = server::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let port = address.port();
        let mut command = project::command("redis-server");
        command.args(["--bind", "127.0.0.1", "--daemonize", "no", "--port", &port.to_string(), "--dir"]);
        command.arg(&data).args(persistence.arguments());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut redis =
            Redis { child: ChildGuard(command.spawn().context("cannot start redis-server")?), port };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = redis.child.0.try_wait()? {
                bail!("redis-server ended while it started: {status}");
            }
            ensure!(start.elapsed() < START, "redis-server does not answer");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(redis)
    }

    fn worker(&self, task: &Task, redis_port: u16, process: usize) -> Result<Worker> {
        let queues: Vec<usize> =
            (0..task.queues).filter(|number| number % task.processes == process).collect();
        let options = json!({
            "redisPort": redis_port, "receiver": format!("http://{}", task.receiver), "secret": task.secret,
            "bodies": task.bodies, "queues": queues, "concurrency": task.concurrency, "rate": task.rate,
            "seconds": task.seconds,
        });
        let mut command = project::command(&self.node.to_string_lossy());
        command.arg(&self.program).arg(options.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = ChildGuard(command.spawn().context("cannot start Node")?);
        let input = child.0.stdin.take().context("Node has no standard input")?;
        let output = child.0.stdout.take().context("Node has no standard output")?;
        Ok(Worker { child, input, output: BufReader::new(output) })
    }
}

/// A process that is killed when it is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // Best effort: the process has no state.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Redis {
    child: ChildGuard,
    port: u16,
}

struct Worker {
    child: ChildGuard,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn expect(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(line.trim_end() == word, "BullMQ says {line:?} instead of {word:?}");
        Ok(())
    }
}

/// BullMQ, running; ended when it is dropped.
pub struct QueueRun {
    // Declared before Redis, so that its clients end first.
    workers: Vec<Worker>,
    redis: Redis,
}

impl QueueRun {
    /// Tells all processes to begin.
    pub fn begin(&mut self) -> Result<()> {
        self.workers.iter_mut().try_for_each(|worker| Ok(worker.input.write_all(b"begin\n")?))
    }

    /// Waits until all jobs were added, if they are added at a rate.
    pub fn added(&mut self) -> Result<()> {
        self.workers.iter_mut().try_for_each(|worker| worker.expect("done"))
    }

    /// The ids of its processes.
    pub fn pids(&self) -> Vec<u32> {
        let redis = std::iter::once(self.redis.child.0.id());
        redis.chain(self.workers.iter().map(|worker| worker.child.0.id())).collect()
    }
}

fn has_redis() -> bool {
    let mut command = Command::new("redis-server");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Writes a file with a body in each line: the bodies that the endpoint received from our side, so that both send the same.
pub fn write_bodies(path: &Path, bodies: &[Vec<u8>]) -> Result<()> {
    let mut text = Vec::new();
    for body in bodies {
        let _: Value = serde_json::from_slice(body).context("a body is no JSON")?;
        ensure!(!body.contains(&b'\n'), "a body has more than one line");
        text.extend_from_slice(body);
        text.push(b'\n');
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
