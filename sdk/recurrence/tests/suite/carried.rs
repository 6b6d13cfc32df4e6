//! A series that is moved takes its excluded, added and changed instances along; those that it has no place for are reported.

use proptest::prelude::*;
use recurrence::{Caps, CarriedSeries, Series, carried};

use crate::support::{all_day, starts, timed};

const YEAR: (&str, &str) = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");

fn carry(before: &Series, after: &Series) -> CarriedSeries {
    carried(before, after, true, Caps::default()).unwrap()
}

/// A series of Berlin, moved to another local start: its new lines, and the dropped dates.
fn moved(from: &str, to: &str, lines: &[&str]) -> (Vec<String>, Vec<String>) {
    let all = carry(&timed("Europe/Berlin", from, lines), &timed("Europe/Berlin", to, lines));
    (all.lines, all.dropped)
}

#[test]
fn dates_move_with_the_time_of_day_however_they_are_spelled() {
    let (lines, dropped) = moved(
        "2026-12-01T10:00:00",
        "2026-12-01T10:30:00",
        &[
            "RRULE:FREQ=DAILY",
            "EXDATE;TZID=Europe/Berlin:20261203T100000,20261204T100000",
            "EXDATE:20261205T090000Z",
            "EXDATE:20261206T100000",
            "EXDATE;TZID=America/New_York:20261207T040000",
            "EXDATE;VALUE=DATE:20261208",
            "RDATE;TZID=Europe/Berlin:20261209T150000",
            "RDATE;VALUE=PERIOD:20261210T140000Z/PT2H",
            "RDATE;VALUE=DATE:20261111",
        ],
    );
    assert_eq!(
        lines,
        [
            "RRULE:FREQ=DAILY",
            "EXDATE;TZID=Europe/Berlin:20261203T103000,20261204T103000",
            "EXDATE:20261205T093000Z",
            "EXDATE:20261206T103000",
            "EXDATE;TZID=America/New_York:20261207T043000",
            "EXDATE:20261208T093000Z",
            "RDATE;TZID=Europe/Berlin:20261209T153000",
            "RDATE;VALUE=PERIOD:20261210T143000Z/PT7200S",
            "RDATE;VALUE=DATE:20261111",
        ]
    );
    assert_eq!(dropped, Vec::<String>::new());
}

#[test]
fn a_weekly_series_moves_from_tuesday_to_wednesday_with_the_weekdays_that_it_names() {
    for (rule, expected) in [
        ("RRULE:FREQ=WEEKLY", "RRULE:FREQ=WEEKLY"),
        ("RRULE:FREQ=WEEKLY;BYDAY=TU", "RRULE:FREQ=WEEKLY;BYDAY=WE"),
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH;X-A=1", "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=WE,FR;X-A=1"),
    ] {
        let lines = [rule, "EXDATE;TZID=Europe/Berlin:20261215T100000"];
        let (lines, dropped) = moved("2026-12-01T10:00:00", "2026-12-02T10:00:00", &lines);
        assert_eq!(lines, [expected, "EXDATE;TZID=Europe/Berlin:20261216T100000"]);
        assert!(dropped.is_empty(), "{dropped:?}");
    }
    let monthly = ["RRULE:FREQ=MONTHLY;BYMONTHDAY=1", "EXDATE;TZID=Europe/Berlin:20270101T100000"];
    let (lines, _) = moved("2026-12-01T10:00:00", "2026-12-03T11:00:00", &monthly);
    assert_eq!(lines, ["RRULE:FREQ=MONTHLY;BYMONTHDAY=3", "EXDATE;TZID=Europe/Berlin:20270103T110000"]);
}

#[test]
fn days_move_with_a_series_of_days() {
    let days = |first: &str, lines: &[&str]| all_day("Europe/Berlin", first, 1, lines);
    let lines = ["RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE;VALUE=DATE:20261215", "EXDATE:20261222T000000Z"];
    let all = carry(&days("2026-12-01", &lines), &days("2026-12-02", &lines));
    assert_eq!(
        all.lines,
        ["RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE;VALUE=DATE:20261216", "EXDATE;VALUE=DATE:20261223"]
    );
    assert_eq!(all.new_id("2026-12-08").as_deref(), Some("2026-12-09"));
}

#[test]
fn the_last_instance_is_not_cut_off_by_the_end_of_the_rule() {
    let (lines, _) =
        moved("2026-12-01T10:00:00", "2026-12-01T10:30:00", &["RRULE:FREQ=DAILY;UNTIL=20261210T090000Z"]);
    assert_eq!(lines, ["RRULE:FREQ=DAILY;UNTIL=20261210T093000Z"]);
    // One that cuts nothing off and adds nothing stays.
    let generous = "RRULE:FREQ=DAILY;UNTIL=20261210T225959Z";
    assert_eq!(moved("2026-12-01T10:00:00", "2026-12-01T10:30:00", &[generous]).0, [generous]);
}

#[test]
fn a_series_in_another_zone_keeps_its_holes() {
    let lines = ["RRULE:FREQ=DAILY", "EXDATE;TZID=Europe/Berlin:20261203T100000", "EXDATE:20261204T100000"];
    let before = timed("Europe/Berlin", "2026-12-01T10:00:00", &lines);
    let all = carry(&before, &timed("America/New_York", "2026-12-01T10:00:00", &lines));
    let lines: Vec<&str> = all.lines.iter().map(String::as_str).collect();
    let after = timed("America/New_York", "2026-12-01T10:00:00", &lines);
    let found = starts(&after, "2026-12-01T00:00:00Z", "2026-12-06T00:00:00Z");
    assert_eq!(found, ["2026-12-01T15:00:00Z", "2026-12-02T15:00:00Z", "2026-12-05T15:00:00Z"]);
    assert!(all.renames() && all.shift() == 0);
}

/// The first of each month at two in Berlin is the evening before in New York: no rule of there says so, and dates without a zone are
/// rewritten, with the same meaning.
#[test]
fn a_date_without_a_zone_keeps_its_instant_in_another_zone() {
    let lines = [
        "RRULE:FREQ=MONTHLY;BYMONTHDAY=1",
        "EXDATE:20261201T020000,20270101T020000",
        "RDATE:20261215T100000",
        "RDATE;VALUE=PERIOD:20261216T100000/PT2H",
        "RDATE;TZID=Europe/Berlin:20261217T100000",
    ];
    let before = timed("Europe/Berlin", "2026-12-01T02:00:00", &lines);
    let all = carry(&before, &timed("America/New_York", "2026-11-30T20:00:00", &lines));
    let expected = [
        lines[0],
        "EXDATE:20261130T200000",
        "RDATE:20261215T040000",
        "RDATE;VALUE=PERIOD:20261216T040000/PT7200S",
        lines[4],
    ];
    assert_eq!(all.lines, expected);
    assert_eq!(all.dropped, ["2027-01-01T02:00:00"]);
}

/// A date that the caller writes without a zone is on the clock of the new series.
#[test]
fn an_exclusion_without_a_zone_that_excludes_something_now_stays() {
    let hole = "EXDATE:20261203T100000";
    let before = timed("Europe/Berlin", "2026-12-01T10:00:00", &["RRULE:FREQ=DAILY", hole]);
    let lines = ["RRULE:FREQ=WEEKLY;BYDAY=WE,TH", hole];
    let after = timed("America/New_York", "2026-12-02T10:00:00", &lines);
    let all = carried(&before, &after, false, Caps::default()).unwrap();
    assert_eq!((all.lines, all.dropped), (lines.map(str::to_owned).to_vec(), Vec::new()));
}

#[test]
fn what_still_has_its_original_start_stays() {
    let lines = ["RRULE:FREQ=DAILY", "EXDATE;TZID=Europe/Berlin:20261207T100000"];
    assert_eq!(moved("2026-12-01T10:00:00", "2026-12-05T10:00:00", &lines).0, lines);
    let later = carry(
        &timed("Europe/Berlin", "2026-12-01T10:00:00", &lines),
        &timed("Europe/Berlin", "2026-12-05T10:00:00", &lines),
    );
    assert_eq!(later.new_id("2026-12-08T10:00:00").as_deref(), Some("2026-12-08T10:00:00"));
    assert_eq!(later.new_id("2026-12-02T10:00:00"), None);
}

#[test]
fn what_has_no_place_is_told() {
    let before = timed(
        "Europe/Berlin",
        "2026-12-01T10:00:00",
        &["RRULE:FREQ=DAILY", "EXDATE;TZID=Europe/Berlin:20261203T100000"],
    );
    let lines = ["RRULE:FREQ=MONTHLY", "EXDATE;TZID=Europe/Berlin:20261203T100000"];
    let after = timed("Europe/Berlin", "2026-12-01T11:00:00", &lines);
    let all = carried(&before, &after, false, Caps::default()).unwrap();
    assert_eq!((all.lines, all.dropped), (vec![lines[0].to_owned()], vec!["2026-12-03T10:00:00".to_owned()]));
    assert_eq!(carried(&before, &after, false, Caps::default()).unwrap().new_id("2026-12-05T10:00:00"), None);
}

#[test]
fn what_the_caller_writes_is_not_moved_but_for_exclusions_that_were_there() {
    let before = timed(
        "Europe/Berlin",
        "2026-12-01T10:00:00",
        &["RRULE:FREQ=WEEKLY;BYDAY=TU", "EXDATE;TZID=Europe/Berlin:20261215T100000"],
    );
    let lines = [
        "RRULE:FREQ=WEEKLY;BYDAY=WE",
        "EXDATE;TZID=Europe/Berlin:20261215T100000,20261223T100000",
        "RDATE;TZID=Europe/Berlin:20261218T090000",
    ];
    let after = timed("Europe/Berlin", "2026-12-02T10:00:00", &lines);
    let all = carried(&before, &after, false, Caps::default()).unwrap();
    assert_eq!(all.lines, [lines[0], "EXDATE;TZID=Europe/Berlin:20261216T100000,20261223T100000", lines[2]]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A series without changes of clocks, moved: each instance is where it was and so much later, none comes or goes.
    #[test]
    fn a_moved_series_is_the_series_moved(
        rule in prop::sample::select(vec![
            "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=TU,FR",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "FREQ=DAILY;COUNT=40", "FREQ=WEEKLY;UNTIL=20260901T100000Z",
            "FREQ=DAILY;UNTIL=20260401T093000Z", "FREQ=DAILY;BYHOUR=9;BYMINUTE=30",
        ]),
        minutes in -700i64..700,
        days in prop::sample::select(vec![0i64, 0, 1, 2, -1]),
        out in prop::collection::vec(0i64..60, 0..6),
        added in prop::collection::vec(0i64..200_000, 0..4),
    ) {
        let start: jiff::civil::DateTime = "2026-03-03T09:30:00".parse().unwrap();
        let at = |minutes: i64| start.checked_add(jiff::SignedDuration::from_mins(minutes)).unwrap();
        let basic = |at: jiff::civil::DateTime| at.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut lines = vec![format!("RRULE:{rule}")];
        lines.extend(out.iter().map(|day| format!("EXDATE:{}", basic(at(day * 1440)))));
        lines.extend(added.iter().map(|minutes| format!("RDATE:{}", basic(at(*minutes)))));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let by = days * 1440 + minutes;
        let before = timed("UTC", &start.to_string(), &lines);
        let after = timed("UTC", &at(by).to_string(), &lines);
        let all = carry(&before, &after);
        prop_assert!(all.dropped.is_empty());
        let lines: Vec<&str> = all.lines.iter().map(String::as_str).collect();
        let after = timed("UTC", &at(by).to_string(), &lines);
        let wide = ("2026-01-01T00:00:00Z", "2027-06-01T00:00:00Z");
        let until = |found: Vec<String>, by: i64| -> Vec<jiff::Timestamp> {
            let by = jiff::SignedDuration::from_mins(by);
            let all = found.iter().map(|at| at.parse::<jiff::Timestamp>().unwrap().checked_add(by).unwrap());
            all.take(40).collect()
        };
        // Where the old starts are still starts, nothing moves but the beginning.
        if all.shift() != 0 {
            prop_assert_eq!(all.shift(), by * 60);
            prop_assert_eq!(until(starts(&before, wide.0, wide.1), by), until(starts(&after, wide.0, wide.1), 0));
        } else if by != 0 {
            let shared = |found: Vec<String>| -> Vec<String> {
                let from = at(by.max(0)).to_string();
                found.into_iter().filter(|start| *start >= from).collect()
            };
            if !rule.contains("COUNT") {
                prop_assert_eq!(shared(starts(&before, YEAR.0, YEAR.1)), shared(starts(&after, YEAR.0, YEAR.1)));
            }
        }
    }
}
