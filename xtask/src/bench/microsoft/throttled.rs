//! Calendars, contacts and tasks of an account whose mail Graph throttles.

use anyhow::Result;

use crate::bench::microsoft::content::{add_calendar, limit_calls, put_contacts_and_tasks, put_messages};
use crate::bench::microsoft::{MICROSOFT, UNREAD};
use crate::bench::providers;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::throttled::ThrottledCase;
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Messages, events of the calendar, contacts and tasks of the account.
const RECORDS: usize = 100;
/// Calls a minute for throttled mail.
const FEW_CALLS: u32 = 10;

/// One row, see `providers::throttled`.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    put_messages(&graph, RECORDS, &[])?;
    put_contacts_and_tasks(&graph, RECORDS)?;
    add_calendar(&graph, 1, RECORDS)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-throttled", Quota::Off)?;
    let case = ThrottledCase {
        fake: &graph,
        host: &host,
        calendar: "Calendar 1",
        queries: &[UNREAD],
        throttle: |graph| limit_calls(graph, "mail", FEW_CALLS),
    };
    let row = providers::throttled::run(&case, rig.seconds)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}
