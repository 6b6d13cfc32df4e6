//! A browser for the tests in `tests/browser`, installed by `tests/browser/install.sh`.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::peers;
use crate::project;

/// Installs the missing parts of the browser. Returns the variables that the tests read: `BROWSER_PATH`, `BROWSER_NODE`,
/// `BROWSER_MODULES`.
pub fn install() -> Result<Vec<(String, String)>> {
    let mut command = project::command("bash");
    command.arg(project::root().join("tests/browser/install.sh")).env("PEERS_DIR", peers::state_dir());
    let lines = project::output(command.stdin(Stdio::null()), "installing the browser")
        .context("the tests of the booking page need a browser; `--no-peers` runs the rest")?;
    Ok(lines.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect())
}
