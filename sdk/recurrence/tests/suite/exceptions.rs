//! A series with stored exceptions: replaced, moved and cancelled instances.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use model::calendar::{Event, EventStatus, EventType};
use recurrence::{Caps, Instance, instances};

use crate::support::{instant, owned};

fn weekly() -> Event {
    Event {
        event_type: EventType::Series,
        title: Some("standup".into()),
        start: instant("2026-03-02T08:00:00Z"),
        end: instant("2026-03-02T08:30:00Z"),
        time_zone: "Europe/Berlin".into(),
        recurrence: owned(&["RRULE:FREQ=WEEKLY;COUNT=4"]),
        ..Event::default()
    }
}

fn exception(id: &str, start: &str) -> Event {
    let start = instant(start);
    Event {
        event_type: EventType::Exception,
        recurrence_id: Some(id.into()),
        title: Some("moved".into()),
        start,
        end: model::Instant::from_millis(start.as_millis() + 1_800_000),
        time_zone: "Europe/Berlin".into(),
        ..Event::default()
    }
}

fn ask(exceptions: &[Event], from: &str, to: &str) -> Vec<Instance> {
    instances(&weekly(), exceptions, instant(from), instant(to), Caps::default()).unwrap()
}

fn shape(found: &[Instance]) -> Vec<(String, Option<usize>)> {
    found.iter().map(|i| (i.event.start.to_string()[..16].to_owned(), i.exception)).collect()
}

const MARCH: (&str, &str) = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");

#[test]
fn an_occurrence_is_the_series_at_another_time() {
    let found = ask(&[], MARCH.0, MARCH.1);
    assert_eq!(found.len(), 4);
    let third = &found[2];
    assert_eq!(third.event.event_type, EventType::Occurrence);
    assert_eq!(third.event.recurrence_id.as_deref(), Some("2026-03-16T09:00:00"));
    assert_eq!(third.event.original_start, Some(instant("2026-03-16T08:00:00Z")));
    assert_eq!(third.event.title.as_deref(), Some("standup"));
    assert!(third.event.recurrence.is_empty());
    assert_eq!(third.suffix, "20260316T080000Z");
    // The clocks changed on the 29th.
    assert_eq!(found[3].suffix, "20260323T080000Z");
}

#[test]
fn an_exception_takes_the_place_of_its_occurrence() {
    let found = ask(&[exception("2026-03-09T09:00:00", "2026-03-10T14:00:00Z")], MARCH.0, MARCH.1);
    assert_eq!(shape(&found)[..2], [("2026-03-02T08:00".into(), None), ("2026-03-10T14:00".into(), Some(0))]);
    assert_eq!(found.len(), 4);
    // Its id still comes from the original start.
    assert_eq!(found[1].suffix, "20260309T080000Z");
}

#[test]
fn one_moved_into_the_range_counts_and_one_moved_out_does_not() {
    let exceptions = [
        exception("2026-03-23T09:00:00", "2026-03-11T08:00:00Z"),
        exception("2026-03-09T09:00:00", "2026-05-01T08:00:00Z"),
    ];
    let found = ask(&exceptions, "2026-03-08T00:00:00Z", "2026-03-15T00:00:00Z");
    assert_eq!(shape(&found), [("2026-03-11T08:00".into(), Some(0))]);
}

#[test]
fn a_cancelled_exception_is_shown_as_such_in_its_place() {
    let cancelled = Event {
        status: EventStatus::Cancelled,
        recurrence_id: Some("2026-03-09T09:00:00".into()),
        ..Event::default()
    };
    let found = ask(&[cancelled], "2026-03-09T00:00:00Z", "2026-03-10T00:00:00Z");
    assert_eq!(shape(&found), [("2026-03-09T08:00".into(), Some(0))]);
    assert_eq!(found[0].event.status, EventStatus::Cancelled);
    assert!(!found[0].event.derived_busy());
}

#[test]
fn an_exception_outside_of_the_rule_still_happens() {
    let found = ask(&[exception("2026-03-12T09:00:00", "2026-03-12T08:00:00Z")], MARCH.0, MARCH.1);
    assert_eq!(found.len(), 5);
}

#[test]
fn an_exception_is_also_known_by_its_original_start_alone() {
    let mut by_instant = exception("", "2026-03-10T14:00:00Z");
    by_instant.recurrence_id = None;
    by_instant.original_start = Some(instant("2026-03-09T08:00:00Z"));
    assert_eq!(ask(&[by_instant], MARCH.0, MARCH.1).len(), 4);
}

#[test]
fn all_day_exceptions_are_known_by_their_day() {
    let series = Event {
        all_day: true,
        start_date: Some("2026-03-02".into()),
        end_date: Some("2026-03-03".into()),
        recurrence: owned(&["RRULE:FREQ=DAILY;COUNT=3"]),
        ..weekly()
    };
    let moved = Event {
        all_day: true,
        start_date: Some("2026-03-20".into()),
        end_date: Some("2026-03-21".into()),
        ..exception("2026-03-03", "2026-03-19T23:00:00Z")
    };
    let found = instances(&series, &[moved], instant(MARCH.0), instant(MARCH.1), Caps::default()).unwrap();
    let days: Vec<_> =
        found.iter().map(|i| (i.event.start_date.clone().unwrap(), i.suffix.clone())).collect();
    let expected = [("2026-03-02", "20260302"), ("2026-03-04", "20260304"), ("2026-03-20", "20260303")];
    assert_eq!(days, expected.map(|(day, suffix)| (day.to_owned(), suffix.to_owned())));
}
