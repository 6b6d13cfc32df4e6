//! Laws that hold for every series: cutting loses nothing, ranges add up, taking one out takes out one; and the library agrees with
//! a literal reading of RFC 5545.

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::Instant;
use proptest::prelude::*;
use recurrence::{
    Caps, Error, Length, Series, Start, capped_before, excluded, expand, next_after, occurs_at,
    remainder_from,
};

use crate::generator::{Case, Dice, case};
use crate::literal;
use crate::support::HOUR;

const CAPS: Caps = Caps { max_instances: 100_000, max_steps: 2_000_000 };

fn series_at(case: &Case, lines: &[String], local: jiff::civil::DateTime) -> Series {
    let start = if case.all_day {
        Start::AllDay { date: local.date(), zone: case.zone.into() }
    } else {
        Start::Timed { local, zone: case.zone.into() }
    };
    let length = if case.all_day { Length::Days(1) } else { Length::Exact(HOUR) };
    Series::new(&start, length, lines).expect("a readable series")
}

fn series(case: &Case, lines: &[String]) -> Series {
    series_at(case, lines, case.local)
}

/// The window that laws are looked at in: three years from just before the start.
fn window(case: &Case) -> (Instant, Instant) {
    let zone = recurrence::zone(case.zone).expect("a zone");
    let start = zone.to_ambiguous_timestamp(case.local).compatible().expect("an instant").as_millisecond();
    (Instant::from_millis(start - 2 * HOUR), Instant::from_millis(start + 3 * 365 * 24 * HOUR))
}

/// Original starts in the window, to compare sets by.
fn find_starts(series: &Series, (from, to): (Instant, Instant)) -> Vec<(String, i64)> {
    let all = expand(series, from, to, CAPS).expect("within the caps");
    all.into_iter().map(|o| (o.recurrence_id, o.start.as_millis())).collect()
}

fn starts(found: &[(String, i64)]) -> BTreeSet<i64> {
    found.iter().map(|(_, start)| *start).collect()
}

/// A case with added and excluded dates, some of them instances.
fn dressed(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let mut case = case(&mut dice);
    if case.all_day || dice.chance(50) {
        return case;
    }
    let plain = series(&case, &case.lines);
    let all = find_starts(&plain, window(&case));
    if dice.chance(70) {
        let (id, _) = dice.pick(&all).clone();
        case.lines.push(format!("EXDATE;TZID={}:{}", case.zone, id.replace(['-', ':'], "")));
    }
    if dice.chance(50) {
        let later = case.local.checked_add(jiff::Span::new().hours(dice.between(1, 9_000))).expect("a time");
        case.lines.push(format!("RDATE;TZID={}:{}", case.zone, later.strftime("%Y%m%dT%H%M%S")));
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_library_agrees_with_a_literal_reading_of_the_rfc(seed in any::<u64>()) {
        let case = case(&mut Dice::new(seed));
        let (from, to) = window(&case);
        let ours: Vec<Timestamp> = expand(&series(&case, &case.lines), from, to, CAPS).expect("within the caps")
            .iter().map(|o| o.start.timestamp()).collect();
        prop_assert_eq!(ours, literal::instances(&case, to.timestamp()), "{:?}", case);
    }

    #[test]
    fn ranges_add_up(seed in any::<u64>(), cut in 0.0..1.0_f64) {
        let case = dressed(seed);
        let series = series(&case, &case.lines);
        let (from, to) = window(&case);
        let middle = Instant::from_millis(from.as_millis() + ((to.as_millis() - from.as_millis()) as f64 * cut) as i64);
        let mut both = find_starts(&series, (from, middle));
        let second = find_starts(&series, (middle, to));
        // What runs across the cut is in both.
        both.extend(second.into_iter().filter(|(_, start)| *start >= middle.as_millis()));
        prop_assert_eq!(both, find_starts(&series, (from, to)), "{:?} cut at {}", case, middle);
    }

    #[test]
    fn a_cut_series_and_its_rest_are_the_series(seed in any::<u64>()) {
        let case = dressed(seed);
        let whole = series(&case, &case.lines);
        let window = window(&case);
        let all = find_starts(&whole, window);
        prop_assume!(!all.is_empty());
        let (id, start) = Dice::new(seed ^ 7).pick(&all).clone();
        let rest = match remainder_from(&whole, &id, CAPS) {
            Err(Error::Unsplittable(_)) => return Ok(()),
            rest => rest.expect("a rest"),
        };
        let before = capped_before(&whole, &id, CAPS).expect("a cut");
        let zone = recurrence::zone(case.zone).expect("a zone");
        let local = if case.all_day {
            id.parse::<jiff::civil::Date>().expect("a date").to_datetime(jiff::civil::Time::midnight())
        } else {
            zone.to_datetime(Instant::from_millis(start).timestamp())
        };
        let rest_series = series_at(&case, &rest, local);
        let head = before.as_ref().map(|lines| find_starts(&series(&case, lines), window)).unwrap_or_default();
        let tail = find_starts(&rest_series, window);
        let head_starts = starts(&head);
        prop_assert!(head_starts.iter().all(|s| *s < start), "{:?} at {}: {:?}", case, id, before);
        let mut union = head_starts;
        union.extend(starts(&tail));
        prop_assert_eq!(union, starts(&all), "{:?} at {}: {:?} and {:?}", case, id, before, rest);
    }

    #[test]
    fn taking_one_out_takes_out_exactly_one(seed in any::<u64>()) {
        let case = dressed(seed);
        let whole = series(&case, &case.lines);
        let window = window(&case);
        let mut all = find_starts(&whole, window);
        prop_assume!(!all.is_empty());
        let index = usize::try_from(Dice::new(seed ^ 9).between(0, all.len() as i64 - 1)).expect("an index");
        let (id, _) = all.remove(index);
        let lines = excluded(&whole, &id, CAPS).expect("lines");
        let less = series(&case, &lines);
        prop_assert_eq!(find_starts(&less, window), all, "{:?} without {}: {:?}", case, id, lines);
        prop_assert!(!occurs_at(&less, &id, CAPS).expect("an answer"));
        prop_assert_eq!(excluded(&less, &id, CAPS).expect("lines"), lines);
    }

    #[test]
    fn next_after_walks_the_instances_one_by_one(seed in any::<u64>()) {
        let case = dressed(seed);
        let series = series(&case, &case.lines);
        let all = find_starts(&series, window(&case));
        for pair in all.windows(2).take(20) {
            // All-day instances of a day that a zone skipped share their midnight.
            if pair[0].1 < pair[1].1 {
                let next = next_after(&series, Instant::from_millis(pair[0].1), CAPS).expect("an answer").expect("one more");
                prop_assert_eq!(next.start.as_millis(), pair[1].1, "{:?} after {}", case, pair[0].0);
            }
            prop_assert!(occurs_at(&series, &pair[0].0, CAPS).expect("an answer"), "{:?} at {}", case, pair[0].0);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(RRULE|RDATE|EXDATE|X)[;:=A-Z0-9,TZ/+-]{0,60}", noise in "\\PC{0,40}") {
        let start = Start::Timed { local: "2026-03-02T09:00:00".parse().expect("a time"), zone: "Europe/Berlin".into() };
        for lines in [vec![text.clone()], vec![noise.clone()], vec![format!("RRULE:FREQ=DAILY;{noise}")], vec![format!("EXDATE:{noise}")]] {
            let _ = recurrence::validate(&lines, false);
            if let Ok(series) = Series::new(&start, Length::Exact(0), &lines) {
                let _ = next_after(&series, Instant::from_millis(0), Caps::default());
            }
        }
        let _ = recurrence::parse_suffix(&noise);
        let _ = recurrence::zone(&noise);
    }
}
