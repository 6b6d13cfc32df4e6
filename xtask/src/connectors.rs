//! `cargo xtask connectors`: builds every crate under `connectors/` as a WebAssembly component, in the layout that the host reads:
//! `bundle/<name>/connector.toml` and `bundle/<name>/<name>.wasm`. A folder without a crate has a manifest and a file `component`, which
//! names the folder whose component is copied: another provider by the same code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, process};

use anyhow::{Context, Result, anyhow, bail};
use authoring::{Install, TARGET, Toolchain};

use crate::progress;
use crate::project;

/// The profile of components that only tests run.
const DEV: &str = "connector-dev";

/// Packages that `linear-guest` needs beside connectors. They are built along with the connectors, so that the crates of both have the
/// same features and are compiled once.
const OF_GUEST: [&str; 6] = ["-p", "base", "-p", "mail", "--features", "mail/build,mail/html"];

#[derive(clap::Args)]
pub struct ConnectorsArguments {
    /// Build these alone (folder names under `connectors/`).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Build them as the tests do: in half the time, and half as fast.
    #[arg(long)]
    dev: bool,
}

impl ConnectorsArguments {
    /// All connectors, as users have them or (`dev`) as the tests do.
    pub fn all(dev: bool) -> Self {
        ConnectorsArguments { only: Vec::new(), dev }
    }

    /// These connectors, as the tests have them.
    pub fn only(names: &[String]) -> Self {
        ConnectorsArguments { only: names.to_vec(), dev: true }
    }

    /// The profile in Cargo.toml, which is the name of its folder too.
    fn profile(&self) -> &'static str {
        if self.dev { DEV } else { "connector" }
    }
}

/// A folder below `connectors/`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Connector {
    name: String,
    /// Name of the folder whose crate is compiled: its own, or the one that its file `component` names.
    component: String,
}

/// Returns the folder of the built connectors.
pub fn bundle() -> PathBuf {
    project::target().join("connectors").join("bundle")
}

/// Builds and lays out the connectors.
pub fn run(arguments: &ConnectorsArguments) -> Result<()> {
    build(arguments, project::step)
}

/// Builds and lays out the connectors. Calls `step` with each step that begins: the toolchain's set-up, then the build.
pub fn build(arguments: &ConnectorsArguments, mut step: impl FnMut(&str)) -> Result<()> {
    let connectors = choose_connectors(&arguments.only)?;
    let names: Vec<&str> = connectors.iter().map(|connector| connector.name.as_str()).collect();
    step("setting up the wasm toolchain");
    let toolchain = toolchain()?;
    step(&format!("building the connectors {} for {TARGET}", names.join(", ")));
    let crates: BTreeSet<&str> = connectors.iter().map(|connector| connector.component.as_str()).collect();
    let packages: Vec<String> = crates.into_iter().map(|name| format!("connector-{name}")).collect();
    let besides: &[&str] = if arguments.dev { &OF_GUEST } else { &[] };
    cargo_build(arguments.profile(), &packages, besides, &toolchain, "the connectors")?;
    for connector in &connectors {
        lay_out(connector, arguments.profile())?;
    }
    Ok(())
}

/// Returns whether the bundle has the connectors with this crate's component.
pub fn is_built(component: &str) -> bool {
    let is_there = |name: &str| bundle().join(name).join(format!("{name}.wasm")).exists();
    all(&folder()).is_ok_and(|all| {
        all.iter().filter(|one| one.component == component).all(|connector| is_there(&connector.name))
    })
}

/// Builds the component in which a test counts the instructions of parsers (`tests/linear`), and puts it beside the bundle. It is built
/// separately, because its connectors export nothing.
pub fn linear_guest() -> Result<()> {
    let toolchain = toolchain()?;
    project::step(&format!("building linear-guest for {TARGET}"));
    cargo_build(DEV, &["linear-guest".to_owned()], &[], &toolchain, "linear-guest")?;
    let folder = project::target().join("connectors");
    put(
        &folder.join(TARGET).join(DEV).join("linear_guest.wasm"),
        &bundle().with_file_name("linear-guest.wasm"),
    )?;
    Ok(())
}

fn folder() -> PathBuf {
    project::root().join("connectors")
}

/// The connectors in a folder, in the order of their names.
fn all(folder: &Path) -> Result<Vec<Connector>> {
    let is_crate = |name: &str| folder.join(name).join("Cargo.toml").exists();
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_crate(&name) {
            all.push(Connector { component: name.clone(), name });
        } else if entry.path().join("connector.toml").exists() {
            let file = entry.path().join("component");
            let text = fs::read_to_string(&file);
            let text = text.with_context(|| {
                format!("{name} has neither a Cargo.toml nor a component: cannot read {}", file.display())
            })?;
            let component = text.trim().to_owned();
            if component.is_empty() || component.contains('/') || !is_crate(&component) {
                bail!("{} names {component:?}, which is no crate of connectors/", file.display());
            }
            all.push(Connector { name, component });
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// Returns the connectors to build: all, or those that `only` names and those that share a component with one of them.
fn choose_connectors(only: &[String]) -> Result<Vec<Connector>> {
    let mut connectors = all(&folder())?;
    if let Some(unknown) = only.iter().find(|name| connectors.iter().all(|one| one.name != **name)) {
        let names: Vec<&str> = connectors.iter().map(|connector| connector.name.as_str()).collect();
        bail!("there is no connector {unknown:?}; there are: {}", names.join(", "));
    }
    connectors.retain(|one| only.is_empty() || only.contains(&one.name) || only.contains(&one.component));
    Ok(connectors)
}

/// Finds the toolchain, and installs what it lacks.
fn toolchain() -> Result<Toolchain> {
    let target = project::target().join("connectors");
    Toolchain::find(&project::root(), &target, Install::Missing)
        .map_err(|fault| anyhow!("{fault}: {}", fault.help))
}

/// Builds packages for `TARGET`. `besides`: additional arguments.
fn cargo_build(
    profile: &str,
    packages: &[String],
    besides: &[&str],
    toolchain: &Toolchain,
    what: &str,
) -> Result<()> {
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
    command.args(besides);
    progress::build(&mut command, what, total)
}

fn lay_out(connector: &Connector, profile: &str) -> Result<()> {
    let (start, name) = (Instant::now(), &connector.name);
    let built = project::target().join("connectors").join(TARGET).join(profile);
    let place = bundle().join(name);
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    put(&folder().join(name).join("connector.toml"), &place.join("connector.toml"))?;
    let component = built.join(format!("connector_{}.wasm", connector.component));
    let size = put(&component, &place.join(format!("{name}.wasm")))?;
    let shown = place.strip_prefix(project::root()).unwrap_or(&place).display();
    eprintln!("    {name}: {} KiB in {shown} ({})", size.div_ceil(1024), project::seconds(start));
    Ok(())
}

/// Copies by rename, so that a host watching the folder never reads half a file; an equal file is left alone. Returns the size.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_crate_names_the_component_that_it_shares() {
        let dir = std::env::temp_dir().join(format!("switchboard-connectors-{}", process::id()));
        let put = |path: &str, text: &str| {
            fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            fs::write(dir.join(path), text).unwrap();
        };
        for file in ["imap/Cargo.toml", "imap/connector.toml", "gmail/connector.toml", "notes/README.md"] {
            put(file, "");
        }
        let error = format!("{:#}", all(&dir).unwrap_err());
        assert!(error.contains("gmail has neither a Cargo.toml nor a component"), "{error}");
        for wrong in ["", "notes", "gmail", "../imap"] {
            put("gmail/component", wrong);
            assert!(all(&dir).is_err(), "{wrong:?}");
        }
        put("gmail/component", "imap\n");
        let connector = |name: &str| Connector { name: name.to_owned(), component: "imap".to_owned() };
        assert_eq!(all(&dir).unwrap(), [connector("gmail"), connector("imap")]);
        fs::remove_dir_all(&dir).unwrap();
    }
}
