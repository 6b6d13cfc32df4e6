//! `cargo xtask storm`: ten well-behaved tenants at a steady rate while one attacker after the other does its worst. The measure is how
//! much slower the well-behaved become, and that none of their requests fails; then the same for webhooks, whose hostile endpoints take
//! some minutes more. It needs the whole machine, so it is no part of `cargo xtask test`.

mod attackers;
mod costly;
mod invented;
mod receivers;
mod tenants;
mod wire;
mod writers;

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::memory::{forget_peak, peak_mib};
use crate::connectors;
use crate::project;
use crate::server::{self, Build, Options, Server};
use crate::storm::attackers::{AFTER_RESTART, ATTACKS, Attack, Attacker};
use crate::storm::tenants::{TenantMeasurement, quantile_ms};

/// The maximum ratio of the p99 to that without an attacker.
const MOST_SLOWER: f64 = 2.0;
/// The maximum p99 of `/healthz`, in milliseconds.
const HEALTH_MS: f64 = 50.0;
/// The maximum resident memory of the server.
const MEMORY_MIB: f64 = 512.0;
/// Milliseconds that may be noise of the machine: a limit is never below twice this.
const NOISE_MS: f64 = 5.0;

#[derive(clap::Args)]
pub struct StormArguments {
    /// Seconds of each attack.
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    /// Only attacks whose name holds this.
    #[arg(long)]
    only: Option<String>,
    /// An empty PostgreSQL database to let the storm go over instead of a SQLite file. STORM.md is then not written.
    #[arg(long)]
    database_url: Option<String>,
}

/// Builds the server, runs the storm, prints the table and writes it to `xtask/STORM.md`. Fails if a limit is missed.
pub fn run(arguments: &StormArguments) -> Result<()> {
    if cfg!(debug_assertions) {
        return in_release(arguments);
    }
    connectors::run(&connectors::ConnectorsArguments::all(false))?;
    let binary = server::build(Build::Dist, project::step)?;
    let data_dir = project::target().join("storm");
    server::empty(&data_dir)?;
    let listen = server::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    // The mail server that never finishes is on this machine.
    let egress_allow = vec!["127.0.0.1/32".to_owned()];
    let start = || {
        let (binary, data_dir, egress_allow) = (binary.clone(), data_dir.clone(), egress_allow.clone());
        let environment = environment(arguments);
        Server::start(Options { binary, data_dir, listen, egress_allow, environment })
    };
    let mut server = start()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let attackers = attackers::runtime()?;
    let tarpit = attackers.block_on(attackers::tarpit())?;
    project::step("making the tenants and the attacker's account");
    let tenants = tenants::make(&server)?;
    let attacker = Arc::new(Attacker::make(&server, tarpit)?);
    let length = Duration::from_secs(arguments.seconds);
    project::step("without an attacker");
    let mut calm = runtime.block_on(tenants::work(listen, &tenants, length * 2))?;
    let baseline = TenantFigures::from_measurement("no attack", &mut calm, peak_mib(server.pid())?, None);
    let mut lines = vec![baseline];
    let limit = baseline_limit(lines[0].p99_ms);
    let is_chosen = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let attacks: Vec<(Attack, bool)> =
        ATTACKS.into_iter().map(|attack| (attack, false)).chain([(AFTER_RESTART, true)]).collect();
    for ((name, attack), restarts) in attacks.iter().filter(|((name, _), _)| is_chosen(name)) {
        project::step(name);
        if *restarts {
            server.stop()?;
            server = start()?;
        }
        let (mut seen, mib) = runtime.block_on(async {
            forget_peak(server.pid())?;
            let mut callers = {
                let _there = attackers.enter();
                attack(attacker.clone())
            };
            let seen = tenants::work(listen, &tenants, length).await;
            callers.shutdown().await;
            Ok::<_, anyhow::Error>((seen?, peak_mib(server.pid())?))
        })?;
        lines.push(TenantFigures::from_measurement(name, &mut seen, mib, Some(limit)));
    }
    server.stop()?;
    let environment = environment(arguments);
    let options = Options { binary, data_dir, listen, egress_allow, environment };
    let receivers = receivers::run(options, arguments.only.as_deref())?;
    let text = table(&lines) + &receivers.text;
    println!("\n{text}");
    if arguments.only.is_none() && arguments.database_url.is_none() {
        fs::write(project::root().join("xtask/STORM.md"), &text).context("cannot write STORM.md")?;
    }
    match lines.iter().filter(|line| !line.missed.is_empty()).count() + receivers.missed {
        0 => Ok(()),
        missed => bail!("{missed} attacks harm others"),
    }
}

/// Variables of the server.
fn environment(arguments: &StormArguments) -> Vec<(String, String)> {
    let url = arguments.database_url.iter();
    url.map(|url| ("SWITCHBOARD_DATABASE_URL".to_owned(), url.clone())).collect()
}

fn baseline_limit(p99_ms: f64) -> f64 {
    p99_ms.max(NOISE_MS) * MOST_SLOWER
}

/// The figures of the well-behaved tenants during one attack.
struct TenantFigures {
    name: String,
    requests: usize,
    failed: u64,
    failure: Option<String>,
    p50_ms: f64,
    p99_ms: f64,
    health_p99_ms: f64,
    mib: f64,
    missed: Vec<&'static str>,
}

impl TenantFigures {
    fn from_measurement(
        name: &str,
        seen: &mut TenantMeasurement,
        mib: f64,
        limit_ms: Option<f64>,
    ) -> TenantFigures {
        let p50_ms = quantile_ms(&mut seen.micros, 0.5);
        let p99_ms = quantile_ms(&mut seen.micros, 0.99);
        let health_p99_ms = quantile_ms(&mut seen.health_micros, 0.99);
        let mut missed = Vec::new();
        // NaN never meets a limit.
        if limit_ms.is_some_and(|limit| p99_ms.is_nan() || p99_ms > limit) {
            missed.push("p99");
        }
        if health_p99_ms.is_nan() || health_p99_ms > HEALTH_MS {
            missed.push("healthz");
        }
        if mib > MEMORY_MIB {
            missed.push("memory");
        }
        if seen.failed > 0 {
            missed.push("failures");
        }
        let requests = seen.micros.len();
        let (failed, failure) = (seen.failed, seen.failure.take());
        TenantFigures {
            name: name.to_owned(),
            requests,
            failed,
            failure,
            p50_ms,
            p99_ms,
            health_p99_ms,
            mib,
            missed,
        }
    }
}

fn table(lines: &[TenantFigures]) -> String {
    let limit = lines.first().map_or(f64::NAN, |line| baseline_limit(line.p99_ms));
    let mut text = format!(
        "# Storm\n\n`cargo xtask storm`: ten tenants at 20 requests a second each, one of 20 with a body of 100 KB, and one attacker after the other. The slowest of a \
         hundred of their requests may take {limit:.1} ms (twice what it takes without an attack, or twice {NOISE_MS} ms), of `/healthz` \
         {HEALTH_MS} ms; the server may have {MEMORY_MIB} MiB; nothing of theirs may fail.\n\n\
         | Attack | Requests | Failed | p50 | p99 | `/healthz` p99 | Memory | |\n|---|---|---|---|---|---|---|---|\n"
    );
    for line in lines {
        let verdict = if line.missed.is_empty() {
            "met".to_owned()
        } else {
            format!("missed: {}", line.missed.join(", "))
        };
        text += &format!(
            "| {} | {} | {} | {:.1} ms | {:.1} ms | {:.1} ms | {:.0} MiB | {verdict} |\n",
            line.name, line.requests, line.failed, line.p50_ms, line.p99_ms, line.health_p99_ms, line.mib
        );
        if let Some(failure) = &line.failure {
            eprintln!("    {}: {failure}", line.name);
        }
    }
    text
}

/// The load must be optimised as the server is.
fn in_release(arguments: &StormArguments) -> Result<()> {
    let seconds = arguments.seconds.to_string();
    let mut given = vec!["storm", "--seconds", &seconds];
    if let Some(only) = &arguments.only {
        given.extend(["--only", only]);
    }
    if let Some(url) = &arguments.database_url {
        given.extend(["--database-url", url]);
    }
    project::run_optimised(&given)
}
