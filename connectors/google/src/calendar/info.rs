//! The facts of a calendar that its events are read and written with.

use connector_sdk::Context;

use crate::calendar::colors::Palette;

/// The zone and the colours of a calendar's events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CalendarInfo {
    /// IANA name.
    pub time_zone: String,
    pub palette: Palette,
}

impl CalendarInfo {
    /// The facts that a call brings: the calendar's zone, and the palette that `check` kept.
    pub fn of_call(context: &Context, time_zone: Option<&str>) -> Self {
        CalendarInfo {
            time_zone: time_zone.unwrap_or_default().to_owned(),
            palette: Palette::of_connection(context),
        }
    }
}
