//! A list of 50 events from the store, against axum answering the same bytes.

use anyhow::{Result, ensure};

use crate::bench::get_by_id::against_bare;
use crate::bench::rig::Rig;
use crate::bench::table::{Row, Target};

/// One row: requests per second, ours to the baseline's.
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
    let row = against_bare(rig, &subject, path, "list of 50", Target::AtLeast(0.5))?;
    subject.server.stop()?;
    Ok(vec![row])
}
