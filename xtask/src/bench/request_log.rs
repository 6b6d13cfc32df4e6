//! A read of the API with the request log of the panel, against the same server without one.

use std::sync::Arc;

use anyhow::Result;

use crate::bench::load::{Load, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};

const CLIENTS: usize = 16;
const EVENTS: usize = 1_000;
/// The most time of a request with the log, in those of one without.
const MAX_TIME_RATIO: f64 = 1.02;

/// One row: requests per second without the log to those with it.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let logged = rig.subject("request-log", &[])?;
    let silent = rig.subject("request-log-off", &[("SWITCHBOARD_REQUEST_LOG_DAYS", "0")])?;
    let (a, b) = abba(&reads(&logged)?, &reads(&silent)?, rig.seconds)?;
    logged.server.stop()?;
    silent.server.stop()?;
    Ok(vec![Row {
        what: format!("authenticated GET by id with the request log ({CLIENTS} clients, SQLite)"),
        ours: a.render(),
        baseline: format!("without it: {}", b.render()),
        figure: b.rate() / a.rate(),
        unit: "× the time".to_owned(),
        target: FigureTarget::AtMost(MAX_TIME_RATIO),
    }])
}

/// Reads of the events of a server, in no order.
fn reads(subject: &Subject) -> Result<Load> {
    let events = (0..EVENTS).map(|number| subject.create_event(number)).collect::<Result<Arc<[String]>>>()?;
    let path = format!("/v1/calendars/{}/events/{{one}}", subject.calendar);
    Ok(Load { choices: events, ..subject.load("GET", path, 200, CLIENTS) })
}
