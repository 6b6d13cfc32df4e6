//! `cargo xtask bench loop`: after editing one line in each part of the project, the seconds until `cargo check` ends, until the narrowest
//! test of the part has run, and until a dev server with the edit is ready. Writes `xtask/LOOP.md`, with a row for each revision.

mod parts;
mod results;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::bench::edit_loop::parts::{PARTS, Part, Test};
use crate::bench::edit_loop::results::{Figures, ROUNDS, table};
use crate::changed::build_connectors;
use crate::connectors;
use crate::project;
use crate::server::{self, Options, Server};

/// The exit status of a program that ctrl-c ended.
const INTERRUPTED: i32 = 130;

#[derive(clap::Args)]
pub struct EditLoopArguments {
    /// Measure this revision, in a separate work tree and target folder, instead of the current work tree.
    #[arg(long)]
    revision: Option<String>,
    /// Measure these parts alone.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Name of the revision in the results; by default git's name for it.
    #[arg(long, hide = true)]
    label: Option<String>,
    /// File that the results are written to.
    #[arg(long, hide = true)]
    results: Option<PathBuf>,
}

/// Measures the parts and adds the figures to the results.
pub fn run(arguments: &EditLoopArguments) -> Result<()> {
    if let Some(unknown) = arguments.only.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        bail!("there is no part {unknown:?}; there are: {}", names.join(", "));
    }
    let results = arguments.results.clone().unwrap_or_else(|| project::root().join("xtask").join("LOOP.md"));
    if let Some(revision) = &arguments.revision {
        return in_worktree(revision, &arguments.only, &results);
    }
    on_signal(|| {
        restore();
        std::process::exit(INTERRUPTED);
    })?;
    let label = arguments.label.clone().map_or_else(|| revision_name("HEAD"), Ok)?;
    connectors::run(&connectors::ConnectorsArguments::all(true))?;
    let data_dir = project::target().join("edit-loop").join("data");
    server::empty(&data_dir)?;
    let mut edits = Edits { last: u64::from(std::process::id()) << 20, data_dir };
    for part in &PARTS {
        if arguments.only.is_empty() || arguments.only.iter().any(|name| name == part.name) {
            let figures = edits.measure(part)?;
            let old = fs::read_to_string(&results).unwrap_or_default();
            fs::write(&results, table(&old, part.name, &label, figures))
                .context("cannot write the results")?;
        }
    }
    println!("\n{}", fs::read_to_string(&results)?);
    Ok(())
}

/// Returns git's short name of `revision`; for `HEAD` also whether the work tree differs from it.
fn revision_name(revision: &str) -> Result<String> {
    let mut name = project::command("git");
    name.args(["rev-parse", "--short", &format!("{revision}^{{commit}}")]);
    let name = project::output(&mut name, "git rev-parse")?.trim().to_owned();
    if revision != "HEAD" {
        return Ok(name);
    }
    let mut status = project::command("git");
    status.args(["status", "--porcelain", "--", ".", ":!xtask/LOOP.md"]);
    let is_clean = project::output(&mut status, "git status")?.trim().is_empty();
    Ok(if is_clean { name } else { format!("{name} with changes") })
}

/// Runs this command on a temporary work tree of `revision`. Its target folder stays for the next time.
fn in_worktree(revision: &str, only: &[String], results: &Path) -> Result<()> {
    let label = revision_name(revision)?;
    let folder = project::target().join("edit-loop").join(&label);
    let target = project::target().join("edit-loop").join(format!("{label}-target"));
    // A killed run leaves its work tree behind.
    let _ = remove_worktree(&folder);
    let mut add = project::command("git");
    add.args(["worktree", "add", "--quiet", "--force", "--detach"]).arg(&folder).arg(revision);
    project::run(&mut add, "git worktree add")?;
    let _worktree = Worktree(&folder);
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut command = project::command(&program.to_string_lossy());
    command.args(["bench", "loop", "--label", &label]).arg("--results").arg(results);
    if !only.is_empty() {
        command.arg("--only").arg(only.join(","));
    }
    // The program finds the project by these two variables (`project.rs`).
    command
        .current_dir(&folder)
        .env("CARGO_MANIFEST_DIR", folder.join("xtask"))
        .env("CARGO_TARGET_DIR", target);
    let mut child = command.spawn().context("cannot start the measurement")?;
    let pid = Pid::from_child(&child);
    on_signal(move || {
        // The same ctrl-c may already have ended the child.
        let _ = kill_process(pid, Signal::TERM);
    })?;
    let status = child.wait()?;
    if !status.success() {
        bail!("the measurement of {label} failed: {status}");
    }
    Ok(())
}

/// A work tree that is removed when this is dropped, also after a failure.
struct Worktree<'f>(&'f Path);

impl Drop for Worktree<'_> {
    fn drop(&mut self) {
        if let Err(error) = remove_worktree(self.0) {
            eprintln!("    the work tree {} remains: {error:#}", self.0.display());
        }
    }
}

fn remove_worktree(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let mut command = project::command("git");
    command.args(["worktree", "remove", "--force"]).arg(folder);
    project::run(&mut command, "git worktree remove")
}

/// Calls `then` on a separate thread when ctrl-c or SIGTERM arrives, instead of ending the process.
fn on_signal(then: impl FnOnce() + Send + 'static) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        then();
    });
    Ok(())
}

/// The edited file, with its original bytes. The signal handler also restores it, from another thread.
static EDITED: Mutex<Option<(PathBuf, Vec<u8>)>> = Mutex::new(None);

fn edited() -> MutexGuard<'static, Option<(PathBuf, Vec<u8>)>> {
    EDITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the original bytes of the edited file back, once.
fn restore() {
    if let Some((path, original)) = edited().take()
        && let Err(error) = fs::write(&path, original)
    {
        eprintln!("error: cannot restore {}: {error}; `git diff` shows the edit", path.display());
    }
}

/// Restores the original bytes of the edited file when dropped.
struct Edit;

impl Edit {
    fn for_path(path: PathBuf) -> Result<Edit> {
        let original = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        *edited() = Some((path, original));
        Ok(Edit)
    }

    /// Appends a static with this value to the file. `#[used]` keeps the static in the compiled code, so that the crate and everything
    /// linked with it change, but not their behavior.
    fn write(&self, value: u64) -> Result<()> {
        let edited = edited();
        let (path, original) = edited.as_ref().context("the run was interrupted")?;
        let mut bytes = original.clone();
        bytes.extend_from_slice(format!("\n#[used]\nstatic EDITED_BY_BENCH: u64 = {value};\n").as_bytes());
        fs::write(path, bytes).with_context(|| format!("cannot edit {}", path.display()))
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        restore();
    }
}

/// Numbers the edits, because each must differ from all earlier ones.
struct Edits {
    last: u64,
    data_dir: PathBuf,
}

impl Edits {
    /// Returns the medians of a part. The first round edits nothing, builds what edits do not change, and does not count.
    fn measure(&mut self, part: &Part) -> Result<Figures> {
        let exists = |file: &&(&str, &str)| project::root().join(file.0).exists();
        let file = part.files.iter().find(exists);
        let (path, package) = file.with_context(|| format!("the file of {} does not exist", part.name))?;
        project::step(&format!("{}: {path}, warming up", part.name));
        for step in STEPS {
            step(part, package, &self.data_dir)?;
        }
        let edit = Edit::for_path(project::root().join(path))?;
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for (step, times) in STEPS.iter().zip(&mut times) {
                self.last += 1;
                edit.write(self.last)?;
                let start = Instant::now();
                step(part, package, &self.data_dir)?;
                times.push(start.elapsed().as_secs_f64());
            }
        }
        let figures = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        });
        let [check, test, server] = figures;
        eprintln!("    {}: check {check:.1} s, test {test:.1} s, server {server:.1} s", part.name);
        Ok(figures)
    }
}

/// A measured step: the part, the crate of its edited file, and the data directory of the server.
type MeasuredStep = fn(&Part, &str, &Path) -> Result<()>;

const STEPS: [MeasuredStep; 3] = [check, test, serve];

fn check(part: &Part, _: &str, _: &Path) -> Result<()> {
    quietly(project::cargo().args(["check", "--quiet", "-p", part.check]))
}

fn test(part: &Part, package: &str, _: &Path) -> Result<()> {
    let mut command = project::cargo();
    command.args(["test", "--quiet"]);
    match part.test {
        Test::Api(filter) => command.args(["--workspace", "--test", "api", "--", filter]),
        Test::Unit(filter) => command.args(["-p", package, "--lib", "--", filter]),
    };
    quietly(command.env("SWITCHBOARD_TEST_BUNDLE", connectors::bundle()))
}

/// Builds the part for the server, starts the server and waits until it is ready.
fn serve(part: &Part, _: &str, data_dir: &Path) -> Result<()> {
    match part.name.strip_prefix("connectors/") {
        Some(connector) => build_connectors(&[connector.to_owned()])?,
        None => {
            quietly(project::cargo().args(["build", "--quiet", "--workspace", "--bin", "switchboard"]))?;
        }
    }
    // Dropping the server kills it: its shutdown is not measured.
    let _server = Server::start(Options {
        binary: project::target().join("debug").join("switchboard"),
        data_dir: data_dir.to_owned(),
        listen: server::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?,
        egress_allow: Vec::new(),
        environment: Vec::new(),
    })?;
    Ok(())
}

/// Runs a command and shows its output only if it fails.
fn quietly(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("{command:?} failed: {}\n{out}{err}", output.status);
    }
    Ok(())
}
