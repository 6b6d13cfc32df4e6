//! Edits: a series cut before an instance, the rest as a series of its own, one instance taken out.

use recurrence::{Caps, Error, capped_before, excluded, remainder_from};

use crate::support::{all_day, timed};

fn capped(lines: &[&str], id: &str) -> Option<Vec<String>> {
    capped_before(&timed("Europe/Berlin", "2026-03-02T09:00:00", lines), id, Caps::default()).unwrap()
}

fn rest(lines: &[&str], id: &str) -> Result<Vec<String>, Error> {
    remainder_from(&timed("Europe/Berlin", "2026-03-02T09:00:00", lines), id, Caps::default())
}

#[test]
fn cutting_puts_until_just_before_the_instance() {
    let lines = capped(&["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;X-NOTE=kept"], "2026-04-06T09:00:00").unwrap();
    assert_eq!(lines, ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;X-NOTE=kept;UNTIL=20260406T065959Z"]);
    let counted = capped(&["RRULE:FREQ=DAILY;COUNT=10;INTERVAL=2"], "2026-03-06T09:00:00").unwrap();
    assert_eq!(counted, ["RRULE:FREQ=DAILY;UNTIL=20260306T075959Z;INTERVAL=2"]);
    // An end that lies before the cut stays.
    let ended = "RRULE:FREQ=DAILY;UNTIL=20260310T000000Z";
    assert_eq!(capped(&[ended], "2026-04-06T09:00:00").unwrap(), [ended]);
}

#[test]
fn cutting_keeps_the_dates_before_and_drops_the_others() {
    let lines = capped(
        &[
            "RRULE:FREQ=WEEKLY",
            "RDATE:20260303T080000Z,20260501T080000Z",
            "EXDATE;TZID=Europe/Berlin:20260309T090000",
            "EXDATE:20260601T070000Z",
        ],
        "2026-04-06T09:00:00",
    );
    assert_eq!(
        lines.unwrap(),
        [
            "RRULE:FREQ=WEEKLY;UNTIL=20260406T065959Z",
            "RDATE:20260303T080000Z",
            "EXDATE;TZID=Europe/Berlin:20260309T090000"
        ]
    );
}

#[test]
fn a_day_taken_out_of_a_timed_series_stays_out_on_both_sides_of_a_cut() {
    let lines = ["RRULE:FREQ=HOURLY;INTERVAL=6", "EXDATE;VALUE=DATE:20260304,20260306"];
    let before = capped(&lines, "2026-03-04T21:00:00").unwrap();
    assert_eq!(before[1], "EXDATE;VALUE=DATE:20260304");
    assert_eq!(rest(&lines, "2026-03-05T03:00:00").unwrap()[1], "EXDATE;VALUE=DATE:20260306");
}

#[test]
fn nothing_remains_before_the_first_instance() {
    assert_eq!(capped(&["RRULE:FREQ=DAILY"], "2026-03-02T09:00:00"), None);
    // Nor where all that came before was taken out.
    assert_eq!(capped(&["RRULE:FREQ=DAILY", "EXDATE:20260302T080000Z"], "2026-03-03T09:00:00"), None);
}

#[test]
fn all_day_series_are_cut_at_the_day_before() {
    let series = all_day(
        "Europe/Berlin",
        "2026-03-02",
        1,
        &["RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20260303,20260320"],
    );
    let lines = capped_before(&series, "2026-03-10", Caps::default()).unwrap().unwrap();
    assert_eq!(lines, ["RRULE:FREQ=DAILY;UNTIL=20260309", "EXDATE;VALUE=DATE:20260303"]);
    assert_eq!(
        remainder_from(&series, "2026-03-10", Caps::default()).unwrap(),
        ["RRULE:FREQ=DAILY", "EXDATE;VALUE=DATE:20260320"]
    );
}

#[test]
fn the_rest_has_what_is_left_of_the_count() {
    let lines = rest(
        &["RRULE:FREQ=DAILY;COUNT=10", "EXDATE:20260303T080000Z,20260310T080000Z"],
        "2026-03-07T09:00:00",
    )
    .unwrap();
    assert_eq!(lines, ["RRULE:FREQ=DAILY;COUNT=5", "EXDATE:20260310T080000Z"]);
    assert_eq!(
        rest(&["RRULE:FREQ=DAILY;UNTIL=20260320T080000Z"], "2026-03-07T09:00:00").unwrap(),
        ["RRULE:FREQ=DAILY;UNTIL=20260320T080000Z"]
    );
}

#[test]
fn the_rest_after_an_instance_in_a_gap_keeps_the_ruless_time_of_day() {
    let series = timed("Europe/Berlin", "2026-03-28T02:30:00", &["RRULE:FREQ=DAILY"]);
    // The new series starts at 03:30, where the instance of the 29th really is; the following ones are at 02:30 again.
    let lines = remainder_from(&series, "2026-03-29T02:30:00", Caps::default()).unwrap();
    assert_eq!(lines, ["RRULE:FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0"]);
}

#[test]
fn an_added_date_starts_the_rest_only_where_one_rule_can_say_it() {
    let lines =
        rest(&["RRULE:FREQ=WEEKLY;COUNT=4", "RDATE:20260312T130000Z"], "2026-03-12T14:00:00").unwrap();
    assert_eq!(lines, ["RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0"]);
    let every_second =
        rest(&["RRULE:FREQ=WEEKLY;INTERVAL=2", "RDATE:20260312T130000Z"], "2026-03-12T14:00:00");
    assert_eq!(every_second, Err(Error::Unsplittable("2026-03-12T14:00:00".into())));
    assert_eq!(
        rest(&["RRULE:FREQ=WEEKLY"], "2026-03-12T14:00:00"),
        Err(Error::NoSuchInstance("2026-03-12T14:00:00".into()))
    );
}

#[test]
fn an_instance_is_taken_out_in_the_series_zone() {
    let series = timed("Europe/Berlin", "2026-03-02T09:00:00", &["RRULE:FREQ=DAILY"]);
    let once = excluded(&series, "2026-03-05T09:00:00", Caps::default()).unwrap();
    assert_eq!(once, ["RRULE:FREQ=DAILY", "EXDATE;TZID=Europe/Berlin:20260305T090000"]);
    let lines: Vec<&str> = once.iter().map(String::as_str).collect();
    let again = timed("Europe/Berlin", "2026-03-02T09:00:00", &lines);
    assert_eq!(excluded(&again, "2026-03-05T09:00:00", Caps::default()).unwrap(), once);
    let twice = excluded(&again, "2026-03-06T09:00:00", Caps::default()).unwrap();
    assert_eq!(twice[1], "EXDATE;TZID=Europe/Berlin:20260305T090000,20260306T090000");
    let days = all_day("UTC", "2026-03-02", 1, &["RRULE:FREQ=DAILY"]);
    assert_eq!(excluded(&days, "2026-03-05", Caps::default()).unwrap()[1], "EXDATE;VALUE=DATE:20260305");
}
