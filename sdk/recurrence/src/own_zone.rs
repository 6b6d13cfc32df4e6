//! Time zones without an IANA name, built from the rules in an event.

use jiff::tz::TimeZone;
use model::calendar::{Event, TimeZoneRules};

use crate::Invalid;
use crate::zones::zone;

/// The maximum number of transitions of a zone: two a year for 200 years.
const MAX_TRANSITIONS: usize = 400;
/// The maximum length of a POSIX TZ string, in bytes.
const MAX_POSIX: usize = 100;
/// The maximum offset from UTC, in seconds. Offsets of existing zones range from -15:14 to +15:13.
const MAX_OFFSET: i64 = 18 * 3_600;
/// The minimum time between two transitions, in seconds: the local times around closer ones are ambiguous.
const MIN_APART: i64 = 86_400;

/// The zone of an event's start: the named one, or the one that its rules define. Rules apply only if the name is `UTC`; otherwise they are
/// left over from an earlier zone. Fails with `Invalid` for an unknown name or invalid rules.
pub fn zone_of(event: &Event) -> Result<TimeZone, Invalid> {
    match &event.time_zone_rules {
        Some(rules) if event.time_zone == "UTC" => zone_by_rules(rules),
        _ => zone(&event.time_zone),
    }
}

/// The zone that these rules define. Fails with `Invalid` for more than 400 transitions, transitions out of order or less than a day apart,
/// offsets of more than 18 hours, or an invalid POSIX TZ string.
pub fn zone_by_rules(rules: &TimeZoneRules) -> Result<TimeZone, Invalid> {
    let invalid = |reason: &str| Invalid::new("timeZoneRules", reason);
    if let Some(posix) = &rules.posix {
        let is_short = posix.len() <= MAX_POSIX;
        let zone = is_short.then(|| TimeZone::posix(posix).ok()).flatten();
        return zone
            .ok_or_else(|| invalid("posix is not a POSIX TZ string, such as STD5DST4,M4.1.0,M10.5.0"));
    }
    if rules.transitions.len() > MAX_TRANSITIONS {
        return Err(invalid("lists more than 400 transitions"));
    }
    let mut pairs = rules.transitions.iter().zip(rules.transitions.iter().skip(1));
    if pairs.any(|(one, next)| seconds(next.at).saturating_sub(seconds(one.at)) < MIN_APART) {
        return Err(invalid("transitions are out of order, or less than a day apart"));
    }
    let data = tzif(rules).ok_or_else(|| invalid("an offset is further from UTC than 18 hours"))?;
    TimeZone::tzif("", &data).map_err(|_| invalid("cannot be read as a time zone"))
}

fn seconds(at: model::Instant) -> i64 {
    at.as_millis().div_euclid(1000)
}

/// Writes the rules as a TZif file of version 2 (RFC 9636 section 3), the format that jiff reads.
fn tzif(rules: &TimeZoneRules) -> Option<Vec<u8>> {
    let mut types: Vec<i32> = vec![offset(rules.offset)?];
    let mut times: Vec<u8> = Vec::with_capacity(rules.transitions.len() * 8);
    let mut indexes: Vec<u8> = Vec::with_capacity(rules.transitions.len());
    for transition in &rules.transitions {
        let to = offset(transition.offset)?;
        let index = types.iter().position(|known| *known == to).unwrap_or_else(|| {
            types.push(to);
            types.len() - 1
        });
        times.extend_from_slice(&seconds(transition.at).to_be_bytes());
        indexes.push(u8::try_from(index).ok()?);
    }
    let mut data = Vec::with_capacity(150 + times.len() + indexes.len() + types.len() * 6);
    // The block of 32-bit times, which version 2 readers skip.
    header(&mut data, 0, 1)?;
    local_time_types(&mut data, &types[..1]);
    header(&mut data, indexes.len(), types.len())?;
    data.extend_from_slice(&times);
    data.extend_from_slice(&indexes);
    local_time_types(&mut data, &types);
    // No rule for later times: the last offset applies.
    data.extend_from_slice(b"\n\n");
    Some(data)
}

fn offset(seconds: i64) -> Option<i32> {
    i32::try_from(seconds).ok().filter(|_| seconds.abs() <= MAX_OFFSET)
}

/// The designation of all local time types.
const DESIGNATION: &[u8; 4] = b"OWN\0";

fn header(data: &mut Vec<u8>, transitions: usize, types: usize) -> Option<()> {
    data.extend_from_slice(b"TZif2");
    data.extend_from_slice(&[0; 15]);
    // Counts: UT/local and standard/wall indicators, leap seconds, transitions, types, bytes of designations.
    for count in [0, 0, 0, transitions, types, DESIGNATION.len()] {
        data.extend_from_slice(&u32::try_from(count).ok()?.to_be_bytes());
    }
    Some(())
}

fn local_time_types(data: &mut Vec<u8>, types: &[i32]) {
    for offset in types {
        data.extend_from_slice(&offset.to_be_bytes());
        // Standard time, and the first designation.
        data.extend_from_slice(&[0, 0]);
    }
    data.extend_from_slice(DESIGNATION);
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use model::calendar::{Event, TimeZoneRules, TimeZoneTransition};

    use super::{MAX_TRANSITIONS, zone_by_rules, zone_of};
    use crate::{Caps, Series, excluded, expand};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn rules(offset: i64, transitions: &[(&str, i64)]) -> TimeZoneRules {
        let one =
            |(at, offset): &(&str, i64)| TimeZoneTransition { at: at.parse().unwrap(), offset: *offset };
        TimeZoneRules { posix: None, offset, transitions: transitions.iter().map(one).collect() }
    }

    fn posix(text: &str) -> TimeZoneRules {
        TimeZoneRules { posix: Some(text.into()), ..TimeZoneRules::default() }
    }

    #[test]
    fn a_zone_has_the_offsets_of_its_transitions_and_keeps_the_last() {
        let rules = rules(-18_000, &[("2026-04-05T07:00:00Z", -14_400), ("2026-10-25T06:00:00Z", -18_000)]);
        let zone = zone_by_rules(&rules).unwrap();
        for (instant, local) in [
            ("1900-01-01T00:00:00Z", "1899-12-31T19:00:00"),
            ("2026-04-05T06:59:59Z", "2026-04-05T01:59:59"),
            ("2026-04-05T07:00:00Z", "2026-04-05T03:00:00"),
            ("2026-10-25T05:59:59Z", "2026-10-25T01:59:59"),
            ("2026-10-25T06:00:00Z", "2026-10-25T01:00:00"),
            ("2126-07-01T12:00:00Z", "2126-07-01T07:00:00"),
        ] {
            assert_eq!(zone.to_datetime(at(instant)).to_string(), local, "{instant}");
        }
        // 02:30 does not exist in April (the offset before applies), and 01:30 happens twice in October (the first counts).
        for (local, instant) in
            [("2026-04-05T02:30:00", "2026-04-05T07:30:00Z"), ("2026-10-25T01:30:00", "2026-10-25T05:30:00Z")]
        {
            let found = zone.to_ambiguous_timestamp(local.parse().unwrap()).compatible().unwrap();
            assert_eq!(found, at(instant), "{local}");
        }
    }

    #[test]
    fn a_posix_string_goes_on_for_ever() {
        let zone = zone_by_rules(&posix("STD5DST4,M4.1.0/2,M10.5.0/2")).unwrap();
        for (instant, offset) in [
            ("2026-04-05T06:59:59Z", -18_000),
            ("2026-04-05T07:00:00Z", -14_400),
            ("2026-10-25T06:00:00Z", -18_000),
            ("2326-07-01T12:00:00Z", -14_400),
        ] {
            assert_eq!(zone.to_offset(at(instant)).seconds(), offset, "{instant}");
        }
    }

    #[test]
    fn rules_that_describe_no_zone_are_refused() {
        let far = rules(99 * 3_600, &[]);
        let near = rules(0, &[("2026-01-01T00:00:00Z", 3_600), ("2026-01-01T12:00:00Z", 0)]);
        let back = rules(0, &[("2026-02-01T00:00:00Z", 3_600), ("2026-01-01T00:00:00Z", 0)]);
        let mut many = rules(0, &[]);
        for day in 0..=MAX_TRANSITIONS {
            let ms = i64::try_from(day).unwrap() * 2 * 86_400_000;
            many.transitions.push(TimeZoneTransition { at: model::Instant::from_millis(ms), offset: 0 });
        }
        for odd in [far, near, back, many, posix("Europe/Berlin"), posix(&"A".repeat(101)), posix("")] {
            assert!(zone_by_rules(&odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn the_rules_stand_for_utc_and_for_no_other_name() {
        let rules = Some(posix("STD5"));
        let mut event = Event { time_zone: "UTC".into(), time_zone_rules: rules, ..Event::default() };
        let noon = at("2026-03-01T12:00:00Z");
        assert_eq!(zone_of(&event).unwrap().to_datetime(noon).hour(), 7);
        event.time_zone = "Europe/Berlin".into();
        assert_eq!(zone_of(&event).unwrap().to_datetime(noon).hour(), 13);
    }

    #[test]
    fn a_series_keeps_to_the_clock_of_its_rules() {
        let event = Event {
            start: at("2026-04-04T14:00:00Z").into(),
            end: at("2026-04-04T15:00:00Z").into(),
            time_zone: "UTC".into(),
            time_zone_rules: Some(posix("STD5DST4,M4.1.0/2,M10.5.0/2")),
            recurrence: vec!["RRULE:FREQ=DAILY;COUNT=4".into(), "EXDATE:20260406T130000Z".into()],
            ..Event::default()
        };
        let series = Series::parse(&event).unwrap();
        let (from, to) = (event.start, at("2026-05-01T00:00:00Z").into());
        let all = expand(&series, from, to, Caps::default()).unwrap();
        let all: Vec<(&str, String)> =
            all.iter().map(|one| (one.recurrence_id.as_str(), one.start.to_string())).collect();
        let expected = [
            ("2026-04-04T09:00:00", "2026-04-04T14:00:00.000Z"),
            ("2026-04-05T09:00:00", "2026-04-05T13:00:00.000Z"),
            ("2026-04-07T09:00:00", "2026-04-07T13:00:00.000Z"),
        ];
        assert_eq!(all, expected.map(|(id, start)| (id, start.to_owned())));
        // A zone that is defined by rules has no name to write into a line.
        let less = excluded(&series, "2026-04-05T09:00:00", Caps::default()).unwrap();
        assert_eq!(less[1], "EXDATE:20260406T130000Z,20260405T130000Z");
    }
}
