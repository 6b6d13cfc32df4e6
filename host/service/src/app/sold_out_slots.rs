//! Slots that a transaction under locks has just found full. Of a hundred requests for one slot one wins; each of the others would run a
//! transaction, one after the other, to learn the same. Instead they are refused from memory while that is correct: only a transaction that
//! began after the request had come may refuse it, since at that moment the database had no such slot. A later request asks the database,
//! where another host may have made room.
//!
//! The order of events is kept by a counter of this process, so that no clock has to be exact. The refusals depend on rows of this service
//! alone and not on providers' calendars. They end after a second, and with any change of a booking by this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scheduling::oracle::Refusal;

use crate::app::recent_cache::RecentCache;

/// Lifetime of a refusal, ms: requests that came before the decision wait no longer than this for the lock.
const LIFE_MS: i64 = 1_000;
/// Most slots that are remembered; one more clears all of them.
const MAX_SOLD_OUT_SLOTS: usize = 1_000;

/// A position in this process's order of events, greater than all earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SoldOutVersion(u64);

struct SoldOutMark {
    /// Taken before the transaction that found the slot full began.
    asked: SoldOutVersion,
    refusal: Refusal,
}

/// Refusals of full slots, by the slots' names.
pub struct SoldOut {
    /// The last version that was given out.
    moments: AtomicU64,
    /// The version at which room may last have been made.
    changed: AtomicU64,
    findings: RecentCache<SoldOutMark>,
}

impl Default for SoldOut {
    fn default() -> Self {
        SoldOut {
            moments: AtomicU64::new(0),
            changed: AtomicU64::new(0),
            findings: RecentCache::lasting(LIFE_MS, MAX_SOLD_OUT_SLOTS),
        }
    }
}

impl SoldOut {
    /// Returns the next version.
    pub fn moment(&self) -> SoldOutVersion {
        SoldOutVersion(self.moments.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Returns the refusal of a request that came at version `came`; none where the database has to be asked. `now`: ms since 1970.
    pub fn refusal(&self, slot: &str, came: SoldOutVersion, now: i64) -> Option<Refusal> {
        let finding = self.findings.get(slot, now)?;
        let is_standing = finding.asked.0 > self.changed.load(Ordering::SeqCst);
        (came < finding.asked && is_standing).then(|| finding.refusal.clone())
    }

    /// Stores the refusal by a transaction that began after version `asked` and found the slot full. `now`: ms since 1970.
    pub fn keep(&self, slot: String, asked: SoldOutVersion, refusal: Refusal, now: i64) {
        self.findings.put(slot, Arc::new(SoldOutMark { asked, refusal }), now);
    }

    /// Drops all refusals up to now: a booking was changed, which may have made room.
    pub fn forget(&self) {
        self.changed.fetch_max(self.moment().0, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: &str = "et_1:1:0:30";

    /// Whether a request that came at this version is refused from memory.
    fn is_refused(memory: &SoldOut, came: SoldOutVersion) -> bool {
        memory.refusal(SLOT, came, 0) == Some(Refusal::Taken)
    }

    #[test]
    fn only_who_came_before_the_question_is_refused_by_its_answer() {
        let memory = SoldOut::default();
        let early = memory.moment();
        assert!(!is_refused(&memory, early), "no request came before");
        let asked = memory.moment();
        let meanwhile = memory.moment();
        memory.keep(SLOT.to_owned(), asked, Refusal::Taken, 0);
        assert!(is_refused(&memory, early));
        assert!(!is_refused(&memory, meanwhile), "room may have been made before it came");
        assert!(!is_refused(&memory, memory.moment()));
        assert_eq!(memory.refusal("et_1:1:0:60", early, 0), None, "it is another slot");
    }

    #[test]
    fn a_changed_booking_ends_what_was_asked_before_it() {
        let memory = SoldOut::default();
        let (early, asked) = (memory.moment(), memory.moment());
        memory.keep(SLOT.to_owned(), asked, Refusal::Taken, 0);
        memory.forget();
        assert!(!is_refused(&memory, early));
        // The response of a transaction that began before the change arrives after it.
        memory.keep(SLOT.to_owned(), asked, Refusal::Taken, 0);
        assert!(!is_refused(&memory, early));
        memory.keep(SLOT.to_owned(), memory.moment(), Refusal::Taken, 0);
        assert!(is_refused(&memory, early));
    }

    #[test]
    fn a_slot_is_remembered_for_a_second() {
        let memory = SoldOut::default();
        let (early, asked) = (memory.moment(), memory.moment());
        memory.keep(SLOT.to_owned(), asked, Refusal::Taken, 0);
        assert_eq!(memory.refusal(SLOT, early, LIFE_MS - 1), Some(Refusal::Taken));
        assert_eq!(memory.refusal(SLOT, early, LIFE_MS), None);
    }

    #[test]
    fn no_more_slots_are_remembered_than_there_is_room_for() {
        let memory = SoldOut::default();
        let (early, asked) = (memory.moment(), memory.moment());
        let names: Vec<String> = (0..=MAX_SOLD_OUT_SLOTS).map(|start| format!("et_1:1:{start}:30")).collect();
        for name in &names {
            memory.keep(name.clone(), asked, Refusal::Taken, 0);
        }
        let known = names.iter().filter(|name| memory.refusal(name, early, 0).is_some());
        assert_eq!(known.count(), 1, "the last one, which had no room beside the others");
    }
}
