//! Operations on events.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::calendar::{ConferenceProvider, ResponseStatus};
use model::wire::calendar::{
    EventConference, EventDelete, EventRespond, EventTarget, EventWrite, RecurrenceScope,
};
use model::wire::{ChangesRequest, ItemError, Mutated, Source, SourceRef, Sources, Warning};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::api::{ask, change, new_id, url};
use crate::mapping::{EVENT_PLACES, event_source, event_to, selected};
use crate::native;

/// The provider's largest page.
const MAX_LIMIT: u32 = 250;

pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let request = Request::get(url(context, &["calendars", &args.collection, "events", &args.source], &[])?);
    let event: native::Event = ask(context, request, "reading the event")?;
    Ok(Sources { sources: vec![event_source(&event)?], enumeration: false })
}

/// The cursor is a letter and the provider's token: `f` goes on with the first walk over everything, `c` with a walk over
/// changes, `s` begins one.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let collection = args.collection.as_deref().unwrap_or_default();
    let limit = if args.limit == 0 { MAX_LIMIT } else { args.limit.min(MAX_LIMIT) }.to_string();
    let mut query = vec![("limit", limit.as_str())];
    let expired = || Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector");
    let enumeration = match &context.cursor {
        None => true,
        Some(cursor) => {
            let (letter, token) = cursor.split_at_checked(1).ok_or_else(expired)?;
            let name = if letter == "s" { "syncToken" } else { "pageToken" };
            query.push((name, token));
            match letter {
                "f" => true,
                "c" | "s" => false,
                _ => return Err(expired()),
            }
        }
    };
    let request = Request::get(url(context, &["calendars", collection, "events"], &query)?);
    let page: native::Page = ask(context, request, "listing the events")?;
    let (cursor, more) = match (page.next_page_token, page.next_sync_token) {
        (Some(token), _) => (format!("{}{token}", if enumeration { "f" } else { "c" }), true),
        (None, Some(token)) => (format!("s{token}"), false),
        (None, None) => return Err(Failure::unavailable("the provider's last page has no sync token")),
    };
    let read = if args.names_only { named } else { listed };
    let sources = page.events.iter().map(|event| read(event)).collect();
    Ok(Answer { body: Sources { sources, enumeration }, cursor: Some(cursor), more })
}

/// One event of a list. One that cannot be read must not stop the others.
fn listed(event: &RawValue) -> Source {
    let read = serde_json::from_str::<native::Event>(event.get()).map_err(|e| e.to_string());
    let source = read.and_then(|event| {
        if event.deleted {
            return Ok(Source {
                external_id: event.id,
                etag: event.etag,
                deleted: true,
                ..Source::default()
            });
        }
        event_source(&event).map_err(|e| e.message)
    });
    source.unwrap_or_else(|message| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message });
        Source { error, ..named(event) }
    })
}

/// Only which event of a list it is.
fn named(event: &RawValue) -> Source {
    let known = serde_json::from_str::<Value>(event.get()).unwrap_or_default();
    Source {
        external_id: known["id"].as_str().unwrap_or_default().to_owned(),
        etag: known["etag"].as_str().map(str::to_owned),
        deleted: known["deleted"] == true,
        ..Source::default()
    }
}

pub fn create(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    let id = new_id(context);
    let mut body = document(args, None);
    body.insert("id".to_owned(), json!(id));
    if args.event.i_cal_uid.is_none() {
        body.remove("uid");
    }
    let path = ["calendars", args.collection.as_str(), "events"];
    let request = Request::post(url(context, &path, &[])?).json(&body);
    match change(context, request, "creating the event") {
        Ok(response) => mutated(&response, None),
        // An earlier attempt has come through.
        Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
            let request = Request::get(url(context, &[&path[..], &[id.as_str()]].concat(), &[])?);
            let event: native::Event = ask(context, request, "reading the event")?;
            Ok(Mutated { sources: vec![event_source(&event)?], item: Some(id), ..Mutated::default() })
        }
        Err(e) => Err(e),
    }
}

pub fn update(context: &Context, args: &EventWrite) -> Outcome<Mutated> {
    let target = Target::of(&args.collection, &args.target)?;
    let mut body = document(args, Some(&args.changed));
    if target.is_following {
        // The first event of the new series is known in full; its rule is the provider's to cut unless it was changed.
        body.insert("id".to_owned(), json!(new_id(context)));
    }
    let request = Request::patch(target.url(context)?).if_match(args.target.if_match.as_deref()).json(&body);
    mutated(&change(context, request, "changing the event")?, target.item())
}

pub fn delete(context: &Context, args: &EventDelete) -> Outcome<Mutated> {
    let target = Target::of(&args.collection, &args.target)?;
    let request = Request::delete(target.url(context)?).if_match(args.target.if_match.as_deref());
    let gone = || {
        let source = Source { external_id: target.source.to_owned(), deleted: true, ..Source::default() };
        Mutated { sources: vec![source], ..Mutated::default() }
    };
    match change(context, request, "deleting the event") {
        Ok(response) if response.status == 204 => Ok(gone()),
        Ok(response) => Ok(Mutated { item: None, ..mutated(&response, None)? }),
        // Gone already is as good as deleted.
        Err(e) if e.code == code::NOT_FOUND && target.original.is_none() => Ok(gone()),
        Err(e) => Err(e),
    }
}

pub fn respond(context: &Context, args: &EventRespond) -> Outcome<Mutated> {
    let target = Target::of(&args.collection, &args.target)?;
    target.refuse_following("answering an invitation from one instance on")?;
    let body = json!({
        "answer": native::Answer::from(args.response),
        "note": args.comment,
        "original": target.original,
        "tellHost": args.notify_organizer,
    });
    if args.response == ResponseStatus::NeedsAction {
        return Err(Failure::invalid("response must be accepted, declined or tentative"));
    }
    mutated(&act(context, &target, &args.target, "answer", &body)?, target.item())
}

pub fn conference(context: &Context, args: &EventConference) -> Outcome<Mutated> {
    let target = Target::of(&args.collection, &args.target)?;
    target.refuse_following("adding a conference from one instance on")?;
    let service = args.provider.unwrap_or(ConferenceProvider::Other);
    if service != ConferenceProvider::Other {
        return Err(Failure::unsupported("this conference provider: use \"other\""));
    }
    let body = json!({
        "service": native::VideoService::from(service),
        "requestId": context.idempotency_key.as_ref().map(|_| new_id(context)),
        "original": target.original,
    });
    mutated(&act(context, &target, &args.target, "video", &body)?, target.item())
}

/// One of the provider's verbs on an event.
fn act(context: &Context, target: &Target, at: &EventTarget, verb: &str, body: &Value) -> Outcome<Response> {
    let path = ["calendars", target.collection, "events", target.source, verb];
    let request = Request::post(url(context, &path, &[])?).if_match(at.if_match.as_deref()).json(body);
    change(context, request, "changing the event")
}

fn document(args: &EventWrite, changed: Option<&[String]>) -> Map<String, Value> {
    let document = serde_json::to_value(event_to(&args.event)).unwrap_or_default();
    let mut part = selected(&document, changed, EVENT_PLACES);
    // An event has its uid from its creation on.
    if changed.is_some() {
        part.remove("uid");
    }
    part
}

/// What a change left behind. `item`: the instance that it was about, none for the event of the answer.
fn mutated(response: &Response, item: Option<String>) -> Outcome<Mutated> {
    let written: native::Written = response.json()?;
    let read = |event: &RawValue| -> Outcome<Source> {
        let event: native::Event = serde_json::from_str(event.get())
            .map_err(|e| Failure::unavailable(format!("the provider's event cannot be read: {e}")))?;
        event_source(&event)
    };
    let event = written.event.as_deref().map(read).transpose()?;
    let event = event.ok_or_else(|| Failure::not_found("the event has been deleted meanwhile"))?;
    let item = item.unwrap_or_else(|| event.external_id.clone());
    let mut sources = vec![event];
    for other in &written.others {
        sources.push(read(other)?);
    }
    let warning = |original: String| Warning {
        code: "exception_dropped".to_owned(),
        message: "this changed instance is gone: the series has no such start any more".to_owned(),
        target: Some(original),
    };
    let warnings = written.dropped.into_iter().map(warning).collect();
    Ok(Mutated { sources, item: Some(item), warnings, ..Mutated::default() })
}

/// What a change is for, in the provider's terms.
struct Target<'a> {
    collection: &'a str,
    source: &'a str,
    /// The instance; none: the event, or the whole series.
    original: Option<String>,
    is_following: bool,
}

impl<'a> Target<'a> {
    fn of(collection: &'a str, target: &'a EventTarget) -> Outcome<Self> {
        let source = target.source.as_deref().filter(|s| !s.is_empty());
        let source =
            source.ok_or_else(|| Failure::invalid("target.source is missing: name the event to change"))?;
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

    /// The external id of the one instance that it is about.
    fn item(&self) -> Option<String> {
        let original = self.original.as_ref().filter(|_| !self.is_following)?;
        Some(format!("{}@{original}", self.source))
    }

    fn refuse_following(&self, what: &str) -> Outcome<()> {
        if self.is_following { Err(Failure::unsupported(what)) } else { Ok(()) }
    }
}
