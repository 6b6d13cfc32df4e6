//! Parts of a query for times at which people can meet: periods, hours, and the number of people.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// A stretch of time to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start", "end"])))]
pub struct Period {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive, after `start`.
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

/// The members of a group who must be free: `"all"`, or a number of them from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum RequiredMembers {
    /// At least this many.
    Count(#[cfg_attr(feature = "schema", schemars(range(min = 1)))] i64),
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
#[cfg_attr(feature = "schema", schemars(extend("required" = ["days", "start", "end"])))]
pub struct OpenHours {
    /// The weekdays on which the hours apply, 1 (Monday) to 7 (Sunday).
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(range(min = 1, max = 7))))]
    pub days: Vec<i64>,
    /// The start of the hours, `HH:MM`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::TimeOfDay"))]
    pub start: String,
    /// The end of the hours, `HH:MM`, up to `24:00`. An end that is not after the start is on the next day.
    #[cfg_attr(feature = "schema", schemars(with = "formats::EndTimeOfDay"))]
    pub end: String,
    /// The IANA name of the time zone of the hours; the zone of the query if absent or null.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The days on which these hours do not apply, `YYYY-MM-DD`, at most 400.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::AnyDate>", length(max = bounds::free_busy::MAX_EXDATES)))]
    pub exdates: Vec<String>,
}
