//! Reads that ask a provider for changes when there are none.

use anyhow::Result;

use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, await_caught_up};
use crate::bench::providers::{AWAY, SYNC_LIMIT};
use crate::bench::table::{FigureTarget, Row};

/// The round trips for a calendar, a book or a list, and for a mailbox.
const MAX_ROUND_TRIPS: f64 = 1.0;
/// The same for all contact books: their list comes before their contacts.
const MAX_ROUND_TRIPS_OF_BOOKS: f64 = 2.0;

/// Follows everything of the account, and counts the round trips of a read of each kind of data: a row for each, and one for the contacts
/// of all books. `calendar`: the name of the calendar that is read.
pub fn run(fake: &ProviderFake, host: &ProviderHost, calendar: &str) -> Result<Vec<Row>> {
    let calendar = format!("/v1/calendars/{}", host.calendar(calendar)?);
    let tasks = host.task_list()?;
    for surface in ["email", "contacts"] {
        host.start_sync(surface)?;
        await_caught_up(SYNC_LIMIT, || host.state(surface))?;
    }
    for path in [&calendar, &tasks] {
        host.start_collection_sync(path)?;
        let status = format!("{path}/sync/status");
        await_caught_up(SYNC_LIMIT, || host.client.get(&status))?;
    }
    let book = host.contact_book()?;
    fake.move_away(AWAY)?;
    let connection = &host.connection;
    let reads = [
        ("messages", format!("/v1/email/messages?connection_id={connection}&limit=50"), MAX_ROUND_TRIPS),
        ("events of a calendar", format!("{calendar}/events?limit=50"), MAX_ROUND_TRIPS),
        ("contacts of a book", format!("/v1/contacts?book_id={book}&limit=50"), MAX_ROUND_TRIPS),
        (
            "contacts of all books",
            format!("/v1/contacts?connection_id={connection}&limit=50"),
            MAX_ROUND_TRIPS_OF_BOOKS,
        ),
        ("tasks of a list", format!("{tasks}/tasks?limit=50"), MAX_ROUND_TRIPS),
    ];
    reads.iter().map(|(what, path, most)| count(fake, host, what, path, *most)).collect()
}

fn count(fake: &ProviderFake, host: &ProviderHost, what: &str, path: &str, most: f64) -> Result<Row> {
    let count = host.fewest_requests(fake, path)?;
    Ok(Row {
        what: format!("{what} at {} with nothing new: round trips", fake.profile.title),
        ours: format!("{} with {} requests", count.round_trips, count.requests),
        baseline: "–".to_owned(),
        figure: count.round_trips as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(most),
    })
}
