//! Scheduling: Schedule, EventType, BookingLink, Slot, Booking. The service owns these; no connector sees them.

pub mod booking;
mod booking_parts;
mod booking_rules;
pub mod event_type;
mod host;
mod question;
pub mod slots;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing};

/// The opening hours of a host: hours of the week, and days on which they differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Schedule {
    /// The time zone of the hours, an IANA name such as `Europe/Berlin`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::ZoneName"))]
    pub time_zone: String,
    /// The hours of the week, at most 50 rows. Hours that overlap are merged; a day without hours is closed.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_WINDOWS)))]
    pub weekly: Vec<WeeklyHours>,
    /// The dates with other hours, at most 400. Each replaces all hours of its date.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_OVERRIDES)))]
    pub overrides: Vec<DateOverride>,
}

/// The opening hours on some days of the week.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["days", "start", "end"])))]
pub struct WeeklyHours {
    /// The days of the week that have these hours, from 1 (Monday) to 7 (Sunday).
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(range(min = 1, max = 7))))]
    pub days: Vec<i64>,
    /// The local time at which the hours begin, `HH:MM`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::TimeOfDay"))]
    pub start: String,
    /// The local time at which the hours end, `HH:MM`. If it is not after `start`, it is on the next day, as in 22:00 to 02:00.
    #[cfg_attr(feature = "schema", schemars(with = "formats::EndTimeOfDay"))]
    pub end: String,
}

/// The hours of a date that differs from the week.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["date"])))]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["windows if and only if available"])))]
pub struct DateOverride {
    /// The date, `YYYY-MM-DD`, in the schedule's time zone. A schedule has each date once.
    #[cfg_attr(feature = "schema", schemars(with = "formats::AnyDate"))]
    pub date: String,
    /// Whether the date has any hours.
    pub available: bool,
    /// The hours of the date, at most 50; empty if and only if `available` is false.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_WINDOWS)))]
    pub windows: Vec<TimeWindow>,
}

/// A stretch of local time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["start", "end"])))]
pub struct TimeWindow {
    /// The local time at which the window begins, `HH:MM`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::TimeOfDay"))]
    pub start: String,
    /// The local time at which the window ends, `HH:MM`. If it is not after `start`, it is on the next day.
    #[cfg_attr(feature = "schema", schemars(with = "formats::EndTimeOfDay"))]
    pub end: String,
}

/// A schedule with a name, which event types use by its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SharedSchedule {
    /// The name of the schedule, one line.
    #[cfg_attr(feature = "schema", schemars(with = "formats::FilledLine", length(min = 1, max = bounds::MAX_LINE)))]
    pub name: String,
    /// The time zone of the hours, an IANA name such as `Europe/Berlin`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::ZoneName"))]
    pub time_zone: String,
    /// The hours of the week, at most 50 rows. Hours that overlap are merged; a day without hours is closed.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_WINDOWS)))]
    pub weekly: Vec<WeeklyHours>,
    /// The dates with other hours, at most 400. Each replaces all hours of its date.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_OVERRIDES)))]
    pub overrides: Vec<DateOverride>,
}

impl SharedSchedule {
    /// A schedule under a name.
    pub fn named(name: String, schedule: Schedule) -> SharedSchedule {
        let Schedule { time_zone, weekly, overrides } = schedule;
        SharedSchedule { name, time_zone, weekly, overrides }
    }

    /// The hours, as an event type has them.
    pub fn schedule(&self) -> Schedule {
        Schedule {
            time_zone: self.time_zone.clone(),
            weekly: self.weekly.clone(),
            overrides: self.overrides.clone(),
        }
    }
}

impl Body for SharedSchedule {
    const NAME: &'static str = "SharedSchedule";
    const IN_CONNECTION: bool = false;
    const REQUIRED: &'static [&'static str] = &["name", "timeZone"];
    type Extra = Nothing;
    type Options = Nothing;
}
