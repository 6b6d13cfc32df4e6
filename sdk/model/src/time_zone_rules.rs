//! The clock of a time zone that has no IANA name.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// The offsets of a time zone that has no IANA name (RFC 5545 section 3.6.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeZoneRules {
    /// The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null if `offset` and `transitions`
    /// describe the clock.
    pub posix: Option<String>,
    /// The offset before the first transition, in seconds east of UTC.
    pub offset: i64,
    /// The changes of the clock in order; the offset of the last one stays.
    pub transitions: Vec<TimeZoneTransition>,
}

/// A change of clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeZoneTransition {
    /// The instant of the change.
    pub at: Instant,
    /// The offset from then on, in seconds east of UTC.
    pub offset: i64,
}
