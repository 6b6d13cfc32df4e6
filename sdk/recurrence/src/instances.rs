//! Expands a series with its exceptions to the instances in a range.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use model::Instant;
use model::calendar::{Event, EventStatus, EventType};

use crate::Error;
use crate::date::DAY;
use crate::follow::{Follow, find_follow, following};
use crate::key::{key_of, key_of_occurrence, keys, suffix_of};
use crate::occurrence::Occurrence;
use crate::query::{Caps, Occurrences};
use crate::series::Series;

/// An instance that [`instances`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Type `occurrence` (computed from the series) or `exception` (as stored).
    pub event: Event,
    /// The second half of its id, from the original start: `20260301T090000Z` or `20260301`.
    pub suffix: String,
    /// The index of the exception in the given list; none for occurrences.
    pub exception: Option<usize>,
}

/// The position and identity of an instance. [`Place::instance`] makes an event of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The start of the instance, inclusive.
    pub start: Instant,
    /// The end of the instance, exclusive.
    pub end: Instant,
    /// The second half of its id, from the original start: `20260301T090000Z` or `20260301`.
    pub suffix: String,
    /// The origin of the instance: the series or an exception.
    pub source: Source,
    /// The index in the given list of the exception whose changes the occurrence inherits.
    pub follows: Option<usize>,
}

impl Place {
    /// Returns an occurrence with the times of the series.
    fn from_occurrence(occurrence: Occurrence) -> Place {
        let (start, end, suffix) = (occurrence.start, occurrence.end, occurrence.suffix());
        Place { start, end, suffix, source: Source::Occurrence(occurrence), follows: None }
    }

    /// Returns an occurrence changed by an earlier exception; none outside the years that jiff can represent.
    fn from_follow(follow: &Follow, rules: &Series, occurrence: Occurrence) -> Option<Place> {
        let (start, end) = follow.times(rules, &occurrence)?;
        let suffix = occurrence.suffix();
        Some(Place {
            start,
            end,
            suffix,
            source: Source::Occurrence(occurrence),
            follows: Some(follow.index),
        })
    }

    /// Returns the event: an `occurrence`, or an `exception` as stored, with these times. `series` and `exceptions` are those that it was
    /// found in.
    pub fn instance(self, series: &Event, exceptions: &[Event]) -> Instance {
        let Place { start, end, suffix, source, follows } = self;
        match source {
            Source::Occurrence(occurrence) => match follows.and_then(|index| exceptions.get(index)) {
                None => compute_instance(series, occurrence, suffix),
                Some(exception) => {
                    let event = following(exception, occurrence, (start, end));
                    Instance { event, suffix, exception: None }
                }
            },
            Source::Exception(index) => {
                let stored = exceptions.get(index).cloned().unwrap_or_default();
                let event = Event { event_type: EventType::Exception, start, end, ..stored };
                Instance { suffix, event, exception: Some(index) }
            }
        }
    }
}

/// The origin of an instance.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Computed from the series.
    Occurrence(Occurrence),
    /// Stored: the index of the exception in the given list.
    Exception(usize),
}

/// The maximum difference in milliseconds between the shift of an exception and that of a later instance which inherits it.
const MARGIN: i64 = 2 * DAY * 1000;

/// The range that the caller requests.
#[derive(Clone, Copy)]
struct Window {
    from: Instant,
    to: Instant,
    /// Whether instances count that began before `from` and have not ended.
    running: bool,
}

impl Window {
    fn contains(&self, at: &Place) -> bool {
        at.start < self.to && (at.start >= self.from || (self.running && at.end > self.from))
    }
}

/// A range of original starts whose instances all follow the series, or all inherit the changes of one exception.
struct Stretch<'a> {
    occurrences: Occurrences<'a>,
    keys: Range<i64>,
    follow: Option<Follow>,
    /// The next instance, once it has been computed.
    next: Option<Option<Result<Place, Error>>>,
}

/// A lazy iterator over the instances of a series in a range, in order of start. A stored exception replaces the occurrence that its
/// `recurrenceId` (else `originalStart`) names, and counts at its new time: one moved into the range counts, one moved out does not.
/// Exceptions without an occurrence in the rule count too. An exception that applies to the following instances changes and moves those
/// without an exception of their own. If occurrences cannot be computed, an error takes their place; exceptions still follow.
pub struct Instances<'a> {
    rules: &'a Series,
    window: Window,
    /// The original starts of the exceptions.
    replaced: HashSet<i64>,
    stretches: Vec<Stretch<'a>>,
    /// The steps that were given to no stretch.
    spare: u32,
    changed: Peekable<IntoIter<Place>>,
}

impl<'a> Instances<'a> {
    /// Returns the instances that overlap `[from, to)`, including zero-length ones at `from`. `rules` is the result of [`Series::parse`]
    /// for `event`. The search for occurrences takes at most `max_steps` steps.
    pub fn overlapping(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        (from, to): (Instant, Instant),
        max_steps: u32,
    ) -> Self {
        Instances::new((event, rules), exceptions, Window { from, to, running: true }, max_steps)
    }

    /// Returns the instances that start in `[from, to)`.
    pub fn starting(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        (from, to): (Instant, Instant),
        max_steps: u32,
    ) -> Self {
        Instances::new((event, rules), exceptions, Window { from, to, running: false }, max_steps)
    }

    fn new(
        (event, rules): (&'a Event, &'a Series),
        exceptions: &'a [Event],
        window: Window,
        max_steps: u32,
    ) -> Self {
        // The last of two exceptions for one instance wins.
        let mut last: HashMap<i64, usize> = HashMap::with_capacity(exceptions.len());
        let keys = keys(rules, exceptions);
        for (index, key) in keys.iter().enumerate() {
            last.extend(key.map(|key| (key, index)));
        }
        let mut changed: Vec<Place> = Vec::new();
        for (index, (exception, key)) in exceptions.iter().zip(&keys).enumerate() {
            if key.is_some_and(|key| last.get(&key) != Some(&index)) {
                continue;
            }
            let (start, end) = exception_times(rules, event, exception);
            let suffix = key.map(|key| suffix_of(rules, key)).unwrap_or_default();
            changed.push(Place { start, end, suffix, source: Source::Exception(index), follows: None });
        }
        changed.retain(|at| window.contains(at));
        changed.sort_by(|a, b| (a.start, &a.suffix).cmp(&(b.start, &b.suffix)));
        let stretches = stretches(rules, Follow::all(rules, exceptions, &keys), window, max_steps);
        let shared: u32 = stretches.iter().map(|stretch| stretch.occurrences.steps_left()).sum();
        Instances {
            rules,
            window,
            replaced: last.into_keys().collect(),
            stretches,
            spare: max_steps.saturating_sub(shared),
            changed: changed.into_iter().peekable(),
        }
    }

    /// The number of steps left of `max_steps`.
    pub fn steps_left(&self) -> u32 {
        let left = self.stretches.iter().map(|stretch| stretch.occurrences.steps_left());
        left.fold(self.spare, u32::saturating_add)
    }

    /// The index of the stretch with the next result: an error, or the earliest instance.
    fn first(&mut self) -> Option<usize> {
        if let [alone] = &mut self.stretches[..] {
            return alone.peek(self.rules, &self.replaced, self.window).map(|_| 0);
        }
        let mut best: Option<(usize, Option<(Instant, String)>)> = None;
        for (index, stretch) in self.stretches.iter_mut().enumerate() {
            let Some(next) = stretch.peek(self.rules, &self.replaced, self.window) else { continue };
            let at = next.as_ref().ok().map(|place| (place.start, place.suffix.clone()));
            if best.as_ref().is_none_or(|(_, first)| at < *first) {
                best = Some((index, at));
            }
        }
        best.map(|(index, _)| index)
    }
}

/// The stretches that may have instances in the window. They share the steps.
fn stretches<'a>(
    rules: &'a Series,
    follows: Vec<Follow>,
    window: Window,
    max_steps: u32,
) -> Vec<Stretch<'a>> {
    if follows.is_empty() {
        let occurrences = match window.running {
            true => Occurrences::overlapping(rules, window.from, window.to, max_steps),
            false => Occurrences::starting(rules, window.from, window.to, max_steps),
        };
        return vec![Stretch { occurrences, keys: i64::MIN..i64::MAX, follow: None, next: None }];
    }
    let epoch_ms =
        |key: i64| rules.epoch_of(key).filter(|_| rules.all_day).unwrap_or(key).saturating_mul(1000);
    let ends: Vec<i64> = follows.iter().map(|follow| follow.key).chain([i64::MAX]).collect();
    let first = (None, i64::MIN, ends.first().copied().unwrap_or(i64::MAX));
    let later = follows.into_iter().zip(ends.into_iter().skip(1));
    let later = later.map(|(follow, end)| {
        let from = follow.key.saturating_add(1);
        (Some(follow), from, end)
    });
    let (from, to) = (window.from.as_millis(), window.to.as_millis());
    let reaching: Vec<_> = [first]
        .into_iter()
        .chain(later)
        .filter_map(|(follow, from_key, to_key)| {
            let (about, reach) = follow.as_ref().map_or((0, rules.reach_ms()), |f| (f.about_ms, f.reach_ms));
            let reach = if window.running { reach } else { 0 };
            let from = from.saturating_sub(about).saturating_sub(reach).saturating_sub(MARGIN);
            let to = to.saturating_sub(about).saturating_add(MARGIN);
            let from = if from_key == i64::MIN { from } else { from.max(epoch_ms(from_key) - MARGIN) };
            let to = if to_key == i64::MAX { to } else { to.min(epoch_ms(to_key).saturating_add(MARGIN)) };
            (from < to).then_some((follow, from_key..to_key, from, to))
        })
        .collect();
    let steps = max_steps / u32::try_from(reaching.len().max(1)).unwrap_or(u32::MAX);
    let stretch = |(follow, keys, from, to): (Option<Follow>, Range<i64>, i64, i64)| {
        let (from, to) = (Instant::from_millis(from), Instant::from_millis(to));
        Stretch { occurrences: Occurrences::starting(rules, from, to, steps), keys, follow, next: None }
    };
    reaching.into_iter().map(stretch).collect()
}

impl Stretch<'_> {
    fn peek(
        &mut self,
        rules: &Series,
        replaced: &HashSet<i64>,
        window: Window,
    ) -> Option<&Result<Place, Error>> {
        if self.next.is_none() {
            self.next = Some(self.find(rules, replaced, window));
        }
        self.next.as_ref().and_then(Option::as_ref)
    }

    fn find(
        &mut self,
        rules: &Series,
        replaced: &HashSet<i64>,
        window: Window,
    ) -> Option<Result<Place, Error>> {
        loop {
            let occurrence = match self.occurrences.next()? {
                Ok(occurrence) => occurrence,
                Err(error) => return Some(Err(error)),
            };
            let key = key_of_occurrence(rules, &occurrence);
            if key.is_some_and(|key| replaced.contains(&key) || !self.keys.contains(&key)) {
                continue;
            }
            let place = match &self.follow {
                Some(follow) => Place::from_follow(follow, rules, occurrence),
                None => Some(Place::from_occurrence(occurrence)),
            };
            if let Some(place) = place.filter(|place| window.contains(place)) {
                return Some(Ok(place));
            }
        }
    }
}

impl Iterator for Instances<'_> {
    type Item = Result<Place, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.first().and_then(|index| self.stretches.get_mut(index));
        let Some(stretch) = next else { return self.changed.next().map(Ok) };
        if let (Some(Some(Ok(place))), Some(changed)) = (&stretch.next, self.changed.peek())
            && (changed.start, &changed.suffix) < (place.start, &place.suffix)
        {
            return self.changed.next().map(Ok);
        }
        stretch.next.take().flatten()
    }
}

/// Finds the occurrence whose id ends in this suffix and whose original start is in `[from, to)`, also if an earlier exception for all
/// later instances moved it. The caller ensures that no exception replaces it. Fails with `TooExpensive`.
pub fn place_of(
    rules: &Series,
    exceptions: &[Event],
    (from, to): (Instant, Instant),
    suffix: &str,
    max_steps: u32,
) -> Result<Option<Place>, Error> {
    for occurrence in Occurrences::starting(rules, from, to, max_steps) {
        let occurrence = occurrence?;
        if occurrence.suffix() != suffix {
            continue;
        }
        let all = Follow::all(rules, exceptions, &keys(rules, exceptions));
        let key = key_of_occurrence(rules, &occurrence);
        return Ok(match key.and_then(|key| find_follow(&all, key)) {
            Some(follow) => Place::from_follow(follow, rules, occurrence),
            None => Some(Place::from_occurrence(occurrence)),
        });
    }
    Ok(None)
}

/// The id suffix of the occurrence that an exception replaces; none if the exception does not name one.
pub fn exception_suffix(rules: &Series, exception: &Event) -> Option<String> {
    key_of(rules, exception).map(|key| suffix_of(rules, key))
}

/// Returns the instances of a series that overlap `[from, to)`, as [`Instances::overlapping`] does. Cancelled exceptions are included with
/// their status, at the time of their occurrence, and with `busy` false. Fails with `Invalid`, `TooManyInstances` or `TooExpensive`.
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

/// Returns the start and end of an exception. A cancelled exception without times has those of the occurrence that it replaces.
fn exception_times(rules: &Series, series: &Event, exception: &Event) -> (Instant, Instant) {
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

fn compute_instance(series: &Event, occurrence: Occurrence, suffix: String) -> Instance {
    let event = Event {
        event_type: EventType::Occurrence,
        recurrence_id: Some(occurrence.recurrence_id),
        original_start: Some(occurrence.start),
        start: occurrence.start,
        end: occurrence.end,
        start_date: occurrence.start_date,
        end_date: occurrence.end_date,
        recurrence: Vec::new(),
        time_zone_rules: None,
        ..series.clone()
    };
    Instance { event, suffix, exception: None }
}
