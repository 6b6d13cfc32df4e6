//! Operations on events.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome, code};
use model::calendar::Event;
use model::wire::calendar::{EventDelete, EventWrite};
use model::wire::{Mutated, Source, Warning};
use recurrence::{Caps, Series, carried};
use serde_json::{Map, Value};

use crate::api::{ask, execute};
use crate::calendar::answer::{answer_of, answer_of_instance, dropped_warning};
use crate::calendar::create::insert;
use crate::calendar::exclude::{cancelled_days, exclude, excluded_instances};
use crate::calendar::files::with_files;
use crate::calendar::info::MailboxInfo;
use crate::calendar::mapping::{event_from, exception_from};
use crate::calendar::native;
use crate::calendar::notify;
use crate::calendar::patch::{TIMES, WrittenEvent, WrittenFields, event_to, rule_lines, start_of};
use crate::calendar::patterned::rule_to;
use crate::calendar::read::read_event;
use crate::calendar::record::{deleted_source, event_source};
use crate::calendar::roots::events;
use crate::calendar::scope::EventScope;
use crate::calendar::teams::{put_conference, with_link};

/// Creates an event.
pub fn create(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let mut warnings: Vec<Warning> = notify::check_write(args)?.into_iter().collect();
    let fields = WrittenFields::New(&args.changed);
    let WrittenEvent { mut body, warnings: lost } = event_to(&args.event, fields, None, &mailbox)?;
    warnings.extend(lost);
    warnings.extend(put_conference(context, &args.event, &mut body));
    let event = insert(context, &args.collection, body, "")?;
    let event = with_link(context, &args.collection, event)?;
    let wanted = excluded_instances(&args.event);
    let event = exclude(context, &args.collection, event, &wanted, &mut warnings)?;
    answer_of(&event, &mailbox, warnings)
}

/// Changes an event, a series, or one instance of it.
pub fn update(context: &Context, args: &EventWrite, scope: &EventScope) -> Outcome<Mutated> {
    let mut warnings: Vec<Warning> = notify::check_write(args)?.into_iter().collect();
    let id = scope.written_id(context)?;
    let patch = Patch { context, args, scope, id: &id, mailbox: mailbox_of(context, args) };
    let patched = match patch.send() {
        // The event changed between the read and the write, and the caller requires no version: try once more.
        Err(failure) if failure.http_status == Some(412) && scope.if_match.is_none() => patch.send()?,
        patched => patched?,
    };
    warnings.extend(patched.warnings);
    Ok(Mutated { warnings, ..patched })
}

fn mailbox_of(context: &Context, args: &EventWrite) -> MailboxInfo {
    MailboxInfo::of_call(context, args.time_zone.as_deref())
}

/// A change of one event, series or instance.
struct Patch<'a> {
    context: &'a Context<'a>,
    args: &'a EventWrite,
    scope: &'a EventScope<'a>,
    /// The id of the event to write.
    id: &'a str,
    mailbox: MailboxInfo,
}

impl Patch<'_> {
    fn has(&self, field: &str) -> bool {
        self.args.changed.iter().any(|name| name == field)
    }

    fn changes_times(&self) -> bool {
        TIMES.iter().any(|field| self.has(field))
    }

    fn is_instance(&self) -> bool {
        self.scope.instance.is_some()
    }

    /// Whether the rule or the start of a series changes, which makes Graph drop its changed instances.
    fn changes_series(&self) -> bool {
        let is_series = !self.args.event.recurrence.is_empty();
        !self.is_instance() && (self.has("recurrence") || is_series && self.changes_times())
    }

    /// Sends the change. Reads the event first if its current state matters: for lists, a body with a meeting link, or a rule that moves.
    fn send(&self) -> Outcome<Mutated> {
        let context = self.context;
        let is_based = ["attendees", "attachments", "description", "descriptionHtml"]
            .into_iter()
            .any(|field| self.has(field));
        let needs_before = is_based || self.changes_series();
        let before = needs_before.then(|| read_event(context, self.scope.calendar, self.id)).transpose()?;
        let (event, names) = self.wanted(before.as_ref())?;
        let fields = WrittenFields::Patch(&names);
        let WrittenEvent { body, mut warnings } = event_to(&event, fields, before.as_ref(), &self.mailbox)?;
        let changes_body = body.contains_key("attendees") || body.contains_key("body");
        let read_version = before.as_ref().filter(|_| changes_body || body.contains_key("recurrence"));
        let read_version = read_version.and_then(native::Event::version);
        let if_match = self.scope.precondition().or(read_version.as_deref());
        let after = match body.is_empty() {
            true => None,
            false => Some(self.write(&body, if_match)?),
        };
        if let Some(after) = &after {
            warnings.extend(self.unchanged_fields(after)?);
        }
        self.answer(before.as_ref(), &event, after, warnings)
    }

    /// The event to write, and the fields to write. A series that moves includes its shifted rule, unless Graph already has it.
    fn wanted(&self, before: Option<&native::Event>) -> Outcome<(Event, Vec<String>)> {
        let mut event = self.args.event.clone();
        let mut names = self.args.changed.clone();
        let Some(before) = before.filter(|_| self.changes_series()) else { return Ok((event, names)) };
        let theirs = event_from(before, &self.mailbox)?;
        if !self.has("recurrence") {
            let moved = Event { recurrence: theirs.recurrence.clone(), ..event.clone() };
            event.recurrence = moved_lines(&theirs, &moved);
            if !self.has_same_rule(&theirs, &event) {
                names.push("recurrence".to_owned());
            }
        } else if !self.changes_times() && self.has_same_rule(&theirs, &event) {
            let wanted = excluded_instances(&event);
            let is_kept = |day| wanted.iter().any(|name| name.local_day() == Some(day));
            // To restore a deleted instance, the rule must be written again.
            if cancelled_days(before).into_iter().all(is_kept) {
                names.retain(|name| name != "recurrence");
            }
        }
        Ok((event, names))
    }

    /// Whether Graph already has the wanted rule: the same days from the same start. Writing it would drop the changed instances.
    fn has_same_rule(&self, theirs: &Event, wanted: &Event) -> bool {
        let (old, new) = (start_of(theirs, &self.mailbox), start_of(wanted, &self.mailbox));
        let is_same_start =
            old.date() == new.date() && old.zone == new.zone && old.is_all_day == new.is_all_day;
        let (before, after) = (rule_lines(&theirs.recurrence), rule_lines(&wanted.recurrence));
        let is_same = || rule_to(&before, &old).is_ok_and(|rule| rule_to(&after, &new) == Ok(rule));
        before == after && (is_same_start || !self.changes_times()) || is_same_start && is_same()
    }

    fn write(&self, body: &Map<String, Value>, if_match: Option<&str>) -> Outcome<native::Event> {
        let url = events(self.scope.calendar, &[self.id], &[])?;
        self.scope.insisting(self.context, self.id, if_match, |etag| {
            ask(self.context, Request::patch(&url).if_match(etag).json(body), "changing the event")
        })
    }

    /// Returns the answer to a write. Graph's response has everything of a single event but its attachments; a series is read again with
    /// its instances.
    fn answer(
        &self,
        before: Option<&native::Event>,
        wanted: &Event,
        after: Option<native::Event>,
        mut warnings: Vec<Warning>,
    ) -> Outcome<Mutated> {
        let (context, calendar) = (self.context, self.scope.calendar);
        if self.is_instance() {
            let series = read_event(context, calendar, self.scope.source)?;
            let instance = match after.or_else(|| before.cloned()) {
                Some(instance) => with_files(context, calendar, instance)?,
                None => read_event(context, calendar, self.id)?,
            };
            return answer_of_instance(&series, &instance, &self.mailbox, warnings);
        }
        let is_single = |event: &native::Event| !event.is_series() && !event.is_instance();
        let whole = match after.filter(is_single) {
            Some(event) => with_files(context, calendar, event)?,
            None => read_event(context, calendar, self.scope.source)?,
        };
        let whole = match self.changes_series() && whole.is_series() {
            true => exclude(context, calendar, whole, &excluded_instances(wanted), &mut warnings)?,
            false => whole,
        };
        if let Some(before) = before.filter(|_| self.changes_series()) {
            warnings.extend(dropped_instances(before, &whole, &self.mailbox)?);
        }
        answer_of(&whole, &self.mailbox, warnings)
    }

    /// Warnings about changes that Graph accepted but did not make, such as some changes by attendees.
    fn unchanged_fields(&self, after: &native::Event) -> Outcome<Vec<Warning>> {
        if after.is_organizer() || after.start.is_none() {
            return Ok(Vec::new());
        }
        let (wanted, found) = (&self.args.event, event_from(after, &self.mailbox)?);
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        let kept = [
            ("title", text(&wanted.title) == text(&found.title)),
            ("location", text(&wanted.location) == text(&found.location)),
            ("start", wanted.start == found.start),
            ("end", wanted.end == found.end),
        ];
        let lost = kept.into_iter().filter(|(field, is_kept)| !is_kept && self.has(field));
        let warning = |field: &str| Warning {
            code: "field_not_changed".to_owned(),
            message: "the provider did not make this change: the event belongs to its organizer".to_owned(),
            target: Some(field.to_owned()),
        };
        Ok(lost.map(|(field, _)| warning(field)).collect())
    }
}

/// The lines of a series whose start moves, with shifted rule and excluded instances. Unchanged if they cannot be shifted.
fn moved_lines(before: &Event, after: &Event) -> Vec<String> {
    let (Ok(old), Ok(new)) = (Series::parse(before), Series::parse(after)) else {
        return before.recurrence.clone();
    };
    carried(&old, &new, true, Caps::default())
        .map_or_else(|_| before.recurrence.clone(), |carried| carried.lines)
}

/// Warnings about changed instances that were dropped from a series.
fn dropped_instances(
    before: &native::Event,
    after: &native::Event,
    mailbox: &MailboxInfo,
) -> Outcome<Vec<Warning>> {
    let ids: Vec<&str> = after.exception_occurrences.iter().flatten().map(|one| one.id.as_str()).collect();
    let mut warnings = Vec::new();
    for lost in before.exception_occurrences.iter().flatten().filter(|one| !ids.contains(&one.id.as_str())) {
        let name = exception_from(lost, before, mailbox)?.and_then(|event| event.recurrence_id);
        warnings.extend(name.map(|name| dropped_warning(&name)));
    }
    Ok(warnings)
}

/// Deletes an event, a series, or one instance of it. Succeeds if the event is already deleted.
pub fn delete(context: &Context, args: &EventDelete, scope: &EventScope) -> Outcome<Mutated> {
    let warnings = notify::check_delete(context, scope, args.notify, args.strict)?.into_iter().collect();
    let deleted = scope.written_id(context).and_then(|id| remove(context, scope, &id, scope.precondition()));
    match deleted {
        Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),
        _ => {}
    }
    let source = match scope.instance {
        Some(_) => left_of(context, args, scope)?,
        None => deleted_source(scope.source),
    };
    Ok(Mutated { sources: vec![source], warnings, ..Mutated::default() })
}

/// Deletes the event with this id.
pub fn remove(context: &Context, scope: &EventScope, id: &str, if_match: Option<&str>) -> Outcome<()> {
    let url = events(scope.calendar, &[id], &[])?;
    scope.insisting(context, id, if_match, |etag| {
        execute(context, Request::delete(&url).if_match(etag), "deleting the event")
    })
}

/// The source of the series without the instance; a deletion if it was the last one.
fn left_of(context: &Context, args: &EventDelete, scope: &EventScope) -> Outcome<Source> {
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    match read_event(context, scope.calendar, scope.source) {
        Ok(series) => event_source(&series, &mailbox),
        Err(failure) if failure.code == code::NOT_FOUND => Ok(deleted_source(scope.source)),
        Err(failure) => Err(failure),
    }
}
