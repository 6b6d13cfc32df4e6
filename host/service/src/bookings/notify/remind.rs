//! Handles a due reminder: people get a message, and clients a log entry, which webhooks report.

use base::error::Result;
use model::scheduling::booking::{Booking, BookingStatus};
use model::scheduling::event_type::EventType;
use storage::Tx;
use storage::jobs::Job;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::{event_types, meeting_events, notices};
use storage::wakes::JobClass;

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::bookings::notify::kind::{MailKind, NotifiedBooking};
use crate::bookings::notify::queue;
use crate::bookings::notify::reminder::{Channels, REMIND_JOB, due_at, read_key};
use crate::bookings::{state, view};
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// The job kind that reminds people and clients some time before a booking begins; the key is the booking's id, its sequence and the
/// minutes before its start.
pub const BOOKING_REMIND: JobKind = JobKind {
    name: REMIND_JOB,
    class: JobClass::Send,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(&turn.app, &turn.job)),
};

/// Reminds of a booking: enqueues its message and writes its log entry with the end of the job.
async fn run(app: &App, job: &Job) -> Result<JobEnd> {
    let (held, job) = (app.clone(), job.clone());
    app.db.write(move |tx| Box::pin(async move { remind(tx, &held, &job).await })).await
}

/// The state of a reminder when its job runs.
enum ReminderState {
    /// There is nothing left to remind of.
    Nothing,
    /// The reminder is due then, Unix ms.
    Early(i64),
    /// The booking begins in so many minutes.
    Due(Box<(BookingRow, Booking)>, i64),
}

async fn remind(tx: &mut Tx, app: &App, job: &Job) -> Result<JobEnd> {
    let now = app.now();
    match load_reminder(tx, job, now).await? {
        ReminderState::Early(at) => return Ok(JobEnd::At(at)),
        ReminderState::Nothing => {}
        ReminderState::Due(due, minutes) => {
            let (row, body) = *due;
            let channels: Channels =
                job.args.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
            if channels.webhook {
                log_reminder(tx, app, &row, &body).await?;
            }
            if channels.email {
                let found = event_types::find(&mut *tx, &row.tenant, &row.event_type_id).await?;
                let event_type: Option<EventType> =
                    found.map(|found| serde_json::from_str(&found.body)).transpose()?;
                let kind = MailKind::Reminder(minutes);
                let told = NotifiedBooking { row: &row, body: &body };
                queue::enqueue(tx, &[told], event_type.as_ref(), kind, now).await?;
            }
        }
    }
    notices::complete(tx, job, now).await?;
    Ok(JobEnd::Committed)
}

async fn load_reminder(tx: &mut Tx, job: &Job, now: i64) -> Result<ReminderState> {
    let Some((id, sequence, minutes)) = read_key(job.key()) else { return Ok(ReminderState::Nothing) };
    let Some(row) = bookings::lock(tx, &job.tenant, id).await? else { return Ok(ReminderState::Nothing) };
    let mut body: Booking = serde_json::from_str(&row.body)?;
    body.status = state::parse_status(&row.status)?;
    let is_ahead = body.status == BookingStatus::Confirmed && now < row.start_at;
    if !is_ahead || body.sequence != sequence {
        return Ok(ReminderState::Nothing);
    }
    let due_at = due_at(&row, minutes);
    if now < due_at {
        Ok(ReminderState::Early(due_at))
    } else {
        Ok(ReminderState::Due(Box::new((row, body)), minutes))
    }
}

/// Writes `booking.reminder` into the log.
async fn log_reminder(tx: &mut Tx, app: &App, row: &BookingRow, body: &Booking) -> Result<()> {
    let events = meeting_events::of_meeting(&mut *tx, &row.meeting_id).await?;
    let note = NewLogEntry {
        connection_id: body.organizer_connection_id.clone(),
        account_ids: Some(view::accounts_of_booking(body, &events).cloned().collect()),
        entry_type: "booking.reminder".to_owned(),
        change_type: "state",
        resource_type: "booking",
        resource_id: row.id.clone(),
        parent_id: row.event_type_id.clone(),
        changed_fields: None,
        etag: Some(row.etag.clone()),
        origin: Origin::System,
        resource: Some(view::booking(row, body, &events, true)?.to_string()),
    };
    event_log::append(tx, app, &row.tenant, vec![note]).await?;
    Ok(())
}
