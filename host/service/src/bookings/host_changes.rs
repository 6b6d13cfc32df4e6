//! Applies a host's changes to a meeting's event in their own calendar: a rescheduled event reschedules the meeting; a deleted, cancelled
//! or declined one cancels it; one that was moved to another calendar is searched for there (`relocation`). If the provider creates a
//! conference link after the event, the link is copied into the bookings; until then the provider is polled (`conference::next_look`). Such
//! events are found in the transaction that stores them (`storage::scheduling::meeting_events`), and processed by a job.

use base::error::{Code, Result};
use model::calendar::{Event, EventStatus, ResponseStatus};
use model::scheduling::booking::{BookingStatus, Party};
use scheduling::interval::Interval;
use serde_json::{Value, json};
use storage::Tx;
use storage::items::{self, Item};
use storage::jobs::{self, Job, NewJob};
use storage::scheduling::meeting_events::{self, MeetingEventRow, RECHECK_JOB};
use storage::scheduling::reserved_times::{self, MAX_LENGTH_MS};
use storage::scheduling::{bookings, meetings};
use storage::sync_states;
use storage::wakes::JobClass;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::bookings::change::{self, BookingChange, MAX_ATTEMPTS, Seat};
use crate::bookings::locked_meeting::{HeldMeeting, HostLocks, contended};
use crate::bookings::notify::kind::{MailKind, NotifiedBooking};
use crate::bookings::notify::queue;
use crate::bookings::relocation::EventSearch;
use crate::bookings::{all_day, conference, join_link, relocation, state, timed_transitions};
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// Tolerance for start and end, ms: providers store times to the minute.
const SAME_MS: i64 = 60_000;
/// The shortest and the longest interval between checks of a calendar that reappeared and is still being read, ms. The interval equals the
/// time since the calendar reappeared.
const RETURNING_MS: (i64, i64) = (60_000, 3_600_000);

/// The job kind that checks whether a host has moved or deleted the event of a meeting, and whether its conference has a link; the key is
/// `<meeting id>:<connection id>`.
pub const BOOKING_RECHECK: JobKind = JobKind {
    name: RECHECK_JOB,
    class: JobClass::Send,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(follow(&turn.app, &turn.job)),
};

/// The result of a check of the calendar.
#[derive(Debug)]
enum CalendarCheck {
    Ended(JobEnd),
    /// Read the calendar from the provider now, and check again at this time, ms since 1970.
    Asks(i64),
    /// Search for the event.
    Missing(Box<MissingEvent>),
}

/// An event of a meeting that is missing where it was written.
#[derive(Clone, Debug)]
struct MissingEvent {
    row: MeetingEventRow,
    absence: EventAbsence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EventAbsence {
    /// Time since which it is missing, ms since 1970.
    since: i64,
    /// Whether the calendar still exists: if the event is in no other calendar either, it was deleted.
    ends_meeting: bool,
}

/// The state of a meeting in the host's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CalendarState {
    /// The calendar does not decide: it has no such event, or a newer state is still to be written.
    Unknown,
    AsItIs,
    /// The calendar reappeared at this time (ms since 1970), and has not been read completely since.
    Returning(i64),
    /// The meeting is cancelled.
    Gone,
    Missing(EventAbsence),
    /// The meeting takes place at this time.
    Moved(Interval),
    /// The event is an all-day event, unlike the meeting.
    AllDay,
}

/// Updates the bookings of a meeting from its organizer's calendar.
async fn follow(app: &App, job: &Job) -> Result<JobEnd> {
    for _ in 0..MAX_ATTEMPTS {
        match attempt(app, job).await {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            // The meeting was purged.
            Err(e) if e.code() == Some(Code::NotFound) => return Ok(JobEnd::Done),
            Err(e) => return Err(e),
        }
    }
    Err(contended())
}

/// Tries once. None: the meeting or its event was changed concurrently.
async fn attempt(app: &App, job: &Job) -> Result<Option<JobEnd>> {
    let (held, of) = (app.clone(), job.clone());
    let looked: Result<Option<CalendarCheck>> =
        app.db.write(move |tx| Box::pin(async move { load_check(tx, &held, &of).await })).await;
    let missing = match looked? {
        None => return Ok(None),
        Some(CalendarCheck::Ended(outcome)) => return Ok(Some(outcome)),
        Some(CalendarCheck::Asks(again_at)) => {
            join_link::ask(app, job).await;
            return Ok(Some(JobEnd::At(again_at)));
        }
        Some(CalendarCheck::Missing(missing)) => missing,
    };
    let found = relocation::search(app, &missing.row, missing.absence.since).await?;
    let held = app.clone();
    app.db.write(move |tx| Box::pin(async move { settle(tx, &held, &missing, &found).await })).await
}

/// Loads and checks the state of the meeting. None: its hosts were changed concurrently.
async fn load_check(tx: &mut Tx, app: &App, job: &Job) -> Result<Option<CalendarCheck>> {
    let done = Some(CalendarCheck::Ended(JobEnd::Done));
    let Some((meeting_id, connection_id)) = job.key().split_once(':') else { return Ok(done) };
    let Some(seen) = meetings::find(&mut *tx, meeting_id).await? else { return Ok(done) };
    let of = HeldMeeting::lock(tx, &seen.tenant, &seen.event_type_id, &seen.id, HostLocks::OfMeeting).await?;
    let Some(mut of) = of else { return Ok(None) };
    let now = app.now();
    // Contract silent: whose calendar decides where there are several hosts. The organizer's.
    let is_organizers = of.meeting.hosts.first().is_some_and(|id| id == connection_id);
    // A past meeting has taken place, even if the jobs that complete its bookings are late.
    if !is_organizers || of.meeting.released_at.is_some() || of.meeting.end_at <= now {
        return Ok(done);
    }
    match seen_in_calendar(tx, &of, connection_id).await? {
        found @ (CalendarState::AsItIs | CalendarState::Unknown) => {
            if found == CalendarState::AsItIs {
                all_day::unmark(tx, app, &mut of, connection_id, now).await?;
            }
            let pending_since = join_link::take(tx, app, &of, connection_id, now).await?;
            let next = pending_since.and_then(|since| conference::next_look(since, now));
            Ok(next.map_or(done, |(at, is_due)| {
                Some(if is_due { CalendarCheck::Asks(at) } else { CalendarCheck::Ended(JobEnd::At(at)) })
            }))
        }
        CalendarState::Missing(absence) => {
            let row = of.events.into_iter().find(|event| event.connection_id == connection_id);
            Ok(row.map_or(done, |row| Some(CalendarCheck::Missing(Box::new(MissingEvent { row, absence })))))
        }
        CalendarState::Returning(since) => {
            let wait = now.saturating_sub(since).clamp(RETURNING_MS.0, RETURNING_MS.1);
            Ok(Some(CalendarCheck::Ended(JobEnd::At(now.saturating_add(wait)))))
        }
        CalendarState::AllDay => {
            all_day::mark(tx, app, &mut of, connection_id, now).await?;
            Ok(done)
        }
        CalendarState::Gone => {
            cancel(tx, app, &mut of, now).await?;
            Ok(done)
        }
        CalendarState::Moved(to) => {
            move_to(tx, app, &mut of, connection_id, to, now).await?;
            // The same change may have brought the conference link, which is processed next.
            let is_moved = Interval::new(of.meeting.start_at, of.meeting.end_at) == to;
            Ok(if is_moved { Some(CalendarCheck::Ended(JobEnd::At(now))) } else { done })
        }
    }
}

async fn seen_in_calendar(tx: &mut Tx, of: &HeldMeeting, connection_id: &str) -> Result<CalendarState> {
    let event = of.events.iter().find(|event| event.connection_id == connection_id);
    // A pending write is newer than the calendar.
    let Some(event) = event.filter(|event| event.is_wanted && event.status == "written") else {
        return Ok(CalendarState::Unknown);
    };
    let (Some(event_id), Some(lock)) = (&event.event_id, of.lock_of(connection_id)) else {
        return Ok(CalendarState::Unknown);
    };
    let calendar = items::lock_item(tx, lock, &event.calendar_id).await?;
    let ends_meeting = calendar.as_ref().is_some_and(|calendar| calendar.deleted_at.is_none());
    // The events of a calendar that reappeared may arrive later than the calendar itself; until then they seem missing.
    let listed_at = calendar.map_or(0, |calendar| calendar.created_at);
    let surface = ResourceKind::Calendar.surface().as_str();
    let read = sync_states::lock_state(tx, lock, (surface, &event.calendar_id)).await?;
    if ends_meeting && read.is_some_and(|state| state.is_return) {
        return Ok(CalendarState::Returning(listed_at));
    }
    let item = items::lock_item(tx, lock, event_id).await?;
    match item.map(|item| (item.deleted_at, item)) {
        // It was purged long ago.
        None => Ok(CalendarState::Missing(EventAbsence { since: listed_at, ends_meeting })),
        Some((Some(deleted_at), _)) => {
            Ok(CalendarState::Missing(EventAbsence { since: deleted_at.max(listed_at), ends_meeting }))
        }
        // Without its calendar the event's state is unknown.
        Some((None, _)) if !ends_meeting => Ok(CalendarState::Unknown),
        Some((None, item)) => seen_of(&item, Interval::new(of.meeting.start_at, of.meeting.end_at)),
    }
}

fn seen_of(item: &Item, before: Interval) -> Result<CalendarState> {
    let event: Event = serde_json::from_str(&item.body)?;
    if event.status == EventStatus::Cancelled || event.my_response == Some(ResponseStatus::Declined) {
        return Ok(CalendarState::Gone);
    }
    let at = Interval::new(event.start.as_millis(), event.end.as_millis());
    let is_same = (at.start - before.start).abs() < SAME_MS && (at.end - before.end).abs() < SAME_MS;
    Ok(match is_same {
        true => CalendarState::AsItIs,
        false if event.all_day => CalendarState::AllDay,
        false => CalendarState::Moved(at),
    })
}

/// Decides on a missing event after a search. None: the meeting or its event was changed concurrently.
async fn settle(
    tx: &mut Tx,
    app: &App,
    missing: &MissingEvent,
    found: &EventSearch,
) -> Result<Option<JobEnd>> {
    let MissingEvent { row, absence } = missing;
    let done = Some(JobEnd::Done);
    let Some(seen) = meetings::find(&mut *tx, &row.meeting_id).await? else { return Ok(done) };
    let of = HeldMeeting::lock(tx, &seen.tenant, &seen.event_type_id, &seen.id, HostLocks::OfMeeting).await?;
    let Some(mut of) = of else { return Ok(None) };
    let now = app.now();
    if of.meeting.released_at.is_some() || of.meeting.end_at <= now {
        return Ok(done);
    }
    // It may have reappeared during the search.
    let is_missing = of.events.contains(row)
        && seen_in_calendar(tx, &of, &row.connection_id).await? == CalendarState::Missing(*absence);
    if !is_missing {
        return Ok(None);
    }
    if let Some(location) = &found.location {
        let is_there = relocation::follow(tx, app, &mut of, &row.connection_id, location, now).await?;
        // It may have another time there.
        return Ok(is_there.then_some(JobEnd::At(now)));
    }
    if !absence.ends_meeting {
        return Ok(done);
    }
    if let Some(next) = relocation::next_search(absence.since, found.is_complete, now) {
        return Ok(Some(JobEnd::At(next)));
    }
    forget_event(tx, &mut of, &row.connection_id).await?;
    cancel(tx, app, &mut of, now).await?;
    Ok(done)
}

/// Records that the event of a meeting no longer exists: there is nothing to delete or to search for.
async fn forget_event(tx: &mut Tx, of: &mut HeldMeeting, connection_id: &str) -> Result<()> {
    let event = of.events.iter_mut().find(|event| event.connection_id == connection_id);
    let Some(event) = event else { return Ok(()) };
    (event.event_id, event.is_wanted, event.next_attempt_at) = (None, false, None);
    event.status = "deleted".to_owned();
    Ok(meeting_events::update(tx, event).await?)
}

/// Cancels all bookings of the meeting.
async fn cancel(tx: &mut Tx, app: &App, of: &mut HeldMeeting, now: i64) -> Result<()> {
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    if seats.is_empty() {
        // It took place.
        return Ok(());
    }
    of.give_back(tx, of.meeting.seats_taken, now).await?;
    let mut seats: Vec<Seat> = seats.into_iter().map(Seat::read).collect::<Result<_>>()?;
    for seat in &mut seats {
        state::allows(seat.status()?, BookingStatus::Cancelled)?;
        seat.set_status(BookingStatus::Cancelled);
        seat.body.cancelled_by = Some(Party::Host);
    }
    let change = BookingChange { events: &of.events, by: Party::Host, words: &["cancelled"], warnings: &[] };
    change::write_all(tx, app, &mut seats, &change, now).await?;
    of.wake(tx, now).await?;
    let told: Vec<NotifiedBooking<'_>> = seats.iter().map(Seat::for_mail).collect();
    queue::enqueue(tx, &told, of.event_type(), MailKind::Cancelled, now).await
}

/// Reschedules all bookings of the meeting. Opening hours, notice and the grid do not restrict a host. If another booking of a host
/// prevents the reservation of the new time, nothing is reserved: the event itself makes the host busy.
async fn move_to(
    tx: &mut Tx,
    app: &App,
    of: &mut HeldMeeting,
    connection_id: &str,
    to: Interval,
    now: i64,
) -> Result<()> {
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    if seats.is_empty() {
        // It took place.
        return Ok(());
    }
    (of.meeting.start_at, of.meeting.end_at) = (to.start, to.end);
    of.meeting.sequence += 1;
    of.meeting.updated_at = now;
    meetings::update(tx, &of.meeting).await?;
    reserved_times::release(tx, &of.meeting.id).await?;
    let mut warnings: Vec<Value> = Vec::new();
    // Even if nothing was reserved before: a meeting with an event takes time, and may have been moved onto another one.
    if !reserve(tx, of, now).await? {
        reserved_times::release(tx, &of.meeting.id).await?;
        let message = "the host moved the booking to a time at which a host has something else";
        warnings.push(json!({ "code": "overlaps", "message": message, "target": "start" }));
    }
    of.want(tx, &[], now).await?;
    of.mark_written(tx, connection_id, now).await?;
    let mut moved: Vec<Seat> = seats.into_iter().map(Seat::read).collect::<Result<_>>()?;
    for seat in &mut moved {
        state::allows_move(seat.status()?, Party::Host)?;
        seat.move_to(to.start, to.end, Party::Host);
        // It cannot be confirmed after its start.
        seat.row.confirm_by = seat.row.confirm_by.map(|at| at.min(to.start));
    }
    let change =
        BookingChange { events: &of.events, by: Party::Host, words: &["rescheduled"], warnings: &warnings };
    change::write_all(tx, app, &mut moved, &change, now).await?;
    of.wake(tx, now).await?;
    let ends = moved.iter().filter_map(|Seat { row, .. }| match row.status.as_str() {
        "confirmed" => Some(timed_transitions::complete_at(&row.id, &row.tenant, row.end_at)),
        _ => Some(timed_transitions::expire_at(&row.id, &row.tenant, row.confirm_by?)),
    });
    let ends: Vec<NewJob<'_>> = ends.collect();
    jobs::enqueue_all(tx, &ends, now).await?;
    let told: Vec<NotifiedBooking<'_>> = moved.iter().map(Seat::for_mail).collect();
    queue::enqueue(tx, &told, of.event_type(), MailKind::Rescheduled, now).await
}

/// Reserves the meeting's time if possible.
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
            series_name: None,
            provider_etag: None,
            provider_updated_at: None,
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
        let at = Interval::new(0, 1_800_000);
        let seen = |body: &Value| seen_of(&item(body), at).unwrap();
        let own = times("1970-01-01T00:00:00Z", "1970-01-01T00:30:00Z");
        assert_eq!(seen(&own), CalendarState::AsItIs);
        assert_eq!(seen(&times("1970-01-01T00:00:30Z", "1970-01-01T00:30:00Z")), CalendarState::AsItIs);
        let longer = times("1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z");
        assert_eq!(seen(&longer), CalendarState::Moved(Interval::new(0, 3_600_000)));
        let mut day = times("1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z");
        day["allDay"] = json!(true);
        assert_eq!(seen(&day), CalendarState::AllDay);
        let lasts_a_day = seen_of(&item(&day), Interval::new(0, 86_400_000)).unwrap();
        assert_eq!(lasts_a_day, CalendarState::AsItIs, "a meeting of 24 hours may be one");
        for (field, value) in [("status", "cancelled"), ("myResponse", "declined")] {
            let mut body = own.clone();
            body[field] = json!(value);
            assert_eq!(seen(&body), CalendarState::Gone, "{field}");
        }
    }
}
