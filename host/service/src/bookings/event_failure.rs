//! What becomes of the event of a meeting that could not be written: when it is tried again, and what clients are told.

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
/// After so many failures in a row, some three days, a write is given up.
const MAX_FAILURES: i64 = 17;
/// After so many failures in a row clients are told.
const TOLD_AFTER: i64 = 5;
/// Most bookings that clients are told of where the event is to be gone: no meeting has more seats.
const MAX_TOLD: i64 = 1_000;
/// A write that was given up is begun anew after so long, as long as the meeting is ahead, ms: the account may have been connected anew.
const ANEW_AFTER_MS: i64 = 24 * 3_600_000;

/// The row as it is under the lock of its connection. A connection that was disconnected has no lock, and nobody else writes its rows.
pub async fn locked(tx: &mut Tx, of: &MeetingEventRow) -> Result<Option<MeetingEventRow>> {
    let _lock = ConnectionLock::take(tx, &of.tenant, &of.connection_id).await?;
    Ok(meeting_events::find(&mut *tx, &of.meeting_id, &of.connection_id).await?)
}

/// Writes that it failed, tells clients when that lasts, and ends the turn, in one transaction. `row` is what was to be written.
pub async fn keep(app: &App, job: &Job, row: &MeetingEventRow, meeting: &MeetingRow, e: Error) -> Result<()> {
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
    // What is to be gone as well as what is to be there: until the meeting is over the host goes by the calendar.
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
                    tell(tx, &app, &row).await?;
                }
            }
            jobs::reschedule(tx, &job, &end, now).await?;
            Ok::<_, Error>(())
        })
    })
    .await
}

/// `booking.calendar_write_failed` of the bookings that are concerned: where the event is to be there those that have a seat, where it is to
/// be gone those whose it was.
async fn tell(tx: &mut Tx, app: &App, row: &MeetingEventRow) -> Result<()> {
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

/// The delay after the failure with this number, counted from 1. None: it is given up.
fn delay_ms(failures: i64) -> Option<i64> {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(0);
    (failures < MAX_FAILURES).then(|| FIRST_DELAYS_MS.get(index).copied().unwrap_or(LATER_DELAY_MS))
}

/// Whether trying again would be refused again. Accounts that have to be connected anew are not of these: they can be.
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
