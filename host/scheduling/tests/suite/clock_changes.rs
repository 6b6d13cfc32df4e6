//! Days with clock changes: windows begin at their local time, and their length depends on the day.

use scheduling::interval::Interval;

use crate::support::{EVERY_DAY, MINUTE, format_starts, ms, plan, question, schedule, starts};

/// The windows that are tested on each of the days.
const WINDOWS: [(&str, &str); 4] =
    [("00:00", "24:00"), ("00:00", "06:00"), ("09:00", "17:00"), ("18:00", "24:00")];

/// Days by zone and instant of their beginning, with the minutes that each of the windows lasts. The figures are those of Python's
/// zoneinfo with the same release of the tz database.
const DAYS: [(&str, &str, [i64; 4]); 21] = [
    ("UTC", "2026-03-29T00:00:00Z", [1440, 360, 480, 360]),
    ("Asia/Kathmandu", "2026-03-28T18:15:00Z", [1440, 360, 480, 360]),
    ("America/New_York", "2026-03-08T05:00:00Z", [1380, 300, 480, 360]),
    ("America/New_York", "2026-11-01T04:00:00Z", [1500, 420, 480, 360]),
    ("America/St_Johns", "2026-03-08T03:30:00Z", [1380, 300, 480, 360]),
    ("America/St_Johns", "2026-11-01T02:30:00Z", [1500, 420, 480, 360]),
    ("Europe/Berlin", "2026-03-28T23:00:00Z", [1380, 300, 480, 360]),
    ("Europe/Berlin", "2026-10-24T22:00:00Z", [1500, 420, 480, 360]),
    // Half an hour.
    ("Australia/Lord_Howe", "2026-04-04T13:00:00Z", [1470, 390, 480, 360]),
    ("Australia/Lord_Howe", "2026-10-03T13:30:00Z", [1410, 330, 480, 360]),
    // At 02:45 and 03:45.
    ("Pacific/Chatham", "2026-04-04T10:15:00Z", [1500, 420, 480, 360]),
    ("Pacific/Chatham", "2026-09-26T11:15:00Z", [1380, 300, 480, 360]),
    // Two hours.
    ("Antarctica/Troll", "2026-03-29T00:00:00Z", [1320, 240, 480, 360]),
    ("Antarctica/Troll", "2026-10-24T22:00:00Z", [1560, 480, 480, 360]),
    // At midnight: the day begins at 01:00, and 23:00 is repeated.
    ("Africa/Cairo", "2026-04-23T22:00:00Z", [1380, 300, 480, 360]),
    ("Africa/Cairo", "2026-10-28T21:00:00Z", [1500, 360, 480, 420]),
    // After Ramadan.
    ("Africa/Casablanca", "2026-03-22T00:00:00Z", [1380, 300, 480, 360]),
    // In the evening.
    ("Pacific/Easter", "2026-04-04T05:00:00Z", [1500, 360, 480, 420]),
    ("Pacific/Easter", "2026-09-05T06:00:00Z", [1380, 360, 480, 300]),
    // Before and after the 30th, which Apia skipped.
    ("Pacific/Apia", "2011-12-29T10:00:00Z", [1440, 360, 480, 360]),
    ("Pacific/Apia", "2011-12-30T10:00:00Z", [1440, 360, 480, 360]),
];

#[test]
fn a_window_is_as_long_as_its_day_lets_it_be() {
    for (zone, begins, lengths) in DAYS {
        let start = ms(begins);
        let day = Interval::new(start, start + lengths[0] * MINUTE);
        for ((from, to), length) in WINDOWS.into_iter().zip(lengths) {
            let windows = plan(&schedule(zone, &EVERY_DAY, &[(from, to)])).windows(day);
            let found: Vec<i64> = windows.iter().map(|window| window.len_ms() / MINUTE).collect();
            assert_eq!(found, [length], "{zone}, the day of {begins}, {from} to {to}");
        }
    }
}

#[test]
fn a_day_has_as_many_slots_as_it_is_long() {
    for (zone, begins, lengths) in DAYS {
        let mut question = question(zone, ("00:00", "24:00"), (begins, begins), 15);
        question.range = Interval::new(ms(begins), ms(begins) + lengths[0] * MINUTE);
        let found = starts(&question);
        assert_eq!(found.len() as i64, lengths[0] / 15, "{zone}, the day of {begins}");
        assert!(found.windows(2).all(|two| two[1] - two[0] == 15 * MINUTE), "{zone}: no start is left out");
    }
}

#[test]
fn nine_to_five_in_new_york_is_nine_to_five_every_day() {
    // Whole local days around 8 March and around 1 November.
    let ranges = [
        ("2026-02-15T05:00:00Z", "2026-04-15T04:00:00Z", 59),
        ("2026-10-10T04:00:00Z", "2026-11-30T05:00:00Z", 51),
    ];
    for (from, to, days) in ranges {
        let all = format_starts(&question("America/New_York", ("09:00", "17:00"), (from, to), 60));
        assert_eq!(all.len(), days * 8, "eight hours a day from {from} to {to}");
        for of_day in all.chunks(8) {
            let (day, first) = of_day[0].split_once(' ').unwrap();
            assert_eq!((first, of_day[7].clone()), ("09:00", format!("{day} 16:00")));
        }
    }
    let on = |from, to| starts(&question("America/New_York", ("09:00", "17:00"), (from, to), 60))[0];
    let saturday = on("2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z");
    let sunday = on("2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z");
    assert_eq!((saturday, sunday), (ms("2026-03-07T14:00:00Z"), ms("2026-03-08T13:00:00Z")));
}
