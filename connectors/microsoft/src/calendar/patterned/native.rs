//! The JSON of a recurrence.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// `patternedRecurrence`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternedRecurrence {
    pub pattern: RecurrencePattern,
    pub range: RecurrenceRange,
}

/// `recurrencePattern`. Numbers that a type does not use are 0 in answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecurrencePattern {
    /// `daily`, `weekly`, `absoluteMonthly`, `relativeMonthly`, `absoluteYearly` or `relativeYearly`.
    #[serde(rename = "type")]
    pub kind: String,
    pub interval: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_of_month: Option<i8>,
    /// Names of days: `monday`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days_of_week: Vec<String>,
    /// Sunday where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_day_of_week: Option<String>,
    /// `first` to `fourth`, or `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

/// `recurrenceRange`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecurrenceRange {
    /// `endDate`, `numbered` or `noEnd`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<Date>,
    /// The last day that may have an instance; 0001-01-01 for another kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_of_occurrences: Option<u32>,
    /// The zone of both dates; empty where it is that of the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrence_time_zone: Option<String>,
}
