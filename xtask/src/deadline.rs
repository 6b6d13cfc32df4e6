//! Runs a test program, and kills it at a deadline with all processes that it started: a test that never ends fails the run with its name
//! instead of blocking it silently.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

/// The poll interval for the end of a program that has closed its output.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The text that libtest prints behind the name of a test that has run for a minute.
const LONG_TEST_NOTICE: &str = " has been running for over ";

/// The result of a program that ran until its end or the deadline.
pub struct ProgramResult {
    /// None: it was ended at the deadline.
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
    /// The tests that were running at the deadline, or else the threads.
    pub running: Vec<String>,
}

/// Runs a command to its end, or until `until`. Its standard input is empty.
pub fn run(command: &mut Command, until: Instant) -> Result<ProgramResult> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().context("it does not start")?;
    let (closed, all_closed) = mpsc::channel();
    let stdout = collect_output(child.stdout.take(), closed.clone());
    let stderr = collect_output(child.stderr.take(), closed);
    let status = await_end(&mut child, &all_closed, until)?;
    let mut running = Vec::new();
    if status.is_none() {
        running = unfinished_tests(&text(&stdout));
        if running.is_empty() {
            running = threads(&family(&child));
        }
        end(&mut child)?;
    }
    Ok(ProgramResult { status, stdout: text(&stdout), stderr: text(&stderr), running })
}

/// Returns the output read so far.
fn text(bytes: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Reads a program's output in the background; `closed` gets a message at its end.
fn collect_output(output: Option<impl Read + Send + 'static>, closed: Sender<()>) -> Arc<Mutex<Vec<u8>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let kept = all.clone();
    thread::spawn(move || {
        let mut part = [0; 8192];
        if let Some(mut output) = output {
            while let Ok(length @ 1..) = output.read(&mut part) {
                let read = part.get(..length).unwrap_or_default();
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(read);
            }
        }
        // After the deadline no one receives it.
        let _ = closed.send(());
    });
    all
}

/// Waits for the end of a program and of both its outputs, which its child processes may hold open. None: the deadline came first.
fn await_end(child: &mut Child, closed: &mpsc::Receiver<()>, until: Instant) -> Result<Option<ExitStatus>> {
    for _ in 0..2 {
        if closed.recv_timeout(until.saturating_duration_since(Instant::now())).is_err() {
            return Ok(None);
        }
    }
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the tests that the output reports as slow and not as ended.
fn unfinished_tests(output: &str) -> Vec<String> {
    let mut running = BTreeSet::new();
    for line in output.lines() {
        if let Some((before, _)) = line.split_once(LONG_TEST_NOTICE) {
            // With one test at a time its own line has begun before.
            running.extend(before.rsplit("test ").next());
        } else if let Some((name, _)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            running.remove(name);
        }
    }
    running.into_iter().map(str::to_owned).collect()
}

/// Returns the process ids of a program and of all its descendants, its own first.
fn family(child: &Child) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(Pid, Pid)> = processes
        .filter_map(|entry| {
            let id = number(entry.file_name().to_str()?)?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before it may contain any character.
            let (_, rest) = stat.rsplit_once(')')?;
            Some((id, number(rest.split_whitespace().nth(1)?)?))
        })
        .collect();
    let mut found = vec![Pid::from_child(child)];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        at += 1;
    }
    found
}

fn number(text: &str) -> Option<Pid> {
    text.parse::<i32>().ok().filter(|id| *id > 0).and_then(Pid::from_raw)
}

/// Returns the names of the threads of processes, each once. Threads of tests have the test's name, up to 15 characters.
fn threads(processes: &[Pid]) -> Vec<String> {
    let tasks = |pid: &Pid| PathBuf::from(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let folders = processes.iter().filter_map(|pid| fs::read_dir(tasks(pid)).ok()).flatten().flatten();
    let names = folders.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    let names: BTreeSet<String> = names.map(|name| format!("thread {}", name.trim_end())).collect();
    names.into_iter().collect()
}

/// Kills a program and all its descendants, each by its id.
fn end(child: &mut Child) -> Result<()> {
    for pid in family(child) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
    }
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_that_ends_by_itself_is_told_whole() {
        let until = Instant::now() + Duration::from_secs(60);
        let ran = run(&mut shell("echo one; echo two >&2; exit 3"), until).unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("one\n", "two\n"));
        assert_eq!((ran.status.and_then(|status| status.code()), ran.running.len()), (Some(3), 0));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_at_the_deadline() {
        let began = Instant::now();
        let ran = run(&mut shell("sleep 600"), began).unwrap();
        assert!(ran.status.is_none() && !ran.running.is_empty(), "{:?}", ran.running);
        assert!(began.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let began = Instant::now();
        let mut command = shell("sleep 600 & echo started; wait");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 8]).unwrap();
        assert_eq!(family(&child).len(), 2);
        end(&mut child).unwrap();
        // Both have the other end of the pipe.
        assert_eq!(stdout.read(&mut [0; 8]).unwrap(), 0);
        assert!(began.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn tests_that_have_not_ended_have_their_names() {
        let output = "\nrunning 5 tests\ntest a::quick ... ok\ntest b::stuck has been running for over 60 seconds\n\
                      test c::slow has been running for over 60 seconds\ntest c::slow ... FAILED\n\
                      test d::alone ... test d::alone has been running for over 60 seconds\n";
        assert_eq!(unfinished_tests(output), ["b::stuck", "d::alone"]);
        assert!(unfinished_tests("test result: ok. 5 passed; 0 failed; 0 ignored").is_empty());
    }
}
