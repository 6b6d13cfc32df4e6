//! The first sync of a calendar, beside a bare client that makes the same calls.

use std::time::Instant;

use anyhow::Result;

use crate::bench::microsoft::MICROSOFT;
use crate::bench::microsoft::content::add_calendar;
use crate::bench::providers::bare_client::{BareClient, ProviderCall, recorded_so_far};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::{AWAY, MAX_RATIO};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

const EVENTS: usize = 5_000;

/// One row: two calendars of the same size, each read once by us and once by the bare client, in the order A B B A.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    add_calendar(&graph, 1, EVENTS)?;
    add_calendar(&graph, 2, EVENTS)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-event-sync", Quota::Off)?;
    let ours = [host.calendar("Calendar 1")?, host.calendar("Calendar 2")?];
    graph.move_away(AWAY)?;
    let mut bare = BareClient::connect(&graph)?;
    graph.clear()?;
    let our_first = host.time_collection_sync(&ours[0], EVENTS)?;
    let rounds = recorded_so_far(&graph)?;
    let their_first = repeat(&mut bare, &rounds)?;
    let their_second = repeat(&mut bare, &rounds)?;
    let our_second = host.time_collection_sync(&ours[1], EVENTS)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    let (ours, theirs) = ((our_first + our_second) / 2.0, (their_first + their_second) / 2.0);
    let calls: usize = rounds.iter().map(Vec::len).sum();
    Ok(vec![Row {
        what: format!("first sync of {EVENTS} events from Microsoft, {} ms away", AWAY.as_millis()),
        ours: format!("{ours:.2} s"),
        baseline: format!(
            "a bare client that makes the same {calls} calls in {} round trips and keeps nothing: {theirs:.2} s",
            rounds.len()
        ),
        figure: ours / theirs,
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    }])
}

/// The seconds in which the bare client makes calls again.
fn repeat(bare: &mut BareClient, rounds: &[Vec<ProviderCall>]) -> Result<f64> {
    let start = Instant::now();
    bare.run(rounds)?;
    Ok(start.elapsed().as_secs_f64())
}
