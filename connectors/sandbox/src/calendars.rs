//! Operations on calendars, free/busy, and what the provider can do.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::calendar::{BusyInterval, Calendar, ConferenceProvider};
use model::wire::calendar::{CalendarFeatures, FreeBusyAnswer, FreeBusyRequest};
use model::wire::{CollectionDelete, CollectionWrite, Mutated, Source, Sources};
use serde_json::{Map, Value, json};

use crate::api::{ask, change, failure, new_id, url};
use crate::mapping::{CALENDAR_PLACES, calendar_source, calendar_to, selected};
use crate::native;

pub fn list(context: &Context) -> Outcome<Answer<Sources>> {
    let request = Request::get(url(context, &["calendars"], &[])?);
    let found: native::Calendars = ask(context, request, "listing the calendars")?;
    let sources = found.calendars.iter().map(calendar_source).collect::<Outcome<_>>()?;
    Ok(Answer::whole(Sources { sources, enumeration: true }))
}

pub fn create(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let id = new_id(context);
    let mut body = document(args, None);
    // What the caller left out is the provider's to choose.
    body.retain(|name, value| !value.is_null() && (name != "videoServices" || *value != json!([])));
    body.insert("id".to_owned(), json!(id));
    let request = Request::post(url(context, &["calendars"], &[])?).json(&body);
    match change(context, request, "creating the calendar") {
        Ok(response) => mutated(&response.json()?),
        // An earlier attempt has come through.
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            let request = Request::get(url(context, &["calendars", &id], &[])?);
            mutated(&ask(context, request, "reading the calendar")?)
        }
        Err(e) => Err(e),
    }
}

pub fn update(context: &Context, args: &CollectionWrite<Calendar>) -> Outcome<Mutated> {
    let source = named(args.source.as_deref())?;
    let request = Request::patch(url(context, &["calendars", source], &[])?)
        .if_match(args.if_match.as_deref())
        .json(&document(args, Some(&args.changed)));
    mutated(&change(context, request, "changing the calendar")?.json()?)
}

pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let request = Request::delete(url(context, &["calendars", named(Some(&args.source))?], &[])?)
        .if_match(args.if_match.as_deref());
    let response = context.send(request)?;
    // Gone already is as good as deleted.
    if !response.is_success() && response.status != 404 {
        return Err(failure(context, &response, "deleting the calendar"));
    }
    let gone = Source { external_id: args.source.clone(), deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

fn document(args: &CollectionWrite<Calendar>, changed: Option<&[String]>) -> Map<String, Value> {
    let document = serde_json::to_value(calendar_to(&args.body)).unwrap_or_default();
    selected(&document, changed, CALENDAR_PLACES)
}

fn mutated(theirs: &native::Calendar) -> Outcome<Mutated> {
    let source = calendar_source(theirs)?;
    Ok(Mutated { item: Some(theirs.id.clone()), sources: vec![source], ..Mutated::default() })
}

fn named(source: Option<&str>) -> Outcome<&str> {
    source
        .filter(|s| !s.is_empty())
        .ok_or_else(|| Failure::invalid("source is missing: name the calendar to change"))
}

pub fn free_busy(context: &Context, args: &FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
    let people: Vec<&String> = args.email.iter().collect();
    let body = json!({ "from": args.start, "to": args.end, "calendars": args.collections, "people": people });
    let request = Request::post(url(context, &["busy"], &[])?).json(&body);
    let found: native::BusyAnswer = ask(context, request, "reading free and busy times")?;
    // An unknown target must not look free.
    if found.results.iter().any(|r| r.problem.is_some()) || found.results.is_empty() {
        return Err(Failure::not_found("the provider knows no such calendar or person"));
    }
    let interval = |busy: &native::Busy| BusyInterval {
        start: busy.from,
        end: busy.to,
        show_as: busy.availability.into(),
    };
    Ok(FreeBusyAnswer { busy: found.results.iter().flat_map(|r| &r.busy).map(interval).collect() })
}

pub fn features() -> CalendarFeatures {
    CalendarFeatures {
        create_calendar: true,
        update_calendar: true,
        delete_calendar: true,
        recurrence: true,
        this_and_following: true,
        attendees: true,
        scheduling: true,
        rsvp: true,
        conference: vec![ConferenceProvider::Other],
        reminders: true,
        attachments: true,
        free_busy: true,
        free_busy_by_email: true,
        push: false,
        delta: "syncToken".to_owned(),
    }
}
