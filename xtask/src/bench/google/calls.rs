//! Requests that lead to calls of the provider: the time that we add to these calls.

use anyhow::Result;

use crate::bench::google::content::{add_calendar, add_hidden_calendar, limit_mail, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::providers::bare_client::ProviderCall;
use crate::bench::providers::comparison::{
    PAGE, busy_times, compare_all, compare_local_list, count_round_trips, list_of_events, new_event,
    page_of_messages,
};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota, await_caught_up};
use crate::bench::providers::{AWAY, SYNC_LIMIT};
use crate::bench::rig::Rig;
use crate::bench::table::Row;

const MESSAGES: usize = 200;
const EVENTS: usize = 500;
/// Calendars of the busy-time request, and the events of each.
const BUSY_CALENDARS: usize = 10;
const BUSY_EVENTS: usize = 100;
/// The maximum round trips of a page of messages.
const MAX_ROUND_TRIPS: f64 = 2.0;

/// Six rows: the round trips of a page of messages; the page itself, a list of events that asks the provider and one that does not, a new
/// event, and the busy times of ten calendars, each beside a bare client.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, MESSAGES)?;
    add_calendar(&google, 1, EVENTS)?;
    for number in 0..BUSY_CALENDARS {
        add_hidden_calendar(&google, number, BUSY_EVENTS)?;
    }
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-calls", Quota::Off)?;
    host.start_sync("email")?;
    await_caught_up(SYNC_LIMIT, || host.state("email"))?;
    let events = format!("/v1/calendars/{}/events", host.calendar("Calendar 1")?);
    google.move_away(AWAY)?;

    let page = page_of_messages(&google, &host, "in%3Ainbox")?;
    let mut rows = vec![count_round_trips(&google, &host, &page, MAX_ROUND_TRIPS)?];
    let busy: Vec<String> =
        (0..BUSY_CALENDARS).map(|number| format!("colleague{number}@example.com")).collect();
    let list = list_of_events(&google, &host, &events)?;
    let requests = [page, list, new_event(&host, &events), busy_times(&host, &busy)?];
    rows.extend(compare_all(&google, &host, &requests, rig.seconds)?);
    let calendar = "bench1%40group.calendar.google.com";
    let call = format!("/calendar/v3/calendars/{calendar}/events?maxResults={PAGE}&singleEvents=false");
    rows.push(compare_local_list(&google, &host, &events, ProviderCall::get(call), rig.seconds)?);
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
