//! `switchboard connector record`: records the provider's answers during the conformance kit, for tests.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use kit::RecordingCounts;
use serde_json::json;

use crate::cli::connector::project::{InProject, step};
use crate::cli::connector::test::{CASES_FAILED, component, options, played, recordings, rules, with_help};
use crate::cli::output::answer;

/// Record the provider's answers, so that tests can run without it
///
/// Runs the conformance kit against the provider of `[record]` (or else `[test]`) in project.toml and writes its answers to recordings/,
/// one file for each surface. Credentials, cookies and addresses are replaced. Nothing is written if the recording does not replay
/// identically. With `provider = "recorded"` under `[test]`, `switchboard connector test` replays it.
#[derive(Args)]
#[command(after_help = "\
Example:
  cd notes && switchboard connector record

Exit code 3: it is recorded, and a case failed meanwhile.")]
pub struct Record {
    #[command(flatten)]
    project: InProject,
    /// Seed for names and random values: another seed is another run of the same cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use the component in build/ without building it first
    #[arg(long)]
    no_build: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Record {
    pub async fn run(self) -> Result<ExitCode> {
        let project = self.project.open()?;
        let folder = component(&project, self.no_build)?;
        let provider = project.record.provider.as_ref().unwrap_or(&project.provider);
        let (provider, _started) = played(provider, &project.folder).await?;
        let options = options(&project, folder, provider, Some(self.seed))?;
        let saved = kit::record(options, &rules(&project), &recordings(&project), step).await;
        let saved = saved.map_err(with_help)?;
        if self.json {
            let shown = json!({ "cases": saved.cases, "requests": saved.requests, "addresses": saved.addresses, "failed": saved.failed });
            answer(&serde_json::to_string_pretty(&shown)?)?;
        } else {
            answer(&render_counts(&saved))?;
        }
        if saved.failed.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let failed = saved.failed.join(", ");
        step(&format!(
            "failed: {failed}; their recordings end where they failed, record again when they pass"
        ));
        Ok(ExitCode::from(CASES_FAILED))
    }
}

fn render_counts(saved: &RecordingCounts) -> String {
    format!(
        "recorded {}, {}, {} replaced; replayed equal twice → recordings/",
        count(saved.cases, "case", "cases"),
        count(saved.requests, "request", "requests"),
        count(saved.addresses, "address", "addresses")
    )
}

fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
