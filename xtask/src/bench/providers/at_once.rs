//! Simultaneous requests of one account, as its provider sees them.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::bench::providers::AWAY;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::ProviderHost;
use crate::bench::providers::pressure::under_pressure;
use crate::bench::table::{FigureTarget, Row};

pub const CALENDARS: usize = 8;
const CLIENTS: usize = 16;
/// The `concurrent` of the connectors' manifests.
const MAX_CONCURRENT_REQUESTS: f64 = 4.0;

/// One row: the maximum of simultaneous requests, with a first sync and many clients of all kinds of data. The account has `CALENDARS`
/// calendars that are called `Calendar 0` and so on; `query` is a search for messages in the provider's language, percent-encoded.
pub fn run(fake: &ProviderFake, host: &ProviderHost, query: &str, seconds: u64) -> Result<Row> {
    let mut paths = vec![
        format!("{}/tasks?limit=50", host.task_list()?),
        format!("/v1/contacts?connection_id={}&limit=50", host.connection),
        format!("/v1/email/messages?connection_id={}&limit=50&native_query={query}", host.connection),
    ];
    for number in 0..CALENDARS {
        let calendar = host.calendar(&format!("Calendar {number}"))?;
        paths.push(format!("/v1/calendars/{calendar}/events?limit=50"));
    }
    fake.move_away(AWAY)?;
    host.start_sync("email")?;
    let wait = || {
        sleep(Duration::from_secs(2 * seconds));
        Ok(())
    };
    let ((), answers) = under_pressure(host, &paths, CLIENTS, wait)?;
    let most = fake.most_at_once()?;
    ensure!(answers.accepted > 0, "no request was answered");
    ensure!(most > 1, "one request at a time says nothing of a limit");
    Ok(Row {
        what: format!(
            "requests of one account to {} under way at once, with a first sync and {CLIENTS} clients",
            fake.profile.title
        ),
        ours: format!(
            "{most} at most; {} requests of the clients answered, {} refused",
            answers.accepted, answers.refused
        ),
        baseline: "–".to_owned(),
        figure: most as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(MAX_CONCURRENT_REQUESTS),
    })
}
