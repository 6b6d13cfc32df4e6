//! Edits of a resource: the series, one instance of it, or everything from one instance on. Text in, text out.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use model::Instant;
use model::calendar::{Event, ResponseStatus};
use model::wire::Warning;
use model::wire::calendar::RecurrenceScope;
use recurrence::{Caps, Series};

use crate::collection::changed::Changed;
use crate::ical::instance::{exception_with_id, like};
use crate::ical::lines::{component_name, line, raw_line, remove, set_line, set_param, set_text, text_line};
use crate::ical::people::{self, organizes};
use crate::ical::read::Reader;
use crate::ical::resource::{
    self, define_zones, events, events_mut, is_exception, master, master_mut, print, remove_events, touch,
};
use crate::ical::write::Writer;

/// A resource after an edit.
#[derive(Debug, Default)]
pub struct Edited {
    /// What to store; none: the resource has nothing left and is to be deleted.
    pub text: Option<String>,
    pub warnings: Vec<Warning>,
}

/// A series cut in two.
#[derive(Debug)]
pub struct Split {
    /// What remains of the old resource.
    pub old: Edited,
    /// The new resource.
    pub new: String,
}

/// One edit of one resource.
pub struct Editor<'c> {
    pub reader: &'c Reader,
    pub original: &'c IcalCst<'c>,
    pub now: Instant,
    /// Whether the server shall tell attendees; none where that cannot be said.
    pub server_tells: Option<bool>,
}

/// What is wrong with an instance that is not there.
pub fn no_instance(recurrence_id: &str) -> Failure {
    Failure::not_found(format!("the series has no instance at {recurrence_id}"))
}

fn refused(error: recurrence::Error) -> Failure {
    match error {
        recurrence::Error::NoSuchInstance(id) => no_instance(&id),
        other => Failure::invalid(other.to_string()),
    }
}

impl Editor<'_> {
    fn writer(&self) -> Writer<'_> {
        Writer::new(self.reader, self.original, self.now)
    }

    /// The master as the model has it.
    fn master_event(&self, calendar: &IcalCst) -> Outcome<Event> {
        let clock = self.reader.clock(self.original);
        let master = master(calendar)
            .ok_or_else(|| Failure::invalid("the provider has only single instances of this series"))?;
        self.reader
            .event(master, None, &clock)
            .map_err(|reason| Failure::invalid(format!("the event cannot be read: {reason}")))
    }

    fn series(&self, calendar: &IcalCst) -> Outcome<Series> {
        Series::parse(&self.master_event(calendar)?).map_err(|error| Failure::invalid(error.to_string()))
    }

    /// The recurrence id of an exception, as the model has it.
    fn recurrence_id(&self, event: &IcalCst, master: Option<&IcalCst>) -> Option<String> {
        let clock = self.reader.clock(self.original);
        self.reader.event(event, master, &clock).ok().and_then(|event| event.recurrence_id)
    }

    /// Which VEVENT overrides this instance.
    fn exception_at(&self, calendar: &IcalCst, recurrence_id: &str) -> Option<usize> {
        let master = master(calendar);
        let named = |event: &&IcalCst| {
            is_exception(event) && self.recurrence_id(event, master).as_deref() == Some(recurrence_id)
        };
        events(calendar).iter().position(named)
    }

    /// SCHEDULE-AGENT on every attendee, where the account organizes and somebody decided.
    fn mark_scheduling(&self, component: &mut IcalCst) {
        if let Some(server) = self.server_tells.filter(|_| organizes(component, &self.reader.selves)) {
            people::set_schedule_agent(component, server);
        }
    }

    fn finish(&self, mut calendar: IcalCst, writer: Writer) -> Edited {
        define_zones(&mut calendar, &writer.zones);
        let text = (!events(&calendar).is_empty()).then(|| print(&calendar));
        Edited { text, warnings: writer.warnings }
    }

    /// Changes the single event or the whole series. Exceptions whose original start is no longer an instance go, with a warning.
    pub fn update_main(&self, event: &Event, changed: &Changed) -> Outcome<Edited> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let component = master_mut(&mut calendar).ok_or_else(|| {
            Failure::invalid("the provider has only single instances of this series; change those")
        })?;
        writer.apply(component, event, changed);
        self.mark_scheduling(component);
        touch(component, self.now, changed.is_significant() && organizes(component, &self.reader.selves));
        if changed.moves() || changed.has("recurrence") {
            self.drop_orphans(&mut calendar, &mut writer)?;
        }
        Ok(self.finish(calendar, writer))
    }

    /// Removes exceptions that the series no longer has an instance for.
    fn drop_orphans(&self, calendar: &mut IcalCst, writer: &mut Writer) -> Outcome<()> {
        if events(calendar).len() < 2 {
            return Ok(());
        }
        let body = self.master_event(calendar)?;
        let series = Series::parse(&body).map_err(|error| Failure::invalid(error.to_string()))?;
        let old_master = master(self.original);
        let mut gone = Vec::new();
        remove_events(calendar, |event| {
            if !is_exception(event) {
                return false;
            }
            let Some(id) = self.recurrence_id(event, old_master) else { return false };
            let stays = !body.recurrence.is_empty()
                && recurrence::occurs_at(&series, &id, Caps::default()).unwrap_or(true);
            if !stays {
                gone.push(id);
            }
            !stays
        });
        for id in gone {
            writer.warn("exception_dropped", "this changed instance is no longer part of the series", &id);
        }
        Ok(())
    }

    /// Changes one instance: its VEVENT, which is made from the series where there is none yet.
    pub fn update_instance(&self, recurrence_id: &str, event: &Event, changed: &Changed) -> Outcome<Edited> {
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

    /// The index among the VEVENTs of the one that overrides this instance.
    fn ensure_exception(&self, calendar: &mut IcalCst, recurrence_id: &str) -> Outcome<usize> {
        if let Some(at) = self.exception_at(calendar, recurrence_id) {
            return Ok(at);
        }
        let series = self.series(calendar)?;
        if !recurrence::occurs_at(&series, recurrence_id, Caps::default()).map_err(refused)? {
            return Err(no_instance(recurrence_id));
        }
        let exception =
            self.instance_of(master(calendar).ok_or_else(|| no_instance(recurrence_id))?, recurrence_id)?;
        let exception = exception_with_id(exception);
        let last = calendar.items.iter().rposition(is_event).map_or(calendar.items.len(), |at| at + 1);
        calendar.items.insert(last, IcalItem::Component(Box::new(exception)));
        Ok(events(calendar).len() - 1)
    }

    /// Takes one instance out: its VEVENT goes, the series gets an EXDATE.
    pub fn delete_instance(&self, recurrence_id: &str) -> Outcome<Edited> {
        let mut calendar = self.original.clone();
        let writer = self.writer();
        let exception = self.exception_at(&calendar, recurrence_id);
        if master(&calendar).is_none() {
            let at = exception.ok_or_else(|| no_instance(recurrence_id))?;
            remove_at(&mut calendar, at);
            return Ok(self.finish(calendar, writer));
        }
        let series = self.series(&calendar)?;
        let occurs = recurrence::occurs_at(&series, recurrence_id, Caps::default()).map_err(refused)?;
        if exception.is_none() && !occurs {
            return Err(no_instance(recurrence_id));
        }
        if let Some(at) = exception {
            remove_at(&mut calendar, at);
        }
        if occurs {
            let component = master_mut(&mut calendar).ok_or_else(|| no_instance(recurrence_id))?;
            // As DTSTART is written at that instance: the zone keeps the name that the other client gave it.
            let copy = self.instance_of(component, recurrence_id)?;
            if let Some(start) = line(&copy, "DTSTART") {
                component.push_line(like(start, "EXDATE", start.raw_value_str().trim()));
            }
            touch(component, self.now, organizes(component, &self.reader.selves));
        }
        self.drop_if_empty(&mut calendar)?;
        Ok(self.finish(calendar, writer))
    }

    /// A series without a single instance is nothing.
    fn drop_if_empty(&self, calendar: &mut IcalCst) -> Outcome<()> {
        let has_exceptions = events(calendar).len() > 1;
        if !has_exceptions
            && recurrence::first(&self.series(calendar)?, Caps::default()).map_err(refused)?.is_none()
        {
            remove_events(calendar, |_| true);
        }
        Ok(())
    }

    /// Ends the series before this instance.
    pub fn cap(&self, recurrence_id: &str) -> Outcome<Edited> {
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let series = self.series(&calendar)?;
        let Some(lines) =
            recurrence::capped_before(&series, recurrence_id, Caps::default()).map_err(refused)?
        else {
            return Ok(Edited::default());
        };
        let old_master = master(self.original);
        remove_events(&mut calendar, |event| {
            is_exception(event)
                && self.recurrence_id(event, old_master).is_some_and(|id| *id >= *recurrence_id)
        });
        let component = master_mut(&mut calendar).ok_or_else(|| no_instance(recurrence_id))?;
        writer.set_recurrence(component, &lines);
        self.mark_scheduling(component);
        touch(component, self.now, organizes(component, &self.reader.selves));
        Ok(self.finish(calendar, writer))
    }

    /// Cuts the series before this instance; the rest becomes a series of its own under `uid`, changed as asked. Where nothing
    /// lies before the instance, the old series is left without text and the new one is all.
    pub fn split(&self, recurrence_id: &str, uid: &str, event: &Event, changed: &Changed) -> Outcome<Split> {
        let series = self.series(self.original)?;
        let mut old = self.cap(recurrence_id)?;
        let mut calendar = self.original.clone();
        let mut writer = self.writer();
        let rest = recurrence::remainder_from(&series, recurrence_id, Caps::default()).map_err(refused)?;
        let exception = self.exception_at(&calendar, recurrence_id);
        let base = match exception {
            Some(at) => events(&calendar)[at].clone(),
            None => {
                self.instance_of(master(&calendar).ok_or_else(|| no_instance(recurrence_id))?, recurrence_id)?
            }
        };
        let mut main = base;
        remove(&mut main, "RECURRENCE-ID");
        writer.apply(&mut main, event, changed);
        if !changed.has("recurrence") {
            writer.set_recurrence(&mut main, &rest);
        }
        self.mark_scheduling(&mut main);
        let old_uid = resource::uid(&calendar, "VEVENT").unwrap_or_default();
        set_line(&mut main, raw_line("SEQUENCE", &[], "0"));
        touch(&mut main, self.now, false);
        relate(&mut main, "FIRST", &old_uid);
        let old_master = master(self.original);
        remove_events(&mut calendar, |event| {
            !is_exception(event)
                || self.recurrence_id(event, old_master).is_none_or(|id| *id <= *recurrence_id)
        });
        let first = calendar.items.iter().position(is_event).unwrap_or(calendar.items.len());
        calendar.items.insert(first, IcalItem::Component(Box::new(main)));
        for component in events_mut(&mut calendar) {
            set_text(component, "UID", Some(uid));
        }
        self.drop_orphans(&mut calendar, &mut writer)?;
        let new = self.finish(calendar, writer);
        old.warnings.extend(new.warnings);
        old.text = old.text.map(|text| related(&text, uid));
        Ok(Split { old, new: new.text.ok_or_else(|| no_instance(recurrence_id))? })
    }

    /// Answers an invitation, for the whole object or one instance.
    pub fn respond(
        &self,
        recurrence_id: Option<&str>,
        scope: RecurrenceScope,
        response: ResponseStatus,
        comment: Option<&str>,
    ) -> Outcome<Edited> {
        let mut calendar = self.original.clone();
        let writer = self.writer();
        let selves = &self.reader.selves;
        let only = match recurrence_id.filter(|_| scope == RecurrenceScope::This) {
            Some(id) => Some(self.ensure_exception(&mut calendar, id)?),
            None => None,
        };
        let mut answered = false;
        let mut organizer = false;
        for (at, component) in events_mut(&mut calendar).enumerate() {
            if only.is_some_and(|only| only != at) {
                continue;
            }
            organizer |= line(component, "ORGANIZER").is_some() && organizes(component, selves);
            if people::respond(component, selves, response) {
                answered = true;
                if comment.is_some() {
                    set_text(component, "COMMENT", comment);
                }
                touch(component, self.now, false);
            }
        }
        let reason = |message: &str, reason: &str| {
            Failure::invalid(message).with_detail(serde_json::json!({ "reason": reason }))
        };
        if organizer {
            return Err(reason(
                "the account organizes this event and cannot answer its own invitation",
                "organizer_cannot_rsvp",
            ));
        }
        if !answered {
            return Err(reason("the account is not among the attendees of this event", "not_an_attendee"));
        }
        Ok(self.finish(calendar, writer))
    }
}

fn is_event(item: &IcalItem) -> bool {
    matches!(item, IcalItem::Component(component) if component_name(component) == "VEVENT")
}

fn remove_at(calendar: &mut IcalCst, at: usize) {
    let mut index = 0;
    remove_events(calendar, |_| {
        index += 1;
        index - 1 == at
    });
}

/// RELATED-TO as RFC 9253 links the parts of a series that was cut.
fn relate(component: &mut IcalCst, relation: &str, uid: &str) {
    let mut line = text_line("RELATED-TO", uid);
    set_param(&mut line, "RELTYPE", Some(relation));
    component.push_line(line);
}

/// The capped series, pointing at the one that goes on.
fn related(text: &str, uid: &str) -> String {
    let Ok(mut calendar) = resource::parse(text) else { return text.to_owned() };
    if let Some(component) = master_mut(&mut calendar) {
        relate(component, "NEXT", uid);
    }
    print(&calendar)
}
