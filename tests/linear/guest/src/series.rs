//! `sdk/recurrence`: rules, dates, zones, and queries of a parsed series.

use std::hint::black_box;

use model::Instant;
use recurrence::{Caps, Length, Series, Start};

use crate::Parser;
use crate::text;

pub const ALL: &[Parser] = &[
    ("recurrence.rule", |input| lines(&[format!("RRULE:{}", text(input))])),
    ("recurrence.part", |input| lines(&[format!("RRULE:FREQ=YEARLY;BYDAY={}", text(input))])),
    ("recurrence.dates", |input| {
        lines(&[format!("EXDATE:{}", text(input))]);
        lines(&["RRULE:FREQ=DAILY;COUNT=20".to_owned(), format!("RDATE;TZID=Europe/Berlin:{}", text(input))]);
    }),
    ("recurrence.lines", |input| lines(&text(input).lines().map(str::to_owned).collect::<Vec<_>>())),
    ("recurrence.names", |input| {
        let name = text(input);
        drop(black_box(recurrence::zone(&name)));
        black_box((recurrence::iana_from_windows(&name), recurrence::iana_zone(&name).is_ok()));
        black_box((recurrence::parse_suffix(&name), name.parse::<Instant>().is_ok()));
    }),
];

/// Queries have limits of their own, in instances and steps; they are low here, because the parsing is measured.
const CAPS: Caps = Caps { max_instances: 100, max_steps: 200 };

fn lines(lines: &[String]) {
    black_box((recurrence::validate(lines, false).is_ok(), recurrence::validate(lines, true).is_ok()));
    let local = "2026-03-01T09:00:00".parse().expect("a local time");
    let start = Start::Timed { local, zone: "Europe/Berlin".to_owned() };
    let Ok(series) = Series::new(&start, Length::Exact(3_600_000), lines) else { return };
    let at = |text: &str| text.parse::<Instant>().expect("an instant");
    let (from, to) = (at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z"));
    drop(black_box(recurrence::expand(&series, from, to, CAPS)));
    drop(black_box(recurrence::next_after(&series, to, CAPS)));
    let id = "2026-03-03T09:00:00";
    drop(black_box(recurrence::capped_before(&series, id, CAPS)));
    drop(black_box(recurrence::remainder_from(&series, id, CAPS)));
    drop(black_box(recurrence::excluded(&series, id, CAPS)));
}
