//! The range of time in which a series can take place, as far as it is known without expanding the series.

use model::Instant;
use model::calendar::Event;

use crate::date::{Basic, DAY};
use crate::line::Line;

/// The time that a series may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The start of the first instance.
    pub start: Instant,
    /// The latest end that the last instance can have; None: no end is known.
    pub end: Option<Instant>,
}

impl Span {
    /// The part of it in `[from, to)`; None where there is none.
    pub fn within(&self, from: Instant, to: Instant) -> Option<(Instant, Instant)> {
        let (start, end) = (self.start.max(from), self.end.map_or(to, |end| end.min(to)));
        (start < end).then_some((start, end))
    }
}

/// From the start of a series to the end of the last instance that its lines can have, also of a series that [`crate::Series`] cannot
/// read. It has an end where every rule has one UNTIL that can be read; a COUNT of a rule that cannot be expanded gives no end.
pub fn possible_span(event: &Event) -> Span {
    let exact = event.end.as_millis().saturating_sub(event.start.as_millis()).max(0);
    // By the clock an instance may take longer than the first one: where the clocks, or the date, go back during it.
    let length = exact.saturating_add(if event.duration.is_some() { 2 * DAY * 1000 } else { 0 });
    let last = event.recurrence.iter().try_fold(event.start.as_millis(), |last, text| {
        Some(match Line::parse(text).ok()? {
            line if line.name == "EXDATE" || line.name == "EXRULE" => last,
            line if line.name == "RRULE" => last.max(until_ms(&line, event.all_day)?),
            line if line.name == "RDATE" => last.max(last_date_ms(&line, event.all_day)?),
            _ => return None,
        })
    });
    Span { start: event.start, end: last.map(|last| Instant::from_millis(last.saturating_add(length))) }
}

/// The last instant that a rule's UNTIL lets pass.
fn until_ms(line: &Line, all_day: bool) -> Option<i64> {
    let named = |part: &str| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("UNTIL").then(|| value.trim().to_owned())
    };
    let mut untils = line.value.split(';').filter_map(named);
    let until = Basic::parse(&untils.next()?)?;
    untils.next().is_none().then(|| latest_ms(until, all_day))
}

/// The last date that an RDATE adds; unreadable ones add none. None for periods: their ends are their own.
fn last_date_ms(line: &Line, all_day: bool) -> Option<i64> {
    if line.value.contains('/') {
        return None;
    }
    Some(
        line.value
            .split(',')
            .filter_map(|date| Basic::parse(date.trim()))
            .map(|at| latest_ms(at, all_day))
            .max()
            .unwrap_or(i64::MIN),
    )
}

/// The last instant that a time can mean in any zone. Of an all-day series every time means its day.
fn latest_ms(at: Basic, all_day: bool) -> i64 {
    let seconds = match at {
        Basic::Utc(seconds) if !all_day => seconds,
        // A day's last second, and a zone behind UTC.
        at => at.seconds() + 2 * DAY,
    };
    seconds * 1000
}
