//! `switchboard connector wit`.

use std::path::PathBuf;

use anyhow::Result;
use authoring::{ConnectorName, write_wit};
use clap::Args;
use runtime::Manifest;

use crate::cli::output::answer;

/// Write the WIT package and the world of the connector in this folder, for languages without a template
///
/// The name and the surfaces are read from connector.toml. The files document what a host provides and requires.
#[derive(Args)]
#[command(after_help = "Example:\n  switchboard connector wit --out wit")]
pub struct Wit {
    /// Folder with connector.toml
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Folder for the files
    #[arg(long, value_name = "DIR", default_value = "wit")]
    out: PathBuf,
}

impl Wit {
    pub fn run(self) -> Result<()> {
        let text = runtime::manifest_text(&self.project.join("connector.toml"))?;
        let manifest = Manifest::parse(&text)?;
        let name: ConnectorName = manifest.name.parse()?;
        let surfaces: Vec<String> =
            manifest.surfaces.iter().map(|version| version.surface.to_string()).collect();
        let written = write_wit(&name, &surfaces, &self.out)?;
        let shown: Vec<String> =
            written.iter().map(|path| self.out.join(path).display().to_string()).collect();
        answer(&shown.join("\n"))
    }
}
