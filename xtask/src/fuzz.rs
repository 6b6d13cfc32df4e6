//! `cargo xtask fuzz`: runs the targets of `tests/fuzz`, built with libFuzzer's coverage by a stable compiler, each for a while.
//! Interesting inputs are kept below `target/fuzz/corpus` and tried first the next time; an input that fails is written to
//! `target/fuzz/found`, and belongs into `tests/fuzz/corpus` once the bug is fixed.
//!
//! `cargo xtask test` tries only the inputs in the repository, so that the same code gives the same result each time and on each machine. A
//! search does not, even with a fixed seed and number of inputs, because hash tables with random keys change its path. Run `cargo xtask
//! fuzz` when code changes that parses untrusted bytes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::project;

/// Compiler flags for edge counters and operands of comparisons in every crate, as cargo-fuzz uses them.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Limits of an input: a second, 2 GiB of memory, and 64 KiB of length.
const LIMITS: [&str; 3] = ["-timeout=1", "-rss_limit_mb=2048", "-max_len=65536"];

/// Makes a regression run generate no inputs.
const REGRESSION_RUNS: &str = "-runs=0";

/// Time limit of a regression run, seconds: ten times the usual time with all targets on two cores.
const REGRESSION_SECONDS: u64 = 120;

/// libFuzzer's exit code when an input takes too long.
const TOO_LONG: i32 = 70;

#[derive(clap::Args)]
pub struct FuzzArguments {
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Run these alone (files and folders of `tests/fuzz/targets`).
    targets: Vec<String>,
}

/// Runs the chosen targets.
pub fn run(arguments: &FuzzArguments) -> Result<()> {
    let all = targets()?;
    if let Some(unknown) = arguments.targets.iter().find(|name| !all.contains(name)) {
        bail!("there is no target {unknown:?}; there are: {}", all.join(", "));
    }
    let chosen = |name: &&String| arguments.targets.is_empty() || arguments.targets.contains(name);
    fuzz(&all.iter().filter(chosen).collect::<Vec<_>>(), Search::New, arguments.seconds)
}

/// Runs every target over the inputs of the repository; fails if one breaks.
pub fn regression() -> Result<()> {
    let all = targets()?;
    fuzz(&all.iter().collect::<Vec<_>>(), Search::Repeatable, REGRESSION_SECONDS)
}

/// The inputs that a run tries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    /// New ones in each run; interesting ones are kept for the next run.
    New,
    /// The same ones each time.
    Repeatable,
}

impl Search {
    /// Returns the folder below `target/fuzz` that keeps inputs which reach new code.
    fn folder(self) -> &'static str {
        match self {
            Search::New => "corpus",
            Search::Repeatable => "regression",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Search::New => &[],
            Search::Repeatable => &["-seed=20260101", REGRESSION_RUNS],
        }
    }
}

/// Runs all targets concurrently: each is one process that cannot use a second core.
fn fuzz(targets: &[&String], search: Search, seconds: u64) -> Result<()> {
    let folder = build()?;
    let names: Vec<&str> = targets.iter().map(|target| target.as_str()).collect();
    project::step(&format!("fuzzing {} for {seconds} s", names.join(", ")));
    let run = |target: &str| -> Result<()> {
        let start = Instant::now();
        let figures = one(&folder.join(target), target, search, seconds)?;
        eprintln!("    {target}: {figures} ({})", project::seconds(start));
        Ok(())
    };
    thread::scope(|scope| {
        let running: Vec<_> = names.iter().map(|target| scope.spawn(|| run(target))).collect();
        let ended = running.into_iter().map(|target| target.join().expect("a run reports its failures"));
        ended.collect::<Vec<Result<()>>>().into_iter().collect()
    })
}

fn home() -> PathBuf {
    project::root().join("tests/fuzz")
}

fn work() -> PathBuf {
    project::target().join("fuzz")
}

/// The names of the targets, in order.
fn targets() -> Result<Vec<String>> {
    let folder = home().join("targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Fails if the targets' lock file does not match the dependencies of the crates they use: they are a separate workspace, so otherwise only
/// their build would detect that, at the very end.
pub fn locked() -> Result<()> {
    let mut cargo = project::cargo();
    cargo.current_dir(home()).args(["metadata", "--locked", "--format-version", "1"]);
    project::output(&mut cargo, "cargo metadata --locked in tests/fuzz").map(drop)
}

/// Builds all targets, and returns their folder.
fn build() -> Result<PathBuf> {
    project::step("building the fuzz targets");
    let host = host_triple()?;
    project::run(&mut build_command(project::cargo(), &host), "building the fuzz targets")?;
    Ok(work().join(host).join("release"))
}

fn host_triple() -> Result<String> {
    let rustc = project::output(project::command("rustc").arg("-vV"), "rustc -vV")?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// Returns the `cargo` command that builds all targets.
fn build_command(mut cargo: Command, host: &str) -> Command {
    cargo.current_dir(home()).args(["build", "--release", "--locked"]);
    // With an explicit target, the flags apply to the targets and not to the build scripts.
    cargo.args(["--target", host, "--target-dir"]).arg(work());
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", COVERAGE.join(" "));
    cargo
}

/// A build of the targets at the lowest priority while the tests run. From scratch it takes ten minutes.
pub struct BackgroundBuild(Child);

impl BackgroundBuild {
    /// Starts the build. Its messages are discarded: if it fails, so does the build of `regression`, which shows them.
    pub fn start() -> Result<BackgroundBuild> {
        let mut nice = project::command("nice");
        nice.args(["-n", "19"]).arg(project::cargo().get_program());
        let mut build = build_command(nice, &host_triple()?);
        build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(BackgroundBuild(build.spawn().context("cannot start nice")?))
    }

    /// Waits until it has ended.
    pub fn wait(mut self) -> Result<()> {
        self.0.wait().context("waiting for the build of the fuzz targets").map(drop)
    }
}

impl Drop for BackgroundBuild {
    /// Stops the build if it was not waited for.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs one target, and returns its figures as text. An input that exceeds the time limit is retried alone, because a busy machine may
/// stall.
fn one(program: &Path, target: &str, search: Search, seconds: u64) -> Result<String> {
    let (kept, found) = (work().join(search.folder()).join(target), work().join("found"));
    if search == Search::Repeatable && kept.exists() {
        fs::remove_dir_all(&kept).with_context(|| format!("cannot remove {}", kept.display()))?;
    }
    for folder in [&kept, &found] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let given = home().join("corpus").join(target);
    ensure!(given.is_dir(), "{} is missing", given.display());
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_secs().max(1);
        let mut command = project::command(&program.to_string_lossy());
        command.args(LIMITS).args(search.options()).arg(format!("-max_total_time={left}"));
        command.arg(format!("-dict={}", home().join("dictionaries").join(target).display()));
        command.arg(format!("-artifact_prefix={}/{target}-", found.display()));
        command.arg(seed_inputs(&given, &work().join(search.folder()).join(format!("{target}.seeds")))?);
        let (status, lines) = said(command.arg(&kept))?;
        if status.success() {
            return figures(&lines).with_context(|| format!("{target} printed no figures of its run"));
        }
        let input =
            lines.iter().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
        if let (Some(input), Some(TOO_LONG)) = (input, status.code()) {
            let mut again = project::command(&program.to_string_lossy());
            if said(again.args(LIMITS).arg("-runs=1").arg(input))?.0.success() {
                fs::remove_file(input).with_context(|| format!("cannot remove {input}"))?;
                continue;
            }
        }
        let tail = lines.len().saturating_sub(80);
        bail!("{}\n{target} failed: {status}", lines.get(tail..).unwrap_or_default().join("\n"));
    }
}

/// Returns the option that lists the inputs of a folder by name: libFuzzer itself reads a folder in an order that differs between machines.
/// The list is written to `list`.
fn seed_inputs(folder: &Path, list: &Path) -> Result<String> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path().to_string_lossy().into_owned()))
        .collect::<Result<Vec<String>>>()?;
    paths.sort();
    fs::write(list, paths.join(",")).with_context(|| format!("cannot write {}", list.display()))?;
    Ok(format!("-seed_inputs=@{}", list.display()))
}

/// Runs a command to its end; returns its exit status and its output.
fn said(command: &mut Command) -> Result<(ExitStatus, Vec<String>)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).env("RUST_BACKTRACE", "1");
    let mut child = command.spawn().context("cannot start a fuzz target")?;
    let stderr = child.stderr.take().expect("standard error is piped");
    let lines =
        BufReader::new(stderr).split(b'\n').map(|line| Ok(String::from_utf8_lossy(&line?).into_owned()));
    let lines = lines.collect::<Result<Vec<String>>>()?;
    Ok((child.wait()?, lines))
}

/// Reads the figures of a line such as `#182427 DONE   cov: 5350 ft: 21573 corp: 3950/2620Kb …`.
fn figures(lines: &[String]) -> Option<String> {
    let line = lines.iter().rev().find(|line| line.contains("\tDONE ") || line.contains(" DONE "))?;
    let mut words = line.split_whitespace();
    let executions = words.next()?.strip_prefix('#')?;
    let mut after = |name: &str| words.find(|word| *word == name).and_then(|_| words.next());
    let (edges, inputs) = (after("cov:")?, after("corp:")?);
    Some(format!(
        "{executions} executions, {edges} edges covered, {inputs} of inputs with different coverage"
    ))
}

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn the_last_line_of_a_run_tells_its_figures() {
        let line = "#182427\tDONE   cov: 5350 ft: 21573 corp: 3950/2620Kb lim: 1512 exec/s: 3965 rss: 40Mb";
        let lines = ["#2\tINITED cov: 1 ft: 1".to_owned(), line.to_owned(), "Done 182427 runs".to_owned()];
        let expected = "182427 executions, 5350 edges covered, 3950/2620Kb of inputs with different coverage";
        assert_eq!(figures(&lines).as_deref(), Some(expected));
        assert_eq!(figures(&lines[..1]), None);
    }
}
