//! Properties that hold for every event type.

use proptest::prelude::*;
use scheduling::interval::{Interval, Intervals};
use scheduling::oracle::Oracle;
use scheduling::rules::{Assignment, HostTimes, Role};

use crate::generator::{Case, Dice, case};
use crate::plain;
use crate::support::{MINUTE, all, rotation, starts};

/// Some days of a random event type.
fn any_case() -> impl Strategy<Value = Case> {
    (any::<u64>(), 1i64..5).prop_map(|(seed, days)| case(&mut Dice::new(seed), days))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_slot_keeps_every_rule_said_plainly(case in any_case()) {
        prop_assert_eq!(all(&case.question), plain::slots(&case));
    }

    #[test]
    fn slots_are_exactly_the_starts_that_at_accepts(case in any_case()) {
        let oracle = Oracle::new(&case.question);
        let slots = oracle.slots(i64::MIN, usize::MAX);
        let Interval { start, end } = case.question.range;
        let accepted = (start / MINUTE..end / MINUTE).filter_map(|minute| oracle.at(minute * MINUTE).ok());
        prop_assert_eq!(accepted.collect::<Vec<_>>(), slots.clone());
        for slot in &slots {
            prop_assert!(oracle.at(slot.at.start + 1).is_err(), "no start lies beside a minute");
        }
        prop_assert!(oracle.at(start - 1).is_err() && oracle.at(end).is_err());
    }

    #[test]
    fn equal_questions_have_equal_answers(case in any_case(), limit in 1usize..9) {
        let whole = all(&case.question);
        prop_assert_eq!(&whole, &all(&case.question.clone()));
        let oracle = Oracle::new(&case.question);
        let (mut pages, mut from) = (Vec::new(), i64::MIN);
        loop {
            let page = oracle.slots(from, limit);
            let Some(last) = page.last() else { break };
            from = last.at.start + 1;
            pages.extend(page);
        }
        prop_assert_eq!(whole, pages, "page by page");
    }

    #[test]
    fn a_busy_time_moves_no_other_slot(case in any_case(), from in 0i64..5_000, minutes in 1i64..300) {
        let mut question = case.question;
        let start = question.range.start + from * MINUTE;
        let more = Interval::new(start, start + minutes * MINUTE);
        let before = all(&question);
        let Some(busy) = question.hosts[0].busy.clone() else { return Ok(()) };
        question.hosts[0].busy = Some(busy.union(&Intervals::from(more)));
        let after = all(&question);
        let (left, right) = (question.rules.buffer_before_ms, question.rules.buffer_after_ms);
        let is_apart = |at: Interval| !at.widen(left, right).overlaps(more);
        for slot in &before {
            let is_safe = is_apart(slot.at) || slot.joins.is_some();
            prop_assert!(!is_safe || after.contains(slot), "{:?} went", slot);
        }
        for slot in &after {
            prop_assert!(before.iter().any(|b| b.at == slot.at), "{:?} came", slot);
            prop_assert!(is_apart(slot.at) || slot.joins.is_some() || !slot.hosts.contains(&0));
        }
    }

    #[test]
    fn adding_a_host_takes_no_slot_away_from_round_robin(case in any_case()) {
        let mut question = case.question;
        question.rules.assignment = Assignment::RoundRobin;
        let before = starts(&question);
        question.hosts.push(rotation("new"));
        let after = starts(&question);
        prop_assert!(before.iter().all(|start| after.contains(start)));
    }

    #[test]
    fn where_every_host_is_busy_nothing_but_seats_is_offered(case in any_case()) {
        let mut question = case.question;
        let whole = question.range.widen(4_000 * MINUTE, 4_000 * MINUTE);
        for host in &mut question.hosts {
            host.busy = Some(Intervals::from(whole));
        }
        prop_assert!(all(&question).iter().all(|slot| slot.joins.is_some()));
        let nobody = |host: &HostTimes| HostTimes { role: Role::Optional, ..host.clone() };
        question.hosts = question.hosts.iter().map(nobody).collect();
        prop_assert!(all(&question).is_empty(), "where nobody is needed, there is no grid");
    }
}
