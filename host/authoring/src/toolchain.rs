//! The Rust toolchain that builds components: rustup's with its target, or the packages of Debian.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fault::{Fault, Result};

/// The target triple of connectors in Rust.
pub const TARGET: &str = "wasm32-wasip2";

const SCRIPT: &str = include_str!("../toolchain/wasm-toolchain.sh");

/// The treatment of missing system packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Install {
    /// They are installed, if possible.
    Missing,
    /// They are listed, and nothing is installed.
    Nothing,
}

/// A cargo that builds components.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Shell lines: `export NAME=value`.
    environment: String,
}

impl Toolchain {
    /// Finds a toolchain for the crate in `root`, to build in `target`, and reports its choice on stderr. `WASM_TOOLCHAIN` (`rustup`,
    /// `debian`, `auto`) selects one.
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

    /// Returns a command of its cargo, to which the caller adds arguments and the working folder.
    pub fn cargo(&self) -> Command {
        // The values are shell-quoted, so a shell reads them. RUSTFLAGS would override the flags that the toolchain needs, and a
        // compiler wrapper, such as the one that lints, is meant for another compiler.
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

/// Returns a shell without cargo's variables about this program's package, which would be taken for the connector's.
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
