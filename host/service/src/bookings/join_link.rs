//! Brings the link to a conference that the calendar's provider made after the event to the bookings of the meeting: into the booking, with an
//! entry in the log, and to people who were told of the booking without it.

use base::error::Result;
use model::scheduling::booking::Party;
use model::scheduling::event_type::EventType;
use storage::jobs::Job;
use storage::scheduling::{bookings, meeting_events};
use storage::{Tx, connections as connection_table, items};

use crate::app::App;
use crate::bookings::change::{self, BookingChange, Seat};
use crate::bookings::conference::{self, ConferenceProgress};
use crate::bookings::locked_meeting::HeldMeeting;
use crate::bookings::notify::kind::NotifiedBooking;
use crate::bookings::notify::queue;
use crate::connections;
use crate::sync::ensure_fresh;

/// What the kinds of entries in the log that tell of the link end with, after `booking.`.
// Contract silent: how clients hear of a link that comes after `booking.confirmed`. By `booking.updated`.
pub const UPDATED: &str = "updated";

/// Takes over the link that the organizer's event has by now. Returns when the event was changed last, in milliseconds since 1970, if the
/// provider is still making a conference that a booking waits for.
pub async fn take(
    tx: &mut Tx,
    app: &App,
    of: &HeldMeeting,
    connection_id: &str,
    now: i64,
) -> Result<Option<i64>> {
    let event = of.events.iter().find(|event| event.connection_id == connection_id);
    // Where something is to be written still, the write brings what there is (`event_write`).
    let event = event.filter(|event| event.is_wanted && event.status == "written");
    let event_id = event.and_then(|event| event.event_id.as_ref());
    let Some((event_id, lock)) = event_id.zip(of.lock_of(connection_id)) else { return Ok(None) };
    let Some(item) = items::lock_item(tx, lock, event_id).await? else { return Ok(None) };
    let progress = conference::progress(&item)?;
    if progress == ConferenceProgress::Absent || item.deleted_at.is_some() {
        return Ok(None);
    }
    let mut waiting = Vec::new();
    for row in bookings::lock_seated(tx, &of.meeting.id).await? {
        let seat = Seat::read(row)?;
        if conference::lacks_link(&seat.body) {
            waiting.push(seat);
        }
    }
    let ConferenceProgress::Ready(url) = progress else {
        return Ok((!waiting.is_empty()).then_some(item.updated_at));
    };
    for place in waiting.iter_mut().filter_map(|seat| seat.body.location.as_mut()) {
        place.join_url = Some(url.clone());
    }
    let change = BookingChange { events: &of.events, by: Party::Host, words: &[UPDATED], warnings: &[] };
    change::write_all(tx, app, &mut waiting, &change, now).await?;
    tell(tx, of.event_type(), &waiting, now).await?;
    Ok(None)
}

/// Has people told of the link to whom it was not known when they were told of the booking. Jobs come after the log (`LockRank`), so this does
/// too. `event_type` is none where it was deleted.
pub async fn tell(tx: &mut Tx, event_type: Option<&EventType>, seats: &[Seat], now: i64) -> Result<()> {
    let told: Vec<NotifiedBooking<'_>> = seats.iter().map(Seat::for_mail).collect();
    queue::enqueue_link(tx, &told, event_type, now).await
}

/// Reads the organizer's calendar anew. A change of the event that comes with it has the job done again, as every change has. A provider that
/// does not answer is asked at the next look.
pub async fn ask(app: &App, job: &Job) {
    if let Err(e) = read_calendar(app, job).await {
        tracing::debug!(job = %job.id, error = %e, "a calendar whose event has a pending conference could not be read");
    }
}

async fn read_calendar(app: &App, job: &Job) -> Result<()> {
    let Some((meeting_id, connection_id)) = job.key().split_once(':') else { return Ok(()) };
    let reader = app.db.reader();
    let event = meeting_events::find(reader, meeting_id, connection_id).await?;
    let connection = connection_table::find(reader, &job.tenant, connection_id).await?;
    let Some((event, connection)) = event.zip(connection) else { return Ok(()) };
    connections::usable(&connection)?;
    let Some(calendar) = items::any(reader, &job.tenant, &event.calendar_id).await? else { return Ok(()) };
    ensure_fresh(app, &connection, &crate::sync::scope::scope(&calendar)?, true).await
}
