//! What a host does with the event of a meeting in the host's calendar: a meeting that was moved there is moved here, one that was deleted,
//! cancelled or declined there is cancelled here. The link to a conference that the provider makes after the event is taken over; as long as
//! the provider is making it, it is asked again (`conference::next_look`). Such events are found in the transaction that stores them
//! (`storage::scheduling::meeting_events`), and looked at by job.

use base::error::{Code, Result};
use model::Instant;
use model::calendar::{Event, EventStatus, ResponseStatus};
use model::scheduling::booking::{BookingStatus, Party};
use serde_json::{Value, json};
use storage::Tx;
use storage::items::{self, Item};
use storage::jobs::Job;
use storage::scheduling::reserved_times::{self, MAX_LENGTH_MS};
use storage::scheduling::{bookings, meetings};

use crate::app::App;
use crate::bookings::change::{self, Seat, TRIES};
use crate::bookings::locked_meeting::{HeldMeeting, HostLocks, contended};
use crate::bookings::notify::kind::MailKind;
use crate::bookings::notify::queue;
use crate::bookings::{conference, join_link, state, timed_transitions};

/// Providers keep times to the minute: what differs by less was not moved.
const SAME_MS: i64 = 60_000;
/// How long an event has to be gone before that is believed, ms. It can come back with a later page of the same pull under another name, and a
/// large calendar that is removed loses its events before itself.
const GONE_MS: i64 = 60_000;

/// What a turn comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostChangeResult {
    /// The bookings are as the calendar says.
    Done,
    /// It has to be looked again then, in milliseconds since 1970.
    Later(i64),
}

/// What a look at the calendar comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CalendarCheck {
    Ended(HostChangeResult),
    /// The provider is to be asked now what is in the calendar, and it has to be looked again then, in milliseconds since 1970.
    Asks(i64),
}

/// What the host's calendar says of a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CalendarState {
    AsItIs,
    /// It does not take place.
    Gone,
    /// The event is gone, and that is believed from then on, in milliseconds since 1970.
    Waits(i64),
    /// It begins and ends then, in milliseconds since 1970.
    Moved(i64, i64),
}

/// Brings the bookings of a meeting to what its organizer's calendar says.
pub async fn follow(app: &App, job: &Job) -> Result<HostChangeResult> {
    for _ in 0..TRIES {
        let (held, of) = (app.clone(), job.clone());
        let looked: Result<Option<CalendarCheck>> =
            app.db.write(move |tx| Box::pin(async move { look(tx, &held, &of).await })).await;
        match looked {
            Ok(Some(CalendarCheck::Ended(outcome))) => return Ok(outcome),
            Ok(Some(CalendarCheck::Asks(again_at))) => {
                join_link::ask(app, job).await;
                return Ok(HostChangeResult::Later(again_at));
            }
            Ok(None) => {}
            // The meeting was forgotten.
            Err(e) if e.code() == Some(Code::NotFound) => return Ok(HostChangeResult::Done),
            Err(e) => return Err(e),
        }
    }
    Err(contended())
}

/// None: the meeting's hosts were changed meanwhile.
async fn look(tx: &mut Tx, app: &App, job: &Job) -> Result<Option<CalendarCheck>> {
    let done = Some(CalendarCheck::Ended(HostChangeResult::Done));
    let Some((meeting_id, connection_id)) = job.key().split_once(':') else { return Ok(done) };
    let Some(seen) = meetings::find(&mut *tx, meeting_id).await? else { return Ok(done) };
    let of = (seen.event_type_id.as_str(), seen.id.as_str());
    let Some(mut of) = HeldMeeting::lock(tx, &seen.tenant, of, HostLocks::OfMeeting).await? else {
        return Ok(None);
    };
    let now = app.now();
    // Contract silent: whose calendar decides where there are several hosts. The organizer's.
    let is_organizers = of.meeting.hosts.first().is_some_and(|id| id == connection_id);
    // What is over has taken place, also while the jobs that complete its bookings are late.
    if !is_organizers || of.meeting.released_at.is_some() || of.meeting.end_at <= now {
        return Ok(done);
    }
    match seen_in_calendar(tx, &of, connection_id, now).await? {
        CalendarState::AsItIs => {
            let pending_since = join_link::take(tx, app, (&of, connection_id), now).await?;
            let next = pending_since.and_then(|since| conference::next_look(since, now));
            Ok(next.map_or(done, |(at, is_due)| {
                Some(if is_due {
                    CalendarCheck::Asks(at)
                } else {
                    CalendarCheck::Ended(HostChangeResult::Later(at))
                })
            }))
        }
        CalendarState::Waits(until) => Ok(Some(CalendarCheck::Ended(HostChangeResult::Later(until)))),
        CalendarState::Gone => {
            cancel(tx, app, &mut of, now).await?;
            Ok(done)
        }
        CalendarState::Moved(start, end) => {
            move_to(tx, app, (&mut of, connection_id), (start, end), now).await?;
            // The same change may have brought the link to the conference: that is taken over next.
            let is_moved = (of.meeting.start_at, of.meeting.end_at) == (start, end);
            Ok(if is_moved { Some(CalendarCheck::Ended(HostChangeResult::Later(now))) } else { done })
        }
    }
}

async fn seen_in_calendar(
    tx: &mut Tx,
    of: &HeldMeeting,
    connection_id: &str,
    now: i64,
) -> Result<CalendarState> {
    let event = of.events.iter().find(|event| event.connection_id == connection_id);
    // Where something is to be written still, that is newer than what is in the calendar.
    let Some(event) = event.filter(|event| event.is_wanted && event.status == "written") else {
        return Ok(CalendarState::AsItIs);
    };
    let (Some(event_id), Some(lock)) = (&event.event_id, of.lock_of(connection_id)) else {
        return Ok(CalendarState::AsItIs);
    };
    let calendar = items::lock_item(tx, lock, &event.calendar_id).await?;
    if calendar.is_none_or(|calendar| calendar.deleted_at.is_some()) {
        // Without its calendar nothing is known of the event.
        return Ok(CalendarState::AsItIs);
    }
    let Some(item) = items::lock_item(tx, lock, event_id).await? else { return Ok(CalendarState::Gone) };
    match item.deleted_at.map(|at| at + GONE_MS) {
        Some(until) if until > now => return Ok(CalendarState::Waits(until)),
        Some(_) => return Ok(CalendarState::Gone),
        None => {}
    }
    seen_of(&item, (of.meeting.start_at, of.meeting.end_at))
}

fn seen_of(item: &Item, (start_at, end_at): (i64, i64)) -> Result<CalendarState> {
    let event: Event = serde_json::from_str(&item.body)?;
    if event.status == EventStatus::Cancelled || event.my_response == Some(ResponseStatus::Declined) {
        return Ok(CalendarState::Gone);
    }
    let (start, end) = (event.start.as_millis(), event.end.as_millis());
    let is_same = (start - start_at).abs() < SAME_MS && (end - end_at).abs() < SAME_MS;
    Ok(if is_same { CalendarState::AsItIs } else { CalendarState::Moved(start, end) })
}

/// Cancels all bookings of the meeting.
async fn cancel(tx: &mut Tx, app: &App, of: &mut HeldMeeting, now: i64) -> Result<()> {
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    if seats.is_empty() {
        // It took place.
        return Ok(());
    }
    of.give_back(tx, of.meeting.seats_taken, now).await?;
    let mut ended = Vec::with_capacity(seats.len());
    for row in seats {
        let mut seat = Seat::read(row)?;
        state::allows(seat.status()?, BookingStatus::Cancelled)?;
        seat.set_status(BookingStatus::Cancelled);
        seat.body.cancelled_by = Some(Party::Host);
        let shown = (&mut seat, of.events.as_slice());
        change::write(tx, app, shown, (Party::Host, &["cancelled"], &[]), now).await?;
        ended.push(seat);
    }
    of.wake(tx, now).await?;
    for seat in &ended {
        queue::enqueue(tx, (&seat.row, &seat.body), of.event_type(), MailKind::Cancelled, now).await?;
    }
    Ok(())
}

/// Moves all bookings of the meeting. Neither hours nor notice nor the grid bind a host. Where the new time cannot be reserved because a
/// host has something else then, nothing is reserved: in the calendar the event is in the way of others as any event is.
async fn move_to(
    tx: &mut Tx,
    app: &App,
    (of, connection_id): (&mut HeldMeeting, &str),
    (start, end): (i64, i64),
    now: i64,
) -> Result<()> {
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    if seats.is_empty() {
        // It took place.
        return Ok(());
    }
    (of.meeting.start_at, of.meeting.end_at) = (start, end);
    of.meeting.sequence += 1;
    of.meeting.updated_at = now;
    meetings::update(tx, &of.meeting).await?;
    reserved_times::release(tx, &of.meeting.id).await?;
    let mut warnings: Vec<Value> = Vec::new();
    // Also where nothing was reserved before: a meeting that has an event takes time, and may have been moved onto another one.
    if !reserve(tx, of, now).await? {
        reserved_times::release(tx, &of.meeting.id).await?;
        let message = "the host moved the booking to a time at which a host has something else";
        warnings.push(json!({ "code": "overlaps", "message": message, "target": "start" }));
    }
    of.want(tx, &[], now).await?;
    of.mark_written(tx, connection_id, now).await?;
    let mut moved = Vec::new();
    for row in seats {
        let mut seat = Seat::read(row)?;
        state::allows_move(seat.status()?, Party::Host)?;
        seat.body.previous_start = Some(Instant::from_millis(seat.row.start_at));
        (seat.row.start_at, seat.row.end_at) = (start, end);
        seat.body.start = Instant::from_millis(start);
        seat.body.end = Instant::from_millis(end);
        seat.body.reschedule_count += 1;
        seat.body.rescheduled_by = Some(Party::Host);
        seat.body.sequence += 1;
        // Nobody confirms what has begun.
        seat.row.confirm_by = seat.row.confirm_by.map(|at| at.min(start));
        let shown = (&mut seat, of.events.as_slice());
        change::write(tx, app, shown, (Party::Host, &["rescheduled"], &warnings), now).await?;
        moved.push(seat);
    }
    of.wake(tx, now).await?;
    for Seat { row, body } in &moved {
        match row.status.as_str() {
            "confirmed" => timed_transitions::enqueue_completion(tx, row, now).await?,
            _ => timed_transitions::enqueue_expiry(tx, row, now).await?,
        }
        queue::enqueue(tx, (row, body), of.event_type(), MailKind::Rescheduled, now).await?;
    }
    Ok(())
}

/// Reserves the meeting's time where that is possible.
async fn reserve(tx: &mut Tx, of: &HeldMeeting, now: i64) -> Result<bool> {
    let length = of.meeting.end_at - of.meeting.start_at;
    if !(1..=MAX_LENGTH_MS).contains(&length) {
        return Ok(false);
    }
    match of.reserve(tx, now).await {
        // The account of one of the hosts was disconnected.
        Err(e) if e.code() == Some(Code::SlotUnavailable) => Ok(false),
        reserved => reserved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(body: &Value) -> Item {
        Item {
            id: "evt_1".to_owned(),
            connection_id: "conn_1".to_owned(),
            kind: "event".to_owned(),
            parent_id: "cal_1".to_owned(),
            external_id: "x".to_owned(),
            source_id: "x".to_owned(),
            series_id: None,
            provider_etag: None,
            etag: String::new(),
            hash: String::new(),
            body: body.to_string(),
            metadata: "{}".to_owned(),
            provider_data: None,
            uid: None,
            is_series: false,
            sort_at: 0,
            until_at: 0,
            sort_text: String::new(),
            search_text: String::new(),
            is_open: false,
            flags: 0,
            fingerprint: None,
            aside: None,
            sequence: 0,
            created_at: 0,
            updated_at: 0,
            deleted_at: None,
        }
    }

    #[test]
    fn what_a_calendar_says() {
        let times = |start: &str, end: &str| json!({ "start": start, "end": end });
        let at: (i64, i64) = (0, 1_800_000);
        let seen = |body: &Value| seen_of(&item(body), at).unwrap();
        let own = times("1970-01-01T00:00:00Z", "1970-01-01T00:30:00Z");
        assert_eq!(seen(&own), CalendarState::AsItIs);
        assert_eq!(seen(&times("1970-01-01T00:00:30Z", "1970-01-01T00:30:00Z")), CalendarState::AsItIs);
        let longer = times("1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z");
        assert_eq!(seen(&longer), CalendarState::Moved(0, 3_600_000));
        for (field, value) in [("status", "cancelled"), ("myResponse", "declined")] {
            let mut body = own.clone();
            body[field] = json!(value);
            assert_eq!(seen(&body), CalendarState::Gone, "{field}");
        }
    }
}
