//! Operations on events.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use model::calendar::{ConferenceProvider, Event, ResponseStatus};
use model::wire::calendar::{
    EventConference, EventDelete, EventRespond, EventTarget, EventWrite, RecurrenceScope,
};
use model::wire::{Mutated, Warning};
use serde_json::{Map, Value, json};

use crate::api::{change, new_id, url};
use crate::items::{self, members, parse_change};

/// The fields that together define the times of an event.
const TIMES: [&str; 7] = ["start", "end", "timeZone", "endTimeZone", "allDay", "startDate", "endDate"];

pub fn create(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    items::create::<Event>(context, &args.collection, &new_id(context), members(&args.event, None))
}

pub fn update(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    let target = Target::parse(&args.collection, &args.target)?;
    let mut body = changed_members(args);
    if target.is_following {
        // The first event of the new series is complete; the provider splits its rule unless it was changed.
        body.insert("id".to_owned(), json!(new_id(context)));
    }
    let request = Request::patch(target.url(context)?).if_match(args.target.if_match.as_deref()).json(&body);
    mutated(&change(context, request, "changing the event")?, target.item())
}

pub fn delete(context: &Context, args: &EventDelete) -> Outcome<Mutated> {
    let target = Target::parse(&args.collection, &args.target)?;
    let request = Request::delete(target.url(context)?).if_match(args.target.if_match.as_deref());
    let gone = || Mutated { sources: vec![items::deleted_source(target.source)], ..Mutated::default() };
    match change(context, request, "deleting the event") {
        Ok(response) if response.status == 204 => Ok(gone()),
        Ok(response) => Ok(Mutated { item: None, ..mutated(&response, None)? }),
        // An event that no longer exists counts as deleted.
        Err(e) if e.code == code::NOT_FOUND && target.original.is_none() => Ok(gone()),
        Err(e) => Err(e),
    }
}

pub fn respond(context: &Context, args: &EventRespond) -> Outcome<Mutated> {
    let target = Target::parse(&args.collection, &args.target)?;
    target.refuse_following("answering an invitation from one instance on")?;
    let body = json!({
        "response": args.response,
        "comment": args.comment,
        "recurrenceId": target.original,
        "notifyOrganizer": args.notify_organizer,
    });
    if args.response == ResponseStatus::NeedsAction {
        return Err(Failure::invalid("response must be accepted, declined or tentative"));
    }
    mutated(&act(context, &target, &args.target, "answer", &body)?, target.item())
}

pub fn conference(context: &Context, args: &EventConference) -> Outcome<Mutated> {
    let target = Target::parse(&args.collection, &args.target)?;
    target.refuse_following("adding a conference from one instance on")?;
    let body = json!({
        "provider": args.provider.unwrap_or(ConferenceProvider::Other),
        "createRequestId": context.idempotency_key.as_ref().map(|_| new_id(context)),
        "recurrenceId": target.original,
    });
    // Only the provider knows which conference services a calendar has.
    let is_of_service = |e: &Failure| e.detail.as_ref().is_some_and(|detail| detail["field"] == "provider");
    let made = act(context, &target, &args.target, "video", &body).map_err(|e| match is_of_service(&e) {
        true => Failure::unsupported("this conference provider: use one of the calendar's conferenceTypes"),
        false => e,
    });
    mutated(&made?, target.item())
}

/// Runs one of the provider's actions on an event.
fn act(context: &Context, target: &Target, at: &EventTarget, verb: &str, body: &Value) -> Outcome<Response> {
    let path = ["calendars", target.collection, "events", target.source, verb];
    let request = Request::post(url(context, &path, &[])?).if_match(at.if_match.as_deref()).json(body);
    change(context, request, "changing the event")
}

/// The members that a change sends: if one of the times changed, all of them.
fn changed_members(args: &EventWrite) -> Map<String, Value> {
    let is_time = |name: &str| TIMES.contains(&name);
    let moves = args.changed.iter().any(|name| is_time(name));
    let mut part = members(&args.event, None);
    // The UID of an event cannot be changed.
    part.retain(|name, _| name != "iCalUid" && (args.changed.contains(name) || moves && is_time(name)));
    part
}

/// Parses the result of a change. `item` is the changed instance; none for the event itself. Dropped instances are original starts, or ids
/// of exceptions that were separate records.
fn mutated(response: &Response, item: Option<String>) -> Outcome<Mutated> {
    let mut left = parse_change::<Event>(response)?;
    let (records, originals): (Vec<_>, Vec<_>) =
        left.dropped.into_iter().partition(|name| name.contains('@'));
    left.mutated.sources.extend(records.iter().map(|id| items::deleted_source(id)));
    let warning = |original: String| Warning {
        code: "exception_dropped".to_owned(),
        message: "this changed instance is gone: the series has no such start any more".to_owned(),
        target: Some(original),
    };
    let warnings = originals.into_iter().map(warning).collect();
    Ok(Mutated { item: item.or(left.mutated.item), warnings, ..left.mutated })
}

/// The target of a change, in the provider's terms.
struct Target<'a> {
    collection: &'a str,
    source: &'a str,
    /// The original start of the instance; none for the event or the whole series.
    original: Option<String>,
    is_following: bool,
}

impl<'a> Target<'a> {
    fn parse(collection: &'a str, target: &'a EventTarget) -> Outcome<Self> {
        let source = items::target(target.source.as_deref())?;
        // An exception that is a separate record is changed as an instance of its series.
        let source = source.split_once('@').map_or(source, |(series, _)| series);
        let named = target.recurrence_id.clone().or_else(|| target.original_start.map(|at| at.to_string()));
        let original = named.filter(|_| target.scope != RecurrenceScope::All);
        let is_following = original.is_some() && target.scope == RecurrenceScope::ThisAndFollowing;
        Ok(Target { collection, source, original, is_following })
    }

    fn url(&self, context: &Context) -> Outcome<String> {
        let event = ["calendars", self.collection, "events", self.source];
        match &self.original {
            None => url(context, &event, &[]),
            Some(original) => {
                let path = [&event[..], &["instances", original.as_str()]].concat();
                url(context, &path, &[("span", if self.is_following { "following" } else { "one" })])
            }
        }
    }

    /// The external id of the target instance, if it is one.
    fn item(&self) -> Option<String> {
        let original = self.original.as_ref().filter(|_| !self.is_following)?;
        Some(format!("{}@{original}", self.source))
    }

    fn refuse_following(&self, what: &str) -> Outcome<()> {
        if self.is_following { Err(Failure::unsupported(what)) } else { Ok(()) }
    }
}
