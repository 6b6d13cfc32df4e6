//! Changes of an instance that are meant for all later ones, too: RECURRENCE-ID;RANGE=THISANDFUTURE (RFC 5545 section 3.2.13). What is
//! written of one instance is never written of the others: where the component for all of them is concerned, it begins one later.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use jiff::SignedDuration;
use model::Instant;
use model::calendar::Event;
use recurrence::{Caps, Place};

use crate::ical::exception::{id_line, like};
use crate::ical::instance::format_recurrence_id;
use crate::ical::lines::{line, remove, set_line, set_param};
use crate::ical::resource::{EVENT, events, events_mut, keep_one};
use crate::ical::select::Exception;
use crate::ical::series::{Editor, insert_event, no_instance, refused};
use crate::ical::time::{Moment, date};

/// Changed instances that are skipped on the way to the next one that follows the component for all of them.
const MAX_PASSED: usize = 1_000;

impl Editor<'_> {
    /// A copy of what says how this instance is: the last component before it that is meant for later ones, else the series. It
    /// names no instance and has no rules.
    pub fn instance_at<'a>(&self, calendar: &IcalCst<'a>, recurrence_id: &str) -> Outcome<IcalCst<'a>> {
        let selection = self.select(calendar);
        let earlier =
            selection.exceptions.iter().filter(|one| one.is_ranged && *one.recurrence_id < *recurrence_id);
        let last = earlier.max_by(|one, other| one.recurrence_id.cmp(&other.recurrence_id));
        match last.and_then(|ranged| ranged.at) {
            Some(at) => self.moved_to(calendar, at, recurrence_id),
            None => self.instance_of(self.main(calendar)?, recurrence_id),
        }
    }

    /// A component that is meant for all later instances, as one of those.
    fn moved_to<'a>(&self, calendar: &IcalCst<'a>, at: usize, recurrence_id: &str) -> Outcome<IcalCst<'a>> {
        let all = events(calendar);
        let component = *all.get(at).ok_or_else(|| no_instance(recurrence_id))?;
        let clock = self.reader.clock(self.original);
        let start = clock.moment(self.main(calendar)?, "DTSTART");
        let event = self.reader.event(component, start.as_ref(), &clock).map_err(Failure::invalid)?;
        let event = Event { applies_to_following: true, ..event };
        let place = self.place(calendar, event.clone(), recurrence_id)?;
        let mut copy = component.clone();
        for name in ["RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"] {
            remove(&mut copy, name);
        }
        for (name, at) in [("DTSTART", place.start), ("DTEND", place.end)] {
            let Some(shape) = line(component, name) else { continue };
            let value = match clock.read(shape) {
                Some(Moment::Time { zone, .. }) => format_recurrence_id(shape, at, &zone),
                _ => date(clock.home.local(at.timestamp()).date()),
            };
            set_line(&mut copy, like(shape, name, &value));
        }
        Ok(copy)
    }

    /// Returns the position of the instance as this exception has it.
    fn place(&self, calendar: &IcalCst, exception: Event, recurrence_id: &str) -> Outcome<Place> {
        let missing = || no_instance(recurrence_id);
        let rules = self.series(calendar)?;
        let original = rules.original_start(recurrence_id).ok_or_else(missing)?;
        let near = |days: i64| original.timestamp().checked_add(SignedDuration::from_hours(24 * days));
        let (Ok(from), Ok(to)) = (near(-2), near(2)) else { return Err(missing()) };
        let named = Event { recurrence_id: Some(recurrence_id.to_owned()), ..Event::default() };
        let suffix = recurrence::exception_suffix(&rules, &named).ok_or_else(missing)?;
        let range = (Instant::from(from), Instant::from(to));
        recurrence::place_of(&rules, &[exception], range, &suffix, Caps::default().max_steps)
            .map_err(refused)?
            .ok_or_else(missing)
    }

    /// The component for all instances behind this one, of which the one at this index is meant for it and them. None where the next
    /// has a component of that kind already, or there is none.
    pub fn later<'a>(
        &self,
        calendar: &IcalCst<'a>,
        at: usize,
        recurrence_id: &str,
    ) -> Outcome<Option<IcalCst<'a>>> {
        let clock = self.reader.clock(self.original);
        if events(calendar).get(at).is_none_or(|one| self.reader.event(one, None, &clock).is_err()) {
            // An unreadable one may change the later instances in an unknown way.
            return Ok(None);
        }
        let rules = self.series(calendar)?;
        let selection = self.select(calendar);
        let mut after = rules.original_start(recurrence_id).ok_or_else(|| no_instance(recurrence_id))?;
        for _ in 0..MAX_PASSED {
            let next = recurrence::next_after(&rules, after, Caps::default()).map_err(refused)?;
            let Some(next) = next else { return Ok(None) };
            after = next.start;
            match selection.exception(&next.recurrence_id) {
                Some(own) if own.is_ranged || !own.ranged.is_empty() => return Ok(None),
                Some(own) if own.at.is_some() => continue,
                _ => {}
            }
            let mut later = self.moved_to(calendar, at, &next.recurrence_id)?;
            if let Some(start) = line(self.main(calendar)?, "DTSTART") {
                let mut named = id_line(start, &next.recurrence_id);
                set_param(&mut named, "RANGE", Some("THISANDFUTURE"));
                later.push_line(named);
            }
            return Ok(Some(later));
        }
        Err(Failure::invalid(
            "recurrenceScope: a change of this instance is meant for all later ones, and too many of them were changed to tell them apart; change the series",
        ))
    }

    /// Makes a component for all later instances one for its own alone; the others get one of their own, which begins with the next.
    /// Without the series the next instance is unknown: then the component stays beside the one for this instance. Returns the index
    /// of the latter.
    pub fn begin_later(
        &self,
        calendar: &mut IcalCst,
        (at, found): (usize, &Exception),
        recurrence_id: &str,
    ) -> Outcome<usize> {
        if self.select(calendar).main.is_none() {
            let at = keep_one(calendar, EVENT, at, &found.superseded);
            let mut alone = events(calendar)[at].clone();
            without_range(&mut alone);
            insert_event(calendar, at + 1, alone);
            return Ok(at + 1);
        }
        let later = self.later(calendar, at, recurrence_id)?;
        let copies: Vec<usize> = found.superseded.iter().chain(&found.ranged).copied().collect();
        let at = keep_one(calendar, EVENT, at, &copies);
        if let Some(later) = later {
            insert_event(calendar, at + 1, later);
        }
        events_mut(calendar).nth(at).into_iter().for_each(without_range);
        Ok(at)
    }
}

/// The component for its own instance alone.
fn without_range(component: &mut IcalCst) {
    for item in &mut component.items {
        match item {
            IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case("RECURRENCE-ID") => {
                set_param(line, "RANGE", None);
            }
            _ => {}
        }
    }
}
