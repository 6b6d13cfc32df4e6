//! The cost of a booking: distinct slots, one after the other, on a disk whose flush takes 2 ms, beside commits of one row.

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::bench::keyed_create::slow_flush;
use crate::bench::load::LoadMeasurement;
use crate::bench::rig::Rig;
use crate::bench::scheduling::peer::SearchProgram;
use crate::bench::scheduling::service::{BOOKINGS, EventType, Service, invitation};
use crate::bench::table::{FigureTarget, Row};

/// Bookings of each of two runs.
const BOOKINGS_EACH: usize = 500;
/// The maximum ratio to a commit.
const AT_MOST: f64 = 5.0;
/// The start of the range: ten and a half days have as many quarter-hours as a page has slots.
const START: &str = "2030-01-07T00:00:00Z";
const END: &str = "2030-02-07T00:00:00Z";

/// One row, in the order A B B A.
pub fn run(rig: &Rig, program: &SearchProgram) -> Result<Vec<Row>> {
    let slow = slow_flush(rig)?;
    let folder = rig.folder("scheduling-insert")?;
    let service = Service::start(rig, "scheduling-booking", &[("LD_PRELOAD", &slow)])?;
    let of = event_type(&service)?;
    let starts = starts(&service, &of, 2 * BOOKINGS_EACH)?;
    let (first, second) = starts.split_at(BOOKINGS_EACH);
    let mut ours = book(&service, &of, first, 0)?;
    let mut theirs = measurement_of_requests(program.insert(&folder, BOOKINGS_EACH, &slow)?);
    theirs.add(measurement_of_requests(program.insert(&folder, BOOKINGS_EACH, &slow)?));
    ours.add(book(&service, &of, second, BOOKINGS_EACH)?);
    service.server.stop()?;
    Ok(vec![Row {
        what: "booking of a slot, a flush of the disk takes 2 ms: 99 of 100 (1 client, SQLite)".to_owned(),
        ours: ours.render(),
        baseline: format!("SQLite alone in Node, one row and one commit: {}", theirs.render()),
        figure: f64::from(ours.quantile(0.99)) / f64::from(theirs.quantile(0.99)),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(AT_MOST),
    }])
}

/// Makes an event type of a quarter-hour with one host, bookable at any time.
pub fn event_type(service: &Service) -> Result<EventType> {
    let host = service.host(0, &json!("UTC"), &[])?;
    let body = json!({
        "durationMinutes": 15, "hosts": [host.role("required")],
        "schedule": {
            "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "00:00" }],
        },
    });
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    service.make("booking", body, 1)
}

/// Returns the starts of the first `count` slots; at most a page of them.
pub fn starts(service: &Service, of: &EventType, count: usize) -> Result<Vec<Value>> {
    let found = service.ask(&json!({ "eventTypeId": of.id, "start": START, "end": END }))?;
    let slots = found["data"].as_array().context("there are no slots")?;
    ensure!(slots.len() >= count, "there are {} slots and not {count}", slots.len());
    Ok(slots.iter().take(count).map(|slot| slot["start"].clone()).collect())
}

fn book(service: &Service, of: &EventType, starts: &[Value], from: usize) -> Result<LoadMeasurement> {
    let mut micros = Vec::with_capacity(starts.len());
    for (number, start) in (from..).zip(starts) {
        let body = invitation(&of.id, start, number);
        let answer = service.client.send("POST", BOOKINGS, &[], Some(&body))?;
        micros.push(u32::try_from(answer.took.as_micros()).unwrap_or(u32::MAX));
        answer.expect(&[201])?;
    }
    Ok(measurement_of_requests(micros))
}

/// Returns the figures of sequential requests.
fn measurement_of_requests(mut micros: Vec<u32>) -> LoadMeasurement {
    let total: u64 = micros.iter().map(|micros| u64::from(*micros)).sum();
    micros.sort_unstable();
    LoadMeasurement { requests: micros.len() as u64, seconds: total as f64 / 1e6, micros }
}
