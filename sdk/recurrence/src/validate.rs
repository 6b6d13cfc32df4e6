//! Validates recurrence lines on input: strictly by RFC 5545, and with limits.

use jiff::tz::TimeZone;

use crate::Invalid;
use crate::date::Basic;
use crate::line::{DateReader, Line};
use crate::rule::Rule;
use crate::zones::zone;

/// The maximum number of lines of an event.
const MAX_LINES: usize = 100;
/// The maximum total number of dates in RDATE and EXDATE lines.
const MAX_DATES: usize = 2_000;

/// Checks the lines of `Event.recurrence` as a client sends them: at most one RRULE, any RDATE and EXDATE, nothing else; COUNT or
/// UNTIL but not both; UNTIL in UTC for a timed series and a date for an all-day one; dates of the series' kind; no unknown parts;
/// not more often than once a minute; at most 100 lines and 2,000 dates.
pub fn validate(lines: &[String], all_day: bool) -> Result<(), Invalid> {
    if lines.len() > MAX_LINES {
        return Err(Invalid::new("recurrence", format!("has more than {MAX_LINES} lines")));
    }
    let (mut rules, mut dates) = (0, 0);
    for text in lines {
        let line = Line::parse(text)?;
        match line.name.as_str() {
            "RRULE" => {
                rules += 1;
                if rules > 1 {
                    return Err(Invalid::new(text, "is a second RRULE; a series has at most one"));
                }
                if !line.params.is_empty() {
                    return Err(Invalid::new(text, "an RRULE has no parameters here"));
                }
                if let Some(fault) = Rule::parse(&line)?.fault(all_day) {
                    return Err(Invalid::new(text, fault));
                }
            }
            "RDATE" | "EXDATE" => dates += check_dates(&line, all_day)?,
            "EXRULE" => return Err(Invalid::new(text, "EXRULE is obsolete; use EXDATE")),
            "DTSTART" | "DTEND" | "DURATION" => {
                return Err(Invalid::new(text, "belongs in start and end, not in recurrence"));
            }
            _ => return Err(Invalid::new(text, "is not RRULE, RDATE or EXDATE")),
        }
    }
    if dates > MAX_DATES {
        return Err(Invalid::new("recurrence", format!("lists more than {MAX_DATES} dates")));
    }
    Ok(())
}

fn check_dates(line: &Line, all_day: bool) -> Result<usize, Invalid> {
    let invalid = |reason: &str| Invalid::new(&line.text(), reason);
    for param in line.params.split(';').filter(|param| !param.is_empty()) {
        match param.split_once('=').map(|(name, _)| name.to_ascii_uppercase()).as_deref() {
            Some("VALUE") => {}
            Some("TZID") if !all_day => {}
            Some("TZID") => return Err(invalid("an all-day series has no TZID; give dates")),
            _ => return Err(invalid("takes the parameters VALUE and TZID only")),
        }
    }
    if let Some(name) = line.param("TZID") {
        zone(&name).map_err(|e| invalid(&e.reason))?;
    }
    let kind = line.param("VALUE").map(|value| value.to_ascii_uppercase());
    let expected = match (kind.as_deref(), all_day) {
        (Some("DATE"), true) | (None, true) => true,
        (None | Some("DATE-TIME"), false) => false,
        (Some("PERIOD"), false) if line.name == "RDATE" => false,
        (_, true) => {
            return Err(invalid("must list dates with VALUE=DATE for an all-day series, such as 20260301"));
        }
        (_, false) => {
            return Err(invalid("must list date-times for a timed series, such as 20260301T090000Z"));
        }
    };
    for value in line.value.split(',') {
        let start = value.trim().split('/').next().unwrap_or_default();
        if value.contains('/') != (kind.as_deref() == Some("PERIOD")) {
            return Err(invalid("periods need VALUE=PERIOD, and all values must be periods then"));
        }
        match Basic::parse(start) {
            None => {
                return Err(invalid(
                    "is not a comma-separated list of dates or date-times, such as 20260301T090000Z",
                ));
            }
            Some(at) if matches!(at, Basic::Date(_)) != expected => {
                return Err(invalid(if all_day {
                    "must list dates for an all-day series, such as 20260301"
                } else {
                    "must list date-times for a timed series, such as 20260301T090000Z"
                }));
            }
            Some(_) => {}
        }
    }
    // This also validates the ends of periods.
    Ok(DateReader { series_zone: &TimeZone::UTC, all_day }.read(line)?.len())
}

#[cfg(test)]
mod tests {
    use super::validate;

    fn verdict(lines: &[&str], all_day: bool) -> Option<String> {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        validate(&lines, all_day).err().map(|e| e.reason)
    }

    #[test]
    fn what_the_rfc_writes_is_accepted() {
        for lines in [
            &["RRULE:FREQ=DAILY;COUNT=10"][..],
            &["RRULE:FREQ=WEEKLY;UNTIL=20261231T225959Z;INTERVAL=2;WKST=SU;BYDAY=TU,TH"],
            &[
                "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
                "EXDATE;TZID=Europe/Berlin:20260430T090000",
            ],
            &["RDATE:20260301T090000Z,20260302T090000Z"],
            &["RDATE;VALUE=PERIOD:20260301T090000Z/PT2H"],
            &["RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO"],
            &["rrule:freq=daily"],
            &[],
        ] {
            assert_eq!(verdict(lines, false), None, "{lines:?}");
        }
        assert_eq!(verdict(&["RRULE:FREQ=DAILY;UNTIL=20261231", "EXDATE;VALUE=DATE:20261224"], true), None);
    }

    #[test]
    fn what_it_forbids_is_refused_with_the_fix() {
        for (lines, all_day, says) in [
            (&["RRULE:FREQ=DAILY;COUNT=3;UNTIL=20261231T225959Z"][..], false, "COUNT and UNTIL"),
            (&["RRULE:FREQ=DAILY;UNTIL=20261231"], false, "in UTC"),
            (&["RRULE:FREQ=DAILY;UNTIL=20261231T090000"], false, "in UTC"),
            (&["RRULE:FREQ=DAILY;UNTIL=20261231T225959Z"], true, "must be a date"),
            (&["RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"], false, "at most one"),
            (&["RRULE:FREQ=SECONDLY"], false, "once a minute"),
            (&["RRULE:FREQ=MINUTELY;BYSECOND=0,30"], false, "once a minute"),
            (&["RRULE:FREQ=HOURLY"], true, "no time of day"),
            (&["RRULE:FREQ=DAILY;X-NOTE=1"], false, "X-NOTE"),
            (&["RRULE:FREQ=DAILY;BYDAY="], false, ""),
            (&["RRULE:FREQ=DAILY;COUNT=0"], false, "at least 1"),
            (&["RRULE:FREQ=DAILY;FREQ=DAILY"], false, "twice"),
            (&["RRULE:FREQ=WEEKLY;BYDAY=2MO"], false, "ordinal"),
            (&["RRULE:FREQ=MONTHLY;BYDAY=0MO"], false, "ordinal"),
            (&["RRULE:FREQ=DAILY;SKIP=FORWARD;RSCALE=GREGORIAN"], false, "SKIP"),
            (&["RRULE:FREQ=DAILY;INTERVAL=0"], false, "interval"),
            (&["RRULE:FREQ=DAILY;INTERVAL=900001"], false, "INTERVAL is above"),
            (&["RRULE:INTERVAL=2"], false, "frequency"),
            (&["DTSTART:20260301T090000Z"], false, "start and end"),
            (&["EXRULE:FREQ=DAILY"], false, "EXDATE"),
            (&["EXDATE;VALUE=DATE:20260301"], false, "date-times"),
            (&["EXDATE:20260301T090000Z"], true, "dates"),
            (&["EXDATE;TZID=Mars/Olympus:20260301T090000"], false, "time zone"),
            (&["RDATE:20260230T090000Z"], false, "list of dates"),
            (&["RDATE;VALUE=PERIOD:20260301T090000Z/20260301T080000Z"], false, "not a date"),
            (&["no colon"], false, "no value"),
            (&["RRULE:FREQ=DAILY\r\nATTENDEE:mailto:a@example.org"], false, "control"),
        ] {
            let reason = verdict(lines, all_day).unwrap_or_else(|| panic!("{lines:?} was accepted"));
            assert!(reason.contains(says), "{lines:?}: {reason}");
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let dates = vec!["20260301T090000Z"; 2001].join(",");
        assert!(verdict(&[&format!("RDATE:{dates}")], false).is_some());
        assert!(
            verdict(&[&format!("RRULE:FREQ=YEARLY;BYYEARDAY={}", vec!["1"; 500].join(","))], false).is_some()
        );
        let parts: String = (0..40).map(|n| format!(";X{n}=1")).collect();
        assert!(
            verdict(&[&format!("RRULE:FREQ=DAILY{parts}")], false).is_some_and(|why| why.contains("parts"))
        );
        let many: Vec<String> = (0..101).map(|_| "RDATE:20260301T090000Z".to_owned()).collect();
        assert!(validate(&many, false).is_err());
    }
}
