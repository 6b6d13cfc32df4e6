//! A series with its exceptions: what really happens in a range.

use std::collections::HashMap;

use model::Instant;
use model::calendar::{Event, EventStatus, EventType};

use crate::Error;
use crate::date::parse_recurrence_id;
use crate::query::{Caps, Occurrence, expand};
use crate::series::Series;

/// One instance in the answer of [`instances`].
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Type `occurrence` (computed from the series) or `exception` (as stored).
    pub event: Event,
    /// The second half of its id, from the original start: `20260301T090000Z` or `20260301`.
    pub suffix: String,
    /// Exceptions: its index in the list that was given.
    pub exception: Option<usize>,
}

/// The instances of a series that overlap `[from, to)`, in order of start. A stored exception takes the place of the occurrence
/// that its `recurrenceId` (else `originalStart`) names, wherever it was moved: one moved into the range counts, one moved out
/// does not. Exceptions that the rule does not know count, too. Cancelled exceptions are in the answer with their status, at
/// the place of their occurrence; `busy` is false for them. Errors: `Invalid`, `TooManyInstances`, `TooExpensive`.
pub fn instances(
    series: &Event,
    exceptions: &[Event],
    from: Instant,
    to: Instant,
    caps: Caps,
) -> Result<Vec<Instance>, Error> {
    let rules = Series::parse(series)?;
    let mut replaced: HashMap<i64, usize> = HashMap::with_capacity(exceptions.len());
    for (index, exception) in exceptions.iter().enumerate() {
        if let Some(key) = key_of(&rules, exception) {
            replaced.insert(key, index);
        }
    }
    let mut all: Vec<Instance> = Vec::new();
    for occurrence in expand(&rules, from, to, caps)? {
        let key = key_of_occurrence(&rules, &occurrence);
        if !key.is_some_and(|key| replaced.contains_key(&key)) {
            all.push(computed(series, occurrence));
        }
    }
    for (index, exception) in exceptions.iter().enumerate() {
        // The last of two exceptions for one instance wins.
        if key_of(&rules, exception).is_some_and(|key| replaced.get(&key) != Some(&index)) {
            continue;
        }
        let (start, end) = shown(&rules, series, exception);
        if start < to && (end > from || start >= from) {
            all.push(Instance {
                suffix: suffix_of(&rules, exception),
                event: Event { event_type: EventType::Exception, start, end, ..exception.clone() },
                exception: Some(index),
            });
        }
    }
    if all.len() > caps.max_instances {
        return Err(Error::TooManyInstances(caps.max_instances));
    }
    all.sort_by(|a, b| (a.event.start, &a.suffix).cmp(&(b.event.start, &b.suffix)));
    Ok(all)
}

/// Where an exception stands: a cancelled one often has no times of its own.
fn shown(rules: &Series, series: &Event, exception: &Event) -> (Instant, Instant) {
    if exception.status != EventStatus::Cancelled || exception.end > exception.start {
        return (exception.start, exception.end);
    }
    let original = exception
        .recurrence_id
        .as_deref()
        .and_then(|id| rules.original_start(id))
        .or(exception.original_start);
    let start = original.unwrap_or(exception.start);
    let length = series.end.as_millis().saturating_sub(series.start.as_millis()).max(0);
    (start, Instant::from_millis(start.as_millis().saturating_add(length)))
}

/// One number per original start: seconds of the instant, or the local day of an all-day series.
fn key_of(rules: &Series, exception: &Event) -> Option<i64> {
    let by_instant = exception.original_start.map(|start| start.as_millis().div_euclid(1000));
    let by_name = exception.recurrence_id.as_deref().and_then(|id| parse_recurrence_id(id, rules.all_day));
    if rules.all_day {
        return by_name.or_else(|| by_instant.map(|epoch| rules.local_at(epoch)));
    }
    // The name is the key (RFC 5545 RECURRENCE-ID); the instant only tells the two of a doubled local time apart.
    match (by_name, by_instant) {
        (Some(local), Some(epoch)) if rules.local_at(epoch) == local => Some(epoch),
        (Some(local), _) => rules.epoch_of(local),
        (None, instant) => instant,
    }
}

fn key_of_occurrence(rules: &Series, occurrence: &Occurrence) -> Option<i64> {
    if rules.all_day {
        return parse_recurrence_id(&occurrence.recurrence_id, true);
    }
    Some(occurrence.start.as_millis().div_euclid(1000))
}

fn suffix_of(rules: &Series, exception: &Event) -> String {
    let Some(key) = key_of(rules, exception) else { return String::new() };
    if rules.all_day {
        return crate::date::basic_date(key);
    }
    crate::instance_suffix(Instant::from_millis(key * 1000))
}

fn computed(series: &Event, occurrence: Occurrence) -> Instance {
    let suffix = occurrence.suffix();
    let event = Event {
        event_type: EventType::Occurrence,
        recurrence_id: Some(occurrence.recurrence_id),
        original_start: Some(occurrence.start),
        start: occurrence.start,
        end: occurrence.end,
        start_date: occurrence.start_date,
        end_date: occurrence.end_date,
        recurrence: Vec::new(),
        ..series.clone()
    };
    Instance { event, suffix, exception: None }
}
