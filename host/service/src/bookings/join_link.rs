//! Adds the link to a conference that the calendar's provider created after the event to the bookings of the meeting: into the booking,
//! with a log entry, and in messages to people who were notified without it.

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

/// Suffix of the log entry kinds for the link, after `booking.`.
// Contract silent: how clients learn of a link that comes after `booking.confirmed`. By `booking.updated`.
pub const UPDATED: &str = "updated";

/// Takes over the link that the organizer's event has. Returns the time of the last change of the event (Unix ms) if the provider is still
/// creating a conference that a booking waits for.
pub async fn take(
    tx: &mut Tx,
    app: &App,
    of: &HeldMeeting,
    connection_id: &str,
    now: i64,
) -> Result<Option<i64>> {
    let event = of.events.iter().find(|event| event.connection_id == connection_id);
    // A pending write will bring the current state (`event_write`).
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
    enqueue_messages(tx, of.event_type(), &waiting, now).await?;
    Ok(None)
}

/// Enqueues messages with the link to people who were notified of the booking without it. Jobs come after the log (`LockRank`), so this
/// does too. `event_type` is none if it was deleted.
pub async fn enqueue_messages(
    tx: &mut Tx,
    event_type: Option<&EventType>,
    seats: &[Seat],
    now: i64,
) -> Result<()> {
    let told: Vec<NotifiedBooking<'_>> = seats.iter().map(Seat::for_mail).collect();
    queue::enqueue_link(tx, &told, event_type, now).await
}

/// Reads the organizer's calendar again. A change of the event enqueues this job again, as every change does. If the provider does not
/// answer, it is tried at the next poll.
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
