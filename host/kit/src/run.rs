//! A run of the kit.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use model::wire::Connection;
use runtime::{Config, HttpSettings, Limits, Runtime, SystemLookup};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::bench::{Bench, Verdict};
use crate::caller::{Bearer, Caller};
use crate::cases::{CASES, Case};
use crate::compiled;
use crate::line::{HTTP_TIMEOUT, Line};
use crate::log::Log;
use crate::provider::paper::Paper;
use crate::report::{CaseReport, Report};

/// When the kit's clock begins: 2026-01-01T00:00:00Z.
const START_MS: i64 = 1_767_225_600_000;
/// Requests shown of a failed case.
const SHOWN: usize = 5;
/// Where Paper is for the connector: nowhere.
const PAPER_URL: &str = "https://paper.test";

/// Who plays the provider.
pub enum Provider {
    /// The kit itself.
    Paper,
    /// A server on this machine or elsewhere, opened by this bearer token.
    Server { token: String },
}

/// What is to be tested, and how.
pub struct Options {
    /// The folder with `connector.toml` and the component.
    pub connector: PathBuf,
    pub provider: Provider,
    /// The settings of the connection.
    pub settings: Map<String, Value>,
    /// The name or the id of the list whose content the cases may change.
    pub collection: Option<String>,
    /// Run these cases alone, by their ids.
    pub cases: Vec<String>,
    /// The same seed gives the same run.
    pub seed: u64,
    /// As [`Config::compile_in_child`].
    pub compile_in_child: Option<PathBuf>,
    /// Where compiled code stays for the next run; none: nowhere.
    pub compiled: Option<PathBuf>,
}

/// Runs the cases. `progress` is told of each step that begins and of each case that has ended. Fails where the connector cannot be
/// loaded at all, with the cause, or where a case that was asked for is not there.
pub async fn run(options: Options, mut progress: impl FnMut(&str)) -> Result<Report> {
    let start = Instant::now();
    let cases = chosen(&options.cases)?;
    let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
    let clock_ms = Arc::new(AtomicI64::new(START_MS));
    let line = Line::new(matches!(options.provider, Provider::Paper).then(Paper::default));
    let log = Arc::<Log>::default();
    let mut config = config(&options, dir.path(), &clock_ms, line.clone())?;
    config.observer = Some(log.clone());
    let runtime = Runtime::start(config).await?;
    let installed = runtime.install(&options.connector).await?;
    if let Some(folder) = &options.compiled {
        compiled::prune(folder);
    }
    let loaded = runtime.list().into_iter().next().context("the connector is not in service")?;
    progress(&format!(
        "install: compiled in {}, types and imports agree with connector.toml",
        seconds(start)
    ));
    let mut bench = bench(&options, runtime, loaded.manifest.name.clone(), clock_ms, (line, log));
    let limits = Limits::default();
    bench.cpu_ms = limits.cpu_ms;
    bench.memory_mib = limits.memory_mib(loaded.manifest.memory) as u64;
    bench.surfaces = loaded.manifest.surfaces.iter().map(|version| version.surface).collect();
    let mut reports = Vec::new();
    for case in cases {
        let report = run_case(case, &mut bench).await;
        if report.verdict != Verdict::Passed {
            progress(&format!(
                "{} {}",
                case.id,
                if report.help.is_some() { "failed" } else { "does not apply" }
            ));
        }
        reports.push(report);
    }
    Ok(Report {
        connector: loaded.manifest.name.clone(),
        version: installed.version,
        digest: installed.current,
        kit: env!("CARGO_PKG_VERSION"),
        seed: options.seed,
        capabilities: bench.capabilities,
        cases: reports,
        ms: millis(start),
    })
}

fn chosen(wanted: &[String]) -> Result<Vec<&'static Case>> {
    if let Some(unknown) = wanted.iter().find(|id| !CASES.iter().any(|case| case.id == **id)) {
        let ids: Vec<&str> = CASES.iter().map(|case| case.id).collect();
        bail!("there is no case \"{unknown}\"; there are {}", ids.join(", "));
    }
    Ok(CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|id| case.id == id)).collect())
}

fn config(
    options: &Options,
    dir: &std::path::Path,
    clock_ms: &Arc<AtomicI64>,
    line: Arc<Line>,
) -> Result<Config> {
    let clock_ms = clock_ms.clone();
    let cache_dir = options.compiled.clone().unwrap_or_else(|| dir.join("cache"));
    let networks = ["127.0.0.0/8", "::1/128"].map(|net| net.parse().expect("a network"));
    Ok(Config {
        artefact_key: compiled::key(&cache_dir)?,
        cache_dir,
        store_dir: dir.join("store"),
        bundle_dir: None,
        egress_allow: networks.to_vec(),
        webhook_allow: Vec::new(),
        approved_origins: Vec::new(),
        own_provider: None,
        lookup: Arc::new(SystemLookup),
        transport: Some(line),
        limits: Limits {
            http_timeout_ms: u64::try_from(HTTP_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
            wall_ms: 3_000,
            ..Limits::default()
        },
        now: Arc::new(move || clock_ms.load(Ordering::SeqCst)),
        http: HttpSettings::default(),
        compile_in_child: options.compile_in_child.clone(),
        lines: false,
        observer: None,
    })
}

fn bench(
    options: &Options,
    runtime: Runtime,
    connector: String,
    clock_ms: Arc<AtomicI64>,
    (line, log): (Arc<Line>, Arc<Log>),
) -> Bench {
    let mut settings = options.settings.clone();
    let (token, mut secrets) = match &options.provider {
        Provider::Paper => {
            settings.entry("serverUrl").or_insert_with(|| json!(PAPER_URL));
            let digest = hex::encode(Sha256::digest(options.seed.to_be_bytes()));
            let account = format!("kit-{digest:.16}");
            let key = Paper::feed_key(&account);
            (format!("paper-{account}"), vec![key])
        }
        Provider::Server { token } => (token.clone(), Vec::new()),
    };
    secrets.push(token.clone());
    let calls = Caller {
        runtime,
        connector,
        connection: Connection { settings, ..Connection::default() },
        credentials: Arc::new(Bearer(token)),
        seed: options.seed,
        calls: 0,
        last: None,
        outputs: Vec::new(),
    };
    Bench {
        calls,
        line,
        clock_ms,
        secrets,
        wanted: options.collection.clone(),
        list: None,
        surfaces: Vec::new(),
        log,
        cpu_ms: 0,
        memory_mib: 0,
        warned: Vec::new(),
        capabilities: Vec::new(),
    }
}

async fn run_case(case: &'static Case, bench: &mut Bench) -> CaseReport {
    let (start, calls) = (Instant::now(), bench.calls.calls);
    bench.line.mend();
    bench.line.take_exchanges();
    bench.calls.outputs.clear();
    bench.log.take();
    let verdict = (case.run)(bench).await.err().unwrap_or(Verdict::Passed);
    let exchanges = bench.line.take_exchanges();
    let (said, help, requests) = match &verdict {
        Verdict::Passed => (None, None, Vec::new()),
        Verdict::NotApplicable(why) => (Some(why.clone()), None, Vec::new()),
        Verdict::Failed(finding) => {
            let last = exchanges.len().saturating_sub(SHOWN);
            let requests =
                exchanges[last..].iter().map(|exchange| clean(&exchange.to_string(), &bench.secrets));
            (Some(clean(&finding.said, &bench.secrets)), Some(finding.help), requests.collect())
        }
    };
    let verdict = match verdict {
        Verdict::Failed(mut finding) => {
            finding.said = said.clone().unwrap_or_default();
            Verdict::Failed(finding)
        }
        other => other,
    };
    let (id, group, title) = (case.id, case.group, case.title);
    CaseReport {
        id,
        group,
        title,
        verdict,
        said,
        help,
        requests,
        calls: bench.calls.calls - calls,
        ms: millis(start),
    }
}

/// A text of the report without the secrets of the run.
fn clean(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "REDACTED"))
}

fn millis(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn seconds(start: Instant) -> String {
    format!("{:.1} s", start.elapsed().as_secs_f64())
}
