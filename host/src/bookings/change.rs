//! What the changes of a booking share: the booking is locked with its meeting, is written with its entries in the log and its jobs, and is
//! answered, in one transaction.

use std::collections::BTreeSet;

use base::error::{Result, not_found};
use base::tenant::Tenant;
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
use crate::bookings::notify::kind::MailKind;
use crate::bookings::notify::queue;
use crate::bookings::{state, view};
use crate::connections::request_context::RequestContext;

/// How often a change is tried again that another one came before.
pub const TRIES: usize = 5;

/// Whose request changes a booking.
#[derive(Clone)]
pub struct Viewer<'a> {
    pub asker: &'a RequestContext,
    /// The answer tells who the hosts are.
    pub sees_hosts: bool,
    /// What was wrong with the request.
    pub warnings: Vec<Value>,
}

/// A booking and what it says.
pub struct Seat {
    pub row: BookingRow,
    pub body: Booking,
}

impl Seat {
    /// Reads what a row says.
    pub fn read(row: BookingRow) -> Result<Seat> {
        let body = serde_json::from_str(&row.body)?;
        Ok(Seat { row, body })
    }

    pub fn status(&self) -> Result<BookingStatus> {
        state::named(&self.row.status)
    }

    /// Whether nobody else has a seat in its meeting.
    pub fn is_alone_in(&self, meeting: &MeetingRow) -> bool {
        meeting.seats_taken <= self.body.seats.max(1)
    }

    /// Gives it a status that `state` has let through.
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
    /// Locks a booking. None: it was moved before the locks were had; another transaction finds what there is now.
    pub async fn lock(
        tx: &mut Tx,
        tenant: &Tenant,
        id: &str,
        hosts: HostLocks,
    ) -> Result<Option<LockedBooking>> {
        let none = || not_found("booking");
        let seen = bookings::find(&mut *tx, tenant, id).await?.ok_or_else(none)?;
        let of = (seen.event_type_id.as_str(), seen.meeting_id.as_str());
        let Some(of) = HeldMeeting::lock(tx, tenant, of, hosts).await? else {
            return Ok(None);
        };
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
        (to, by): (BookingStatus, Party),
        now: i64,
    ) -> Result<()> {
        state::allows(self.seat.status()?, to)?;
        self.seat.set_status(to);
        self.of.give_back(tx, self.seat.body.seats, now).await?;
        write(tx, app, (&mut self.seat, &self.of.events), (by, &[state::as_str(to)], &[]), now).await?;
        self.of.wake(tx, now).await?;
        match MailKind::of_end(to) {
            Some(kind) => self.tell(tx, kind, now).await,
            None => Ok(()),
        }
    }

    /// Has people told of a change that was just written: the last of its jobs.
    pub async fn tell(&self, tx: &mut Tx, kind: MailKind, now: i64) -> Result<()> {
        queue::enqueue(tx, (&self.seat.row, &self.seat.body), self.of.event_type(), kind, now).await
    }
}

/// Writes a booking that was changed, with its entries in the log, `booking.` and one of the words each. The jobs of its events come after
/// this. With the commit its former time may be free for those whom memory refuses (`sold_out`).
pub async fn write(
    tx: &mut Tx,
    app: &App,
    (seat, events): (&mut Seat, &[MeetingEventRow]),
    (by, words, warnings): (Party, &[&'static str], &[Value]),
    now: i64,
) -> Result<()> {
    let held = app.clone();
    tx.after_commit(move || held.sold_out.forget());
    let Seat { row, body } = seat;
    row.body = serde_json::to_string(body)?;
    row.version += 1;
    row.updated_at = now.max(row.updated_at);
    row.etag = view::etag(&(&row.id, row.version, &row.body, &row.metadata))?;
    if !bookings::update(tx, row).await? {
        return Err(contended());
    }
    let mut whole = view::booking(row, body, events, true)?;
    if !warnings.is_empty() {
        whole["warnings"] = Value::from(warnings);
    }
    let whole = whole.to_string();
    let account_ids: BTreeSet<String> = view::accounts_of_booking(body, events).cloned().collect();
    let notes: Vec<NewLogEntry> = words
        .iter()
        .map(|word| NewLogEntry {
            connection_id: body.organizer_connection_id.clone(),
            account_ids: Some(account_ids.clone()),
            entry_type: format!("booking.{word}"),
            change_type: "state",
            resource_type: "booking",
            resource_id: row.id.clone(),
            parent_id: row.event_type_id.clone(),
            changed_fields: None,
            etag: Some(row.etag.clone()),
            origin: origin(by),
            resource: Some(whole.clone()),
        })
        .collect();
    if !notes.is_empty() {
        event_log::append(tx, app, &row.tenant, notes).await?;
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

/// The answer that shows a booking, stored with the change: the last step of its transaction.
pub async fn answer(
    tx: &mut Tx,
    app: &App,
    (seat, events): (&Seat, &[MeetingEventRow]),
    (sees_hosts, warnings): (bool, Vec<Value>),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let mut printed = view::booking(&seat.row, &seat.body, events, sees_hosts)?;
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::ok(printed.to_string()).etag(&seat.row.etag);
    attempt.store(tx, &app.keyring, &answer, app.now()).await?;
    Ok(answer)
}

/// Refuses a link whose booking was given other links since.
pub fn check_link(seat: &Seat, manage_version: Option<i64>) -> Result<()> {
    match manage_version {
        Some(version) if version != seat.row.manage_version => Err(not_found("booking")),
        _ => Ok(()),
    }
}
