//! The common steps of booking changes: the booking is locked with its meeting, is written with its log entries and jobs, and is answered,
//! in one transaction.

use std::collections::BTreeSet;

use base::error::{Result, not_found};
use base::tenant::Tenant;
use model::Instant;
use model::scheduling::booking::{Booking, BookingStatus, Party};
use serde_json::Value;
use storage::Tx;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::meeting_events::MeetingEventRow;
use storage::scheduling::meetings::MeetingRow;

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::locked_meeting::{HeldMeeting, HostLocks, contended};
use crate::bookings::notify::kind::{MailKind, NotifiedBooking};
use crate::bookings::notify::queue;
use crate::bookings::{state, view};
use crate::connections::request_context::RequestContext;

/// Attempts of a change that conflicts with other changes.
pub const MAX_ATTEMPTS: usize = 5;

/// The request that makes or changes a booking, and what its answer shows.
#[derive(Clone)]
pub struct Viewer<'a> {
    pub asker: &'a RequestContext,
    /// Whether the answer shows the hosts.
    pub sees_hosts: bool,
    /// Warnings about the request.
    pub warnings: Vec<Value>,
}

/// A booking with its parsed body.
pub struct Seat {
    pub row: BookingRow,
    pub body: Booking,
}

impl Seat {
    /// Parses a row.
    pub fn read(row: BookingRow) -> Result<Seat> {
        let body = serde_json::from_str(&row.body)?;
        Ok(Seat { row, body })
    }

    pub fn status(&self) -> Result<BookingStatus> {
        state::parse_status(&self.row.status)
    }

    /// The booking in the form that messages need.
    pub fn for_mail(&self) -> NotifiedBooking<'_> {
        NotifiedBooking { row: &self.row, body: &self.body }
    }

    /// Whether no other booking has a seat in its meeting.
    pub fn is_alone_in(&self, meeting: &MeetingRow) -> bool {
        meeting.seats_taken <= self.body.seats.max(1)
    }

    /// Sets another time, which no host has decided on yet.
    pub fn move_to(&mut self, start_ms: i64, end_ms: i64, by: Party) {
        let Seat { row, body } = self;
        body.previous_start = Some(Instant::from_millis(row.start_at));
        (row.start_at, row.end_at) = (start_ms, end_ms);
        (row.decided_at, row.decided_by) = (None, None);
        body.start = Instant::from_millis(start_ms);
        body.end = Instant::from_millis(end_ms);
        body.reschedule_count += 1;
        body.rescheduled_by = Some(by);
        body.sequence += 1;
    }

    /// Sets a status whose transition `state` has allowed.
    pub fn set_status(&mut self, status: BookingStatus) {
        self.row.status = state::as_str(status).to_owned();
        self.body.status = status;
        if status != BookingStatus::Pending {
            self.row.confirm_by = None;
        }
    }
}

/// A booking with its meeting, locked until the transaction ends.
pub struct LockedBooking {
    pub of: HeldMeeting,
    pub seat: Seat,
}

impl LockedBooking {
    /// Locks a booking. None: it was rescheduled before the locks were taken; retry in another transaction.
    pub async fn lock(
        tx: &mut Tx,
        tenant: &Tenant,
        id: &str,
        hosts: HostLocks,
    ) -> Result<Option<LockedBooking>> {
        let none = || not_found("booking");
        let seen = bookings::find(&mut *tx, tenant, id).await?.ok_or_else(none)?;
        let of = HeldMeeting::lock(tx, tenant, &seen.event_type_id, &seen.meeting_id, hosts).await?;
        let Some(of) = of else { return Ok(None) };
        let row = bookings::lock(tx, tenant, id).await?.ok_or_else(none)?;
        if row.meeting_id != seen.meeting_id {
            return Ok(None);
        }
        Ok(Some(LockedBooking { of, seat: Seat::read(row)? }))
    }

    /// Ends a booking: its seat is free with the commit.
    pub async fn end(
        &mut self,
        tx: &mut Tx,
        app: &App,
        to: BookingStatus,
        by: Party,
        now: i64,
    ) -> Result<()> {
        state::allows(self.seat.status()?, to)?;
        self.seat.set_status(to);
        self.of.give_back(tx, self.seat.body.seats, now).await?;
        self.write(tx, app, by, &[state::as_str(to)], now).await?;
        self.of.wake(tx, now).await?;
        match MailKind::of_end(to) {
            Some(kind) => self.tell(tx, kind, now).await,
            None => Ok(()),
        }
    }

    /// Writes the booking after a change, as `write_all` does.
    pub async fn write(
        &mut self,
        tx: &mut Tx,
        app: &App,
        by: Party,
        words: &[&'static str],
        now: i64,
    ) -> Result<()> {
        let change = BookingChange { events: &self.of.events, by, words, warnings: &[] };
        write_all(tx, app, std::slice::from_mut(&mut self.seat), &change, now).await
    }

    /// Enqueues the messages about a change that was just written: the last of its jobs.
    pub async fn tell(&self, tx: &mut Tx, kind: MailKind, now: i64) -> Result<()> {
        queue::enqueue(tx, &[self.seat.for_mail()], self.of.event_type(), kind, now).await
    }
}

/// A change of bookings of one meeting, for the log.
pub struct BookingChange<'a> {
    /// The meeting's events in its hosts' calendars.
    pub events: &'a [MeetingEventRow],
    pub by: Party,
    /// Suffixes of the log entries' kinds, after `booking.`.
    pub words: &'a [&'static str],
    pub warnings: &'a [Value],
}

impl BookingChange<'_> {
    /// The log entries of a booking.
    fn entries(&self, row: &BookingRow, body: &Booking) -> Result<Vec<NewLogEntry>> {
        let mut whole = view::booking(row, body, self.events, true)?;
        if !self.warnings.is_empty() {
            whole["warnings"] = Value::from(self.warnings);
        }
        let whole = whole.to_string();
        let account_ids: BTreeSet<String> = view::accounts_of_booking(body, self.events).cloned().collect();
        let entry = |word: &&'static str| NewLogEntry {
            connection_id: body.organizer_connection_id.clone(),
            account_ids: Some(account_ids.clone()),
            entry_type: format!("booking.{word}"),
            change_type: "state",
            resource_type: "booking",
            resource_id: row.id.clone(),
            parent_id: row.event_type_id.clone(),
            changed_fields: None,
            etag: Some(row.etag.clone()),
            origin: origin(self.by),
            resource: Some(whole.clone()),
        };
        Ok(self.words.iter().map(entry).collect())
    }
}

/// Writes changed bookings of one meeting, with their log entries. The jobs of their events come after this. With the commit their former
/// time may be free, so slots that are cached as full are reset (`sold_out`).
pub async fn write_all(
    tx: &mut Tx,
    app: &App,
    seats: &mut [Seat],
    change: &BookingChange<'_>,
    now: i64,
) -> Result<()> {
    if seats.is_empty() {
        return Ok(());
    }
    let held = app.clone();
    tx.after_commit(move || held.sold_out.forget());
    let mut entries = Vec::new();
    for Seat { row, body } in seats.iter_mut() {
        row.body = serde_json::to_string(body)?;
        row.version += 1;
        row.updated_at = now.max(row.updated_at);
        row.etag = view::etag(&(&row.id, row.version, &row.body, &row.metadata))?;
        entries.extend(change.entries(row, body)?);
    }
    let rows: Vec<&BookingRow> = seats.iter().map(|seat| &seat.row).collect();
    if !bookings::update(tx, &rows).await? {
        return Err(contended());
    }
    if let Some(first) = rows.first().filter(|_| !entries.is_empty()) {
        event_log::append(tx, app, &first.tenant, entries).await?;
    }
    Ok(())
}

fn origin(by: Party) -> Origin {
    match by {
        Party::Invitee | Party::Api => Origin::Api,
        Party::Host => Origin::Provider,
        Party::System => Origin::System,
    }
}

/// The answer with the booking as `printed`, stored with the change: the last step of its transaction.
pub async fn answer(
    tx: &mut Tx,
    app: &App,
    row: &BookingRow,
    mut printed: Value,
    warnings: Vec<Value>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::ok(printed.to_string()).etag(&row.etag);
    attempt.store(tx, &app.keyring, &answer, app.now()).await?;
    Ok(answer)
}

/// Refuses a link that was replaced since it was made.
pub fn check_link(seat: &Seat, manage_version: Option<i64>) -> Result<()> {
    match manage_version {
        Some(version) if version != seat.row.manage_version => Err(not_found("booking")),
        _ => Ok(()),
    }
}
