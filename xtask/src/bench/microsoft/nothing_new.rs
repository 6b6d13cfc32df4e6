//! Reads that ask Graph for changes when there are none. Mail has a delta for each folder, and a batch takes twenty of them.

use anyhow::Result;

use crate::bench::microsoft::MICROSOFT;
use crate::bench::microsoft::content::{add_calendar, add_folders, put_contacts_and_tasks, put_messages};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::nothing_new;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// Messages, events, contacts and tasks of the account.
const RECORDS: usize = 100;
/// Folders besides the eight that every mailbox has. With the folders themselves and the categories they are 200 parts.
const FOLDERS: usize = 190;
/// The maximum requests for the changes of the mailbox: batches of twenty parts.
const MAX_BATCHES: f64 = 10.0;

/// One row for each kind of data: the round trips of a read; and one with the requests for a mailbox of 200 folders.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    put_messages(&graph, RECORDS, &[])?;
    put_contacts_and_tasks(&graph, RECORDS)?;
    add_calendar(&graph, 1, RECORDS)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-nothing-new", Quota::Off)?;
    let mut rows = nothing_new::run(&graph, &host, "Calendar 1")?;
    add_folders(&graph, FOLDERS)?;
    let path = format!("/v1/email/messages?connection_id={}&limit=50", host.connection);
    // The new folders are read first.
    host.fresh(&path)?;
    let count = host.fewest_requests(&graph, &path)?;
    rows.push(Row {
        what: format!("messages in {FOLDERS} more folders at Microsoft with nothing new: requests"),
        ours: format!("{} in {} round trips", count.requests, count.round_trips),
        baseline: "–".to_owned(),
        figure: count.requests as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(MAX_BATCHES),
    });
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
