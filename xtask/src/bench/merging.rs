//! Merge suggestions over generated contacts: time and memory on one core, and the growth of both.

use std::fs::File;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::project;

/// The contract's size, and others that show the growth.
const SIZES: [usize; 4] = [10_000, 20_000, 50_000, 100_000];
const ASKED: usize = 50_000;

struct Figure {
    contacts: usize,
    seconds: f64,
    mib: f64,
}

/// Three rows: time and memory at the contract's size, and the cost per contact with ten times as many.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--release", "-p", "merging", "--example", "merging"]);
    project::run(&mut cargo, "building the merge suggestions by themselves")?;
    let program = project::target().join("release/examples/merging");
    let folder = rig.folder("merging")?;
    let mut figures = Vec::new();
    for size in SIZES {
        let contacts = folder.join(format!("{size}.jsonl"));
        let mut make = project::command(&program.to_string_lossy());
        make.args(["make", &size.to_string()]).stdout(File::create(&contacts)?);
        project::run(&mut make, "making contacts")?;
        let mut runs = Vec::new();
        for _ in 0..3 {
            let mut run = project::command(&program.to_string_lossy());
            run.arg("run").stdin(File::open(&contacts)?);
            let found = figure(&project::output(&mut run, "suggesting merges")?)?;
            runs.push(Figure { contacts: size, ..found });
        }
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        figures.push(runs.swap_remove(1));
    }
    let at = |size: usize| figures.iter().find(|f| f.contacts == size).context("a size was not measured");
    let asked = at(ASKED)?;
    let shown: Vec<String> =
        figures.iter().map(|f| format!("{}: {:.2} s, {:.0} MiB", f.contacts, f.seconds, f.mib)).collect();
    let (least, most) = (at(SIZES[0])?, at(SIZES[SIZES.len() - 1])?);
    let per_contact = |f: &Figure| f.seconds / f.contacts as f64;
    let row = |what: &str, ours: String, figure: f64, unit: &str, most: f64| Row {
        what: what.to_owned(),
        ours,
        baseline: "–".to_owned(),
        figure,
        unit: unit.to_owned(),
        target: FigureTarget::AtMost(most),
    };
    Ok(vec![
        row(
            &format!("merge suggestions among {ASKED} contacts, read from JSON, one core"),
            format!("{:.2} s (median of 3)", asked.seconds),
            asked.seconds,
            " s",
            2.0,
        ),
        row(
            "the same: most memory of the process",
            format!("{:.0} MiB", asked.mib),
            asked.mib,
            " MiB",
            200.0,
        ),
        row(
            "the same: cost of a contact among ten times as many",
            shown.join("; "),
            per_contact(most) / per_contact(least),
            "×",
            2.0,
        ),
    ])
}

/// Returns the figures in the line that the program prints.
fn figure(printed: &str) -> Result<Figure> {
    let line =
        printed.lines().find_map(|line| line.strip_prefix("BENCH ")).context("no figure was printed")?;
    let value: Value = serde_json::from_str(line)?;
    let number = |name: &str| value[name].as_f64().with_context(|| format!("no {name} in {line}"));
    // Counts of contacts are exact far beyond these sizes.
    Ok(Figure {
        contacts: number("contacts")? as usize,
        seconds: number("seconds")?,
        mib: number("peakKib")? / 1024.0,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_figure_is_read_off_its_line() {
        let figure = super::figure("x\nBENCH {\"contacts\":10,\"seconds\":0.5,\"peakKib\":2048}\n").unwrap();
        assert_eq!((figure.contacts, figure.seconds, figure.mib), (10, 0.5, 2.0));
    }
}
