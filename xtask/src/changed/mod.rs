//! `cargo xtask test --changed`: lints and tests of the crates that a change affects, and a list of what did not run.
//!
//! Every cargo call selects targets of the whole workspace. With `-p` cargo would choose other features for the dependencies and compile
//! them again. Unchanged targets are not compiled, so a selection of the workspace costs only what the change affects.

pub mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::changed::plan::{
    Kind, Package, Plan, TESTS, Target, TargetKey, executable, needs_servers, selection,
};
use crate::connectors;
use crate::counts::{Counts, run_counted};
use crate::project;

/// The executable of each target's tests.
type Executables = BTreeMap<TargetKey, PathBuf>;

/// Checks the differences between `revision` and the work tree.
pub fn run(revision: &str) -> Result<()> {
    let start = Instant::now();
    let _lock = project::lock_tests()?;
    let files = changed_files(revision)?;
    if files.is_empty() {
        project::step(&format!("no file differs from {revision}"));
        return Ok(());
    }
    let packages = plan::packages(&metadata()?)?;
    let plan = Plan::new(&packages, &files);
    project::step(&format!("{} files differ from {revision}", files.len()));
    eprintln!("    lints: {}", join(&plan.linted));
    eprintln!("    tests: {}", join(&plan.tested));
    eprintln!("    tests/api: {}", join(&plan.api));
    project::step("formatting");
    project::run(project::cargo().args(["fmt", "--all", "--check"]), "cargo fmt --check")?;
    build_connectors(&connectors_to_build(&packages, &plan))?;
    if plan.targets.contains("linear") {
        connectors::linear_guest()?;
    }
    project::step("lints, and building the tests");
    let executables = build(&packages, &plan)?;
    project::step("tests");
    let failed = run_tests(&packages, &plan, &executables)?;
    project::step("lints of the other targets");
    lint_rest(&packages, &plan)?;
    for what in left_out(&packages, &plan) {
        eprintln!("    NOT RUN: {what}");
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    eprintln!("==> passed ({}); `cargo xtask test` runs everything", project::seconds(start));
    Ok(())
}

/// Returns the files that differ from `revision`, including deleted and untracked ones.
fn changed_files(revision: &str) -> Result<Vec<String>> {
    let mut diff = project::command("git");
    diff.args(["diff", "--name-only", "-z", "--no-renames", "--relative", revision, "--"]);
    let mut untracked = project::command("git");
    untracked.args(["ls-files", "-z", "--others", "--exclude-standard"]);
    let text = project::output(&mut diff, "git diff")? + &project::output(&mut untracked, "git ls-files")?;
    Ok(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn metadata() -> Result<Value> {
    let mut command = project::cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let text = project::output(&mut command, "cargo metadata")?;
    serde_json::from_str(&text).context("`cargo metadata` did not print JSON")
}

/// Returns the connectors that the plan affects, and those that were never built.
fn connectors_to_build(packages: &[Package], plan: &Plan) -> Vec<String> {
    let is_missing = |name: &str| !connectors::is_built(name);
    let named = packages.iter().filter_map(|one| Some((one, one.folder.strip_prefix("connectors/")?)));
    let chosen = named.filter(|(package, name)| plan.tested.contains(&package.folder) || is_missing(name));
    chosen.map(|(_, name)| name.to_owned()).collect()
}

/// Builds these connectors as the tests do; does nothing if there are none.
pub fn build_connectors(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    connectors::run(&connectors::ConnectorsArguments::only(names))
}

/// Builds the tests that the plan chose, with lints. Returns the executables of the tests.
fn build(packages: &[Package], plan: &Plan) -> Result<Executables> {
    let mut command = project::cargo();
    command.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    // To run a library's unit tests, cargo compiles all libraries with theirs: it cannot select a single library of a workspace.
    if packages
        .iter()
        .any(|one| plan.linted.contains(&one.folder) && one.targets.iter().any(Target::is_unit_tested))
    {
        command.arg("--lib");
    }
    let chosen =
        packages.iter().flat_map(|one| one.targets.iter().filter(move |target| plan.runs(one, target)));
    command.args(selection(chosen)).envs(project::LINTING).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start cargo test")?;
    let stdout = child.stdout.take().expect("standard output is piped");
    let mut executables = Executables::new();
    for line in BufReader::new(stdout).lines() {
        executables.extend(executable(&line?));
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("building the tests failed: {status}");
    }
    Ok(executables)
}

/// Runs the tests that the plan chose, even if some fail. Returns the names of failed ones.
fn run_tests(packages: &[Package], plan: &Plan, executables: &Executables) -> Result<Vec<String>> {
    let start = Instant::now();
    let (mut total, mut failed) = (Counts::default(), Vec::new());
    for package in packages {
        for target in package.targets.iter().filter(|target| plan.runs(package, target)) {
            let name = format!("{} {}", package.name, target.name);
            let key = (package.manifest.clone(), target.kind, target.name.clone());
            let executable =
                executables.get(&key).with_context(|| format!("cargo built no tests of {name}"))?;
            eprintln!("    {name}");
            let mut command = test_command(package, &executable.to_string_lossy());
            if package.folder == TESTS && target.name == "api" {
                command.args(&plan.api);
            }
            let (counts, status) = run_counted(&mut command)?;
            total.add(counts);
            if !status.success() {
                failed.push(name);
            }
        }
    }
    eprintln!("==> tests: {total} ({})", project::seconds(start));
    Ok(failed)
}

/// Returns the command of a test executable, in the folder and with the environment that `cargo test` gives it.
fn test_command(package: &Package, executable: &str) -> Command {
    let mut command = project::command(executable);
    let folder = package.manifest.parent().expect("a manifest lies in a folder");
    command
        .current_dir(folder)
        .env("CARGO_MANIFEST_DIR", folder)
        .env("CARGO_MANIFEST_PATH", &package.manifest);
    command.env("SWITCHBOARD_TEST_BUNDLE", connectors::bundle()).env_remove("SWITCHBOARD_REQUIRE_PEERS");
    if has_oracle() {
        command.env("ORACLE_PYTHON", project::target().join("oracle/bin/python"));
    }
    command
}

/// Whether a full run has installed the Python libraries that some tests compare with.
fn has_oracle() -> bool {
    project::target().join("oracle/installed").exists()
}

/// Lints the targets of affected crates that were not built for their tests.
fn lint_rest(packages: &[Package], plan: &Plan) -> Result<()> {
    let linted = packages.iter().filter(|package| plan.linted.contains(&package.folder));
    let rest =
        selection(linted.flat_map(|one| one.targets.iter().filter(move |target| !plan.runs(one, target))));
    if rest.is_empty() {
        return Ok(());
    }
    let mut command = project::cargo();
    // A target that is a test makes cargo choose the features with which the tests were built.
    command.args(["build", "--workspace", "--test", "tidy"]).args(rest).envs(project::LINTING);
    project::run(&mut command, "lints of the other targets")
}

/// Returns a line for each part of a full run that this run skips, with the reason.
fn left_out(packages: &[Package], plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &plan.everywhere {
        lines.push(format!(
            "all but lints and a few tests of the API for {file}, which can change every crate"
        ));
    }
    let linted = plan.linted.difference(&plan.tested).filter(|folder| *folder != TESTS);
    let linted: BTreeSet<String> = linted.cloned().collect();
    if !linted.is_empty() {
        lines.push(format!("tests of {}: only crates that they depend on changed", join(&linted)));
    }
    let (mut servers, mut others) = (BTreeSet::new(), BTreeSet::new());
    for package in packages {
        for target in package.targets.iter().filter(|one| one.kind == Kind::Test && !plan.runs(package, one))
        {
            if package.folder == TESTS {
                others.insert(target.name.clone());
            } else if plan.tested.contains(&package.folder) && needs_servers(target) {
                servers.insert(format!("{} {}", package.name, target.name));
            }
        }
    }
    if !servers.is_empty() {
        lines.push(format!("{}: they need real servers", join(&servers)));
    }
    if !plan.api.is_empty() {
        lines.push(format!("tests of the API other than {}", join(&plan.api)));
    }
    lines.push(format!("other targets of {TESTS}/: {}", join(&others)));
    lines.push(
        "tests that need PostgreSQL, a mail server or a DAV server: they pass without a check".to_owned(),
    );
    if !has_oracle() {
        lines.push("comparisons with Python's libraries, which `cargo xtask test` installs".to_owned());
    }
    lines.push("the fuzz targets, and examples in documentation".to_owned());
    lines
}

fn join(names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
