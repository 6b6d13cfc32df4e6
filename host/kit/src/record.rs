//! Recording: runs the kit and keeps the exchanges, without private data, if they replay.

use std::path::Path;

use anyhow::{Result, bail};

use crate::bench::Verdict;
use crate::line::{Line, Responder};
use crate::provider::paper::Paper;
use crate::recording::{Origin, Problem, RECORD_AGAIN, RecordedCase, Recording, Redactor, Rules};
use crate::report::{CaseReport, Report};
use crate::run::{Options, Provider, account, run, run_over};

/// How often a recording is replayed before it is saved.
const REPLAYS: usize = 2;
const DIFFERS: &str = "[record] keep = [\"…\"] in project.toml names an address or a value that stays as it is, because the connector makes an id of it; keep_headers = [\"…\"] names response headers that it needs";

/// Counts of a finished recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingCounts {
    pub cases: usize,
    pub requests: usize,
    /// Addresses of people that were replaced.
    pub addresses: usize,
    /// Cases that failed while they were recorded: their recordings end where they failed.
    pub failed: Vec<&'static str>,
}

/// Runs all cases against the provider and replaces the recording in `folder` by its answers, without private data. A recording that
/// does not replay with the same results is not saved; then nothing is written. Calls `progress` with each step that begins.
pub async fn record(
    options: Options,
    rules: &Rules,
    folder: &Path,
    mut progress: impl FnMut(&str),
) -> Result<RecordingCounts> {
    let (responder, origin) = match &options.provider {
        Provider::Paper => (Responder::Paper(Paper::default()), Origin::Paper),
        Provider::Server { .. } => (Responder::Network, Origin::Server),
        Provider::Recorded { .. } => bail!("a recording cannot be recorded: name a provider that answers"),
    };
    let options = Options { cases: Vec::new(), ..options };
    let line = Line::recording(responder);
    let recorded = run_over(&options, &line, &mut progress).await?;
    recorded.notes.iter().for_each(|note| progress(note));
    let mut redactor = Redactor::new(&account(&options).secrets, rules);
    let cases = redact(line.take_recorded()?, &mut redactor);
    let recording = Recording {
        connector: format!("{}@{}", recorded.connector, recorded.version),
        origin,
        seed: options.seed,
        cases,
    };
    // Replays the rendered files, as later runs read them.
    let read = Recording::parse(&recording.render()?)?;
    for replay in 1..=REPLAYS {
        progress(&format!("replay: {replay} of {REPLAYS}"));
        let provider = Provider::Recorded { recording: read.clone(), rules: rules.clone() };
        let replayed = run(Options { provider, ..options.clone() }, |_| {}).await?;
        if let Some(said) = find_difference(&recorded, &replayed) {
            let said = format!("the recording was not saved, because it does not replay: {said}");
            return Err(Problem::new(said, DIFFERS).into());
        }
    }
    recording.save(folder)?;
    let failed = recorded.cases.iter().filter(|case| has_failed(case)).map(|case| case.id);
    Ok(RecordingCounts {
        cases: recording.cases.len(),
        requests: recording.cases.iter().map(|case| case.exchanges.len()).sum(),
        addresses: redactor.addresses(),
        failed: failed.collect(),
    })
}

/// Returns the cases without private data. They are read once to find the private values, and once more to replace them.
fn redact(cases: Vec<RecordedCase>, redactor: &mut Redactor<'_>) -> Vec<RecordedCase> {
    for exchange in cases.iter().flat_map(|case| &case.exchanges) {
        redactor.exchange(exchange);
    }
    let clean = cases.into_iter().map(|case| {
        let exchanges = case.exchanges.iter().map(|exchange| redactor.exchange(exchange)).collect();
        RecordedCase { exchanges, ..case }
    });
    clean.collect()
}

/// Returns the first case whose replay had another result, or other requests.
fn find_difference(recorded: &Report, replayed: &Report) -> Option<String> {
    let pairs = recorded.cases.iter().zip(&replayed.cases);
    let differs = |(recorded, replayed): &(&CaseReport, &CaseReport)| {
        let is_same = std::mem::discriminant(&recorded.verdict) == std::mem::discriminant(&replayed.verdict);
        !is_same || replayed.help.as_deref() == Some(RECORD_AGAIN)
    };
    if let Some((_, case)) = pairs.into_iter().find(differs) {
        let said = case.said.as_deref().unwrap_or("the case passes now, and did not when it was recorded");
        return Some(format!("case {}: {said}", case.id));
    }
    let is_same = recorded.capabilities == replayed.capabilities;
    (!is_same).then(|| "the connector has other features than when it was recorded".to_owned())
}

fn has_failed(case: &CaseReport) -> bool {
    matches!(case.verdict, Verdict::Failed(_))
}
