//! The first instance of a series, and the instants of the others.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// The first instance of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesStart {
    /// On the clock of `zone`; midnight of an event of whole days.
    pub local: DateTime,
    pub is_all_day: bool,
    /// An IANA name.
    pub zone: String,
}

impl SeriesStart {
    /// The zone; UTC where the database has none of this name.
    pub fn time_zone(&self) -> TimeZone {
        recurrence::zone(&self.zone).unwrap_or(TimeZone::UTC)
    }

    /// The day of the first instance.
    pub fn date(&self) -> Date {
        self.local.date()
    }
}

/// Returns the instant at which an instance begins on this day: forward by a gap's length, and the first of two (RFC 5545, section 3.3.5).
pub fn instant_of(date: Date, time: Time, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_ambiguous_timestamp(date.to_datetime(time)).compatible().ok()
}
