//! Times of Google's events, and ids of instances.

use connector_google::{EventDateTime, EventTimes, instance_id, split_id, times_of};
use recurrence::Suffix;

const CALENDAR: &str = "America/Sao_Paulo";

fn time(text: &str, zone: Option<&str>) -> EventDateTime {
    EventDateTime {
        date_time: Some(text.to_owned()),
        time_zone: zone.map(str::to_owned),
        ..EventDateTime::default()
    }
}

fn day(text: &str) -> EventDateTime {
    EventDateTime { date: Some(text.to_owned()), ..EventDateTime::default() }
}

fn read(start: &EventDateTime, end: &EventDateTime) -> EventTimes {
    times_of(start, end, CALENDAR).expect("the times can be read")
}

/// The offset is the calendar's; the zone in which the event is anchored stands beside it.
#[test]
fn a_time_is_the_instant_of_its_offset_anchored_in_its_own_zone() {
    let los_angeles = Some("America/Los_Angeles");
    let berlin = Some("Europe/Berlin");
    let rows: [(&str, Option<&str>, &str, &str); 11] = [
        ("2026-03-02T14:00:00-03:00", los_angeles, "2026-03-02T17:00:00.000Z", "America/Los_Angeles"),
        ("2026-07-02T14:00:00-03:00", los_angeles, "2026-07-02T17:00:00.000Z", "America/Los_Angeles"),
        ("2026-03-02T14:00:00-03:00", None, "2026-03-02T17:00:00.000Z", CALENDAR),
        ("2026-03-02T17:00:00Z", berlin, "2026-03-02T17:00:00.000Z", "Europe/Berlin"),
        // Without an offset the zone places it: the hour that clocks skip moves on, the doubled one is its first.
        ("2026-03-02T18:00:00", berlin, "2026-03-02T17:00:00.000Z", "Europe/Berlin"),
        ("2026-03-29T02:30:00", berlin, "2026-03-29T01:30:00.000Z", "Europe/Berlin"),
        ("2026-10-25T02:30:00", berlin, "2026-10-25T00:30:00.000Z", "Europe/Berlin"),
        ("2026-03-02T14:00:00", None, "2026-03-02T17:00:00.000Z", CALENDAR),
        // A zone by its Windows name has an IANA name; an unknown one has the calendar's place.
        (
            "2026-03-02T14:00:00-03:00",
            Some("W. Europe Standard Time"),
            "2026-03-02T17:00:00.000Z",
            "Europe/Berlin",
        ),
        ("2026-03-02T14:00:00-03:00", Some("Mars/Olympus"), "2026-03-02T17:00:00.000Z", CALENDAR),
        ("2026-03-02T14:00:00.250-03:00", Some(""), "2026-03-02T17:00:00.250Z", CALENDAR),
    ];
    for (text, zone, instant, anchored) in rows {
        let found = read(&time(text, zone), &EventDateTime::default());
        assert_eq!(
            (found.start.to_string().as_str(), found.time_zone.as_str()),
            (instant, anchored),
            "{text}"
        );
        assert_eq!((found.end, found.all_day), (found.start, false), "without an end it is a moment");
        assert_eq!(found.unknown_zone.is_some(), zone == Some("Mars/Olympus"), "{text}");
    }
}

#[test]
fn days_begin_at_midnight_of_the_calendars_zone() {
    let trip = read(&day("2026-03-29"), &day("2026-03-31"));
    assert!(trip.all_day);
    assert_eq!(
        (trip.start_date.as_deref(), trip.end_date.as_deref()),
        (Some("2026-03-29"), Some("2026-03-31"))
    );
    assert_eq!(trip.start.to_string(), "2026-03-29T03:00:00.000Z");
    assert_eq!(
        (trip.end.to_string().as_str(), trip.time_zone.as_str()),
        ("2026-03-31T03:00:00.000Z", CALENDAR)
    );
    for end in [EventDateTime::default(), day("2026-03-29"), day("2026-03-01")] {
        assert_eq!(read(&day("2026-03-29"), &end).end_date.as_deref(), Some("2026-03-30"));
    }
}

#[test]
fn the_end_has_a_zone_of_its_own_and_is_never_before_the_start() {
    let flight = read(
        &time("2026-03-02T14:00:00-03:00", Some("America/Sao_Paulo")),
        &time("2026-03-03T02:00:00-03:00", Some("Europe/Lisbon")),
    );
    assert_eq!(flight.end_time_zone.as_deref(), Some("Europe/Lisbon"));
    assert_eq!(flight.end.to_string(), "2026-03-03T05:00:00.000Z");
    let odd = read(&time("2026-03-02T14:00:00Z", None), &time("2026-03-02T13:00:00Z", None));
    assert_eq!((odd.end, odd.end_time_zone), (odd.start, None));
}

#[test]
fn a_text_that_is_no_time_is_a_fault_of_its_event() {
    let none = EventDateTime::default();
    let bad = [
        (none.clone(), none.clone()),
        (time("some day", None), none.clone()),
        (day("2026-02-30"), none.clone()),
        (time("2026-03-02T14:00:00Z", None), time("later", None)),
        (day("2026-03-01"), day("later")),
    ];
    for (start, end) in bad {
        assert!(times_of(&start, &end, CALENDAR).is_err(), "{start:?} {end:?}");
    }
    let utc = times_of(&day("2026-03-01"), &none, "Mars/Olympus").expect("a day");
    assert_eq!(utc.time_zone, "UTC");
}

#[test]
fn the_id_of_an_instance_is_made_and_read() {
    let at = Suffix::Instant("2026-03-16T16:00:00Z".parse().expect("an instant"));
    let date = Suffix::Date("2026-03-16".parse().expect("a day"));
    for (series, original, id) in [
        ("standup", at, "standup_20260316T160000Z"),
        ("standup", date, "standup_20260316"),
        ("standup_R20260302T170000", at, "standup_R20260302T170000_20260316T160000Z"),
        ("_60q30c1g60o30e1i", at, "_60q30c1g60o30e1i_20260316T160000Z"),
    ] {
        assert_eq!(instance_id(series, original), id);
        assert_eq!(split_id(id), (series, Some(original)));
    }
    for id in ["standup", "standup_R20260302T170000", "_60q30c1g60o30e1i", "_20260316", "a_20260230", ""] {
        assert_eq!(split_id(id), (id, None), "{id}");
    }
}
