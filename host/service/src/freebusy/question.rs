//! Parameters of a search for busy times.

use std::collections::HashSet;

use scheduling::hours::Zone;
use scheduling::interval::Intervals;

/// The parameters that apply to every target.
#[derive(Clone, Debug)]
pub struct BusyQuery {
    /// Ranges to read busy times in; the result may include some outside them.
    pub ranges: Intervals,
    /// The zone of all-day events in calendars without one.
    pub zone: Zone,
    pub tentative_as_busy: bool,
    /// Whether ids and titles of the events are included.
    pub details: bool,
    /// Ids of events, series or instances to ignore.
    pub ignored: HashSet<String>,
}
