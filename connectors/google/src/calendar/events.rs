//! Operations on events.

use connector_sdk::http::Request;
use connector_sdk::rest::id::{IdForm, stable_id};
use connector_sdk::{Context, Failure, Outcome, code};
use model::calendar::{ConferenceProvider, Event};
use model::wire::calendar::{EventDelete, EventWrite, Notify};
use model::wire::{Mutated, Source, SourceRef, Sources, Warning};
use recurrence::{Caps, Series, carried};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::calendar::conference::request_for;
use crate::calendar::info::CalendarInfo;
use crate::calendar::mapping::event_from;
use crate::calendar::native;
use crate::calendar::patch::{TIMES, WrittenFields, event_to, field_warning};
use crate::calendar::record::{deleted_source, event_source};
use crate::calendar::rules::google_lines;
use crate::calendar::scope::{EventScope, read, read_by_uid, send_updates, write_query};
use crate::roots;

/// The number of characters of a new event's id. Google accepts 5 to 1,024 characters of `0` to `9` and `a` to `v`.
const ID_LENGTH: usize = 32;
/// The maximum number of ids that a create tries, because the id of a deleted event stays taken.
const MAX_IDS: u32 = 4;

/// Returns the answer to a write, with the current state of the event.
pub fn answer_of(event: &native::Event, calendar: &CalendarInfo, warnings: Vec<Warning>) -> Outcome<Mutated> {
    if event.is_deleted() {
        return Err(Failure::not_found("the event has been deleted in the meantime"));
    }
    let source = event_source(event, calendar)?;
    Ok(Mutated { item: Some(event.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}

/// Reads the current state of an event. Fails with `not-found` for deleted events, which Google keeps returning for a while.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let event = read(context, &args.collection, &args.source)?;
    if event.is_deleted() {
        return Err(Failure::not_found("the event has been deleted"));
    }
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    Ok(Sources { sources: vec![event_source(&event, &calendar)?], ..Sources::default() })
}

/// Creates an event.
pub fn create(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    let fields = WrittenFields::New(&args.changed);
    let (mut body, mut warnings) = event_to(&args.event, fields, None, &calendar);
    if let Some(conference) = &args.event.conference {
        if conference.provider == ConferenceProvider::GoogleMeet && conference.join_url.is_none() {
            let id = stable_id(context, IdForm::Base32Hex(ID_LENGTH), "conference");
            body.insert("conferenceData".to_owned(), request_for(&id));
        } else {
            warnings.push(field_warning("conference", "Google adds its own conferences alone"));
        }
    }
    let query = write_query(args.notify);
    let uid = args.event.i_cal_uid.as_deref().map(str::trim).filter(|uid| !uid.is_empty());
    let event = match uid {
        Some(uid) => insert_with_uid(context, args, uid, body)?,
        None => insert(context, &args.collection, body, &query, "")?,
    };
    answer_of(&event, &calendar, warnings)
}

/// Creates an event under an id derived from the idempotency key, so that a repeated attempt finds the event of the first one.
pub fn insert(
    context: &Context,
    calendar: &str,
    mut body: Map<String, Value>,
    query: &[(&str, &str)],
    salt: &str,
) -> Outcome<native::Event> {
    for number in 0..MAX_IDS {
        let id = new_id(context, calendar, salt, number);
        body.insert("id".to_owned(), json!(id));
        let request = Request::post(roots::events(calendar, &[], query)?).json(&body);
        match ask(context, request, "creating the event") {
            Err(failure) if failure.code == code::ALREADY_EXISTS => match read(context, calendar, &id) {
                Ok(event) if !event.is_cancelled() => return Ok(event),
                // The event was deleted, and its id stays taken.
                Ok(_) => {}
                Err(failure) if failure.code == code::NOT_FOUND => {}
                Err(failure) => return Err(failure),
            },
            done => return done,
        }
    }
    Err(Failure::conflict("the event was created and deleted several times under this idempotency key"))
}

/// Returns an id for a new event. `number` is the number of earlier ids that were taken.
pub fn new_id(context: &Context, calendar: &str, salt: &str, number: u32) -> String {
    stable_id(context, IdForm::Base32Hex(ID_LENGTH), &format!("{calendar}\n{salt}\n{number}"))
}

/// The text as Google stores it: no text becomes an empty one.
fn text(text: Option<&String>) -> &str {
    text.map(String::as_str).unwrap_or_default()
}

/// Creates an event with the caller's UID and without an id: the event of an earlier attempt is found by the UID.
fn insert_with_uid(
    context: &Context,
    args: &EventWrite,
    uid: &str,
    mut body: Map<String, Value>,
) -> Outcome<native::Event> {
    let records = read_by_uid(context, &args.collection, uid)?;
    let events = records.iter().filter_map(|record| serde_json::from_str::<native::Event>(record.get()).ok());
    let mut there: Vec<native::Event> = events.filter(|event| !event.is_cancelled()).collect();
    // Exceptions have the UID of their series.
    there.sort_by_key(|event| event.recurring_event_id.is_some());
    if let Some(event) = there.into_iter().next() {
        let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
        let found = event_from(&event, &calendar)?;
        let is_ours =
            found.start == args.event.start && text(found.title.as_ref()) == text(args.event.title.as_ref());
        return match is_ours && context.idempotency_key.is_some() {
            true => Ok(event),
            false => Err(Failure::new(code::ALREADY_EXISTS, "the calendar has an event with this iCalUid")),
        };
    }
    body.insert("iCalUID".to_owned(), json!(uid));
    let request = Request::post(roots::events(&args.collection, &[], &write_query(args.notify))?).json(&body);
    ask(context, request, "creating the event")
}

/// Changes an event, a series, or one instance of it.
pub fn update(context: &Context, args: &EventWrite, scope: &EventScope) -> Outcome<Mutated> {
    scope.with_id(context, |id| patch(context, args, id, scope.precondition()))
}

/// Changes the event with this id. The guest list is replaced as a whole, so it is read first and written only if that version is still
/// current. The same applies to the rule of a series that moves.
pub fn patch(context: &Context, args: &EventWrite, id: &str, if_match: Option<&str>) -> Outcome<Mutated> {
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    let has = |field: &str| args.changed.iter().any(|name| name == field);
    let moves =
        !args.event.recurrence.is_empty() && !has("recurrence") && TIMES.iter().any(|field| has(field));
    let before = (has("attendees") || moves).then(|| read(context, &args.collection, id)).transpose()?;
    if has("attendees") && before.as_ref().is_some_and(|before| before.attendees_omitted) {
        let failure = Failure::unsupported("changing guests whom the provider does not show");
        return Err(failure.with_detail(json!({ "field": "attendees" })));
    }
    let fields = WrittenFields::Patch(&args.changed);
    let (mut body, mut warnings) = event_to(&args.event, fields, before.as_ref(), &calendar);
    if body.is_empty() {
        return answer_of(&read(context, &args.collection, id)?, &calendar, warnings);
    }
    if let Some(before) = before.as_ref().filter(|_| moves) {
        put_moved_rule(&mut body, &mut warnings, before, args)?;
    }
    let is_based = has("attendees") || body.contains_key("recurrence");
    let read_etag = before.as_ref().filter(|_| is_based).and_then(|before| before.etag.as_deref());
    let etag = if_match.or(read_etag);
    let url = roots::events(&args.collection, &[id], &write_query(args.notify))?;
    let request = Request::patch(url).if_match(etag).json(&body);
    let event: native::Event = ask(context, request, "changing the event")?;
    warnings.extend(unchanged_fields(&event, args, &calendar)?);
    answer_of(&event, &calendar, warnings)
}

/// Adds the shifted rule and dates of a series whose start moves, because Google changes neither.
fn put_moved_rule(
    body: &mut Map<String, Value>,
    warnings: &mut Vec<Warning>,
    before: &native::Event,
    args: &EventWrite,
) -> Outcome<()> {
    let calendar =
        CalendarInfo { time_zone: args.time_zone.clone().unwrap_or_default(), ..CalendarInfo::default() };
    let before = event_from(before, &calendar)?;
    let after = Event { recurrence: before.recurrence.clone(), ..args.event.clone() };
    let (Ok(old), Ok(new)) = (Series::parse(&before), Series::parse(&after)) else { return Ok(()) };
    // If the rule cannot be shifted, it stays as written.
    let Ok(carried) = carried(&old, &new, true, Caps::default()) else { return Ok(()) };
    if carried.lines != before.recurrence {
        let lines = google_lines(&carried.lines, &after.time_zone, after.all_day);
        body.insert("recurrence".to_owned(), json!(lines));
        warnings.extend(carried.dropped.iter().map(|id| dropped_warning(id)));
    }
    Ok(())
}

/// Returns the warning that a changed or cancelled instance was dropped from a series.
pub fn dropped_warning(recurrence_id: &str) -> Warning {
    Warning {
        code: "exception_dropped".to_owned(),
        message: "this changed instance is gone: the series has no such start any more".to_owned(),
        target: Some(recurrence_id.to_owned()),
    }
}

/// Warnings about changes that Google accepted but did not make, such as some changes by guests.
fn unchanged_fields(
    event: &native::Event,
    args: &EventWrite,
    calendar: &CalendarInfo,
) -> Outcome<Vec<Warning>> {
    let is_guest = event.organizer.as_ref().is_some_and(|organizer| !organizer.is_self);
    if !is_guest || event.is_deleted() {
        return Ok(Vec::new());
    }
    let (wanted, found): (&Event, Event) = (&args.event, event_from(event, calendar)?);
    let kept = [
        ("title", text(wanted.title.as_ref()) == text(found.title.as_ref())),
        ("location", text(wanted.location.as_ref()) == text(found.location.as_ref())),
        ("description", text(wanted.description.as_ref()) == text(found.description.as_ref())),
        ("start", wanted.start == found.start),
        ("end", wanted.end == found.end),
        ("recurrence", wanted.recurrence.is_empty() == found.recurrence.is_empty()),
    ];
    let lost =
        kept.into_iter().filter(|(field, is_kept)| !is_kept && args.changed.iter().any(|c| c == field));
    let warning = |field: &str| Warning {
        code: "field_not_changed".to_owned(),
        message: "the provider did not make this change: the event belongs to its organizer".to_owned(),
        target: Some(field.to_owned()),
    };
    Ok(lost.map(|(field, _)| warning(field)).collect())
}

/// Deletes an event, a series, or one instance of it. Succeeds if the event is already deleted.
pub fn delete(context: &Context, args: &EventDelete, scope: &EventScope) -> Outcome<Mutated> {
    let calendar = CalendarInfo::of_call(context, args.time_zone.as_deref());
    let is_instance = scope.original.is_some() || scope.is_instance_record();
    let deleted = scope.with_id(context, |id| match is_instance {
        true => event_source(&cancel_instance(context, scope, id, args.notify)?, &calendar),
        false => remove(context, args, id, scope.precondition()).map(|()| deleted_source(id)),
    });
    let source = match deleted {
        Err(failure) if failure.code == code::NOT_FOUND => left_of(context, scope, &calendar)?,
        done => done?,
    };
    Ok(Mutated { sources: vec![source], ..Mutated::default() })
}

/// Returns the source for an event that was not found: the series without the instance if it exists, else a deletion.
fn left_of(context: &Context, scope: &EventScope, calendar: &CalendarInfo) -> Outcome<Source> {
    if scope.is_record() {
        return Ok(deleted_source(scope.source));
    }
    match read(context, scope.calendar, scope.source) {
        Ok(series) => event_source(&series, calendar),
        Err(failure) if failure.code == code::NOT_FOUND => Ok(deleted_source(scope.source)),
        Err(failure) => Err(failure),
    }
}

/// Deletes the event with this id.
pub fn remove(context: &Context, args: &EventDelete, id: &str, if_match: Option<&str>) -> Outcome<()> {
    let url = roots::events(&args.collection, &[id], &[send_updates(args.notify)])?;
    execute(context, Request::delete(url).if_match(if_match), "deleting the event")
}

/// Cancels an instance, which stays as an exception of its series. If the account is a guest, Google refuses or ignores that; its own copy
/// is then deleted, with the same result.
fn cancel_instance(
    context: &Context,
    scope: &EventScope,
    id: &str,
    notify: Notify,
) -> Outcome<native::Event> {
    let url = roots::events(scope.calendar, &[id], &write_query(notify))?;
    let body = json!({ "status": "cancelled" });
    let request = Request::patch(url).if_match(scope.precondition()).json(&body);
    let patched: Outcome<native::Event> = ask(context, request, "cancelling the instance");
    let if_match = scope.precondition().filter(|_| patched.is_err());
    match patched {
        Ok(event) if event.is_cancelled() => Ok(event),
        Err(failure) if failure.code != code::FORBIDDEN => Err(failure),
        _ => {
            let url = roots::events(scope.calendar, &[id], &[send_updates(notify)])?;
            execute(context, Request::delete(url).if_match(if_match), "deleting the instance")?;
            read(context, scope.calendar, id)
        }
    }
}
