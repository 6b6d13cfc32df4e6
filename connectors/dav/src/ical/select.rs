//! The components of a resource that count. RFC 4791 section 4.1 allows one series or single event and one component for each of its
//! changed instances, all of one UID; servers take, and clients write, more than that. Of several components for one thing the newest
//! counts, as for a receiver of messages (RFC 5546 section 2.1.5): the highest SEQUENCE, then the newest DTSTAMP, then the newest
//! LAST-MODIFIED, then the last one in the text. One that cannot be read counts for nothing where another can.
//!
//! - **Which instance** a RECURRENCE-ID names is compared as the series says it: in its zone, or as a day. So the spelling of a zone, UTC
//!   in the place of a zone, and a DATE in the place of a DATE-TIME make no difference. Where there is no series, the
//!   RECURRENCE-ID of the first instance stands for its start.
//! - **An all-day series** has days. A time in one names the day that it writes, in whichever zone (Exchange writes the midnight of
//!   the organizer's); one in UTC the day that begins then (`recurrence::named_day`).
//! - **RANGE=THISANDFUTURE** (RFC 5545 section 3.2.13) changes all later instances, too. For its own instance a component
//!   without RANGE wins, regardless of SEQUENCE, and the two are not copies of each other. Where one has both, the later
//!   instances are listed without it, with a warning.
//! - **Another UID** than the resource's own (`resource::uid`): those components are left alone, with a warning.

use std::collections::HashMap;

use ical::tree::cst::IcalCst;
use model::Instant;

use crate::ical::lines::{components, line, param, text};
use crate::ical::resource::{is_exception, sequence, uid};
use crate::ical::time::{Clock, Moment, recurrence_id};

/// How new a component is: of two the greater one counts.
pub type Rank = (i64, Option<Instant>, Option<Instant>, usize);

/// The components of a resource by their role. Components are named by their index among those of their name.
#[derive(Debug, Default)]
pub struct Selection {
    /// The series or the single item.
    pub main: Option<usize>,
    /// Other components for the same thing.
    pub superseded: Vec<usize>,
    /// The form of the recurrence ids: the start of the series, or its substitute.
    pub reference: Option<Moment>,
    /// Changed instances, in the order in which their first components stand.
    pub exceptions: Vec<Exception>,
    /// Places in `exceptions`, by recurrence id.
    by_id: HashMap<String, usize>,
    /// Changed instances of which it cannot be read which ones they are.
    pub unknown: Vec<usize>,
    /// Components of another UID.
    pub foreign: usize,
}

/// A changed instance.
#[derive(Debug, Default)]
pub struct Exception {
    /// As the model has it.
    pub recurrence_id: String,
    /// The component that counts; none: none of them can be read.
    pub at: Option<usize>,
    /// The component is meant for all later instances, too.
    pub is_ranged: bool,
    /// Components for this instance alone that do not count.
    pub superseded: Vec<usize>,
    /// Components for all later instances, too, that do not count.
    pub ranged: Vec<usize>,
}

impl Selection {
    /// Returns the changed instance of this id; `recurrence_id` is as the model has it.
    pub fn exception(&self, recurrence_id: &str) -> Option<&Exception> {
        self.by_id.get(recurrence_id).and_then(|at| self.exceptions.get(*at))
    }

    /// Whether an instance without its own component follows one for earlier instances.
    pub fn follows(&self, recurrence_id: &str) -> bool {
        self.exceptions.iter().any(|one| one.is_ranged && *one.recurrence_id < *recurrence_id)
    }

    /// The components that say the same as others and do not count.
    pub fn copies(&self) -> Vec<usize> {
        let of = |exception: &Exception| match (exception.at, exception.is_ranged) {
            (None, _) => Vec::new(),
            (Some(_), false) => exception.superseded.clone(),
            (Some(_), true) => exception.ranged.clone(),
        };
        self.superseded.iter().copied().chain(self.exceptions.iter().flat_map(of)).collect()
    }

    /// Sorts the components of this name. `is_readable` decides whether one can become an item.
    pub fn from_calendar<'s>(
        calendar: &'s IcalCst,
        name: &'s str,
        clock: &'s Clock,
        is_readable: &'s dyn Fn(&IcalCst) -> bool,
    ) -> Selection {
        let all: Vec<&IcalCst> = components(calendar, name).collect();
        if let [alone] = all[..]
            && !is_exception(alone)
        {
            return Selection { main: Some(0), ..Selection::default() };
        }
        let uid = uid(calendar, name);
        let (own, foreign): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|at| belongs(all[*at], uid.as_deref()));
        let (exceptions, mains): (Vec<usize>, Vec<usize>) =
            own.into_iter().partition(|at| is_exception(all[*at]));
        let sorter = Sorter { all, clock, is_readable };
        // One that cannot be read, where none can, says itself what is wrong with it.
        let main = sorter.newest(&mains).or(mains.first().copied());
        let found = Selection {
            main,
            superseded: mains.into_iter().filter(|at| Some(*at) != main).collect(),
            foreign: foreign.len(),
            ..Selection::default()
        };
        if let Some(main) = main {
            let reference = clock.moment(sorter.all[main], "DTSTART");
            return sorter.sort_exceptions(found, &exceptions, reference);
        }
        // What counts of the first instance stands for the start: so it does when its copies are gone.
        let reference = exceptions.iter().find_map(|at| sorter.id(*at));
        let tried = sorter.sort_exceptions(Selection::default(), &exceptions, reference.clone());
        let first = tried.exceptions.iter().find_map(|exception| sorter.id(exception.at?));
        sorter.sort_exceptions(found, &exceptions, first.or(reference))
    }
}

/// A resource's components of one name.
struct Sorter<'s, 'a, 'c> {
    all: Vec<&'s IcalCst<'a>>,
    clock: &'s Clock<'c>,
    is_readable: &'s dyn Fn(&IcalCst) -> bool,
}

impl Sorter<'_, '_, '_> {
    /// Parses a RECURRENCE-ID.
    fn id(&self, at: usize) -> Option<Moment> {
        line(self.all[at], "RECURRENCE-ID").and_then(|line| self.clock.read(line))
    }

    /// The newest of those that can be read.
    fn newest(&self, candidates: &[usize]) -> Option<usize> {
        let readable = candidates.iter().copied().filter(|at| (self.is_readable)(self.all[*at]));
        readable.max_by_key(|at| rank(self.all[*at], *at, self.clock))
    }

    /// The selection with the exceptions, whose recurrence ids have the form of `reference`.
    fn sort_exceptions(
        &self,
        mut found: Selection,
        exceptions: &[usize],
        reference: Option<Moment>,
    ) -> Selection {
        let mut candidates: Vec<Vec<usize>> = Vec::new();
        for at in exceptions.iter().copied() {
            let Some(id) = self.id(at).and_then(|id| original(&id, reference.as_ref(), self.clock)) else {
                found.unknown.push(at);
                continue;
            };
            let place = *found.by_id.entry(id).or_insert(candidates.len());
            if place == candidates.len() {
                candidates.push(Vec::new());
            }
            candidates[place].push(at);
        }
        found.exceptions = candidates.into_iter().map(|candidates| self.exception(candidates)).collect();
        for (id, place) in &found.by_id {
            found.exceptions[*place].recurrence_id.clone_from(id);
        }
        found.reference = reference;
        found
    }

    /// Chooses among the components for one instance.
    fn exception(&self, candidates: Vec<usize>) -> Exception {
        let (ranged, plain): (Vec<usize>, Vec<usize>) =
            candidates.into_iter().partition(|at| is_ranged(self.all[*at]));
        let alone = self.newest(&plain);
        let at = alone.or_else(|| self.newest(&ranged));
        let rest = |all: Vec<usize>| all.into_iter().filter(|other| Some(*other) != at).collect();
        Exception {
            recurrence_id: String::new(),
            at,
            is_ranged: at.is_some() && alone.is_none(),
            superseded: rest(plain),
            ranged: rest(ranged),
        }
    }
}

impl Exception {
    /// All components that say something of this instance.
    pub fn all(&self) -> Vec<usize> {
        self.at
            .into_iter()
            .chain(self.superseded.iter().copied())
            .chain(self.ranged.iter().copied())
            .collect()
    }
}

/// How new a component is; `at` is its index.
pub fn rank(component: &IcalCst, at: usize, clock: &Clock) -> Rank {
    let instant = |name| clock.moment(component, name).and_then(|moment| moment.instant(clock));
    (sequence(component), instant("DTSTAMP"), instant("LAST-MODIFIED"), at)
}

/// Whether a component is of this UID. One without belongs to the others: nothing says that it does not.
pub fn belongs(component: &IcalCst, uid: Option<&str>) -> bool {
    text(component, "UID").is_none_or(|own| uid.is_none_or(|uid| own.trim() == uid.trim()))
}

/// Whether it is meant for all later instances, too.
pub fn is_ranged(component: &IcalCst) -> bool {
    let range = line(component, "RECURRENCE-ID").and_then(|line| param(line, "RANGE"));
    range.is_some_and(|range| range.eq_ignore_ascii_case("THISANDFUTURE"))
}

/// The original start as the series writes it: local in the series' zone, or a day.
pub fn original(original: &Moment, series: Option<&Moment>, clock: &Clock) -> Option<String> {
    match (original, series) {
        (Moment::Day(day), Some(Moment::Time { local, .. })) => {
            Some(recurrence_id(day.to_datetime(local.time())))
        }
        (Moment::Day(day), _) => Some(day.to_string()),
        (Moment::Time { local, zone }, Some(Moment::Day(_))) => {
            if !zone.is_iana() || zone.name != "UTC" {
                return Some(local.date().to_string());
            }
            let at = zone.instant(*local)?;
            Some(recurrence::named_day(at, clock.home.local(at)).to_string())
        }
        (Moment::Time { local, zone }, Some(Moment::Time { zone: series, .. })) if !zone.is_same(series) => {
            Some(recurrence_id(series.local(zone.instant(*local)?)))
        }
        (Moment::Time { local, .. }, _) => Some(recurrence_id(*local)),
    }
}

/// The instant of an original start, as the series places it.
pub fn original_instant(original_at: &Moment, series: Option<&Moment>, clock: &Clock) -> Option<Instant> {
    match (original_at, series) {
        (Moment::Day(day), Some(Moment::Time { local, zone })) => {
            zone.instant(day.to_datetime(local.time())).map(Instant::from)
        }
        (Moment::Time { .. }, Some(Moment::Day(_))) => {
            let day = original(original_at, series, clock)?.parse().ok()?;
            Moment::Day(day).instant(clock)
        }
        _ => original_at.instant(clock),
    }
}
