//! The context of reading to-dos, common to all of their parts.

use crate::ical::people::Selves;
use crate::ical::read::Reader;

/// The component that is a task.
pub const NAME: &str = "VTODO";

/// The context of reading to-dos beside the text.
pub struct TodoReader {
    pub base: Reader,
    /// The list's zone is known, so that a floating time is shown in it; else it is shown without one.
    pub has_zone: bool,
}

impl TodoReader {
    pub fn new(selves: Selves, time_zone: Option<&str>) -> Self {
        let has_zone = time_zone.is_some_and(|name| recurrence::zone(name).is_ok());
        TodoReader { base: Reader::new(selves, time_zone), has_zone }
    }
}
