//! Requests that lead to calls of the provider: the time that we add to these calls.

use anyhow::Result;

use crate::bench::microsoft::content::{add_calendar, put_messages};
use crate::bench::microsoft::{MICROSOFT, UNREAD};
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
const MAX_ROUND_TRIPS: f64 = 1.0;

/// Six rows: the round trips of a page of messages; the page itself, a list of events that asks the provider and one that does not, a new
/// event, and the busy times of ten calendars, each beside a bare client.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    put_messages(&graph, MESSAGES, &[])?;
    let followed = add_calendar(&graph, 0, EVENTS)?;
    let busy: Vec<String> = (1..=BUSY_CALENDARS).map(|number| format!("Calendar {number}")).collect();
    for number in 1..=BUSY_CALENDARS {
        add_calendar(&graph, number, BUSY_EVENTS)?;
    }
    let host = ProviderHost::start(rig, &graph, "microsoft-calls", Quota::Off)?;
    host.start_sync("email")?;
    await_caught_up(SYNC_LIMIT, || host.state("email"))?;
    let events = format!("/v1/calendars/{}/events", host.calendar("Calendar 0")?);
    graph.move_away(AWAY)?;

    let page = page_of_messages(&graph, &host, UNREAD)?;
    let mut rows = vec![count_round_trips(&graph, &host, &page, MAX_ROUND_TRIPS)?];
    let list = list_of_events(&graph, &host, &events)?;
    let requests = [page, list, new_event(&host, &events), busy_times(&host, &busy)?];
    rows.extend(compare_all(&graph, &host, &requests, rig.seconds)?);
    let call = ProviderCall::get(format!("/v1.0/me/calendars/{followed}/events?%24top={PAGE}"));
    let call = call.preferring("IdType=\"ImmutableId\"");
    rows.push(compare_local_list(&graph, &host, &events, call, rig.seconds)?);
    graph.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}
