//! Creating, changing, deleting and answering events.

use connector_sdk::{Context, Failure, Outcome, code};
use ical::tree::cst::IcalCst;
use model::wire::calendar::{EventDelete, EventRespond, EventTarget, EventWrite, Notify, RecurrenceScope};
use model::wire::{Mutated, Source, SourceRef, Sources, Warning};
use url::Url;

use crate::calendar::CalendarSession;
use crate::calendar::notify::{Effect, NotifyOptions};
use crate::collection::changed::FieldSet;
use crate::collection::objects::When;
use crate::collection::stable_id;
use crate::ical::lines::{line_text, lines, set_text};
use crate::ical::people::{organizes, schedule_new_by_client};
use crate::ical::read::instance_id;
use crate::ical::resource::{self, define_zones, print, touch};
use crate::ical::series::{Editor, Update};
use crate::ical::time::utc_line;
use crate::ical::write::Writer;

/// The fields whose changes are news for attendees, besides those that increment SEQUENCE.
const NEWS: [&str; 4] = ["title", "description", "attendees", "conference"];

pub fn get(cx: &Context, args: SourceRef) -> Outcome<Sources> {
    let session = CalendarSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let (text, etag) = session.object(&collection, &args.source)?;
    Ok(Sources {
        sources: vec![session.read_source(&args.source, text, etag)],
        enumeration: false,
        ..Sources::default()
    })
}

pub fn create(cx: &Context, args: EventWrite) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let own_uid = stable_id(cx, &args.collection);
    let id = session.resource_id(&collection, &own_uid)?;
    let uid = args.event.i_cal_uid.clone().filter(|uid| !uid.trim().is_empty()).unwrap_or(own_uid);
    let (text, warnings) = session.new_event(&uid, &args);
    let asked = NotifyOptions { notify: args.notify, strict: args.strict };
    let effect = Effect { answers: true, is_news: true };
    let said = session.check_notify(asked, session.notified_parties([text.as_str()]), effect)?;
    let response = session.put(&id, &text, When::New, args.notify == Notify::None)?;
    let source = match session.settle_create(&collection, &id, &uid, &response)? {
        Some(found) => found,
        None => session.after_write(&collection, &id, text, &response),
    };
    Ok(Mutated {
        item: Some(source.external_id.clone()),
        sources: vec![source],
        warnings: warnings.into_iter().chain(said).collect(),
        ..Mutated::default()
    })
}

pub fn update(cx: &Context, args: EventWrite) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let (id, text, etag) = match session.target(&collection, &args.target) {
        Err(failure)
            if failure.code == code::CONFLICT && args.target.scope == RecurrenceScope::ThisAndFollowing =>
        {
            return session.split_before(&collection, &args)?.ok_or(failure);
        }
        current => current?,
    };
    let calendar = readable(&text)?;
    let is_quiet = args.notify == Notify::None;
    let editor = session.editor(&calendar, session.server_tells(args.notify));
    let changed = FieldSet(&args.changed);
    let instance = args.target.recurrence_id.as_deref();
    let (edited, item) = match (instance, args.target.scope) {
        (Some(instance), RecurrenceScope::This) => {
            (editor.update_instance(instance, &args.event, &changed)?, instance_id(&id, instance))
        }
        (Some(instance), RecurrenceScope::ThisAndFollowing) => {
            let new_uid = stable_id(cx, &format!("{}\n{id}", args.collection));
            let mut split = editor.split(instance, &new_uid, &args.event, &changed)?;
            if let Some(capped) = &split.old.text {
                let said = session.heed_update(
                    &args,
                    &[text.as_str(), capped.as_str(), split.new.as_str()],
                    true,
                )?;
                split.old.warnings.extend(said);
                let old = (id.as_str(), etag.as_deref(), is_quiet);
                return session.write_split(&collection, old, &new_uid, split.old, &split.new);
            }
            // There is no earlier instance: change the whole series.
            (editor.update_main(&args.event, &changed)?, id.clone())
        }
        _ => (editor.update_main(&args.event, &changed)?, id.clone()),
    };
    let after = edited.text.as_deref().unwrap_or_default();
    let said = session.heed_update(&args, &[text.as_str(), after], false)?;
    let mut mutated = session.store(&collection, (&id, etag.as_deref()), edited, Some(item), is_quiet)?;
    mutated.warnings.extend(said);
    Ok(mutated)
}

pub fn delete(cx: &Context, args: EventDelete) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    let quiet = args.notify == Notify::None;
    let asked = NotifyOptions { notify: args.notify, strict: args.strict };
    let instance = args.target.recurrence_id.as_deref().filter(|_| args.target.scope != RecurrenceScope::All);
    let Some(instance) = instance else {
        let id = source_of(&args.target)?;
        let version = (id, args.target.if_match.as_deref());
        let warnings = session.delete_heeded(&collection, version, asked)?;
        return Ok(Mutated { sources: vec![deleted_source(id)], warnings, ..Mutated::default() });
    };
    let (id, text, etag) = session.target(&collection, &args.target)?;
    let edit = |text: &str| -> Outcome<Update> {
        let calendar = readable(text)?;
        let editor = session.editor(&calendar, None);
        match args.target.scope {
            RecurrenceScope::ThisAndFollowing => editor.cap(instance),
            _ => editor.delete_instance(instance),
        }
    };
    let edited = edit(&text)?;
    // A warning says that no attendee is notified, if the caller asked for it.
    let effect = Effect { answers: true, is_news: args.strict || args.notify != Notify::All };
    let texts = [text.as_str(), edited.text.as_deref().unwrap_or_default()];
    let said = session.check_notify(asked, session.notified_parties(texts), effect)?;
    let (quieter, repeated) = session.without_comments(&collection, &id, (&text, etag.as_deref()), asked)?;
    let (edited, etag) = match quieter {
        Some((text, etag)) => (edit(&text)?, etag),
        None => (edited, etag),
    };
    let mut mutated = session.store(&collection, (&id, etag.as_deref()), edited, None, quiet)?;
    mutated.warnings.extend(said.into_iter().chain(repeated));
    // The event is deleted, even if the rest of the resource cannot be read.
    for source in &mut mutated.sources {
        source.error = source.error.take().filter(|error| error.code != "unreadable");
    }
    Ok(mutated)
}

pub fn respond(cx: &Context, args: EventRespond) -> Outcome<Mutated> {
    let session = CalendarSession::new(cx, args.time_zone.as_deref())?;
    let collection = session.client.url(&args.collection)?;
    if args.target.scope == RecurrenceScope::ThisAndFollowing {
        return Err(Failure::unsupported("answering for this and all following instances"));
    }
    let (id, text, etag) = session.target(&collection, &args.target)?;
    let calendar = readable(&text)?;
    let said = session.check_answer_notify(
        (args.notify_organizer, args.strict),
        session.notified_parties([text.as_str()]),
    )?;
    let editor = session.editor(&calendar, Some(args.notify_organizer));
    let instance = args.target.recurrence_id.as_deref();
    let edited = editor.respond(instance, args.target.scope, args.response, args.comment.as_deref())?;
    let item = match instance.filter(|_| args.target.scope == RecurrenceScope::This) {
        Some(instance) => instance_id(&id, instance),
        None => id.clone(),
    };
    let mut mutated =
        session.store(&collection, (&id, etag.as_deref()), edited, Some(item), !args.notify_organizer)?;
    mutated.warnings.extend(said);
    Ok(mutated)
}

fn source_of(target: &EventTarget) -> Outcome<&str> {
    target.source.as_deref().ok_or_else(|| Failure::invalid("target.source is missing"))
}

fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

fn readable(text: &str) -> Outcome<IcalCst<'_>> {
    resource::parse(text)
        .map_err(|reason| Failure::invalid(format!("the event at the provider cannot be read: {reason}")))
}

impl CalendarSession<'_> {
    fn editor<'c>(&'c self, calendar: &'c IcalCst<'c>, server_tells: Option<bool>) -> Editor<'c> {
        Editor { reader: &self.reader, original: calendar, now: self.now(), server_tells }
    }

    /// Whether the server shall notify attendees; none if it never does.
    fn server_tells(&self, notify: Notify) -> Option<bool> {
        self.schedules().then_some(notify != Notify::None)
    }

    /// Returns the warning for a change from the first of these texts to the others.
    fn heed_update(&self, args: &EventWrite, texts: &[&str], is_news: bool) -> Outcome<Option<Warning>> {
        let changed = FieldSet(&args.changed);
        let is_news = is_news || changed.is_significant() || NEWS.iter().any(|field| changed.has(field));
        let effect = Effect { answers: changed.has("attendees"), is_news };
        self.check_notify(
            NotifyOptions { notify: args.notify, strict: args.strict },
            self.notified_parties(texts.iter().copied()),
            effect,
        )
    }

    /// Reads the current target. Fails with `conflict` if it is not the version that the change is based on.
    fn target(&self, collection: &Url, target: &EventTarget) -> Outcome<(String, String, Option<String>)> {
        let id = source_of(target)?;
        let (text, etag) = self.current(collection, id, target.if_match.as_deref())?;
        Ok((id.to_owned(), text, etag))
    }

    fn new_event(&self, uid: &str, args: &EventWrite) -> (String, Vec<Warning>) {
        let mut calendar = resource::empty();
        let template = calendar.clone();
        let mut writer = Writer::new(&self.reader, &template, self.now());
        let mut event = IcalCst::empty("VEVENT");
        set_text(&mut event, "UID", Some(uid));
        touch(&mut event, self.now(), false);
        event.push_line(utc_line("CREATED", self.now()));
        let mut changed: Vec<String> = args.changed.clone();
        changed.push("start".into());
        writer.apply(&mut event, &args.event, &FieldSet(&changed));
        writer.match_start(&mut event, None);
        if self.server_tells(args.notify) == Some(false) && organizes(&event, &self.reader.selves) {
            schedule_new_by_client(&mut event, &[]);
        }
        calendar.push_component(event);
        define_zones(&mut calendar, &writer.zones);
        (print(&calendar), writer.warnings)
    }

    /// Writes an edited resource, or deletes it if nothing is left.
    fn store(
        &self,
        collection: &Url,
        (id, etag): (&str, Option<&str>),
        edited: Update,
        item: Option<String>,
        quiet: bool,
    ) -> Outcome<Mutated> {
        let Some(text) = edited.text else {
            self.delete(id, etag, quiet)?;
            return Ok(Mutated {
                sources: vec![deleted_source(id)],
                item: None,
                warnings: edited.warnings,
                ..Mutated::default()
            });
        };
        let response = self.replace(collection, (id, etag), &text, quiet)?;
        let source = self.after_write(collection, id, text, &response);
        Ok(Mutated { sources: vec![source], item, warnings: edited.warnings, ..Mutated::default() })
    }

    /// Writes both parts of a series: the new one first, so that a crash in between duplicates instances instead of losing them, and a
    /// repeated attempt finds it.
    fn write_split(
        &self,
        collection: &Url,
        (id, etag, quiet): (&str, Option<&str>, bool),
        uid: &str,
        old: Update,
        new: &str,
    ) -> Outcome<Mutated> {
        let new_id = self.resource_id(collection, uid)?;
        let response = self.put(&new_id, new, When::New, quiet)?;
        let found = self.settle_create(collection, &new_id, uid, &response)?;
        let text = old.text.unwrap_or_default();
        let capped = match self.replace(collection, (id, etag), &text, quiet) {
            Ok(capped) => capped,
            Err(failure) => {
                // Undo only what this attempt created.
                if found.is_none() && matches!(failure.code.as_str(), code::CONFLICT | code::INVALID) {
                    self.delete(&new_id, None, true)?;
                }
                return Err(failure);
            }
        };
        let new_source =
            found.unwrap_or_else(|| self.after_write(collection, &new_id, new.to_owned(), &response));
        let old_source = self.after_write(collection, id, text, &capped);
        Ok(Mutated {
            sources: vec![old_source, new_source],
            item: Some(new_id),
            warnings: old.warnings,
            ..Mutated::default()
        })
    }

    /// The answer to a repeated attempt at a completed split: the current state of both parts.
    fn split_before(&self, collection: &Url, args: &EventWrite) -> Outcome<Option<Mutated>> {
        let (Some(id), Some(_)) = (args.target.source.as_deref(), &self.cx().idempotency_key) else {
            return Ok(None);
        };
        let uid = stable_id(self.cx(), &format!("{}\n{id}", args.collection));
        let new_id = self.resource_id(collection, &uid)?;
        let Ok((new, new_etag)) = self.object(collection, &new_id) else { return Ok(None) };
        let (old, etag) = self.object(collection, id)?;
        let calendar = readable(&old)?;
        let names = |event: &&IcalCst| lines(event, "RELATED-TO").any(|line| line_text(line) == uid);
        let linked = resource::events(&calendar).iter().any(names);
        if !linked {
            return Ok(None);
        }
        let sources = vec![self.read_source(id, old, etag), self.read_source(&new_id, new, new_etag)];
        Ok(Some(Mutated { sources, item: Some(new_id), ..Mutated::default() }))
    }
}
