//! The cost limits of hostile rules, and of series far from their start.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use model::Instant;
use recurrence::{Caps, Error, Length, Series, Start, expand, first, next_after, occurs_at};

use crate::support::{instant, owned, timed};

/// The steps that a question costs: the least with which it is answered, to a tenth.
fn cost<T>(ask: impl Fn(Caps) -> Result<T, Error>) -> u32 {
    let mut steps = 10;
    while matches!(ask(Caps { max_instances: usize::MAX, max_steps: steps }), Err(Error::TooExpensive(_))) {
        steps += steps / 10;
    }
    steps
}

fn every(numbers: std::ops::RangeInclusive<i32>) -> String {
    numbers.filter(|n| *n != 0).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn a_hundred_or_ten_thousand_years_later_costs_no_more() {
    for rule in [
        "FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=100000",
        "FREQ=WEEKLY;BYDAY=MO,WE",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=YEARLY",
        "FREQ=YEARLY;INTERVAL=100000",
        "FREQ=HOURLY;INTERVAL=5",
        "FREQ=HOURLY;INTERVAL=100000",
        "FREQ=MINUTELY",
        "FREQ=SECONDLY",
        "FREQ=SECONDLY;INTERVAL=100000",
    ] {
        for start in ["1990-01-01T09:00:00", "0001-01-01T09:00:00"] {
            let series = timed("Europe/Berlin", start, &[&format!("RRULE:{rule}")]);
            let of_day = |day: &str| {
                let from: Instant = instant(&format!("{day}T10:00:00Z"));
                let to = Instant::from_millis(from.as_millis() + 600_000);
                cost(|caps| expand(&series, from, to, caps))
            };
            for later in ["2090-03-29", "9000-01-01"] {
                // An instance lasts an hour: seconds are looked at from an hour before.
                let most = if rule.starts_with("FREQ=SECONDLY") { 10_000 } else { 1_000 };
                assert!(of_day(later) < most, "{rule} from {start} to {later}: {}", of_day(later));
            }
        }
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
        let far = (instant("2026-01-01T00:00:00Z"), instant("2027-02-05T00:00:00Z"));
        // What costs more than the budget is an error: every question ends, and says so.
        let caps = Caps::default();
        let bounded = |what: &str, error: Option<Error>| {
            let fits = matches!(error, None | Some(Error::TooExpensive(_) | Error::TooManyInstances(_)));
            assert!(fits, "{what} of {rule}: {error:?}");
        };
        bounded("expand", expand(&series, far.0, far.1, caps).err());
        bounded("next_after", next_after(&series, far.0, caps).err());
        bounded("first", first(&series, caps).err());
        bounded("occurs_at", occurs_at(&series, "2026-05-01T00:00:00", caps).err());
    }
}

#[test]
fn an_interval_of_any_length_is_a_jump() {
    for (freq, seconds) in
        [("SECONDLY", 1), ("MINUTELY", 60), ("HOURLY", 3_600), ("DAILY", 86_400), ("WEEKLY", 7 * 86_400)]
    {
        for interval in [1_000_000_i64, 50_000_000, 4_294_967_295] {
            let rule = format!("RRULE:FREQ={freq};INTERVAL={interval}");
            let series = timed("UTC", "0001-01-01T09:00:00", &[&rule]);
            let begin = first(&series, Caps::default()).unwrap().unwrap().start.as_millis();
            let last = instant("9999-01-01T00:00:00Z").as_millis();
            let next = begin + interval * seconds * 1_000;
            let (from, to) = (Instant::from_millis(next - 5_000_000), Instant::from_millis(next + 5_000_000));
            let expected = if next < last { vec![next] } else { Vec::new() };
            let most = Caps { max_steps: 1_000, ..Caps::default() };
            let found = expand(&series, from, to, most).unwrap();
            let starts: Vec<i64> = found.iter().map(|occurrence| occurrence.start.as_millis()).collect();
            assert_eq!(starts, expected, "{rule}");
        }
    }
    for freq in ["MONTHLY", "YEARLY"] {
        let rule = format!("RRULE:FREQ={freq};INTERVAL=4294967295");
        let series = timed("UTC", "2026-03-02T09:00:00", &[&rule]);
        let range = (instant("2026-01-01T00:00:00Z"), instant("9999-01-01T00:00:00Z"));
        assert_eq!(expand(&series, range.0, range.1, Caps::default()).map(|all| all.len()), Ok(1), "{rule}");
    }
}

#[test]
fn a_rule_that_never_matches_has_only_its_start() {
    let series = timed("UTC", "2026-01-01T09:00:00", &["RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"]);
    assert_eq!(next_after(&series, instant("2026-01-01T09:00:00Z"), Caps::default()), Ok(None));
    for rule in [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11",
        "FREQ=SECONDLY;BYSETPOS=2",
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;COUNT=5",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5",
    ] {
        let series = timed("UTC", "2026-01-01T09:00:00", &[&format!("RRULE:{rule}")]);
        let fifty = (instant("2026-01-01T00:00:00Z"), instant("2076-01-01T00:00:00Z"));
        let found = |caps| expand(&series, fifty.0, fifty.1, caps);
        assert_eq!(found(Caps::default()).map(|all| all.len()), Ok(1), "{rule}");
        assert!(cost(found) < 25_000, "{rule} costs a step for each of 18,262 days: {}", cost(found));
    }
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
