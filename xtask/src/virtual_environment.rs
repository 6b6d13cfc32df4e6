//! Python's virtual environments.

use std::path::Path;
use std::process::Stdio;

use anyhow::Result;

use crate::project;

/// Creates an empty environment in a folder, in place of what is there. Debian's package of Python lacks the module for that, which is
/// then installed.
pub fn create(dir: &Path) -> Result<()> {
    let create = || {
        project::run(project::command("python3").args(["-m", "venv", "--clear"]).arg(dir), "python3 -m venv")
    };
    if create().is_ok() {
        return Ok(());
    }
    let install = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qy python3-venv";
    project::run(
        project::command("sh").args(["-c", install]).stdin(Stdio::null()),
        "apt-get install python3-venv",
    )?;
    create()
}
