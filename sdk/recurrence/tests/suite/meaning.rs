//! The meaning of a series: RFC 5545's own examples, clocks that change, and the choices that the crate's documentation names.

use recurrence::{Caps, Length, Series, Start, first, next_after, occurs_at};

use crate::support::{HOUR, all_day, between, ids, instant, owned, starts, timed};

const EVER: (&str, &str) = ("1990-01-01T00:00:00Z", "2100-01-01T00:00:00Z");

/// The examples of RFC 5545 §3.8.5.3 that fit into a line: start, rule, the days (month-day, hour where it is not 9) it lists.
#[test]
fn the_rfcs_examples() {
    let newyork = "America/New_York";
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "1997-09-02",
            "FREQ=DAILY;INTERVAL=10;COUNT=5",
            &["1997-09-02", "1997-09-12", "1997-09-22", "1997-10-02", "1997-10-12"],
        ),
        (
            "1997-09-02",
            "FREQ=WEEKLY;COUNT=10",
            &[
                "1997-09-02",
                "1997-09-09",
                "1997-09-16",
                "1997-09-23",
                "1997-09-30",
                "1997-10-07",
                "1997-10-14",
                "1997-10-21",
                "1997-10-28",
                "1997-11-04",
            ],
        ),
        (
            "1997-09-02",
            "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
            &[
                "1997-09-02",
                "1997-09-04",
                "1997-09-09",
                "1997-09-11",
                "1997-09-16",
                "1997-09-18",
                "1997-09-23",
                "1997-09-25",
                "1997-09-30",
                "1997-10-02",
            ],
        ),
        (
            "1997-09-02",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
            &[
                "1997-09-02",
                "1997-09-04",
                "1997-09-16",
                "1997-09-18",
                "1997-09-30",
                "1997-10-02",
                "1997-10-14",
                "1997-10-16",
            ],
        ),
        (
            "1997-09-05",
            "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
            &[
                "1997-09-05",
                "1997-10-03",
                "1997-11-07",
                "1997-12-05",
                "1998-01-02",
                "1998-02-06",
                "1998-03-06",
                "1998-04-03",
                "1998-05-01",
                "1998-06-05",
            ],
        ),
        (
            "1997-09-07",
            "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
            &[
                "1997-09-07",
                "1997-09-28",
                "1997-11-02",
                "1997-11-30",
                "1998-01-04",
                "1998-01-25",
                "1998-03-01",
                "1998-03-29",
                "1998-05-03",
                "1998-05-31",
            ],
        ),
        (
            "1997-09-22",
            "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
            &["1997-09-22", "1997-10-20", "1997-11-17", "1997-12-22", "1998-01-19", "1998-02-16"],
        ),
        (
            "1997-09-30",
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
            &[
                "1997-09-30",
                "1997-10-01",
                "1997-10-31",
                "1997-11-01",
                "1997-11-30",
                "1997-12-01",
                "1997-12-31",
                "1998-01-01",
                "1998-01-31",
                "1998-02-01",
            ],
        ),
        (
            "1997-09-10",
            "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
            &[
                "1997-09-10",
                "1997-09-11",
                "1997-09-12",
                "1997-09-13",
                "1997-09-14",
                "1997-09-15",
                "1999-03-10",
                "1999-03-11",
                "1999-03-12",
                "1999-03-13",
            ],
        ),
        (
            "1997-06-10",
            "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
            &[
                "1997-06-10",
                "1997-07-10",
                "1998-06-10",
                "1998-07-10",
                "1999-06-10",
                "1999-07-10",
                "2000-06-10",
                "2000-07-10",
                "2001-06-10",
                "2001-07-10",
            ],
        ),
        (
            "1997-03-10",
            "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
            &[
                "1997-03-10",
                "1999-01-10",
                "1999-02-10",
                "1999-03-10",
                "2001-01-10",
                "2001-02-10",
                "2001-03-10",
                "2003-01-10",
                "2003-02-10",
                "2003-03-10",
            ],
        ),
        (
            "1997-01-01",
            "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
            &[
                "1997-01-01",
                "1997-04-10",
                "1997-07-19",
                "2000-01-01",
                "2000-04-09",
                "2000-07-18",
                "2003-01-01",
                "2003-04-10",
                "2003-07-19",
                "2006-01-01",
            ],
        ),
        ("1997-05-19", "FREQ=YEARLY;BYDAY=20MO;COUNT=3", &["1997-05-19", "1998-05-18", "1999-05-17"]),
        (
            "1997-05-12",
            "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3",
            &["1997-05-12", "1998-05-11", "1999-05-17"],
        ),
        (
            "1996-11-05",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3",
            &["1996-11-05", "2000-11-07", "2004-11-02"],
        ),
        (
            "1997-09-04",
            "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
            &["1997-09-04", "1997-10-07", "1997-11-06"],
        ),
        (
            "1997-08-05",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            &["1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"],
        ),
        (
            "1997-08-05",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            &["1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"],
        ),
        (
            "2007-01-15",
            "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
            &["2007-01-15", "2007-01-30", "2007-02-15", "2007-03-15", "2007-03-30"],
        ),
    ];
    for (day, rule, expected) in cases {
        let series = timed(newyork, &format!("{day}T09:00:00"), &[&format!("RRULE:{rule}")]);
        let expected: Vec<String> = expected.iter().map(|day| format!("{day}T09:00:00")).collect();
        assert_eq!(ids(&series, EVER.0, EVER.1), expected, "{rule}");
    }
}

#[test]
fn friday_the_thirteenth_leaves_its_start_in_as_the_first_instance() {
    // RFC 5545 prints this with an EXDATE of the start, which does not match the rule but is an instance.
    let series = timed(
        "America/New_York",
        "1997-09-02T09:00:00",
        &["EXDATE;TZID=America/New_York:19970902T090000", "RRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"],
    );
    let days = [
        "1998-02-13T09:00:00",
        "1998-03-13T09:00:00",
        "1998-11-13T09:00:00",
        "1999-08-13T09:00:00",
        "2000-10-13T09:00:00",
    ];
    assert_eq!(ids(&series, "1997-01-01T00:00:00Z", "2001-01-01T00:00:00Z"), days);
}

#[test]
fn a_start_that_the_rule_does_not_generate_is_the_first_instance_and_counts() {
    let series = timed("Europe/Berlin", "2026-01-05T09:00:00", &["RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=3"]);
    assert_eq!(
        ids(&series, EVER.0, EVER.1),
        ["2026-01-05T09:00:00", "2026-01-06T09:00:00", "2026-01-13T09:00:00"]
    );
}

#[test]
fn the_local_time_stays_when_the_clocks_change() {
    let series = timed("Europe/Berlin", "2026-03-27T09:00:00", &["RRULE:FREQ=DAILY;COUNT=4"]);
    let expected =
        ["2026-03-27T08:00:00Z", "2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"];
    assert_eq!(starts(&series, EVER.0, EVER.1), expected);
}

#[test]
fn a_daily_instance_in_a_gap_moves_forward_and_keeps_its_name() {
    let series = timed("Europe/Berlin", "2026-03-28T02:30:00", &["RRULE:FREQ=DAILY;COUNT=3"]);
    // 02:30 does not exist on the 29th; with the offset before the gap it is 01:30Z, shown as 03:30.
    assert_eq!(
        starts(&series, EVER.0, EVER.1),
        ["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"]
    );
    assert_eq!(ids(&series, EVER.0, EVER.1)[1], "2026-03-29T02:30:00");
}

#[test]
fn an_hourly_instance_in_a_gap_is_ignored_and_not_counted() {
    let series = timed("Europe/London", "2026-03-29T00:00:00", &["RRULE:FREQ=HOURLY;COUNT=4"]);
    let expected =
        ["2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T03:00:00Z"];
    assert_eq!(starts(&series, EVER.0, EVER.1), expected);
    assert_eq!(ids(&series, EVER.0, EVER.1)[1], "2026-03-29T02:00:00");
}

#[test]
fn a_doubled_local_time_happens_once_the_first_time() {
    let daily = timed("Europe/Berlin", "2026-10-24T02:30:00", &["RRULE:FREQ=DAILY;COUNT=3"]);
    assert_eq!(
        starts(&daily, EVER.0, EVER.1),
        ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    // Hours are counted on the local clock (RFC 5545 §3.3.10), so the second 01:00 of London is none of them.
    let hourly = timed("Europe/London", "2026-10-25T00:00:00", &["RRULE:FREQ=HOURLY;COUNT=3"]);
    assert_eq!(
        starts(&hourly, EVER.0, EVER.1),
        ["2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"]
    );
}

#[test]
fn two_instances_that_a_gap_moves_onto_one_instant_are_one() {
    let series = timed("Europe/Berlin", "2026-03-29T00:00:00", &["RRULE:FREQ=DAILY;BYHOUR=0,2,3;COUNT=4"]);
    assert_eq!(
        ids(&series, EVER.0, EVER.1),
        ["2026-03-29T00:00:00", "2026-03-29T03:00:00", "2026-03-30T00:00:00"]
    );
}

#[test]
fn a_day_that_a_zone_skipped_has_no_timed_instance() {
    let series = timed("Pacific/Apia", "2011-12-29T09:00:00", &["RRULE:FREQ=DAILY;COUNT=3"]);
    assert_eq!(
        ids(&series, EVER.0, EVER.1),
        ["2011-12-29T09:00:00", "2011-12-31T09:00:00", "2012-01-01T09:00:00"]
    );
}

#[test]
fn zones_with_odd_offsets_and_half_hour_changes() {
    let kathmandu = timed("Asia/Kathmandu", "2026-01-01T09:00:00", &["RRULE:FREQ=DAILY;COUNT=2"]);
    assert_eq!(starts(&kathmandu, EVER.0, EVER.1), ["2026-01-01T03:15:00Z", "2026-01-02T03:15:00Z"]);
    // Lord Howe goes from 02:00 to 02:30 on 2026-10-04: 02:15 is read with +10:30.
    let howe = timed("Australia/Lord_Howe", "2026-10-03T02:15:00", &["RRULE:FREQ=DAILY;COUNT=2"]);
    assert_eq!(starts(&howe, EVER.0, EVER.1), ["2026-10-02T15:45:00Z", "2026-10-03T15:45:00Z"]);
}

#[test]
fn until_is_inclusive_and_compares_instants() {
    let series = |until: &str| {
        timed("Europe/Berlin", "2026-03-27T09:00:00", &[&format!("RRULE:FREQ=DAILY;UNTIL={until}")])
    };
    assert_eq!(ids(&series("20260329T070000Z"), EVER.0, EVER.1).len(), 3);
    assert_eq!(ids(&series("20260329T065959Z"), EVER.0, EVER.1).len(), 2);
    // Not allowed on input, but providers have it: local time, and a date that means the whole day.
    assert_eq!(ids(&series("20260329T090000"), EVER.0, EVER.1).len(), 3);
    assert_eq!(ids(&series("20260329"), EVER.0, EVER.1).len(), 3);
}

#[test]
fn rdate_adds_exdate_takes_away_and_nothing_counts_twice() {
    let series = timed(
        "Europe/Berlin",
        "2026-03-02T09:00:00",
        &[
            "RRULE:FREQ=DAILY;COUNT=4",
            "RDATE:20260303T080000Z,20260310T080000Z",
            "RDATE;TZID=America/New_York:20260311T040000",
            "EXDATE;TZID=Europe/Berlin:20260304T090000",
            "EXDATE:20260305T080000Z",
        ],
    );
    let expected =
        ["2026-03-02T09:00:00", "2026-03-03T09:00:00", "2026-03-10T09:00:00", "2026-03-11T09:00:00"];
    assert_eq!(ids(&series, EVER.0, EVER.1), expected);
}

#[test]
fn an_rdate_period_has_its_own_end() {
    let series = timed(
        "UTC",
        "2026-03-02T09:00:00",
        &["RDATE;VALUE=PERIOD:20260303T090000Z/PT3H,20260304T090000Z/20260304T100000Z"],
    );
    let ends: Vec<String> = between(&series, EVER.0, EVER.1).iter().map(|o| o.end.to_string()).collect();
    assert_eq!(ends, ["2026-03-02T10:00:00.000Z", "2026-03-03T12:00:00.000Z", "2026-03-04T10:00:00.000Z"]);
}

#[test]
fn an_instance_that_began_before_the_range_and_still_runs_is_in_it() {
    let series = timed("UTC", "2026-03-02T23:30:00", &["RRULE:FREQ=DAILY;COUNT=3"]);
    assert_eq!(ids(&series, "2026-03-03T00:00:00Z", "2026-03-03T01:00:00Z"), ["2026-03-02T23:30:00"]);
    // Half-open: over at 00:30, and not yet started at 23:30.
    assert!(ids(&series, "2026-03-03T00:30:00Z", "2026-03-03T23:30:00Z").is_empty());
}

#[test]
fn a_moment_is_in_the_range_that_it_begins() {
    let start = Start::Timed { local: "2026-03-02T09:00:00".parse().unwrap(), zone: "UTC".into() };
    let series = Series::new(&start, Length::Exact(0), &owned(&["RRULE:FREQ=DAILY;COUNT=2"])).unwrap();
    assert_eq!(ids(&series, "2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z").len(), 1);
}

#[test]
fn the_length_is_exact_when_the_clocks_change_inside() {
    let start = Start::Timed { local: "2026-03-28T22:00:00".parse().unwrap(), zone: "Europe/Berlin".into() };
    let series = Series::new(&start, Length::Exact(8 * HOUR), &owned(&["RRULE:FREQ=DAILY;COUNT=2"])).unwrap();
    let lengths: Vec<i64> =
        between(&series, EVER.0, EVER.1).iter().map(|o| o.end.as_millis() - o.start.as_millis()).collect();
    assert_eq!(lengths, [8 * HOUR, 8 * HOUR]);
}

#[test]
fn all_day_instances_are_days_with_midnights_of_the_zone() {
    let series = all_day(
        "Europe/Berlin",
        "2026-03-28",
        2,
        &["RRULE:FREQ=WEEKLY;UNTIL=20260404", "EXDATE;VALUE=DATE:20260411"],
    );
    let found = between(&series, EVER.0, EVER.1);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].recurrence_id, "2026-03-28");
    assert_eq!(
        (found[0].start_date.as_deref(), found[0].end_date.as_deref()),
        (Some("2026-03-28"), Some("2026-03-30"))
    );
    // The 29th has 23 hours.
    assert_eq!(found[0].start, instant("2026-03-27T23:00:00Z"));
    assert_eq!(found[0].end, instant("2026-03-29T22:00:00Z"));
    assert_eq!(found[0].suffix(), "20260328");
}

#[test]
fn midnight_that_does_not_exist_is_the_first_instant_of_the_day() {
    // São Paulo went from 00:00 to 01:00 on 2018-11-04.
    let series = all_day("America/Sao_Paulo", "2018-11-03", 1, &["RRULE:FREQ=DAILY;COUNT=2"]);
    assert_eq!(starts(&series, EVER.0, EVER.1), ["2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"]);
}

#[test]
fn a_date_without_the_weekday_takes_it_from_the_start() {
    let series = timed("UTC", "2026-05-13T09:00:00", &["RRULE:FREQ=YEARLY;BYWEEKNO=20;COUNT=2"]);
    assert_eq!(ids(&series, EVER.0, EVER.1), ["2026-05-13T09:00:00", "2027-05-19T09:00:00"]);
}

#[test]
fn dates_that_do_not_exist_are_skipped() {
    let series = timed("UTC", "2026-01-31T09:00:00", &["RRULE:FREQ=MONTHLY;COUNT=3"]);
    assert_eq!(
        ids(&series, EVER.0, EVER.1),
        ["2026-01-31T09:00:00", "2026-03-31T09:00:00", "2026-05-31T09:00:00"]
    );
    let leap = timed("UTC", "2024-02-29T09:00:00", &["RRULE:FREQ=YEARLY"]);
    assert_eq!(
        ids(&leap, "2024-03-01T00:00:00Z", "2033-01-01T00:00:00Z"),
        ["2028-02-29T09:00:00", "2032-02-29T09:00:00"]
    );
}

#[test]
fn weeks_of_a_year_reach_over_new_year() {
    let series = timed("UTC", "2019-12-30T09:00:00", &["RRULE:FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO"]);
    let expected = [
        "2019-12-30T09:00:00",
        "2021-01-04T09:00:00",
        "2022-01-03T09:00:00",
        "2023-01-02T09:00:00",
        "2024-01-01T09:00:00",
        "2024-12-30T09:00:00",
    ];
    assert_eq!(ids(&series, "2019-01-01T00:00:00Z", "2025-02-01T00:00:00Z"), expected);
    // And one at a time, however the range is cut.
    for day in expected {
        let from = format!("{day}Z");
        assert_eq!(ids(&series, &from, &from.replace("T09:00:00", "T10:00:00")), [day]);
    }
}

#[test]
fn a_century_after_its_start_a_series_goes_on() {
    let series = timed("Europe/Berlin", "1990-01-01T09:00:00", &["RRULE:FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,FR"]);
    let found = ids(&series, "2090-01-01T00:00:00Z", "2090-02-01T00:00:00Z");
    // 1990-01-01 is a Monday; 5,217 weeks later, a multiple of three, is Monday 2089-12-26.
    assert_eq!(found, ["2090-01-16T09:00:00", "2090-01-20T09:00:00"]);
}

#[test]
fn questions_about_one_instance() {
    let series =
        timed("Europe/Berlin", "2026-03-02T09:00:00", &["RRULE:FREQ=WEEKLY", "EXDATE:20260309T080000Z"]);
    let at = |id: &str| occurs_at(&series, id, Caps::default()).unwrap();
    assert!(at("2026-03-02T09:00:00"));
    assert!(!at("2026-03-09T09:00:00"), "excluded");
    assert!(at("2036-03-03T09:00:00"));
    assert!(!at("2036-03-03T09:00:01"));
    assert!(!at("2036-03-03"));
    assert!(!at("nonsense"));
    let next =
        |after: &str| next_after(&series, instant(after), Caps::default()).unwrap().map(|o| o.recurrence_id);
    assert_eq!(next("2026-03-02T07:59:59Z").as_deref(), Some("2026-03-02T09:00:00"));
    assert_eq!(next("2026-03-02T08:00:00Z").as_deref(), Some("2026-03-16T09:00:00"));
    assert_eq!(next("2050-01-01T00:00:00Z").as_deref(), Some("2050-01-03T09:00:00"));
    assert_eq!(first(&series, Caps::default()).unwrap().unwrap().recurrence_id, "2026-03-02T09:00:00");
}

#[test]
fn a_start_with_milliseconds_keeps_them() {
    let event = model::calendar::Event {
        start: instant("2026-03-02T08:00:00.250Z"),
        end: instant("2026-03-02T08:30:00Z"),
        time_zone: "Europe/Berlin".into(),
        recurrence: owned(&["RRULE:FREQ=DAILY;COUNT=2"]),
        ..Default::default()
    };
    let series = Series::parse(&event).unwrap();
    let found = between(&series, EVER.0, EVER.1);
    assert_eq!((found[0].start, found[0].end), (event.start, event.end));
    assert_eq!(found[1].start, instant("2026-03-03T08:00:00.250Z"));
    assert!(occurs_at(&series, "2026-03-03T09:00:00", Caps::default()).unwrap());
}

#[test]
fn what_cannot_be_read_names_the_line() {
    let start = Start::Timed { local: "2026-03-02T09:00:00".parse().unwrap(), zone: "UTC".into() };
    for line in [
        "RRULE:FREQ=OFTEN",
        "RRULE:COUNT=3",
        "RRULE:FREQ=DAILY;FREQ=WEEKLY",
        "DTSTART:20260302T090000Z",
        "RRULE:FREQ=DAILY;BYMONTH=13",
        "RRULE:FREQ=DAILY;RSCALE=CHINESE",
        "RRULE:RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L;BYMONTHDAY=1",
        "RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD;BYMONTHDAY=31",
    ] {
        let error = Series::new(&start, Length::Exact(0), &owned(&[line])).unwrap_err();
        assert_eq!(error.line, line);
    }
    let mut many: Vec<String> = (1..=20).map(|n| format!("RRULE:FREQ=DAILY;INTERVAL={n}")).collect();
    assert!(Series::new(&start, Length::Exact(0), &many).is_ok());
    many.push("RRULE:FREQ=WEEKLY".into());
    assert_eq!(Series::new(&start, Length::Exact(0), &many).unwrap_err().line, "RRULE:FREQ=WEEKLY");
    // What other clients may have written and what does no harm is read.
    for line in [
        "RRULE:FREQ=DAILY;X-VENDOR=1",
        "RRULE:FREQ=WEEKLY;BYMONTHDAY=3",
        "RRULE:FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z",
        "EXDATE;VALUE=DATE:20260303",
    ] {
        assert!(Series::new(&start, Length::Exact(0), &owned(&[line])).is_ok(), "{line}");
    }
}
