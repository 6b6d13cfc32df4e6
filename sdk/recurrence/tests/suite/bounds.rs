//! Rules that are meant to hurt, and series far from their start: what they may cost.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::time::{Duration, Instant as Clock};

use recurrence::{Caps, Error, Length, Series, Start, expand, first, next_after, occurs_at};

use crate::support::{instant, owned, timed};

/// Unoptimised builds are some ten times slower than what runs in production.
fn limit(release_ms: u64) -> Duration {
    Duration::from_millis(if cfg!(debug_assertions) { release_ms * 15 } else { release_ms })
}

/// Fails where the answer takes longer, three times in a row: a busy machine is not a slow rule.
fn within(release_ms: u64, what: &str, ask: &dyn Fn()) {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let begun = Clock::now();
        ask();
        best = best.min(begun.elapsed());
        if best < limit(release_ms) {
            return;
        }
    }
    panic!("{what} took {best:?}");
}

fn every(numbers: std::ops::RangeInclusive<i32>) -> String {
    numbers.filter(|n| *n != 0).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn a_hundred_years_later_costs_no_more() {
    for rule in [
        "FREQ=DAILY",
        "FREQ=WEEKLY;BYDAY=MO,WE",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=YEARLY",
        "FREQ=HOURLY;INTERVAL=5",
    ] {
        let series = timed("Europe/Berlin", "1990-01-01T09:00:00", &[&format!("RRULE:{rule}")]);
        within(10, rule, &|| {
            let (from, to) = (instant("2090-01-01T00:00:00Z"), instant("2090-12-31T00:00:00Z"));
            assert!(!expand(&series, from, to, Caps::default()).unwrap().is_empty());
        });
    }
}

#[test]
fn hostile_rules_end_within_bounds() {
    let all = every(-366..=366);
    let rules = [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30".to_owned(),
        "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11".into(),
        "FREQ=SECONDLY;BYSETPOS=2".into(),
        "FREQ=MINUTELY;BYSECOND=0;BYSETPOS=3".into(),
        "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1".into(),
        "FREQ=SECONDLY".into(),
        "FREQ=MINUTELY".into(),
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30".into(),
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30".into(),
        "FREQ=HOURLY;INTERVAL=899999;BYMONTH=2;BYMONTHDAY=29".into(),
        "FREQ=YEARLY;INTERVAL=899999".into(),
        "FREQ=WEEKLY;INTERVAL=899999".into(),
        "FREQ=SECONDLY;INTERVAL=7;BYHOUR=3;BYMINUTE=0;BYSECOND=0".into(),
        format!("FREQ=YEARLY;BYYEARDAY={}", every(-190..=190)),
        format!("FREQ=YEARLY;BYHOUR={};BYMINUTE={};BYSECOND={}", every(0..=23), every(0..=59), every(0..=59)),
        format!(
            "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={};BYMINUTE={};BYSETPOS=-1",
            every(1..=23),
            every(1..=59)
        ),
        format!("FREQ=DAILY;BYHOUR={};BYMINUTE={};BYSECOND={}", every(0..=23), every(0..=59), every(0..=59)),
        format!("FREQ=YEARLY;BYDAY=MO;BYSETPOS={}", &all[..1200]),
        "FREQ=YEARLY;BYWEEKNO=53;BYMONTHDAY=13;BYDAY=FR".into(),
        "FREQ=DAILY;BYMONTHDAY=29;BYMONTH=2;BYDAY=MO".into(),
        "FREQ=SECONDLY;COUNT=4000000000".into(),
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5".into(),
        "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1;COUNT=1000".into(),
    ];
    for rule in rules {
        let start =
            Start::Timed { local: "1990-01-01T00:00:00".parse().unwrap(), zone: "Europe/Berlin".into() };
        let Ok(series) = Series::new(&start, Length::Exact(1000), &owned(&[&format!("RRULE:{rule}")])) else {
            continue;
        };
        let caps = Caps::default();
        let far = (instant("2026-01-01T00:00:00Z"), instant("2027-02-05T00:00:00Z"));
        let timed = |what: &str, ask: &dyn Fn()| within(50, &format!("{what} of {rule}"), ask);
        timed("expand", &|| drop(expand(&series, far.0, far.1, caps)));
        timed("next_after", &|| drop(next_after(&series, far.0, caps)));
        timed("first", &|| drop(first(&series, caps)));
        timed("occurs_at", &|| drop(occurs_at(&series, "2026-05-01T00:00:00", caps)));
    }
}

#[test]
fn a_rule_that_never_matches_has_only_its_start() {
    let series = timed("UTC", "2026-01-01T09:00:00", &["RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"]);
    assert_eq!(next_after(&series, instant("2026-01-01T09:00:00Z"), Caps::default()), Ok(None));
}

#[test]
fn more_instances_or_steps_than_allowed_is_an_error_not_a_cut() {
    let series = timed("UTC", "2026-01-01T09:00:00", &["RRULE:FREQ=HOURLY"]);
    let range = (instant("2026-01-01T00:00:00Z"), instant("2027-01-01T00:00:00Z"));
    assert_eq!(expand(&series, range.0, range.1, Caps::default()), Err(Error::TooManyInstances(2_500)));
    let few = Caps { max_instances: 100_000, max_steps: 1_000 };
    assert_eq!(expand(&series, range.0, range.1, few), Err(Error::TooExpensive(1_000)));
    let enough = Caps { max_instances: 100_000, max_steps: 250_000 };
    assert_eq!(expand(&series, range.0, range.1, enough).unwrap().len(), 365 * 24 - 9);
}

#[test]
fn exactly_as_many_instances_as_allowed_are_allowed() {
    let series = timed("UTC", "2026-01-01T00:00:00", &["RRULE:FREQ=DAILY"]);
    let caps = Caps { max_instances: 10, ..Caps::default() };
    let ask =
        |to: &str| expand(&series, instant("2026-01-01T00:00:00Z"), instant(to), caps).map(|all| all.len());
    assert_eq!(ask("2026-01-11T00:00:00Z"), Ok(10));
    assert_eq!(ask("2026-01-12T00:00:00Z"), Err(Error::TooManyInstances(10)));
}
