//! Recurring events: their instances, and edits of their rules. The crate `recurrence` expands the rules.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;
use recurrence::{Caps, Error, Length, Series, Start};

use crate::calendar::types::Event;
use crate::problem::Problem;
use crate::state::json_len;
use crate::times::{local, local_ms, midnight_ms, parse_instant};

/// Maximum number of changed instances of one series.
const MAX_OVERRIDES: usize = 1_000;
/// Maximum bytes of one event or series as JSON.
const MAX_EVENT_BYTES: usize = 512 << 10;

fn caps() -> Caps {
    Caps::default()
}

/// The rules of a stored series.
fn parse(event: &Event, calendar_zone: &TimeZone) -> Result<Series, Problem> {
    let (from_ms, to_ms) = event.span_ms(calendar_zone);
    let name = |zone: &TimeZone| zone.iana_name().unwrap_or("UTC").to_owned();
    let (start, length) = match event.days() {
        Some((first, end)) => {
            let days = first.until(end).map_or(1, |span| i64::from(span.get_days()));
            (Start::AllDay { date: first, zone: name(calendar_zone) }, Length::Days(days))
        }
        None => {
            let zone = event.zone(calendar_zone);
            let start = Start::Timed { local: local(from_ms, &zone), zone: name(&zone) };
            (start, Length::Exact(to_ms - from_ms))
        }
    };
    Series::new(&start, length, &event.body.recurrence)
        .map_err(|e| Problem::field("recurrence", e.to_string()))
}

fn problem(error: &Error) -> Problem {
    match error {
        Error::NoSuchInstance(id) => Problem::not_found("instance", id),
        _ => Problem::field("recurrence", error.to_string()),
    }
}

/// Refuses rules that cannot be expanded, a series without any instance, and events that are too large.
pub fn check(event: &Event, calendar_zone: &TimeZone) -> Result<(), Problem> {
    if json_len(event) > MAX_EVENT_BYTES {
        return Err(Problem::full("an event takes at most 512 KiB, with all its changed instances"));
    }
    if !event.is_series() {
        return Ok(());
    }
    recurrence::validate(&event.body.recurrence, event.is_all_day())
        .map_err(|e| Problem::field("recurrence", e.to_string()))?;
    let series = parse(event, calendar_zone)?;
    if recurrence::first(&series, caps()).map_err(|e| problem(&e))?.is_none() {
        return Err(Problem::field("recurrence", "the series has no instance: every one is excluded"));
    }
    if event.overrides.len() > MAX_OVERRIDES {
        return Err(Problem::full(format!("a series has at most {MAX_OVERRIDES} changed instances")));
    }
    Ok(())
}

/// Returns the name of an instance, which is its original local start. Accepts that name, or the start as an instant. The instance must
/// exist.
pub fn original(event: &Event, text: &str, calendar_zone: &TimeZone) -> Result<String, Problem> {
    if !event.is_series() {
        return Err(Problem::field("recurrenceId", "the event does not repeat"));
    }
    let name = if event.is_all_day() {
        text.parse::<Date>().map(|d| d.to_string()).ok()
    } else if text.ends_with('Z') {
        let at_ms = parse_instant(text, "recurrenceId")?;
        Some(local(at_ms, &event.zone(calendar_zone)).strftime("%Y-%m-%dT%H:%M:%S").to_string())
    } else {
        text.parse::<DateTime>().map(|at| at.strftime("%Y-%m-%dT%H:%M:%S").to_string()).ok()
    };
    let name = name.ok_or_else(|| Problem::not_found("instance", text))?;
    let exists = event.overrides.contains_key(&name)
        || recurrence::occurs_at(&parse(event, calendar_zone)?, &name, caps()).map_err(|e| problem(&e))?;
    if exists { Ok(name) } else { Err(Problem::not_found("instance", text)) }
}

/// Returns the original start in ms since 1970.
pub fn original_ms(event: &Event, original: &str, calendar_zone: &TimeZone) -> Option<i64> {
    if event.is_all_day() {
        return original.parse::<Date>().ok().map(|date| midnight_ms(date, calendar_zone));
    }
    original.parse::<DateTime>().ok().map(|at| local_ms(at, &event.zone(calendar_zone)))
}

/// Returns the instance of this name, with its changes.
pub fn instance(event: &Event, original: &str, calendar_zone: &TimeZone) -> Result<Event, Problem> {
    match event.overrides.get(original) {
        Some(changed) => Ok(changed.clone()),
        None => plain_instance(event, original, calendar_zone),
    }
}

/// Returns the instance as the series generates it, without changes.
pub fn plain_instance(event: &Event, original: &str, calendar_zone: &TimeZone) -> Result<Event, Problem> {
    let start = if event.is_all_day() {
        original.parse::<Date>().map(|d| d.at(0, 0, 0, 0)).ok()
    } else {
        original.parse::<DateTime>().ok()
    };
    let start = start.ok_or_else(|| Problem::not_found("instance", original))?;
    let mut instance = Event { overrides: BTreeMap::new(), ..event.clone() };
    instance.body.recurrence.clear();
    instance.move_to(start, calendar_zone);
    Ok(instance)
}

/// Returns the occurrences from `from_ms` to `to_ms`, by original start: the single event itself, or the instances of a series, changed
/// ones at their new times.
pub fn expand(
    event: &Event,
    from_ms: i64,
    to_ms: i64,
    calendar_zone: &TimeZone,
) -> Result<Vec<(String, Event)>, Problem> {
    let overlaps = |event: &Event| {
        let (start, end) = event.span_ms(calendar_zone);
        start < to_ms && (end > from_ms || start == end && start >= from_ms)
    };
    if !event.is_series() {
        let name = event.local_start(calendar_zone);
        return Ok(if overlaps(event) { vec![(name, event.clone())] } else { Vec::new() });
    }
    let series = parse(event, calendar_zone)?;
    let (from, to) = (Instant::from_millis(from_ms), Instant::from_millis(to_ms));
    let mut found = Vec::new();
    for occurrence in recurrence::expand(&series, from, to, caps()).map_err(|e| problem(&e))? {
        if !event.overrides.contains_key(&occurrence.recurrence_id) {
            let plain = plain_instance(event, &occurrence.recurrence_id, calendar_zone)?;
            found.push((occurrence.recurrence_id, plain));
        }
    }
    let changed = event.overrides.iter().filter(|(_, changed)| overlaps(changed));
    found.extend(changed.map(|(original, changed)| (original.clone(), changed.clone())));
    found.sort_by_key(|(_, instance)| instance.span_ms(calendar_zone));
    Ok(found)
}

/// Whether an occurrence lies between `from_ms` and `to_ms`. A rule that cannot be expanded that far counts as one.
pub fn touches(event: &Event, from_ms: i64, to_ms: i64, calendar_zone: &TimeZone) -> bool {
    expand(event, from_ms, to_ms, calendar_zone).is_ok_and(|found| !found.is_empty())
        || event.is_series() && expand(event, from_ms, to_ms, calendar_zone).is_err()
}

/// Applies the excluded, added and changed instances of a series to its changed rules. Returns the names of instances that no longer fit.
/// `is_kept`: the client set no other rules.
pub fn carry(event: &mut Event, before: &Event, is_kept: bool, calendar_zone: &TimeZone) -> Vec<String> {
    if !event.is_series() || !before.is_series() {
        return drop_orphans(event, calendar_zone);
    }
    let both = (parse(before, calendar_zone), parse(event, calendar_zone));
    let (Ok(old), Ok(new)) = both else { return drop_orphans(event, calendar_zone) };
    let Ok(carried) = recurrence::carried(&old, &new, is_kept, caps()) else {
        return drop_orphans(event, calendar_zone);
    };
    event.body.recurrence.clone_from(&carried.lines);
    let mut dropped = carried.dropped.clone();
    for (name, changed) in std::mem::take(&mut event.overrides) {
        match carried.new_id(&name) {
            Some(name) => {
                event.overrides.insert(name, later(changed, carried.shift(), calendar_zone));
            }
            None => dropped.push(name),
        }
    }
    dropped.sort();
    dropped.dedup();
    dropped
}

/// Returns a changed instance, shifted by these seconds of local time.
fn later(mut changed: Event, seconds: i64, calendar_zone: &TimeZone) -> Event {
    let start = match changed.days() {
        Some((first, _)) => first.at(0, 0, 0, 0),
        None => local(changed.span_ms(calendar_zone).0, &changed.zone(calendar_zone)),
    };
    if let Ok(start) = start.checked_add(SignedDuration::from_secs(seconds))
        && seconds != 0
    {
        changed.move_to(start, calendar_zone);
    }
    changed
}

/// Removes the changed instances that no longer fit the rule. Returns their names.
fn drop_orphans(event: &mut Event, calendar_zone: &TimeZone) -> Vec<String> {
    let is_placed =
        |series: &Series, name: &String| recurrence::occurs_at(series, name, caps()).unwrap_or(true);
    let series = if event.is_series() { parse(event, calendar_zone).ok() } else { None };
    let all = std::mem::take(&mut event.overrides);
    let (kept, dropped): (BTreeMap<_, _>, BTreeMap<_, _>) =
        all.into_iter().partition(|(name, _)| series.as_ref().is_some_and(|s| is_placed(s, name)));
    event.overrides = kept;
    dropped.into_keys().collect()
}

/// Whether this is the first instance of the series.
pub fn is_first(event: &Event, original: &str, calendar_zone: &TimeZone) -> bool {
    parse(event, calendar_zone)
        .ok()
        .and_then(|series| recurrence::capped_before(&series, original, caps()).ok())
        .is_some_and(|capped| capped.is_none())
}

/// Whether this is the only instance of the series.
pub fn is_only(event: &Event, original: &str, calendar_zone: &TimeZone) -> bool {
    let Ok(recurrence) = excluded(event, original, calendar_zone) else { return false };
    let mut rest = event.clone();
    rest.body.recurrence = recurrence;
    let first = parse(&rest, calendar_zone).ok().map(|series| recurrence::first(&series, caps()));
    matches!(first, Some(Ok(None))) && event.overrides.keys().all(|name| name == original)
}

/// Returns the rules without this instance.
pub fn excluded(event: &Event, original: &str, calendar_zone: &TimeZone) -> Result<Vec<String>, Problem> {
    recurrence::excluded(&parse(event, calendar_zone)?, original, caps()).map_err(|e| problem(&e))
}

/// Returns the rules of the instances before this one, and of the series that continues from it.
pub fn split(
    event: &Event,
    original: &str,
    calendar_zone: &TimeZone,
) -> Result<(Vec<String>, Vec<String>), Problem> {
    let series = parse(event, calendar_zone)?;
    let capped = recurrence::capped_before(&series, original, caps()).map_err(|e| problem(&e))?;
    let rest = recurrence::remainder_from(&series, original, caps()).map_err(|e| problem(&e))?;
    Ok((capped.unwrap_or_default(), rest))
}
