//! The Microsoft connector, with the fake of `tests/fakes` as Entra and Graph, 80 ms away. Baselines are a bare client that makes the same
//! calls in the same run.

pub mod calls;
mod content;
pub mod event_sync;
pub mod send;
pub mod throttled;

use anyhow::Result;

use crate::bench::microsoft::content::{add_calendar, add_folders, put_contacts_and_tasks, put_messages};
use crate::bench::providers::at_once::CALENDARS;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::mail_sync::MailSyncCase;
use crate::bench::providers::{self, ProviderProfile};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// A search for messages in Graph's language, percent-encoded: every message of these cases is unread.
const UNREAD: &str = "isread%3Afalse";

static MICROSOFT: ProviderProfile = ProviderProfile {
    connector: "microsoft",
    title: "Microsoft",
    program: "fake-graph",
    accounts: "accounts",
    scopes: &[
        "Calendars.ReadWrite",
        "Mail.ReadWrite",
        "Contacts.ReadWrite",
        "Tasks.ReadWrite",
        "MailboxSettings.Read",
        "User.Read",
    ],
    endpoints: &[
        ["--authorize-url", "/common/oauth2/v2.0/authorize"],
        ["--token-url", "/common/oauth2/v2.0/token"],
        ["--userinfo-url", "/v1.0/me?$select=id,mail,userPrincipalName,displayName"],
    ],
    origins: &[&["https://graph.microsoft.com"], &["https://outlook.office.com"]],
    rates: &["mailbox"],
};

/// The first sync of a mailbox with many folders, without a quota. Two rows: the seconds until all messages are synced, and until the first
/// ones are.
pub fn mail_sync(rig: &Rig) -> Result<Vec<Row>> {
    const FOLDERS: usize = 20;
    const CASE: MailSyncCase =
        MailSyncCase { messages: 10_000, mailbox: "20 folders at Microsoft without a quota", max_s: 40.0 };
    let graph = ProviderFake::start(&MICROSOFT)?;
    let folders = add_folders(&graph, FOLDERS)?;
    put_messages(&graph, CASE.messages, &folders)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-mail-sync", Quota::Off)?;
    let rows = providers::mail_sync::run(&graph, &host, &CASE)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}

/// Reads that ask Graph for changes when there are none. Mail has a delta for each folder, and a batch takes twenty of them. One row for
/// each kind of data: the round trips of a read; and one with the requests for a mailbox of 200 folders.
pub fn nothing_new(rig: &Rig) -> Result<Vec<Row>> {
    /// Messages, events, contacts and tasks of the account.
    const RECORDS: usize = 100;
    /// Folders besides the eight that every mailbox has. With the folders themselves and the categories they are 200 parts.
    const FOLDERS: usize = 190;
    /// The maximum requests for the changes of the mailbox: batches of twenty parts.
    const MAX_BATCHES: f64 = 10.0;
    let graph = ProviderFake::start(&MICROSOFT)?;
    put_messages(&graph, RECORDS, &[])?;
    put_contacts_and_tasks(&graph, RECORDS)?;
    add_calendar(&graph, 1, RECORDS)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-nothing-new", Quota::Off)?;
    let mut rows = providers::nothing_new::run(&graph, &host, "Calendar 1")?;
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

/// Simultaneous requests of one account, as Graph sees them: it refuses a fifth one. One row: their maximum, with a first sync and many
/// clients of all kinds of data.
pub fn at_once(rig: &Rig) -> Result<Vec<Row>> {
    /// Messages of the mailbox, whose first sync runs at the same time, and the folders in which they are.
    const MESSAGES: usize = 2_000;
    const FOLDERS: usize = 5;
    /// Events of each calendar, contacts and tasks.
    const RECORDS: usize = 50;
    let graph = ProviderFake::start(&MICROSOFT)?;
    let folders = add_folders(&graph, FOLDERS)?;
    put_messages(&graph, MESSAGES, &folders)?;
    put_contacts_and_tasks(&graph, RECORDS)?;
    for number in 0..CALENDARS {
        add_calendar(&graph, number, RECORDS)?;
    }
    let host = ProviderHost::start(rig, &graph, "microsoft-at-once", Quota::Off)?;
    let row = providers::at_once::run(&graph, &host, UNREAD, rig.seconds)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![row])
}

/// The size of the connector's component. One row.
pub fn size(_rig: &Rig) -> Result<Vec<Row>> {
    Ok(vec![providers::size::run(&MICROSOFT)?])
}
