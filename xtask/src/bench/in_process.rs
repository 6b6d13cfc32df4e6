//! Measurements inside the host's process: the cost of a connector call. The measuring is done by the tests named `speed` of
//! `tests/conformance`, in a release build; each figure is a line `BENCH {…}` of their output.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::project;

/// The rows that the tests printed.
pub fn run(_rig: &Rig) -> Result<Vec<Row>> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--profile", "connector", "-p", "connector-dav", "--example", "mapping"]);
    project::run(&mut cargo, "building the native side of the mapping")?;
    let mut cargo = project::cargo();
    cargo.env("SWITCHBOARD_NATIVE_MAPPING", project::target().join("connector/examples/mapping"));
    cargo.args(["test", "--release", "-p", "switchboard-tests", "--test", "conformance", "--", "speed::"]);
    cargo.args(["--nocapture", "--test-threads", "1"]);
    let printed = project::output(&mut cargo, "measuring connector calls")?;
    let lines = printed.lines().filter_map(|line| line.split_once("BENCH ")).map(|(_, json)| json);
    let rows = lines.map(row).collect::<Result<Vec<Row>>>()?;
    ensure!(!rows.is_empty(), "the tests printed no figures");
    Ok(rows)
}

/// `{"what", "ours", "baseline", "figure", "unit", "atMost" or "atLeast"}`.
fn row(line: &str) -> Result<Row> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("not a figure: {line}"))?;
    let text = |name: &str| value[name].as_str().unwrap_or("–").to_owned();
    let target = match (value["atLeast"].as_f64(), value["atMost"].as_f64()) {
        (Some(least), _) => FigureTarget::AtLeast(least),
        (None, Some(most)) => FigureTarget::AtMost(most),
        (None, None) => FigureTarget::None,
    };
    let figure = value["figure"].as_f64().context("a figure must be a number")?;
    let (what, ours, baseline) = (text("what"), text("ours"), text("baseline"));
    Ok(Row { what, ours, baseline, figure, unit: text("unit"), target })
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_printed_figure_is_held_against_its_target() {
        let line = r#"{"what":"no-op call","ours":"30 µs","baseline":"wasmtime: 20 µs","figure":1.5,"unit":"×","atMost":3.0}"#;
        let read = row(line).unwrap();
        assert_eq!((read.what.as_str(), read.missed()), ("no-op call", false));
        assert!(row(&line.replace("1.5", "3.5")).unwrap().missed());
    }
}
