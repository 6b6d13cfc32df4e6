//! Exceptions that are meant for all later instances, too (RANGE=THISANDFUTURE), as `recurring_ical_events` 3 expands them.

use model::calendar::{Event, EventStatus, EventType};
use recurrence::{Caps, Series, instances, place_of};

use crate::support::{instant, owned};

fn series(lines: &[&str]) -> Event {
    Event {
        event_type: EventType::Series,
        title: Some("Series".into()),
        start: instant("2027-03-01T09:00:00Z"),
        end: instant("2027-03-01T10:00:00Z"),
        time_zone: "Europe/Berlin".into(),
        recurrence: owned(lines),
        ..Event::default()
    }
}

fn exception(id: &str, (start, end): (&str, &str), title: &str) -> Event {
    Event {
        event_type: EventType::Exception,
        recurrence_id: Some(id.into()),
        title: Some(title.into()),
        start: instant(start),
        end: instant(end),
        time_zone: "Europe/Berlin".into(),
        ..Event::default()
    }
}

fn later(exception: Event) -> Event {
    Event { applies_to_following: true, ..exception }
}

/// Day, hour and minute of each start, its minutes, and the title.
fn format_instances(series: &Event, exceptions: &[Event], (from, to): (&str, &str)) -> Vec<String> {
    let found = instances(series, exceptions, instant(from), instant(to), Caps::default()).unwrap();
    let one = |instance: recurrence::Instance| {
        let event = instance.event;
        let start: String = event.start.to_string().chars().skip(5).take(11).collect();
        let minutes = (event.end.as_millis() - event.start.as_millis()) / 60_000;
        format!("{start} {minutes} {}", event.title.unwrap_or_default())
    };
    found.into_iter().map(one).collect()
}

const MARCH: (&str, &str) = ("2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z");

#[test]
fn later_instances_take_the_fields_the_length_and_the_shift() {
    let series = series(&["RRULE:FREQ=DAILY;COUNT=9", "EXDATE;TZID=Europe/Berlin:20270305T100000"]);
    let all = [
        later(exception("2027-03-03T10:00:00", ("2027-03-03T11:00:00Z", "2027-03-03T11:30:00Z"), "Later")),
        exception("2027-03-06T10:00:00", ("2027-03-06T15:00:00Z", "2027-03-06T16:00:00Z"), "Once"),
    ];
    let expected = [
        "03-01T09:00 60 Series",
        "03-02T09:00 60 Series",
        "03-03T11:00 30 Later",
        "03-04T11:00 30 Later",
        "03-06T15:00 60 Once",
        "03-07T11:00 30 Later",
        "03-08T11:00 30 Later",
        "03-09T11:00 30 Later",
    ];
    assert_eq!(format_instances(&series, &all, MARCH), expected);
    // So it is in a range that has only what was moved into it.
    let narrow = ("2027-03-08T10:30:00Z", "2027-03-08T11:15:00Z");
    assert_eq!(format_instances(&series, &all, narrow), ["03-08T11:00 30 Later"]);
    assert!(format_instances(&series, &all, ("2027-03-08T09:00:00Z", "2027-03-08T10:00:00Z")).is_empty());
}

#[test]
fn the_shift_is_local_time_and_the_last_change_counts() {
    let series = series(&["RRULE:FREQ=WEEKLY;COUNT=6"]);
    let all = [
        later(exception("2027-03-08T10:00:00", ("2027-03-09T09:00:00Z", "2027-03-09T10:00:00Z"), "Tuesdays")),
        later(Event {
            status: EventStatus::Cancelled,
            ..exception("2027-04-05T10:00:00", ("2027-04-05T08:00:00Z", "2027-04-05T09:00:00Z"), "None")
        }),
    ];
    let range = (MARCH.0, "2027-05-01T00:00:00Z");
    assert_eq!(
        format_instances(&series, &all, range),
        [
            "03-01T09:00 60 Series",
            "03-09T09:00 60 Tuesdays",
            "03-16T09:00 60 Tuesdays",
            "03-23T09:00 60 Tuesdays",
            // Summer time: 10 o'clock stays 10 o'clock.
            "03-30T08:00 60 Tuesdays",
            "04-05T08:00 60 None",
        ]
    );
    let found = instances(&series, &all, instant(range.0), instant(range.1), Caps::default()).unwrap();
    assert_eq!(found[2].suffix, "20270315T090000Z", "an instance is named by its original start");
    assert_eq!(found[2].event.recurrence_id.as_deref(), Some("2027-03-15T10:00:00"));
    assert_eq!((found[2].event.event_type, found[2].exception), (EventType::Occurrence, None));
}

#[test]
fn days_move_by_days() {
    let days = |first: &str, after: &str, title: &str| Event {
        title: Some(title.into()),
        all_day: true,
        start: instant(&format!("{first}T00:00:00Z")),
        end: instant(&format!("{after}T00:00:00Z")),
        start_date: Some(first.into()),
        end_date: Some(after.into()),
        time_zone: "UTC".into(),
        ..Event::default()
    };
    let series = Event {
        recurrence: owned(&["RRULE:FREQ=DAILY;COUNT=6"]),
        ..days("2027-03-01", "2027-03-02", "Series")
    };
    let moved =
        Event { recurrence_id: Some("2027-03-03".into()), ..days("2027-03-04", "2027-03-06", "Later") };
    let found =
        instances(&series, &[later(moved)], instant(MARCH.0), instant(MARCH.1), Caps::default()).unwrap();
    let dates: Vec<(String, String)> = found
        .into_iter()
        .map(|one| (one.event.start_date.unwrap_or_default(), one.event.end_date.unwrap_or_default()))
        .collect();
    let expected = [
        ("2027-03-01", "2027-03-02"),
        ("2027-03-02", "2027-03-03"),
        ("2027-03-04", "2027-03-06"),
        ("2027-03-05", "2027-03-07"),
        ("2027-03-06", "2027-03-08"),
        ("2027-03-07", "2027-03-09"),
    ];
    assert_eq!(dates, expected.map(|(first, after)| (first.to_owned(), after.to_owned())));
}

#[test]
fn an_instance_is_found_by_its_original_start_wherever_it_was_moved() {
    let series = series(&["RRULE:FREQ=DAILY;COUNT=9"]);
    let rules = Series::parse(&series).unwrap();
    let all =
        [later(exception("2027-03-03T10:00:00", ("2027-03-03T20:00:00Z", "2027-03-03T21:00:00Z"), "Later"))];
    let range = (instant("2027-03-07T09:00:00Z"), instant("2027-03-07T09:00:01Z"));
    let place = place_of(&rules, &all, range, "20270307T090000Z", 1_000).unwrap().unwrap();
    assert_eq!(place.start, instant("2027-03-07T20:00:00Z"));
    assert_eq!(place.instance(&series, &all).event.title.as_deref(), Some("Later"));
}
