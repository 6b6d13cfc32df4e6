//! Decides on a booking and writes it, in one transaction under locks: the event type's, which serializes decisions about the same event
//! type, and those of the chosen hosts. Conflicts with other event types of these hosts are found by the database: it refuses overlapping
//! reservations.

use std::collections::BTreeSet;

use base::error::{Code, Error, Result, not_found, refuse};
use base::ids::Kind;
use model::scheduling::booking::{Booking, BookingStatus};
use model::scheduling::event_type::HostRole;
use scheduling::assign;
use scheduling::interval::{Interval, Intervals};
use scheduling::oracle::{Oracle, Refusal, Slot};
use scheduling::rules::{Question, Rules};
use serde_json::Value;
use storage::Tx;
use storage::locked::ConnectionLock;
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::event_types::{self, EventTypeRow};
use storage::scheduling::meeting_events::{self, EVENT_JOB, MeetingEventRow, MeetingHost};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::reserved_times::{self, NewReserved};
use storage::scheduling::{bookings as table, links};
use url::Url;

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::engine_input::{self, HostBusyTimes, SlotRange};
use crate::bookings::invitee_limit::MailedAddresses;
use crate::bookings::links::Bookable;
use crate::bookings::locked_meeting::{find_join_url, unavailable};
use crate::bookings::notify::kind::{MailKind, NotifiedBooking};
use crate::bookings::notify::queue;
use crate::bookings::{manage_token, new_booking, rotation, schedules, state, timed_transitions, view};

/// A booking to decide on.
#[derive(Clone)]
pub struct BookingDecision {
    /// The booking's id.
    pub id: String,
    pub bookable: Bookable,
    pub booking: Booking,
    pub metadata: String,
    /// Hours of the clock (12 or 24) that the invitee chose.
    pub clock_hours: Option<i64>,
    pub rules: Rules,
    pub busy: HostBusyTimes,
    /// Whether there are candidate hosts whose calendars were not read: they count as busy.
    pub is_partial: bool,
    pub sees_hosts: bool,
    /// Most bookings of each of its addresses in the application within an hour; none: no limit.
    pub most_an_hour: Option<u32>,
    pub warnings: Vec<Value>,
}

/// The reason why a booking was not made. Its transaction is rolled back.
pub enum BookingRefusal {
    Refused(Error),
    /// The event type, or its schedule, was changed since it was read.
    Changed,
    /// None of the hosts whose calendars were read is free, and there are others.
    Unread,
    /// Another booking took a host's time, or the last seat, in the meantime: the slot must be evaluated again.
    Taken,
    /// The account of this host was disconnected.
    Gone(String),
    /// The stored bookings leave no room in the slot, whatever the calendars contain.
    SoldOut(Refusal),
}

impl From<Error> for BookingRefusal {
    fn from(e: Error) -> BookingRefusal {
        BookingRefusal::Refused(e)
    }
}

impl From<anyhow::Error> for BookingRefusal {
    fn from(e: anyhow::Error) -> BookingRefusal {
        BookingRefusal::Refused(e.into())
    }
}

/// The range with this single start.
pub fn starting_at(start_ms: i64) -> Interval {
    Interval::new(start_ms, start_ms.saturating_add(1))
}

/// Decides and writes the booking and its answer. The locks are taken in the order of `storage::scheduling`.
pub async fn book(
    tx: &mut Tx,
    app: &App,
    wanted: BookingDecision,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse, BookingRefusal> {
    let Bookable { row: seen, body, link, schedule_etag } = &wanted.bookable;
    let Some(row) = event_types::lock(tx, &seen.tenant, &seen.id).await? else {
        return Err(not_found("event type").into());
    };
    if row.version != seen.version {
        return Err(BookingRefusal::Changed);
    }
    if let Some(id) = &body.schedule_id
        && !schedules::is_current(tx, &row.tenant, id, schedule_etag.as_deref()).await?
    {
        return Err(BookingRefusal::Changed);
    }
    let now = app.now();
    let addresses = MailedAddresses::from_booking(&wanted.booking);
    if let Some(most) = wanted.rules.limits.active_per_invitee
        && table::active_of_invitee(&mut *tx, &row.id, addresses.invitee(), now).await? >= i64::from(most)
    {
        let message = format!("this address has {most} bookings ahead, which is the most");
        return Err(refuse(Code::BookingLimitReached, message).into());
    }
    let (question, slot) = evaluate_slot(tx, &wanted, &row, now).await?;
    let booked = match &slot.joins {
        Some(id) => join(tx, id, now).await?,
        None => open(tx, app, &wanted, assign::choose(&question, &slot, &[])).await?,
    };
    if let Some(link) = link
        && !links::take_use(tx, link, now).await?
    {
        return Err(not_found("booking link").into());
    }
    let most_an_hour = wanted.most_an_hour;
    let answer = write(tx, app, wanted, booked, &addresses).await?;
    if let Some(most) = most_an_hour {
        addresses.ensure_within(tx, &row.tenant, most, now).await?;
    }
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// Evaluates the slot with the rules of the slot search.
async fn evaluate_slot(
    tx: &mut Tx,
    wanted: &BookingDecision,
    row: &EventTypeRow,
    now: i64,
) -> Result<(Question, Slot), BookingRefusal> {
    let (body, rules) = (&wanted.bookable.body, &wanted.rules);
    let start_ms = wanted.booking.start.as_millis();
    let range = starting_at(start_ms);
    let stored =
        engine_input::stored(&mut *tx, &row.id, SlotRange { event_type: body, rules, range }).await?;
    let mut question = engine_input::question(body, rules.clone(), range, &wanted.busy, &stored, now)?;
    rotation::count(&mut *tx, row, &mut question, start_ms).await?;
    let found = Oracle::new(&question).at(start_ms);
    match found {
        Ok(slot) => Ok((question, slot)),
        Err(refusal) => Err(stop(question, &refusal, wanted.is_partial)),
    }
}

/// Maps a refusal: if the slot is full even with empty calendars, it is full for other requests too.
fn stop(mut question: Question, refusal: &Refusal, is_partial: bool) -> BookingRefusal {
    for host in &mut question.hosts {
        host.busy = Some(Intervals::default());
    }
    match (Oracle::new(&question).at(question.range.start), refusal) {
        (Err(full @ (Refusal::Taken | Refusal::LimitReached(_))), _) => BookingRefusal::SoldOut(full),
        (_, Refusal::Taken | Refusal::Unknown(_)) if is_partial => BookingRefusal::Unread,
        _ => refused(refusal).into(),
    }
}

/// The error for a start that the search does not offer.
pub fn refused(refusal: &Refusal) -> Error {
    match refusal {
        Refusal::OffGrid => unavailable("slots of this event type do not begin at this time"),
        Refusal::TooSoon => unavailable("this time is past, or sooner than the event type can be booked"),
        Refusal::OutsideWindow => unavailable("this day is outside the days that can be booked"),
        Refusal::Closed => unavailable("this time is outside the hours of the event type"),
        Refusal::Taken => unavailable("this time is taken"),
        Refusal::LimitReached(_) => {
            unavailable("no more meetings of this event type take place in that period")
        }
        Refusal::Unknown(_) => engine_input::unknown(),
    }
}

/// The meeting that a booking has a seat in.
struct BookedMeeting {
    meeting: MeetingRow,
    events: Vec<MeetingEventRow>,
    /// Whether it was created for this booking.
    is_new: bool,
}

/// Takes a seat in an existing meeting.
async fn join(tx: &mut Tx, meeting_id: &str, now: i64) -> Result<BookedMeeting, BookingRefusal> {
    if !meetings::take_seat(tx, meeting_id, now).await? {
        return Err(BookingRefusal::Taken);
    }
    let meeting = meetings::find(&mut *tx, meeting_id).await?.ok_or(BookingRefusal::Taken)?;
    let events = meeting_events::of_meeting(&mut *tx, meeting_id).await?;
    Ok(BookedMeeting { meeting, events, is_new: false })
}

/// Creates a meeting with these hosts, and reserves their time.
async fn open(
    tx: &mut Tx,
    app: &App,
    wanted: &BookingDecision,
    hosts: Vec<String>,
) -> Result<BookedMeeting, BookingRefusal> {
    let meeting = meeting(app, wanted, hosts);
    let ids: BTreeSet<&String> = meeting.hosts.iter().collect();
    let locks = ConnectionLock::take_all(tx, &meeting.tenant, &ids).await?;
    if let Some(gone) = ids.into_iter().find(|id| !locks.iter().any(|lock| lock.id == **id)) {
        return Err(BookingRefusal::Gone(gone.clone()));
    }
    meetings::insert(tx, &meeting).await?;
    if !takes_time(wanted) {
        return Ok(BookedMeeting { meeting, events: Vec::new(), is_new: true });
    }
    let reserved = locks.iter().flat_map(|lock| {
        NewReserved::of_meeting(&meeting, lock, calendar_of(wanted, &lock.id), meeting.created_at)
    });
    let reserved: Vec<NewReserved<'_>> = reserved.collect();
    if !reserved_times::reserve(tx, &reserved).await? {
        return Err(BookingRefusal::Taken);
    }
    // Optional hosts get the event as well, as their invitation. Their time is not reserved.
    let optional = wanted.bookable.body.hosts.iter().filter(|host| host.role == HostRole::Optional);
    let optional = optional.map(|host| &host.connection_id);
    let events: Vec<MeetingEventRow> =
        meeting.hosts.iter().chain(optional).map(|id| event(wanted, &meeting, id)).collect();
    meeting_events::upsert(tx, &events).await?;
    Ok(BookedMeeting { meeting, events, is_new: true })
}

/// Whether the time is reserved now, or only when the booking is confirmed.
// Contract silent: a pending booking of a meeting with several seats. It holds its seat whatever `pendingBlocksSlot` says: without a
// meeting there would be nothing that others could join.
fn takes_time(wanted: &BookingDecision) -> bool {
    let is_pending = wanted.booking.status == BookingStatus::Pending;
    !is_pending || wanted.bookable.body.pending_blocks_slot || wanted.rules.seats > 1
}

/// The new meeting of a booking. With several seats its event and its UID belong to no single booking.
fn meeting(app: &App, wanted: &BookingDecision, hosts: Vec<String>) -> MeetingRow {
    let (booking, rules, now) = (&wanted.booking, &wanted.rules, app.now());
    let id = app.new_id(Kind::Meeting);
    let named_after = if rules.seats > 1 { &id } else { &wanted.id };
    MeetingRow {
        i_cal_uid: uid(app, named_after),
        id,
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

/// The iCalendar UID (RFC 5545): an id at this service's domain.
fn uid(app: &App, id: &str) -> String {
    let address = Url::parse(&app.config.public_address()).ok();
    let domain = address.as_ref().and_then(Url::host_str).unwrap_or("localhost");
    format!("{id}@{domain}")
}

/// The host's calendar for new meetings.
fn calendar_of<'w>(wanted: &'w BookingDecision, connection_id: &str) -> &'w str {
    let mut hosts = wanted.bookable.body.hosts.iter();
    let host = hosts.find(|host| host.connection_id == connection_id);
    host.and_then(|host| host.calendar_id.as_deref()).unwrap_or_default()
}

/// The meeting's event in one host's calendar, to be written.
fn event(wanted: &BookingDecision, meeting: &MeetingRow, connection_id: &str) -> MeetingEventRow {
    MeetingEventRow {
        meeting_id: meeting.id.clone(),
        connection_id: connection_id.to_owned(),
        tenant: meeting.tenant.clone(),
        calendar_id: calendar_of(wanted, connection_id).to_owned(),
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

/// Writes the booking with its log entries and jobs, and the events' jobs if the meeting is new. Returns the answer.
async fn write(
    tx: &mut Tx,
    app: &App,
    wanted: BookingDecision,
    booked: BookedMeeting,
    addresses: &MailedAddresses,
) -> Result<StoredResponse> {
    let BookingDecision { id, bookable, mut booking, metadata, sees_hosts, warnings, .. } = wanted;
    let BookedMeeting { meeting, events, is_new } = booked;
    let now = app.now();
    let organizer = meeting.hosts.first();
    booking.title = new_booking::title(&bookable.body, &booking.invitee, organizer.map(String::as_str));
    booking.host_ids = meeting.hosts.clone();
    booking.organizer_connection_id = organizer.cloned();
    booking.i_cal_uid = if meeting.seats > 1 { uid(app, &id) } else { meeting.i_cal_uid.clone() };
    if !is_new {
        find_join_url(tx, &id, &mut booking, &meeting.id).await?;
    }
    let is_pending = booking.status == BookingStatus::Pending;
    let mut row = BookingRow {
        id,
        tenant: meeting.tenant.clone(),
        event_type_id: bookable.row.id,
        meeting_id: meeting.id.clone(),
        status: state::as_str(booking.status).to_owned(),
        start_at: meeting.start_at,
        end_at: meeting.end_at,
        invitee_email: addresses.invitee().to_owned(),
        body: serde_json::to_string(&booking)?,
        metadata,
        etag: String::new(),
        version: 1,
        confirm_by: is_pending.then(|| timed_transitions::confirm_by(&bookable.body, meeting.start_at, now)),
        manage_version: 1,
        clock_hours: wanted.clock_hours,
        decided_at: None,
        decided_by: None,
        created_at: now,
        updated_at: now,
    };
    row.etag = view::etag(&(&row.id, row.version, &row.body, &row.metadata))?;
    table::insert(tx, &row).await?;
    addresses.count(tx, &row.tenant, &row.id, now).await?;
    event_log::append(tx, app, &row.tenant, log_entries(&row, &booking, &events)?).await?;
    if is_new {
        let hosts: Vec<MeetingHost<'_>> = events.iter().map(MeetingHost::from).collect();
        meeting_events::enqueue(tx, EVENT_JOB, &hosts, now).await?;
    }
    timed_transitions::enqueue_first(tx, &row, now).await?;
    let kind = if is_pending { MailKind::Pending } else { MailKind::Confirmed };
    let told = NotifiedBooking { row: &row, body: &booking };
    queue::enqueue(tx, &[told], Some(&bookable.body), kind, now).await?;
    let mut printed = view::booking(&row, &booking, &events, sees_hosts)?;
    printed["manageToken"] = Value::from(manage_token::token(&app.keyring, &row));
    printed["warnings"] = Value::from(warnings);
    Ok(StoredResponse::created(printed.to_string()).etag(&row.etag))
}

/// The log entries of a new booking: that it was created, and whether it is pending or confirmed.
fn log_entries(row: &BookingRow, booking: &Booking, events: &[MeetingEventRow]) -> Result<Vec<NewLogEntry>> {
    let whole = view::booking(row, booking, events, true)?.to_string();
    let account_ids: BTreeSet<String> = view::accounts_of_booking(booking, events).cloned().collect();
    let outcome = if booking.status == BookingStatus::Pending { "pending" } else { "confirmed" };
    let entries = [("created", "created"), (outcome, "state")].map(|(change, change_type)| NewLogEntry {
        connection_id: booking.organizer_connection_id.clone(),
        account_ids: Some(account_ids.clone()),
        entry_type: format!("booking.{change}"),
        change_type,
        resource_type: "booking",
        resource_id: row.id.clone(),
        parent_id: row.event_type_id.clone(),
        changed_fields: None,
        etag: Some(row.etag.clone()),
        origin: Origin::Api,
        resource: Some(whole.clone()),
    });
    Ok(entries.into())
}
