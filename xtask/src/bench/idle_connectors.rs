//! The cost of installed connectors that are not called: resident memory of the idle server, and time from the start of the process to
//! ready.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::bench::memory;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::bench::templates::Templates;

const INSTALLED: usize = 50;
/// Starts of each run; there are two runs of each side.
const STARTS: usize = 3;
/// Time between a server's readiness and the reading of its memory.
const SETTLED: Duration = Duration::from_secs(3);

/// The measurements of all starts on one data directory.
#[derive(Default)]
struct Idle {
    ready_ms: Vec<f64>,
    resident_mib: Vec<f64>,
}

impl Idle {
    /// Measures one run.
    fn measure(&mut self, rig: &Rig, data_dir: &Path) -> Result<()> {
        for start in 1..=STARTS {
            let server = rig.server(data_dir, &[])?;
            self.ready_ms.push(server.ready_after.as_secs_f64() * 1000.0);
            if start == STARTS {
                sleep(SETTLED);
                self.resident_mib.push(memory::resident_mib(server.pid())?);
            }
            server.stop()?;
        }
        Ok(())
    }
}

/// Two rows, each the difference per connector between a server with 50 installed connectors and one with none.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let templates = Templates::new(rig, "idle-connectors")?;
    let connector = templates.build("rust")?;
    let bytes = fs::metadata(connector.join("paper-rust.wasm")).context("there is no component")?.len();
    let (none, many) = (rig.folder("idle-none")?, rig.folder("idle-many")?);
    templates.install_copies(&connector, INSTALLED, &many)?;
    // The first start compiles the bundle; the installed ones are compiled already.
    rig.server(&none, &[])?.stop()?;
    rig.server(&many, &[])?.stop()?;
    ensure_in_service(&many)?;
    let (mut without, mut with) = (Idle::default(), Idle::default());
    for has_installed in [false, true, true, false] {
        match has_installed {
            false => without.measure(rig, &none)?,
            true => with.measure(rig, &many)?,
        }
    }
    let row = |what: &str, unit: &str, (without, with): (f64, f64)| Row {
        what: format!("{what} per installed connector (Rust, a component of {} KiB)", bytes.div_ceil(1024)),
        ours: format!("{INSTALLED} installed: {with:.1}{unit}"),
        baseline: format!("none installed, the bundle alone: {without:.1}{unit}"),
        figure: (with - without) / INSTALLED as f64,
        unit: unit.to_owned(),
        target: FigureTarget::None,
    };
    Ok(vec![
        row("resident memory, idle,", " MiB", (median(without.resident_mib), median(with.resident_mib))),
        row("start to ready, all compiled,", " ms", (median(without.ready_ms), median(with.ready_ms))),
    ])
}

/// Fails if a connector is not in service: one that cannot be loaded does not stop the server, and would cost nothing.
fn ensure_in_service(data_dir: &Path) -> Result<()> {
    let log = fs::read_to_string(data_dir.join("server.log")).context("cannot read server.log")?;
    let loaded = log.lines().filter(|line| line.contains("connector in service") && line.contains("copy-"));
    let loaded = loaded.count();
    ensure!(loaded == INSTALLED, "{loaded} of {INSTALLED} installed connectors are in service");
    Ok(())
}

/// Returns the median; of an even number of values the mean of the two middle ones.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    (at(low) + at(high)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }
}
