//! Parsing of messages and cleaning of their HTML, against the underlying parser alone.

use std::fs;

use anyhow::{Context, Result};

use crate::bench::mail::messages;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::project;

const MESSAGES: usize = 1_000;

/// One row, in a process without other work.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--release", "-p", "mail", "--example", "reading"]);
    project::run(&mut cargo, "building the reading of mail by itself")?;
    let folder = rig.folder("mail-parsing")?;
    for number in 0..MESSAGES {
        fs::write(folder.join(format!("{number}.eml")), messages::message(number))?;
    }
    let mut files = 0;
    for entry in fs::read_dir(project::root().join("sdk/mail/corpus"))? {
        let path = entry?.path();
        let name = path.file_name().context("a file has a name")?;
        fs::copy(&path, folder.join(name))?;
        files += 1;
    }
    let program = project::target().join("release/examples/reading");
    let mut command = project::command(&program.to_string_lossy());
    let printed = project::output(command.arg(&folder), "reading mail")?;
    let figures: Vec<f64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [ours, alone, bytes] = figures[..] else { anyhow::bail!("three figures are printed: {printed}") };
    let rate = |seconds: f64| format!("{:.0} MiB/s", bytes / seconds / 1048576.0);
    Ok(vec![Row {
        what: format!("reading {} messages and cleaning their HTML, one core", MESSAGES + files),
        ours: rate(ours),
        baseline: format!("mail-parser alone, which cleans nothing: {}", rate(alone)),
        figure: alone / ours,
        unit: "×".to_owned(),
        target: FigureTarget::AtLeast(0.5),
    }])
}
