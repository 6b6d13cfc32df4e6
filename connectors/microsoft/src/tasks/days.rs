//! Days of tasks. Graph has times for them: midnight in the zone of whoever set the day, which an answer gives in UTC, perhaps on the day
//! before. Pure.

use connector_sdk::Outcome;
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use model::Instant;
use serde_json::{Value, json};

use crate::calendar::native::DateTimeTimeZone;
use crate::calendar::zones::{zone_from, zone_to};
use crate::odata::stamp::civil;

/// Half a day: a time is nearest to the midnight of the day that it is in after this.
const HALF_DAY_HOURS: i64 = 12;

/// Returns the instant of a time; none for one that stands for none. Fails with `unavailable` for what is no time.
pub fn instant_from(theirs: Option<&DateTimeTimeZone>, mailbox: &str) -> Outcome<Option<Instant>> {
    let Some((local, zone)) = local_from(theirs, mailbox)? else { return Ok(None) };
    Ok(local.to_zoned(zone).ok().map(|zoned| zoned.timestamp().into()))
}

/// Returns the day of a time: that of a midnight in UTC, else of the nearest midnight in the mailbox's zone. A task of a shared list has
/// the midnight of its owner's zone.
pub fn day_from(theirs: Option<&DateTimeTimeZone>, mailbox: &str) -> Outcome<Option<Date>> {
    let Some(at) = instant_from(theirs, mailbox)? else { return Ok(None) };
    let in_utc = TimeZone::UTC.to_datetime(at.timestamp());
    if in_utc.time() == Time::midnight() {
        return Ok(Some(in_utc.date()));
    }
    let here = zone_of(mailbox).to_datetime(at.timestamp());
    // Summer time moves a midnight by an hour at most, which is no half day.
    let nearest = here.checked_add(SignedDuration::from_hours(HALF_DAY_HOURS)).unwrap_or(here);
    Ok(Some(nearest.date()))
}

/// The local time and its zone; none for year 1, by which Graph says that there is none.
fn local_from(theirs: Option<&DateTimeTimeZone>, mailbox: &str) -> Outcome<Option<(DateTime, TimeZone)>> {
    let text = theirs.map(|theirs| theirs.date_time.as_str()).filter(|text| !text.is_empty());
    let Some(text) = text else { return Ok(None) };
    let local = civil(text)?;
    if local.year() <= 1 {
        return Ok(None);
    }
    let name = theirs.and_then(|theirs| theirs.time_zone.as_deref()).filter(|name| !name.is_empty());
    Ok(Some((local, zone_of(&zone_from(name.unwrap_or("UTC"), mailbox)))))
}

/// The zone of this name; UTC for one that is not known.
fn zone_of(name: &str) -> TimeZone {
    recurrence::zone(name).unwrap_or(TimeZone::UTC)
}

/// Returns Graph's time of a day: midnight in the mailbox's zone.
pub fn day_to(day: &str, mailbox: &str) -> Value {
    json!({ "dateTime": format!("{day}T00:00:00.0000000"), "timeZone": zone_to(mailbox) })
}

/// Returns Graph's time of an instant.
pub fn instant_to(at: Instant) -> Value {
    let time = at.timestamp().strftime("%Y-%m-%dT%H:%M:%S%.f").to_string();
    json!({ "dateTime": time, "timeZone": "UTC" })
}

#[cfg(test)]
mod tests {
    use crate::calendar::native::DateTimeTimeZone;

    use super::{day_from, day_to, instant_from};

    fn time(text: &str, zone: &str) -> DateTimeTimeZone {
        DateTimeTimeZone { date_time: text.to_owned(), time_zone: Some(zone.to_owned()) }
    }

    #[test]
    fn a_day_is_that_of_the_nearest_midnight() {
        let rows = [
            // Midnight in Berlin, in winter and in summer.
            ("2026-03-10T23:00:00.0000000", "UTC", "Europe/Berlin", "2026-03-11"),
            ("2026-07-10T22:00:00.0000000", "UTC", "Europe/Berlin", "2026-07-11"),
            // Set by a client in UTC.
            ("2026-03-11T00:00:00.0000000", "UTC", "Europe/Berlin", "2026-03-11"),
            ("2026-03-11T00:00:00.0000000", "UTC", "America/Los_Angeles", "2026-03-11"),
            // East of the twelfth hour midnight in UTC is nearer to the next day.
            ("2026-03-11T00:00:00.0000000", "UTC", "Pacific/Auckland", "2026-03-11"),
            ("2026-03-10T11:00:00.0000000", "UTC", "Pacific/Auckland", "2026-03-11"),
            // The owner of a shared list is in Tokyo, or in Los Angeles.
            ("2026-03-10T15:00:00.0000000", "UTC", "Europe/Berlin", "2026-03-11"),
            ("2026-03-11T08:00:00.0000000", "UTC", "Europe/Berlin", "2026-03-11"),
            ("2026-03-11T00:00:00", "W. Europe Standard Time", "Europe/Berlin", "2026-03-11"),
            // A zone that is not known is the mailbox's.
            ("2026-03-11T00:00:00", "tzone://Microsoft/Custom", "Asia/Tokyo", "2026-03-11"),
        ];
        for (text, zone, mailbox, expected) in rows {
            let day = day_from(Some(&time(text, zone)), mailbox).unwrap();
            assert_eq!(day.map(|day| day.to_string()).as_deref(), Some(expected), "{text} {zone} {mailbox}");
        }
    }

    #[test]
    fn year_one_is_no_time() {
        let none = time("0001-01-01T00:00:00.0000000", "UTC");
        assert_eq!((day_from(Some(&none), "UTC").unwrap(), instant_from(None, "UTC").unwrap()), (None, None));
        assert!(instant_from(Some(&time("soon", "UTC")), "UTC").is_err());
    }

    #[test]
    fn a_day_is_written_as_midnight_of_the_mailbox() {
        let written = day_to("2026-03-11", "Europe/Berlin");
        let read = time(written["dateTime"].as_str().unwrap(), written["timeZone"].as_str().unwrap());
        assert_eq!(written["timeZone"], "W. Europe Standard Time");
        assert_eq!(
            instant_from(Some(&read), "UTC").unwrap().unwrap().to_string(),
            "2026-03-10T23:00:00.000Z"
        );
    }
}
