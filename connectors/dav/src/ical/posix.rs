//! The two endless observances of a VTIMEZONE as a POSIX TZ string (RFC 9636 section 3.3.2), where such a string can say them.

use ical::tree::cst::IcalCst;
use jiff::civil::Date;

use crate::ical::lines::{components, line};

const WEEKDAYS: [&str; 7] = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
/// A year that is no leap year: days are counted without 29 February.
const PLAIN_YEAR: i16 = 2025;

/// An observance without an end.
struct Observance {
    from: i64,
    to: i64,
    /// When it begins each year, on the clock before it: `M4.1.0/2`.
    onset: String,
}

/// The string, such as `STD5DST4,M4.1.0/2,M10.5.0/2`. It leaves out the observances that end: the caller has to compare. None where
/// there is not exactly one endless change to daylight saving time and one back, or POSIX has no word for their days.
pub fn tz_string(definition: &IcalCst) -> Option<String> {
    let standard = only(definition, "STANDARD")?;
    let daylight = only(definition, "DAYLIGHT")?;
    if daylight.from != standard.to || standard.from != daylight.to {
        return None;
    }
    let (std, dst) = (offset_text(standard.to), offset_text(daylight.to));
    Some(format!("STD{std}DST{dst},{},{}", daylight.onset, standard.onset))
}

/// The one observance of this name that changes the clock and has no end; None also where it cannot be read.
fn only(definition: &IcalCst, name: &str) -> Option<Observance> {
    let is_endless = |observance: &&IcalCst| {
        line(observance, "RRULE").is_some_and(|rule| {
            let rule = rule.raw_value_str().to_ascii_uppercase();
            !rule.contains("UNTIL=") && !rule.contains("COUNT=")
        })
    };
    let mut endless = components(definition, name).filter(is_endless);
    let found = endless.next()?;
    if endless.next().is_some() {
        return None;
    }
    let offset = |name| line(found, name).and_then(|line| offset(line.raw_value_str().trim()));
    Some(Observance { from: offset("TZOFFSETFROM")?, to: offset("TZOFFSETTO")?, onset: onset(found)? })
}

/// `+0100`, `-053000`: seconds east of UTC.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let two = |at: usize| -> Option<i64> {
        let part = digits.get(at..at + 2)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let seconds = match digits.len() {
        4 => 0,
        6 => two(4)?,
        _ => return None,
    };
    Some(sign * (two(0)? * 3_600 + two(2)? * 60 + seconds))
}

/// An offset as POSIX has it: west of UTC is positive.
fn offset_text(offset: i64) -> String {
    let sign = if offset > 0 { "-" } else { "" };
    format!("{sign}{}", clock_text(offset.abs()))
}

/// `2`, `2:30`, `2:30:15`.
fn clock_text(seconds: i64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (hours, 0, 0) => format!("{hours}"),
        (hours, minutes, 0) => format!("{hours}:{minutes:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// When the observance begins each year.
fn onset(observance: &IcalCst) -> Option<String> {
    let start = line(observance, "DTSTART")?.raw_value_str().trim().to_owned();
    let number = |range: std::ops::Range<usize>| -> Option<i64> { start.get(range)?.parse().ok() };
    let time = clock_text(number(9..11)? * 3_600 + number(11..13)? * 60 + number(13..15)?);
    let (mut months, mut days): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut month_days: Vec<i64> = Vec::new();
    let rule = line(observance, "RRULE")?.raw_value_str().to_ascii_uppercase();
    for part in rule.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let values = || value.split(',').map(|value| value.trim().to_owned());
        match name {
            "FREQ" if value == "YEARLY" => {}
            "INTERVAL" if value == "1" => {}
            "WKST" => {}
            "BYMONTH" => months = values().collect(),
            "BYDAY" => days = values().collect(),
            "BYMONTHDAY" => {
                month_days = values().map(|day| day.parse::<i64>().ok()).collect::<Option<_>>()?
            }
            _ => return None,
        }
    }
    let month: i64 = match months.as_slice() {
        [month] => month.parse().ok()?,
        // Parts that the rule lacks come from DTSTART, unless it has days of the year.
        [] if days.is_empty() && month_days.is_empty() => number(4..6)?,
        _ => return None,
    };
    let day = match (days.as_slice(), month_days.as_slice()) {
        ([], []) => julian(month, number(6..8)?)?,
        ([], [day]) => julian(month, *day)?,
        ([day], []) => {
            let (count, weekday) = weekday(day)?;
            format!("M{month}.{}.{weekday}", week(count?)?)
        }
        ([day], among) => {
            let (count, weekday) = weekday(day)?;
            if count.is_some() {
                return None;
            }
            format!("M{month}.{}.{weekday}", week_of(among)?)
        }
        _ => return None,
    };
    Some(format!("{day}/{time}"))
}

/// `-1SU`: which one of the month, where it says so, and the day of the week, 0 for Sunday.
fn weekday(text: &str) -> Option<(Option<i64>, usize)> {
    let (count, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let day = WEEKDAYS.iter().position(|day| *day == name)?;
    let count = if count.is_empty() { None } else { Some(count.parse().ok()?) };
    Some((count, day))
}

/// The week of the month as POSIX has it: 5 is the last.
fn week(count: i64) -> Option<i64> {
    match count {
        1..=4 => Some(count),
        -1 => Some(5),
        _ => None,
    }
}

/// The same for seven days of the month in a row: of them one is on each day of the week.
fn week_of(among: &[i64]) -> Option<i64> {
    let mut days = among.to_vec();
    days.sort_unstable();
    let first = *days.first()?;
    if days.len() != 7 || !days.iter().copied().eq(first..first + 7) {
        return None;
    }
    match first {
        1 => Some(1),
        8 => Some(2),
        15 => Some(3),
        22 => Some(4),
        // Of a month with 31 days.
        25 | -7 => Some(5),
        _ => None,
    }
}

/// A day of the year, 29 February not counted: `J91`.
fn julian(month: i64, day: i64) -> Option<String> {
    let date = Date::new(PLAIN_YEAR, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(format!("J{}", date.day_of_year()))
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use super::{offset, offset_text, tz_string};

    fn posix_string(daylight: &str, standard: &str) -> Option<String> {
        let text = format!(
            "BEGIN:VTIMEZONE\r\nTZID:A\r\nBEGIN:DAYLIGHT\r\nDTSTART:16010401T020000\r\nRRULE:{daylight}\r\nTZOFFSETFROM:-0500\r\n\
             TZOFFSETTO:-0400\r\nEND:DAYLIGHT\r\nBEGIN:STANDARD\r\nDTSTART:16011001T023000\r\nRRULE:{standard}\r\n\
             TZOFFSETFROM:-0400\r\nTZOFFSETTO:-0500\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
        );
        tz_string(&IcalCst::parse(&text).unwrap())
    }

    #[test]
    fn days_are_said_as_posix_has_them() {
        let last = "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU";
        let cases = [
            ("FREQ=YEARLY;BYMONTH=4;BYDAY=1SU", Some("M4.1.0/2")),
            ("BYDAY=3FR;FREQ=YEARLY;BYMONTH=4;INTERVAL=1;WKST=MO", Some("M4.3.5/2")),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=SU;BYMONTHDAY=8,9,10,11,12,13,14", Some("M3.2.0/2")),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=SA;BYMONTHDAY=25,26,27,28,29,30,31", Some("M3.5.6/2")),
            ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1", Some("J60/2")),
            ("FREQ=YEARLY", Some("J91/2")),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=SU;BYMONTHDAY=9,10,11,12,13,14,15", None),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=-2SU", None),
            ("FREQ=YEARLY;BYDAY=-1SU", None),
            ("FREQ=YEARLY;BYMONTH=3,4;BYDAY=1SU", None),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=SU,MO", None),
            ("FREQ=YEARLY;INTERVAL=2;BYMONTH=3;BYDAY=1SU", None),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=1SU;UNTIL=20300101T000000Z", None),
            ("FREQ=YEARLY;BYYEARDAY=100", None),
            ("FREQ=MONTHLY;BYDAY=1SU", None),
        ];
        for (rule, expected) in cases {
            let expected = expected.map(|day| format!("STD5DST4,{day},M10.5.0/2:30"));
            assert_eq!(posix_string(rule, last), expected, "{rule}");
        }
    }

    #[test]
    fn offsets_are_west_of_utc() {
        for (text, posix) in [("+0100", "-1"), ("-0330", "3:30"), ("+001730", "-0:17:30"), ("+0000", "0")] {
            assert_eq!(offset(text).map(offset_text).as_deref(), Some(posix), "{text}");
        }
        for odd in ["", "0100", "+1", "+010", "+01é0", "++100", "+0a00"] {
            assert_eq!(offset(odd), None, "{odd}");
        }
    }
}
