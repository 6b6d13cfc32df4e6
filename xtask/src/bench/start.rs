//! The time from the start of the process to ready with the connectors' code cached, and the memory of the idle server.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use crate::bench::memory;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

const STARTS: usize = 7;

/// Two rows: the median of the starts, and the resident set of the last one.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let folder = rig.folder("start")?;
    let first = rig.server(&folder, &[])?;
    let cold = first.ready_after;
    first.stop()?;
    let mut times = Vec::new();
    let mut memory = 0.0;
    for _ in 0..STARTS {
        let server = rig.server(&folder, &[])?;
        times.push(server.ready_after.as_secs_f64() * 1000.0);
        if times.len() == STARTS {
            sleep(Duration::from_secs(3));
            memory = memory::resident_mib(server.pid())?;
        }
        server.stop()?;
    }
    times.sort_by(f64::total_cmp);
    let (median, slowest) = (times[STARTS / 2], times[STARTS - 1]);
    Ok(vec![
        Row {
            what: format!("start to ready, connectors cached (median of {STARTS})"),
            ours: format!("{median:.0} ms, slowest {slowest:.0} ms"),
            baseline: format!("first start, compiling: {} ms", cold.as_millis()),
            figure: median,
            unit: " ms".to_owned(),
            target: FigureTarget::AtMost(500.0),
        },
        Row {
            what: "resident memory, idle".to_owned(),
            ours: format!("{memory:.1} MiB"),
            baseline: "–".to_owned(),
            figure: memory,
            unit: " MiB".to_owned(),
            target: FigureTarget::AtMost(80.0),
        },
    ])
}
