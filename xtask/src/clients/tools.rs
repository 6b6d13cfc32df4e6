//! The tools of the clients: Node's and Python's packages in `target/clients`, the two generators of types, and the packages that users
//! install; and the conformance tests and the official client of `/mcp`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::project;
use crate::virtual_environment;

/// Options of datamodel-code-generator: types that are checked before a program runs, and cost nothing when it does.
const PYTHON_TYPES: &str = "--input-file-type openapi --output-model-type typing.TypedDict --enum-field-as-literal all \
                            --use-standard-collections --use-union-operator --use-schema-description --use-field-description \
                            --openapi-scopes schemas --target-python-version 3.11 --disable-timestamp --formatters builtin";
/// Options of openapi-typescript. A property with a default may be absent in a request.
const TYPESCRIPT_TYPES: &str =
    "--root-types --root-types-no-schema-prefix --default-non-nullable=false --empty-objects-unknown";
/// Files that name the packages of Node.
const NODE_MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// The folder of the clients.
pub fn folder() -> PathBuf {
    project::root().join("sdk/clients")
}

/// The folder of everything that is installed and built for the clients.
pub fn state_dir() -> PathBuf {
    project::target().join("clients")
}

/// Installs missing packages. Returns the variables that `tests/clients` reads: `CLIENTS_TYPESCRIPT` and `CLIENTS_MCP`, folders with
/// `node_modules`, and `CLIENTS_PYTHON`, the interpreter.
pub fn install() -> Result<Vec<(String, String)>> {
    let paths = [
        ("CLIENTS_TYPESCRIPT", install_typescript()?),
        ("CLIENTS_PYTHON", install_python()?),
        ("CLIENTS_MCP", install_mcp()?),
    ];
    Ok(paths.map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned())).into())
}

/// Prints the types of a document in TypeScript.
pub fn typescript_types(document: &Path) -> Result<String> {
    let dir = install_typescript()?;
    let printed = state_dir().join("types.ts");
    let mut generator = project::command("node");
    generator.arg(dir.join("node_modules/openapi-typescript/bin/cli.js")).arg(document);
    generator.arg("--output").arg(&printed).args(TYPESCRIPT_TYPES.split_whitespace());
    project::run(generator.stdin(Stdio::null()).stdout(Stdio::null()), "openapi-typescript")?;
    fs::read_to_string(&printed).context("openapi-typescript has not written its file")
}

/// Prints the types of a document in Python.
pub fn python_types(document: &Path) -> Result<String> {
    let python = install_python()?;
    // Not `types.py`: Python would import it in place of its own module.
    let printed = state_dir().join("printed_types.py");
    let mut generator = Command::new(python);
    generator.args(["-m", "datamodel_code_generator", "--input"]).arg(document);
    generator.arg("--output").arg(&printed).args(PYTHON_TYPES.split_whitespace());
    // The generator reads `pyproject.toml` of the folder that it runs in.
    generator.current_dir(state_dir());
    project::run(generator.stdin(Stdio::null()), "datamodel-code-generator")?;
    fs::read_to_string(&printed).context("datamodel-code-generator has not written its file")
}

/// Builds the packages of both languages into `target/clients/packages`.
pub fn pack() -> Result<()> {
    let packages = state_dir().join("packages");
    fs::create_dir_all(&packages)?;
    let (dir, source) = (install_typescript()?, folder().join("typescript"));
    for name in ["src", "README.md", "tsconfig.json"] {
        copy(&source.join(name), &dir.join(name))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&project::root().join(name), &dir.join(name))?;
    }
    let mut npm = project::command("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(&packages).current_dir(&dir);
    project::run(npm.stdin(Stdio::null()), "npm pack")?;
    let mut build = Command::new(install_python()?);
    build.args(["-m", "build", "--no-isolation", "--outdir"]).arg(&packages).arg(folder().join("python"));
    project::run(build.stdin(Stdio::null()), "python -m build")
}

/// Installs the packages of the TypeScript client. Returns their folder.
fn install_typescript() -> Result<PathBuf> {
    install_node(
        "typescript",
        &folder().join("typescript"),
        "of the clients (typescript, openapi-typescript)",
    )
}

/// Installs the packages that test `/mcp`. Returns their folder.
fn install_mcp() -> Result<PathBuf> {
    let packages = "for MCP (@modelcontextprotocol/conformance, @modelcontextprotocol/client)";
    install_node("mcp", &project::root().join("tests/clients/mcp"), packages)
}

/// Installs packages of Node beside a copy of their manifest, in the folder of this name. Returns that folder.
fn install_node(name: &str, source: &Path, packages: &str) -> Result<PathBuf> {
    let dir = state_dir().join(name);
    let wanted = NODE_MANIFESTS.map(|file| fs::read(source.join(file)));
    let wanted = wanted.into_iter().collect::<std::io::Result<Vec<_>>>()?.concat();
    let done = dir.join("installed");
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(dir);
    }
    project::step(&format!("installing the Node packages {packages}"));
    fs::create_dir_all(&dir)?;
    for file in NODE_MANIFESTS {
        fs::copy(source.join(file), dir.join(file))?;
    }
    let mut npm = project::command("npm");
    npm.args(["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&dir);
    project::run(npm.stdin(Stdio::null()), "npm ci")?;
    fs::write(&done, wanted)?;
    Ok(dir)
}

/// Installs the packages of the Python client in an environment of their own. Returns its interpreter.
fn install_python() -> Result<PathBuf> {
    let wanted = folder().join("python/requirements-dev.txt");
    let dir = state_dir().join("python");
    let (python, done) = (dir.join("bin/python"), dir.join("installed"));
    if fs::read(&done).ok() == Some(fs::read(&wanted)?) {
        return Ok(python);
    }
    project::step(
        "installing the Python packages of the clients (httpx, pytest, mypy, datamodel-code-generator)",
    );
    virtual_environment::create(&dir)?;
    let mut pip = project::command(&dir.join("bin/pip").to_string_lossy());
    pip.args(["install", "-q", "--disable-pip-version-check", "-r"]).arg(&wanted);
    project::run(pip.stdin(Stdio::null()), "pip install")?;
    // The package of pyright fetches the checker itself when it runs first, and Node too unless there is one.
    let mut pyright = project::command(&python.to_string_lossy());
    pyright.args(["-m", "pyright", "--version"]).env("PYRIGHT_PYTHON_GLOBAL_NODE", "1");
    project::run(pyright.stdin(Stdio::null()).stdout(Stdio::null()), "installing pyright")?;
    fs::copy(&wanted, &done)?;
    Ok(python)
}

/// Copies a file, or a folder in place of what is there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        return Ok(());
    }
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
