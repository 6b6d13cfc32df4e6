//! `cargo xtask test`: all checks that a change must pass, with the servers and tools that the tests need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::browser;
use crate::changed;
use crate::clients;
use crate::connectors;
use crate::counts::run_counted;
use crate::engines::PostgresScope;
use crate::fuzz::{self, BackgroundBuild};
use crate::peers::Peers;
use crate::project;
use crate::suite::Suite;
use crate::virtual_environment;

#[derive(clap::Args)]
pub struct CheckArguments {
    /// Check only what differs from this revision (`HEAD` by default), untracked files too: lints of the crates that it reaches, tests of
    /// those that changed. Lists what did not run.
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "HEAD")]
    #[arg(conflicts_with_all = ["no_peers", "only", "cargo_test"])]
    changed: Option<String>,
    /// Run without real servers and say what did not run.
    #[arg(long)]
    no_peers: bool,
    /// Run all tests of the API on both database engines, not only those in `tests/api/engines.txt`, and kills and convergence with
    /// PostgreSQL 2 ms away. Do this before a release.
    #[arg(long, conflicts_with_all = ["changed", "no_peers", "cargo_test"])]
    all_engines: bool,
    /// Run these steps alone.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
    /// Arguments for `cargo test`, such as `-p switchboard-tests --test api`.
    #[arg(last = true)]
    cargo_test: Vec<String>,
}

impl CheckArguments {
    fn postgres_scope(&self) -> PostgresScope {
        if self.all_engines { PostgresScope::All } else { PostgresScope::Listed }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    Fmt,
    Connectors,
    Clippy,
    Tests,
    Fuzz,
}

/// Runs the chosen steps; the first that fails ends the run.
pub fn run(arguments: &CheckArguments) -> Result<()> {
    if let Some(revision) = &arguments.changed {
        return changed::run(revision);
    }
    let start = Instant::now();
    let chosen = |step: Step| arguments.only.is_empty() || arguments.only.contains(&step);
    let _lock = project::lock_tests()?;
    if chosen(Step::Fmt) {
        project::step("formatting, and the fuzz targets' lock file");
        project::run(project::cargo().args(["fmt", "--all", "--check"]), "cargo fmt --check")?;
        let mut fuzz = project::cargo();
        fuzz.args(["fmt", "--check", "--manifest-path", "tests/fuzz/Cargo.toml"]);
        project::run(&mut fuzz, "cargo fmt --check of the fuzz targets")?;
        fuzz::locked()?;
    }
    if chosen(Step::Connectors) {
        connectors::run(&connectors::ConnectorsArguments::all(true))?;
        connectors::linear_guest()?;
    }
    // If the tests are built too, their build lints: the compiler checks everything once instead of twice.
    let lints_with_tests = chosen(Step::Clippy) && chosen(Step::Tests) && arguments.cargo_test.is_empty();
    if chosen(Step::Clippy) && !lints_with_tests {
        project::step("lints");
        let mut clippy = project::cargo();
        clippy.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
        project::run(&mut clippy, "cargo clippy")?;
    }
    if chosen(Step::Tests) {
        let compiler = if lints_with_tests { project::LINTING.to_vec() } else { Vec::new() };
        tests(arguments, compiler, chosen(Step::Fuzz))?;
    }
    if chosen(Step::Fuzz) {
        fuzz::regression()?;
    }
    eprintln!("==> all passed ({})", project::seconds(start));
    Ok(())
}

/// `compiler`: environment of all compilations, the same each time, so that nothing is recompiled. `build_fuzz_targets`: whether they are
/// built while the tests run.
fn tests(
    arguments: &CheckArguments,
    compiler: Vec<(&'static str, &'static str)>,
    build_fuzz_targets: bool,
) -> Result<()> {
    let mut environment = vec![
        ("SWITCHBOARD_TEST_BINARY".to_owned(), path(project::target().join("debug/switchboard"))),
        ("SWITCHBOARD_TEST_BUNDLE".to_owned(), path(connectors::bundle())),
    ];
    let mut left_out = Vec::new();
    match oracle() {
        Ok(python) => environment.push(("ORACLE_PYTHON".to_owned(), python)),
        Err(error) if arguments.no_peers => {
            left_out.push(format!("what is compared with Python's libraries ({error:#})"))
        }
        Err(error) => return Err(error),
    }
    let suite = match arguments.cargo_test.is_empty() {
        true => {
            project::step(if compiler.is_empty() {
                "building the tests"
            } else {
                "lints, and building the tests"
            });
            Some(Suite::build(compiler.clone(), arguments.postgres_scope())?)
        }
        false => None,
    };
    let peers = match arguments.no_peers {
        true => {
            left_out
                .push("tests on Radicale, Cyrus, Dovecot, Exim, PostgreSQL and the fault proxy".to_owned());
            left_out.push("tests of the booking page in a browser".to_owned());
            left_out.push("tests of the clients in TypeScript and Python".to_owned());
            None
        }
        false => {
            left_out.extend(suite.as_ref().and_then(|suite| suite.postgres_tests.left_out()));
            project::step("a browser for the booking page");
            environment.extend(browser::install()?);
            environment.extend(clients::tools::install()?);
            project::step("starting the test peers");
            environment.push(("SWITCHBOARD_REQUIRE_PEERS".to_owned(), "1".to_owned()));
            Some(Peers::start()?)
        }
    };
    environment.extend(peers.iter().flat_map(|peers| peers.environment.clone()));
    project::step("tests");
    let fuzz_targets = build_fuzz_targets.then(BackgroundBuild::start).transpose()?;
    let outcome = match &suite {
        Some(suite) => {
            let postgres = environment.iter().find(|(name, _)| name == "POSTGRES_URL");
            suite.run(&environment, postgres.map(|(_, url)| url.as_str()))
        }
        None => chosen_tests(&arguments.cargo_test, environment, &compiler),
    };
    drop(peers);
    for what in &left_out {
        eprintln!("    NOT RUN: {what}");
    }
    outcome?;
    fuzz_targets.map_or(Ok(()), BackgroundBuild::wait)
}

/// Runs `cargo test` with the caller's arguments, on the whole workspace unless they name packages.
fn chosen_tests(
    arguments: &[String],
    environment: Vec<(String, String)>,
    compiler: &[(&str, &str)],
) -> Result<()> {
    let mut command = project::cargo();
    command.args(["test", "--no-fail-fast"]);
    if !arguments.iter().any(|argument| argument == "-p") {
        command.arg("--workspace");
        // Tests start and kill the server's programs.
        let mut programs = project::cargo();
        programs.args(["build", "--workspace", "--bins"]).envs(compiler.iter().copied());
        project::run(&mut programs, "building the programs")?;
    }
    run_tests(command.args(arguments).envs(environment).envs(compiler.iter().copied()))
}

/// Installs Python in a separate virtual environment, with the libraries that tests of recurrence and of parsed data compare with, and
/// those that verify webhooks. Returns its path.
pub fn oracle() -> Result<String> {
    let wanted = project::root().join("tests/peers/oracle.txt");
    let dir = project::target().join("oracle");
    let (python, done) = (dir.join("bin/python"), dir.join("installed"));
    if fs::read(&done).ok() != Some(fs::read(&wanted)?) {
        project::step(
            "installing the oracles (python-dateutil, icalendar, vobject, standardwebhooks, tzlocal, cryptography, google-api-python-client, schemathesis)",
        );
        virtual_environment::create(&dir)?;
        let mut pip = project::command(&path(dir.join("bin/pip")));
        pip.args(["install", "-q", "--disable-pip-version-check", "--no-deps", "-r"]).arg(&wanted);
        project::run(&mut pip, "pip install")?;
        fs::copy(&wanted, &done)?;
    }
    read_wheels(&dir)?;
    Ok(path(python))
}

/// Downloads the packages of tests/peers/wheels.txt into the environment, without unpacking them, and extracts from their sources what
/// Microsoft Graph takes and answers.
fn read_wheels(environment: &Path) -> Result<()> {
    let peers = project::root().join("tests/peers");
    let (list, script) = (peers.join("wheels.txt"), peers.join("graph_oracle.py"));
    let dir = environment.join("wheels");
    let done = dir.join("installed");
    let wanted = [fs::read(&list)?, fs::read(&script)?].concat();
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    project::step("downloading the description of Microsoft Graph (msgraph-sdk)");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let mut pip = project::command(&path(environment.join("bin/pip")));
    pip.args(["download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "-d"]);
    project::run(pip.arg(&dir).arg("-r").arg(&list), "pip download")?;
    let mut extract = project::command(&path(environment.join("bin/python")));
    project::run(extract.arg(&script).arg(&dir), "the extract of Microsoft Graph")?;
    fs::write(&done, wanted)?;
    Ok(())
}

/// Runs `cargo test` and reports its totals.
fn run_tests(command: &mut Command) -> Result<()> {
    let start = Instant::now();
    let (counts, status) = run_counted(command)?;
    eprintln!("==> tests: {counts} ({})", project::seconds(start));
    if !status.success() {
        bail!("cargo test failed: {status}");
    }
    Ok(())
}

fn path(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
