//! A stored series and its exceptions, evaluated over a range of time; and the ranges in which a series that cannot be expanded may have
//! instances. Pure.

use base::error::Result;
use model::Instant;
use model::calendar::Event;
use recurrence::{Caps, Error, Instances, Invalid, Place, Source};
use serde_json::{Value, json};
use storage::items::Item;

use crate::resources::events::instance::Instance;

/// The code of the warnings about a recurrence.
const WARNING: &str = "recurrence_not_expanded";

/// A series, parsed once for all queries of a request.
pub struct Series<'a> {
    pub row: &'a Item,
    pub event: Event,
    /// In the order of `changed`.
    exceptions: Vec<&'a Item>,
    changed: Vec<Event>,
    rules: std::result::Result<recurrence::Series, Invalid>,
}

/// Steps that all series of one request may cost together: sixteen times what one of them may (0.8 s at worst).
const REQUEST_STEPS: u32 = 16 * 250_000;

/// Steps that the series of one request may still use, so that many expensive series together stay bounded.
#[derive(Debug)]
pub struct ExpansionBudget(u32);

impl Default for ExpansionBudget {
    fn default() -> Self {
        ExpansionBudget(REQUEST_STEPS)
    }
}

/// The instances that count as inside a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Instances that begin in the range.
    Inside,
    /// Also instances that began before the range and are still running.
    Before,
}

/// The part of a range in which the times of a series are unknown.
#[derive(Debug)]
pub struct UnexpandedRange {
    /// Unix ms, half-open: the series may have instances here and nowhere else.
    pub range: (i64, i64),
    pub error: Error,
}

impl<'a> Series<'a> {
    /// Parses a series with its exceptions. Two exceptions may replace one instance if a provider reported them on two pages. The one with
    /// the higher SEQUENCE (RFC 5545) counts, as on one page (`local_copy::deduplicate`); of equal ones the one that was stored or changed
    /// last.
    pub fn read(row: &'a Item, exceptions: &'a [Item]) -> Result<Series<'a>> {
        let event: Event = serde_json::from_str(&row.body)?;
        let mut read = Vec::with_capacity(exceptions.len());
        for item in exceptions {
            read.push((item, serde_json::from_str::<Event>(&item.body)?));
        }
        // The later of two exceptions for one instance counts (`recurrence::Instances`).
        read.sort_by(|(one, a), (other, b)| {
            (a.sequence, one.sequence, &one.id).cmp(&(b.sequence, other.sequence, &other.id))
        });
        let (exceptions, changed) = read.into_iter().unzip();
        let rules = recurrence::Series::parse(&event);
        Ok(Series { row, event, exceptions, changed, rules })
    }

    /// The series without its long texts, for queries that need only its times.
    pub fn without_texts(mut self) -> Self {
        for event in self.changed.iter_mut().chain([&mut self.event]) {
            event.description = None;
            event.description_html = None;
        }
        self
    }

    /// Whether some of its instances were changed individually.
    pub fn has_exceptions(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Visits the instances in a range (Unix ms), in order of start, exceptions in their place and cancelled ones included, until the
    /// visitor returns false. If the recurrence cannot be read or costs too much, the exceptions are visited all the same, and the rest of
    /// the range is returned.
    pub fn visit(
        &self,
        from: i64,
        to: i64,
        start: Start,
        budget: &mut ExpansionBudget,
        visitor: &mut dyn FnMut(Place) -> bool,
    ) -> Option<UnexpandedRange> {
        let range = (Instant::from_millis(from), Instant::from_millis(to));
        let rules = match &self.rules {
            Ok(rules) => rules,
            Err(invalid) => {
                self.exceptions_in(range.0, range.1, start).into_iter().all(&mut *visitor);
                return self.unexpanded(from, to, from, invalid.clone().into());
            }
        };
        let max = Caps::default().max_steps;
        let steps = max.min(budget.0);
        let read = (&self.event, rules);
        let mut places = match start {
            Start::Inside => Instances::starting(read, &self.changed, range, steps),
            Start::Before => Instances::overlapping(read, &self.changed, range, steps),
        };
        let mut known_to = from;
        let mut unexpanded = None;
        let mut is_stopped = false;
        for place in places.by_ref() {
            match place {
                Err(Error::TooExpensive(_)) => {
                    unexpanded = self.unexpanded(from, to, known_to, Error::TooExpensive(max));
                }
                Err(error) => unexpanded = self.unexpanded(from, to, known_to, error),
                Ok(place) => {
                    if matches!(place.source, Source::Occurrence(_)) && place.follows.is_none() {
                        known_to = known_to.max(place.start.as_millis());
                    }
                    if !visitor(place) {
                        is_stopped = true;
                        break;
                    }
                }
            }
        }
        budget.0 -= steps - places.steps_left();
        unexpanded.filter(|_| !is_stopped)
    }

    /// The stored exceptions in a range, for a series whose rule cannot be evaluated further.
    fn exceptions_in(&self, from: Instant, to: Instant, start: Start) -> Vec<Place> {
        let is_inside = |event: &Event| {
            event.start < to && (event.start >= from || (start == Start::Before && event.end > from))
        };
        let place = |(index, event): (usize, &Event)| Place {
            start: event.start,
            end: event.end,
            suffix: String::new(),
            source: Source::Exception(index),
            follows: None,
        };
        let mut found: Vec<Place> =
            self.changed.iter().enumerate().filter(|(_, event)| is_inside(event)).map(place).collect();
        found.sort_by_key(|place| place.start);
        found
    }

    /// The part of the range after `known_to` in which the series may have instances; none if it has none there.
    pub fn unexpanded(&self, from: i64, to: i64, known_to: i64, error: Error) -> Option<UnexpandedRange> {
        let (from, to) = (Instant::from_millis(from), Instant::from_millis(to));
        let (from, to) = recurrence::possible_span(&self.event).within(from, to)?;
        let from = from.as_millis().max(known_to);
        (from < to.as_millis()).then(|| UnexpandedRange { range: (from, to.as_millis()), error })
    }

    /// The exception that replaces the instance whose id ends in this suffix.
    pub fn exception(&self, suffix: &str) -> Option<&'a Item> {
        let rules = self.rules.as_ref().ok()?;
        let is_it =
            |event: &Event| recurrence::exception_suffix(rules, event).is_some_and(|own| own == suffix);
        // Of two exceptions for one instance the last counts.
        self.exceptions.get(self.changed.iter().rposition(is_it)?).copied()
    }

    /// The instance whose id ends in this suffix, if no exception replaces it; its original start lies in the range (Unix ms). None also if
    /// the recurrence cannot be read: then no id refers to an instance.
    pub fn named(&self, suffix: &str, from: i64, to: i64) -> std::result::Result<Option<Instance>, Error> {
        let Ok(rules) = &self.rules else { return Ok(None) };
        let range = (Instant::from_millis(from), Instant::from_millis(to));
        let max = Caps::default().max_steps;
        let place = recurrence::place_of(rules, &self.changed, range, suffix, max)?;
        Ok(place.map(|place| self.instance(place)))
    }

    /// The id of an instance: the exception's own, else the series' with the original start.
    pub fn id_of(&self, place: &Place) -> String {
        match &place.source {
            Source::Exception(index) => self.exceptions.get(*index).map(|i| i.id.clone()).unwrap_or_default(),
            Source::Occurrence(_) => format!("{}_{}", self.row.id, place.suffix),
        }
    }

    /// The row of an exception.
    pub fn stored(&self, place: &Place) -> Option<&'a Item> {
        match place.source {
            Source::Exception(index) => self.exceptions.get(index).copied(),
            Source::Occurrence(_) => None,
        }
    }

    /// The exception whose fields (except times) an instance has, with its index: its own, or the one that it follows. None: the series'.
    pub fn changed_by(&self, place: &Place) -> Option<(usize, &Event)> {
        let index = match place.source {
            Source::Exception(index) => index,
            Source::Occurrence(_) => place.follows?,
        };
        Some((index, self.changed.get(index)?))
    }

    /// Builds the event of an instance.
    pub fn instance(&self, place: Place) -> Instance {
        let (id, stored) = (self.id_of(&place), self.stored(&place).cloned());
        Instance { id, event: place.instance(&self.event, &self.changed).event, stored }
    }

    /// Warnings to return with the instances: dates of the rule that could not be read.
    pub fn warnings(&self) -> Vec<Value> {
        let faults = self.rules.as_ref().map(recurrence::Series::faults).unwrap_or_default();
        faults.iter().map(|fault| warning(&format!("{fault}; it is left out"))).collect()
    }
}

impl UnexpandedRange {
    /// Whether the recurrence cannot be read at all; otherwise it is too expensive.
    pub fn is_invalid(&self) -> bool {
        matches!(self.error, Error::Invalid(_))
    }

    /// The warning at the event that is listed in place of its instances.
    pub fn warning(&self) -> Value {
        warning(&format!("this series is listed as it is stored, without its instances: {}", self.error))
    }
}

fn warning(message: &str) -> Value {
    json!({ "code": WARNING, "message": message, "target": "recurrence" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, event: &Event) -> Item {
        Item { id: id.to_owned(), body: serde_json::to_string(event).unwrap(), ..Item::default() }
    }

    fn at(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    fn series(lines: &[&str]) -> Event {
        Event {
            start: Instant::from_millis(at("2026-03-02T09:00:00Z")),
            end: Instant::from_millis(at("2026-03-02T10:00:00Z")),
            time_zone: "UTC".into(),
            recurrence: lines.iter().map(ToString::to_string).collect(),
            ..Event::default()
        }
    }

    /// Starts (day and hour) of the instances in March 2026, and the unknown range.
    fn march(event: &Event, exceptions: &[Item]) -> (Vec<String>, Option<(String, String)>) {
        let row = item("evt_1", event);
        let whole = Series::read(&row, exceptions).unwrap();
        let mut found = Vec::new();
        let short =
            |ms: i64| Instant::from_millis(ms).to_string().chars().skip(5).take(8).collect::<String>();
        let (from, to) = (at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z"));
        let unexpanded =
            whole.visit(from, to, Start::Before, &mut ExpansionBudget::default(), &mut |place| {
                found.push(short(place.start.as_millis()));
                true
            });
        (found, unexpanded.map(|u| (short(u.range.0), short(u.range.1))))
    }

    #[test]
    fn of_two_exceptions_for_one_instance_the_newer_counts() {
        let exception = |id: &str, day: u8, revision: i64, sequence: i64| {
            let start = Instant::from_millis(at(&format!("2026-03-{day:02}T09:00:00Z")));
            let original_start = Some(Instant::from_millis(at("2026-03-03T09:00:00Z")));
            let event = Event { start, end: start, original_start, sequence: revision, ..series(&[]) };
            Item { sequence, ..item(id, &event) }
        };
        let daily = series(&["RRULE:FREQ=DAILY;COUNT=2"]);
        // SEQUENCE and last-change sequence of each.
        for (first, second, counts) in
            [((0, 1), (0, 2), "21"), ((0, 2), (0, 1), "20"), ((1, 1), (0, 2), "20"), ((0, 2), (1, 1), "21")]
        {
            let stored =
                [exception("evt_3", 20, first.0, first.1), exception("evt_2", 21, second.0, second.1)];
            let expected = ["03-02T09".to_owned(), format!("03-{counts}T09")];
            assert_eq!(march(&daily, &stored), (expected.to_vec(), None), "{first:?} {second:?}");
            let row = item("evt_1", &daily);
            let whole = Series::read(&row, &stored).unwrap();
            let named = whole.exception("20260303T090000Z").expect("an exception");
            assert_eq!(named.id, if counts == "20" { "evt_3" } else { "evt_2" });
        }
    }

    #[test]
    fn the_series_of_one_request_share_what_they_may_cost() {
        // No instance matches, and each second of the month is tried.
        let costly = series(&["RRULE:FREQ=SECONDLY", "EXRULE:FREQ=SECONDLY"]);
        let cheap = series(&["RRULE:FREQ=DAILY"]);
        let (costly, cheap) = (item("evt_1", &costly), item("evt_2", &cheap));
        let (costly, cheap) = (Series::read(&costly, &[]).unwrap(), Series::read(&cheap, &[]).unwrap());
        let (from, to) = (at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z"));
        let mut budget = ExpansionBudget::default();
        let mut visits = |series: &Series<'_>| {
            let mut count = 0;
            let unexpanded = series.visit(from, to, Start::Before, &mut budget, &mut |_| {
                count += 1;
                true
            });
            (count, unexpanded.map(|unexpanded| unexpanded.error))
        };
        assert_eq!(visits(&cheap), (30, None));
        for _ in 0..20 {
            assert!(matches!(visits(&costly).1, Some(Error::TooExpensive(_))));
        }
        let (count, error) = visits(&cheap);
        assert!(count < 30 && matches!(error, Some(Error::TooExpensive(_))), "{count} {error:?}");
        assert!(budget.0 < 250_000);
    }

    #[test]
    fn a_rule_that_nobody_can_expand_leaves_its_own_time_unknown_and_shows_its_exceptions() {
        let start = Instant::from_millis(at("2026-03-20T09:00:00Z"));
        let changed = item("evt_2", &Event { start, end: start, ..series(&[]) });
        let unknown = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        let hebrew = series(&["RRULE:RSCALE=HEBREW;FREQ=YEARLY"]);
        assert_eq!(
            march(&hebrew, std::slice::from_ref(&changed)),
            (vec!["03-20T09".into()], unknown("03-02T09", "04-01T00"))
        );
        let ends = series(&["RRULE:FREQ=DAILY;FREQ=WEEKLY;UNTIL=20260310T090000Z"]);
        assert_eq!(march(&ends, &[]), (vec![], unknown("03-02T09", "03-10T10")));
        let past = series(&["RRULE:FREQ=DAILY;FREQ=WEEKLY;UNTIL=20250310T090000Z"]);
        assert_eq!(
            march(&past, &[]),
            (vec![], unknown("03-02T09", "03-02T10")),
            "the start counts in any case"
        );
        let april = Event {
            start: Instant::from_millis(at("2026-04-02T09:00:00Z")),
            ..series(&["RRULE:FREQ=OFTEN"])
        };
        assert_eq!(march(&april, &[]), (vec![], None));
        assert_eq!(
            march(&series(&["RRULE:FREQ=WEEKLY;COUNT=2", "RDATE:soon"]), &[]).0,
            ["03-02T09", "03-09T09"]
        );
    }

    #[test]
    fn what_costs_too_much_is_unknown_from_where_it_was_given_up() {
        let (found, unknown) = march(&series(&["RRULE:FREQ=SECONDLY"]), &[]);
        let (from, to) = unknown.expect("a month has too many seconds");
        assert!(found.len() > 50_000, "{}", found.len());
        assert_eq!((Some(&from), to.as_str()), (found.last(), "04-01T00"));
    }
}
