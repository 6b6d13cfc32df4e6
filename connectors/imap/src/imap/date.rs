//! Dates as IMAP writes them (RFC 9051 section 9, `date-time` and `date`), and as the crate has them.

use chrono::{DateTime, NaiveDateTime, Utc};
use io_imap::types::datetime;

/// Seconds since 1970 of `17-Jul-1996 02:44:25 -0700`. None for what is no date.
pub fn read(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(date) = DateTime::parse_from_str(text, "%d-%b-%Y %H:%M:%S %z") {
        return Some(date.timestamp());
    }
    // A zone that is no offset, or none at all.
    let (date, _) = NaiveDateTime::parse_and_remainder(text, "%d-%b-%Y %H:%M:%S").ok()?;
    Some(date.and_utc().timestamp())
}

/// The internal date to store a message with, in UTC. None outside of the years that four digits write.
pub fn date_time(seconds: i64) -> Option<datetime::DateTime> {
    at(seconds)?.fixed_offset().try_into().ok()
}

/// The day in UTC, `days` later, as searching wants it.
pub fn search_day(seconds: i64, days: i64) -> Option<datetime::NaiveDate> {
    at(seconds.checked_add(days.checked_mul(86_400)?)?)?.date_naive().try_into().ok()
}

fn at(seconds: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(seconds, 0)
}

#[cfg(test)]
mod tests {
    use super::{date_time, read, search_day};

    #[test]
    fn dates_are_read_and_written() {
        assert_eq!(read("17-Jul-1996 02:44:25 -0700"), Some(837_596_665));
        assert_eq!(read(" 1-jan-1970 00:00:00 +0000"), Some(0));
        assert_eq!(read("01-Jan-2026 12:00:60 +0545"), Some(1_767_248_159));
        assert_eq!(read("1-Jan-1970 00:00:07 GMT"), Some(7));
        let date = date_time(837_596_665).unwrap();
        assert_eq!(date.as_ref().to_rfc3339(), "1996-07-17T09:44:25+00:00");
        assert_eq!(search_day(837_596_665, -1).unwrap().as_ref().to_string(), "1996-07-16");
        for text in ["", "yesterday", "32-Jan-2026 00:00:00 +0000", "1-Foo-2026 00:00:00 +0000", "1-Jan-2026"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(date_time(i64::MAX).is_none() && date_time(253_402_300_800).is_none());
        assert!(search_day(i64::MAX, 1).is_none());
    }
}
