//! A list of 50 events from the store, against axum answering the same bytes.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::bench::get_by_id::against_bare;
use crate::bench::load::Load;
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};

const CLIENTS: usize = 16;
const PAGES: usize = 20;
const PAGE: usize = 50;

/// Two rows, requests per second, ours to the baseline's: pages that are requested repeatedly while ten changes a second make their
/// caches stale; and a page that was never requested before.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let subject = rig.subject("list", &[])?;
    let events = (0..PAGES * PAGE).map(|n| subject.create_event(n)).collect::<Result<Vec<String>>>()?;
    let load = Load { choices: pages(&subject)?, ..subject.load("GET", "{one}".to_owned(), 200, CLIENTS) };
    let what = format!("list of {PAGE}, {PAGES} pages in no order, ten changes a second");
    let again = subject.while_changing(&events[0], || {
        against_bare(rig, &subject, load, &what, FigureTarget::AtLeast(0.5))
    })?;
    // A filter that was never used before, and that matches everything.
    let path = format!("{}&updated_after={{instant}}", first_page(&subject));
    let load = subject.load("GET", path, 200, CLIENTS);
    let what = format!("list of {PAGE} with a new filter each: read from the database every time");
    let first = against_bare(rig, &subject, load, &what, FigureTarget::None)?;
    subject.server.stop()?;
    Ok(vec![again, first])
}

fn first_page(subject: &Subject) -> String {
    format!("/v1/calendars/{}/events?limit={PAGE}", subject.calendar)
}

/// Returns the paths of all pages, in the order in which a client finds them.
fn pages(subject: &Subject) -> Result<Arc<[String]>> {
    let mut paths = vec![first_page(subject)];
    loop {
        let page = subject.client.get(&paths[paths.len() - 1])?;
        ensure!(page["data"].as_array().is_some_and(|items| items.len() == PAGE), "not a page of {PAGE}");
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        paths.push(format!("{}&cursor={cursor}", first_page(subject)));
    }
    ensure!(paths.len() == PAGES, "there are {} pages", paths.len());
    Ok(paths.into())
}
