//! Instances are computed when they are taken, from the range on: instances that are not taken cost nothing, measured by the step counter.

use model::calendar::{Event, EventType};
use proptest::prelude::*;
use recurrence::{
    Caps, Error, Instances, Length, Occurrence, Occurrences, Series, Source, Start, expand, possible_span,
};

use crate::generator::{Dice, ZONES};
use crate::support::{instant, owned, starts, timed};

const SECOND: i64 = 1_000;

/// Moments in a zone, so that only what starts in a range is in it.
fn moments(zone: &str, local: &str, lines: &[&str]) -> Series {
    let start = Start::Timed { local: local.parse().unwrap(), zone: zone.into() };
    Series::new(&start, Length::Exact(0), &owned(lines)).unwrap()
}

fn taken(series: &Series, (from, to): (&str, &str), count: usize, max_steps: u32) -> Vec<Occurrence> {
    let all = Occurrences::overlapping(series, instant(from), instant(to), max_steps);
    all.take(count).map(|occurrence| occurrence.expect("within the steps")).collect()
}

#[test]
fn every_second_of_ten_minutes_is_six_hundred_instances() {
    // Seconds are looked at by the hour, and those that a gap swallows are looked at in vain.
    let caps = Caps { max_instances: 600, max_steps: 15_000 };
    for (from, to) in [
        ("2026-06-01T11:00:00Z", "2026-06-01T11:10:00Z"),
        ("2026-06-01T23:55:00Z", "2026-06-02T00:05:00Z"),
        // Around the changes of the clocks in Berlin, and in the year 9000.
        ("2026-03-29T00:55:00Z", "2026-03-29T01:05:00Z"),
        ("9000-06-01T11:00:00Z", "9000-06-01T11:10:00Z"),
    ] {
        let series = moments("Europe/Berlin", "2006-01-01T09:00:00", &["RRULE:FREQ=SECONDLY"]);
        assert_eq!(expand(&series, instant(from), instant(to), caps).map(|all| all.len()), Ok(600), "{from}");
    }
    // Of a doubled hour the first counts.
    let series = moments("Europe/Berlin", "2006-01-01T09:00:00", &["RRULE:FREQ=SECONDLY"]);
    assert_eq!(starts(&series, "2026-10-25T01:05:00Z", "2026-10-25T01:15:00Z").len(), 0);
    assert_eq!(starts(&series, "2026-10-25T00:55:00Z", "2026-10-25T01:05:00Z").len(), 300);
}

#[test]
fn a_page_of_a_long_range_costs_a_page() {
    let year = ("2026-01-01T00:00:00Z", "2027-02-05T00:00:00Z");
    for rule in ["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"] {
        let series = moments("America/New_York", "2006-01-01T09:00:00", &[&format!("RRULE:FREQ={rule}")]);
        let page = taken(&series, year, 50, 8_000);
        assert_eq!(page, taken(&series, year, 1_000, 400_000)[..page.len()], "{rule}");
    }
    let series = moments("UTC", "2006-01-01T09:00:00", &["RRULE:FREQ=DAILY"]);
    assert_eq!(
        taken(&series, ("2030-01-01T00:00:00Z", "2080-01-01T00:00:00Z"), 100_000, 250_000).len(),
        18_262
    );
}

#[test]
fn a_count_of_even_instances_is_not_walked() {
    // 1990-01-01T00:00:00Z and a second less than a billion of seconds.
    let series = moments("UTC", "1990-01-01T00:00:00", &["RRULE:FREQ=SECONDLY;COUNT=1000000000"]);
    let found = taken(&series, ("2021-09-09T01:46:30Z", "2021-09-10T00:00:00Z"), 100, 5_000);
    assert_eq!(found.len(), 10);
    assert_eq!(found[9].recurrence_id, "2021-09-09T01:46:39");
    let range = ("2026-03-29T00:00:00Z", "2026-03-29T07:00:00Z");
    let rule = "RRULE:FREQ=MINUTELY;INTERVAL=7";
    let endless = moments("Europe/Berlin", "1990-01-01T00:00:00", &[rule]);
    let counted = moments("Europe/Berlin", "1990-01-01T00:00:00", &[&format!("{rule};COUNT=4000000000")]);
    assert_eq!(taken(&counted, range, 100, 5_000), taken(&endless, range, 100, 5_000));
}

#[test]
fn an_error_comes_where_the_steps_are_spent_and_ends_it() {
    let series = moments("UTC", "2026-01-01T00:00:00", &["RRULE:FREQ=SECONDLY"]);
    let range = (instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z"));
    let all: Vec<Result<Occurrence, Error>> =
        Occurrences::overlapping(&series, range.0, range.1, 10_000).collect();
    assert_eq!(all.last(), Some(&Err(Error::TooExpensive(10_000))));
    let found = all.iter().filter(|occurrence| occurrence.is_ok()).count();
    assert_eq!(found, all.len() - 1);
    assert!((3_000..10_000).contains(&found), "{found}");
}

#[test]
fn exceptions_come_in_their_order_and_after_an_error() {
    let series = Event {
        event_type: EventType::Series,
        start: instant("2026-01-01T09:00:00Z"),
        end: instant("2026-01-01T09:00:01Z"),
        time_zone: "UTC".into(),
        recurrence: owned(&["RRULE:FREQ=SECONDLY"]),
        ..Event::default()
    };
    let moved = Event {
        event_type: EventType::Exception,
        recurrence_id: Some("2026-01-01T09:00:02".into()),
        start: instant("2026-01-20T09:00:00Z"),
        end: instant("2026-01-20T10:00:00Z"),
        time_zone: "UTC".into(),
        ..Event::default()
    };
    let rules = Series::parse(&series).unwrap();
    let changed = [moved];
    let range = (instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z"));
    let all: Vec<_> = Instances::overlapping((&series, &rules), &changed, range, 9_000).collect();
    let second = all[2].as_ref().unwrap();
    assert_eq!(second.suffix, "20260101T090003Z", "the third is the exception");
    let errors: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_err()).collect();
    assert_eq!(errors, [all.len() - 2]);
    assert_eq!(all.last().unwrap().as_ref().unwrap().source, Source::Exception(0));
    let started = Instances::starting((&series, &rules), &changed, (range.0, range.1), 9_000);
    assert_eq!(started.count(), all.len());
}

#[test]
fn the_time_that_a_series_may_take_is_told_without_expanding_it() {
    let span = |lines: &[&str]| {
        let event = Event {
            start: instant("2026-03-02T09:00:00Z"),
            end: instant("2026-03-02T10:00:00Z"),
            time_zone: "Mars/Olympus".into(),
            recurrence: owned(lines),
            ..Event::default()
        };
        possible_span(&event).end.map(|end| end.to_string().replace(".000", ""))
    };
    let ends = |text: &str| Some(text.to_owned());
    assert_eq!(span(&["RRULE:RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L"]), None);
    assert_eq!(span(&["RRULE:FREQ=DAILY;COUNT=3"]), None, "what a count is worth only an expansion knows");
    let until = "RRULE:RSCALE=HEBREW;FREQ=YEARLY;UNTIL=20280101T000000Z";
    assert_eq!(span(&[until]), ends("2028-01-01T01:00:00Z"));
    assert_eq!(span(&[until, "EXDATE:20270101T000000Z"]), ends("2028-01-01T01:00:00Z"));
    assert_eq!(span(&[until, "RRULE:FREQ=DAILY"]), None);
    assert_eq!(span(&[until, "RDATE:20290101T000000Z,sometime"]), ends("2029-01-01T01:00:00Z"));
    assert_eq!(span(&["RRULE:FREQ=DAILY;FREQ=WEEKLY;UNTIL=20280101"]), ends("2028-01-03T01:00:00Z"));
    assert_eq!(span(&["RRULE:FREQ=DAILY;UNTIL=20280101;UNTIL=20290101"]), None);
    assert_eq!(span(&["RRULE:FREQ=DAILY;UNTIL=tomorrow"]), None);
    assert_eq!(span(&["RRULE FREQ=DAILY"]), None);
    let within = possible_span(&Event { start: instant("2026-03-02T09:00:00Z"), ..Event::default() })
        .within(instant("2026-01-01T00:00:00Z"), instant("2026-04-01T00:00:00Z"));
    assert_eq!(within, None, "a single moment without lines");
}

#[test]
fn no_instance_ends_after_the_time_that_its_series_may_take() {
    for zone in ["Pacific/Honolulu", "UTC", "Pacific/Kiritimati"] {
        for all_day in [true, false] {
            for until in ["20260310", "20260310T235959Z", "20260310T235959", "20260310T000000Z"] {
                let event = Event {
                    all_day,
                    start: instant("2026-03-02T10:00:00Z"),
                    end: instant("2026-03-03T10:00:00Z"),
                    start_date: Some("2026-03-02".into()),
                    end_date: Some("2026-03-03".into()),
                    time_zone: zone.into(),
                    recurrence: owned(&[
                        &format!("RRULE:FREQ=DAILY;UNTIL={until}"),
                        "RDATE:20260301T000000Z",
                    ]),
                    ..Event::default()
                };
                let (from, to) = (instant("2026-01-01T00:00:00Z"), instant("2027-01-01T00:00:00Z"));
                let found = recurrence::instances(&event, &[], from, to, Caps::default()).unwrap();
                let last = found.iter().map(|instance| instance.event.end).max();
                assert!(last <= possible_span(&event).end, "{zone} {until}: {last:?}");
            }
        }
    }
}

/// A rule of a short period, most with a COUNT, and a window anywhere in its first weeks.
fn short(dice: &mut Dice) -> (Series, String, (i64, i64)) {
    let zone = *dice.pick(&ZONES);
    let days = ["2026-03-28", "2026-10-24", "2018-11-03", "2011-12-28", "2026-04-04", "2026-06-01"];
    let local =
        format!("{}T{:02}:{:02}:{:02}", dice.pick(&days), dice.between(0, 23), dice.between(0, 59), 7);
    let (freq, most) = *dice.pick(&[("HOURLY", 9), ("MINUTELY", 600), ("SECONDLY", 30_000)]);
    let mut rule = format!("RRULE:FREQ={freq};INTERVAL={}", dice.between(most / 9 + 1, most));
    if dice.chance(70) {
        rule.push_str(&format!(";COUNT={}", dice.between(1, 400)));
    }
    if dice.chance(20) {
        rule.push_str(&format!(";BYSECOND={}", dice.between(0, 59)));
    }
    if dice.chance(15) {
        rule.push_str(&format!(";BYMINUTE={}", dice.between(0, 59)));
    }
    if dice.chance(15) {
        rule.push_str(&format!(";BYHOUR={},{}", dice.between(0, 11), dice.between(12, 23)));
    }
    if dice.chance(15) {
        rule.push_str(";BYDAY=SA,SU,TU");
    }
    let series = timed(zone, &local, &[&rule]);
    let from = dice.between(-2 * 86_400, 20 * 86_400) * SECOND;
    (series, format!("{zone} {local} {rule}"), (from, from + dice.between(1, 3 * 86_400) * SECOND))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_window_of_a_short_period_is_a_filter_of_the_whole(seed in any::<u64>()) {
        let (series, text, (from, to)) = short(&mut Dice::new(seed));
        let most = Caps { max_instances: 1_000_000, max_steps: 20_000_000 };
        let begin = recurrence::first(&series, most).unwrap().unwrap().start.as_millis();
        let at = |ms: i64| model::Instant::from_millis(begin + ms);
        let whole = expand(&series, at(-SECOND), at(40 * 86_400 * SECOND), most).unwrap();
        let (from, to) = (at(from), at(to));
        let filtered: Vec<_> = whole.iter().filter(|o| o.start < to && (o.end > from || o.start >= from)).collect();
        let found = expand(&series, from, to, most).unwrap();
        prop_assert_eq!(found.iter().collect::<Vec<_>>(), filtered, "{}", text);
        let started: Vec<_> = Occurrences::starting(&series, from, to, most.max_steps).map(Result::unwrap).collect();
        let filtered: Vec<_> = whole.into_iter().filter(|o| o.start < to && o.start >= from).collect();
        prop_assert_eq!(started, filtered, "{}", text);
    }

    #[test]
    fn the_first_of_many_are_the_first_of_all(seed in any::<u64>(), count in 1_usize..40) {
        let (series, text, (from, _)) = short(&mut Dice::new(seed));
        let begin = recurrence::first(&series, Caps::default()).unwrap().unwrap().start.as_millis();
        let (from, to) = (model::Instant::from_millis(begin + from), model::Instant::from_millis(begin + 30 * 86_400 * SECOND));
        let all = expand(&series, from, to, Caps { max_instances: 1_000_000, max_steps: 20_000_000 }).unwrap();
        let few: Vec<_> = Occurrences::overlapping(&series, from, to, 20_000_000).take(count).map(Result::unwrap).collect();
        prop_assert_eq!(&few[..], &all[..few.len()], "{}", text);
        prop_assert_eq!(few.len(), count.min(all.len()));
    }
}
