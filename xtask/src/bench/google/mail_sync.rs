//! The first sync of a mailbox without a quota.

use anyhow::Result;

use crate::bench::google::content::{limit_mail, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::mail_sync::{self, MailSyncCase};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

const CASE: MailSyncCase = MailSyncCase { messages: 10_000, mailbox: "Gmail without a quota", max_s: 90.0 };

/// Two rows: the seconds until all messages are synced, and until the first ones are.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, CASE.messages)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-mail-sync", Quota::Off)?;
    let rows = mail_sync::run(&google, &host, &CASE)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
