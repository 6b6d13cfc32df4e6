//! Parts of a query for times at which people can meet: periods, hours, and the number of people.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Period {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
}

/// The form of an answer on availability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AvailabilityFormat {
    /// Slots that do not overlap.
    #[default]
    Slots,
    /// A slot at every step of the grid.
    OverlappingSlots,
    /// Whole stretches of free time.
    Periods,
}

/// `"all"`, or how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum RequiredMembers {
    /// At least this many.
    Count(i64),
    /// All of them.
    Word(AllMembers),
}

impl Default for RequiredMembers {
    fn default() -> Self {
        RequiredMembers::Word(AllMembers::All)
    }
}

/// The word for all members of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AllMembers {
    /// All members.
    #[default]
    All,
}

/// Hours of some weekdays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OpenHours {
    /// ISO weekdays, 1 (Monday) to 7.
    pub days: Vec<i64>,
    /// `HH:MM`.
    pub start: String,
    /// `HH:MM`; `24:00` is the end of the day.
    pub end: String,
    /// IANA name.
    pub time_zone: Option<String>,
    /// Days on which these hours do not apply, `YYYY-MM-DD`.
    pub exdates: Vec<String>,
}
