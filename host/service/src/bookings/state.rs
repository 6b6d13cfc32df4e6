//! The status transitions of a booking, and the names of its statuses.

use base::error::{Code, Result, refuse};
use model::scheduling::booking::BookingStatus::{
    self, Cancelled, Completed, Confirmed, Expired, Pending, Rejected,
};
use model::scheduling::booking::Party;

/// The name of a status in tables and in the API.
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

/// Parses the name of a status.
pub fn parse_status(word: &str) -> Result<BookingStatus> {
    Ok(serde_json::from_value(word.into())?)
}

/// Refuses an invalid status transition.
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

/// Refuses to reschedule a booking that has ended or is not confirmed. A host may reschedule a pending one: in the calendar it is an event
/// like any other.
pub fn allows_move(from: BookingStatus, by: Party) -> Result<()> {
    match (from, by) {
        (Confirmed, _) | (Pending, Party::Host) => Ok(()),
        _ => Err(refuse(Code::InvalidState, format!("a booking that is {} cannot be moved", as_str(from)))),
    }
}

/// Refuses to end or reschedule a booking that is over at `now`, although its job has not completed it yet. Times are Unix ms.
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
        // A pending booking ends by another time.
        assert!(allows_change(Pending, 10, 10).is_ok());
    }

    #[test]
    fn the_words_are_those_of_the_model() {
        for status in [Pending, Confirmed, Rejected, Cancelled, Expired, Completed] {
            assert_eq!(serde_json::to_value(status).unwrap(), as_str(status));
            assert_eq!(parse_status(as_str(status)).unwrap(), status);
        }
        assert!(parse_status("confirm").is_err());
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
