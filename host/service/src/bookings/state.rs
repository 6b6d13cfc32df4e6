//! What can become of a booking, and the words that the tables have for it.

use base::error::{Code, Result, refuse};
use model::scheduling::booking::BookingStatus::{
    self, Cancelled, Completed, Confirmed, Expired, Pending, Rejected,
};
use model::scheduling::booking::Party;

/// The status as it is stored and printed.
pub fn as_str(status: BookingStatus) -> &'static str {
    match status {
        Pending => "pending",
        Confirmed => "confirmed",
        Rejected => "rejected",
        Cancelled => "cancelled",
        Expired => "expired",
        Completed => "completed",
    }
}

/// The status that the table has this word for.
pub fn named(word: &str) -> Result<BookingStatus> {
    Ok(serde_json::from_value(word.into())?)
}

/// Refuses what cannot become of a booking.
pub fn allows(from: BookingStatus, to: BookingStatus) -> Result<()> {
    let fits = match from {
        Pending => matches!(to, Confirmed | Rejected | Cancelled | Expired),
        Confirmed => matches!(to, Pending | Cancelled | Completed),
        Rejected | Cancelled | Expired | Completed => false,
    };
    if fits {
        return Ok(());
    }
    let message = format!("a booking that is {} cannot become {}", as_str(from), as_str(to));
    Err(refuse(Code::InvalidState, message))
}

/// Refuses to move a booking that does not take place, or that nobody has confirmed. A host may move what waits for the host's answer: in
/// the calendar it is an event like any other.
pub fn allows_move(from: BookingStatus, by: Party) -> Result<()> {
    match (from, by) {
        (Confirmed, _) | (Pending, Party::Host) => Ok(()),
        _ => Err(refuse(Code::InvalidState, format!("a booking that is {} cannot be moved", as_str(from)))),
    }
}

/// Refuses to end or to move what is over at `now`, though its job has not completed it yet. Times are milliseconds since 1970.
pub fn allows_change(status: BookingStatus, end_at: i64, now: i64) -> Result<()> {
    if status == Confirmed && end_at <= now {
        return Err(refuse(Code::InvalidState, "a booking that is over cannot be changed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_stays_over() {
        let all = [Pending, Confirmed, Rejected, Cancelled, Expired, Completed];
        for ended in [Rejected, Cancelled, Expired, Completed] {
            assert!(all.iter().all(|to| allows(ended, *to).is_err()), "{ended:?}");
        }
        assert!(allows(Pending, Confirmed).is_ok() && allows(Pending, Completed).is_err());
    }

    #[test]
    fn a_booking_is_over_at_its_end() {
        assert!(allows_change(Confirmed, 10, 9).is_ok() && allows_change(Confirmed, 10, 10).is_err());
        // What waits for its host ends by another time.
        assert!(allows_change(Pending, 10, 10).is_ok());
    }

    #[test]
    fn the_words_are_those_of_the_model() {
        for status in [Pending, Confirmed, Rejected, Cancelled, Expired, Completed] {
            assert_eq!(serde_json::to_value(status).unwrap(), as_str(status));
            assert_eq!(named(as_str(status)).unwrap(), status);
        }
        assert!(named("confirm").is_err());
    }

    #[test]
    fn what_is_over_is_not_moved() {
        for status in [Rejected, Cancelled, Expired, Completed] {
            assert!(allows_move(status, Party::Host).is_err() && allows_move(status, Party::Api).is_err());
        }
        assert!(allows_move(Confirmed, Party::Invitee).is_ok());
        assert!(allows_move(Pending, Party::Invitee).is_err() && allows_move(Pending, Party::Host).is_ok());
    }
}
