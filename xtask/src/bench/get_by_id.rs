//! An authenticated GET of an event from the store, against axum answering the same bytes.

use std::sync::Arc;

use anyhow::Result;

use crate::bench::bare::Bare;
use crate::bench::load::{Load, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};
use crate::project;

const CLIENTS: usize = 16;
const EVENTS: usize = 1_000;

/// Two rows, requests per second, ours to the baseline's: responses that are cached as text until something changes, which happens ten
/// times a second; and responses that are read from the database every time.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let subject = rig.subject("get-by-id", &[])?;
    let events = (0..EVENTS).map(|number| subject.create_event(number)).collect::<Result<Arc<[String]>>>()?;
    let one = format!("/v1/calendars/{}/events/{{one}}", subject.calendar);
    let load = Load { choices: events.clone(), ..subject.load("GET", one.clone(), 200, CLIENTS) };
    let what = format!("authenticated GET by id, {EVENTS} events in no order, ten changes a second");
    let kept = subject.while_changing(&events[0], || {
        against_bare(rig, &subject, load.clone(), &what, FigureTarget::AtLeast(0.4))
    })?;
    // Items with provider data outside the model are never cached as text.
    let what = "the same with the provider's data: read from the database every time";
    let load = Load { path: format!("{one}?include=providerData"), ..load };
    let read = against_bare(rig, &subject, load, what, FigureTarget::AtLeast(0.4))?;
    subject.server.stop()?;
    Ok(vec![kept, read])
}

/// Load on the server and on a baseline that answers the same body.
pub fn against_bare(
    rig: &Rig,
    subject: &Subject,
    ours: Load,
    what: &str,
    target: FigureTarget,
) -> Result<Row> {
    let body = subject.client.get(&ours.sample())?.to_string();
    let bare = Bare::start(&project::target().join("bench"), body.as_bytes())?;
    let what = format!("{what} ({} B, {} clients)", body.len(), ours.clients);
    against(rig, (&bare, "bare axum handler"), ours, what, target)
}

/// Load on the server and on a running baseline, with the baseline's name.
pub fn against(
    rig: &Rig,
    (bare, name): (&Bare, &str),
    ours: Load,
    what: String,
    target: FigureTarget,
) -> Result<Row> {
    let baseline = Load { address: bare.address, path: "/".to_owned(), headers: Vec::new(), ..ours.clone() };
    let (a, b) = abba(&ours, &baseline, rig.seconds)?;
    Ok(Row {
        what,
        ours: a.render(),
        baseline: format!("{name}: {}", b.render()),
        figure: a.rate() / b.rate(),
        unit: "×".to_owned(),
        target,
    })
}
