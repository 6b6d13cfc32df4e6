//! Simultaneous requests of one account, as Graph sees them: it refuses a fifth one.

use anyhow::Result;

use crate::bench::microsoft::content::{add_calendar, add_folders, put_contacts_and_tasks, put_messages};
use crate::bench::microsoft::{MICROSOFT, UNREAD};
use crate::bench::providers::at_once::{self, CALENDARS};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Messages of the mailbox, whose first sync runs at the same time, and the folders in which they are.
const MESSAGES: usize = 2_000;
const FOLDERS: usize = 5;
/// Events of each calendar, contacts and tasks.
const RECORDS: usize = 50;

/// One row: the maximum of simultaneous requests, with a first sync and many clients of all kinds of data.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    let folders = add_folders(&graph, FOLDERS)?;
    put_messages(&graph, MESSAGES, &folders)?;
    put_contacts_and_tasks(&graph, RECORDS)?;
    for number in 0..CALENDARS {
        add_calendar(&graph, number, RECORDS)?;
    }
    let host = ProviderHost::start(rig, &graph, "microsoft-at-once", Quota::Off)?;
    let row = at_once::run(&graph, &host, UNREAD, rig.seconds)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}
