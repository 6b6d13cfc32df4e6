//! Connectors as authors make them: `switchboard connector new` and `build` in a folder outside the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::rig::Rig;
use crate::project;
use crate::server;

/// An empty folder for projects; removed when dropped.
pub struct Templates {
    /// Holds a folder for each project, of the connector's name.
    pub folder: PathBuf,
    binary: PathBuf,
}

impl Templates {
    /// Makes the folder among the system's temporary ones. `case` distinguishes it from those of other cases.
    pub fn new(rig: &Rig, case: &str) -> Result<Templates> {
        let folder = std::env::temp_dir().join(format!("switchboard-{case}-{}", std::process::id()));
        server::empty(&folder)?;
        Ok(Templates { folder, binary: rig.binary.clone() })
    }

    /// Makes the project `paper-<language>` and builds it, optimised. Returns the folder of its component and its manifest.
    pub fn build(&self, language: &str) -> Result<PathBuf> {
        let name = format!("paper-{language}");
        let mut new = self.switchboard(&self.folder);
        new.args(["connector", "new", &name, "--lang", language]);
        project::output(&mut new, "switchboard connector new")?;
        let project = self.folder.join(&name);
        let mut build = self.switchboard(&project);
        // The crates that the template in Rust needs are compiled once for all cases and runs.
        build.env("CARGO_TARGET_DIR", project::target().join("bench/templates-target"));
        build.args(["connector", "build"]);
        project::output(&mut build, "switchboard connector build")?;
        Ok(project.join("build").join(&name))
    }

    /// Installs `count` copies of the connector in `folder` into the store of `data_dir`, each under a different name.
    pub fn install_copies(&self, folder: &Path, count: usize, data_dir: &Path) -> Result<()> {
        let name = folder.file_name().context("the folder has no name")?.to_string_lossy();
        let manifest =
            fs::read_to_string(folder.join("connector.toml")).context("cannot read the manifest")?;
        let wasm = folder.join(format!("{name}.wasm"));
        let line = format!("name = \"{name}\"\n");
        ensure!(manifest.matches(&line).count() == 1, "the manifest does not have this once: {line}");
        for number in 0..count {
            let copy = format!("copy-{number}");
            let into = self.folder.join("copies").join(&copy);
            server::empty(&into)?;
            fs::write(into.join("connector.toml"), manifest.replace(&line, &format!("name = \"{copy}\"\n")))?;
            fs::copy(&wasm, into.join(format!("{copy}.wasm"))).context("cannot copy the component")?;
            let mut install = self.switchboard(&self.folder);
            install.args(["connector", "install", "--init"]).arg(&into).arg("--data-dir").arg(data_dir);
            project::output(&mut install, "switchboard connector install")?;
        }
        Ok(())
    }

    /// The measured binary in this folder, without settings from the environment.
    fn switchboard(&self, folder: &Path) -> Command {
        let mut command = project::command(&self.binary.to_string_lossy());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SWITCHBOARD_") {
                command.env_remove(name);
            }
        }
        command.current_dir(folder);
        command
    }
}

impl Drop for Templates {
    fn drop(&mut self) {
        // Best effort: it is a temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
