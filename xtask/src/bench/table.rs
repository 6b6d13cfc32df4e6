//! The table of results: one row per comparison, with its target.

use std::fmt::Write as _;

/// The target of a figure.
#[derive(Clone, Copy)]
pub enum FigureTarget {
    AtLeast(f64),
    AtMost(f64),
    /// For information.
    None,
}

/// One line of the table.
pub struct Row {
    pub what: String,
    pub ours: String,
    pub baseline: String,
    /// The ratio of ours to the baseline, or the bare figure if there is no baseline.
    pub figure: f64,
    /// The unit behind the figure: `×`, ` ms`, ` MiB`.
    pub unit: String,
    pub target: FigureTarget,
}

impl Row {
    /// Returns whether the figure misses its target.
    pub fn missed(&self) -> bool {
        match self.target {
            // NaN never meets a target.
            FigureTarget::AtLeast(least) => self.figure < least || self.figure.is_nan(),
            FigureTarget::AtMost(most) => self.figure > most || self.figure.is_nan(),
            FigureTarget::None => false,
        }
    }

    fn verdict(&self) -> String {
        let word = if self.missed() { "missed" } else { "met" };
        match self.target {
            FigureTarget::AtLeast(least) => format!("≥ {least}{}: {word}", self.unit),
            FigureTarget::AtMost(most) => format!("≤ {most}{}: {word}", self.unit),
            FigureTarget::None => "–".to_owned(),
        }
    }
}

/// The rows as Markdown, under a line that names the machine.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!("# Benchmarks\n\n`cargo xtask bench` on {}.\n\n", machine());
    text += "| What | Ours | Baseline | Figure | Target |\n|---|---|---|---|---|\n";
    for row in rows {
        let figure = format!("{:.2}{}", row.figure, row.unit);
        writeln!(text, "| {} | {} | {} | {figure} | {} |", row.what, row.ours, row.baseline, row.verdict())
            .expect("writing to a String cannot fail");
    }
    text
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches(['\t', ' ', ':']);
    format!("{cores} cores of {}", if model.is_empty() { std::env::consts::ARCH } else { model })
}
