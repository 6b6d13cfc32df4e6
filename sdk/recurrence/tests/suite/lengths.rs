//! How long instances take over a change of clocks: exactly as long as the first with an end, as many days by the clock with a
//! duration (RFC 5545 §3.8.5.3). Expected times are jiff's, from the definition; zoneinfo of Python says the same.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Span, Timestamp};
use model::Instant;
use model::calendar::{Event, EventType};
use proptest::prelude::{any, prop_assert_eq, proptest};
use recurrence::{Caps, days_and_seconds, instances, zone};

use crate::support::{instant, owned};

/// A daily series in Berlin from this local time on.
fn daily(start: &str, (length, duration): (SignedDuration, Option<&str>), lines: &[&str]) -> Event {
    let local: DateTime = start.parse().expect("a local time in a test");
    let berlin = zone("Europe/Berlin").expect("a zone");
    let at = berlin.to_ambiguous_timestamp(local).compatible().expect("an instant");
    Event {
        event_type: EventType::Series,
        start: at.into(),
        end: at.checked_add(length).expect("an instant").into(),
        time_zone: "Europe/Berlin".into(),
        duration: duration.map(str::to_owned),
        recurrence: owned(lines),
        ..Event::default()
    }
}

fn ends(event: &Event) -> Vec<String> {
    let (from, to) = (instant("2026-01-01T00:00:00Z"), instant("2027-01-01T00:00:00Z"));
    let all = instances(event, &[], from, to, Caps::default()).expect("an expansion within the caps");
    all.iter().map(|instance| instance.event.end.to_string().replace(".000", "")).collect()
}

/// Clocks in Berlin went forward on 29 March 2026: the second day had 23 hours.
#[test]
fn an_end_is_exact_and_a_duration_is_by_the_clock() {
    let day = SignedDuration::from_hours(24);
    let lines = ["RRULE:FREQ=DAILY;COUNT=3"];
    let of = |duration| ends(&daily("2026-03-27T18:00:00", (day, duration), &lines));
    let exact = ["2026-03-28T17:00:00Z", "2026-03-29T17:00:00Z", "2026-03-30T16:00:00Z"];
    let by_the_clock = ["2026-03-28T17:00:00Z", "2026-03-29T16:00:00Z", "2026-03-30T16:00:00Z"];
    assert_eq!(of(None), exact);
    assert_eq!(of(Some("PT24H")), exact);
    assert_eq!(of(Some("P1D")), by_the_clock);
    // What cannot be read, or goes back, is no length: the end tells it.
    assert_eq!(of(Some("P1Y")), exact);
    assert_eq!(of(Some("-P1D")), exact);
}

/// The first instance is the long one: the others are not.
#[test]
fn the_first_length_is_not_that_of_all() {
    let event = daily(
        "2026-10-24T18:00:00",
        (SignedDuration::from_hours(27), Some("P1DT2H")),
        &["RRULE:FREQ=DAILY;COUNT=2"],
    );
    assert_eq!(ends(&event), ["2026-10-25T19:00:00Z", "2026-10-26T19:00:00Z"]);
}

/// An instance that an RDATE adds with a duration of its own.
#[test]
fn a_period_has_its_own_length() {
    let lines = ["RDATE;VALUE=PERIOD:20260328T180000/P1DT2H,20260401T160000Z/P1D"];
    let event = daily("2026-03-20T18:00:00", (SignedDuration::from_hours(1), None), &lines);
    assert_eq!(ends(&event), ["2026-03-20T18:00:00Z", "2026-03-29T18:00:00Z", "2026-04-02T16:00:00Z"]);
}

proptest! {
    /// Each instance ends this many days later by the clock, and then this many seconds later.
    #[test]
    fn every_instance_ends_by_the_definition(
        day in 0i64..364, second in 0i64..86_400, days in 1i64..9, seconds in 0i64..172_800, hours in any::<bool>()
    ) {
        let berlin = zone("Europe/Berlin").expect("a zone");
        let new_year: DateTime = "2026-01-01T00:00:00".parse().expect("a local time");
        let local = new_year.checked_add(Span::new().days(day).seconds(second)).expect("a time");
        let seconds = if hours { seconds } else { 0 };
        let duration = format!("P{days}DT{seconds}S");
        prop_assert_eq!(days_and_seconds(&duration), Some((days, seconds)));
        let after = |local: DateTime| -> Timestamp {
            let later = local.checked_add(Span::new().days(days)).expect("a time");
            let later = berlin.to_ambiguous_timestamp(later).compatible().expect("an instant");
            later.checked_add(SignedDuration::from_secs(seconds)).expect("an instant")
        };
        let event = daily(&local.to_string(), (SignedDuration::from_hours(1), Some(&duration)), &["RRULE:FREQ=DAILY;COUNT=9"]);
        // A start that the clock skips has moved on.
        let local = berlin.to_datetime(event.start.timestamp());
        let (from, to) = (instant("2025-01-01T00:00:00Z"), instant("2028-01-01T00:00:00Z"));
        let found: Vec<Instant> = instances(&event, &[], from, to, Caps::default())
            .expect("an expansion within the caps").iter().map(|instance| instance.event.end).collect();
        let expected: Vec<Instant> = (0..9)
            .map(|n| after(local.checked_add(Span::new().days(n)).expect("a time")).into())
            .collect();
        prop_assert_eq!(found, expected);
    }
}
