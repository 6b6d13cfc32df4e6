//! Progress on standard error: the numbered steps of a command, and the number of crates that cargo has built.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::project;

/// The line on a terminal is redrawn at least this often, so that its clock runs while one crate compiles.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between progress lines if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(30);
/// Width of the line on a terminal. A line wider than the terminal would wrap, and `\r` would not return to its start.
const LINE_CHARS: usize = 79;
/// Maximum lines of cargo that wait to be shown; cargo blocks when there are more.
const MAX_QUEUED_LINES: usize = 256;

/// The numbered steps of a command.
pub struct Steps {
    current: usize,
    total: usize,
}

impl Steps {
    /// Creates a command with `total` steps, none of which has begun.
    pub fn new(total: usize) -> Steps {
        Steps { current: 0, total }
    }

    /// Prints the number and the description of the next step.
    pub fn begin(&mut self, text: &str) {
        self.current += 1;
        project::step(&self.numbered(text));
    }

    fn numbered(&self, text: &str) -> String {
        format!("step {} of {}: {text}", self.current, self.total)
    }
}

/// Runs the `cargo build` of `command` and shows how many crates are built, of `total` if it is known. Errors and warnings are printed
/// unchanged; only the lines `Compiling …` and `Finished …` are replaced by the progress. An error names `what`.
pub fn build(command: &mut Command, what: &str, total: Option<usize>) -> Result<()> {
    let mut display = Display::new(what);
    let mut progress = Progress { total, ..Progress::default() };
    command.args(["--message-format", "json-render-diagnostics"]).env("CARGO_TERM_PROGRESS_WHEN", "never");
    // Cargo writes into a pipe, so it cannot detect that its messages end on a terminal.
    let is_colour_chosen = ["CARGO_TERM_COLOR", "NO_COLOR"].iter().any(|name| env::var_os(name).is_some());
    if display.is_terminal && !is_colour_chosen {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("cannot start building {what}"))?;
    let stdout = child.stdout.take().context("cargo has no standard output")?;
    let stderr = child.stderr.take().context("cargo has no standard error")?;
    let (sender, lines) = mpsc::sync_channel(MAX_QUEUED_LINES);
    let stdout_sender = sender.clone();
    thread::spawn(move || send_lines(stdout, &stdout_sender, CargoLine::Stdout));
    thread::spawn(move || send_lines(stderr, &sender, CargoLine::Stderr));
    loop {
        match lines.recv_timeout(REDRAW_INTERVAL) {
            Ok(CargoLine::Stdout(line)) if !progress.read_message(&line) => display.print(&line),
            Ok(CargoLine::Stderr(line)) if !progress.read_status(&line) => display.print(&line),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        display.draw(&progress);
    }
    display.erase();
    let status = child.wait().with_context(|| format!("cannot wait for the build of {what}"))?;
    if !status.success() {
        bail!("building {what} failed: {status}");
    }
    eprintln!("    {what}: {} crates, {}", progress.built.len(), duration(display.start.elapsed()));
    Ok(())
}

/// Returns the number of packages that a build of `packages` for `target` (none: this machine) needs, from `cargo tree`. Without it the
/// progress has no total, so a failure is reported and does not end the command.
pub fn count_packages(mut cargo: Command, packages: &[String], target: Option<&str>) -> Option<usize> {
    cargo.args(["tree", "--edges", "normal,build", "--prefix", "none"]);
    for package in packages {
        cargo.arg("-p").arg(package);
    }
    if let Some(target) = target {
        cargo.args(["--target", target]);
    }
    match project::output(&mut cargo, "cargo tree") {
        Ok(tree) => Some(distinct_packages(&tree)),
        Err(error) => {
            eprintln!("    the number of crates is unknown: {error:#}");
            None
        }
    }
}

/// Counts the distinct packages in the output of `cargo tree --prefix none`: each line is `name v1.2.3`, possibly with more after it.
fn distinct_packages(tree: &str) -> usize {
    let mut packages = BTreeSet::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next())
            && version.starts_with('v')
        {
            packages.insert((name, version));
        }
    }
    packages.len()
}

/// A line that cargo wrote.
enum CargoLine {
    Stdout(String),
    Stderr(String),
}

/// Sends each line of `input` until it ends or the receiver is gone.
fn send_lines(input: impl Read, sender: &SyncSender<CargoLine>, line: fn(String) -> CargoLine) {
    for bytes in BufReader::new(input).split(b'\n') {
        let Ok(bytes) = bytes else { return };
        if sender.send(line(String::from_utf8_lossy(&bytes).into_owned())).is_err() {
            return;
        }
    }
}

/// The state of a build, from cargo's messages.
#[derive(Default)]
struct Progress {
    /// Ids of packages of which something besides the build script is compiled, now or earlier.
    built: BTreeSet<String>,
    total: Option<usize>,
    /// The crate whose compilation started last.
    started: Option<String>,
}

impl Progress {
    /// Reads a line of cargo's standard output. Returns false if it is not a cargo message.
    fn read_message(&mut self, line: &str) -> bool {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return false };
        let Some(reason) = message["reason"].as_str() else { return false };
        let kinds = message["target"]["kind"].as_array();
        let is_build_script = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "custom-build"));
        if reason == "compiler-artifact"
            && !is_build_script
            && let Some(id) = message["package_id"].as_str()
        {
            self.built.insert(id.to_owned());
        }
        true
    }

    /// Reads a line of cargo's standard error. Returns true if the progress replaces it, false if it must be printed.
    fn read_status(&mut self, line: &str) -> bool {
        let line = without_colours(line);
        // Cargo right-aligns these words to 12 characters, which no compiler message does.
        if let Some(package) = line.strip_prefix("   Compiling ") {
            self.started = package.split(' ').next().map(str::to_owned);
            return true;
        }
        line.starts_with("    Finished ")
    }

    /// Renders the progress of the build of `what` after `elapsed` as one line.
    fn render(&self, what: &str, elapsed: Duration) -> String {
        let built = self.built.len();
        let of = self.total.map(|total| format!(" of {}", total.max(built))).unwrap_or_default();
        let started = self.started.as_ref().map(|name| format!(", last started: {name}")).unwrap_or_default();
        format!("    {what}: {built}{of} crates, {}{started}", duration(elapsed))
    }
}

/// A progress display on standard error.
struct Display<'a> {
    what: &'a str,
    start: Instant,
    /// The time of the last line if standard error is not a terminal.
    printed: Instant,
    is_terminal: bool,
}

impl Display<'_> {
    fn new(what: &str) -> Display<'_> {
        let start = Instant::now();
        Display { what, start, printed: start, is_terminal: io::stderr().is_terminal() }
    }

    /// Redraws the line on a terminal; elsewhere prints a line if the last one is old enough.
    fn draw(&mut self, progress: &Progress) {
        let line = progress.render(self.what, self.start.elapsed());
        if self.is_terminal {
            eprint!("\r{}", fit(&line));
        } else if self.printed.elapsed() >= LINE_INTERVAL {
            self.printed = Instant::now();
            eprintln!("{line}");
        }
    }

    /// Removes the line from a terminal.
    fn erase(&self) {
        if self.is_terminal {
            eprint!("\r{}\r", fit(""));
        }
    }

    /// Prints a line of cargo or of the compiler as it is.
    fn print(&self, line: &str) {
        self.erase();
        eprintln!("{line}");
    }
}

/// Pads or cuts the text to exactly `LINE_CHARS` characters, so that it covers the line that it overwrites.
fn fit(text: &str) -> String {
    format!("{text:<LINE_CHARS$.LINE_CHARS$}")
}

/// Formats minutes and seconds; seconds alone below a minute.
fn duration(elapsed: Duration) -> String {
    let (minutes, seconds) = (elapsed.as_secs() / 60, elapsed.as_secs() % 60);
    if minutes == 0 { format!("{seconds} s") } else { format!("{minutes} min {seconds:02} s") }
}

/// Returns the text without its colour sequences (`ESC [ … m`).
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // Takes everything up to the end of the sequence.
            characters.find(|c| *c == 'm');
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Progress, Steps, distinct_packages, duration, fit, without_colours};

    fn artifact(package: &str, kind: &str) -> String {
        format!(r#"{{"reason":"compiler-artifact","package_id":"{package}","target":{{"kind":["{kind}"]}}}}"#)
    }

    #[test]
    fn steps_are_numbered_from_one() {
        let mut steps = Steps::new(5);
        steps.begin("setting up");
        assert_eq!(steps.numbered("setting up"), "step 1 of 5: setting up");
    }

    #[test]
    fn a_package_counts_once_and_not_for_its_build_script() {
        let mut progress = Progress::default();
        assert!(progress.read_message(&artifact("registry#ring@1.0.0", "custom-build")));
        assert_eq!(progress.built.len(), 0);
        assert!(progress.read_message(&artifact("registry#ring@1.0.0", "lib")));
        assert!(progress.read_message(&artifact("path#switchboard@0.1.0", "lib")));
        assert!(progress.read_message(&artifact("path#switchboard@0.1.0", "bin")));
        assert!(progress.read_message(r#"{"reason":"build-finished","success":true}"#));
        assert_eq!(progress.built.len(), 2);
    }

    #[test]
    fn a_line_that_is_no_message_of_cargo_is_printed() {
        let mut progress = Progress::default();
        for line in ["", "a build script says hello", "12", r#"{"level":"info"}"#] {
            assert!(!progress.read_message(line), "{line}");
        }
    }

    #[test]
    fn only_the_names_of_crates_are_taken_from_standard_error() {
        let mut progress = Progress::default();
        assert!(progress.read_status("   Compiling wasmtime v48.0.8"));
        assert!(progress.read_status("\u{1b}[1m\u{1b}[92m   Compiling\u{1b}[0m switchboard v0.1.0 (host)"));
        assert_eq!(progress.started.as_deref(), Some("switchboard"));
        assert!(progress.read_status("    Finished `demo` profile [optimized] target(s) in 3m 02s"));
        for line in [
            "error[E0425]: cannot find value `x`",
            "warning: unused",
            "    Blocking waiting for file lock",
            "",
        ] {
            assert!(!progress.read_status(line), "{line}");
        }
    }

    #[test]
    fn packages_of_a_tree_are_counted_once() {
        let tree = "switchboard v0.1.0 (host)\nanyhow v1.0.100\nserde_derive v1.0.228 (proc-macro)\n\nanyhow v1.0.100 (*)\n\
                    hashbrown v0.15.5\nhashbrown v0.16.0\n[build-dependencies]\n";
        assert_eq!(distinct_packages(tree), 5);
        assert_eq!(distinct_packages(""), 0);
    }

    #[test]
    fn a_line_says_how_many_crates_are_built_of_all() {
        let mut progress = Progress::default();
        progress.read_message(&artifact("registry#anyhow@1.0.100", "lib"));
        let after = |progress: &Progress, s: u64| progress.render("the server", Duration::from_secs(s));
        assert_eq!(after(&progress, 3), "    the server: 1 crates, 3 s");
        progress.total = Some(313);
        progress.read_status("   Compiling wasmtime v48.0.8");
        let line = "    the server: 1 of 313 crates, 1 min 05 s, last started: wasmtime";
        assert_eq!(after(&progress, 65), line);
        // Features of other packages can add a few crates that the tree does not name.
        progress.total = Some(0);
        assert!(after(&progress, 65).contains("1 of 1 crates"));
    }

    #[test]
    fn a_line_covers_the_one_before_it_and_never_wraps() {
        assert_eq!(fit("short").chars().count(), 79);
        assert_eq!(fit(&"é".repeat(200)), "é".repeat(79));
    }

    #[test]
    fn durations_have_minutes_from_one_minute_on() {
        let shown = |s| duration(Duration::from_secs(s));
        assert_eq!((shown(0), shown(59), shown(60)), ("0 s".into(), "59 s".into(), "1 min 00 s".into()));
        assert_eq!(shown(3 * 3600 + 61), "181 min 01 s");
    }

    #[test]
    fn colours_are_removed() {
        assert_eq!(without_colours("\u{1b}[1;92mok\u{1b}[0m é"), "ok é");
        assert_eq!(without_colours("\u{1b}[1"), "");
    }
}
