//! The recurrence set of a series (RFC 5545 §3.8.5): DTSTART, every RRULE and every RDATE, less every EXDATE and EXRULE; in order,
//! each instance once, and no more of it looked at than is taken.

use crate::Error;
use crate::generated::RuleInstances;
use crate::rule::Repeat;
use crate::series::{FoundInstance, Series};
use crate::walk::Budget;

/// The instances with original starts in a range, and the periods of RDATE that reach into it. After an error it has no more.
pub(crate) struct RecurrenceSet<'s> {
    series: &'s Series,
    /// Milliseconds since the Unix epoch, half-open.
    range: (i64, i64),
    budget: Budget,
    start: Option<FoundInstance>,
    rules: Vec<Head<'s>>,
    excluding: Vec<Head<'s>>,
    /// The RDATEs that are still to come.
    added: &'s [FoundInstance],
    /// The one that was looked at last: two may turn out to be one.
    last: Option<FoundInstance>,
    ended: bool,
}

/// A rule and its next instance, once that was looked for.
struct Head<'s> {
    source: Option<RuleInstances<'s>>,
    repeat: &'s Repeat,
    next: Option<Option<FoundInstance>>,
}

impl<'s> Head<'s> {
    fn peek(
        &mut self,
        series: &'s Series,
        range: (i64, i64),
        budget: &mut Budget,
    ) -> Result<Option<FoundInstance>, Error> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        let source = match &mut self.source {
            Some(source) => source,
            none => none.insert(RuleInstances::new(series, self.repeat, range, budget)?),
        };
        let next = source.next(budget)?.map(|(found, _)| found);
        self.next = Some(next);
        Ok(next)
    }
}

impl<'s> RecurrenceSet<'s> {
    /// Creates the set of occurrences from `from_ms` to `to_ms`; the search takes at most `max_steps` steps.
    pub(crate) fn new(series: &'s Series, from_ms: i64, to_ms: i64, max_steps: u32) -> Self {
        let head = |repeat: &'s Repeat| Head { source: None, repeat, next: None };
        let of_kind = |excludes: bool| {
            series.repeats.iter().filter(move |r| r.excludes == excludes).map(head).collect::<Vec<_>>()
        };
        RecurrenceSet {
            series,
            range: (from_ms, to_ms),
            budget: Budget::new(max_steps),
            start: series.first(),
            rules: of_kind(false),
            excluding: of_kind(true),
            added: &series.added,
            last: None,
            ended: false,
        }
    }

    /// Steps that are left of `max_steps`.
    pub(crate) fn steps_left(&self) -> u32 {
        self.budget.left()
    }

    fn next_found(&mut self) -> Result<Option<FoundInstance>, Error> {
        while let Some(mut found) = self.take()? {
            let at = self.series.start_ms(&found);
            if at >= self.range.1 {
                break;
            }
            // The name of an instance is its existing local time, which comes first.
            if self.last.is_some_and(|last| self.series.is_same(&last, &found)) {
                continue;
            }
            self.last = Some(found);
            // An RDATE's own end wins over the rule's.
            while let Some((double, rest)) = self.added.split_first()
                && self.series.is_same(double, &found)
            {
                found.end = found.end.or(double.end);
                self.added = rest;
            }
            let reaches =
                at >= self.range.0 || found.end.is_some_and(|end| end > self.range.0.div_euclid(1000));
            if reaches && !self.series.is_excluded(&found) && !self.is_ruled_out(&found)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first of the next instances of all sources.
    fn peek(&mut self) -> Result<Option<FoundInstance>, Error> {
        let series = self.series;
        let mut best = self.start;
        let mut consider = |found: Option<FoundInstance>| {
            if found.is_some_and(|found| best.is_none_or(|best| series.key(&found) < series.key(&best))) {
                best = found;
            }
        };
        consider(self.added.first().copied());
        // Nothing that a rule generates comes before DTSTART or is it: most questions about the first instance end here.
        if self.start.is_some() {
            return Ok(best);
        }
        for head in &mut self.rules {
            consider(head.peek(series, self.range, &mut self.budget)?);
        }
        Ok(best)
    }

    /// The same, and removes it from its source.
    fn take(&mut self) -> Result<Option<FoundInstance>, Error> {
        let Some(best) = self.peek()? else { return Ok(None) };
        if self.start == Some(best) {
            self.start = None;
        } else if let Some((first, rest)) = self.added.split_first()
            && *first == best
        {
            self.added = rest;
        } else if let Some(head) = self.rules.iter_mut().find(|head| head.next == Some(Some(best))) {
            head.next = None;
        }
        Ok(Some(best))
    }

    /// Whether an EXRULE names this instance.
    fn is_ruled_out(&mut self, found: &FoundInstance) -> Result<bool, Error> {
        let key = self.series.key(found);
        for head in &mut self.excluding {
            while let Some(next) = head.peek(self.series, self.range, &mut self.budget)? {
                if self.series.is_same(&next, found) {
                    return Ok(true);
                }
                if self.series.key(&next) > key {
                    break;
                }
                head.next = None;
            }
        }
        Ok(false)
    }
}

impl Iterator for RecurrenceSet<'_> {
    type Item = Result<FoundInstance, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_found().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
