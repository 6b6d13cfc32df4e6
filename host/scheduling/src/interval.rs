//! Half-open intervals of time in milliseconds since 1970, and sets of them with union, intersection and difference.

/// A time range from `start` (inclusive) to `end` (exclusive). Empty if `end` is not after `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    pub start: i64,
    pub end: i64,
}

impl Interval {
    pub fn new(start: i64, end: i64) -> Self {
        Interval { start, end }
    }

    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The length in milliseconds; 0 if empty.
    pub fn len_ms(self) -> i64 {
        self.end.saturating_sub(self.start).max(0)
    }

    /// Whether both share an instant. Intervals that only touch do not.
    pub fn overlaps(self, other: Interval) -> bool {
        !self.is_empty() && !other.is_empty() && self.start < other.end && other.start < self.end
    }

    /// Returns whether `other` lies completely in this interval.
    pub fn covers(self, other: Interval) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns the common part; empty if there is none.
    pub fn clip(self, to: Interval) -> Interval {
        Interval::new(self.start.max(to.start), self.end.min(to.end))
    }

    /// Returns the interval extended by these times on both sides.
    pub fn widen(self, before_ms: i64, after_ms: i64) -> Interval {
        Interval::new(self.start.saturating_sub(before_ms), self.end.saturating_add(after_ms))
    }
}

/// A set of instants as sorted intervals that neither overlap nor touch, none of them empty: equal sets are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(Vec<Interval>);

impl FromIterator<Interval> for Intervals {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Self {
        let mut all: Vec<Interval> = intervals.into_iter().filter(|i| !i.is_empty()).collect();
        all.sort_unstable();
        let mut out: Vec<Interval> = Vec::with_capacity(all.len());
        for next in all {
            match out.last_mut() {
                Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
                _ => out.push(next),
            }
        }
        Intervals(out)
    }
}

impl From<Interval> for Intervals {
    fn from(interval: Interval) -> Self {
        Intervals::from_iter([interval])
    }
}

impl Intervals {
    pub fn iter(&self) -> impl Iterator<Item = Interval> {
        self.0.iter().copied()
    }

    pub fn as_slice(&self) -> &[Interval] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total length in milliseconds.
    pub fn len_ms(&self) -> i64 {
        self.iter().fold(0, |sum: i64, i| sum.saturating_add(i.len_ms()))
    }

    /// From the first instant to the last; none for the empty set.
    pub fn hull(&self) -> Option<Interval> {
        Some(Interval::new(self.0.first()?.start, self.0.last()?.end))
    }

    /// Returns the union of both.
    pub fn union(&self, other: &Intervals) -> Intervals {
        self.iter().chain(other.iter()).collect()
    }

    /// Returns the intersection of both.
    pub fn intersect(&self, other: &Intervals) -> Intervals {
        let (mut a, mut b) = (0, 0);
        let mut out = Vec::new();
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            let both = x.clip(*y);
            if !both.is_empty() {
                out.push(both);
            }
            // The interval that ends first overlaps no further ones.
            if x.end <= y.end {
                a += 1;
            } else {
                b += 1;
            }
        }
        Intervals(out)
    }

    /// Returns the times of `self` that are not in `other`.
    pub fn subtract(&self, other: &Intervals) -> Intervals {
        let mut out = Vec::new();
        let mut first = 0;
        for whole in self.iter() {
            while other.0.get(first).is_some_and(|o| o.end <= whole.start) {
                first += 1;
            }
            let mut from = whole.start;
            for taken in other.0[first..].iter().take_while(|o| o.start < whole.end) {
                if taken.start > from {
                    out.push(Interval::new(from, taken.start));
                }
                from = from.max(taken.end);
            }
            if from < whole.end {
                out.push(Interval::new(from, whole.end));
            }
        }
        Intervals(out)
    }

    /// Returns the times inside `range`.
    pub fn clip(&self, range: Interval) -> Intervals {
        self.intersect(&Intervals::from(range))
    }

    /// Extends every interval by these times.
    pub fn widen(&self, before_ms: i64, after_ms: i64) -> Intervals {
        self.iter().map(|i| i.widen(before_ms, after_ms)).collect()
    }

    /// Returns the interval that covers all of `part`, if there is one.
    pub fn around(&self, part: Interval) -> Option<Interval> {
        let after = self.0.partition_point(|i| i.start <= part.start);
        let found = *self.0.get(after.checked_sub(1)?)?;
        found.covers(part).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Interval, Intervals};

    fn set() -> impl Strategy<Value = Intervals> {
        prop::collection::vec((-40i64..40, 0i64..12), 0..12)
            .prop_map(|v| v.into_iter().map(|(start, length)| Interval::new(start, start + length)).collect())
    }

    fn contains(set: &Intervals, instant: i64) -> bool {
        set.iter().any(|i| i.start <= instant && instant < i.end)
    }

    fn is_normal(set: &Intervals) -> bool {
        set.iter().all(|i| !i.is_empty()) && set.as_slice().windows(2).all(|w| w[0].end < w[1].start)
    }

    proptest! {
        #[test]
        fn the_operations_are_those_of_sets(a in set(), b in set(), start in -60i64..60, length in -5i64..40) {
            let range = Interval::new(start, start + length);
            let (union, both, rest, clipped) = (a.union(&b), a.intersect(&b), a.subtract(&b), a.clip(range));
            for t in -60..60 {
                prop_assert_eq!(contains(&union, t), contains(&a, t) || contains(&b, t));
                prop_assert_eq!(contains(&both, t), contains(&a, t) && contains(&b, t));
                prop_assert_eq!(contains(&rest, t), contains(&a, t) && !contains(&b, t));
                prop_assert_eq!(contains(&clipped, t), contains(&a, t) && range.start <= t && t < range.end);
            }
            for set in [&a, &union, &both, &rest, &clipped] {
                prop_assert!(is_normal(set), "{:?}", set);
            }
        }

        #[test]
        fn what_is_taken_away_and_put_back_is_whole(a in set(), b in set()) {
            prop_assert_eq!(a.subtract(&b).union(&a.intersect(&b)), a.clone());
            prop_assert_eq!(a.subtract(&b).len_ms() + a.intersect(&b).len_ms(), a.len_ms());
            prop_assert!(a.subtract(&b).intersect(&b).is_empty());
            prop_assert_eq!(a.union(&b), b.union(&a));
            prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        }

        #[test]
        fn around_finds_the_one_that_covers(a in set(), start in -40i64..40, length in 1i64..8) {
            let part = Interval::new(start, start + length);
            prop_assert_eq!(a.around(part), a.iter().find(|i| i.covers(part)));
        }
    }

    #[test]
    fn intervals_that_only_touch_do_not_overlap_and_join_in_a_set() {
        let (a, b) = (Interval::new(0, 5), Interval::new(5, 9));
        assert!(!a.overlaps(b));
        assert_eq!(Intervals::from_iter([b, a]).as_slice(), [Interval::new(0, 9)]);
    }

    #[test]
    fn an_empty_interval_is_no_time_at_all() {
        assert!(Intervals::from(Interval::new(5, 5)).is_empty());
        assert!(!Interval::new(5, 5).overlaps(Interval::new(0, 9)));
        assert_eq!(Intervals::default().hull(), None);
    }
}
