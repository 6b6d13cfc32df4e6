//! Scheduling: Schedule, EventType, BookingLink, Slot, Booking. The service owns these; no connector sees them.

pub mod booking;
pub mod event_type;
mod question;
pub mod slots;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing};

/// The opening hours of a host: hours of the week, and days on which they differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Schedule {
    /// IANA name.
    pub time_zone: String,
    /// Windows that overlap are one.
    pub weekly: Vec<WeeklyHours>,
    /// Each replaces its whole local date.
    pub overrides: Vec<DateOverride>,
}

/// Hours of some days of the week.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WeeklyHours {
    /// ISO weekdays, 1 (Monday) to 7.
    pub days: Vec<i64>,
    /// `HH:MM`.
    pub start: String,
    /// `HH:MM`. Not after `start`: on the next day, as in 22:00 to 02:00.
    pub end: String,
}

/// The hours of a date that differs from the week.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DateOverride {
    /// `YYYY-MM-DD` in the schedule's zone.
    pub date: String,
    /// Whether the date has hours at all.
    pub available: bool,
    /// The hours; empty if `available` is false.
    pub windows: Vec<TimeWindow>,
}

/// A stretch of local time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeWindow {
    /// `HH:MM`.
    pub start: String,
    /// `HH:MM`. Not after `start`: on the next day.
    pub end: String,
}

/// A schedule with a name, which event types use by its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SharedSchedule {
    /// One line.
    pub name: String,
    /// IANA name.
    pub time_zone: String,
    /// Windows that overlap are one.
    pub weekly: Vec<WeeklyHours>,
    /// Each replaces its whole local date.
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
