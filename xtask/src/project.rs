//! Folders of the project, and the running of commands: a clean environment for nested tools, and one way to report.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The profile of `Cargo.toml` with which `cargo xtask demo` builds the server; cargo's folder for it has the same name.
pub const DEMO_PROFILE: &str = "demo";
/// The profile of `Cargo.toml` for measured and shipped binaries; cargo's folder for it has the same name.
pub const DIST_PROFILE: &str = "dist";

/// The environment that `cargo clippy` sets for its compiler, with every warning an error: with it `cargo build` lints what it builds.
pub const LINTING: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")];

/// The top folder of the project.
pub fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&here).parent().expect("xtask lies in a folder of the project").to_owned()
}

/// Cargo's target folder: `CARGO_TARGET_DIR`, else `target` of the project.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Keeps other runs of the tests out of the target folder until the file is dropped: two runs would share the peers' state.
pub fn lock_tests() -> Result<File> {
    fs::create_dir_all(target())?;
    let path = target().join("xtask-test.lock");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        bail!("another `cargo xtask test` is running in this target folder");
    }
    Ok(file)
}

/// Runs a command of this program with the profile of the measured server: a less optimised load generator would limit the figures.
pub fn run_optimised(arguments: &[&str]) -> Result<()> {
    step(&format!("building the load generator (profile {DIST_PROFILE})"));
    let mut command = cargo();
    command.args(["run", "--profile", DIST_PROFILE, "-p", "xtask", "--"]).args(arguments);
    run(&mut command, &format!("cargo xtask {}", arguments.join(" ")))
}

/// Prints the step that begins now.
pub fn step(text: &str) {
    eprintln!("==> {text}");
}

/// Seconds since `start`, for a report.
pub fn seconds(start: Instant) -> String {
    format!("{:.1} s", start.elapsed().as_secs_f64())
}

/// Returns a command in the project's folder, without the variables that `cargo run` sets: its package variables would make nested builds
/// start over, and its library path belongs to another toolchain.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_")
            || name == "CARGO_PRIMARY_PACKAGE"
        {
            command.env_remove(name.as_ref());
        }
    }
    command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH");
    command
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}

/// Runs the command with our own output; an error names `what` when it fails.
pub fn run(command: &mut Command, what: &str) -> Result<()> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {what}"))?;
    if !status.success() {
        bail!("{what} failed: {status}");
    }
    eprintln!("    {what}: {}", seconds(start));
    Ok(())
}

/// Returns the standard output of a command; its standard error is inherited.
pub fn output(command: &mut Command, what: &str) -> Result<String> {
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {what}"))?;
    if !output.status.success() {
        bail!("{what} failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{what} printed something that is not UTF-8"))
}
