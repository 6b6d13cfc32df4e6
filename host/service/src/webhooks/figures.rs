//! Delivery statistics: attempts, failures and durations. They are counted by day in duration classes, so that the counts of several hosts,
//! webhooks and days can be added.

use std::collections::BTreeMap;

use storage::usage;

/// The upper bound of each duration class, ms. Longer attempts are in the last one.
const CLASSES_MS: [i64; 29] = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000,
    7_000, 10_000, 15_000, 20_000, 30_000, 60_000, LONGEST_MS,
];
/// The last class: far longer than the timeout of an attempt.
const LONGEST_MS: i64 = 600_000;
const DELIVERED: &str = "delivered";
const FAILED: &str = "failed";

/// Counts of attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// By failure, and by the upper bound of their class in ms.
    attempts: BTreeMap<(bool, i64), i64>,
}

impl Figures {
    /// Counts an attempt of this duration.
    pub fn count(&mut self, has_failed: bool, duration_ms: i64) {
        let class = CLASSES_MS.into_iter().find(|longest| duration_ms <= *longest).unwrap_or(LONGEST_MS);
        *self.attempts.entry((has_failed, class)).or_default() += 1;
    }

    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// The counts in the form of the usage table, by outcome.
    pub fn outcomes(&self) -> BTreeMap<String, i64> {
        let outcome = |((has_failed, class), count): (&(bool, i64), &i64)| {
            let word = if *has_failed { FAILED } else { DELIVERED };
            (format!("{}{word}:{class}", usage::WEBHOOK), *count)
        };
        self.attempts.iter().map(outcome).collect()
    }

    /// Parses counts in the form of the usage table.
    pub fn from_outcomes(outcomes: &[(String, i64)]) -> Figures {
        let mut figures = Figures::default();
        for (outcome, count) in outcomes {
            let parts = outcome.strip_prefix(usage::WEBHOOK).and_then(|rest| rest.split_once(':'));
            let Some((word, class)) = parts else { continue };
            let Ok(class) = class.parse::<i64>() else { continue };
            *figures.attempts.entry((word == FAILED, class)).or_default() += count;
        }
        figures
    }

    /// Number of attempts.
    pub fn attempts(&self) -> i64 {
        self.attempts.values().sum()
    }

    /// Number of failed attempts.
    pub fn failed(&self) -> i64 {
        self.attempts.iter().filter(|((has_failed, _), _)| *has_failed).map(|(_, count)| count).sum()
    }

    /// The 95th percentile of the durations, ms: the upper bound of the class that contains it. None: there were no attempts.
    pub fn p95_ms(&self) -> Option<i64> {
        let mut classes: BTreeMap<i64, i64> = BTreeMap::new();
        for ((_, class), count) in &self.attempts {
            *classes.entry(*class).or_default() += count;
        }
        let all = self.attempts();
        let mut reached = 0;
        classes.into_iter().find_map(|(class, count)| {
            reached += count;
            (reached * 100 >= all * 95).then_some(class)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: impl IntoIterator<Item = (bool, i64)>) -> Figures {
        let mut figures = Figures::default();
        durations.into_iter().for_each(|(has_failed, ms)| figures.count(has_failed, ms));
        figures
    }

    #[test]
    fn classes_go_up() {
        assert!(CLASSES_MS.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn ninety_five_of_a_hundred_took_at_most_so_long() {
        assert_eq!(Figures::default().p95_ms(), None);
        assert_eq!(of([(false, 0)]).p95_ms(), Some(1));
        assert_eq!(of([(false, 12), (true, 250)]).p95_ms(), Some(300), "the slower of two");
        let slow = |count: i64| (0..100).map(move |n| (false, if n < count { 4_000 } else { 80 }));
        assert_eq!((of(slow(5)).p95_ms(), of(slow(6)).p95_ms()), (Some(100), Some(5_000)));
        assert_eq!(of([(true, i64::MAX)]).p95_ms(), Some(LONGEST_MS));
    }

    /// Counts of two hosts on two days, written and read back, add up to the counts of a single one.
    #[test]
    fn counts_add_up() {
        let (one, other) = ([(false, 3), (true, 40), (false, 900)], [(false, 3), (true, 41), (true, 15_000)]);
        let mut written: Vec<(String, i64)> = of(one).outcomes().into_iter().collect();
        written.extend(of(other).outcomes());
        let together = Figures::from_outcomes(&written);
        assert_eq!(together, of(one.into_iter().chain(other)));
        assert_eq!((together.attempts(), together.failed()), (6, 3));
    }

    #[test]
    fn what_is_no_count_of_attempts_is_left_out() {
        let others = [("change", 3), ("webhook:failed", 1), ("webhook:failed:soon", 2)];
        let others = others.map(|(outcome, count)| (outcome.to_owned(), count));
        assert!(Figures::from_outcomes(&others).is_empty());
    }
}
