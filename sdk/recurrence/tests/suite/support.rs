//! Short ways to write a series down and to read its instances back.

use jiff::civil::DateTime;
use model::Instant;
use recurrence::{Caps, Length, Occurrence, Series, Start, expand};

pub const HOUR: i64 = 3_600_000;

pub fn instant(text: &str) -> Instant {
    text.parse().expect("an instant in a test")
}

pub fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

/// A timed series of one hour.
pub fn timed(zone: &str, local: &str, lines: &[&str]) -> Series {
    let local: DateTime = local.parse().expect("a local time in a test");
    Series::new(&Start::Timed { local, zone: zone.into() }, Length::Exact(HOUR), &owned(lines))
        .expect("a readable series")
}

/// An all-day series.
pub fn all_day(zone: &str, date: &str, days: i64, lines: &[&str]) -> Series {
    let start = Start::AllDay { date: date.parse().expect("a date in a test"), zone: zone.into() };
    Series::new(&start, Length::Days(days), &owned(lines)).expect("a readable series")
}

pub fn between(series: &Series, from: &str, to: &str) -> Vec<Occurrence> {
    expand(series, instant(from), instant(to), Caps::default()).expect("an expansion within the caps")
}

/// Recurrence ids in a range.
pub fn ids(series: &Series, from: &str, to: &str) -> Vec<String> {
    between(series, from, to).into_iter().map(|o| o.recurrence_id).collect()
}

/// UTC starts in a range, without the milliseconds.
pub fn starts(series: &Series, from: &str, to: &str) -> Vec<String> {
    between(series, from, to).iter().map(|o| o.start.to_string().replace(".000", "")).collect()
}

/// The oracle's interpreter, where there is one.
pub fn oracle_python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        let are_required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        assert!(!are_required, "ORACLE_PYTHON is not set");
        println!("did not run: ORACLE_PYTHON is not set");
    }
    python
}
