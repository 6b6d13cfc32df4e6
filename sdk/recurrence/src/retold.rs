//! Dates that name no zone: they are on the clock of their series, and mean another instant where the series goes to another zone.

use jiff::tz::TimeZone;

use crate::date::basic;
use crate::line::{ListedDate, Moment};
use crate::series::Series;

/// The series on whose clock a date stands by now, where that is another clock than it was: the date has no `Z`, its line no zone of its
/// `own`, and the series, before and after, are in two zones.
pub(crate) fn new_clock<'s>(
    text: &str,
    own: Option<&TimeZone>,
    (before, after): (&Series, &'s Series),
) -> Option<&'s Series> {
    let is_local = own.is_none() && !start_of(text).ends_with(['Z', 'z']);
    (is_local && !before.all_day && !after.all_day && before.zone != after.zone).then_some(after)
}

/// A date, `text` as it is written, that keeps its instant on a new clock. Without one it is as it is written; so is a day.
pub(crate) fn retold(text: &str, date: ListedDate, clock: Option<&Series>) -> String {
    let (Some(series), Moment::Time { epoch, .. }) = (clock, date.at) else { return text.to_owned() };
    let local = series.local_at(epoch);
    // The second of a doubled local time can only be written in UTC.
    let start = match series.epoch_of(local) == Some(epoch) {
        true => basic(local),
        false => format!("{}Z", basic(epoch)),
    };
    match date.end {
        Some(end) => format!("{start}/PT{}S", end.saturating_sub(epoch)),
        None => start,
    }
}

fn start_of(text: &str) -> &str {
    text.split_once('/').map_or(text, |(start, _)| start)
}
