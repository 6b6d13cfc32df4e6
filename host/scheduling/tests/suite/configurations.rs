//! A thousand random event types: each listed start can be booked, on a separate copy, and no other start can.

use scheduling::assign::choose;
use scheduling::interval::Interval;
use scheduling::oracle::{Oracle, Slot};
use scheduling::rules::{BookedMeeting, HostReservation, Question};

use crate::generator::{Dice, case};
use crate::support::{MINUTE, all};

const CONFIGURATIONS: u64 = 1_000;
/// Starts that are booked of each event type, and starts that are refused.
const STARTS: usize = 20;
/// The meeting that a test makes.
const NEW: &str = "new";

/// Returns the question of a booking, with a single start.
fn about(question: &Question, start: i64) -> Question {
    Question { range: Interval::new(start, start + 1), ..question.clone() }
}

/// Books a slot on a copy of the event type, by its start only; returns the copy and the hosts of the meeting.
fn booked(question: &Question, slot: &Slot) -> (Question, Vec<String>) {
    let mut copy = about(question, slot.at.start);
    let found = Oracle::new(&copy).at(slot.at.start);
    assert_eq!(found.as_ref(), Ok(slot), "what is listed can be booked");
    let hosts = choose(&copy, slot, &[]);
    assert!(!hosts.is_empty(), "somebody is there");
    if let Some(joined) = &slot.joins {
        let meeting = copy.meetings.iter_mut().find(|m| m.meeting == *joined).expect("the joined meeting");
        meeting.seats_taken += 1;
        return (copy, hosts);
    }
    let rules = &copy.rules;
    let padded = slot.at.widen(rules.buffer_before_ms, rules.buffer_after_ms);
    for host in copy.hosts.iter_mut().filter(|host| hosts.contains(&host.id)) {
        host.reserved.push(HostReservation { meeting: NEW.into(), core: slot.at, padded });
    }
    copy.meetings.push(BookedMeeting {
        meeting: NEW.into(),
        core: slot.at,
        hosts: hosts.clone(),
        seats: copy.rules.seats,
        seats_taken: 1,
    });
    (copy, hosts)
}

/// Checks the offer at a start after it was booked: another seat, or hosts who are not in the meeting.
fn check_next(question: &Question, slot: &Slot) {
    let (copy, hosts) = booked(question, slot);
    let next = Oracle::new(&copy).at(slot.at.start);
    let joined = slot.joins.as_deref().unwrap_or(NEW);
    let is_in = |index: &u16| hosts.contains(&copy.hosts[usize::from(*index)].id);
    if slot.seats_left > 1 {
        let next = next.expect("a seat is left");
        assert_eq!((next.joins.as_deref(), next.seats_left), (Some(joined), slot.seats_left - 1));
        assert!(next.hosts.iter().all(is_in), "{hosts:?} have the meeting: {next:?}");
    } else if let Ok(next) = next {
        assert_ne!(next.joins.as_deref(), Some(joined), "the seats are gone");
        let has_a_seat = next.joins.is_some();
        assert!(has_a_seat || !next.hosts.iter().any(is_in), "{hosts:?} are in a meeting: {next:?}");
    }
}

#[test]
fn what_is_listed_can_be_booked_and_nothing_else() {
    let (mut booked, mut refused) = (0, 0);
    for seed in 0..CONFIGURATIONS {
        let mut dice = Dice::new(20_261_013 + seed);
        let days = dice.between(2, 6);
        let question = case(&mut dice, days).question;
        let slots = all(&question);
        for slot in slots.iter().step_by(slots.len() / STARTS + 1) {
            check_next(&question, slot);
            booked += 1;
        }
        for _ in 0..STARTS {
            // Most starts are whole minutes, some are not.
            let minute = dice.between(0, question.range.len_ms() / MINUTE - 1);
            let start = question.range.start + minute * MINUTE + dice.between(-8, 1).max(0);
            if slots.iter().all(|slot| slot.at.start != start) {
                assert!(Oracle::new(&about(&question, start)).at(start).is_err(), "seed {seed}: {start}");
                refused += 1;
            }
        }
    }
    println!("{CONFIGURATIONS} event types: {booked} starts booked, {refused} refused");
    assert!(booked > CONFIGURATIONS && refused > 10 * CONFIGURATIONS);
}
