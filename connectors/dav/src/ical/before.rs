//! A series before a change: the changed series takes dates and instances along from it.

use std::rc::Rc;

use recurrence::Series;

use crate::ical::zones::Zone;

/// A series before it was changed.
pub struct Before<'b> {
    /// None where its rule cannot be read.
    pub series: Option<&'b Series>,
    /// The zone of its start.
    pub zone: Rc<Zone>,
    /// The caller does not change the recurrence.
    pub is_kept: bool,
    /// How much later changed instances are to be, seconds of local time; None: as much as the series.
    pub moved: Option<i64>,
}
