//! Ids of instances: the series' id, `_`, and the original start in UTC, or the day.

use connector_sdk::{Failure, Outcome};
use model::wire::calendar::EventTarget;
use recurrence::{Suffix, instance_suffix, parse_suffix};

/// Returns the id of an instance: `abc_20260301T080000Z`, of an all-day series `abc_20260301`.
pub fn instance_id(series: &str, original: Suffix) -> String {
    match original {
        Suffix::Instant(at) => format!("{series}_{}", instance_suffix(at)),
        Suffix::Date(day) => format!("{series}_{}", day.strftime("%Y%m%d")),
    }
}

/// Splits the id of an instance into the series' id and the original start. Ids of imported events begin with `_`, and ids of series that
/// were split off end in `_R` and a start: such an id is not one of an instance.
pub fn split_id(id: &str) -> (&str, Option<Suffix>) {
    let parts = id.rsplit_once('_').filter(|(series, _)| !series.is_empty());
    match parts.map(|(series, suffix)| (series, parse_suffix(suffix))) {
        Some((series, Some(original))) => (series, Some(original)),
        _ => (id, None),
    }
}

/// Returns the original start that a change is for. Fails where the target names none.
pub fn original_start(target: &EventTarget) -> Outcome<Suffix> {
    let day = target.recurrence_id.as_deref().and_then(|id| id.parse().ok()).filter(|_| is_day(target));
    day.map(Suffix::Date)
        .or(target.original_start.map(Suffix::Instant))
        .ok_or_else(|| Failure::invalid("the instance is not named: give recurrenceId and originalStart"))
}

fn is_day(target: &EventTarget) -> bool {
    target.recurrence_id.as_ref().is_some_and(|id| id.len() == 10)
}
