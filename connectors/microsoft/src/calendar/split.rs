//! Changes an instance and all later ones. Graph has no such operation: a new series begins with the instance, and the old one is ended
//! before it. That is not atomic; a repeated attempt continues where the first one stopped.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Level, Outcome, code};
use model::calendar::Event;
use model::wire::calendar::{EventDelete, EventTarget, EventWrite};
use model::wire::{Mutated, Source, Warning};
use recurrence::{Caps, Series, capped_before, carried, occurs_at, remainder_from};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::calendar::answer::dropped_warning;
use crate::calendar::create::{find_earlier, insert};
use crate::calendar::events::{remove, update as update_whole};
use crate::calendar::exclude::{exclude, excluded_instances};
use crate::calendar::info::MailboxInfo;
use crate::calendar::mapping::{event_from, exception_from};
use crate::calendar::native;
use crate::calendar::notify;
use crate::calendar::patch::{WrittenEvent, WrittenFields, event_to, in_own_words, rule_lines, start_of};
use crate::calendar::patterned::{PatternedRecurrence, rule_to};
use crate::calendar::read::read_event;
use crate::calendar::record::{deleted_source, event_source};
use crate::calendar::roots::events;
use crate::calendar::scope::EventScope;
use crate::calendar::teams::with_link;
use crate::calendar::times::zone;

/// The fields that the new series takes over from the old one.
const WRITTEN: [&str; 11] = [
    "title",
    "description",
    "location",
    "locations",
    "showAs",
    "visibility",
    "hideAttendees",
    "attendees",
    "recurrence",
    "reminders",
    // Graph does not accept these: the new series lacks them, with a warning.
    "attachments",
];

/// A series at Graph and the instance before which it is cut.
struct CutSeries<'a> {
    context: &'a Context<'a>,
    scope: &'a EventScope<'a>,
    mailbox: MailboxInfo,
    theirs: native::Event,
    event: Event,
    rules: Series,
    /// The instance, in the form of `Event.recurrenceId`.
    instance: String,
    /// The lines of the series that ends before the instance; none if there is no earlier instance.
    capped: Option<Vec<String>>,
}

/// The series to create, with the instances to delete from it.
struct NewSeries {
    first: Event,
    body: Map<String, Value>,
    warnings: Vec<Warning>,
}

impl<'a> CutSeries<'a> {
    fn read(
        context: &'a Context<'a>,
        scope: &'a EventScope<'a>,
        target: &EventTarget,
        time_zone: Option<&str>,
    ) -> Outcome<Self> {
        let mailbox = MailboxInfo::of_call(context, time_zone);
        let theirs = read_event(context, scope.calendar, scope.source)?;
        let event = event_from(&theirs, &mailbox)?;
        let rules = Series::parse(&event).map_err(|invalid| refusal(&invalid.into()))?;
        let instance = instance_of(target, &event)?;
        let capped = capped_before(&rules, &instance, Caps::default()).map_err(|error| refusal(&error))?;
        if capped.is_some() && !theirs.is_organizer() {
            // The new series would invite all attendees again, in the name of this account.
            return Err(Failure::unsupported("dividing a series that somebody else organizes"));
        }
        Ok(CutSeries { context, scope, mailbox, theirs, event, rules, instance, capped })
    }

    /// Whether the series still has the instance: an earlier attempt may have ended the series.
    fn has_instance(&self) -> Outcome<bool> {
        occurs_at(&self.rules, &self.instance, Caps::default()).map_err(|error| refusal(&error))
    }

    fn version(&self) -> Option<String> {
        self.theirs.version()
    }

    /// The text that distinguishes the new series' id from those of other events of the call.
    fn salt(&self) -> String {
        format!("{}\n{}", self.theirs.id, self.instance)
    }

    /// The rule of the series that ends before the instance.
    fn capped_rule(&self, lines: &[String]) -> Outcome<PatternedRecurrence> {
        let start = start_of(&self.event, &self.mailbox);
        Ok(in_own_words(rule_to(&rule_lines(lines), &start)?, Some(&self.theirs), &start))
    }

    /// The new series: the instance at the cut with the caller's changes, the members that the model does not have, and the rest of COUNT.
    fn remainder(&self, args: &EventWrite) -> Outcome<NewSeries> {
        let mut first = args.event.clone();
        let has = |field: &str| args.changed.iter().any(|name| name == field);
        let mut warnings = Vec::new();
        if !has("recurrence") {
            let (lines, dropped) = self.lines_from(&first).map_err(|error| refusal(&error))?;
            first.recurrence = lines;
            warnings.extend(dropped.iter().map(|id| dropped_warning(id)));
        }
        let mut names: Vec<String> = WRITTEN.map(str::to_owned).to_vec();
        // If only the plain text was changed, it replaces the HTML.
        if has("descriptionHtml") || !has("description") {
            names.push("descriptionHtml".to_owned());
        }
        let fields = WrittenFields::New(&names);
        let WrittenEvent { mut body, warnings: lost } = event_to(&first, fields, None, &self.mailbox)?;
        warnings.extend(lost);
        self.put_kept(&mut body);
        Ok(NewSeries { first, body, warnings })
    }

    /// Adds the members without a field in the model, and requests an online meeting if the old series has one; it is a new meeting.
    fn put_kept(&self, body: &mut Map<String, Value>) {
        let theirs = &self.theirs;
        let kept = [
            ("categories", theirs.categories.as_ref().map(|value| json!(value))),
            ("importance", theirs.importance.as_ref().map(|value| json!(value))),
            ("responseRequested", theirs.response_requested.map(Value::Bool)),
            ("allowNewTimeProposals", theirs.allow_new_time_proposals.map(Value::Bool)),
            ("isOnlineMeeting", theirs.is_online_meeting.filter(|is_online| *is_online).map(Value::Bool)),
        ];
        body.extend(kept.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }

    /// The lines of the series that continues with `first`, shifted along with its start, and the dates that it no longer has.
    fn lines_from(&self, first: &Event) -> Result<(Vec<String>, Vec<String>), recurrence::Error> {
        let lines = remainder_from(&self.rules, &self.instance, Caps::default())?;
        let before = self.rules.continued(&self.instance, &lines)?;
        let after = Series::parse(&Event { recurrence: lines, ..first.clone() })?;
        let carried = carried(&before, &after, true, Caps::default())?;
        Ok((carried.lines, carried.dropped))
    }

    /// Ends the series before the instance, in the version that was read.
    fn cap(&self, pattern: &PatternedRecurrence) -> Outcome<()> {
        let (context, scope) = (self.context, self.scope);
        let url = events(scope.calendar, &[&self.theirs.id], &[])?;
        let body = json!({ "recurrence": pattern });
        let version = self.version();
        let capped: native::Event =
            scope.insisting(context, &self.theirs.id, version.as_deref(), |etag| {
                ask(context, Request::patch(&url).if_match(etag).json(&body), "ending the series")
            })?;
        match capped.id.is_empty() {
            true => Err(Failure::unavailable("the provider's answer is no event")),
            false => Ok(()),
        }
    }

    /// The old series after it was ended, without its previously excluded instances.
    fn old_source(&self, lines: &[String], warnings: &mut Vec<Warning>) -> Outcome<Source> {
        let old = read_event(self.context, self.scope.calendar, &self.theirs.id)?;
        let before = Event { recurrence: lines.to_vec(), ..self.event.clone() };
        let old = exclude(self.context, self.scope.calendar, old, &excluded_instances(&before), warnings)?;
        warnings.extend(self.lost_exceptions(&old)?);
        event_source(&old, &self.mailbox)
    }

    /// Warnings about changed instances that are lost, because Graph drops those after the end. The one at the cut is the first of the new
    /// series.
    fn lost_exceptions(&self, old: &native::Event) -> Outcome<Vec<Warning>> {
        let kept: Vec<&str> = old.exception_occurrences.iter().flatten().map(|one| one.id.as_str()).collect();
        let mut warnings = Vec::new();
        for lost in self.theirs.exception_occurrences.iter().flatten() {
            if kept.contains(&lost.id.as_str()) {
                continue;
            }
            let name =
                exception_from(lost, &self.theirs, &self.mailbox)?.and_then(|event| event.recurrence_id);
            warnings.extend(name.filter(|name| *name != self.instance).map(|name| dropped_warning(&name)));
        }
        Ok(warnings)
    }

    /// Returns the current state of both series.
    fn finish(&self, new: native::Event, first: &Event, lines: &[String]) -> Outcome<Mutated> {
        let (context, calendar) = (self.context, self.scope.calendar);
        let mut warnings = Vec::new();
        let old = self.old_source(lines, &mut warnings)?;
        let new = with_link(context, calendar, new)?;
        let new = exclude(context, calendar, new, &excluded_instances(first), &mut warnings)?;
        let sources = vec![old, event_source(&new, &self.mailbox)?];
        Ok(Mutated { item: Some(new.id), sources, warnings, ..Mutated::default() })
    }
}

/// Changes an instance and all later ones. If there is no earlier instance, changes the whole series.
pub fn update(context: &Context, args: &EventWrite, scope: &EventScope) -> Outcome<Mutated> {
    let told = notify::check_write(args)?;
    let cut = CutSeries::read(context, scope, &args.target, args.time_zone.as_deref())?;
    let Some(lines) = cut.capped.clone() else {
        scope.ensure_version(cut.version().as_deref())?;
        let version = cut.version();
        let whole =
            EventScope { instance: None, is_following: false, if_match: version.as_deref(), ..*scope };
        return update_whole(context, args, &whole);
    };
    let is_repeated = context.attempt() > 1;
    let is_ended = !cut.has_instance()?;
    if is_ended && !is_repeated {
        return Err(Failure::not_found("the series has no such instance"));
    }
    let NewSeries { first, body, mut warnings } = match is_ended {
        true => NewSeries { first: args.event.clone(), body: start_only(args, &cut)?, warnings: Vec::new() },
        false => cut.remainder(args)?,
    };
    warnings.extend(told);
    if is_ended {
        // An earlier attempt has ended the series, and its answer was lost.
        let new = find_earlier(context, scope.calendar, &body, &cut.salt())?;
        let new = new.ok_or_else(|| Failure::not_found("the series has no such instance"))?;
        let mutated = cut.finish(new, &first, &lines)?;
        warnings.extend(mutated.warnings);
        return Ok(Mutated { warnings, ..mutated });
    }
    if let Err(conflict) = scope.ensure_version(cut.version().as_deref()) {
        if is_repeated && let Some(new) = find_earlier(context, scope.calendar, &body, &cut.salt())? {
            // Undo the earlier attempt, or its series would duplicate the instances.
            undo(context, scope.calendar, &new.id);
        }
        return Err(conflict);
    }
    let pattern = cut.capped_rule(&lines)?;
    let new = insert(context, scope.calendar, body, &cut.salt())?;
    cut.cap(&pattern).inspect_err(|failure| {
        if is_final(failure) {
            undo(context, scope.calendar, &new.id);
        }
    })?;
    let mutated = cut.finish(new, &first, &lines)?;
    warnings.extend(mutated.warnings);
    Ok(Mutated { warnings, ..mutated })
}

/// The start of the new series, by which the series of an earlier attempt is found.
fn start_only(args: &EventWrite, cut: &CutSeries) -> Outcome<Map<String, Value>> {
    Ok(event_to(&args.event, WrittenFields::New(&[]), None, &cut.mailbox)?.body)
}

/// Deletes an instance and all later ones: the series ends before it.
pub fn delete(context: &Context, args: &EventDelete, scope: &EventScope) -> Outcome<Mutated> {
    let mut warnings: Vec<Warning> =
        notify::check_delete(context, scope, args.notify, args.strict)?.into_iter().collect();
    let cut = match CutSeries::read(context, scope, &args.target, args.time_zone.as_deref()) {
        Err(failure) if failure.code == code::NOT_FOUND && failure.http_status.is_some() => {
            let sources = vec![deleted_source(scope.source)];
            return Ok(Mutated { sources, warnings, ..Mutated::default() });
        }
        read => read?,
    };
    // If an earlier attempt has ended the series, the caller's etag is out of date.
    let is_ended = context.attempt() > 1 && cut.capped.is_some() && !cut.has_instance()?;
    if !is_ended {
        scope.ensure_version(cut.version().as_deref())?;
    }
    let Some(lines) = &cut.capped else {
        let version = cut.version();
        match remove(context, scope, &cut.theirs.id, version.as_deref()) {
            Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),
            _ => {}
        }
        let sources = vec![deleted_source(&cut.theirs.id)];
        return Ok(Mutated { sources, warnings, ..Mutated::default() });
    };
    if !is_ended {
        cut.cap(&cut.capped_rule(lines)?)?;
    }
    // The changed instances after the end were to be deleted, so there is no warning.
    let mut lost = Vec::new();
    let source = cut.old_source(lines, &mut lost)?;
    warnings
        .extend(lost.into_iter().filter(|warning| warning.target.as_deref() < Some(cut.instance.as_str())));
    Ok(Mutated { sources: vec![source], warnings, ..Mutated::default() })
}

/// Whether the series was certainly not ended, and another attempt would fail as well.
fn is_final(failure: &Failure) -> bool {
    let codes = [code::CONFLICT, code::NOT_FOUND, code::FORBIDDEN, code::INVALID, code::UNSUPPORTED];
    failure.http_status.is_some() && codes.contains(&failure.code.as_str())
}

/// Deletes the new series again.
fn undo(context: &Context, calendar: &str, id: &str) {
    let url = events(calendar, &[id], &[]);
    match url.and_then(|url| execute(context, Request::delete(url), "deleting the new series")) {
        Err(failure) if failure.code != code::NOT_FOUND => {
            context.log(Level::Warn, "a series that was split off could not be deleted again", &[]);
        }
        _ => {}
    }
}

/// The `recurrenceId` of the target instance, in the series' zone.
fn instance_of(target: &EventTarget, series: &Event) -> Outcome<String> {
    if let Some(id) = &target.recurrence_id {
        return Ok(id.clone());
    }
    let at = target.original_start.ok_or_else(|| Failure::invalid("the instance is not named"))?;
    let form = if series.all_day { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%S" };
    Ok(zone(&series.time_zone).to_datetime(at.timestamp()).strftime(form).to_string())
}

fn refusal(error: &recurrence::Error) -> Failure {
    match error {
        recurrence::Error::NoSuchInstance(_) => Failure::not_found("the series has no such instance"),
        recurrence::Error::Invalid(_) => {
            Failure::invalid("the recurrence of the provider's series cannot be read")
                .with_detail(json!({ "reason": "invalid_recurrence" }))
        }
        error => Failure::unsupported(&format!("splitting this series: {error}")),
    }
}
