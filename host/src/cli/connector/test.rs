//! `switchboard connector test`: the conformance kit for the project's connector.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use authoring::{Fault, Profile, Project, Provider, placed};
use clap::Args;
use kit::{Options, Report};
use serde_json::{Map, Value};

use crate::cli::connector::build::{built, shown};
use crate::cli::connector::project::{InProject, step};
use crate::cli::connector::provider::Started;
use crate::cli::output::answer;

/// Exit code: a case of the conformance kit failed.
const CASES_FAILED: u8 = 3;

/// Build the project's connector and hold it against what a host relies on
///
/// The connector runs in the sandbox that a server has. Its provider is the one that project.toml names, with faults on the way to it.
/// The report goes to build/report.json too, and as JUnit to build/report.xml.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cd notes && switchboard connector test
  switchboard connector test --case P1,W2

Exit code 3: a case failed.")]
pub struct Test {
    #[command(flatten)]
    project: InProject,
    /// Run these cases alone
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    case: Vec<String>,
    /// Another run of the same cases: names and randomness come from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Test the component that is in build/, as it is
    #[arg(long)]
    no_build: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Test {
    pub async fn run(self) -> Result<ExitCode> {
        let project = self.project.open()?;
        let folder = self.component(&project)?;
        let (provider, _started) = played(&project).await?;
        let options = Options {
            connector: folder,
            provider,
            settings: settings(&project)?,
            collection: project.collection.clone(),
            cases: self.case,
            seed: self.seed,
            compile_in_child: std::env::current_exe().ok(),
            compiled: Some(project.folder.join(".switchboard/compiled")),
        };
        let report = kit::run(options, step).await?;
        let path = project.folder.join("build/report.json");
        let text = placed(&project.folder, &serde_json::to_string_pretty(&report)?);
        std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        let path = project.folder.join("build/report.xml");
        std::fs::write(&path, placed(&project.folder, &kit::junit(&report)?))
            .with_context(|| format!("cannot write {}", path.display()))?;
        answer(&if self.json { text } else { placed(&project.folder, &report.to_string()) })?;
        Ok(outcome(&report))
    }

    /// The folder of the component, built first unless that is not wanted.
    fn component(&self, project: &Project) -> Result<PathBuf> {
        if !self.no_build {
            let built = built(project, Profile::Release)?;
            let state = if built.is_new { "built" } else { "up to date:" };
            step(&format!("build: {state} {}", shown(&built)));
            return Ok(built.folder);
        }
        let folder = project.folder.join("build").join(&project.name);
        let component = folder.join(format!("{}.wasm", project.name));
        if component.is_file() {
            return Ok(folder);
        }
        let missing = format!("there is no {}", component.display());
        Err(Fault::new(missing, "leave out --no-build, or build it first: switchboard connector build")
            .into())
    }
}

fn outcome(report: &Report) -> ExitCode {
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::from(CASES_FAILED) }
}

/// Who plays the provider, and the process that does, which ends when it is dropped.
async fn played(project: &Project) -> Result<(kit::Provider, Option<Started>)> {
    match &project.provider {
        Provider::BuiltIn(_) => Ok((kit::Provider::Paper, None)),
        Provider::Local(local) => {
            let started = Started::start(local, &project.folder).await?;
            Ok((kit::Provider::Server { token: local.token.clone() }, started))
        }
    }
}

/// The settings of `project.toml` as a connection has them.
pub fn settings(project: &Project) -> Result<Map<String, Value>> {
    let value = |(name, value): (&String, &toml::Value)| Ok((name.clone(), serde_json::to_value(value)?));
    project.settings.iter().map(value).collect()
}
