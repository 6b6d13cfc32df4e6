//! The grid: points of time at which a meeting may begin, in whole steps from the start of a window.

use crate::interval::Interval;

/// Points of time at which slots may begin: whole steps after `origin` that lie in `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grid {
    pub at: Interval,
    /// At or before the start of `at`.
    pub origin: i64,
}

impl From<Interval> for Grid {
    /// Returns the grid of a window, which begins at its start.
    fn from(window: Interval) -> Self {
        Grid { at: window, origin: window.start }
    }
}

/// The points of several grids, for lookups in ascending order.
#[derive(Clone, Debug)]
pub struct Points<'a> {
    grid: &'a [Grid],
    step_ms: i64,
    /// Index of the first grid that later lookups still need.
    first: usize,
}

impl<'a> Points<'a> {
    /// `grid` is sorted; `step_ms` is the time from one point to the next, at least a millisecond.
    pub fn new(grid: &'a [Grid], step_ms: i64) -> Self {
        Points { grid, step_ms: step_ms.max(1), first: 0 }
    }

    /// Returns the first point at or after `from`, which must not be less than in the last call.
    pub fn at_or_after(&mut self, from: i64) -> Option<i64> {
        while self.grid.get(self.first).is_some_and(|g| g.at.end <= from) {
            self.first += 1;
        }
        let step = self.step_ms;
        let mut first: Option<i64> = None;
        for Grid { at, origin } in &self.grid[self.first..] {
            if first.is_some_and(|f| f <= at.start) {
                break;
            }
            let after = from.max(at.start) - origin;
            let point = origin + (after + step - 1) / step * step;
            if point < at.end {
                first = Some(first.map_or(point, |f| f.min(point)));
            }
        }
        first
    }
}
