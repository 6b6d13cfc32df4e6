//! `switchboard connector build`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use authoring::{BuiltComponent, Profile, Project};
use clap::Args;
use runtime::Manifest;
use serde_json::json;

use crate::cli::connector::project::{InProject, step};
use crate::cli::output::answer;

/// Build the project's component into build/<name>
#[derive(Args)]
#[command(after_help = "Example:\n  cd notes && switchboard connector build")]
pub struct Build {
    #[command(flatten)]
    project: InProject,
    /// Build as fast as possible, with source lines in backtraces
    #[arg(long)]
    dev: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Build {
    pub fn run(self) -> Result<()> {
        let start = Instant::now();
        let project = self.project.open()?;
        let profile = if self.dev { Profile::Dev } else { Profile::Release };
        let built = built(&project, profile)?;
        let took = start.elapsed();
        if self.json {
            let shown = json!({ "name": project.name, "folder": built.folder, "component": built.component, "bytes": built.bytes, "ms": u64::try_from(took.as_millis())? });
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        answer(&format!("built {} in {:.1} s", render_built(&built), took.as_secs_f64()))
    }
}

/// Checks the manifest, and builds.
pub fn built(project: &Project, profile: Profile) -> Result<BuiltComponent> {
    Ok(built_unless(project, profile, None)?.expect("nobody can call it off"))
}

/// As `built`, until it is cancelled.
pub fn built_unless(
    project: &Project,
    profile: Profile,
    called_off: Option<&AtomicBool>,
) -> Result<Option<BuiltComponent>> {
    Manifest::parse(&runtime::manifest_text(&project.folder.join("connector.toml"))?)?;
    step(&format!("build: {}", project.language));
    Ok(project.build_unless(profile, called_off)?)
}

/// The component and its size, in a sentence.
pub fn render_built(built: &BuiltComponent) -> String {
    let path = built.component.strip_prefix(".").unwrap_or(&built.component).display();
    // A precise size to a tenth of a mebibyte.
    let tenths = built.bytes.saturating_mul(10) >> 20;
    format!("{path} ({}.{} MiB)", tenths / 10, tenths % 10)
}
