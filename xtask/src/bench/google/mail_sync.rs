//! The first sync of a mailbox without a quota.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::bench::google::content::put_messages;
use crate::bench::google::fake::FakeGoogle;
use crate::bench::google::host::{GoogleHost, Quota, await_caught_up, records_read};
use crate::bench::google::{AWAY, NO_LIMIT};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

const MESSAGES: usize = 10_000;
/// The messages that are synced first.
const FIRST: u64 = 500;
/// Seconds that the sync may take.
const MAX_SYNC_S: f64 = 90.0;
/// The maximum seconds until the first messages are synced.
const MAX_FIRST_S: f64 = 10.0;
/// A sync that takes longer has failed.
const SYNC_LIMIT: Duration = Duration::from_secs(240);

/// Two rows: the seconds until all messages are synced, and until the first ones are.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = FakeGoogle::start()?;
    put_messages(&google, MESSAGES)?;
    google.limit_mail(NO_LIMIT)?;
    let host = GoogleHost::start(rig, &google, "google-mail-sync", Quota::Off)?;
    google.move_away(AWAY)?;
    google.clear()?;
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
    ensure!(records_read(&state) >= MESSAGES as u64, "not all messages were read: {state}");
    let count = google.count()?;
    google.ensure_allowed()?;
    host.server.stop()?;
    let trips_s = count.round_trips as f64 * AWAY.as_secs_f64();
    let what =
        format!("first sync of {MESSAGES} messages from Gmail without a quota, {} ms away", AWAY.as_millis());
    let all = Row {
        what: what.clone(),
        ours: format!("{took:.1} s, {:.0} messages/s", MESSAGES as f64 / took),
        baseline: format!(
            "its {} requests in {} round trips are under way for {trips_s:.1} s",
            count.requests, count.round_trips
        ),
        figure: took,
        unit: " s".to_owned(),
        target: FigureTarget::AtMost(MAX_SYNC_S),
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
