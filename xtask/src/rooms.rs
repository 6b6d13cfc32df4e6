//! `cargo xtask rooms`: figures of the code's structure and names, for the working tree and for an older revision beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project;

/// The test of tests/tidy that prints the figures.
const TEST: &str = "the_figures_are_printed";

#[derive(clap::Args)]
pub struct RoomsArguments {
    /// A revision to compare the working tree with: a commit, a branch or a tag.
    revision: Option<String>,
}

/// Prints the figures in a table, with a second column for the revision.
pub fn run(arguments: &RoomsArguments) -> Result<()> {
    let folder = project::target().join("rooms");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let program = build(&folder)?;
    let now = figures(&program, &project::root())?;
    let then = match &arguments.revision {
        Some(revision) => Some(figures(&program, &unpack(&folder, revision)?)?),
        None => None,
    };
    print!("{}", table(&now, then.as_deref()));
    Ok(())
}

/// Builds tests/tidy. It needs no crates, so `rustc` alone is faster than cargo, which would build the whole workspace first.
fn build(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("tidy");
    let mut rustc = project::command(&std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    rustc.args(["--edition", "2024", "--test", "tests/tidy/main.rs", "-o"]).arg(&program);
    // The variable that cargo sets for a test of `tests`: the rules find the project by it.
    rustc.env("CARGO_MANIFEST_DIR", project::root().join("tests"));
    project::run(&mut rustc, "rustc")?;
    Ok(program)
}

/// Unpacks a revision into a folder with the name of its commit, unless it exists.
fn unpack(folder: &Path, revision: &str) -> Result<PathBuf> {
    let mut parse = project::command("git");
    parse.args(["rev-parse", "--verify", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
    let commit = project::output(&mut parse, "git rev-parse")?.trim().to_owned();
    let unpacked = folder.join(&commit);
    if unpacked.exists() {
        return Ok(unpacked);
    }
    let (archive, partial) = (folder.join("archive.tar"), folder.join("partial"));
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir(&partial)?;
    let mut git = project::command("git");
    git.args(["archive", "--format", "tar", "--output"]).arg(&archive).arg(&commit);
    project::run(&mut git, "git archive")?;
    let mut tar = project::command("tar");
    tar.arg("-xf").arg(&archive).arg("-C").arg(&partial);
    project::run(&mut tar, "tar")?;
    fs::remove_file(&archive)?;
    fs::rename(&partial, &unpacked)?;
    Ok(unpacked)
}

/// Returns the figures of the project in this folder, in order.
fn figures(program: &Path, folder: &Path) -> Result<Vec<(String, usize)>> {
    let mut tidy = Command::new(program);
    tidy.args(["--exact", TEST, "--ignored", "--nocapture"]).env("SWITCHBOARD_ROOMS", folder);
    let figures = parse(&project::output(&mut tidy, "tests/tidy")?);
    if figures.is_empty() {
        bail!("tests/tidy has no test {TEST} that prints figures");
    }
    Ok(figures)
}

/// Returns the lines with a label, a tab and a number; the rest is the test's own output.
fn parse(output: &str) -> Vec<(String, usize)> {
    let rows = output.lines().filter_map(|line| line.split_once('\t'));
    rows.filter_map(|(label, figure)| Some((label.to_owned(), figure.parse().ok()?))).collect()
}

fn table(now: &[(String, usize)], then: Option<&[(String, usize)]>) -> String {
    let width = now.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    let heading = if then.is_some() { "     then" } else { "" };
    let mut table = format!("{:width$}      now{heading}\n", "");
    let then: Option<BTreeMap<&str, usize>> =
        then.map(|rows| rows.iter().map(|(label, figure)| (label.as_str(), *figure)).collect());
    for (label, figure) in now {
        let older = then.as_ref().and_then(|then| then.get(label.as_str()));
        let older = older.map(|figure| format!("{figure:>9}")).unwrap_or_default();
        table.push_str(&format!("{label:width$}{figure:>9}{older}\n"));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{parse, table};

    #[test]
    fn figures_are_lines_with_a_tab() {
        let output = "\nrunning 1 test\ntest x ... \nmodules\t19\nlines of Rust\t265143\nok\n\ntest result: ok. 1 passed\n";
        let now = parse(output);
        assert_eq!(now, [("modules".to_owned(), 19), ("lines of Rust".to_owned(), 265_143)]);
        assert_eq!(
            table(&now, None),
            "                   now\nmodules             19\nlines of Rust   265143\n"
        );
        let then = [("modules".to_owned(), 36)];
        assert_eq!(
            table(&now, Some(&then)),
            "                   now     then\nmodules             19       36\nlines of Rust   265143\n"
        );
    }
}
