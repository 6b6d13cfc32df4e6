//! One instance of a series as it is computed from the rules and dates.

use model::Instant;

use crate::suffix::instance_suffix;

/// One instance of a series, before any exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Original local start, as `Event.recurrenceId`: `2026-03-01T09:00:00`, or `2026-03-01` for all-day series.
    pub recurrence_id: String,
    /// The instant at which it starts; also its original start.
    pub start: Instant,
    /// Exclusive.
    pub end: Instant,
    /// All-day: first day, `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// All-day: the day after the last.
    pub end_date: Option<String>,
}

impl Occurrence {
    /// The second half of the instance's id: `20260301T090000Z`, or `20260301` for all-day series.
    pub fn suffix(&self) -> String {
        match &self.start_date {
            Some(date) => date.replace('-', ""),
            None => instance_suffix(self.start),
        }
    }
}
