//! `Instant`: a point in time in the API's format: RFC 3339 in UTC with `Z` and milliseconds.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time. Printed as `2026-03-01T09:00:00.000Z`; read with any offset and cut to milliseconds. Text without an
/// offset is refused: it is a local time, not an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(Timestamp);

impl Instant {
    /// The instant of this many milliseconds since 1970-01-01T00:00:00Z; out of jiff's range (years -9999 to 9999) is clamped.
    pub fn from_millis(ms: i64) -> Self {
        let bound = |t: Timestamp| t.as_millisecond();
        let ms = ms.clamp(bound(Timestamp::MIN), bound(Timestamp::MAX));
        Instant(Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// The same instant for calendar arithmetic.
    pub fn timestamp(self) -> Timestamp {
        self.0
    }
}

impl From<Timestamp> for Instant {
    fn from(t: Timestamp) -> Self {
        Instant::from_millis(t.as_millisecond())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An instant has whole milliseconds, so nothing is cut off.
        write!(f, "{:.3}", self.0)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Instant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<Timestamp>().map(Instant::from).map_err(|_| {
            format!("{text:?} is not an RFC 3339 instant with an offset, such as 2026-03-01T09:00:00Z")
        })
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Instant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "An instant (RFC 3339), in UTC with milliseconds. Requests may have any offset, which is converted.",
            "example": "2026-03-01T09:00:00.000Z"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Instant;

    #[test]
    fn an_offset_is_normalised_to_utc_with_milliseconds() {
        let i: Instant = "2026-03-01T10:00:00.123456+01:00".parse().unwrap();
        assert_eq!(i.to_string(), "2026-03-01T09:00:00.123Z");
    }

    #[test]
    fn a_local_time_is_not_an_instant() {
        assert!("2026-03-01T10:00:00".parse::<Instant>().is_err());
    }
}
