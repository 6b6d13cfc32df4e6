//! Common parts of the commands for a connector's project.

use std::path::PathBuf;

use anyhow::Result;
use authoring::Project;
use clap::Args;

use crate::cli::output::print_note;

/// The project that a command works on.
#[derive(Args, Clone)]
pub struct InProject {
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
}

impl InProject {
    /// Reads it.
    pub fn open(&self) -> Result<Project> {
        Ok(Project::open(&self.project)?)
    }
}

/// Prints a step of a command with several.
pub fn step(said: &str) {
    print_note(&format!("==> {said}"));
}
