//! The first sync of a mailbox with many folders, without a quota.

use anyhow::Result;

use crate::bench::microsoft::MICROSOFT;
use crate::bench::microsoft::content::{add_folders, put_messages};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::mail_sync::{self, MailSyncCase};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

const FOLDERS: usize = 20;
const CASE: MailSyncCase =
    MailSyncCase { messages: 10_000, mailbox: "20 folders at Microsoft without a quota", max_s: 40.0 };

/// Two rows: the seconds until all messages are synced, and until the first ones are.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    let folders = add_folders(&graph, FOLDERS)?;
    put_messages(&graph, CASE.messages, &folders)?;
    let host = ProviderHost::start(rig, &graph, "microsoft-mail-sync", Quota::Off)?;
    let rows = mail_sync::run(&graph, &host, &CASE)?;
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
