//! The jobs of reminders. Each is enqueued when the booking gets its time; a move enqueues new ones, and the earlier ones then find nothing
//! to do.

use base::error::Result;
use model::scheduling::event_type::{BookingNotifications, ReminderChannel};
use serde::{Deserialize, Serialize};
use storage::Tx;
use storage::jobs::NewJob;
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::notices;
use storage::wakes::JobClass;

use crate::bookings::notify::kind::NotifiedBooking;
use crate::bookings::rules::MINUTE_MS;

/// The job kind of reminders. The key is the booking, its sequence and the minutes before its start, separated by colons.
pub const REMIND_JOB: &str = "booking_remind";

/// The channels of a reminder, as the event type set them when the booking got its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channels {
    pub email: bool,
    /// A log entry, which webhooks report.
    pub webhook: bool,
}

/// Enqueues the reminders of confirmed bookings of one event type. Those due before `now` are left out.
pub async fn enqueue(
    tx: &mut Tx,
    told: &[NotifiedBooking<'_>],
    settings: &BookingNotifications,
    now: i64,
) -> Result<()> {
    let mut minutes: Vec<i64> = settings.reminders.iter().map(|reminder| reminder.minutes_before).collect();
    minutes.sort_unstable();
    minutes.dedup();
    let mut due = Vec::new();
    for minutes in minutes {
        let has = |channel: ReminderChannel| {
            settings.reminders.iter().any(|r| r.minutes_before == minutes && r.channel == channel)
        };
        let channels =
            Channels { email: has(ReminderChannel::Email), webhook: has(ReminderChannel::Webhook) };
        let args = serde_json::to_string(&channels)?;
        for NotifiedBooking { row, body } in told.iter().filter(|of| due_at(of.row, minutes) > now) {
            due.push((*row, minutes, format!("{}:{}:{minutes}", row.id, body.sequence), args.clone()));
        }
    }
    let jobs = due.iter().map(|(row, minutes, key, args)| NewJob {
        kind: REMIND_JOB,
        key,
        // The class of messages, because people wait for it.
        class: JobClass::Send,
        tenant: &row.tenant,
        connection_id: None,
        target: "",
        due_at: Some(due_at(row, *minutes)),
        args: Some(args),
    });
    let new: Vec<NewJob<'_>> = jobs.collect();
    Ok(notices::enqueue(tx, &new, now).await?)
}

/// The due time of a reminder, Unix ms.
pub fn due_at(row: &BookingRow, minutes: i64) -> i64 {
    row.start_at.saturating_sub(minutes.saturating_mul(MINUTE_MS))
}

/// Parses the booking's id, its sequence, and the minutes.
pub fn read_key(key: &str) -> Option<(&str, i64, i64)> {
    let (rest, minutes) = key.rsplit_once(':')?;
    let (id, sequence) = rest.rsplit_once(':')?;
    Some((id, sequence.parse().ok()?, minutes.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_a_booking_at_one_time() {
        assert_eq!(read_key("bk_1:2:60"), Some(("bk_1", 2, 60)));
        assert!(["", "bk_1", "bk_1:2", "bk_1:x:60", "bk_1:2:"].iter().all(|key| read_key(key).is_none()));
    }
}
