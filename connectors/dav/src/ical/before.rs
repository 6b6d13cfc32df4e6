//! A series as it was before a change: what the changed one takes along is told from it.

use std::rc::Rc;

use recurrence::Series;

use crate::ical::zones::Zone;

/// What is known of a series before it was changed.
pub struct Before<'b> {
    /// None where nobody can read its rule.
    pub series: Option<&'b Series>,
    /// Where its start was told.
    pub zone: Rc<Zone>,
    /// Nobody asked for another recurrence.
    pub is_kept: bool,
    /// How much later changed instances are to be, seconds of local time; None: as much as the series.
    pub moved: Option<i64>,
}
