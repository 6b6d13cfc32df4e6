//! `cargo xtask connectors`: every crate under `connectors/` as a WebAssembly component, laid out as the host reads them:
//! `bundle/<name>/connector.toml` and `bundle/<name>/<name>.wasm`.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, process};

use anyhow::{Context, Result, anyhow, bail};
use authoring::{Install, TARGET, Toolchain};

use crate::progress;
use crate::project;

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
    let toolchain = toolchain()?;
    step(&format!("building the connectors {} for {TARGET}", names.join(", ")));
    let packages: Vec<String> = names.iter().map(|name| format!("connector-{name}")).collect();
    cargo_build(arguments.profile(), &packages, &toolchain, "the connectors")?;
    for name in &names {
        lay_out(name, arguments.profile())?;
    }
    Ok(())
}

/// Builds the component in which a test counts the instructions of parsers (`tests/linear`), and puts it beside the bundle. Apart from the
/// connectors, because some of its crates have other features.
pub fn linear_guest() -> Result<()> {
    let toolchain = toolchain()?;
    project::step(&format!("building linear-guest for {TARGET}"));
    cargo_build(DEV, &["linear-guest".to_owned()], &toolchain, "linear-guest")?;
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

/// Finds the toolchain, and installs what it lacks.
fn toolchain() -> Result<Toolchain> {
    let target = project::target().join("connectors");
    Toolchain::find(&project::root(), &target, Install::Missing)
        .map_err(|fault| anyhow!("{fault}: {}", fault.help))
}

fn cargo_build(profile: &str, packages: &[String], toolchain: &Toolchain, what: &str) -> Result<()> {
    let cargo = || {
        let mut command = toolchain.cargo();
        command.current_dir(project::root());
        command
    };
    let total = progress::count_packages(cargo(), packages, Some(TARGET));
    let mut command = cargo();
    command.args(["build", "--target", TARGET, "--profile", profile]);
    for package in packages {
        command.arg("-p").arg(package);
    }
    progress::build(&mut command, what, total)
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
