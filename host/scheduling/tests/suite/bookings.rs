//! Sequences of bookings: made, moved and cancelled as the engine allows, with two event types of the same hosts. After every step no
//! host has two meetings at once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use scheduling::assign::choose;
use scheduling::interval::Interval;
use scheduling::oracle::{Oracle, Slot};
use scheduling::rules::{BookedMeeting, HostReservation, Limits, Question, Window};

use crate::generator::{Dice, case};
use crate::support::MINUTE;

/// A meeting with its seats and its event type.
#[derive(Clone, Debug)]
struct Meeting {
    event_type: usize,
    core: Interval,
    padded: Interval,
    hosts: Vec<String>,
    seats: u32,
    taken: u32,
}

/// All stored data.
struct Book {
    /// The event types, without meetings and reservations.
    types: Vec<Question>,
    meetings: BTreeMap<String, Meeting>,
    next: usize,
}

impl Book {
    fn new(dice: &mut Dice) -> Book {
        let mut one = case(dice, 2).question;
        one.rules.limits = Limits::default();
        one.rules.window = Window::Unlimited;
        one.rules.unknown_is_free = true;
        one.now_ms = one.range.start;
        one.rules.notice_ms = 0;
        (one.moved, one.only_hosts, one.invitee_active) = (None, None, None);
        one.meetings.clear();
        for host in &mut one.hosts {
            host.reserved.clear();
        }
        let mut other = one.clone();
        other.rules.duration_ms = dice.between(1, 8) * 15 * MINUTE;
        other.rules.step_ms = dice.between(1, 6) * 5 * MINUTE;
        other.rules.buffer_before_ms = dice.between(0, 6) * 5 * MINUTE;
        other.rules.buffer_after_ms = dice.between(0, 6) * 5 * MINUTE;
        other.rules.seats = 1;
        Book { types: vec![one, other], meetings: BTreeMap::new(), next: 0 }
    }

    /// Returns the event type's question in its current state.
    fn question(&self, event_type: usize) -> Question {
        let mut question = self.types[event_type].clone();
        for (id, meeting) in &self.meetings {
            for host in question.hosts.iter_mut().filter(|h| meeting.hosts.contains(&h.id)) {
                let (core, padded) = (meeting.core, meeting.padded);
                host.reserved.push(HostReservation { meeting: id.clone(), core, padded });
                host.load += 1;
            }
            if meeting.event_type == event_type {
                question.meetings.push(BookedMeeting {
                    meeting: id.clone(),
                    core: meeting.core,
                    hosts: meeting.hosts.clone(),
                    seats: meeting.seats,
                    seats_taken: meeting.taken,
                });
            }
        }
        question
    }

    /// Books the slot as a booking does: by its start only.
    fn book(&mut self, question: &Question, event_type: usize, slot: &Slot, keep: &[String]) {
        let found = Oracle::new(question).at(slot.at.start).expect("what is offered can be booked");
        assert_eq!(found, *slot);
        if let Some(joined) = &found.joins {
            self.meetings.get_mut(joined).expect("a meeting").taken += 1;
            return;
        }
        let rules = &question.rules;
        let meeting = Meeting {
            event_type,
            core: slot.at,
            padded: slot.at.widen(rules.buffer_before_ms, rules.buffer_after_ms),
            hosts: choose(question, slot, keep),
            seats: rules.seats,
            taken: 1,
        };
        assert!(!meeting.hosts.is_empty(), "somebody is there");
        self.next += 1;
        self.meetings.insert(format!("m{:04}", self.next), meeting);
    }

    /// Makes, cancels or moves a booking.
    fn step(&mut self, dice: &mut Dice) {
        let ids: Vec<String> = self.meetings.keys().cloned().collect();
        let what = if ids.is_empty() { 1 } else { dice.between(1, 10) };
        if what <= 6 {
            let event_type = usize::from(dice.chance(50));
            let question = self.question(event_type);
            let slots = Oracle::new(&question).slots(i64::MIN, 200);
            if !slots.is_empty() {
                let slot = dice.pick(&slots).clone();
                self.book(&question, event_type, &slot, &[]);
            }
            return;
        }
        let id = dice.pick(&ids).clone();
        let meeting = self.meetings[&id].clone();
        if what <= 8 {
            self.leave(&id);
            return;
        }
        let mut question = self.question(meeting.event_type);
        if meeting.taken == 1 {
            question.moved = Some(id.clone());
        }
        let slots = Oracle::new(&question).slots(i64::MIN, 200);
        if !slots.is_empty() {
            let slot = dice.pick(&slots).clone();
            // A move into the same meeting is none.
            if slot.joins.as_ref() != Some(&id) {
                self.leave(&id);
                self.book(&question, meeting.event_type, &slot, &meeting.hosts);
            }
        }
    }

    /// Frees a seat; the last one frees the time.
    fn leave(&mut self, id: &str) {
        let meeting = self.meetings.get_mut(id).expect("a meeting");
        meeting.taken -= 1;
        if meeting.taken == 0 {
            self.meetings.remove(id);
        }
    }

    /// Returns two meetings of a host that overlap, or one that overlaps a busy time.
    fn conflict(&self) -> Option<String> {
        for (id, one) in &self.meetings {
            for (other_id, other) in self.meetings.iter().filter(|(other_id, _)| *other_id < id) {
                let is_shared = one.hosts.iter().any(|host| other.hosts.contains(host));
                if is_shared && (one.core.overlaps(other.padded) || one.padded.overlaps(other.core)) {
                    return Some(format!("{id} {one:?} and {other_id} {other:?}"));
                }
            }
            let hosts = self.types[0].hosts.iter().filter(|host| one.hosts.contains(&host.id));
            for busy in hosts.flat_map(|host| &host.busy).flat_map(|busy| busy.iter()) {
                if busy.overlaps(one.padded) {
                    return Some(format!("{id} {one:?} and busy {busy:?}"));
                }
            }
            if one.taken > one.seats {
                return Some(format!("{id} has more guests than seats: {one:?}"));
            }
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_sequence_of_bookings_overlaps(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let mut book = Book::new(&mut dice);
        for _ in 0..40 {
            book.step(&mut dice);
            prop_assert_eq!(book.conflict(), None);
        }
    }
}
