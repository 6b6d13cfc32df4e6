//! Times as Google writes them: the instant at the offset of one zone, whatever zone stands beside it.

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeZone, Utc};
use chrono_tz::Tz;
use serde_json::{Map, Value, json};

/// A day, or an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventTime {
    Day(NaiveDate),
    At(DateTime<Utc>),
}

/// The zone with this IANA name.
pub fn find_zone(name: &str) -> Option<Tz> {
    name.parse().ok()
}

/// The instant of Unix milliseconds.
pub fn from_ms(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

/// Unix milliseconds as Google writes `updated`.
pub fn stamp(ms: i64) -> String {
    from_ms(ms).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Parses an RFC 3339 text, or a local time in `zone`.
pub fn parse_instant(text: &str, zone: Option<Tz>) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.with_timezone(&Utc));
    }
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?;
    Some(in_zone(local, zone?))
}

/// The first instant at this local time; one that a clock change leaves out counts from before the change.
pub fn in_zone(local: NaiveDateTime, zone: Tz) -> DateTime<Utc> {
    let hour = Duration::hours(1);
    let found = zone.from_local_datetime(&local).earliest().map(|at| at.with_timezone(&Utc));
    found.unwrap_or_else(|| {
        let before = zone.from_local_datetime(&(local - hour)).earliest();
        before.map_or_else(|| local.and_utc(), |before| before.with_timezone(&Utc) + hour)
    })
}

/// An instant at the offset of `zone`.
pub fn written(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl EventTime {
    /// Parses `start`, `end` or `originalStartTime` of an event in a calendar of `zone`.
    pub fn parse(value: &Value, zone: Tz) -> Option<EventTime> {
        if let Some(day) = value["date"].as_str() {
            return NaiveDate::parse_from_str(day, "%Y-%m-%d").ok().map(EventTime::Day);
        }
        let own = value["timeZone"].as_str().and_then(find_zone).unwrap_or(zone);
        parse_instant(value["dateTime"].as_str()?, Some(own)).map(EventTime::At)
    }

    /// The member of an event with this time; `zone_name` stands beside an instant.
    pub fn to_value(self, zone_name: Option<&str>) -> Value {
        match self {
            EventTime::Day(day) => json!({ "date": day.to_string() }),
            EventTime::At(at) => {
                let mut member = Map::new();
                member.insert("dateTime".to_owned(), at.to_rfc3339_opts(SecondsFormat::Secs, true).into());
                if let Some(name) = zone_name {
                    member.insert("timeZone".to_owned(), name.into());
                }
                Value::Object(member)
            }
        }
    }

    /// The instant at which the time begins; a day begins at midnight in `zone`.
    pub fn instant(self, zone: Tz) -> DateTime<Utc> {
        match self {
            EventTime::Day(day) => in_zone(day.and_time(NaiveTime::MIN), zone),
            EventTime::At(at) => at,
        }
    }

    /// The end of the id of an instance: the original start in UTC, or its day.
    pub fn suffix(self) -> String {
        match self {
            EventTime::Day(day) => day.format("%Y%m%d").to_string(),
            EventTime::At(at) => at.format("%Y%m%dT%H%M%SZ").to_string(),
        }
    }

    /// The time that stands at the end of an instance's id.
    pub fn from_suffix(suffix: &str) -> Option<EventTime> {
        match suffix.len() {
            8 => NaiveDate::parse_from_str(suffix, "%Y%m%d").ok().map(EventTime::Day),
            16 => {
                let local = NaiveDateTime::parse_from_str(suffix, "%Y%m%dT%H%M%SZ").ok()?;
                Some(EventTime::At(local.and_utc()))
            }
            _ => None,
        }
    }

    /// The time as far behind this one as `to` is behind `from`.
    pub fn shifted(self, from: EventTime, to: EventTime) -> EventTime {
        match (self, from, to) {
            (EventTime::Day(day), EventTime::Day(from), EventTime::Day(to)) => {
                EventTime::Day(day + (to - from))
            }
            (EventTime::At(at), EventTime::At(from), EventTime::At(to)) => EventTime::At(at + (to - from)),
            _ => self,
        }
    }
}
