//! Requests that lead to calls of the provider, beside a bare client that makes the same calls.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::bench::load::{Load, LoadMeasurement, measure};
use crate::bench::providers::bare_client::{BareClient, ProviderCall, recorded};
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, await_caught_up};
use crate::bench::providers::{AWAY, MAX_RATIO, SYNC_LIMIT};
use crate::bench::table::{FigureTarget, Row};

/// Messages and events of a page.
pub const PAGE: usize = 50;

/// A measured request to us.
pub struct MeasuredRequest {
    pub what: String,
    pub load: Load,
}

/// Returns a search for messages, which the provider answers and not the copy. `query`: in the provider's own language, percent-encoded.
pub fn page_of_messages(fake: &ProviderFake, host: &ProviderHost, query: &str) -> Result<MeasuredRequest> {
    let path =
        format!("/v1/email/messages?connection_id={}&limit={PAGE}&native_query={query}", host.connection);
    ensure_page(&host.fresh(&path)?)?;
    let what = format!("page of {PAGE} messages, searched at {}", fake.profile.title);
    Ok(MeasuredRequest { what, load: host.load("GET", &path, 1) })
}

/// Returns a list of events that asks the provider. `events`: the path of a calendar's events.
pub fn list_of_events(fake: &ProviderFake, host: &ProviderHost, events: &str) -> Result<MeasuredRequest> {
    let path = format!("{events}?limit={PAGE}");
    ensure_page(&host.fresh(&path)?)?;
    let what = format!("list of {PAGE} events, as fresh as {}", fake.profile.title);
    Ok(MeasuredRequest { what, load: host.load("GET", &path, 1) })
}

pub fn new_event(host: &ProviderHost, events: &str) -> MeasuredRequest {
    let body =
        json!({ "title": "Event {n}", "start": "2030-01-01T09:00:00Z", "end": "2030-01-01T10:00:00Z" });
    let load = Load { body: body.to_string(), status: 201, ..host.load("POST", events, 1) };
    MeasuredRequest { what: "create of an event".to_owned(), load }
}

/// Returns a request for the busy times of the calendars with these names in the first week of 2027.
pub fn busy_times(host: &ProviderHost, calendars: &[String]) -> Result<MeasuredRequest> {
    let ids = calendars.iter().map(|name| host.calendar(name)).collect::<Result<Vec<String>>>()?;
    let body = json!({
        "start": "2027-01-01T00:00:00Z",
        "end": "2027-01-08T00:00:00Z",
        "targets": [{ "connectionId": host.connection, "calendarIds": ids }],
    });
    let load = Load { body: body.to_string(), ..host.load("POST", "/v1/calendars/freebusy/query", 1) };
    let answer = ask(host, &load)?;
    ensure!(answer["complete"] == true, "busy times are missing: {answer}");
    let what = format!("busy times of {} calendars", calendars.len());
    Ok(MeasuredRequest { what, load })
}

fn ensure_page(page: &Value) -> Result<()> {
    let count = page["data"].as_array().map_or(0, Vec::len);
    ensure!(count == PAGE, "a page of {PAGE} has {count}");
    Ok(())
}

/// Sends the request of a load once, and returns the answer.
fn ask(host: &ProviderHost, load: &Load) -> Result<Value> {
    let body: Option<Value> = match load.body.is_empty() {
        true => None,
        false => Some(serde_json::from_str(&load.body)?),
    };
    let headers = [("cache-control", "no-cache")];
    host.client.send(load.method, &load.path, &headers, body.as_ref())?.expect(&[load.status])
}

/// Counts the round trips of a request.
pub fn count_round_trips(
    fake: &ProviderFake,
    host: &ProviderHost,
    request: &MeasuredRequest,
    most: f64,
) -> Result<Row> {
    let count = host.fewest_requests(fake, &request.load.path)?;
    Ok(Row {
        what: format!("{}: round trips", request.what),
        ours: format!("{} with {} requests", count.round_trips, count.requests),
        baseline: "–".to_owned(),
        figure: count.round_trips as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(most),
    })
}

/// Compares requests with a bare client that makes the same calls of the provider: a row for each.
pub fn compare_all(
    fake: &ProviderFake,
    host: &ProviderHost,
    requests: &[MeasuredRequest],
    seconds: u64,
) -> Result<Vec<Row>> {
    let compare_one = |request: &MeasuredRequest| {
        let rounds = recorded(fake, || ask(host, &request.load).map(|_| ()))?;
        compare(fake, request, &rounds, seconds)
    };
    requests.iter().map(compare_one).collect()
}

fn compare(
    fake: &ProviderFake,
    request: &MeasuredRequest,
    rounds: &[Vec<ProviderCall>],
    seconds: u64,
) -> Result<Row> {
    let mut bare = BareClient::connect(fake)?;
    let (mut ours, mut theirs) = (LoadMeasurement::default(), LoadMeasurement::default());
    for is_ours in [true, false, false, true] {
        match is_ours {
            true => ours.add(measure(&request.load, seconds)?),
            false => theirs.add(bare.measure(rounds, Duration::from_secs(seconds))?),
        }
    }
    let calls: usize = rounds.iter().map(Vec::len).sum();
    Ok(Row {
        what: format!("{}, {} ms away", request.what, AWAY.as_millis()),
        ours: ours.render(),
        baseline: format!(
            "a bare client that makes the same {calls} calls in {} round trips: {}",
            rounds.len(),
            theirs.render()
        ),
        figure: f64::from(ours.quantile(0.5)) / f64::from(theirs.quantile(0.5)),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    })
}

/// Compares a list from the copy with a bare client that asks the provider for as many events by this call.
pub fn compare_local_list(
    fake: &ProviderFake,
    host: &ProviderHost,
    events: &str,
    call: ProviderCall,
    seconds: u64,
) -> Result<Row> {
    host.start_collection_sync(events.trim_end_matches("/events"))?;
    let status = format!("{}/sync/status", events.trim_end_matches("/events"));
    await_caught_up(SYNC_LIMIT, || host.client.get(&status))?;
    let path = format!("{events}?limit={PAGE}");
    let mut load = host.load("GET", &path, 1);
    load.headers.retain(|line| !line.starts_with("cache-control"));
    let request = MeasuredRequest { what: format!("list of {PAGE} events, followed: from the copy"), load };
    compare(fake, &request, &[vec![call]], seconds)
}
