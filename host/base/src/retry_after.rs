//! `Retry-After` of an HTTP answer (RFC 9110, section 10.2.3).

use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;

/// Returns the time before which a server wants no further request, in ms since 1970, and never before `now`. `value` is the header's
/// value, seconds or a date, of an answer received at `now`. None: it is neither.
pub fn retry_at(value: &str, now: i64) -> Option<i64> {
    let value = value.trim();
    let at = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that overflows exceeds any wait.
        now.saturating_add(value.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(1_000))
    } else {
        http_date(value)?
    };
    Some(at.max(now))
}

/// A date in one of the three forms that a recipient of HTTP has to understand, in ms since 1970 (RFC 9110, section 5.6.7). The day of the
/// week is ignored.
fn http_date(text: &str) -> Option<i64> {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    if let Ok(at) = PARSER.parse_timestamp(text) {
        return Some(at.as_millisecond());
    }
    let date = match text.split_once(", ") {
        // `Sunday, 06-Nov-94 08:49:37 GMT`.
        Some((_, date)) => DateTime::strptime("%d-%b-%y %H:%M:%S GMT", date),
        // `Sun Nov  6 08:49:37 1994`.
        None => DateTime::strptime("%b %e %H:%M:%S %Y", text.split_once(' ')?.1),
    };
    Some(date.ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const DATE: i64 = 784_111_777_000;

    #[test]
    fn seconds_and_dates_are_read() {
        let now = DATE - 90_000;
        for (value, wait_ms) in [
            ("0", 0),
            (" 7 ", 7_000),
            ("99999999999999999999", i64::MAX - now),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 90_000),
            ("Mon, 06 Nov 1994 08:49:37 GMT", 90_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 90_000),
            ("Sun Nov  6 08:49:37 1994", 90_000),
            ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
        ] {
            assert_eq!(retry_at(value, now), Some(now + wait_ms), "{value}");
        }
        for other in ["", "soon", "-1", "+5", "1.5", "1994-11-06T08:49:37Z", "0x10"] {
            assert_eq!(retry_at(other, now), None, "{other}");
        }
    }
}
