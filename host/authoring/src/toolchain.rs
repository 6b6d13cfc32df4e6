//! The Rust toolchain that builds components: rustup's with its target, or the packages of Debian.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fault::{Fault, Result};

/// The triple that connectors in Rust are built for.
pub const TARGET: &str = "wasm32-wasip2";

const SCRIPT: &str = include_str!("../toolchain/wasm-toolchain.sh");

/// What becomes of packages of the system that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Install {
    /// They are installed, where that is possible.
    Missing,
    /// They are named, and nothing is changed.
    Nothing,
}

/// A cargo that builds components.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Lines of a shell: `export NAME=value`.
    environment: String,
}

impl Toolchain {
    /// Finds one for what is in `root`, to build in `target`; what was chosen goes to stderr. `WASM_TOOLCHAIN` (`rustup`, `debian`,
    /// `auto`) says which one is wanted.
    pub fn find(root: &Path, target: &Path, install: Install) -> Result<Toolchain> {
        let mut command = bash();
        command.args(["-c", SCRIPT, "wasm-toolchain.sh"]).stderr(Stdio::inherit());
        command.env("CONNECTOR_ROOT", root).env("CONNECTOR_TARGET_DIR", target);
        if install == Install::Nothing {
            command.env("WASM_TOOLCHAIN_INSTALL", "no");
        }
        let output = command.output().map_err(|error| {
            Fault::new(
                format!("bash cannot be started: {error}"),
                "install bash: it finds the Rust toolchain",
            )
        })?;
        if !output.status.success() {
            return Err(Fault::new(
                format!("no Rust toolchain on this machine builds for {TARGET}"),
                format!("install Rust by rustup (https://rustup.rs), then: rustup target add {TARGET}"),
            ));
        }
        Ok(Toolchain { environment: String::from_utf8_lossy(&output.stdout).into_owned() })
    }

    /// Its cargo, which takes the arguments that are added to the command. The folder it works in is the caller's to set.
    pub fn cargo(&self) -> Command {
        // The values are shell-quoted, so a shell reads them. RUSTFLAGS would override the flags that the toolchain needs, and wrappers,
        // of which one lints what else is built, are another compiler's.
        let script = format!(
            "set -e\nunset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS\n{}\n\
             exec \"$WASM_CARGO\" \"$@\"",
            self.environment
        );
        let mut command = bash();
        command.args(["-c", &script, "connectors"]);
        command
    }
}

/// A shell without what cargo tells the programs that it starts of their package: it would be taken for another one's.
fn bash() -> Command {
    let mut command = Command::new("bash");
    let of_package = |name: &str| {
        name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_")
            || name == "CARGO_PRIMARY_PACKAGE"
    };
    for (name, _) in env::vars_os().filter(|(name, _)| of_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command
}
