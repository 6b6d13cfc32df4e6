//! A series with its exceptions: what really happens in a range.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::vec::IntoIter;

use model::Instant;
use model::calendar::{Event, EventStatus, EventType};

use crate::Error;
use crate::date::parse_recurrence_id;
use crate::occurrence::Occurrence;
use crate::query::{Caps, Occurrences};
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

/// An instance as it is found: where it is, and which. [`Place::instance`] makes an event of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub start: Instant,
    /// Exclusive.
    pub end: Instant,
    /// The second half of its id, from the original start: `20260301T090000Z` or `20260301`.
    pub suffix: String,
    pub source: Source,
}

impl Place {
    /// The instance: an event of type `occurrence`, or of type `exception` as stored, with the times of this place. `series` and
    /// `exceptions` are those that it was found in.
    pub fn instance(self, series: &Event, exceptions: &[Event]) -> Instance {
        let Place { start, end, suffix, source } = self;
        match source {
            Source::Occurrence(occurrence) => computed(series, occurrence, suffix),
            Source::Exception(index) => {
                let stored = exceptions.get(index).cloned().unwrap_or_default();
                let event = Event { event_type: EventType::Exception, start, end, ..stored };
                Instance { suffix, event, exception: Some(index) }
            }
        }
    }
}

/// What an instance comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Computed from the series.
    Occurrence(Occurrence),
    /// Stored: its index in the list that was given.
    Exception(usize),
}

/// The instances of a series in a range, in order of start, one by one: none is computed before it is taken. A stored exception
/// takes the place of the occurrence that its `recurrenceId` (else `originalStart`) names, wherever it was moved: one moved into
/// the range counts, one moved out does not. Exceptions that the rule does not know count, too. An error takes the place of the
/// occurrences that cannot be found; exceptions still come after it.
pub struct Instances<'a> {
    rules: &'a Series,
    /// Original starts of the exceptions.
    replaced: HashSet<i64>,
    occurrences: Occurrences<'a>,
    /// The occurrence that comes next, where it was looked for.
    next: Option<Option<Result<Occurrence, Error>>>,
    changed: Peekable<IntoIter<Place>>,
}

impl<'a> Instances<'a> {
    /// Those that overlap `[from, to)`, moments at `from` too. `rules` is what [`Series::parse`] made of `event`.
    pub fn overlapping(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        (from, to): (Instant, Instant),
        max_steps: u32,
    ) -> Self {
        let reaches = |at: &Place| at.start < to && (at.end > from || at.start >= from);
        let occurrences = Occurrences::overlapping(rules, from, to, max_steps);
        Instances::new((event, rules), exceptions, occurrences, &reaches)
    }

    /// Those that start in `[from, to)`.
    pub fn starting(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        (from, to): (Instant, Instant),
        max_steps: u32,
    ) -> Self {
        let occurrences = Occurrences::starting(rules, from, to, max_steps);
        Instances::new((event, rules), exceptions, occurrences, &|at| at.start >= from && at.start < to)
    }

    fn new(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        occurrences: Occurrences<'a>,
        is_inside: &dyn Fn(&Place) -> bool,
    ) -> Self {
        // The last of two exceptions for one instance wins.
        let mut last: HashMap<i64, usize> = HashMap::with_capacity(exceptions.len());
        let keys: Vec<Option<i64>> = exceptions.iter().map(|exception| key_of(rules, exception)).collect();
        for (index, key) in keys.iter().enumerate() {
            last.extend(key.map(|key| (key, index)));
        }
        let mut changed: Vec<Place> = Vec::new();
        for (index, (exception, key)) in exceptions.iter().zip(&keys).enumerate() {
            if key.is_some_and(|key| last.get(&key) != Some(&index)) {
                continue;
            }
            let (start, end) = shown(rules, event, exception);
            let suffix = key.map(|key| suffix_of(rules, key)).unwrap_or_default();
            changed.push(Place { start, end, suffix, source: Source::Exception(index) });
        }
        changed.retain(|at| is_inside(at));
        changed.sort_by(|a, b| (a.start, &a.suffix).cmp(&(b.start, &b.suffix)));
        Instances {
            rules,
            replaced: last.into_keys().collect(),
            occurrences,
            next: None,
            changed: changed.into_iter().peekable(),
        }
    }

    /// Steps that are left of `max_steps`.
    pub fn steps_left(&self) -> u32 {
        self.occurrences.steps_left()
    }

    fn peek(&mut self) -> Option<&Result<Occurrence, Error>> {
        self.next.get_or_insert_with(|| self.occurrences.next()).as_ref()
    }

    fn is_replaced(&self, occurrence: &Occurrence) -> bool {
        !self.replaced.is_empty()
            && key_of_occurrence(self.rules, occurrence).is_some_and(|key| self.replaced.contains(&key))
    }
}

impl Iterator for Instances<'_> {
    type Item = Result<Place, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(Ok(occurrence)) = self.peek() {
            let occurrence = occurrence.clone();
            if !self.is_replaced(&occurrence) {
                let suffix = occurrence.suffix();
                let at = (occurrence.start, &suffix);
                if self.changed.peek().is_some_and(|changed| (changed.start, &changed.suffix) < at) {
                    break;
                }
                self.next = None;
                let (start, end) = (occurrence.start, occurrence.end);
                return Some(Ok(Place { start, end, suffix, source: Source::Occurrence(occurrence) }));
            }
            self.next = None;
        }
        if let Some(Err(_)) = self.peek()
            && let Some(Some(Err(error))) = self.next.take()
        {
            return Some(Err(error));
        }
        self.changed.next().map(Ok)
    }
}

/// The instances of a series that overlap `[from, to)`, as [`Instances::overlapping`] has them. Cancelled exceptions are in the
/// answer with their status, at the place of their occurrence; `busy` is false for them. Errors: `Invalid`, `TooManyInstances`,
/// `TooExpensive`.
pub fn instances(
    series: &Event,
    exceptions: &[Event],
    from: Instant,
    to: Instant,
    caps: Caps,
) -> Result<Vec<Instance>, Error> {
    let rules = Series::parse(series)?;
    let mut all = Vec::new();
    for place in Instances::overlapping((series, &rules), exceptions, (from, to), caps.max_steps) {
        if all.len() == caps.max_instances {
            return Err(Error::TooManyInstances(caps.max_instances));
        }
        all.push(place?.instance(series, exceptions));
    }
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

fn suffix_of(rules: &Series, key: i64) -> String {
    if rules.all_day {
        return crate::date::basic_date(key);
    }
    crate::instance_suffix(Instant::from_millis(key * 1000))
}

fn computed(series: &Event, occurrence: Occurrence, suffix: String) -> Instance {
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
