//! The rate limit of an endpoint: attempts per second. Recent starts are stored with the job, so that the next run on any host counts them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Attempts are counted in slots of this length, ms: the state of a second stays small for any number of attempts.
const SLOT_MS: i64 = 50;
/// Most slots that overlap one second.
const SLOTS: i64 = 1_000 / SLOT_MS + 1;

/// The attempts that began in the last second.
#[derive(Debug)]
pub struct Rate {
    /// Most attempts in any second; none: no limit.
    most: Option<i64>,
    /// Slot numbers (since 1970) with their counts, earliest first; empty slots are left out.
    begun: VecDeque<(i64, i64)>,
}

/// A job's progress.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct RateProgress {
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    begun: VecDeque<(i64, i64)>,
}

fn slot(now: i64) -> i64 {
    now.div_euclid(SLOT_MS)
}

impl Rate {
    /// `progress` is the stored state of earlier runs. All times are Unix ms.
    pub fn new(most: Option<i64>, progress: Option<&str>, now: i64) -> Rate {
        let kept =
            progress.and_then(|kept| serde_json::from_str::<RateProgress>(kept).ok()).unwrap_or_default();
        let mut rate = Rate { most, begun: kept.begun };
        // Written by a host whose clock is ahead.
        rate.begun.retain(|(at, _)| *at <= slot(now));
        rate.forget(now);
        rate
    }

    /// The earliest time of the next attempt: `now`, or later.
    pub fn next_at(&self, now: i64) -> i64 {
        let Some(most) = self.most else { return now };
        let counted = self.begun.iter().filter(|(at, _)| *at > slot(now) - SLOTS);
        let mut count: i64 = counted.clone().map(|(_, count)| count).sum();
        let mut next_at = now;
        for (at, of_slot) in counted {
            if count < most {
                break;
            }
            count -= of_slot;
            next_at = (at + SLOTS) * SLOT_MS;
        }
        next_at
    }

    /// Counts an attempt that begins.
    pub fn count(&mut self, now: i64) {
        if self.most.is_none() {
            return;
        }
        self.forget(now);
        match self.begun.back_mut() {
            // After the clock was set back, counting continues in the last slot.
            Some((at, count)) if *at >= slot(now) => *count += 1,
            _ => self.begun.push_back((slot(now), 1)),
        }
    }

    fn forget(&mut self, now: i64) {
        self.begun.retain(|(at, _)| *at > slot(now) - SLOTS);
    }

    /// The state for the next run: JSON, less than 1 KiB.
    pub fn progress(&self) -> String {
        storage::json_text(&RateProgress { begun: self.begun.clone() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn after_so_many_in_a_second_the_next_one_waits() {
        let mut rate = Rate::new(Some(2), None, 1_000);
        assert_eq!(rate.next_at(1_000), 1_000);
        rate.count(1_000);
        rate.count(1_010);
        let next_at = rate.next_at(1_020);
        assert_eq!(next_at, 2_050);
        assert_eq!(rate.next_at(2_049), 2_050);
        assert_eq!(rate.next_at(2_050), 2_050);
    }

    #[test]
    fn without_a_limit_nothing_waits_and_nothing_is_kept() {
        let mut rate = Rate::new(None, Some("no JSON"), 0);
        for _ in 0..2_000 {
            rate.count(5);
        }
        assert_eq!((rate.next_at(5), rate.progress()), (5, "{}".to_owned()));
    }

    #[test]
    fn the_next_turn_knows_what_was_begun() {
        let mut rate = Rate::new(Some(1), None, 1_000);
        rate.count(1_000);
        let kept = rate.progress();
        assert_eq!(Rate::new(Some(1), Some(&kept), 1_500).next_at(1_500), 2_050);
        assert_eq!(Rate::new(Some(1), Some(&kept), 3_000).next_at(3_000), 3_000);
        // By a clock that is behind, the attempt has not begun yet.
        assert_eq!(Rate::new(Some(1), Some(&kept), 500).next_at(500), 500);
    }

    /// Times between attempts that are ready to begin, in ms, and whether a new run begins.
    fn waits() -> impl Strategy<Value = Vec<(i64, bool)>> {
        proptest::collection::vec((0_i64..200, any::<bool>()), 1..300)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// For any clock and any ends of runs.
        #[test]
        fn no_second_has_more(most in 1_i64..40, history in waits()) {
            let (mut now, mut begun) = (1_772_352_000_000_i64, Vec::new());
            let mut rate = Rate::new(Some(most), None, now);
            for (wait, is_new_turn) in history {
                now += wait;
                if is_new_turn {
                    let kept = rate.progress();
                    prop_assert!(kept.len() < 1_024);
                    rate = Rate::new(Some(most), Some(&kept), now);
                }
                now = rate.next_at(now);
                prop_assert_eq!(rate.next_at(now), now);
                rate.count(now);
                begun.push(now);
                let of_second = begun.iter().filter(|at| **at > now - 1_000).count();
                prop_assert!(i64::try_from(of_second).unwrap() <= most);
            }
        }
    }
}
