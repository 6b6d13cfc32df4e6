//! The Google connector, with the fake of `tests/fakes` as Google, 80 ms away. Baselines are a bare client that makes the same calls in
//! the same run, or figures that Google's limits allow.

pub mod calls;
mod content;
pub mod event_sync;
pub mod mail_quota;
pub mod throttled;

use anyhow::Result;

use crate::bench::google::content::{add_calendar, limit_mail, put_contacts_and_tasks, put_messages};
use crate::bench::providers::at_once::CALENDARS;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::mail_sync::MailSyncCase;
use crate::bench::providers::{self, ProviderProfile};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// Units a minute of a mailbox without a quota.
const NO_LIMIT: u32 = u32::MAX;

static GOOGLE: ProviderProfile = ProviderProfile {
    connector: "google",
    title: "Google",
    program: "fake-google",
    accounts: "users",
    scopes: &[
        "https://www.googleapis.com/auth/calendar",
        "https://www.googleapis.com/auth/gmail.modify",
        "https://www.googleapis.com/auth/contacts",
        "https://www.googleapis.com/auth/contacts.other.readonly",
        "https://www.googleapis.com/auth/tasks",
    ],
    endpoints: &[
        ["--authorize-url", "/o/oauth2/v2/auth"],
        ["--token-url", "/token"],
        ["--userinfo-url", "/v1/userinfo"],
        ["--revoke-url", "/revoke"],
    ],
    origins: &[&[
        "https://www.googleapis.com",
        "https://openidconnect.googleapis.com",
        "https://gmail.googleapis.com",
        "https://people.googleapis.com",
        "https://tasks.googleapis.com",
    ]],
    rates: &["gmail", "calendar", "people", "tasks"],
};

/// The first sync of a mailbox without a quota. Two rows: the seconds until all messages are synced, and until the first ones are.
pub fn mail_sync(rig: &Rig) -> Result<Vec<Row>> {
    const CASE: MailSyncCase =
        MailSyncCase { messages: 10_000, mailbox: "Gmail without a quota", max_s: 90.0 };
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, CASE.messages)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-mail-sync", Quota::Off)?;
    let rows = providers::mail_sync::run(&google, &host, &CASE)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}

/// Reads that ask Google for changes when there are none. One row for each kind of data: the round trips of a read.
pub fn nothing_new(rig: &Rig) -> Result<Vec<Row>> {
    /// Messages, events, contacts and tasks of the account.
    const RECORDS: usize = 100;
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, RECORDS)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    add_calendar(&google, 1, RECORDS)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-nothing-new", Quota::Off)?;
    let rows = providers::nothing_new::run(&google, &host, "Calendar 1")?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}

/// Simultaneous requests of one account, as Google sees them. One row: their maximum, with a first sync and many clients of all kinds of
/// data.
pub fn at_once(rig: &Rig) -> Result<Vec<Row>> {
    /// Messages of the mailbox, whose first sync runs at the same time.
    const MESSAGES: usize = 2_000;
    /// Events of each calendar, contacts and tasks.
    const RECORDS: usize = 50;
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, MESSAGES)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    for number in 0..CALENDARS {
        add_calendar(&google, number, RECORDS)?;
    }
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-at-once", Quota::Off)?;
    let row = providers::at_once::run(&google, &host, "in%3Ainbox", rig.seconds)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}

/// The size of the connector's component. One row.
pub fn size(_rig: &Rig) -> Result<Vec<Row>> {
    Ok(vec![providers::size::run(&GOOGLE)?])
}
