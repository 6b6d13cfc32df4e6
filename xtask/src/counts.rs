//! Counts of tests, read from what their programs print.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

/// The numbers of tests that passed, failed and were ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// The counts in a line such as `test result: ok. 12 passed; 0 failed; 1 ignored; …`; zeros for any other line.
    fn from_line(line: &str) -> Counts {
        let counts = line.strip_prefix("test result: ").unwrap_or_default();
        let [passed, failed, ignored] =
            [" passed", " failed", " ignored"].map(|word| number_before(counts, word));
        Counts { passed, failed, ignored }
    }

    /// The sum of the results in the output of programs of tests.
    pub fn from_output(output: &str) -> Counts {
        let mut total = Counts::default();
        output.lines().for_each(|line| total.add(Counts::from_line(line)));
        total
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, more: Counts) {
        self.passed += more.passed;
        self.failed += more.failed;
        self.ignored += more.ignored;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

/// Runs a command that runs tests, and shows its output as it comes. Returns the sum of its results, and how it ended.
pub fn run_counted(command: &mut Command) -> Result<(Counts, ExitStatus)> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let stdout = child.stdout.take().expect("standard output is piped");
    let mut total = Counts::default();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        total.add(Counts::from_line(&line));
        println!("{line}");
    }
    Ok((total, child.wait()?))
}

/// The number before `word` in a line such as `ok. 12 passed; 0 failed; 1 ignored; …`.
fn number_before(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn totals_are_read_from_result_lines() {
        let line =
            "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 7 filtered out; finished in 0.01s";
        assert_eq!(Counts::from_line(line), Counts { passed: 12, failed: 0, ignored: 3 });
        assert_eq!(Counts::from_line("running 12 passed"), Counts::default());
        let twice = format!("running 12 tests\n{line}\n\n{line}\n");
        assert_eq!(Counts::from_output(&twice), Counts { passed: 24, failed: 0, ignored: 6 });
    }
}
