//! Tests of host assignment.

use proptest::prelude::*;
use scheduling::assign::choose;
use scheduling::rules::{Assignment, BookedMeeting, HostTimes, Question, Strategy};

use crate::support::{all, busy, host, interval, monday, rotation, taken};

fn rotating(strategy: Strategy, hosts: Vec<HostTimes>) -> Question {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.assignment = Assignment::RoundRobin;
    question.rules.strategy = strategy;
    question.hosts = hosts;
    question
}

fn chosen(question: &Question, keep: &[&str]) -> Vec<String> {
    let keep: Vec<String> = keep.iter().map(|id| (*id).to_owned()).collect();
    choose(question, &all(question)[0], &keep)
}

#[test]
fn the_least_loaded_comes_first_then_priority_then_id() {
    let mut question = rotating(Strategy::LeastLoaded, vec![rotation("c"), rotation("b"), rotation("a")]);
    assert_eq!(chosen(&question, &[]), ["a"]);
    question.hosts[1].priority = -1;
    assert_eq!(chosen(&question, &[]), ["b"]);
    question.hosts[1].load = 1;
    question.hosts[2].load = 1;
    assert_eq!(chosen(&question, &[]), ["c"]);
}

#[test]
fn the_soonest_is_who_has_waited_longest() {
    let mut question = rotating(Strategy::Soonest, vec![rotation("a"), rotation("b")]);
    question.hosts[0].last_assigned_ms = 2;
    question.hosts[1].last_assigned_ms = 1;
    question.hosts[1].load = 9;
    assert_eq!(chosen(&question, &[]), ["b"]);
}

#[test]
fn the_smallest_free_priority_wins() {
    let mut question = rotating(Strategy::LeastLoaded, vec![rotation("a"), rotation("b"), rotation("c")]);
    question.rules.assignment = Assignment::Priority;
    for (host, priority) in question.hosts.iter_mut().zip([1, 2, 3]) {
        host.priority = priority;
    }
    question.hosts[0].load = 100;
    assert_eq!(chosen(&question, &[]), ["a"]);
    let nine = interval("2026-07-06T09:00:00Z", "2026-07-06T10:00:00Z");
    busy(&mut question.hosts[0], &[nine]);
    assert_eq!(chosen(&question, &[]), ["b"]);
}

#[test]
fn required_hosts_are_in_every_meeting_and_who_organized_it_still_does() {
    let mut question = rotating(Strategy::LeastLoaded, vec![rotation("a"), rotation("b"), host("z")]);
    assert_eq!(chosen(&question, &[]), ["z", "a"]);
    assert_eq!(chosen(&question, &["b", "z"]), ["b", "z"]);
    question.only_hosts = Some(vec!["b".into()]);
    assert_eq!(chosen(&question, &[]), ["z", "b"], "a list narrows the rotation alone");
    question.rules.assignment = Assignment::Collective;
    assert_eq!(chosen(&question, &[]), ["a", "b", "z"]);
}

#[test]
fn a_seat_is_with_the_meetings_hosts() {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.seats = 3;
    let core = interval("2026-07-06T09:00:00Z", "2026-07-06T10:00:00Z");
    question.meetings =
        vec![BookedMeeting { seats: 3, hosts: vec!["b".into(), "a".into()], ..taken("m", core) }];
    assert_eq!(chosen(&question, &[]), ["b", "a"]);
}

#[test]
fn weights_of_two_and_one_are_six_and_three_of_nine() {
    let mut question = rotating(Strategy::Weighted, vec![rotation("a"), rotation("b")]);
    question.hosts[0].weight = 2;
    for _ in 0..9 {
        let id = chosen(&question, &[]).remove(0);
        question.hosts.iter_mut().filter(|h| h.id == id).for_each(|h| h.load += 1);
    }
    assert_eq!(question.hosts.iter().map(|h| h.load).collect::<Vec<_>>(), [6, 3]);
}

proptest! {
    #[test]
    fn weights_are_met_within_one(weights in prop::collection::vec(0u32..6, 1..6)) {
        let hosts: Vec<HostTimes> = weights
            .iter()
            .zip('a'..)
            .map(|(weight, id)| HostTimes { weight: *weight, ..rotation(&id.to_string()) })
            .collect();
        let mut question = rotating(Strategy::Weighted, hosts);
        let round: u32 = weights.iter().sum();
        for booking in 1..=3 * round {
            let id = chosen(&question, &[]).remove(0);
            question.hosts.iter_mut().filter(|h| h.id == id).for_each(|h| h.load += 1);
            let shares: Vec<(u32, u32)> =
                question.hosts.iter().filter(|h| h.weight > 0).map(|h| (h.load, h.weight)).collect();
            for (load, weight) in &shares {
                for (other, other_weight) in &shares {
                    // load / weight <= (other + 1) / other_weight: no host is ahead by more than one booking of another.
                    prop_assert!(load * other_weight <= (other + 1) * weight, "{:?}", shares);
                }
            }
            if booking % round == 0 {
                let rounds = booking / round;
                prop_assert!(shares.iter().all(|(load, weight)| *load == rounds * weight), "{:?}", shares);
            }
        }
        prop_assert!(question.hosts.iter().all(|h| h.weight > 0 || h.load == 0));
    }
}
