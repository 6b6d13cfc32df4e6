//! Dates as IMAP writes them (RFC 9051 section 9, `date-time` and `date`).

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 of `17-Jul-1996 02:44:25 -0700`. None for what is no date.
pub fn read(text: &str) -> Option<i64> {
    let mut words = text.split_ascii_whitespace();
    let mut date = words.next()?.split('-');
    let day = date.next()?.parse().ok()?;
    let name = date.next()?;
    let month = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    let year = date.next()?.parse().ok()?;
    let mut time = words.next()?.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (time.next()??, time.next()??);
    // A leap second counts as the one before it: there is no such time in the model.
    let second = time.next().flatten().unwrap_or(0).min(59);
    let date = Date::new(year, i8::try_from(month + 1).ok()?, day).ok()?;
    let local = date.to_datetime(Time::new(hour, minute, second, 0).ok()?);
    let utc = Offset::UTC.to_timestamp(local).ok()?.as_second();
    Some(utc - zone(words.next().unwrap_or("+0000")).unwrap_or(0))
}

/// Seconds east of Greenwich of `-0700`.
fn zone(text: &str) -> Option<i64> {
    let (sign, digits) =
        if let Some(digits) = text.strip_prefix('-') { (-1, digits) } else { (1, text.strip_prefix('+')?) };
    let number: i64 = digits.parse().ok().filter(|number| (0..=2359).contains(number))?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

/// The internal date to store a message with, in UTC. None outside of the years that four digits write.
pub fn date_time(seconds: i64) -> Option<String> {
    let at = Offset::UTC.to_datetime(Timestamp::from_second(seconds).ok()?);
    Some(format!("{} {:02}:{:02}:{:02} +0000", day(at.date())?, at.hour(), at.minute(), at.second()))
}

/// The day in UTC, `days` later, as searching wants it.
pub fn search_day(seconds: i64, days: i64) -> Option<String> {
    let at = Timestamp::from_second(seconds.checked_add(days.checked_mul(86_400)?)?).ok()?;
    day(Offset::UTC.to_datetime(at).date())
}

fn day(date: Date) -> Option<String> {
    let month = MONTHS.get(usize::try_from(date.month() - 1).ok()?)?;
    (date.year() > 0).then(|| format!("{:02}-{month}-{:04}", date.day(), date.year()))
}

#[cfg(test)]
mod tests {
    use super::{date_time, read, search_day};

    #[test]
    fn dates_are_read_and_written() {
        assert_eq!(read("17-Jul-1996 02:44:25 -0700"), Some(837_596_665));
        assert_eq!(read(" 1-jan-1970 00:00:00 +0000"), Some(0));
        assert_eq!(read("01-Jan-2026 12:00:60 +0545"), Some(1_767_248_159));
        assert_eq!(date_time(837_596_665).as_deref(), Some("17-Jul-1996 09:44:25 +0000"));
        assert_eq!(search_day(837_596_665, -1).as_deref(), Some("16-Jul-1996"));
        for text in ["", "yesterday", "32-Jan-2026 00:00:00 +0000", "1-Foo-2026 00:00:00 +0000", "1-Jan-2026"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(date_time(i64::MAX), None);
        assert_eq!(search_day(i64::MAX, 1), None);
    }
}
