//! A run of the kit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use model::wire::Connection;
use runtime::{Config, HttpSettings, Limits, Manifest, ProviderRedirect, Runtime, Surface, SystemLookup};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::bench::{Bench, Finding, Verdict};
use crate::caller::{Caller, ProviderCredentials};
use crate::cases::{CASES, Case, find_secrets};
use crate::compiled;
use crate::interceptor::Interceptor;
use crate::line::{Line, Responder};
use crate::log::Log;
use crate::provider::paper::Paper;
use crate::recording::{
    Origin, Problem, RECORD_AGAIN, Recording, RecordingDifferences, Replay, Rules, placeholder,
};
use crate::report::{CaseReport, Report};
use crate::selection::select;

/// The time of the kit's clock at the start of a run: 2026-01-01T00:00:00Z, in Unix milliseconds.
const START_MS: i64 = 1_767_225_600_000;
/// The time between the starts of two cases, in milliseconds: more than a case moves the clock.
const CASE_MS: i64 = 3_600_000;
/// The maximum number of requests shown for a failed case.
const SHOWN: usize = 5;
/// The address under which the connector reaches Paper. The domain does not exist.
const PAPER_URL: &str = "https://paper.test";

/// The provider that a run tests against.
#[derive(Clone)]
pub enum Provider {
    /// Paper, the kit's own provider.
    Paper,
    /// A server on this machine or elsewhere, with an account there. Requests to the hosts that the manifest names go to `url`.
    Server { url: String, credentials: ProviderCredentials },
    /// No live provider: responses come from a recording, and the run takes its seed.
    Recorded { recording: Recording, rules: Rules },
}

/// Options of a run: connector, provider, settings, cases.
#[derive(Clone)]
pub struct Options {
    /// The folder with `connector.toml` and the component.
    pub connector: PathBuf,
    pub provider: Provider,
    /// The settings of the connection.
    pub settings: Map<String, Value>,
    /// The name or the id of the list whose content the cases may change.
    pub collection: Option<String>,
    /// The ids of the cases to run; all if empty.
    pub cases: Vec<String>,
    /// The same seed gives the same run.
    pub seed: u64,
    /// The value for [`Config::compile_in_child`].
    pub compile_in_child: Option<PathBuf>,
    /// The folder for compiled code that later runs reuse; none to discard the code.
    pub compiled: Option<PathBuf>,
}

/// Runs the cases. Calls `progress` for each step that begins and each case that ends. Fails if the connector cannot be loaded, or if a
/// requested case does not exist or is not in the recording.
pub async fn run(options: Options, mut progress: impl FnMut(&str)) -> Result<Report> {
    let responder = match &options.provider {
        Provider::Paper => Responder::Paper(Paper::default()),
        Provider::Server { .. } => Responder::Network,
        Provider::Recorded { recording, rules } => {
            ensure_recorded(recording, &choose_cases(&options)?)?;
            Responder::Recorded(Replay::new(recording.clone(), rules.clone()))
        }
    };
    run_over(&options, &Line::new(responder), &mut progress).await
}

/// Runs the cases over this line.
pub async fn run_over(
    options: &Options,
    line: &Arc<Line>,
    progress: &mut impl FnMut(&str),
) -> Result<Report> {
    let start = Instant::now();
    let cases = choose_cases(options)?;
    let of = choose_cases(&Options { cases: Vec::new(), ..options.clone() })?.len();
    let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
    let clock_ms = Arc::new(AtomicI64::new(START_MS));
    let log = Arc::<Log>::default();
    let mut config = config(options, dir.path(), &clock_ms, line.clone())?;
    config.observer = Some(log.clone());
    let interceptor = Interceptor::new(line.clone());
    config.transport = Some(interceptor.clone());
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
    let account = account(options);
    let seed = account.seed;
    let name = loaded.manifest.name.clone();
    let mut bench = bench(options, account, (runtime, name), clock_ms, (line.clone(), log), interceptor);
    let limits = Limits::default();
    bench.cpu_ms = limits.cpu_ms;
    bench.memory_mib = limits.memory_mib(loaded.manifest.memory) as u64;
    bench.surfaces = loaded.manifest.surfaces.iter().map(|version| version.surface).collect();
    let mut reports = Vec::new();
    for case in cases {
        let report = announce(run_case(case, seed, &mut bench), line, progress).await;
        if report.verdict != Verdict::Passed {
            progress(&format!(
                "{} {}",
                case.id,
                if report.help.is_some() { "failed" } else { "is not applicable" }
            ));
        }
        reports.push(report);
    }
    Ok(Report {
        connector: loaded.manifest.name.clone(),
        version: installed.version,
        digest: installed.current,
        kit: env!("CARGO_PKG_VERSION"),
        seed,
        capabilities: bench.capabilities,
        notes: line.pace.notes(),
        of,
        cases: reports,
        ms: millis(start),
    })
}

/// Runs a case, and reports to `progress` when the provider makes the run wait.
async fn announce(
    case: impl Future<Output = CaseReport>,
    line: &Line,
    progress: &mut impl FnMut(&str),
) -> CaseReport {
    tokio::pin!(case);
    loop {
        tokio::select! {
            biased;
            Some(notice) = line.pace.notice() => progress(&notice),
            report = &mut case => return report,
        }
    }
}

/// Returns the requested cases; if none were requested, all for the surfaces in the connector's manifest.
fn choose_cases(options: &Options) -> Result<Vec<&'static Case>> {
    let surfaces: Vec<Surface> = manifest(options)?.surfaces.iter().map(|version| version.surface).collect();
    Ok(select(&options.cases, &surfaces)?)
}

fn manifest(options: &Options) -> Result<Manifest> {
    let path = options.connector.join("connector.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Manifest::parse(&text)
}

/// Returns the redirect of the manifest's hosts to the server, if there is a server and the manifest names hosts.
fn redirect(options: &Options) -> Result<Option<ProviderRedirect>> {
    let Provider::Server { url, .. } = &options.provider else { return Ok(None) };
    let manifest = manifest(options)?;
    if manifest.hosts.is_empty() {
        return Ok(None);
    }
    match ProviderRedirect::new(manifest.name, url) {
        Ok(redirect) => Ok(Some(redirect)),
        Err(why) => {
            let said = format!("provider.url of project.toml is \"{url}\": {why}");
            Err(Problem::new(said, "write url = \"http://127.0.0.1:9000\", or an https URL").into())
        }
    }
}

/// Fails if one of these cases is not in the recording.
fn ensure_recorded(recording: &Recording, cases: &[&Case]) -> Result<(), Problem> {
    let missing = cases.iter().filter(|case| recording.find_case(case.id).is_none()).count();
    if missing == 0 {
        return Ok(());
    }
    Err(Problem::new(
        format!("recordings/ has no answers for {missing} of {} cases", cases.len()),
        "switchboard connector record, or [test] provider = \"paper\" or { url = \"…\", token = \"…\" } in project.toml",
    ))
}

fn config(
    options: &Options,
    dir: &std::path::Path,
    clock_ms: &Arc<AtomicI64>,
    line: Arc<Line>,
) -> Result<Config> {
    let clock_ms = clock_ms.clone();
    let cache_dir = options.compiled.clone().unwrap_or_else(|| dir.join("cache"));
    let (http_timeout_ms, wall_ms) = line.pace.longest_ms();
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
        limits: Limits { http_timeout_ms, wall_ms, ..Limits::default() },
        now: Arc::new(move || clock_ms.load(Ordering::SeqCst)),
        http: HttpSettings { redirect: redirect(options)?, ..HttpSettings::default() },
        compile_in_child: options.compile_in_child.clone(),
        lines: false,
        observer: None,
        shared: None,
    })
}

/// The connection of a run, and the values that must never leave the connector.
pub struct TestAccount {
    settings: Map<String, Value>,
    credentials: ProviderCredentials,
    seed: u64,
    /// The secret values. Those of the credentials are the last ones.
    pub secrets: Vec<String>,
}

/// The account that the connector is tested with.
pub fn account(options: &Options) -> TestAccount {
    let mut settings = options.settings.clone();
    let seed = match &options.provider {
        Provider::Recorded { recording, .. } => recording.seed,
        Provider::Paper | Provider::Server { .. } => options.seed,
    };
    let name = format!("kit-{:.16}", hex::encode(Sha256::digest(seed.to_be_bytes())));
    let origin = match &options.provider {
        Provider::Paper => Origin::Paper,
        Provider::Server { .. } => Origin::Server,
        Provider::Recorded { recording, .. } => recording.origin,
    };
    let token = |of: &str| ProviderCredentials::Token(format!("{of}-{name}"));
    let (credentials, mut secrets) = match (&options.provider, origin) {
        (Provider::Paper, _) => (token("paper"), vec![Paper::feed_key(&name)]),
        (Provider::Server { credentials, .. }, _) => (credentials.clone(), Vec::new()),
        // The placeholders for the secrets of the recorded account, which have the first numbers.
        (_, Origin::Paper) => (token("recorded"), vec![placeholder(1), placeholder(2)]),
        (_, Origin::Server) => (token("recorded"), vec![placeholder(1)]),
    };
    if origin == Origin::Paper {
        settings.entry("serverUrl").or_insert_with(|| json!(PAPER_URL));
    }
    secrets.extend(credentials.secrets());
    TestAccount { settings, credentials, seed, secrets }
}

fn bench(
    options: &Options,
    account: TestAccount,
    (runtime, connector): (Runtime, String),
    clock_ms: Arc<AtomicI64>,
    (line, log): (Arc<Line>, Arc<Log>),
    interceptor: Arc<Interceptor>,
) -> Bench {
    let username = account.credentials.username().map(str::to_owned);
    let calls = Caller {
        runtime,
        connector,
        connection: Connection { settings: account.settings, username, ..Connection::default() },
        credentials: Arc::new(account.credentials),
        line: line.clone(),
        seed: account.seed,
        calls: 0,
        surface: None,
        last: None,
        keys: Vec::new(),
        outputs: Vec::new(),
        hints: HashMap::new(),
        steps: Arc::default(),
    };
    Bench {
        calls,
        line,
        interceptor,
        clock_ms,
        secrets: account.secrets,
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

/// Begins a case with its own time and seed and without cached data of the account, so that its requests do not depend on earlier cases.
fn begin_case(case: &'static Case, seed: u64, bench: &mut Bench) {
    let place = CASES.iter().position(|other| other.id == case.id).unwrap_or_default();
    let at_ms = START_MS + CASE_MS * i64::try_from(place).unwrap_or_default();
    let at_ms = bench.line.begin_case(case.id, at_ms);
    bench.clock_ms.store(at_ms, Ordering::SeqCst);
    let digest: [u8; 32] =
        Sha256::new().chain_update(seed.to_be_bytes()).chain_update(case.id).finalize().into();
    let seed = digest.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte));
    bench.calls.begin_case(seed);
    (bench.list, bench.warned) = (None, Vec::new());
    bench.interceptor.begin_case();
    bench.log.take();
}

async fn run_case(case: &'static Case, seed: u64, bench: &mut Bench) -> CaseReport {
    let start = Instant::now();
    begin_case(case, seed, bench);
    let verdict = (case.run)(bench).await.err().unwrap_or(Verdict::Passed);
    let exchanges = bench.line.take_exchanges();
    let surface = bench.calls.surface.unwrap_or(Surface::Lifecycle);
    let mut verdict = judge(verdict, bench.line.end_case(surface.as_str()));
    let provider = bench.line.pace.trouble().filter(|_| matches!(verdict, Verdict::Failed(_)));
    if let (Verdict::Failed(finding), Some(trouble)) = (&mut verdict, provider) {
        finding.help = trouble.help().into();
    }
    let (said, help, requests) = match &verdict {
        Verdict::Passed => (None, None, Vec::new()),
        Verdict::NotApplicable(why) => (Some(why.clone()), None, Vec::new()),
        Verdict::Failed(finding) => {
            let last = exchanges.len().saturating_sub(SHOWN);
            let mut secrets = bench.secrets.clone();
            secrets.extend(find_secrets(&bench.interceptor.take_answers()));
            let requests = exchanges[last..].iter().map(|exchange| clean(&exchange.to_string(), &secrets));
            let help = Cow::Owned(clean(&finding.help, &secrets));
            (Some(clean(&finding.said, &secrets)), Some(help), requests.collect())
        }
    };
    let verdict = match verdict {
        Verdict::Failed(mut finding) => {
            finding.said = said.clone().unwrap_or_default();
            finding.help = help.clone().unwrap_or_default();
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
        provider,
        requests,
        calls: bench.calls.calls,
        ms: millis(start),
    }
}

/// Returns the verdict on a case, or a failure if its requests differ from the recording, because its result means nothing then. Unused
/// recorded requests of a failed case do not count: it ended early.
fn judge(verdict: Verdict, unmatched: RecordingDifferences) -> Verdict {
    let has_failed = matches!(verdict, Verdict::Failed(_));
    match unmatched.missing.or(unmatched.unused.filter(|_| !has_failed)) {
        Some(said) => Verdict::Failed(Finding { said, help: RECORD_AGAIN.into() }),
        None => verdict,
    }
}

/// Removes the secrets of the run from a text of the report.
fn clean(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "REDACTED"))
}

fn millis(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn seconds(start: Instant) -> String {
    format!("{:.1} s", start.elapsed().as_secs_f64())
}
