//! A call of a connector in TypeScript beside the same call of the same connector in Rust. The components are built of the templates; the
//! calls are made by the tests named `languages` of `tests/conformance`, in a release build, which print a line `BENCH {…}` for each
//! language.

use std::process::Stdio;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::bench::templates::Templates;
use crate::project;

/// Programs that the build of the TypeScript template needs.
const NEEDED: [&str; 2] = ["node", "npm"];

/// The figures of the calls of one language.
struct LanguageFigures {
    language: String,
    tasks: u64,
    p50_ms: f64,
    p99_ms: f64,
    cpu_ms: f64,
    /// The highest linear memory of a call.
    peak_mib: f64,
    component_mib: f64,
}

impl LanguageFigures {
    fn time(&self) -> String {
        let LanguageFigures { p50_ms, p99_ms, cpu_ms, .. } = self;
        format!("p50 {p50_ms:.2} ms, p99 {p99_ms:.2} ms, {cpu_ms:.2} ms of processor time")
    }

    fn memory(&self) -> String {
        format!("{:.1} MiB, the component has {:.1} MiB", self.peak_mib, self.component_mib)
    }
}

/// Two rows: the time of a call, and the highest memory of one.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let templates = Templates::new(rig, "languages")?;
    templates.build("rust")?;
    let missing = NEEDED.into_iter().find(|program| !is_there(program));
    if missing.is_none() {
        templates.build("typescript")?;
    }
    let mut cargo = project::cargo();
    cargo.env("SWITCHBOARD_TEMPLATES", &templates.folder);
    cargo.args([
        "test",
        "--release",
        "-p",
        "switchboard-tests",
        "--test",
        "conformance",
        "--",
        "languages::",
    ]);
    cargo.args(["--nocapture", "--test-threads", "1"]);
    let printed = project::output(&mut cargo, "measuring calls in each language")?;
    rows(&figures(&printed)?, missing)
}

fn rows(figures: &[LanguageFigures], missing: Option<&str>) -> Result<Vec<Row>> {
    let of = |language: &str| figures.iter().find(|figures| figures.language == language);
    let rust = of("rust").context("the connector in Rust was not measured")?;
    let what =
        format!("call of a connector in TypeScript: a page of {} tasks, no way to the provider", rust.tasks);
    let row = |what: &str, (ours, rust): (String, String), figure: f64| Row {
        what: what.to_owned(),
        ours,
        baseline: format!("the same connector in Rust: {rust}"),
        figure,
        unit: "×".to_owned(),
        target: FigureTarget::None,
    };
    let memory = "the same: most linear memory of a call";
    if let Some(program) = missing {
        let ours = format!("not measured: {program} is missing");
        return Ok(vec![
            row(&what, (ours.clone(), rust.time()), f64::NAN),
            row(memory, (ours, rust.memory()), f64::NAN),
        ]);
    }
    let script = of("typescript").context("the connector in TypeScript was not measured")?;
    Ok(vec![
        row(&what, (script.time(), rust.time()), script.p50_ms / rust.p50_ms),
        row(memory, (script.memory(), rust.memory()), script.peak_mib / rust.peak_mib),
    ])
}

fn is_there(program: &str) -> bool {
    let mut command = project::command(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the figures in the lines that the test printed.
fn figures(printed: &str) -> Result<Vec<LanguageFigures>> {
    let lines = printed.lines().filter_map(|line| line.split_once("BENCH ")).map(|(_, json)| json);
    lines.map(figures_of).collect()
}

fn figures_of(line: &str) -> Result<LanguageFigures> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("not a figure: {line}"))?;
    let number = |name: &str| value[name].as_f64().with_context(|| format!("no {name} in {line}"));
    Ok(LanguageFigures {
        language: value["language"].as_str().with_context(|| format!("no language in {line}"))?.to_owned(),
        tasks: value["tasks"].as_u64().with_context(|| format!("no tasks in {line}"))?,
        p50_ms: number("p50Us")? / 1e3,
        p99_ms: number("p99Us")? / 1e3,
        cpu_ms: number("cpuUs")? / 1e3,
        peak_mib: number("peakMemory")? / f64::from(1 << 20),
        component_mib: number("componentBytes")? / f64::from(1 << 20),
    })
}

#[cfg(test)]
mod tests {
    use super::{figures, rows};

    const RUST: &str = r#"test languages::the_same_page ... BENCH {"language":"rust","tasks":100,"calls":9,"p50Us":500.0,"p99Us":900.0,"cpuUs":400,"peakMemory":2097152,"componentBytes":1048576}"#;

    #[test]
    fn languages_are_compared_with_rust() {
        let script = RUST.replace("\"rust\"", "\"typescript\"").replace("500.0", "2000.0");
        let both = figures(&format!("running 1 test\n{RUST}\n{script}\n")).unwrap();
        let rows = rows(&both, None).unwrap();
        assert_eq!((rows[0].figure, rows[1].figure), (4.0, 1.0));
        assert_eq!(rows[0].ours, "p50 2.00 ms, p99 0.90 ms, 0.40 ms of processor time");
        assert_eq!(rows[1].baseline, "the same connector in Rust: 2.0 MiB, the component has 1.0 MiB");
    }

    #[test]
    fn a_language_that_cannot_be_built_is_said_so() {
        let rows = rows(&figures(RUST).unwrap(), Some("node")).unwrap();
        assert_eq!(rows[0].ours, "not measured: node is missing");
        assert!(rows.iter().all(|row| !row.missed()));
    }
}
