//! Edits the iCalendar text of a resource: the series, one instance, or an instance and all later ones.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use model::Instant;
use model::calendar::Event;
use model::wire::Warning;
use recurrence::{Caps, Series};

use crate::collection::changed::FieldSet;
use crate::ical::before::Before;
use crate::ical::exception::{exception_with_id, id_line, like};
use crate::ical::lines::{line, raw_line, remove, set_line, set_param, set_text, text_line};
use crate::ical::people::{self, organizes};
use crate::ical::read::Reader;
use crate::ical::resource::{
    self, EVENT, define_zones, events, events_mut, keep_one, places, print, put_first, remove_at,
    remove_events, touch,
};
use crate::ical::select::{Exception, Selection, belongs, original};
use crate::ical::write::Writer;

/// A resource after an edit.
#[derive(Debug, Default)]
pub struct Update {
    /// The text to store; none if nothing is left and the resource is to be deleted.
    pub text: Option<String>,
    pub warnings: Vec<Warning>,
}

/// A series cut in two.
#[derive(Debug)]
pub struct Split {
    /// The old resource, ended before the cut.
    pub old: Update,
    /// The new resource.
    pub new: String,
}

/// An edit of one resource.
pub struct Editor<'c> {
    pub reader: &'c Reader,
    pub original: &'c IcalCst<'c>,
    pub now: Instant,
    /// Whether the server shall notify attendees; none if that cannot be set.
    pub server_tells: Option<bool>,
}

/// The failure for an instance that does not exist.
pub fn no_instance(recurrence_id: &str) -> Failure {
    Failure::not_found(format!("the series has no instance at {recurrence_id}"))
}

/// Converts an error of `recurrence` to a failure.
pub fn refused(error: recurrence::Error) -> Failure {
    match error {
        recurrence::Error::NoSuchInstance(id) => no_instance(&id),
        other => Failure::invalid(other.to_string()),
    }
}

impl Editor<'_> {
    pub fn writer(&self) -> Writer<'_> {
        Writer::new(self.reader, self.original, self.now)
    }

    /// Selects the current VEVENTs of the resource.
    pub fn select(&self, calendar: &IcalCst) -> Selection {
        self.reader.select(calendar, &self.reader.clock(self.original))
    }

    /// The single event or the series.
    pub fn main<'e, 'a>(&self, calendar: &'e IcalCst<'a>) -> Outcome<&'e IcalCst<'a>> {
        let at = self.select(calendar).main;
        at.and_then(|at| events(calendar).get(at).copied())
            .ok_or_else(|| Failure::invalid("the provider has only single instances of this series"))
    }

    /// The index of the single event or the series, for a change. Removes copies of it: after the change it would depend on clocks which of
    /// them is the newest.
    fn claim_main(&self, calendar: &mut IcalCst) -> Outcome<usize> {
        let Selection { main, superseded, .. } = self.select(calendar);
        let main = main.ok_or_else(|| {
            Failure::invalid("the provider has only single instances of this series; change those")
        })?;
        Ok(keep_one(calendar, EVENT, main, &superseded))
    }

    /// The series as the model has it.
    pub fn main_event(&self, calendar: &IcalCst) -> Outcome<Event> {
        let clock = self.reader.clock(self.original);
        self.reader
            .event(self.main(calendar)?, None, &clock)
            .map_err(|reason| Failure::invalid(format!("the event cannot be read: {reason}")))
    }

    /// The parsed rules of the series.
    pub fn series(&self, calendar: &IcalCst) -> Outcome<Series> {
        Series::parse(&self.main_event(calendar)?).map_err(|error| Failure::invalid(error.to_string()))
    }

    /// Returns a function from a VEVENT of the resource to its `recurrenceId`; none if it is not a changed instance of this series.
    pub fn exceptions(&self, uid: Option<&str>) -> impl Fn(&IcalCst) -> Option<String> {
        let clock = self.reader.clock(self.original);
        let reference = self.select(self.original).reference;
        move |event| {
            let line = line(event, "RECURRENCE-ID").filter(|_| belongs(event, uid))?;
            original(&clock.read(line)?, reference.as_ref(), &clock)
        }
    }

    /// Sets SCHEDULE-AGENT of the attendees, if the account is the organizer.
    fn mark_scheduling(&self, component: &mut IcalCst) {
        let known = if self.server_tells == Some(false) {
            people::scheduled_addresses(events(self.original))
        } else {
            Vec::new()
        };
        self.mark_new(component, &known);
    }

    /// Sets SCHEDULE-AGENT of new attendees; the server already schedules the `known` ones.
    fn mark_new(&self, component: &mut IcalCst, known: &[String]) {
        match self.server_tells.filter(|_| organizes(component, &self.reader.selves)) {
            Some(true) => people::schedule_by_server(component),
            Some(false) => people::schedule_new_by_client(component, known),
            None => {}
        }
    }

    /// Adds the time zones that the resource needs, and returns the update.
    pub fn finish(&self, mut calendar: IcalCst, writer: Writer) -> Update {
        define_zones(&mut calendar, &writer.zones);
        let text = (!events(&calendar).is_empty()).then(|| print(&calendar));
        Update { text, warnings: writer.warnings }
    }

    /// Changes the single event or the whole series. Excluded, added and changed instances are carried over; those that the new series does
    /// not have are dropped with a warning.
    pub fn update_main(&self, event: &Event, changed: &FieldSet) -> Outcome<Update> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let at = self.claim_main(&mut calendar)?;
        let (before, zone) = self.as_it_was(&calendar)?;
        let component = events_mut(&mut calendar).nth(at).ok_or_else(|| no_instance("its start"))?;
        writer.apply(component, event, changed);
        self.mark_scheduling(component);
        touch(component, self.now, changed.is_significant() && organizes(component, &self.reader.selves));
        let uid = resource::uid(&calendar, EVENT);
        if self.server_tells == Some(true) {
            // Attendees of the series who are not invited to one of its instances get a cancellation for that instance.
            let own = events_mut(&mut calendar).filter(|event| belongs(event, uid.as_deref()));
            own.for_each(|event| self.mark_scheduling(event));
        }
        if changed.moves() || changed.has("recurrence") {
            let is_kept = !changed.has("recurrence");
            let before = Before { series: before.as_ref(), zone, is_kept, moved: None };
            self.carry(&mut calendar, &mut writer, &before, uid.as_deref())?;
            self.match_start(&mut calendar, &writer);
        }
        Ok(self.finish(calendar, writer))
    }

    /// Removes exceptions of this UID that the series no longer has an instance for.
    pub fn drop_orphans(
        &self,
        calendar: &mut IcalCst,
        writer: &mut Writer,
        uid: Option<&str>,
    ) -> Outcome<()> {
        if events(calendar).len() < 2 {
            return Ok(());
        }
        let body = self.main_event(calendar)?;
        // If the rule cannot be parsed, it is unknown which instances no longer exist.
        let Ok(series) = Series::parse(&body) else { return Ok(()) };
        let id_of = self.exceptions(uid);
        let mut gone = Vec::new();
        remove_events(calendar, |event| {
            let Some(id) = id_of(event) else { return false };
            let stays = !body.recurrence.is_empty()
                && recurrence::occurs_at(&series, &id, Caps::default()).unwrap_or(true);
            if !stays {
                gone.push(id);
            }
            !stays
        });
        gone.dedup();
        for id in gone {
            writer.warn("exception_dropped", "this changed instance is no longer part of the series", &id);
        }
        Ok(())
    }

    /// Changes one instance: its VEVENT, which is created from the series if there is none.
    pub fn update_instance(&self, recurrence_id: &str, event: &Event, changed: &FieldSet) -> Outcome<Update> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let at = self.ensure_exception(&mut calendar, recurrence_id)?;
        let component = events_mut(&mut calendar).nth(at).ok_or_else(|| no_instance(recurrence_id))?;
        writer.apply(component, event, changed);
        self.mark_scheduling(component);
        touch(component, self.now, changed.is_significant() && organizes(component, &self.reader.selves));
        if changed.has("recurrence") && !event.recurrence.is_empty() {
            return Err(Failure::invalid("recurrence belongs to the series, not to one instance of it"));
        }
        Ok(self.finish(calendar, writer))
    }

    /// The index of the VEVENT that overrides this instance, for a change. Removes copies of it, and limits it to this instance, so that
    /// later ones do not change.
    pub fn ensure_exception(&self, calendar: &mut IcalCst, recurrence_id: &str) -> Outcome<usize> {
        let selection = self.select(calendar);
        if let Some(found) = selection.exception(recurrence_id) {
            match found.at {
                Some(at) if found.is_ranged => return self.begin_later(calendar, (at, found), recurrence_id),
                Some(at) => return Ok(keep_one(calendar, EVENT, at, &found.superseded)),
                // None of the existing copies can be parsed: the change replaces them.
                None => remove_at(calendar, EVENT, &found.superseded),
            }
        }
        if selection.main.is_none() {
            return Err(no_instance(recurrence_id));
        }
        self.ensure_known_zone(calendar)?;
        let series = self.series(calendar)?;
        if !recurrence::occurs_at(&series, recurrence_id, Caps::default()).map_err(refused)? {
            return Err(no_instance(recurrence_id));
        }
        let mut exception = self.instance_at(calendar, recurrence_id)?;
        match line(self.main(calendar)?, "DTSTART").filter(|_| selection.follows(recurrence_id)) {
            Some(start) => drop(exception.push_line(id_line(start, recurrence_id))),
            None => exception = exception_with_id(exception),
        }
        let last = events(calendar).len();
        insert_event(calendar, last, exception);
        Ok(last)
    }

    /// Deletes one instance: removes its components, and adds an EXDATE to the series.
    pub fn delete_instance(&self, recurrence_id: &str) -> Outcome<Update> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let selection = self.select(&calendar);
        let exception = selection.exception(recurrence_id);
        let mut gone: Vec<usize> = exception.map(Exception::all).unwrap_or_default();
        let ranged =
            exception.and_then(|one| if one.is_ranged { one.at } else { one.ranged.last().copied() });
        if selection.main.is_none() {
            if ranged.is_some() {
                let why = "this change was meant for all later instances too; they do not have it any more";
                writer.warn("exception_dropped", why, recurrence_id);
            }
            exception.ok_or_else(|| no_instance(recurrence_id))?;
            let uid = resource::uid(&calendar, EVENT);
            remove_at(&mut calendar, EVENT, &gone);
            // An event of another UID must not replace the deleted one: if none of this UID is left, all are removed.
            match events(&calendar).iter().position(|event| belongs(event, uid.as_deref())) {
                Some(own) => put_first(&mut calendar, EVENT, own),
                None => remove_events(&mut calendar, |_| true),
            }
            return Ok(self.finish(calendar, writer));
        }
        self.ensure_known_zone(&calendar)?;
        let series = self.series(&calendar)?;
        let occurs = recurrence::occurs_at(&series, recurrence_id, Caps::default()).map_err(refused)?;
        if exception.is_none() && !occurs {
            return Err(no_instance(recurrence_id));
        }
        if occurs {
            gone.extend(&selection.superseded);
        }
        let later = ranged.map(|at| self.later(&calendar, at, recurrence_id)).transpose()?.flatten();
        remove_at(&mut calendar, EVENT, &gone);
        if let Some(later) = later {
            let last = events(&calendar).len();
            insert_event(&mut calendar, last, later);
        }
        if occurs {
            let at = self.claim_main(&mut calendar)?;
            let component = events_mut(&mut calendar).nth(at).ok_or_else(|| no_instance(recurrence_id))?;
            // Written like the DTSTART of that instance, so that the zone keeps the name that the other client gave it.
            let copy = self.instance_of(component, recurrence_id)?;
            if let Some(start) = line(&copy, "DTSTART") {
                component.push_line(like(start, "EXDATE", start.raw_value_str().trim()));
            }
            touch(component, self.now, organizes(component, &self.reader.selves));
        }
        self.drop_if_empty(&mut calendar)?;
        Ok(self.finish(calendar, writer))
    }

    /// Deletes the resource if the series has no instances left.
    fn drop_if_empty(&self, calendar: &mut IcalCst) -> Outcome<()> {
        let uid = resource::uid(calendar, EVENT);
        let has_exceptions =
            events(calendar).iter().filter(|event| belongs(event, uid.as_deref())).count() > 1;
        let first = |series: &Series| recurrence::first(series, Caps::default());
        // A series whose first instance is too far away to be found counts as having instances.
        if !has_exceptions && matches!(first(&self.series(calendar)?), Ok(None)) {
            remove_events(calendar, |_| true);
        }
        Ok(())
    }

    /// Ends the series before this instance.
    pub fn cap(&self, recurrence_id: &str) -> Outcome<Update> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        self.ensure_known_zone(&calendar)?;
        let series = self.series(&calendar)?;
        let Some(lines) =
            recurrence::capped_before(&series, recurrence_id, Caps::default()).map_err(refused)?
        else {
            return Ok(Update::default());
        };
        let uid = resource::uid(&calendar, EVENT);
        let id_of = self.exceptions(uid.as_deref());
        remove_events(&mut calendar, |event| id_of(event).is_some_and(|id| *id >= *recurrence_id));
        let at = self.claim_main(&mut calendar)?;
        let component = events_mut(&mut calendar).nth(at).ok_or_else(|| no_instance(recurrence_id))?;
        writer.set_recurrence(component, &lines);
        self.mark_scheduling(component);
        touch(component, self.now, organizes(component, &self.reader.selves));
        self.match_start(&mut calendar, &writer);
        Ok(self.finish(calendar, writer))
    }

    /// Ends the series before this instance and creates a new series with `uid` from the rest, with the requested changes. If there is no
    /// earlier instance, the old resource is left without text.
    pub fn split(&self, recurrence_id: &str, uid: &str, event: &Event, changed: &FieldSet) -> Outcome<Split> {
        let series = self.series(self.original)?;
        let mut old = self.cap(recurrence_id)?;
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let rest = recurrence::remainder_from(&series, recurrence_id, Caps::default()).map_err(refused)?;
        let exception = self.select(&calendar).exception(recurrence_id).and_then(|found| found.at);
        let base = match exception {
            Some(at) => events(&calendar)[at].clone(),
            None => self.instance_at(&calendar, recurrence_id)?,
        };
        let zone = self.start_zone(self.main(&calendar)?);
        let mut main = base;
        remove(&mut main, "RECURRENCE-ID");
        let was = self.local_start(&main, &zone);
        writer.apply(&mut main, event, changed);
        let moved =
            was.zip(self.local_start(&main, &zone)).map_or(0, |(was, is)| is.duration_since(was).as_secs());
        if !changed.has("recurrence") {
            writer.set_recurrence(&mut main, &rest);
        }
        let old_uid = resource::uid(&calendar, EVENT).unwrap_or_default();
        set_line(&mut main, raw_line("SEQUENCE", &[], "0"));
        touch(&mut main, self.now, false);
        relate(&mut main, "FIRST", &old_uid);
        let id_of = self.exceptions(Some(old_uid.as_str()).filter(|uid| !uid.is_empty()));
        remove_events(&mut calendar, |event| id_of(event).is_none_or(|id| *id <= *recurrence_id));
        let first = places(&calendar, EVENT).next().unwrap_or(calendar.items.len());
        calendar.items.insert(first, IcalItem::Component(Box::new(main)));
        for component in events_mut(&mut calendar) {
            set_text(component, "UID", Some(uid));
            // No attendee has been invited to the new series yet.
            self.mark_new(component, &[]);
        }
        let before = series.continued(recurrence_id, &rest).map_err(refused)?;
        let is_kept = !changed.has("recurrence");
        let before = Before { series: Some(&before), zone, is_kept, moved: Some(moved) };
        self.carry(&mut calendar, &mut writer, &before, Some(uid))?;
        self.match_start(&mut calendar, &writer);
        let new = self.finish(calendar, writer);
        old.warnings.extend(new.warnings);
        old.text = old.text.map(|text| self.add_relation(&text, uid));
        Ok(Split { old, new: new.text.ok_or_else(|| no_instance(recurrence_id))? })
    }

    /// Adds to the ended series a reference to the series that continues it.
    fn add_relation(&self, text: &str, uid: &str) -> String {
        let Ok(mut calendar) = resource::parse(text) else { return text.to_owned() };
        let main = self.select(&calendar).main;
        if let Some(component) = main.and_then(|at| events_mut(&mut calendar).nth(at)) {
            relate(component, "NEXT", uid);
        }
        print(&calendar)
    }
}

/// Inserts a VEVENT before the one with this index, or after all others.
pub fn insert_event<'a>(calendar: &mut IcalCst<'a>, at: usize, event: IcalCst<'a>) {
    let place =
        places(calendar, EVENT).nth(at).or_else(|| places(calendar, EVENT).last().map(|last| last + 1));
    calendar.items.insert(place.unwrap_or(calendar.items.len()), IcalItem::Component(Box::new(event)));
}

/// Adds a RELATED-TO that links the parts of a split series (RFC 9253).
fn relate(component: &mut IcalCst, relation: &str, uid: &str) {
    let mut line = text_line("RELATED-TO", uid);
    set_param(&mut line, "RELTYPE", Some(relation));
    component.push_line(line);
}
