//! A list of 50 events from the store, against axum answering the same bytes.

use anyhow::{Result, ensure};

use crate::bench::get_by_id::against_bare;
use crate::bench::rig::Rig;
use crate::bench::table::{Row, Target};

/// Two rows, requests per second, ours to the baseline's: a page that is asked for again and again while nothing changes, and a
/// page that nobody asked for before.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let subject = rig.subject("list", &[])?;
    for number in 0..60 {
        subject.create_event(number)?;
    }
    let path = format!("/v1/calendars/{}/events?limit=50", subject.calendar);
    let page = subject.client.get(&path)?;
    ensure!(
        page["data"].as_array().is_some_and(|items| items.len() == 50),
        "the page does not hold 50 events"
    );
    let again = against_bare(rig, &subject, path.clone(), "list of 50", Target::AtLeast(0.5))?;
    // A filter that nobody used before, and that lets everything through.
    let path = format!("{path}&updated_after={{instant}}");
    let first = against_bare(rig, &subject, path, "list of 50 with a new filter each", Target::None)?;
    subject.server.stop()?;
    Ok(vec![again, first])
}
