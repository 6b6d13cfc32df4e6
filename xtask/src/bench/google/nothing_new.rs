//! Reads that ask Google for changes when there are none.

use std::time::Duration;

use anyhow::Result;

use crate::bench::google::content::{add_calendar, put_contacts_and_tasks, put_messages};
use crate::bench::google::fake::FakeGoogle;
use crate::bench::google::host::{GoogleHost, Quota, await_caught_up};
use crate::bench::google::{AWAY, NO_LIMIT};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// Messages, events, contacts and tasks of the account.
const RECORDS: usize = 100;
const SYNC_LIMIT: Duration = Duration::from_secs(120);

/// One row for each kind of data: the round trips of a read.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = FakeGoogle::start()?;
    put_messages(&google, RECORDS)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    add_calendar(&google, 1, RECORDS)?;
    google.limit_mail(NO_LIMIT)?;
    let host = GoogleHost::start(rig, &google, "google-nothing-new", Quota::Off)?;
    let calendar = format!("/v1/calendars/{}", host.calendar("Calendar 1")?);
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
    google.move_away(AWAY)?;
    let connection = &host.connection;
    let reads = [
        ("messages", format!("/v1/email/messages?connection_id={connection}&limit=50")),
        ("events of a calendar", format!("{calendar}/events?limit=50")),
        ("contacts", format!("/v1/contacts?connection_id={connection}&limit=50")),
        ("tasks of a list", format!("{tasks}/tasks?limit=50")),
    ];
    let mut rows = Vec::new();
    for (what, path) in &reads {
        rows.push(row(&google, &host, what, path)?);
    }
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}

fn row(google: &FakeGoogle, host: &GoogleHost, what: &str, path: &str) -> Result<Row> {
    let count = host.fewest_requests(google, path)?;
    Ok(Row {
        what: format!("{what} at Google with nothing new: round trips"),
        ours: format!("{} with {} requests", count.round_trips, count.requests),
        baseline: "–".to_owned(),
        figure: count.round_trips as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(1.0),
    })
}
