//! The first sync of a mailbox without a quota.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::bench::providers::AWAY;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, await_caught_up, records_read};
use crate::bench::table::{FigureTarget, Row};

/// The messages that are synced first.
const FIRST: u64 = 500;
/// The maximum seconds until the first messages are synced.
const MAX_FIRST_S: f64 = 10.0;
/// A sync that takes longer has failed.
const SYNC_LIMIT: Duration = Duration::from_secs(240);

/// A mailbox that is read, and the time that may take.
pub struct MailSyncCase {
    pub messages: usize,
    /// The mailbox, to complete "first sync of … messages from".
    pub mailbox: &'static str,
    pub max_s: f64,
}

/// Two rows: the seconds until all messages are synced, and until the first ones are.
pub fn run(fake: &ProviderFake, host: &ProviderHost, case: &MailSyncCase) -> Result<Vec<Row>> {
    fake.move_away(AWAY)?;
    fake.clear()?;
    let first_after = Cell::new(None);
    let start = Instant::now();
    host.start_sync("email")?;
    let state = await_caught_up(SYNC_LIMIT, || {
        let state = host.state("email")?;
        if records_read(&state) >= FIRST && first_after.get().is_none() {
            first_after.set(Some(start.elapsed().as_secs_f64()));
        }
        Ok(state)
    })?;
    let took = start.elapsed().as_secs_f64();
    ensure!(records_read(&state) >= case.messages as u64, "not all messages were read: {state}");
    let count = fake.count()?;
    let trips_s = count.round_trips as f64 * AWAY.as_secs_f64();
    let what = format!(
        "first sync of {} messages from {}, {} ms away",
        case.messages,
        case.mailbox,
        AWAY.as_millis()
    );
    let all = Row {
        what: what.clone(),
        ours: format!("{took:.1} s, {:.0} messages/s", case.messages as f64 / took),
        baseline: format!(
            "its {} requests in {} round trips are under way for {trips_s:.1} s",
            count.requests, count.round_trips
        ),
        figure: took,
        unit: " s".to_owned(),
        target: FigureTarget::AtMost(case.max_s),
    };
    let first_after = first_after.get().unwrap_or(f64::NAN);
    let first = Row {
        what: format!("{what}: until the newest {FIRST} are there"),
        ours: format!("{first_after:.1} s"),
        baseline: "–".to_owned(),
        figure: first_after,
        unit: " s".to_owned(),
        target: FigureTarget::AtMost(MAX_FIRST_S),
    };
    Ok(vec![all, first])
}
