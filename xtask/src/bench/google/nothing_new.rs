//! Reads that ask Google for changes when there are none.

use anyhow::Result;

use crate::bench::google::content::{add_calendar, limit_mail, put_contacts_and_tasks, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::nothing_new;
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Messages, events, contacts and tasks of the account.
const RECORDS: usize = 100;

/// One row for each kind of data: the round trips of a read.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, RECORDS)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    add_calendar(&google, 1, RECORDS)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-nothing-new", Quota::Off)?;
    let rows = nothing_new::run(&google, &host, "Calendar 1")?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
