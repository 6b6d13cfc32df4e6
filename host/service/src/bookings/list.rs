//! Reads bookings: one by its id, and lists by start. A key that is bound to connections sees only bookings that name no other connection.

use std::collections::HashMap;

use base::error::{Result, not_found};
use base::ids;
use serde::Serialize;
use storage::scheduling::bookings as table;
use storage::scheduling::bookings::{BookingRow, Of, Stretch};
use storage::scheduling::meeting_events::{self, MeetingEventRow};

use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::bookings::change::Seat;
use crate::bookings::view;
use crate::connections::request_context::RequestContext;

/// Rows that are read at a time.
const CHUNK: usize = 200;
/// Most rows that are read for one page: a page of a list with several filters can be short.
const MAX_LOOKED_AT: usize = 2_000;

/// Filters of a list of bookings. Times are Unix ms.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BookingFilter {
    pub event_type_id: Option<String>,
    pub status: Option<String>,
    /// Case-folded.
    pub invitee_email: Option<String>,
    /// Bookings that begin at this time or later.
    pub start: Option<i64>,
    /// Bookings that begin before this time.
    pub end: Option<i64>,
}

impl BookingFilter {
    /// The most selective condition.
    fn most_selective(&self) -> Of<'_> {
        match (&self.invitee_email, &self.event_type_id, &self.status) {
            (Some(email), ..) => Of::Invitee(email),
            (None, Some(id), _) => Of::EventType(id),
            (None, None, Some(status)) => Of::Status(status),
            (None, None, None) => Of::All,
        }
    }

    fn admits(&self, row: &BookingRow) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        is(&self.event_type_id, &row.event_type_id)
            && is(&self.status, &row.status)
            && is(&self.invitee_email, &row.invitee_email)
    }
}

/// A position in the list: after the booking with this start and this id.
pub type BookingListPosition = (i64, String);

/// A page of a list.
pub struct BookingPage {
    /// Each with its position.
    pub items: Vec<(BookingListPosition, String)>,
    /// The position of the next page; none at the end.
    pub next: Option<BookingListPosition>,
}

/// A booking that names only connections that the key may use; `not_found` otherwise.
// Contract silent: what a key that is bound to a connection has of a booking which its host has together with another one. Nothing, as of
// any other account's: the booking names both. The log, the event stream and webhooks go by the same rule (`NewLogEntry.account_ids`).
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<Seat> {
    let none = || not_found("booking");
    if !ids::is_plausible(id) {
        return Err(none());
    }
    let row = table::find(app.db.reader(), &asker.tenant, id).await?.ok_or_else(none)?;
    let seat = Seat::read(row)?;
    if asker.bound_to().is_none() {
        return Ok(seat);
    }
    let events = meeting_events::of_meeting(app.db.reader(), &seat.row.meeting_id).await?;
    let is_seen = asker.sees(view::accounts_of_booking(&seat.body, &events));
    if is_seen { Ok(seat) } else { Err(none()) }
}

/// The answer that shows a booking.
pub async fn answer(app: &App, asker: &RequestContext, id: &str) -> Result<StoredResponse> {
    let seat = find(app, asker, id).await?;
    let events = meeting_events::of_meeting(app.db.reader(), &seat.row.meeting_id).await?;
    let printed = view::booking(&seat.row, &seat.body, &events, true)?;
    Ok(StoredResponse::ok(printed.to_string()).etag(&seat.row.etag))
}

/// At most `limit` bookings that match `filter`, by start and id, after a position.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    filter: &BookingFilter,
    after: Option<BookingListPosition>,
    limit: usize,
) -> Result<BookingPage> {
    let mut place = after.unwrap_or_else(|| (filter.start.unwrap_or(i64::MIN), String::new()));
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let next = 'pages: loop {
        let stretch = Stretch {
            from: place.0,
            after_id: &place.1,
            until: filter.end.unwrap_or(i64::MAX),
            limit: i64::try_from(CHUNK).unwrap_or(i64::MAX),
        };
        let rows = table::list(app.db.reader(), &asker.tenant, filter.most_selective(), stretch).await?;
        let is_last = rows.len() < CHUNK;
        looked_at += rows.len();
        let events = match asker.bound_to() {
            None => HashMap::new(),
            Some(_) => events_of(app, rows.iter().map(|row| row.meeting_id.clone()).collect()).await?,
        };
        for row in rows {
            if found.len() == limit {
                break 'pages Some(place);
            }
            place = (row.start_at, row.id.clone());
            if filter.admits(&row) {
                let seat = Seat::read(row)?;
                let own = events.get(&seat.row.meeting_id).map(Vec::as_slice).unwrap_or_default();
                if asker.sees(view::accounts_of_booking(&seat.body, own)) {
                    found.push(seat);
                }
            }
        }
        if is_last {
            break None;
        }
        if looked_at >= MAX_LOOKED_AT {
            break Some(place);
        }
    };
    Ok(BookingPage { items: render_bookings(app, found).await?, next })
}

async fn render_bookings(app: &App, seats: Vec<Seat>) -> Result<Vec<(BookingListPosition, String)>> {
    let events = events_of(app, seats.iter().map(|seat| seat.row.meeting_id.clone()).collect()).await?;
    let mut items = Vec::with_capacity(seats.len());
    for Seat { row, body } in seats {
        let own = events.get(&row.meeting_id).map(Vec::as_slice).unwrap_or_default();
        let text = view::booking(&row, &body, own, true)?.to_string();
        items.push(((row.start_at, row.id), text));
    }
    Ok(items)
}

/// The events of meetings, by the meetings' ids.
async fn events_of(app: &App, mut meeting_ids: Vec<String>) -> Result<HashMap<String, Vec<MeetingEventRow>>> {
    meeting_ids.sort_unstable();
    meeting_ids.dedup();
    let mut events: HashMap<String, Vec<MeetingEventRow>> = HashMap::new();
    for event in meeting_events::of_meetings(app.db.reader(), &meeting_ids).await? {
        events.entry(event.meeting_id.clone()).or_default().push(event);
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_with_the_fewest_rows_is_read_by() {
        let word = |word: &str| Some(word.to_owned());
        let mut filter = BookingFilter { status: word("confirmed"), ..BookingFilter::default() };
        assert!(matches!(filter.most_selective(), Of::Status("confirmed")));
        filter.event_type_id = word("et_1");
        assert!(matches!(filter.most_selective(), Of::EventType("et_1")));
        filter.invitee_email = word("ada@example.org");
        assert!(matches!(filter.most_selective(), Of::Invitee("ada@example.org")));
        assert!(matches!(BookingFilter::default().most_selective(), Of::All));
    }
}
