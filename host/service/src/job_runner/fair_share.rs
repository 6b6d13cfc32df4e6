//! Chooses the application that runs next: the one with the fewest runs under way, and of several the one that was served the least. An
//! application with a long backlog, or with long runs, delays the others by its current runs and not by its backlog. Each pool has an order
//! of its own: slow runs that fill one do not count in the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use storage::jobs::Candidate;

/// Applications whose service time is remembered; beyond that, inactive ones are forgotten.
const MAX_APPLICATIONS: usize = 10_000;

/// A pool (true: the one for slow runs) and an application's id.
pub type Share = (bool, String);

/// The service that applications have received from each pool.
#[derive(Debug, Default)]
pub struct Shares(BTreeMap<Share, ServedCounts>);

#[derive(Clone, Copy, Debug, Default)]
struct ServedCounts {
    /// Runs under way.
    running: usize,
    /// Total duration of its runs.
    time: Duration,
    /// It had due jobs at the last check.
    waits: bool,
}

impl ServedCounts {
    fn is_active(self) -> bool {
        self.running > 0 || self.waits
    }
}

impl Shares {
    /// Records the applications that have due jobs. One that had none before gets no credit for that: it starts level with the one that was
    /// served the least.
    pub fn wait(&mut self, waiting: BTreeSet<Share>) {
        let mut floors = [None, None];
        for ((is_slow, _), served) in self.0.iter().filter(|(_, served)| served.is_active()) {
            let floor: &mut Option<Duration> = &mut floors[usize::from(*is_slow)];
            *floor = Some(floor.map_or(served.time, |least| least.min(served.time)));
        }
        for (share, served) in &mut self.0 {
            served.waits = served.waits && waiting.contains(share);
        }
        for share in waiting {
            let floor = floors[usize::from(share.0)].unwrap_or_default();
            let served = self.0.entry(share).or_default();
            if !served.is_active() {
                served.time = served.time.max(floor);
            }
            served.waits = true;
        }
        if self.0.len() > MAX_APPLICATIONS {
            self.0.retain(|_, served| served.is_active());
        }
    }

    /// Returns the application to run next among those that wait.
    pub fn next(&self, waiting: &BTreeMap<Share, VecDeque<Candidate>>) -> Option<Share> {
        let rank = |(share, hints): &(&Share, &VecDeque<Candidate>)| {
            let served = self.0.get(*share).copied().unwrap_or_default();
            (served.running, served.time, hints.front().map(|hint| hint.due_at))
        };
        waiting.iter().min_by_key(rank).map(|(share, _)| share.clone())
    }

    /// Returns the number of an application's runs in a pool.
    pub fn running(&self, is_slow: bool, application: &str) -> usize {
        self.0.get(&(is_slow, application.to_owned())).map_or(0, |served| served.running)
    }

    /// Records the start of a run.
    pub fn begin(&mut self, is_slow: bool, application: &str) {
        self.0.entry((is_slow, application.to_owned())).or_default().running += 1;
    }

    /// Records that a run ended or left the pool, after `took` in it.
    pub fn end(&mut self, is_slow: bool, application: &str, took: Duration) {
        let served = self.0.entry((is_slow, application.to_owned())).or_default();
        served.running = served.running.saturating_sub(1);
        served.time += took;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn share(application: &str) -> Share {
        (false, application.to_owned())
    }

    fn waiting(applications: &[&str]) -> BTreeMap<Share, VecDeque<Candidate>> {
        let hint = |application: &str| Candidate {
            id: format!("pull:{application}"),
            kind: "pull".into(),
            application_id: application.into(),
            connection_id: None,
            target: String::new(),
            is_slow: false,
            due_at: 0,
        };
        applications
            .iter()
            .map(|application| (share(application), VecDeque::from([hint(application)])))
            .collect()
    }

    fn next(shares: &mut Shares, applications: &[&str]) -> String {
        let waiting = waiting(applications);
        shares.wait(waiting.keys().cloned().collect());
        shares.next(&waiting).expect("an application waits").1
    }

    #[test]
    fn who_has_fewer_turns_under_way_is_next_and_then_who_was_served_less() {
        let mut shares = Shares::default();
        shares.begin(false, "a");
        assert_eq!(next(&mut shares, &["a", "b"]), "b");
        shares.end(false, "a", Duration::from_secs(1));
        assert_eq!(next(&mut shares, &["a", "b"]), "b");
        shares.begin(false, "b");
        shares.end(false, "b", Duration::from_secs(2));
        assert_eq!(next(&mut shares, &["a", "b"]), "a");
    }

    #[test]
    fn idle_time_earns_no_credit() {
        let mut shares = Shares::default();
        for _ in 0..10 {
            assert_eq!(next(&mut shares, &["busy"]), "busy");
            shares.begin(false, "busy");
            shares.end(false, "busy", Duration::from_secs(60));
        }
        // It starts level with the other one, and not ten minutes before it.
        next(&mut shares, &["busy", "new"]);
        shares.begin(false, "new");
        shares.end(false, "new", Duration::from_secs(1));
        assert_eq!(next(&mut shares, &["busy", "new"]), "busy");
    }

    #[test]
    fn whose_slow_turns_are_many_is_not_behind_with_the_fast_ones() {
        let mut shares = Shares::default();
        for _ in 0..10 {
            shares.begin(true, "a");
        }
        shares.begin(false, "b");
        assert_eq!(next(&mut shares, &["a", "b"]), "a");
    }

    #[test]
    fn who_has_nothing_to_do_is_forgotten_when_they_are_many() {
        let mut shares = Shares::default();
        for number in 0..=MAX_APPLICATIONS {
            shares.begin(false, &number.to_string());
            shares.end(false, &number.to_string(), Duration::ZERO);
        }
        shares.wait(BTreeSet::from([share("one")]));
        assert_eq!(shares.0.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Applications that always have due jobs get equal shares of the time, however long their runs are.
        #[test]
        fn the_least_served_application_is_next(lengths in proptest::collection::vec(1_u64..=50, 2..6)) {
            let names: Vec<String> = (0..lengths.len()).map(|number| format!("app {number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (mut shares, mut times) = (Shares::default(), vec![0_u64; names.len()]);
            for _ in 0..2_000 {
                let next = next(&mut shares, &names);
                let at = names.iter().position(|name| *name == next).expect("one of them");
                shares.begin(false, &next);
                shares.end(false, &next, Duration::from_millis(lengths[at]));
                times[at] += lengths[at];
            }
            let fair = times.iter().sum::<u64>() / times.len() as u64;
            for time in &times {
                prop_assert!(time.abs_diff(fair) * 10 <= fair, "{times:?}");
            }
        }
    }
}
