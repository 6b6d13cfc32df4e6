//! `switchboard connector check`: the checks of a host at install. No operation of the connector is called.

mod facts;
pub mod refused;
mod warnings;
pub mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use authoring::{Fault, Profile, Project};
use base::clock::Clock;
use clap::Args;
use runtime::{Config, HttpSettings, Limits, LoadedConnector, Runtime, SystemLookup};
use serde::Serialize;

use crate::cli::connector::build::{built, render_built};
use crate::cli::connector::check::facts::ConnectorFacts;
use crate::cli::connector::check::refused::ManifestFile;
use crate::cli::connector::check::warnings::Warning;
use crate::cli::connector::project::{InProject, step};
use crate::cli::output::answer;

/// Exit code: there are warnings, and --strict was given.
const WARNED: u8 = 3;
/// The log level of the command: an error of a connector that does not load is the command's own error.
pub const LOG: &str = "error,runtime=off";

/// Check the built component and connector.toml as at install, and show what the connector asks for
///
/// Compiles the component, compares it with connector.toml and starts it once, without calling any of its operations. Shows its surfaces
/// and imports, the cost of a start, the hosts that it may send requests to, and the data that it asks users for.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cd notes && switchboard connector check
  switchboard connector check --build --strict
  switchboard connector check --folder build/notes

Exit code 1: a host would refuse the connector; 3: there are warnings, and --strict was given.")]
pub struct Check {
    #[command(flatten)]
    project: InProject,
    /// Build the component first
    #[arg(long)]
    build: bool,
    /// Check the connector in this folder (connector.toml and <name>.wasm, as for `install`) instead of a project
    #[arg(long, value_name = "DIR", conflicts_with_all = ["project", "build"])]
    folder: Option<PathBuf>,
    /// Exit with 3 if there are warnings
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A connector to check: its files, read once.
struct CheckTarget {
    manifest: ManifestFile,
    wasm: Vec<u8>,
    component: PathBuf,
    /// None: the folder of --folder.
    project: Option<Project>,
}

/// The result as JSON.
#[derive(Serialize)]
struct CheckReport<'a> {
    #[serde(flatten)]
    facts: &'a ConnectorFacts,
    warnings: &'a [Warning],
}

impl Check {
    /// Checks the connector, and prints the report. Fails if a host would refuse the connector.
    pub async fn run(self) -> Result<ExitCode> {
        let target = match &self.folder {
            Some(folder) => of_folder(folder)?,
            None => self.of_project()?,
        };
        let loaded = load(&target).await?;
        let component = shown_path(&target.component);
        let facts = ConnectorFacts::new(&loaded, component, &target.wasm, &Limits::default());
        let warnings = warnings::find(&facts, target.project.as_ref());
        if self.json {
            let checked = CheckReport { facts: &facts, warnings: &warnings };
            answer(&serde_json::to_string_pretty(&checked)?)?;
        } else {
            answer(&text(&facts, &warnings))?;
        }
        let failed = self.strict && !warnings.is_empty();
        Ok(if failed { ExitCode::from(WARNED) } else { ExitCode::SUCCESS })
    }

    /// The connector of the project: its own manifest, which may be newer than the copy of the last build, and the built component.
    fn of_project(&self) -> Result<CheckTarget> {
        let project = self.project.open()?;
        let manifest = refused::read_manifest(&project.folder)?;
        if self.build {
            let built = built(&project, Profile::Release)?;
            step(&format!("build: {}", render_built(&built)));
        }
        let component =
            project.folder.join("build").join(&project.name).join(format!("{}.wasm", project.name));
        let wasm =
            read_component(&component, "build it first: switchboard connector build, or give --build")?;
        Ok(CheckTarget { manifest, wasm, component, project: Some(project) })
    }
}

/// The connector in a folder that `install` would take.
fn of_folder(folder: &Path) -> Result<CheckTarget> {
    let manifest = refused::read_manifest(folder)?;
    let component = folder.join(format!("{}.wasm", manifest.manifest.name));
    let help = "put the component beside connector.toml, under the name that connector.toml has: NAME.wasm";
    let wasm = read_component(&component, help)?;
    Ok(CheckTarget { manifest, wasm, component, project: None })
}

/// The bytes of a component that a host would read. `if_missing` is the remedy if there is no such file.
fn read_component(path: &Path, if_missing: &str) -> Result<Vec<u8>, Fault> {
    let shown = shown_path(path);
    if !path.exists() {
        return Err(Fault::new(format!("there is no {}", shown.display()), if_missing));
    }
    let read = runtime::read_regular(path, Limits::default().component_bytes as u64);
    read.map_err(|error| refused::of_component(shown, &error.into()))
}

/// Loads the connector with the production runtime, which refuses what it would refuse at install. Compiled code of a project stays in the
/// project, shared with `connector test`; that of another folder is removed.
async fn load(target: &CheckTarget) -> Result<Arc<LoadedConnector>> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let kept = target.project.as_ref().map(|project| project.folder.join(".switchboard/compiled"));
    let cache_dir = kept.clone().unwrap_or_else(|| scratch.path().join("compiled"));
    let clock = Clock::system();
    let config = Config {
        artefact_key: kit::compiled::key(&cache_dir)?,
        cache_dir,
        store_dir: scratch.path().join("store"),
        bundle_dir: None,
        egress_allow: Vec::new(),
        webhook_allow: Vec::new(),
        approved_origins: Vec::new(),
        own_provider: None,
        lookup: Arc::new(SystemLookup),
        transport: None,
        limits: Limits::default(),
        now: Arc::new(move || clock.now_ms()),
        http: HttpSettings::default(),
        compile_in_child: std::env::current_exe().ok(),
        lines: false,
        observer: None,
        shared: None,
    };
    let folder = placed_together(target, scratch.path())?;
    let runtime = Runtime::start(config).await?;
    let loaded = runtime.load(&folder).await;
    if let Some(kept) = &kept {
        kit::compiled::prune(kept);
    }
    Ok(loaded.map_err(|error| refused::of_component(shown_path(&target.component), &error))?)
}

/// Creates a folder with the manifest and the component, for the runtime: it loads exactly the files that were read.
fn placed_together(target: &CheckTarget, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("connector");
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let name = format!("{}.wasm", target.manifest.manifest.name);
    let files =
        [("connector.toml", target.manifest.text.as_bytes()), (name.as_str(), target.wasm.as_slice())];
    for (name, content) in files {
        let written = std::fs::write(folder.join(name), content);
        written.with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    Ok(folder)
}

/// A path without `./` in front.
fn shown_path(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// The facts, the warnings and the result: at most 25 lines.
fn text(facts: &ConnectorFacts, warnings: &[Warning]) -> String {
    let mut text = facts.text();
    for warning in warnings {
        text.push_str(&format!("warning: {}; {}\n", warning.said, warning.help));
    }
    let count = match warnings.len() {
        0 => "no warnings".to_owned(),
        1 => "1 warning".to_owned(),
        count => format!("{count} warnings"),
    };
    text.push_str(&format!("{} {} can be installed: {count}", facts.name, facts.version));
    text
}
