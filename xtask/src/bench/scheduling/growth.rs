//! The growth of a search's cost with the hosts of a pool and with the days of the range. The fixed cost of a request makes small
//! searches dearer per host and per day; large ones must not be dearer.

use std::fmt::Write as _;

use anyhow::Result;

use crate::bench::rig::Rig;
use crate::bench::scheduling::service::EventType;
use crate::bench::scheduling::slots::Sides;
use crate::bench::table::{FigureTarget, Row};

/// The highest cost of a host or a day of the largest search, as a multiple of one of the cheapest.
const AT_MOST: f64 = 1.5;

/// Two rows. `pools` ascend in size; the last one is searched in each of the ranges, the others in one of `days`.
pub fn run(
    rig: &Rig,
    sides: &Sides<'_>,
    pools: &[EventType],
    (ranges, days): (&[usize], usize),
) -> Result<Vec<Row>> {
    let mut by_hosts = Vec::new();
    for pool in pools {
        by_hosts.push((pool.hosts, sides.median(rig, pool, days)?));
    }
    let mut by_days = Vec::new();
    if let Some(largest) = pools.last() {
        for range in ranges {
            by_days.push((*range, sides.median(rig, largest, *range)?));
        }
    }
    Ok(vec![row("host", &by_hosts), row("day", &by_days)])
}

fn row(unit: &str, costs: &[(usize, (f64, usize))]) -> Row {
    let mut ours = String::new();
    for (size, (ms, slots)) in costs {
        let separator = if ours.is_empty() { "" } else { "; " };
        write!(ours, "{separator}{size}: {ms:.2} ms, {slots} slots")
            .expect("writing to a String cannot fail");
    }
    let most = costs.last().map_or(0, |(size, _)| *size);
    Row {
        what: format!(
            "search for slots: cost of a {unit} among {most}, beside the cheapest (half of the requests, 1 client)"
        ),
        ours,
        baseline: "–".to_owned(),
        figure: growth(costs),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(AT_MOST),
    }
}

/// Returns the unit cost of the largest, relative to the smallest unit cost.
fn growth(costs: &[(usize, (f64, usize))]) -> f64 {
    let each = |(size, (ms, _)): &(usize, (f64, usize))| ms / *size as f64;
    let cheapest = costs.iter().map(each).fold(f64::INFINITY, f64::min);
    costs.last().map_or(f64::NAN, each) / cheapest
}

#[cfg(test)]
mod tests {
    use super::growth;

    #[test]
    fn cost_that_grows_faster_than_its_cause_is_seen() {
        let costs = |all: [f64; 3]| [(5, (all[0], 1)), (10, (all[1], 1)), (50, (all[2], 1))];
        assert_eq!(growth(&costs([2.0, 3.0, 10.0])), 1.0, "less by the host");
        assert_eq!(growth(&costs([1.0, 2.0, 20.0])), 2.0);
        assert!(growth(&[]).is_nan());
    }
}
