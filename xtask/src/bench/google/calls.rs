//! Requests that lead to calls of the provider: the time that we add to these calls.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::bench::google::bare_client::{BareClient, ProviderCall, recorded};
use crate::bench::google::content::{add_calendar, add_hidden_calendar, put_messages};
use crate::bench::google::fake::FakeGoogle;
use crate::bench::google::host::{GoogleHost, Quota, await_caught_up};
use crate::bench::google::{AWAY, MAX_RATIO, NO_LIMIT};
use crate::bench::load::{Load, LoadMeasurement, measure};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

const PAGE: usize = 50;
const MESSAGES: usize = 200;
const EVENTS: usize = 500;
/// Calendars of the busy-time request, and the events of each.
const BUSY_CALENDARS: usize = 10;
const BUSY_EVENTS: usize = 100;
/// The maximum round trips of a page of messages.
const MAX_ROUND_TRIPS: f64 = 2.0;
const SYNC_LIMIT: Duration = Duration::from_secs(120);

/// A measured request to us.
struct MeasuredRequest {
    what: String,
    load: Load,
}

/// Six rows: the round trips of a page of messages; the page itself, a list of events that asks the provider and one that does not, a new
/// event, and the busy times of ten calendars, each beside a bare client.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = FakeGoogle::start()?;
    put_messages(&google, MESSAGES)?;
    add_calendar(&google, 1, EVENTS)?;
    for number in 0..BUSY_CALENDARS {
        add_hidden_calendar(&google, number, BUSY_EVENTS)?;
    }
    google.limit_mail(NO_LIMIT)?;
    let host = GoogleHost::start(rig, &google, "google-calls", Quota::Off)?;
    host.start_sync("email")?;
    await_caught_up(SYNC_LIMIT, || host.state("email"))?;
    let events = format!("/v1/calendars/{}/events", host.calendar("Calendar 1")?);
    google.move_away(AWAY)?;

    let page = page_of_messages(&host)?;
    let mut rows = vec![round_trips(&google, &host, &page.load.path)?];
    let list = list_of_events(&host, &events)?;
    let requests = [page, list, new_event(&host, &events), busy_times(&host)?];
    for request in &requests {
        let rounds = recorded(&google, || ask(&host, &request.load).map(|_| ()))?;
        rows.push(compare(&google, request, &rounds, rig.seconds)?);
    }
    rows.push(compare_local_list(rig, &google, &host, &events)?);
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows)
}

/// A search, which Google answers and not the copy.
fn page_of_messages(host: &GoogleHost) -> Result<MeasuredRequest> {
    let path =
        format!("/v1/email/messages?connection_id={}&limit={PAGE}&native_query=in%3Ainbox", host.connection);
    ensure_page(&host.fresh(&path)?)?;
    let what = format!("page of {PAGE} messages, searched at Google");
    Ok(MeasuredRequest { what, load: host.load("GET", &path, 1) })
}

fn list_of_events(host: &GoogleHost, events: &str) -> Result<MeasuredRequest> {
    let path = format!("{events}?limit={PAGE}");
    ensure_page(&host.fresh(&path)?)?;
    let what = format!("list of {PAGE} events, as fresh as Google");
    Ok(MeasuredRequest { what, load: host.load("GET", &path, 1) })
}

fn new_event(host: &GoogleHost, events: &str) -> MeasuredRequest {
    let body =
        json!({ "title": "Event {n}", "start": "2030-01-01T09:00:00Z", "end": "2030-01-01T10:00:00Z" });
    let load = Load { body: body.to_string(), status: 201, ..host.load("POST", events, 1) };
    MeasuredRequest { what: "create of an event".to_owned(), load }
}

fn busy_times(host: &GoogleHost) -> Result<MeasuredRequest> {
    let ids = (0..BUSY_CALENDARS).map(|number| host.calendar(&format!("colleague{number}@example.com")));
    let ids = ids.collect::<Result<Vec<String>>>()?;
    let body = json!({
        "start": "2027-01-01T00:00:00Z",
        "end": "2027-01-08T00:00:00Z",
        "targets": [{ "connectionId": host.connection, "calendarIds": ids }],
    });
    let load = Load { body: body.to_string(), ..host.load("POST", "/v1/calendars/freebusy/query", 1) };
    let answer = ask(host, &load)?;
    ensure!(answer["complete"] == true, "busy times are missing: {answer}");
    let what = format!("busy times of {BUSY_CALENDARS} calendars");
    Ok(MeasuredRequest { what, load })
}

fn ensure_page(page: &Value) -> Result<()> {
    let count = page["data"].as_array().map_or(0, Vec::len);
    ensure!(count == PAGE, "a page of {PAGE} has {count}");
    Ok(())
}

/// Sends the request of a load once, and returns the answer.
fn ask(host: &GoogleHost, load: &Load) -> Result<Value> {
    let body: Option<Value> = match load.body.is_empty() {
        true => None,
        false => Some(serde_json::from_str(&load.body)?),
    };
    let headers = [("cache-control", "no-cache")];
    host.client.send(load.method, &load.path, &headers, body.as_ref())?.expect(&[load.status])
}

fn round_trips(google: &FakeGoogle, host: &GoogleHost, path: &str) -> Result<Row> {
    let count = host.fewest_requests(google, path)?;
    Ok(Row {
        what: format!("page of {PAGE} messages, searched at Google: round trips"),
        ours: format!("{} with {} requests", count.round_trips, count.requests),
        baseline: "–".to_owned(),
        figure: count.round_trips as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(MAX_ROUND_TRIPS),
    })
}

/// Compares the request with a bare client that makes the same calls of the provider.
fn compare(
    google: &FakeGoogle,
    request: &MeasuredRequest,
    rounds: &[Vec<ProviderCall>],
    seconds: u64,
) -> Result<Row> {
    let mut bare = BareClient::connect(google)?;
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

/// Compares a list from the copy with a bare client that asks Google for as many events.
fn compare_local_list(rig: &Rig, google: &FakeGoogle, host: &GoogleHost, events: &str) -> Result<Row> {
    host.start_collection_sync(events.trim_end_matches("/events"))?;
    let status = format!("{}/sync/status", events.trim_end_matches("/events"));
    await_caught_up(SYNC_LIMIT, || host.client.get(&status))?;
    let path = format!("{events}?limit={PAGE}");
    let mut load = host.load("GET", &path, 1);
    load.headers.retain(|line| !line.starts_with("cache-control"));
    let request = MeasuredRequest { what: format!("list of {PAGE} events, followed: from the copy"), load };
    let calendar = "bench1%40group.calendar.google.com";
    let call = format!("/calendar/v3/calendars/{calendar}/events?maxResults={PAGE}&singleEvents=false");
    compare(google, &request, &[vec![ProviderCall::get(call)]], rig.seconds)
}
