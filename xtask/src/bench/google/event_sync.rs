//! The first sync of a calendar, beside a bare client that reads the same pages.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::google::GOOGLE;
use crate::bench::google::content::add_calendar;
use crate::bench::providers::bare_client::{BareClient, ProviderCall};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::{AWAY, MAX_RATIO};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

const EVENTS: usize = 5_000;
/// Events of a page: as many as the server asks a connector for.
const PAGE: usize = 200;

/// One row: two calendars of the same size, each read once by us and once by the bare client, in the order A B B A.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    let calendars = [add_calendar(&google, 1, EVENTS)?, add_calendar(&google, 2, EVENTS)?];
    let host = ProviderHost::start(rig, &google, "google-event-sync", Quota::Off)?;
    let ours = [host.calendar("Calendar 1")?, host.calendar("Calendar 2")?];
    google.move_away(AWAY)?;
    let mut bare = BareClient::connect(&google)?;
    let our_first = host.time_collection_sync(&ours[0], EVENTS)?;
    let their_first = read_all(&mut bare, &calendars[0])?;
    let their_second = read_all(&mut bare, &calendars[1])?;
    let our_second = host.time_collection_sync(&ours[1], EVENTS)?;
    google.ensure_allowed()?;
    host.server.stop()?;
    let (ours, theirs) = ((our_first + our_second) / 2.0, (their_first + their_second) / 2.0);
    Ok(vec![Row {
        what: format!("first sync of {EVENTS} events from Google, {} ms away", AWAY.as_millis()),
        ours: format!("{ours:.2} s"),
        baseline: format!(
            "a bare client that reads the {} pages and keeps nothing: {theirs:.2} s",
            EVENTS / PAGE
        ),
        figure: ours / theirs,
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    }])
}

/// The seconds in which the bare client reads a calendar page by page.
fn read_all(bare: &mut BareClient, calendar: &str) -> Result<f64> {
    let calendar = calendar.replace('@', "%40");
    let first = format!(
        "/calendar/v3/calendars/{calendar}/events?maxResults={PAGE}&singleEvents=false&showDeleted=true"
    );
    let (mut target, mut count) = (first.clone(), 0);
    let start = Instant::now();
    loop {
        let body = bare.call(&ProviderCall::get(target))?;
        let page: Value = serde_json::from_slice(&body).context("a page of events is no JSON")?;
        count += page["items"].as_array().map_or(0, Vec::len);
        let Some(next) = page["nextPageToken"].as_str() else { break };
        target = format!("{first}&pageToken={}", next.replace('=', "%3D"));
    }
    let took = start.elapsed().as_secs_f64();
    ensure!(count == EVENTS, "the bare client read {count} of {EVENTS} events");
    Ok(took)
}
