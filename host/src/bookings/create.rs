//! Takes a slot. What the calendars say is read first; everything else is decided and written in one transaction, under locks that let
//! exactly one of several requests for the same time succeed, and the database refuses besides what would put a host in two places.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use base::error::{Code, Error, Result, not_found, refuse};
use base::ids::Kind;
use model::scheduling::booking::{Booking, NewBooking};
use scheduling::assign;
use scheduling::interval::Interval;
use scheduling::oracle::{Oracle, Refusal};
use scheduling::rules::Rules;
use serde_json::{Value, json};
use storage::Tx;
use storage::locked::ConnectionLock;
use storage::scheduling::bookings::{self as table, BookingRow};
use storage::scheduling::event_types;
use storage::scheduling::meeting_events::{self, MeetingEventRow};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::reserved_times::{self, NewReserved, Part};
use url::Url;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::bookings::gather::{self, Busy};
use crate::bookings::links::{self, Bookable};
use crate::bookings::{event_write, new_booking, rules, state, view};
use crate::log::{self, Note, Origin};
use crate::resources::Asker;

/// Calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_secs(8);
/// How often a booking is decided anew because the event type was changed meanwhile.
const TRIES: usize = 3;

/// A booking that is decided in its transaction.
#[derive(Clone)]
struct Wanted {
    /// The booking's id.
    id: String,
    bookable: Bookable,
    booking: Booking,
    metadata: String,
    rules: Rules,
    busy: Busy,
    sees_hosts: bool,
    warnings: Vec<Value>,
}

/// Books a slot.
///
/// # Errors
/// 409 `slot_unavailable` where the search offers no such slot, 409 `booking_limit_reached` for an invitee who has as many bookings ahead as
/// the event type allows, 503 `availability_unknown` where nobody knows whether it is free.
pub async fn create(
    app: &App,
    (asker, sees_hosts): (&Asker, bool),
    new: &NewBooking,
    warnings: &[Value],
    attempt: &Attempt,
) -> Result<Answer> {
    for _ in 0..TRIES {
        let wanted = prepare(app, (asker, sees_hosts), new, warnings).await?;
        // Those who want the same slot stand in line here, and not before the database.
        let start_ms = new.start.as_millis();
        let _one = app.locks.lock(&format!("book:{}:{start_ms}", wanted.bookable.row.id)).await;
        let (held, attempt) = (app.clone(), attempt.clone());
        let booked: Result<Option<Answer>> =
            app.db.write(move |tx| Box::pin(async move { book(tx, &held, wanted, &attempt).await })).await;
        // None: the event type is not any more as it was read.
        if let Some(answer) = booked? {
            return Ok(answer);
        }
    }
    Err(refuse(Code::Overloaded, "the event type is being changed all the time; try again"))
}

/// Checks what was sent, and reads the hosts' calendars.
async fn prepare(
    app: &App,
    (asker, sees_hosts): (&Asker, bool),
    new: &NewBooking,
    warnings: &[Value],
) -> Result<Wanted> {
    let bookable = links::by_id(app, asker, &new.event_type_id).await?;
    let (booking, minutes) = new_booking::booking(new, &bookable.row.id, &bookable.body)?;
    let start_ms = new.start.as_millis();
    if let Some(token) = &new.slot_token
        && !view::is_slot_current(&app.keyring, token, &bookable.row, (start_ms, minutes))?
    {
        return Err(unavailable("the event type was changed after this slot was offered"));
    }
    let rules = rules::of(&bookable.body, minutes)?;
    let range = starting_at(start_ms);
    let busy = gather::busy(app, asker, (&bookable.body, &rules), range, HashSet::new(), DEADLINE).await;
    let mut warnings = warnings.to_vec();
    if bookable.body.notifications.invitee {
        let message = "no mail was sent to the invitee: this service sends none for bookings";
        warnings.push(
            json!({ "code": "notification_unavailable", "message": message, "target": "inviteeEmail" }),
        );
    }
    let metadata = serde_json::to_string(&new.metadata)?;
    Ok(Wanted {
        id: app.new_id(Kind::Booking),
        bookable,
        booking,
        metadata,
        rules,
        busy,
        sees_hosts,
        warnings,
    })
}

/// The one start that is asked about.
fn starting_at(start_ms: i64) -> Interval {
    Interval::new(start_ms, start_ms.saturating_add(1))
}

/// Decides and writes, with the answer. None: the event type is not any more as it was read. The locks are taken in the order of
/// `storage::scheduling`.
async fn book(tx: &mut Tx, app: &App, wanted: Wanted, attempt: &Attempt) -> Result<Option<Answer>> {
    let event_type = &wanted.bookable.row;
    let Some(row) = event_types::lock(tx, &event_type.tenant, &event_type.id).await? else {
        return Err(not_found("event type"));
    };
    if row.version != event_type.version {
        return Ok(None);
    }
    let mut locks = BTreeMap::new();
    let mut ids: Vec<&str> = wanted.bookable.body.hosts.iter().map(|h| h.connection_id.as_str()).collect();
    ids.sort_unstable();
    for id in ids {
        // One that was disconnected is missing here, and cannot be chosen.
        if let Some(lock) = ConnectionLock::take(tx, &row.tenant, id).await? {
            locks.insert(id.to_owned(), lock);
        }
    }
    let now = app.now();
    let email = wanted.booking.invitee.email.to_lowercase();
    if let Some(most) = wanted.rules.limits.active_per_invitee
        && table::active_of_invitee(&mut *tx, &row.id, &email, now).await? >= i64::from(most)
    {
        let message = format!("this address has {most} bookings ahead, which is the most");
        return Err(refuse(Code::BookingLimitReached, message));
    }
    let hosts = choose(tx, &wanted, now).await?;
    let meeting = meeting(app, &wanted, hosts);
    meetings::insert(tx, &meeting).await?;
    let mut events = Vec::with_capacity(meeting.hosts.len());
    for id in &meeting.hosts {
        let lock = locks.get(id).ok_or_else(|| unavailable("the host's account was disconnected"))?;
        let event = event(&wanted, &meeting, id);
        reserve(tx, lock, &meeting, &event.calendar_id).await?;
        events.push(event);
    }
    let answer = write(tx, app, wanted, (&meeting, &events), email).await?;
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(Some(answer))
}

/// Who takes the meeting, by the very rules that the search for slots goes by.
async fn choose(tx: &mut Tx, wanted: &Wanted, now: i64) -> Result<Vec<String>> {
    let (body, rules) = (&wanted.bookable.body, &wanted.rules);
    let start_ms = wanted.booking.start.as_millis();
    let range = starting_at(start_ms);
    let stored = gather::stored(tx, &wanted.bookable.row.id, (body, rules), range).await?;
    let question = gather::question(body, rules.clone(), range, (&wanted.busy, &stored), now)?;
    let slot = Oracle::new(&question).at(start_ms).map_err(|refusal| refused(&refusal))?;
    Ok(assign::choose(&question, &slot, &[]))
}

fn refused(refusal: &Refusal) -> Error {
    match refusal {
        Refusal::OffGrid => unavailable("slots of this event type do not begin at this time"),
        Refusal::TooSoon => unavailable("this time is past, or sooner than the event type can be booked"),
        Refusal::OutsideWindow => unavailable("this day is outside the days that can be booked"),
        Refusal::Closed => unavailable("this time is outside the hours of the event type"),
        Refusal::Taken => unavailable("this time is taken"),
        Refusal::LimitReached(_) => {
            unavailable("no more meetings of this event type take place in that period")
        }
        Refusal::Unknown(_) => gather::unknown(),
    }
}

/// 409 for a start that the search does not offer.
fn unavailable(why: &str) -> Error {
    refuse(Code::SlotUnavailable, format!("{why}; ask for slots again and choose another one"))
}

/// The meeting that is made for the booking.
fn meeting(app: &App, wanted: &Wanted, hosts: Vec<String>) -> MeetingRow {
    let (booking, rules, now) = (&wanted.booking, &wanted.rules, app.now());
    let address = Url::parse(&app.config.public_address()).ok();
    let domain = address.as_ref().and_then(Url::host_str).unwrap_or("localhost").to_owned();
    MeetingRow {
        id: app.new_id(Kind::Meeting),
        i_cal_uid: format!("{}@{domain}", wanted.id),
        tenant: wanted.bookable.row.tenant.clone(),
        event_type_id: wanted.bookable.row.id.clone(),
        start_at: booking.start.as_millis(),
        end_at: booking.end.as_millis(),
        buffer_before_ms: rules.buffer_before_ms,
        buffer_after_ms: rules.buffer_after_ms,
        hosts,
        seats: i64::from(rules.seats),
        seats_taken: 1,
        sequence: 0,
        released_at: None,
        created_at: now,
        updated_at: now,
    }
}

/// The meeting in one host's calendar, which is not written yet.
fn event(wanted: &Wanted, meeting: &MeetingRow, connection_id: &str) -> MeetingEventRow {
    let host = wanted.bookable.body.hosts.iter().find(|host| host.connection_id == connection_id);
    MeetingEventRow {
        meeting_id: meeting.id.clone(),
        connection_id: connection_id.to_owned(),
        tenant: meeting.tenant.clone(),
        calendar_id: host.and_then(|host| host.calendar_id.clone()).unwrap_or_default(),
        event_id: None,
        i_cal_uid: meeting.i_cal_uid.clone(),
        is_wanted: true,
        status: "pending".to_owned(),
        written_sequence: -1,
        attempts: 0,
        error: None,
        next_attempt_at: None,
        created_at: meeting.created_at,
        updated_at: meeting.created_at,
    }
}

/// Reserves the host's time for the meeting and its buffers.
async fn reserve(tx: &mut Tx, lock: &ConnectionLock, meeting: &MeetingRow, calendar_id: &str) -> Result<()> {
    let (start, end) = (meeting.start_at, meeting.end_at);
    let parts = [
        (Part::Meeting, start, end),
        (Part::Before, start - meeting.buffer_before_ms, start),
        (Part::After, end, end + meeting.buffer_after_ms),
    ];
    for (part, start_at, end_at) in parts.into_iter().filter(|(_, start, end)| start < end) {
        let now = meeting.created_at;
        let new = NewReserved { meeting_id: &meeting.id, part, calendar_id, start_at, end_at, now };
        if !reserved_times::reserve(tx, lock, &new).await? {
            return Err(unavailable("this time is taken"));
        }
    }
    Ok(())
}

/// Writes the booking with its events, its lines in the log and its jobs; the answer.
async fn write(
    tx: &mut Tx,
    app: &App,
    wanted: Wanted,
    (meeting, events): (&MeetingRow, &[MeetingEventRow]),
    invitee_email: String,
) -> Result<Answer> {
    let Wanted { id, bookable, mut booking, metadata, sees_hosts, warnings, .. } = wanted;
    let now = meeting.created_at;
    booking.host_ids = meeting.hosts.clone();
    booking.organizer_connection_id = meeting.hosts.first().cloned();
    booking.i_cal_uid = meeting.i_cal_uid.clone();
    let mut row = BookingRow {
        id,
        tenant: meeting.tenant.clone(),
        event_type_id: bookable.row.id,
        meeting_id: meeting.id.clone(),
        status: state::as_str(booking.status).to_owned(),
        start_at: meeting.start_at,
        end_at: meeting.end_at,
        invitee_email,
        body: serde_json::to_string(&booking)?,
        metadata,
        etag: String::new(),
        version: 1,
        confirm_by: None,
        manage_version: 1,
        created_at: now,
        updated_at: now,
    };
    row.etag = view::etag(&(&row.id, row.version, &row.body, &row.metadata))?;
    table::insert(tx, &row).await?;
    for event in events {
        meeting_events::insert(tx, event).await?;
    }
    let whole = view::booking(&row, &booking, events, true)?.to_string();
    let notes = [("created", "created"), ("confirmed", "state")].map(|(what, change_type)| Note {
        connection_id: booking.organizer_connection_id.clone(),
        entry_type: format!("booking.{what}"),
        change_type,
        resource_type: "booking",
        resource_id: row.id.clone(),
        parent_id: row.event_type_id.clone(),
        changed_fields: None,
        etag: Some(row.etag.clone()),
        origin: Origin::Api,
        resource: Some(whole.clone()),
    });
    log::append(tx, app, &row.tenant, notes.into()).await?;
    for event in events {
        event_write::enqueue(tx, &row.tenant, (&event.meeting_id, &event.connection_id), now).await?;
    }
    let mut printed = view::booking(&row, &booking, events, sees_hosts)?;
    printed["warnings"] = Value::from(warnings);
    Ok(Answer::created(printed.to_string()).etag(&row.etag))
}
