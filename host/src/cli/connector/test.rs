//! `switchboard connector test`: the conformance kit for the project's connector.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use authoring::{AccountLogin, Fault, Language, Profile, Project, Provider, TARGET, placed};
use clap::Args;
use kit::{Options, Problem, ProviderCredentials, Recording, Report, Rules};
use serde_json::{Map, Value};

use crate::cli::connector::build::{built, render_built};
use crate::cli::connector::project::{InProject, step};
use crate::cli::connector::provider::RunningProvider;
use crate::cli::output::answer;

/// Exit code: a case of the conformance kit failed.
pub const CASES_FAILED: u8 = 3;
/// The folder of a project for recorded answers of its provider.
const RECORDINGS: &str = "recordings";

/// Build the project's connector and check it against what hosts rely on
///
/// The connector runs in the same sandbox as on a server. Its provider is the one that project.toml names, with injected faults; requests
/// to the `[[hosts]]` of connector.toml go there too. A slow provider gets more time, and after a 429 the kit waits. With `provider =
/// "recorded"` the provider is replaced by recordings/ (see `switchboard connector record`), and no request is sent. The report is also
/// written to build/report.json and, as JUnit, to build/report.xml.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cd notes && switchboard connector test
  switchboard connector test --case P1,W2

Exit code 3: a case failed.")]
pub struct Test {
    #[command(flatten)]
    project: InProject,
    /// Run only these cases
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    case: Vec<String>,
    /// Seed for names and random values: another seed is another run of the same cases. 1, or the seed of the recordings
    #[arg(long)]
    seed: Option<u64>,
    /// Test the component in build/ without building it first
    #[arg(long)]
    no_build: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Test {
    pub async fn run(self) -> Result<ExitCode> {
        let project = self.project.open()?;
        let folder = component(&project, self.no_build)?;
        let (provider, _started) = match project.is_replayed {
            true => (load_recordings(&project, self.seed)?, None),
            false => played(&project.provider, &project.folder).await?,
        };
        let options = Options { cases: self.case, ..options(&project, folder, provider, self.seed)? };
        let report = kit::run(options, step).await.map_err(with_help)?;
        let report = if project.language == Language::Rust { report } else { report.in_javascript() };
        let path = project.folder.join("build/report.json");
        let text = placed(&project.folder, &serde_json::to_string_pretty(&report)?);
        std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        let path = project.folder.join("build/report.xml");
        std::fs::write(&path, placed(&project.folder, &kit::junit(&report)?))
            .with_context(|| format!("cannot write {}", path.display()))?;
        answer(&if self.json { text } else { placed(&project.folder, &report.to_string()) })?;
        Ok(outcome(&report))
    }
}

/// The folder of the component, built first unless `is_ready`.
pub fn component(project: &Project, is_ready: bool) -> Result<PathBuf> {
    if !is_ready {
        announce_first_build(project, Profile::Release);
        let built = built(project, Profile::Release)?;
        let state = if built.is_new { "built" } else { "up to date:" };
        step(&format!("build: {state} {}", render_built(&built)));
        return Ok(built.folder);
    }
    let folder = project.folder.join("build").join(&project.name);
    let component = folder.join(format!("{}.wasm", project.name));
    if component.is_file() {
        return Ok(folder);
    }
    let missing = format!("there is no {}", component.display());
    Err(Fault::new(missing, "leave out --no-build, or build it first: switchboard connector build").into())
}

/// Announces that the first build is slow: cargo compiles all dependencies once for each profile.
pub fn announce_first_build(project: &Project, profile: Profile) {
    if project.language != Language::Rust {
        return;
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project.folder.join("target"), PathBuf::from);
    let (name, other) = match profile {
        Profile::Release => ("release", "dev-wasm"),
        Profile::Dev => ("dev-wasm", "release"),
    };
    let built = target.join(TARGET);
    if built.join(name).is_dir() {
        return;
    }
    let again = if built.join(other).is_dir() { " for this profile" } else { "" };
    step(&format!(
        "build: the first build{again} takes 1 to 3 minutes, because all dependencies are compiled; later builds take seconds"
    ));
}

/// All cases of the kit for the component in `connector`.
pub fn options(
    project: &Project,
    connector: PathBuf,
    provider: kit::Provider,
    seed: Option<u64>,
) -> Result<Options> {
    Ok(Options {
        connector,
        provider,
        settings: settings(project)?,
        collection: project.collection.clone(),
        cases: Vec::new(),
        seed: seed.unwrap_or(1),
        compile_in_child: std::env::current_exe().ok(),
        compiled: Some(project.folder.join(".switchboard/compiled")),
    })
}

/// Adds the remedy to an error that the author can fix.
pub fn with_help(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Problem>() {
        Ok(Problem { said, help }) => Fault::new(said, help).into(),
        Err(error) => error,
    }
}

/// The folder of the project's recordings.
pub fn recordings(project: &Project) -> PathBuf {
    project.folder.join(RECORDINGS)
}

/// The author's rules for recordings.
pub fn rules(project: &Project) -> Rules {
    let record = project.record.clone();
    Rules { keep_headers: record.keep_headers, keep: record.keep, ignore: record.ignore }
}

/// The project's recordings in place of a provider.
fn load_recordings(project: &Project, seed: Option<u64>) -> Result<kit::Provider> {
    let recording = Recording::read(&recordings(project)).map_err(with_help)?;
    if let Some(seed) = seed.filter(|seed| *seed != recording.seed && !recording.cases.is_empty()) {
        let said = format!("the recordings are of the seed {}, and not of {seed}", recording.seed);
        let help = format!("leave out --seed, or record with it: switchboard connector record --seed {seed}");
        return Err(Fault::new(said, help).into());
    }
    Ok(kit::Provider::Recorded { recording, rules: rules(project) })
}

fn outcome(report: &Report) -> ExitCode {
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::from(CASES_FAILED) }
}

/// The provider for the tests, and its process, which ends on drop.
pub async fn played(provider: &Provider, folder: &Path) -> Result<(kit::Provider, Option<RunningProvider>)> {
    match provider {
        Provider::BuiltIn(_) => Ok((kit::Provider::Paper, None)),
        Provider::Local(local) => {
            let credentials = match local.login()? {
                AccountLogin::Token(token) => ProviderCredentials::Token(token),
                AccountLogin::Password { username, password } => {
                    ProviderCredentials::Password { username, password }
                }
            };
            let started = RunningProvider::start(local, folder).await?;
            Ok((kit::Provider::Server { url: local.url.clone(), credentials }, started))
        }
    }
}

/// The settings of `project.toml`, as those of a connection.
pub fn settings(project: &Project) -> Result<Map<String, Value>> {
    let value = |(name, value): (&String, &toml::Value)| Ok((name.clone(), serde_json::to_value(value)?));
    project.settings.iter().map(value).collect()
}
