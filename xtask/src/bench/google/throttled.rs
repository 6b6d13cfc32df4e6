//! Calendars, contacts and tasks of an account whose mailbox Gmail throttles.

use anyhow::Result;

use crate::bench::google::content::{add_calendar, limit_mail, put_contacts_and_tasks, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::providers;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::throttled::ThrottledCase;
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Messages, events of the calendar, contacts and tasks of the account.
const RECORDS: usize = 100;
/// Units a minute of a throttled mailbox: enough for a list, but not for a page of messages.
const FEW_UNITS: u32 = 100;

/// One row, see `providers::throttled`.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, RECORDS)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    add_calendar(&google, 1, RECORDS)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-throttled", Quota::Off)?;
    let case = ThrottledCase {
        fake: &google,
        host: &host,
        calendar: "Calendar 1",
        queries: &["in%3Ainbox", "in%3Aanywhere"],
        throttle: |google| limit_mail(google, FEW_UNITS),
    };
    let row = providers::throttled::run(&case, rig.seconds)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}
