//! Changes an instance and all later ones. Google has no such operation: the series is ended before the instance, and a new series begins
//! with it. That is not atomic; a repeated attempt continues where the first one stopped.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Level, Outcome, code};
use model::Instant;
use model::calendar::Event;
use model::wire::calendar::{EventDelete, EventTarget, EventWrite, Notify};
use model::wire::{Mutated, Source, Warning};
use recurrence::{Caps, Series, Suffix, capped_before, carried, occurs_at, remainder_from};
use serde_json::{Map, Value, json};

use crate::api::{accepted, ask, ensure_done, execute, object, send};
use crate::calendar::events::{dropped_warning, insert, new_id, patch, remove};
use crate::calendar::info::CalendarInfo;
use crate::calendar::instance::{instance_id, split_id};
use crate::calendar::mapping::event_from;
use crate::calendar::native;
use crate::calendar::patch::{WrittenFields, event_to};
use crate::calendar::record::{deleted_source, event_source};
use crate::calendar::rules::google_lines;
use crate::calendar::scope::{EventScope, read, read_by_uid, send_updates, write_query};
use crate::calendar::times::original_of;
use crate::roots;

/// The members that the new series takes over from the old one.
const COPIED: [&str; 21] = [
    "summary",
    "description",
    "location",
    "colorId",
    "status",
    "transparency",
    "visibility",
    "attendees",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "anyoneCanAddSelf",
    "reminders",
    "extendedProperties",
    "source",
    "attachments",
    "conferenceData",
    "eventType",
    "focusTimeProperties",
    "outOfOfficeProperties",
    "workingLocationProperties",
];
/// The maximum number of changed instances that are moved to the new series; the rest stay with the old one.
const MAX_LATER: usize = 50;
/// The maximum number of concurrent requests.
const CONCURRENT: u8 = 4;

/// A series at Google and the instance before which it is cut.
struct CutSeries<'a> {
    calendar_id: &'a str,
    /// Google's JSON of the series, including members that are not parsed.
    raw: Map<String, Value>,
    theirs: native::Event,
    event: Event,
    rules: Series,
    /// The instance, in the form of `Event.recurrenceId`.
    instance: String,
    /// The original start of the instance.
    at: Instant,
    /// The lines of the series that ends before the instance; none if there is no earlier instance.
    capped: Option<Vec<String>>,
    /// The changed and cancelled instances from the cut on; empty until they are read.
    later: Vec<LaterException>,
}

/// A changed or cancelled instance that is a separate record.
struct LaterException {
    raw: Map<String, Value>,
    theirs: native::Event,
    event: Event,
    /// The original start in the form of `Event.recurrenceId`, in the series' zone.
    recurrence_id: String,
    original: Instant,
}

/// The two series of a split, as Google has them.
struct Halves {
    old: native::Event,
    new: native::Event,
}

/// The series to create.
struct NewSeries {
    body: Map<String, Value>,
    warnings: Vec<Warning>,
}

impl<'a> CutSeries<'a> {
    fn read(
        context: &Context,
        scope: &EventScope<'a>,
        target: &EventTarget,
        calendar: &CalendarInfo,
    ) -> Outcome<Self> {
        let (id, _) = split_id(scope.source);
        let request = Request::get(roots::events(scope.calendar, &[id], &[])?);
        let response = send(context, request, "reading the series")?;
        let (raw, theirs): (Map<String, Value>, native::Event) = (object(&response)?, object(&response)?);
        if theirs.is_deleted() {
            return Err(Failure::not_found("the series has been deleted"));
        }
        let event = event_from(&theirs, calendar)?;
        let rules = Series::parse(&event).map_err(|invalid| refusal(&invalid.into()))?;
        let instance = instance_of(target, &event)?;
        let at = rules.original_start(&instance);
        let at = at.ok_or_else(|| Failure::not_found("the series has no such instance"))?;
        let capped = capped_before(&rules, &instance, Caps::default()).map_err(|error| refusal(&error))?;
        if capped.is_some() && theirs.organizer.as_ref().is_some_and(|organizer| !organizer.is_self) {
            // A guest's change of the rule is ignored, and the new series would invite all guests again, in the name of this account.
            return Err(Failure::unsupported("dividing a series of another organizer"));
        }
        let (calendar_id, later) = (scope.calendar, Vec::new());
        Ok(CutSeries { calendar_id, raw, theirs, event, rules, instance, at, capped, later })
    }

    /// Reads the changed and cancelled instances from the cut on.
    fn with_later(mut self, context: &Context, calendar: &CalendarInfo) -> Outcome<Self> {
        self.later = self.later_exceptions(context, calendar)?;
        Ok(self)
    }

    /// Whether the series still has the instance: an earlier attempt may have ended the series.
    fn has_instance(&self) -> Outcome<bool> {
        occurs_at(&self.rules, &self.instance, Caps::default()).map_err(|error| refusal(&error))
    }

    /// Reads the exceptions from the cut on. Google has no EXDATE for cancelled instances, so the new series' rule alone would bring them
    /// back.
    fn later_exceptions(&self, context: &Context, calendar: &CalendarInfo) -> Outcome<Vec<LaterException>> {
        let Some(uid) = self.theirs.i_cal_uid.as_deref() else { return Ok(Vec::new()) };
        let records = read_by_uid(context, self.calendar_id, uid)?;
        let exceptions = records.iter().filter_map(|record| {
            let theirs: native::Event = serde_json::from_str(record.get()).ok()?;
            let original = theirs.original_start_time.clone();
            let original =
                original.filter(|_| theirs.recurring_event_id.as_ref() == Some(&self.theirs.id))?;
            if original.date.is_some() != self.event.all_day {
                return None;
            }
            let zone = Some(self.event.time_zone.clone());
            let original = native::EventDateTime { time_zone: zone, ..original };
            let original = original_of(&original, &self.theirs.start, &self.event.time_zone).ok()?;
            Some(LaterException {
                raw: serde_json::from_str(record.get()).ok()?,
                event: event_from(&theirs, calendar).ok()?,
                theirs,
                recurrence_id: original.recurrence_id,
                original: original.at,
            })
        });
        Ok(exceptions.filter(|one| one.original >= self.at).collect())
    }

    /// The exceptions that are not cancelled.
    fn changed_exceptions(&self) -> impl Iterator<Item = &LaterException> {
        self.later.iter().filter(|one| !one.theirs.is_cancelled()).take(MAX_LATER)
    }

    /// The JSON of the new series: that of the instance at the cut with the caller's changes, and with the rest of COUNT.
    fn remainder(&self, args: &EventWrite, calendar: &CalendarInfo) -> Outcome<NewSeries> {
        let mut first = args.event.clone();
        let mut warnings = Vec::new();
        if !args.changed.iter().any(|field| field == "recurrence") {
            let (lines, dropped) = self.lines_from(&first).map_err(|error| refusal(&error))?;
            first.recurrence = lines;
            warnings.extend(dropped.iter().map(|id| dropped_warning(id)));
        }
        let at_cut = self.changed_exceptions().find(|one| one.recurrence_id == self.instance);
        let (raw, theirs) =
            at_cut.map_or((&self.raw, &self.theirs), |exception| (&exception.raw, &exception.theirs));
        let mut names: Vec<String> = args.changed.iter().filter(|name| *name != "allDay").cloned().collect();
        names.extend(["start", "recurrence"].map(str::to_owned));
        let (changes, more) = event_to(&first, WrittenFields::Patch(&names), Some(theirs), calendar);
        warnings.extend(more);
        let copied = COPIED.iter().filter_map(|name| Some(((*name).to_owned(), raw.get(*name)?.clone())));
        let mut body: Map<String, Value> = copied.collect();
        if let Some(conference) = body.get_mut("conferenceData").and_then(Value::as_object_mut) {
            // The conference is kept; its creation request would create another one.
            conference.remove("createRequest");
        }
        for (name, value) in changes {
            match value {
                Value::Null => body.remove(&name),
                value => body.insert(name, value),
            };
        }
        Ok(NewSeries { body, warnings })
    }

    /// The lines of the series that continues with `first`, shifted along with its start, and the dates that it no longer has.
    fn lines_from(&self, first: &Event) -> Result<(Vec<String>, Vec<String>), recurrence::Error> {
        let mut lines = remainder_from(&self.rules, &self.instance, Caps::default())?;
        let cancelled = self.later.iter().filter(|one| one.theirs.is_cancelled());
        let dates: Vec<String> = cancelled.map(|one| one.recurrence_id.replace(['-', ':'], "")).collect();
        if !dates.is_empty() {
            let kind = match self.event.all_day {
                true => "VALUE=DATE".to_owned(),
                false => format!("TZID={}", self.event.time_zone),
            };
            lines.push(format!("EXDATE;{kind}:{}", dates.join(",")));
        }
        let before = self.rules.continued(&self.instance, &lines)?;
        let after = Series::parse(&Event { recurrence: lines, ..first.clone() })?;
        let carried = carried(&before, &after, true, Caps::default())?;
        Ok((carried.lines, carried.dropped))
    }

    /// Copies the changed instances to the new series, removes them from the old one, and returns the current state.
    fn finish(&self, context: &Context, halves: &Halves, calendar: &CalendarInfo) -> Outcome<Mutated> {
        let first = event_from(&halves.new, calendar)?;
        let mut sources = vec![event_source(&halves.old, calendar)?, event_source(&halves.new, calendar)?];
        let mut warnings = Vec::new();
        let changed: Vec<_> =
            self.changed_exceptions().filter(|one| one.recurrence_id != self.instance).collect();
        // The changed instances of a moved series cannot be matched.
        let stays = first.start == self.at && first.all_day == self.event.all_day;
        let requests = changed.iter().filter(|_| stays).map(|one| self.copy_exception(one, &halves.new.id));
        let mut responses = context.send_many(requests.collect::<Outcome<_>>()?, CONCURRENT).into_iter();
        for one in changed {
            match responses.next().map(|response| source_of(context, response?, calendar)) {
                Some(Ok(source)) => sources.push(source),
                _ => warnings.push(dropped_warning(&one.recurrence_id)),
            }
        }
        sources.extend(self.remove_later(context));
        Ok(Mutated { item: Some(halves.new.id.clone()), sources, warnings, ..Mutated::default() })
    }

    /// The request that copies a changed instance of the old series to the new one: the members in which it differs from its series.
    fn copy_exception(&self, one: &LaterException, series_id: &str) -> Outcome<Request> {
        let value = |name: &str| one.raw.get(name).cloned().unwrap_or_default();
        let differing = COPIED.iter().filter(|name| one.raw.get(**name) != self.raw.get(**name));
        let mut body: Map<String, Value> = differing.map(|name| ((*name).to_owned(), value(name))).collect();
        body.remove("conferenceData");
        let length = |event: &Event| event.end.as_millis() - event.start.as_millis();
        let is_other_kind = one.event.all_day != self.event.all_day;
        if is_other_kind || one.event.start != one.original || length(&one.event) != length(&self.event) {
            let others: &[&str] = if one.event.all_day { &["dateTime", "timeZone"] } else { &["date"] };
            for name in ["start", "end"] {
                let mut time = value(name);
                let nulls =
                    others.iter().filter(|_| is_other_kind).map(|other| ((*other).to_owned(), Value::Null));
                if let Some(members) = time.as_object_mut() {
                    members.extend(nulls);
                }
                body.insert(name.to_owned(), time);
            }
        }
        let suffix = match one.recurrence_id.parse().ok().filter(|_| self.event.all_day) {
            Some(day) => Suffix::Date(day),
            None => Suffix::Instant(one.original),
        };
        let id = instance_id(series_id, suffix);
        let url = roots::events(self.calendar_id, &[&id], &write_query(Notify::None))?;
        Ok(Request::patch(url).json(&body))
    }

    /// Removes changed instances after the end of the series, which Google may keep.
    fn remove_later(&self, context: &Context) -> Vec<Source> {
        let ids: Vec<&str> = self.changed_exceptions().map(|one| one.theirs.id.as_str()).collect();
        let query = [send_updates(Notify::None)];
        let requests = ids.iter().filter_map(|id| roots::events(self.calendar_id, &[id], &query).ok());
        let responses = context.send_many(requests.map(Request::delete).collect(), CONCURRENT);
        let removed = ids.iter().zip(&responses).filter(|(_, response)| is_removed(response));
        removed.map(|(id, _)| deleted_source(id)).collect()
    }

    /// Ends the series before the instance, in the version that was read.
    fn cap(&self, context: &Context, lines: &[String], notify: Notify) -> Outcome<native::Event> {
        let lines = google_lines(lines, &self.event.time_zone, self.event.all_day);
        let url = roots::events(self.calendar_id, &[&self.theirs.id], &write_query(notify))?;
        let request = Request::patch(url).if_match(self.theirs.etag.as_deref());
        ask(context, request.json(&json!({ "recurrence": lines })), "ending the series")
    }
}

/// Changes an instance and all later ones. If there is no earlier instance, changes the whole series.
pub fn update(context: &Context, args: &EventWrite, scope: &EventScope) -> Outcome<Mutated> {
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    let cut = CutSeries::read(context, scope, &args.target, &calendar)?;
    let Some(lines) = cut.capped.clone() else {
        scope.ensure_version(cut.theirs.etag.as_deref())?;
        return patch(context, args, &cut.theirs.id, cut.theirs.etag.as_deref());
    };
    let salt = format!("{}\n{}", cut.theirs.id, cut.instance);
    let id = new_id(context, scope.calendar, &salt, 0);
    let is_repeated = context.attempt() > 1;
    if is_repeated && !cut.has_instance()? {
        // An earlier attempt has ended the series, and its answer was lost.
        let new = read(context, scope.calendar, &id)?;
        return match new.is_cancelled() {
            true => Err(Failure::not_found("the series has no such instance")),
            false => {
                let cut = cut.with_later(context, &calendar)?;
                cut.finish(context, &Halves { old: cut.theirs.clone(), new }, &calendar)
            }
        };
    }
    if let Err(conflict) = scope.ensure_version(cut.theirs.etag.as_deref()) {
        if is_repeated {
            // Undo the earlier attempt, or its series would duplicate the instances.
            undo(context, scope.calendar, &id, args.notify);
        }
        return Err(conflict);
    }
    let cut = cut.with_later(context, &calendar)?;
    let NewSeries { body, mut warnings } = cut.remainder(args, &calendar)?;
    let new = insert(context, scope.calendar, body, &write_query(args.notify), &salt)?;
    let old = cut.cap(context, &lines, Notify::None).inspect_err(|failure| {
        if is_final(failure) {
            undo(context, scope.calendar, &new.id, args.notify);
        }
    })?;
    let mutated = cut.finish(context, &Halves { old, new }, &calendar)?;
    warnings.extend(mutated.warnings);
    Ok(Mutated { warnings, ..mutated })
}

/// Deletes an instance and all later ones: the series ends before it.
pub fn delete(context: &Context, args: &EventDelete, scope: &EventScope) -> Outcome<Mutated> {
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    let cut = match CutSeries::read(context, scope, &args.target, &calendar) {
        Err(failure) if failure.code == code::NOT_FOUND && failure.http_status.is_some() => {
            return Ok(Mutated { sources: vec![deleted_source(scope.source)], ..Mutated::default() });
        }
        read => read?,
    };
    // If an earlier attempt has ended the series, the caller's etag is out of date.
    if !(context.attempt() > 1 && cut.capped.is_some() && !cut.has_instance()?) {
        scope.ensure_version(cut.theirs.etag.as_deref())?;
    }
    let Some(lines) = &cut.capped else {
        remove(context, args, &cut.theirs.id, cut.theirs.etag.as_deref())?;
        return Ok(Mutated { sources: vec![deleted_source(&cut.theirs.id)], ..Mutated::default() });
    };
    let old = cut.cap(context, lines, args.notify)?;
    let cut = cut.with_later(context, &calendar)?;
    let mut sources = vec![event_source(&old, &calendar)?];
    sources.extend(cut.remove_later(context));
    Ok(Mutated { sources, ..Mutated::default() })
}

/// Whether the series was certainly not ended, and another attempt would fail as well.
fn is_final(failure: &Failure) -> bool {
    let codes = [code::CONFLICT, code::NOT_FOUND, code::FORBIDDEN, code::INVALID, code::UNSUPPORTED];
    failure.http_status.is_some() && codes.contains(&failure.code.as_str())
}

/// Deletes the new series again, and notifies its guests as they were notified of its creation.
fn undo(context: &Context, calendar: &str, id: &str, notify: Notify) {
    let url = roots::events(calendar, &[id], &[send_updates(notify)]);
    match url.and_then(|url| execute(context, Request::delete(url), "deleting the new series")) {
        Err(failure) if failure.code != code::NOT_FOUND => {
            context.log(Level::Warn, "a series that was split off could not be deleted again", &[]);
        }
        _ => {}
    }
}

fn source_of(context: &Context, response: Response, calendar: &CalendarInfo) -> Outcome<Source> {
    let response = accepted(context, response, "changing an instance of the new series")?;
    event_source(&object::<native::Event>(&response)?, calendar)
}

fn is_removed(response: &Outcome<Response>) -> bool {
    response.as_ref().is_ok_and(|response| match response.is_success() {
        true => ensure_done(response).is_ok(),
        false => matches!(response.status, 404 | 410),
    })
}

/// The `recurrenceId` of the target instance, in the series' zone.
fn instance_of(target: &EventTarget, series: &Event) -> Outcome<String> {
    if let Some(id) = &target.recurrence_id {
        return Ok(id.clone());
    }
    let at = target.original_start.ok_or_else(|| Failure::invalid("the instance is not named"))?;
    let zone = recurrence::zone_of(series).map_err(|invalid| refusal(&invalid.into()))?;
    let form = if series.all_day { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%S" };
    Ok(zone.to_datetime(at.timestamp()).strftime(form).to_string())
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
