//! Open hours: local times on weekdays in a zone, resolved for each local date by itself. A local time that the clocks skip is moved
//! forward by the gap; of a repeated one the first counts (RFC 5545 §3.3.5; jiff's "compatible").

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};
use model::Instant;
use model::bounds::free_busy::MAX_EXDATES;
use model::calendar_query::OpenHours;

use crate::interval::{Interval, Intervals};

const DAY_MINUTES: i16 = 24 * 60;

/// An error in open hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field inside the row, such as `days[0]`.
    pub field: String,
    pub kind: FaultKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Missing,
    Invalid,
    TimeZone,
}

/// A time zone with its name. Zones are compared by name.
#[derive(Clone, Debug)]
pub struct Zone {
    pub name: String,
    pub rules: TimeZone,
}

impl Zone {
    /// Returns the zone of an IANA name, with the name's spelling in the tz database: `asia/kolkata` is `Asia/Kolkata`.
    pub fn named(name: &str) -> Option<Zone> {
        // jiff accepts "" and paths with meanings of its own; an IANA name is ASCII without blanks.
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
        let rules = is_name.then(|| recurrence::iana_zone(name).ok()).flatten()?;
        let name = rules.iana_name().unwrap_or(name).to_owned();
        Some(Zone { name, rules })
    }

    pub fn utc() -> Zone {
        Zone { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }

    /// Returns the instant of a local time, ms since 1970; none outside jiff's range of years.
    pub fn instant_ms(&self, date: Date, minutes: i16) -> Option<i64> {
        let date = date.checked_add(Span::new().days(minutes / DAY_MINUTES)).ok()?;
        let minutes = minutes % DAY_MINUTES;
        let local = date.at((minutes / 60) as i8, (minutes % 60) as i8, 0, 0);
        let resolved = self.rules.to_ambiguous_timestamp(local).compatible().ok()?;
        Some(resolved.as_millisecond())
    }

    /// Whether the date exists in the zone. In Apia, 29 December 2011 was followed by the 31st.
    pub fn has_date(&self, date: Date) -> bool {
        let next = date.tomorrow().ok().and_then(|next| self.instant_ms(next, 0));
        self.instant_ms(date, 0).zip(next).is_some_and(|(start, end)| start < end)
    }

    /// The local date at an instant.
    pub fn date(&self, ms: i64) -> Date {
        self.rules.to_datetime(Instant::from_millis(ms).timestamp()).date()
    }
}

/// A window of one day in local time, in minutes after midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Minutes {
    pub start: i16,
    /// After `start`; beyond 24:00 a time of the next day.
    pub end: i16,
}

impl Minutes {
    /// Reads `HH:MM` twice.
    // Contract silent: an end that is not after the start. It is a time of the next day, so that 22:00 to 02:00 are four hours
    // and 09:00 to 09:00 are 24.
    pub fn read(start: &str, end: &str) -> Result<Minutes, Fault> {
        let start = minute(start, "start")?;
        if start == DAY_MINUTES {
            return Err(invalid("start", "start must be before 24:00".into()));
        }
        let end = match minute(end, "end")? {
            end if end <= start => end + DAY_MINUTES,
            end => end,
        };
        Ok(Minutes { start, end })
    }
}

/// A row of open hours.
#[derive(Clone, Debug)]
pub struct Hours {
    /// Monday first.
    days: [bool; 7],
    minutes: Minutes,
    zone: Zone,
    exdates: BTreeSet<Date>,
}

impl Hours {
    /// Returns hours that are open every day from midnight to midnight.
    pub fn whole_days(zone: Zone) -> Hours {
        let minutes = Minutes { start: 0, end: DAY_MINUTES };
        Hours { days: [true; 7], minutes, zone, exdates: BTreeSet::new() }
    }

    /// Reads a row; `zone` is that of rows without one.
    // Contract silent: the day and the exdates of a window past midnight. They are those on which it begins.
    pub fn read(row: &OpenHours, zone: &Zone) -> Result<Hours, Fault> {
        let zone = match &row.time_zone {
            None => zone.clone(),
            Some(name) => Zone::named(name).ok_or_else(|| Fault {
                field: "timeZone".into(),
                kind: FaultKind::TimeZone,
                message: format!("{name:?} is not an IANA time zone, such as Europe/Berlin"),
            })?,
        };
        let minutes = Minutes::read(&row.start, &row.end)?;
        Ok(Hours { days: days(&row.days)?, minutes, zone, exdates: exdates(&row.exdates)? })
    }

    /// Returns the window that begins on a date, if there is one.
    fn window(&self, date: Date) -> Option<Interval> {
        let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).ok()?;
        if !self.days[weekday] || self.exdates.contains(&date) {
            return None;
        }
        let start = self.zone.instant_ms(date, self.minutes.start)?;
        let end = self.zone.instant_ms(date, self.minutes.end)?;
        // A window that is partly in a gap can end before it begins: then it does not exist on that day.
        Some(Interval::new(start, end)).filter(|w| !w.is_empty())
    }
}

/// Returns the uncut windows that overlap `range`, sorted by start. Windows that begin on the same local date and overlap or touch are
/// merged; those of different dates stay separate, so that the grid of each day begins on that day.
pub fn windows(hours: &[Hours], range: Interval) -> Vec<Interval> {
    let mut out = Vec::new();
    for (i, first) in hours.iter().enumerate() {
        let is_same_zone = |h: &&Hours| h.zone.name == first.zone.name;
        if hours[..i].iter().any(|h| is_same_zone(&h)) {
            continue;
        }
        let of_zone: Vec<&Hours> = hours.iter().filter(is_same_zone).collect();
        // A window lasts at most 24 hours, plus an hour when the clocks are set back.
        let mut date = first.zone.date(range.start).saturating_sub(2.days());
        let last = first.zone.date(range.end);
        while date <= last {
            let of_date: Intervals = of_zone.iter().filter_map(|h| h.window(date)).collect();
            out.extend(of_date.iter().filter(|w| w.overlaps(range)));
            let Ok(next) = date.tomorrow() else { break };
            date = next;
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn invalid(field: impl Into<String>, message: String) -> Fault {
    Fault { field: field.into(), kind: FaultKind::Invalid, message }
}

/// Parses `HH:MM`, up to `24:00`, to minutes after midnight.
fn minute(text: &str, field: &str) -> Result<i16, Fault> {
    if text.is_empty() {
        return Err(Fault {
            field: field.into(),
            kind: FaultKind::Missing,
            message: format!("{field} is required"),
        });
    }
    let digits = |part: &str| {
        (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i16>())
    };
    let parsed = text.split_once(':').and_then(|(h, m)| Some((digits(h)?.ok()?, digits(m)?.ok()?)));
    match parsed {
        Some((hour, minute)) if minute < 60 && hour * 60 + minute <= DAY_MINUTES => Ok(hour * 60 + minute),
        _ => Err(invalid(field, format!("{text:?} is not a local time from 00:00 to 24:00, such as 09:30"))),
    }
}

/// Parses ISO weekdays, 1 (Monday) to 7; the result has Monday first.
pub(crate) fn days(numbers: &[i64]) -> Result<[bool; 7], Fault> {
    if numbers.is_empty() {
        let message = "days is required, for example [1, 2, 3, 4, 5]".into();
        return Err(Fault { field: "days".into(), kind: FaultKind::Missing, message });
    }
    let mut days = [false; 7];
    for (i, number) in numbers.iter().enumerate() {
        let day = usize::try_from(*number).ok().and_then(|n| days.get_mut(n.checked_sub(1)?));
        match day {
            Some(day) => *day = true,
            None => {
                return Err(invalid(
                    format!("days[{i}]"),
                    format!("{number} is not a weekday from 1 (Monday) to 7"),
                ));
            }
        }
    }
    Ok(days)
}

/// Parses `YYYY-MM-DD`.
pub(crate) fn date(text: &str) -> Option<Date> {
    (text.len() == 10).then(|| text.parse().ok()).flatten()
}

fn exdates(texts: &[String]) -> Result<BTreeSet<Date>, Fault> {
    if texts.len() > MAX_EXDATES {
        return Err(invalid("exdates", format!("at most {MAX_EXDATES} exdates")));
    }
    let read = |(i, text): (usize, &String)| {
        date(text).ok_or_else(|| {
            invalid(format!("exdates[{i}]"), format!("{text:?} is not a date, such as 2026-12-24"))
        })
    };
    texts.iter().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;

    fn row(days: &[i64], start: &str, end: &str) -> OpenHours {
        OpenHours { days: days.to_vec(), start: start.into(), end: end.into(), ..OpenHours::default() }
    }

    fn ms(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    /// Returns the windows as local times with offsets, which are easy to check.
    fn format_windows(zone: &str, rows: &[OpenHours], from: &str, to: &str) -> Vec<String> {
        let zone = Zone::named(zone).unwrap();
        let hours: Vec<Hours> = rows.iter().map(|r| Hours::read(r, &zone).unwrap()).collect();
        let local = |ms| {
            let zoned = Instant::from_millis(ms).timestamp().to_zoned(zone.rules.clone());
            zoned.strftime("%d %H:%M%:z").to_string()
        };
        let found = windows(&hours, Interval::new(ms(from), ms(to)));
        found.iter().map(|w| format!("{} – {}", local(w.start), local(w.end))).collect()
    }

    const EVERY_DAY: [i64; 7] = [1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn a_window_is_the_same_wall_clock_on_both_sides_of_a_change() {
        // Berlin sets its clocks forward on 29 March 2026.
        let found = format_windows(
            "Europe/Berlin",
            &[row(&[6, 1], "09:00", "17:00")],
            "2026-03-28T00:00:00Z",
            "2026-03-31T00:00:00Z",
        );
        assert_eq!(found, ["28 09:00+01:00 – 28 17:00+01:00", "30 09:00+02:00 – 30 17:00+02:00"]);
    }

    #[test]
    fn a_time_in_the_gap_moves_forward() {
        let day = ("2026-03-29T00:00:00Z", "2026-03-29T20:00:00Z");
        let found = |start, end| format_windows("Europe/Berlin", &[row(&[7], start, end)], day.0, day.1);
        assert_eq!(found("02:15", "02:45"), ["29 03:15+02:00 – 29 03:45+02:00"]);
        assert_eq!(found("01:30", "02:30"), ["29 01:30+01:00 – 29 03:30+02:00"]);
        // 02:30 becomes 03:30, and the window ends at 03:00: nothing is left of it.
        assert!(found("02:30", "03:00").is_empty());
    }

    #[test]
    fn a_time_that_comes_twice_is_the_first() {
        // Berlin sets its clocks back on 25 October 2026, at 03:00.
        let day = ("2026-10-24T22:00:00Z", "2026-10-25T20:00:00Z");
        let found = |start, end| format_windows("Europe/Berlin", &[row(&[7], start, end)], day.0, day.1);
        assert_eq!(found("02:15", "02:45"), ["25 02:15+02:00 – 25 02:45+02:00"]);
        assert_eq!(found("02:30", "03:00"), ["25 02:30+02:00 – 25 03:00+01:00"], "an hour and a half");
        assert_eq!(found("00:00", "24:00"), ["25 00:00+02:00 – 26 00:00+01:00"], "25 hours");
    }

    #[test]
    fn half_an_hour_of_change_on_lord_howe() {
        // Lord Howe goes from +11:00 to +10:30 on 5 April 2026 and back on 4 October.
        let night =
            |from, to| format_windows("Australia/Lord_Howe", &[row(&EVERY_DAY, "00:00", "04:00")], from, to);
        assert_eq!(
            night("2026-04-04T13:00:00Z", "2026-04-05T10:00:00Z"),
            ["05 00:00+11:00 – 05 04:00+10:30"]
        );
        assert_eq!(
            night("2026-10-03T14:00:00Z", "2026-10-04T10:00:00Z"),
            ["04 00:00+10:30 – 04 04:00+11:00"]
        );
    }

    #[test]
    fn an_end_that_is_not_after_the_start_is_on_the_next_day() {
        let found = |start, end| {
            format_windows(
                "Asia/Kathmandu",
                &[row(&[5], start, end)],
                "2026-07-02T00:00:00Z",
                "2026-07-06T00:00:00Z",
            )
        };
        assert_eq!(found("22:00", "02:00"), ["03 22:00+05:45 – 04 02:00+05:45"]);
        assert_eq!(found("22:00", "24:00"), ["03 22:00+05:45 – 04 00:00+05:45"]);
        assert_eq!(found("09:00", "09:00"), ["03 09:00+05:45 – 04 09:00+05:45"]);
        assert_eq!(found("00:00", "00:00"), ["03 00:00+05:45 – 04 00:00+05:45"]);
    }

    #[test]
    fn a_window_of_yesterday_reaches_into_the_range() {
        let found = format_windows(
            "Asia/Tokyo",
            &[row(&[1], "20:00", "19:00")],
            "2026-07-07T09:00:00Z",
            "2026-07-07T10:00:00Z",
        );
        assert_eq!(found, ["06 20:00+09:00 – 07 19:00+09:00"]);
    }

    #[test]
    fn exdates_are_days_on_which_a_window_would_begin() {
        let mut night = row(&EVERY_DAY, "22:00", "02:00");
        night.exdates = vec!["2026-07-03".into()];
        let found = format_windows("UTC", &[night], "2026-07-02T12:00:00Z", "2026-07-05T00:00:00Z");
        assert_eq!(found, ["02 22:00+00:00 – 03 02:00+00:00", "04 22:00+00:00 – 05 02:00+00:00"]);
    }

    #[test]
    fn windows_of_one_day_join_and_those_of_two_days_do_not() {
        let rows = [row(&[1], "09:00", "12:00"), row(&[1], "11:30", "17:00"), row(&[1, 2], "18:00", "24:00")];
        let found = format_windows("UTC", &rows, "2026-07-06T00:00:00Z", "2026-07-08T00:00:00Z");
        let expected = [
            "06 09:00+00:00 – 06 17:00+00:00",
            "06 18:00+00:00 – 07 00:00+00:00",
            "07 18:00+00:00 – 08 00:00+00:00",
        ];
        assert_eq!(found, expected);
        let days = windows(&[Hours::whole_days(Zone::utc())], Interval::new(0, 3 * 86_400_000));
        assert_eq!(days.len(), 3);
    }

    #[test]
    fn each_row_may_have_its_own_zone() {
        let mut tokyo = row(&[1], "09:00", "10:00");
        tokyo.time_zone = Some("Asia/Tokyo".into());
        let found = format_windows(
            "UTC",
            &[row(&[1], "09:00", "10:00"), tokyo],
            "2026-07-05T12:00:00Z",
            "2026-07-07T00:00:00Z",
        );
        assert_eq!(found, ["06 00:00+00:00 – 06 01:00+00:00", "06 09:00+00:00 – 06 10:00+00:00"]);
    }

    #[test]
    fn a_fault_names_its_field() {
        let fault = |row: OpenHours| Hours::read(&row, &Zone::utc()).map(|_| ()).unwrap_err();
        assert_eq!(fault(row(&[], "09:00", "10:00")).field, "days");
        assert_eq!(fault(row(&[1, 8], "09:00", "10:00")).field, "days[1]");
        assert_eq!(fault(row(&[0], "09:00", "10:00")).field, "days[0]");
        for text in ["9:00", "09:60", "24:01", "25:00", "0900", "09:00:00", "-1:00", "٠٩:٠٠"] {
            assert_eq!(fault(row(&[1], text, "10:00")).kind, FaultKind::Invalid, "{text}");
        }
        assert_eq!(fault(row(&[1], "24:00", "10:00")).field, "start");
        assert_eq!(fault(row(&[1], "", "10:00")).kind, FaultKind::Missing);
        let mut wrong = row(&[1], "09:00", "10:00");
        wrong.exdates = vec!["2026-02-28".into(), "2026-02-30".into()];
        assert_eq!(fault(wrong.clone()).field, "exdates[1]");
        wrong.time_zone = Some("Mars/Olympus".into());
        assert_eq!(fault(wrong).kind, FaultKind::TimeZone);
    }

    #[test]
    fn a_zone_is_an_iana_name() {
        assert!(
            Zone::named("Europe/Berlin").is_some()
                && Zone::named("UTC").is_some()
                && Zone::named("Etc/GMT+5").is_some()
        );
        for name in [
            "",
            " ",
            "Europe/Berlín",
            "EST5EDT,M3.2.0,M11.1.0",
            "../etc/passwd",
            "+02:00",
            "W. Europe Standard Time",
            "Etc/Unknown",
            "Factory",
        ] {
            assert!(Zone::named(name).is_none(), "{name:?}");
        }
        let names = ["asia/kolkata", "AMERICA/PORT-AU-PRINCE", "utc", "etc/gmt+5"]
            .map(|name| Zone::named(name).unwrap().name);
        assert_eq!(names, ["Asia/Kolkata", "America/Port-au-Prince", "UTC", "Etc/GMT+5"]);
    }
}
