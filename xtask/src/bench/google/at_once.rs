//! Simultaneous requests of one account, as Google sees them.

use anyhow::Result;

use crate::bench::google::content::{add_calendar, limit_mail, put_contacts_and_tasks, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::providers::at_once::{self, CALENDARS};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Messages of the mailbox, whose first sync runs at the same time.
const MESSAGES: usize = 2_000;
/// Events of each calendar, contacts and tasks.
const RECORDS: usize = 50;

/// One row: the maximum of simultaneous requests, with a first sync and many clients of all kinds of data.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, MESSAGES)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    for number in 0..CALENDARS {
        add_calendar(&google, number, RECORDS)?;
    }
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-at-once", Quota::Off)?;
    let row = at_once::run(&google, &host, "in%3Ainbox", rig.seconds)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}
