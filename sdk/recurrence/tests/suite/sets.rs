//! Series of several rules, of rules that exclude, and of dates of which some cannot be read.

use std::collections::BTreeSet;

use proptest::prelude::*;
use recurrence::{Caps, Error, Series, capped_before, excluded, first, occurs_at, remainder_from};

use crate::generator::{Case, Dice, case};
use crate::support::{all_day, ids, starts, timed};

const RANGE: (&str, &str) = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");

fn days(series: &Series) -> Vec<String> {
    starts(series, RANGE.0, RANGE.1).iter().map(|start| start.chars().skip(8).take(5).collect()).collect()
}

#[test]
fn two_rules_are_the_union_of_both() {
    let series = timed(
        "UTC",
        "2026-03-02T09:00:00",
        &["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=3", "RRULE:FREQ=WEEKLY;BYDAY=TH,MO;UNTIL=20260313T000000Z"],
    );
    assert_eq!(days(&series), ["02T09", "05T09", "09T09", "12T09", "16T09"]);
    assert!(series.faults().is_empty());
    let dates =
        all_day("UTC", "2026-03-02", 1, &["RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=DAILY;INTERVAL=2;COUNT=3"]);
    assert_eq!(ids(&dates, RANGE.0, RANGE.1), ["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-06"]);
}

#[test]
fn what_an_exrule_names_does_not_happen() {
    let series = timed(
        "Europe/Berlin",
        "2026-03-26T09:00:00",
        &["RRULE:FREQ=DAILY;COUNT=7", "EXRULE:FREQ=WEEKLY;BYDAY=SA,SU"],
    );
    assert_eq!(
        days(&series),
        ["26T07", "27T08", "30T07", "31T07"].map(|d| if d == "26T07" { "26T08" } else { d })
    );
    assert!(!occurs_at(&series, "2026-03-28T09:00:00", Caps::default()).unwrap());
    // Its COUNT is of what it names itself: the start, a Thursday, is not.
    let counted = timed(
        "UTC",
        "2026-03-26T09:00:00",
        &["RRULE:FREQ=DAILY;COUNT=6", "EXRULE:FREQ=WEEKLY;BYDAY=SA,SU;COUNT=1"],
    );
    assert_eq!(days(&counted), ["26T09", "27T09", "29T09", "30T09", "31T09"]);
    // It takes the start where it names it, and RDATEs too (RFC 2445 section 4.8.5.2).
    let start = timed(
        "UTC",
        "2026-03-26T09:00:00",
        &["RRULE:FREQ=DAILY;COUNT=3", "RDATE:20260402T090000Z", "EXRULE:FREQ=WEEKLY"],
    );
    assert_eq!(first(&start, Caps::default()).unwrap().unwrap().recurrence_id, "2026-03-27T09:00:00");
    assert_eq!(ids(&start, RANGE.0, "2026-05-01T00:00:00Z").len(), 2);
    let nothing = timed("UTC", "2026-03-26T09:00:00", &["RRULE:FREQ=DAILY", "EXRULE:FREQ=DAILY"]);
    assert!(matches!(first(&nothing, Caps::default()), Ok(None) | Err(Error::TooExpensive(_))));
}

#[test]
fn dates_that_can_be_read_count_beside_those_that_cannot() {
    let series = timed(
        "UTC",
        "2026-03-02T09:00:00",
        &[
            "RRULE:FREQ=DAILY;COUNT=3",
            "RDATE:20260310T090000Z,20260230T090000Z,soon,20260312T090000Z/tomorrow,20260311T090000Z",
            "EXDATE:20260303T090000Z,99999999",
            "EXDATE;TZID=Mars/Olympus:20260302T090000",
        ],
    );
    assert_eq!(days(&series), ["02T09", "04T09", "10T09", "11T09"]);
    let reasons: Vec<String> = series.faults().iter().map(|fault| fault.reason.clone()).collect();
    assert_eq!(reasons.len(), 5, "{reasons:?}");
    assert!(reasons[0].contains("20260230T090000Z") && reasons[1].contains("soon"), "{reasons:?}");
    assert!(reasons[4].contains("Mars/Olympus"), "{reasons:?}");
    let lines = excluded(&series, "2026-03-04T09:00:00", Caps::default()).unwrap();
    assert!(
        lines.iter().any(|line| line.contains("soon")),
        "what nobody can read stays as written: {lines:?}"
    );
    let cut = capped_before(&series, "2026-03-04T09:00:00", Caps::default()).unwrap().unwrap();
    assert!(cut.iter().any(|line| line.contains("20260230T090000Z")), "{cut:?}");
    let rest = remainder_from(&series, "2026-03-04T09:00:00", Caps::default()).unwrap();
    assert!(!rest.iter().any(|line| line.contains("20260230T090000Z")), "once: {rest:?}");
}

#[test]
fn thousands_of_broken_dates_leave_a_few_short_faults() {
    let dates = vec!["x".repeat(20); 10_000].join(",");
    let series =
        timed("UTC", "2026-03-02T09:00:00", &["RRULE:FREQ=DAILY;COUNT=3", &format!("RDATE:{dates}")]);
    assert_eq!(series.faults().len(), 10);
    assert!(series.faults().iter().all(|fault| fault.line.len() <= 120 && fault.reason.len() <= 120));
    assert_eq!(days(&series).len(), 3);
}

#[test]
fn a_day_happens_once_however_many_hours_of_it_a_rule_names() {
    let series = all_day("Europe/Berlin", "2026-03-28", 1, &["RRULE:FREQ=HOURLY;INTERVAL=5;COUNT=3"]);
    assert_eq!(ids(&series, RANGE.0, RANGE.1), ["2026-03-28", "2026-03-29", "2026-03-30"]);
    let hours = all_day("UTC", "2026-03-28", 1, &["RRULE:FREQ=DAILY;BYHOUR=8,9;COUNT=2"]);
    assert_eq!(ids(&hours, RANGE.0, RANGE.1), ["2026-03-28", "2026-03-29"]);
}

/// The case's series, and every instance's instant in its first two years.
fn read(case: &Case, lines: &[String]) -> (Series, BTreeSet<i64>) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let local = case.local.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let series = if case.all_day {
        all_day(case.zone, &case.local.date().to_string(), 1, &lines)
    } else {
        timed(case.zone, &local, &lines)
    };
    let starts = instants(&series, &case.local);
    (series, starts)
}

fn instants(series: &Series, local: &jiff::civil::DateTime) -> BTreeSet<i64> {
    let from = local.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_millisecond();
    let at = |days: i64| model::Instant::from_millis(from + days * 86_400_000);
    let most = Caps { max_instances: 100_000, max_steps: 4_000_000 };
    let all = recurrence::expand(series, at(-2), at(730), most).unwrap();
    all.iter().map(|occurrence| occurrence.start.as_millis()).collect()
}

/// Two cases with one start: the second rule stands beside the first.
fn two(seed: u64) -> (Case, String) {
    let mut dice = Dice::new(seed);
    let one = case(&mut dice);
    loop {
        let other = case(&mut dice);
        if other.all_day == one.all_day {
            return (one, other.lines[0].clone());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_set_is_the_union_less_what_is_excluded(seed in any::<u64>()) {
        let (case, other) = two(seed);
        let first = read(&case, &case.lines).1;
        let second = read(&case, std::slice::from_ref(&other)).1;
        let (_, both) = read(&case, &[case.lines[0].clone(), other.clone()]);
        prop_assert_eq!(&both, &(&first | &second), "{:?} and {}", case, other);
        let without = other.replace("RRULE", "EXRULE");
        let (_, less) = read(&case, &[case.lines[0].clone(), without]);
        // An EXRULE does not name a start that it does not match, and then its COUNT goes further.
        prop_assert!(less.is_subset(&first), "{:?} without {}", case, other);
        if !other.contains("COUNT") {
            let kept: BTreeSet<i64> = &first - &second;
            prop_assert!(kept.is_subset(&less), "{:?} without {}", case, other);
            prop_assert!(less.difference(&kept).count() <= 1, "{:?} without {}", case, other);
        }
    }

    #[test]
    fn a_cut_set_and_its_rest_are_the_set(seed in any::<u64>(), excludes in any::<bool>()) {
        let (case, other) = two(seed);
        let other = if excludes { other.replace("RRULE", "EXRULE") } else { other };
        let (series, all) = read(&case, &[case.lines[0].clone(), other.clone()]);
        prop_assume!(!all.is_empty());
        let list: Vec<i64> = all.iter().copied().collect();
        let at = *Dice::new(seed ^ 5).pick(&list);
        let most = Caps { max_instances: 100_000, max_steps: 4_000_000 };
        let from = model::Instant::from_millis(at);
        let next = recurrence::next_after(&series, model::Instant::from_millis(at - 1), most).unwrap().unwrap();
        let rest = match remainder_from(&series, &next.recurrence_id, most) {
            Err(Error::Unsplittable(_)) => return Ok(()),
            rest => rest.unwrap(),
        };
        let local = recurrence::zone(case.zone).unwrap().to_datetime(from.timestamp());
        prop_assume!(!case.all_day || local.time() == jiff::civil::Time::midnight());
        let head = capped_before(&series, &next.recurrence_id, most).unwrap();
        let mut union = head.map(|lines| read(&case, &lines).1).unwrap_or_default();
        let tail = Case { local, ..case.clone() };
        union.extend(read(&tail, &rest).1);
        let end = list.last().copied().unwrap_or_default();
        let union: BTreeSet<i64> = union.into_iter().filter(|start| *start <= end).collect();
        prop_assert_eq!(union, all, "{:?} and {} at {}: {:?}", case, other, next.recurrence_id, rest);
    }
}
