//! The keys that match exceptions to the instances of a series: the only place that derives them.

use model::Instant;
use model::calendar::Event;

use crate::date::parse_recurrence_id;
use crate::occurrence::Occurrence;
use crate::series::Series;

/// One number per original start: seconds of the instant, or the local day of an all-day series.
pub(crate) fn key_of(rules: &Series, exception: &Event) -> Option<i64> {
    let by_instant = exception.original_start.map(|start| start.as_millis().div_euclid(1000));
    let by_name = exception.recurrence_id.as_deref().and_then(|id| parse_recurrence_id(id, rules.all_day));
    if rules.all_day {
        return by_name.or_else(|| by_instant.map(|epoch| rules.local_at(epoch)));
    }
    // The name is the key (RFC 5545 RECURRENCE-ID); the instant only distinguishes the two of a doubled local time.
    match (by_name, by_instant) {
        (Some(local), Some(epoch)) if rules.local_at(epoch) == local => Some(epoch),
        (Some(local), _) => rules.epoch_of(local),
        (None, instant) => instant,
    }
}

/// The same of an occurrence.
pub(crate) fn key_of_occurrence(rules: &Series, occurrence: &Occurrence) -> Option<i64> {
    if rules.all_day {
        return parse_recurrence_id(&occurrence.recurrence_id, true);
    }
    Some(occurrence.start.as_millis().div_euclid(1000))
}

/// The second half of the id of the instance with this key.
pub(crate) fn suffix_of(rules: &Series, key: i64) -> String {
    if rules.all_day {
        return crate::date::basic_date(key);
    }
    crate::instance_suffix(Instant::from_millis(key * 1000))
}

/// Keys of exceptions, in their order.
pub(crate) fn keys(rules: &Series, exceptions: &[Event]) -> Vec<Option<i64>> {
    exceptions.iter().map(|exception| key_of(rules, exception)).collect()
}
