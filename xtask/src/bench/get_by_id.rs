//! An authenticated GET of one event from the store, against axum answering the same bytes.

use anyhow::Result;

use crate::bench::bare::Bare;
use crate::bench::load::{Load, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{Row, Target};
use crate::project;

const CLIENTS: usize = 16;

/// One row: requests per second, ours to the baseline's.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let subject = rig.subject("get-by-id", &[])?;
    let event = subject.create_event(0)?;
    let path = format!("/v1/calendars/{}/events/{event}", subject.calendar);
    let raw = format!("{path}?include=providerData");
    let row = against_bare(rig, &subject, path, "authenticated GET by id", Target::AtLeast(0.4))?;
    // What was printed before serves the first; this is read from the database every time.
    let every_time = "the same with the provider's data, which is never kept printed";
    let cold = against_bare(rig, &subject, raw, every_time, Target::None)?;
    subject.server.stop()?;
    Ok(vec![row, cold])
}

/// Load on `path` of the server and on a baseline that answers the same body.
pub fn against_bare(rig: &Rig, subject: &Subject, path: String, what: &str, target: Target) -> Result<Row> {
    let body = subject.client.get(&path.replace("{instant}", "2000-01-01T00:00:00Z"))?.to_string();
    let bare = Bare::start(&project::target().join("bench"), body.as_bytes())?;
    let ours = subject.load("GET", path, 200, CLIENTS);
    let baseline = Load { address: bare.address, path: "/".to_owned(), headers: Vec::new(), ..ours.clone() };
    let (a, b) = abba(&ours, &baseline, rig.seconds)?;
    Ok(Row {
        what: format!("{what} ({} B, {CLIENTS} clients)", body.len()),
        ours: a.shown(),
        baseline: format!("bare axum handler: {}", b.shown()),
        figure: a.rate() / b.rate(),
        unit: "×".to_owned(),
        target,
    })
}
