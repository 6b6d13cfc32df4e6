//! Failures of writing a meeting's event: retry schedule, and reports to clients.

use base::error::{Code, Error, Result};
use model::scheduling::booking::Booking;
use storage::Tx;
use storage::jobs::{self, End, Job};
use storage::locked::ConnectionLock;
use storage::scheduling::bookings;
use storage::scheduling::meeting_events::{self, MeetingEventRow};
use storage::scheduling::meetings::MeetingRow;

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::bookings::view;

/// Delays after the first failures, ms.
const FIRST_DELAYS_MS: [i64; 5] = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/// The delay after each later failure, ms.
const LATER_DELAY_MS: i64 = 6 * 3_600_000;
/// Consecutive failures, over some three days, after which a write is given up.
const MAX_FAILURES: i64 = 17;
/// Consecutive failures after which clients are informed.
const TOLD_AFTER: i64 = 5;
/// Most bookings that are reported when an event cannot be deleted: no meeting has more seats.
const MAX_TOLD: i64 = 1_000;
/// Time until a write that was given up is restarted, while the meeting is still ahead, ms: the account may have been reconnected.
const ANEW_AFTER_MS: i64 = 24 * 3_600_000;

/// Reads the row under the lock of its connection. A disconnected connection has no lock, and no other code writes its rows.
pub async fn locked(tx: &mut Tx, of: &MeetingEventRow) -> Result<Option<MeetingEventRow>> {
    let _lock = ConnectionLock::take(tx, &of.tenant, &of.connection_id).await?;
    Ok(meeting_events::find(&mut *tx, &of.meeting_id, &of.connection_id).await?)
}

/// Records a failure, informs clients when failures last, and ends the run, in one transaction. `row` is the row whose event was to be
/// written.
pub async fn store(
    app: &App,
    job: &Job,
    row: &MeetingEventRow,
    meeting: &MeetingRow,
    e: Error,
) -> Result<()> {
    let (code, message) = match &e {
        Error::Refused(refusal) => (refusal.code, refusal.message.clone()),
        Error::Internal(_) => (Code::InternalError, "the event could not be written".to_owned()),
    };
    tracing::warn!(job = %job.id, error = %e, attempts = job.attempts, "a booking's event could not be written");
    let now = app.now();
    let next = delay_ms(job.attempts).filter(|_| !is_for_good(code)).map(|ms| now + ms);
    let is_told = next.is_none() || job.attempts >= TOLD_AFTER;
    let end = End {
        is_failed: next.is_none(),
        due_at: next,
        attempts: job.attempts,
        last_error: Some(jobs::error((code.as_str(), &message), now)),
        done_at: None,
    };
    // For deletions as for writes: until the meeting is over the host relies on the calendar.
    let is_ahead = meeting.end_at > now;
    let anew_at = is_ahead.then_some(now + ANEW_AFTER_MS);
    let (app, job, before) = (app.clone(), job.clone(), row.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            if let Some(mut row) = locked(tx, &before).await? {
                let is_news = is_told && row.status != "failed";
                if is_told {
                    row.status = "failed".to_owned();
                }
                row.attempts = job.attempts;
                row.error = Some(message);
                row.next_attempt_at = next.or(anew_at);
                meeting_events::update(tx, &row).await?;
                if is_news {
                    log_failure(tx, &app, &row).await?;
                }
            }
            jobs::reschedule(tx, &job, &end, now).await?;
            Ok::<_, Error>(())
        })
    })
    .await
}

/// Logs `booking.calendar_write_failed` for the affected bookings: those with a seat if the event is wanted, else those that had it.
async fn log_failure(tx: &mut Tx, app: &App, row: &MeetingEventRow) -> Result<()> {
    let concerned = match row.is_wanted {
        true => bookings::with_seat(&mut *tx, &row.meeting_id).await?,
        false => bookings::newest_of_meeting(&mut *tx, &row.meeting_id, MAX_TOLD).await?,
    };
    let events = meeting_events::of_meeting(&mut *tx, &row.meeting_id).await?;
    let mut notes = Vec::with_capacity(concerned.len());
    for booking in concerned {
        let body: Booking = serde_json::from_str(&booking.body)?;
        let whole = view::booking(&booking, &body, &events, true)?.to_string();
        notes.push(NewLogEntry {
            connection_id: Some(row.connection_id.clone()),
            account_ids: Some(view::accounts_of_booking(&body, &events).cloned().collect()),
            entry_type: "booking.calendar_write_failed".to_owned(),
            change_type: "state",
            resource_type: "booking",
            resource_id: booking.id,
            parent_id: booking.event_type_id,
            changed_fields: None,
            etag: Some(booking.etag),
            origin: Origin::System,
            resource: Some(whole),
        });
    }
    event_log::append(tx, app, &row.tenant, notes).await?;
    Ok(())
}

/// The delay after this failure (counted from 1). None: give up.
fn delay_ms(failures: i64) -> Option<i64> {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(0);
    (failures < MAX_FAILURES).then(|| FIRST_DELAYS_MS.get(index).copied().unwrap_or(LATER_DELAY_MS))
}

/// Whether a retry would be refused again. Accounts that need to be reconnected do not count: they can be.
pub fn is_for_good(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidRequest
            | Code::InvalidParameter
            | Code::MissingField
            | Code::InvalidTimeRange
            | Code::InvalidTimeZone
            | Code::RangeTooLarge
            | Code::CapabilityNotSupported
            | Code::ProviderRejected
            | Code::AccessDenied
            | Code::AdminBlocked
            | Code::ScopeNotGranted
            | Code::ScopeMissing
            | Code::NotFound
            | Code::AlreadyExists
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_tried_for_three_days() {
        let delays: Vec<i64> = (1..).map_while(delay_ms).collect();
        assert_eq!(delays.first(), Some(&10_000));
        assert_eq!(delays.get(5), Some(&LATER_DELAY_MS));
        let days = delays.iter().sum::<i64>() / 86_400_000;
        assert_eq!((delays.len(), days), (16, 2));
    }
}
