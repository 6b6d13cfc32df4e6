//! The kinds of messages about a booking, and the keys of their jobs: `{booking}:{kind}:{sequence}:{role}`. A booking reaches a status once
//! between two moves, so a key identifies one change.

use std::fmt;

use model::scheduling::booking::{Booking, BookingStatus};
use storage::scheduling::bookings::BookingRow;

/// A booking for its messages, as it is after the change.
#[derive(Clone, Copy)]
pub struct NotifiedBooking<'a> {
    pub row: &'a BookingRow,
    pub body: &'a Booking,
}

/// The change that a message reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailKind {
    /// Booked, and waiting for its host.
    Pending,
    Confirmed,
    Rescheduled,
    /// Its conference has a link, which was unknown when it was confirmed or moved.
    Conference,
    /// Its event became an all-day event in the host's calendar. For hosts only, who are asked for a time.
    AllDay,
    Cancelled,
    Rejected,
    Expired,
    /// The booking begins in so many minutes.
    Reminder(i64),
}

impl MailKind {
    fn read(word: &str) -> Option<MailKind> {
        Some(match word {
            "pending" => MailKind::Pending,
            "confirmed" => MailKind::Confirmed,
            "rescheduled" => MailKind::Rescheduled,
            "conference" => MailKind::Conference,
            "all-day" => MailKind::AllDay,
            "cancelled" => MailKind::Cancelled,
            "rejected" => MailKind::Rejected,
            "expired" => MailKind::Expired,
            _ => MailKind::Reminder(word.strip_prefix("reminder-")?.parse().ok()?),
        })
    }

    /// The kind for a booking's end; none for a status that is no end, or that is not reported.
    pub fn of_end(status: BookingStatus) -> Option<MailKind> {
        match status {
            BookingStatus::Cancelled => Some(MailKind::Cancelled),
            BookingStatus::Rejected => Some(MailKind::Rejected),
            BookingStatus::Expired => Some(MailKind::Expired),
            BookingStatus::Pending | BookingStatus::Confirmed | BookingStatus::Completed => None,
        }
    }

    /// Whether the change is still current. A superseded change is not reported: the later one has its own message.
    fn holds(self, status: BookingStatus) -> bool {
        match self {
            MailKind::Pending => status == BookingStatus::Pending,
            MailKind::Confirmed | MailKind::Conference | MailKind::Reminder(_) => {
                status == BookingStatus::Confirmed
            }
            MailKind::Rescheduled | MailKind::AllDay => {
                matches!(status, BookingStatus::Pending | BookingStatus::Confirmed)
            }
            MailKind::Cancelled => status == BookingStatus::Cancelled,
            MailKind::Rejected => status == BookingStatus::Rejected,
            MailKind::Expired => status == BookingStatus::Expired,
        }
    }
}

impl fmt::Display for MailKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailKind::Pending => f.write_str("pending"),
            MailKind::Confirmed => f.write_str("confirmed"),
            MailKind::Rescheduled => f.write_str("rescheduled"),
            MailKind::Conference => f.write_str("conference"),
            MailKind::AllDay => f.write_str("all-day"),
            MailKind::Cancelled => f.write_str("cancelled"),
            MailKind::Rejected => f.write_str("rejected"),
            MailKind::Expired => f.write_str("expired"),
            MailKind::Reminder(minutes) => write!(f, "reminder-{minutes}"),
        }
    }
}

/// The recipients of a message. Guests have one of their own, because the invitee's contains the link that changes the booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailRole {
    Invitee,
    Guests,
    Hosts,
}

impl MailRole {
    /// The name in keys and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            MailRole::Invitee => "invitee",
            MailRole::Guests => "guests",
            MailRole::Hosts => "hosts",
        }
    }

    fn read(word: &str) -> Option<MailRole> {
        [MailRole::Invitee, MailRole::Guests, MailRole::Hosts].into_iter().find(|role| role.as_str() == word)
    }
}

/// The parsed key of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailKey {
    pub booking_id: String,
    pub kind: MailKind,
    /// The booking's sequence after the change.
    pub sequence: i64,
    pub role: MailRole,
}

impl MailKey {
    /// Parses a key. None: it is no such key.
    pub fn read(key: &str) -> Option<MailKey> {
        let mut parts = key.split(':');
        let read = MailKey {
            booking_id: parts.next()?.to_owned(),
            kind: MailKind::read(parts.next()?)?,
            sequence: parts.next()?.parse().ok()?,
            role: MailRole::read(parts.next()?)?,
        };
        parts.next().is_none().then_some(read)
    }

    /// Whether the message still applies to the booking, whose status is that of its row. `now` is Unix ms.
    pub fn holds(&self, booking: &Booking, now: i64) -> bool {
        let is_ahead = now < booking.start.as_millis() || !matches!(self.kind, MailKind::Reminder(_));
        self.kind.holds(booking.status) && booking.sequence == self.sequence && is_ahead
    }
}

impl fmt::Display for MailKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MailKey { booking_id, kind, sequence, role } = self;
        write!(f, "{booking_id}:{kind}:{sequence}:{}", role.as_str())
    }
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        for (kind, role) in [
            (MailKind::Pending, MailRole::Invitee),
            (MailKind::Confirmed, MailRole::Guests),
            (MailKind::Rescheduled, MailRole::Hosts),
            (MailKind::Conference, MailRole::Invitee),
            (MailKind::AllDay, MailRole::Hosts),
            (MailKind::Cancelled, MailRole::Invitee),
            (MailKind::Rejected, MailRole::Invitee),
            (MailKind::Expired, MailRole::Invitee),
            (MailKind::Reminder(60), MailRole::Hosts),
        ] {
            let key = MailKey { booking_id: "bk_1".to_owned(), kind, sequence: 3, role };
            assert_eq!(MailKey::read(&key.to_string()).as_ref(), Some(&key));
        }
        let odd = ["", "bk_1", "bk_1:sent:0:invitee", "bk_1:pending:x:invitee", "bk_1:pending:0:all"];
        assert!(odd.iter().all(|key| MailKey::read(key).is_none()));
        assert!(MailKey::read("bk_1:reminder-:0:invitee").is_none());
        assert!(MailKey::read("bk_1:pending:0:invitee:x").is_none());
    }

    #[test]
    fn what_was_overtaken_is_not_told() {
        let key = |kind: MailKind| MailKey {
            booking_id: "bk_1".to_owned(),
            kind,
            sequence: 1,
            role: MailRole::Invitee,
        };
        let booking = |status: BookingStatus, sequence: i64| Booking {
            status,
            sequence,
            start: Instant::from_millis(100),
            ..Booking::default()
        };
        assert!(key(MailKind::Confirmed).holds(&booking(BookingStatus::Confirmed, 1), 0));
        assert!(!key(MailKind::Confirmed).holds(&booking(BookingStatus::Confirmed, 2), 0), "it was moved");
        assert!(!key(MailKind::Confirmed).holds(&booking(BookingStatus::Cancelled, 1), 0));
        assert!(key(MailKind::Rescheduled).holds(&booking(BookingStatus::Pending, 1), 0));
        assert!(key(MailKind::AllDay).holds(&booking(BookingStatus::Pending, 1), 0));
        assert!(!key(MailKind::AllDay).holds(&booking(BookingStatus::Confirmed, 2), 0), "it was moved");
        assert!(key(MailKind::Conference).holds(&booking(BookingStatus::Confirmed, 1), 0));
        assert!(!key(MailKind::Conference).holds(&booking(BookingStatus::Confirmed, 2), 0), "it was moved");
        assert!(key(MailKind::Cancelled).holds(&booking(BookingStatus::Cancelled, 1), 200));
        let reminder = key(MailKind::Reminder(10));
        assert!(reminder.holds(&booking(BookingStatus::Confirmed, 1), 99));
        assert!(!reminder.holds(&booking(BookingStatus::Confirmed, 1), 100), "it has begun");
    }
}
