//! Mail, by IMAP and by JMAP: requests that go to the provider, first syncs, large attachments; and the parsing of messages alone.

mod attachment;
mod first_sync;
mod imap;
mod mbsync;
pub mod messages;
mod native;
pub mod parsing;
mod provider;
mod requests;
mod tap;

use anyhow::Result;

use crate::bench::mail::mbsync::Mbsync;
use crate::bench::mail::provider::{Account, PEERS, Protocol, accounts};
use crate::bench::mail::tap::Tap;
use crate::bench::rig::Rig;
use crate::bench::table::Row;
use crate::peers::Peers;
use crate::project;

const MESSAGES: usize = 20_000;

/// Fails if a program is missing that the bench neither builds nor installs, and says how to install it.
pub fn ensure_installed() -> Result<()> {
    Mbsync::find().map(|_| ())
}

/// The rows of both providers.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let mbsync = Mbsync::find()?;
    let peers = Peers::start_only(&PEERS, &[])?;
    let mut rows = Vec::new();
    for account in accounts(&peers)? {
        rows.extend(measured(rig, &account, &mbsync)?);
    }
    Ok(rows)
}

fn measured(rig: &Rig, account: &Account, mbsync: &Mbsync) -> Result<Vec<Row>> {
    project::step(&format!("storing {MESSAGES} messages for {}", account.shown));
    account.fill(MESSAGES)?;
    let mut rows = first_sync::run(rig, account, MESSAGES)?;
    if account.protocol == Protocol::Imap {
        project::step(&format!("first syncs of {} beside mbsync", account.shown));
        rows.extend(first_sync::beside_mbsync(rig, account, mbsync, MESSAGES)?);
    }
    let tap = Tap::open(account.port)?;
    let (subject, _) = first_sync::through_the_api(rig, account, tap.port, MESSAGES)?;
    rows.extend(attachment::run(&subject, account)?);
    project::step(&format!("requests to {}", account.shown));
    // Last, because it adds a delay to the provider.
    let requests = requests::run(&subject, account, &tap, rig.seconds)?;
    rows.splice(0..0, requests);
    subject.server.stop()?;
    Ok(rows)
}
