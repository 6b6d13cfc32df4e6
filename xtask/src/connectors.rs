//! `cargo xtask connectors`: every crate under `connectors/` as a WebAssembly component, laid out as the host reads them:
//! `bundle/<name>/connector.toml` and `bundle/<name>/<name>.wasm`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, process};

use anyhow::{Context, Result, bail};

use crate::progress;
use crate::project;

const TARGET: &str = "wasm32-wasip2";
/// The profile of what only tests run.
const DEV: &str = "connector-dev";

#[derive(clap::Args)]
pub struct Arguments {
    /// Build these alone (folder names under `connectors/`).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Build them as the tests do: in half the time, and half as fast.
    #[arg(long)]
    dev: bool,
}

impl Arguments {
    /// All connectors, as users have them or (`dev`) as the tests do.
    pub fn all(dev: bool) -> Self {
        Arguments { only: Vec::new(), dev }
    }

    /// These connectors, as the tests have them.
    pub fn only(names: &[String]) -> Self {
        Arguments { only: names.to_vec(), dev: true }
    }

    /// The profile in Cargo.toml, which is the name of its folder too.
    fn profile(&self) -> &'static str {
        if self.dev { DEV } else { "connector" }
    }
}

/// Where the built connectors are put.
pub fn bundle() -> PathBuf {
    project::target().join("connectors").join("bundle")
}

/// Builds and lays out the connectors.
pub fn run(arguments: &Arguments) -> Result<()> {
    build(arguments, project::step)
}

/// Builds and lays out the connectors. `step` reports what begins: the toolchain's set-up, then the build.
pub fn build(arguments: &Arguments, mut step: impl FnMut(&str)) -> Result<()> {
    let names = chosen(&arguments.only)?;
    step("setting up the wasm toolchain");
    let environment = toolchain()?;
    step(&format!("building the connectors {} for {TARGET}", names.join(", ")));
    let packages: Vec<String> = names.iter().map(|name| format!("connector-{name}")).collect();
    cargo_build(arguments.profile(), &packages, &environment, "the connectors")?;
    for name in &names {
        lay_out(name, arguments.profile())?;
    }
    Ok(())
}

/// Builds the component in which a test counts the instructions of parsers (`tests/linear`), and puts it beside the bundle. Apart from the
/// connectors, because some of its crates have other features.
pub fn linear_guest() -> Result<()> {
    let environment = toolchain()?;
    project::step(&format!("building linear-guest for {TARGET}"));
    cargo_build(DEV, &["linear-guest".to_owned()], &environment, "linear-guest")?;
    let folder = project::target().join("connectors");
    put(
        &folder.join(TARGET).join(DEV).join("linear_guest.wasm"),
        &bundle().with_file_name("linear-guest.wasm"),
    )?;
    Ok(())
}

/// The connectors that exist, in order; those of `only` when it names some.
fn chosen(only: &[String]) -> Result<Vec<String>> {
    let folder = project::root().join("connectors");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    if let Some(unknown) = only.iter().find(|name| !names.contains(name)) {
        bail!("there is no connector {unknown:?}; there are: {}", names.join(", "));
    }
    names.retain(|name| only.is_empty() || only.contains(name));
    Ok(names)
}

/// `wasm-toolchain.sh` installs what is missing and prints the environment of a build, as lines of `export NAME=value`.
fn toolchain() -> Result<String> {
    let script = project::root().join("xtask/wasm-toolchain.sh");
    let mut command = project::command("bash");
    command.arg(script).env("CONNECTOR_TARGET_DIR", project::target().join("connectors"));
    project::output(&mut command, "setting up the wasm toolchain")
}

fn cargo_build(profile: &str, packages: &[String], environment: &str, what: &str) -> Result<()> {
    let total = progress::count_packages(wasm_cargo(environment), packages, Some(TARGET));
    let mut command = wasm_cargo(environment);
    command.args(["build", "--target", TARGET, "--profile", profile]);
    for package in packages {
        command.arg("-p").arg(package);
    }
    progress::build(&mut command, what, total)
}

/// The toolchain's cargo, which takes the arguments that are added to the command.
fn wasm_cargo(environment: &str) -> Command {
    // The values are shell-quoted, so a shell reads them. RUSTFLAGS would override the flags that the toolchain needs, and wrappers, of
    // which one lints what else is built, are another compiler's.
    let script = format!(
        "set -e\n{environment}\nunset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS\n\
         exec \"$WASM_CARGO\" \"$@\""
    );
    let mut command = project::command("bash");
    command.args(["-c", &script, "connectors"]);
    command
}

fn lay_out(name: &str, profile: &str) -> Result<()> {
    let start = Instant::now();
    let built = project::target().join("connectors").join(TARGET).join(profile);
    let folder = bundle().join(name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let manifest = project::root().join("connectors").join(name).join("connector.toml");
    put(&manifest, &folder.join("connector.toml"))?;
    let size = put(&built.join(format!("connector_{name}.wasm")), &folder.join(format!("{name}.wasm")))?;
    let place = folder.strip_prefix(project::root()).unwrap_or(&folder).display();
    eprintln!("    {name}: {} KiB in {place} ({})", size.div_ceil(1024), project::seconds(start));
    Ok(())
}

/// Copies by rename, so that a host watching the folder never reads half a file; an equal file stays untouched. The size.
fn put(from: &Path, to: &Path) -> Result<usize> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(bytes.len());
    }
    let temporary = to.with_extension(format!("tmp{}", process::id()));
    fs::write(&temporary, &bytes).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, to).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(bytes.len())
}
