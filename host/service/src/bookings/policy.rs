//! The event type's rules for its invitees' changes of bookings. Keys with write access are not bound by them. Pure.

use base::error::{Code, Result, refuse};
use model::scheduling::event_type::{
    CancellationRules, EventType, Host, HostRole, RescheduleRules, RoundRobinStrategy,
};

use crate::bookings::rules::MINUTE_MS;

/// Most moves by an invitee if the event type sets no limit: each one sends mail to unverified addresses.
// Contract silent: whether `maxCount` null is without any bound. For keys it is.
const MOST_MOVES: i64 = 20;

/// Refuses a cancellation that invitees may not make, or no longer. `start_at` and `now` are Unix ms.
pub fn allows_cancelling(rules: &CancellationRules, start_at: i64, now: i64) -> Result<()> {
    if !rules.allowed {
        return Err(refuse(
            Code::Forbidden,
            "bookings of this event type cannot be cancelled by the invitee",
        ));
    }
    in_time("cancelled", rules.min_notice_minutes, start_at, now)
}

/// Refuses a move that invitees may not make, or no longer; `count` is the number of earlier moves.
pub fn allows_moving(rules: &RescheduleRules, count: i64, start_at: i64, now: i64) -> Result<()> {
    if !rules.allowed {
        return Err(refuse(Code::Forbidden, "bookings of this event type cannot be moved by the invitee"));
    }
    let most = most_moves(rules);
    if count >= most {
        let message = format!("this booking was moved {count} times, and may be moved {most} times");
        return Err(refuse(Code::InvalidState, message));
    }
    in_time("moved", rules.min_notice_minutes, start_at, now)
}

/// The number of moves after which an invitee can no longer move a booking.
pub fn most_moves(rules: &RescheduleRules) -> i64 {
    rules.max_count.unwrap_or(MOST_MOVES)
}

/// The hosts of a rotation to which a move is limited; none: no limit. They are the hosts of the meeting, as long as one of them is still
/// in the rotation.
// Contract silent: a host who is to be kept and is gone, or is given nothing any more. Then another one takes the meeting.
pub fn hosts_to_keep(event_type: &EventType, hosts: &[String]) -> Option<Vec<String>> {
    let is_weighted = event_type.round_robin_strategy == RoundRobinStrategy::Weighted;
    let takes_turns = |host: &&Host| host.role == HostRole::Rotation && !(is_weighted && host.weight == 0);
    let mut rotation = event_type.hosts.iter().filter(takes_turns);
    let is_there = rotation.any(|host| hosts.contains(&host.connection_id));
    (event_type.reschedule_keeps_host && is_there).then(|| hosts.to_vec())
}

// Contract silent: the code for what is too late, or was done too often. 409 `invalid_state`, because it depends on what the booking is by
// now; what an event type never allows is 403 `forbidden`.
fn in_time(what: &str, notice_minutes: i64, start_at: i64, now: i64) -> Result<()> {
    if now < start_at - notice_minutes * MINUTE_MS {
        return Ok(());
    }
    let message = match notice_minutes {
        0 => format!("this booking could be {what} until it began"),
        minutes => format!("this booking could be {what} until {minutes} minutes before it begins"),
    };
    Err(refuse(Code::InvalidState, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 100 * MINUTE_MS;

    #[test]
    fn a_notice_ends_at_its_minute() {
        let rules = CancellationRules { allowed: true, min_notice_minutes: 60 };
        assert!(allows_cancelling(&rules, START, 40 * MINUTE_MS - 1).is_ok());
        assert!(allows_cancelling(&rules, START, 40 * MINUTE_MS).is_err());
        let none = CancellationRules::default();
        assert!(allows_cancelling(&none, START, START - 1).is_ok());
        assert!(allows_cancelling(&none, START, START).is_err());
    }

    #[test]
    fn invitees_move_as_often_and_as_late_as_they_may() {
        let rules = RescheduleRules { allowed: true, min_notice_minutes: 10, max_count: Some(2) };
        assert!(allows_moving(&rules, 1, START, 89 * MINUTE_MS).is_ok());
        assert!(allows_moving(&rules, 2, START, 0).is_err());
        assert!(allows_moving(&rules, 0, START, 90 * MINUTE_MS).is_err());
        let unsaid = RescheduleRules { max_count: None, ..rules };
        assert!(allows_moving(&unsaid, MOST_MOVES - 1, START, 0).is_ok());
        assert!(allows_moving(&unsaid, MOST_MOVES, START, 0).is_err(), "each move sends a message");
    }

    #[test]
    fn a_host_is_kept_who_still_takes_turns() {
        let host = |id: &str, role: HostRole, weight: i64| Host {
            connection_id: id.to_owned(),
            role,
            weight,
            ..Host::default()
        };
        let mut event_type = EventType {
            hosts: vec![
                host("always", HostRole::Required, 1),
                host("a", HostRole::Rotation, 1),
                host("b", HostRole::Rotation, 0),
            ],
            reschedule_keeps_host: true,
            ..EventType::default()
        };
        let of = |hosts: [&str; 2]| hosts.map(str::to_owned).to_vec();
        assert_eq!(hosts_to_keep(&event_type, &of(["always", "a"])), Some(of(["always", "a"])));
        assert_eq!(hosts_to_keep(&event_type, &of(["always", "gone"])), None);
        assert_eq!(hosts_to_keep(&event_type, &of(["always", "b"])), Some(of(["always", "b"])));
        event_type.round_robin_strategy = RoundRobinStrategy::Weighted;
        assert_eq!(hosts_to_keep(&event_type, &of(["always", "b"])), None);
        event_type.reschedule_keeps_host = false;
        assert_eq!(hosts_to_keep(&event_type, &of(["always", "a"])), None);
    }

    #[test]
    fn what_is_never_allowed_is_forbidden() {
        let rules = CancellationRules { allowed: false, min_notice_minutes: 0 };
        assert_eq!(allows_cancelling(&rules, START, 0).unwrap_err().code(), Some(Code::Forbidden));
        let rules = RescheduleRules { allowed: false, ..RescheduleRules::default() };
        assert_eq!(allows_moving(&rules, 0, START, 0).unwrap_err().code(), Some(Code::Forbidden));
    }
}
