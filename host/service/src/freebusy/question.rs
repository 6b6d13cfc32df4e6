//! What a search for busy times asks.

use std::collections::HashSet;

use scheduling::hours::Zone;
use scheduling::interval::Intervals;

/// What is asked of every target.
#[derive(Clone, Debug)]
pub struct BusyQuery {
    /// Busy times that overlap these are read; some beside them are found too.
    pub ranges: Intervals,
    /// The zone of all-day events in calendars without one.
    pub zone: Zone,
    pub tentative_as_busy: bool,
    /// Ids and titles of the events too.
    pub details: bool,
    /// Ids of events, series or instances that do not count.
    pub ignored: HashSet<String>,
}
