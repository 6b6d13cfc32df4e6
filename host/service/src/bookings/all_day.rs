//! Meetings whose event the host has changed to an all-day event: the meeting does not become a day long. The bookings keep their time and
//! show an error, and the host is asked to set a time.

use base::error::Result;
use model::scheduling::booking::Party;
use serde_json::{Value, json};
use storage::Tx;
use storage::scheduling::{bookings, meeting_events};

use crate::app::App;
use crate::bookings::change::{self, BookingChange, Seat};
use crate::bookings::join_link::UPDATED;
use crate::bookings::locked_meeting::HeldMeeting;
use crate::bookings::notify::kind::MailKind;
use crate::bookings::notify::queue;

/// The `calendarEvents[].error` of such a booking.
const MESSAGE: &str =
    "the host made the event an all-day event; the booking keeps its time until the event has one again";

/// Marks the bookings of the meeting, and asks the host once. Does nothing if they are already marked.
// Contract silent: the time of a booking whose event has none any more. The one that people were notified of, which stays reserved; the
// host moves the booking by giving the event a time, and cancels it by deleting the event.
pub async fn mark(tx: &mut Tx, app: &App, of: &mut HeldMeeting, connection_id: &str, now: i64) -> Result<()> {
    let seats = set(tx, app, of, connection_id, true, now).await?;
    // There is one event, and one host to give it a time, for any number of seats.
    let told = seats.first().map(Seat::for_mail);
    queue::enqueue(tx, told.as_slice(), of.event_type(), MailKind::AllDay, now).await
}

/// Removes the marks: the event has a time again.
pub async fn unmark(
    tx: &mut Tx,
    app: &App,
    of: &mut HeldMeeting,
    connection_id: &str,
    now: i64,
) -> Result<()> {
    set(tx, app, of, connection_id, false, now).await?;
    Ok(())
}

/// Returns the changed bookings.
async fn set(
    tx: &mut Tx,
    app: &App,
    of: &mut HeldMeeting,
    connection_id: &str,
    is_all_day: bool,
    now: i64,
) -> Result<Vec<Seat>> {
    let event = of.events.iter_mut().find(|event| event.connection_id == connection_id);
    let is_news = event.as_ref().is_some_and(|event| (event.error.as_deref() == Some(MESSAGE)) != is_all_day);
    let Some(event) = event.filter(|_| is_news) else { return Ok(Vec::new()) };
    event.error = is_all_day.then(|| MESSAGE.to_owned());
    meeting_events::update(tx, event).await?;
    let warning = json!({ "code": "all_day_event", "message": MESSAGE, "target": "start" });
    let warnings: Vec<Value> = is_all_day.then_some(warning).into_iter().collect();
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    let mut seats: Vec<Seat> = seats.into_iter().map(Seat::read).collect::<Result<_>>()?;
    let change =
        BookingChange { events: &of.events, by: Party::Host, words: &[UPDATED], warnings: &warnings };
    change::write_all(tx, app, &mut seats, &change, now).await?;
    Ok(seats)
}
