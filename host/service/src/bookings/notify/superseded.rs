//! The names of messages, from which their Message-IDs are derived, and the earlier ones that a message supersedes. Pure.

use model::scheduling::event_type::BookingReminder;

use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};

/// Number of earlier moves whose messages may still be in the outbox.
const MOVES: i64 = 2;

/// The name of the message about a change, the same for every repetition.
pub fn name_of(booking_id: &str, kind: MailKind, sequence: i64, role: MailRole) -> String {
    format!("booking/{booking_id}/{kind}/{sequence}/{}", role.as_str())
}

/// The name of one host's message, if each host has one. `name` is that of the change.
pub fn name_of_host(name: &str, connection_id: &str) -> String {
    format!("{name}/{connection_id}")
}

/// The names of the messages to single hosts for these names of changes: only of those that ask hosts to decide.
pub fn overtaken_of_hosts<'h>(names: &[String], hosts: impl Iterator<Item = &'h str>) -> Vec<String> {
    let asks = |name: &&String| name.contains("/pending/") || name.contains("/rescheduled/");
    let asking: Vec<&String> = names.iter().filter(asks).collect();
    hosts
        .flat_map(|host| asking.iter().map(move |name| name_of_host(name, host)).collect::<Vec<_>>())
        .collect()
}

/// The names of earlier messages to the same people that no longer apply: unless they were sent, they must not arrive after this one. A
/// move supersedes messages about the times before it, a confirmation also those about the pending state, and an end all of them.
pub fn overtaken(key: &MailKey, reminders: &[BookingReminder]) -> Vec<String> {
    let mut all = vec![
        MailKind::Pending,
        MailKind::Confirmed,
        MailKind::Rescheduled,
        MailKind::Conference,
        MailKind::AllDay,
    ];
    all.extend(reminders.iter().map(|reminder| MailKind::Reminder(reminder.minutes_before)));
    let of_this_time = match key.kind {
        MailKind::Cancelled | MailKind::Rejected | MailKind::Expired => all.clone(),
        MailKind::Confirmed => vec![MailKind::Pending, MailKind::Rescheduled],
        MailKind::Rescheduled => Vec::new(),
        // A message about the time, sent before the link was known, still applies.
        MailKind::Pending | MailKind::Conference | MailKind::AllDay | MailKind::Reminder(_) => {
            return Vec::new();
        }
    };
    let named = |kinds: &[MailKind], sequence: i64| -> Vec<String> {
        kinds.iter().map(|kind| name_of(&key.booking_id, *kind, sequence, key.role)).collect()
    };
    let first = key.sequence.saturating_sub(MOVES).max(0);
    let mut names: Vec<String> = (first..key.sequence).flat_map(|sequence| named(&all, sequence)).collect();
    names.extend(named(&of_this_time, key.sequence));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: MailKind, sequence: i64) -> MailKey {
        MailKey { booking_id: "bk_1".to_owned(), kind, sequence, role: MailRole::Guests }
    }

    #[test]
    fn a_later_message_overtakes_what_is_not_so_any_more() {
        let reminders = [BookingReminder { minutes_before: 60, ..BookingReminder::default() }];
        let of = |kind, sequence| overtaken(&key(kind, sequence), &reminders);
        assert!(of(MailKind::Pending, 0).is_empty() && of(MailKind::Reminder(60), 3).is_empty());
        assert!(of(MailKind::Conference, 3).is_empty(), "a confirmation is sent besides the link");
        assert_eq!(
            of(MailKind::Confirmed, 0),
            ["booking/bk_1/pending/0/guests", "booking/bk_1/rescheduled/0/guests"]
        );
        assert_eq!(
            of(MailKind::Cancelled, 0),
            ["pending", "confirmed", "rescheduled", "conference", "all-day", "reminder-60"]
                .map(|kind| format!("booking/bk_1/{kind}/0/guests"))
        );
        let moved = of(MailKind::Rescheduled, 9);
        assert!(moved.contains(&"booking/bk_1/reminder-60/8/guests".to_owned()), "{moved:?}");
        assert!(!moved.iter().any(|name| name.contains("/9/")), "{moved:?}");
        assert_eq!(moved.len(), 12, "it looks two moves back: {moved:?}");
    }

    #[test]
    fn a_hosts_own_message_is_overtaken_with_the_change() {
        let hosts = ["conn_1", "conn_2"].into_iter();
        let all = overtaken(&key(MailKind::Confirmed, 0), &[]);
        assert_eq!(
            overtaken_of_hosts(&all, hosts),
            [
                "booking/bk_1/pending/0/guests/conn_1",
                "booking/bk_1/rescheduled/0/guests/conn_1",
                "booking/bk_1/pending/0/guests/conn_2",
                "booking/bk_1/rescheduled/0/guests/conn_2"
            ]
        );
        let reminders = ["booking/bk_1/reminder-60/0/hosts".to_owned()];
        assert!(overtaken_of_hosts(&reminders, ["conn_1"].into_iter()).is_empty());
    }

    #[test]
    fn no_message_overtakes_itself() {
        for kind in [MailKind::Pending, MailKind::Confirmed, MailKind::Rescheduled, MailKind::Cancelled] {
            let own = name_of("bk_1", kind, 1, MailRole::Guests);
            assert!(!overtaken(&key(kind, 1), &[]).contains(&own));
        }
    }
}
