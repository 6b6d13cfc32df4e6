//! Reads that ask a provider for changes when there are none.

use anyhow::Result;

use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, await_caught_up};
use crate::bench::providers::{AWAY, SYNC_LIMIT};
use crate::bench::table::{FigureTarget, Row};

/// Follows everything of the account, and counts the round trips of a read of each kind of data: a row for each. `calendar`: the name of
/// the calendar that is read.
pub fn run(fake: &ProviderFake, host: &ProviderHost, calendar: &str) -> Result<Vec<Row>> {
    let calendar = format!("/v1/calendars/{}", host.calendar(calendar)?);
    let tasks = host.task_list()?;
    for surface in ["email", "contacts"] {
        host.start_sync(surface)?;
        await_caught_up(SYNC_LIMIT, || host.state(surface))?;
    }
    for path in [&calendar, &tasks] {
        host.start_collection_sync(path)?;
        let status = format!("{path}/sync/status");
        await_caught_up(SYNC_LIMIT, || host.client.get(&status))?;
    }
    fake.move_away(AWAY)?;
    let connection = &host.connection;
    let reads = [
        ("messages", format!("/v1/email/messages?connection_id={connection}&limit=50")),
        ("events of a calendar", format!("{calendar}/events?limit=50")),
        ("contacts", format!("/v1/contacts?connection_id={connection}&limit=50")),
        ("tasks of a list", format!("{tasks}/tasks?limit=50")),
    ];
    reads.iter().map(|(what, path)| count(fake, host, what, path)).collect()
}

fn count(fake: &ProviderFake, host: &ProviderHost, what: &str, path: &str) -> Result<Row> {
    let count = host.fewest_requests(fake, path)?;
    Ok(Row {
        what: format!("{what} at {} with nothing new: round trips", fake.profile.title),
        ours: format!("{} with {} requests", count.round_trips, count.requests),
        baseline: "–".to_owned(),
        figure: count.round_trips as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(1.0),
    })
}
