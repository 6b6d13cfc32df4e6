//! Assignment: chooses the hosts of a meeting among those who are free.

use std::cmp::Ordering;

use crate::oracle::Slot;
use crate::rules::{Assignment, HostTimes, Question, Role, Rules, Strategy};

/// Returns the hosts of a meeting in this slot, the organizer first; for a seat, those of its meeting. They are all hosts of the slot
/// outside the rotation, and one of the rotation: one of `keep` if any is free, else the next in turn. Hosts in `keep` come first, in their
/// order, so that a rescheduled meeting keeps its organizer if possible.
pub fn choose(question: &Question, slot: &Slot, keep: &[String]) -> Vec<String> {
    if let Some(joined) = &slot.joins {
        let meeting = question.meetings.iter().find(|m| m.meeting == *joined);
        return meeting.map(|m| m.hosts.clone()).unwrap_or_default();
    }
    let rules = &question.rules;
    let free = slot.hosts.iter().filter_map(|index| question.hosts.get(usize::from(*index)));
    let rotates = matches!(rules.assignment, Assignment::RoundRobin | Assignment::Priority);
    let (rotation, needed): (Vec<&HostTimes>, Vec<&HostTimes>) =
        free.partition(|host| rotates && host.role == Role::Rotation);
    let place = |host: &HostTimes| keep.iter().position(|id| *id == host.id).unwrap_or(usize::MAX);
    let turn = |a: &&HostTimes, b: &&HostTimes| place(a).cmp(&place(b)).then_with(|| order(rules, a, b));
    let chosen = rotation.into_iter().min_by(turn);
    let mut hosts: Vec<&HostTimes> = needed.into_iter().chain(chosen).collect();
    hosts.sort_by_key(|host| place(host));
    hosts.into_iter().map(|host| host.id.clone()).collect()
}

/// Returns the rotation hosts that can be chosen, in turn order, as indices into the question's hosts.
pub fn turns(question: &Question) -> Vec<usize> {
    let rules = &question.rules;
    let has_share = |host: &HostTimes| rules.strategy != Strategy::Weighted || host.weight > 0;
    let all = question.hosts.iter().enumerate();
    let mut found: Vec<(usize, &HostTimes)> =
        all.filter(|(_, host)| host.role == Role::Rotation && has_share(host)).collect();
    found.sort_by(|(_, a), (_, b)| order(rules, a, b));
    found.into_iter().map(|(index, _)| index).collect()
}

/// Compares two rotation hosts by turn.
fn order(rules: &Rules, a: &HostTimes, b: &HostTimes) -> Ordering {
    let by_priority = a.priority.cmp(&b.priority);
    let first = if rules.assignment == Assignment::Priority { by_priority } else { Ordering::Equal };
    let by_strategy = match rules.strategy {
        Strategy::LeastLoaded => a.load.cmp(&b.load),
        // Compares (load + 1) / weight without a division.
        Strategy::Weighted => {
            let share =
                |of: &HostTimes, other: &HostTimes| (u64::from(of.load) + 1) * u64::from(other.weight);
            share(a, b).cmp(&share(b, a))
        }
        Strategy::Soonest => a.last_assigned_ms.cmp(&b.last_assigned_ms),
    };
    first.then(by_strategy).then(by_priority).then_with(|| a.id.cmp(&b.id))
}
