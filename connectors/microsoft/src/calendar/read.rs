//! Reads of events, one or many at once.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome};
use model::wire::{Source, SourceRef, Sources, SourcesGet};

use crate::api::{accepted, ask, object};
use crate::calendar::info::MailboxInfo;
use crate::calendar::native::{Event, EventName};
use crate::calendar::record::{deleted_source, event_source, unreadable_source};
use crate::calendar::roots::{event_request, events};
use crate::odata::batch;
use crate::odata::failures::is_gone;

/// The purpose of the requests, for messages.
const READING: &str = "reading the events";

/// Reads an event; of a series its changed and cancelled instances too.
pub fn read_event(context: &Context, calendar: &str, id: &str) -> Outcome<Event> {
    ask(context, event_request(calendar, id)?, "reading the event")
}

/// Reads some members of an event.
pub fn read_members(context: &Context, calendar: &str, id: &str, members: &str) -> Outcome<EventName> {
    ask(context, Request::get(events(calendar, &[id], &[("$select", members)])?), "reading the event")
}

/// Returns an event as it is now.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let event = read_event(context, &args.collection, &args.source)?;
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let source = event_source(&event, &mailbox)?;
    if source.deleted {
        return Err(Failure::not_found("this is an instance of a series: the series is the event"));
    }
    Ok(Sources { sources: vec![source], ..Sources::default() })
}

/// Returns many events as they are now, those that are gone as deleted.
pub fn get_many(context: &Context, args: &SourcesGet) -> Outcome<Sources> {
    let mailbox = MailboxInfo::of_call(context, args.time_zone.as_deref());
    let content = read_sources(context, &args.collection, &args.sources, &mailbox)?;
    match content.wait {
        Some(wait) => Err(wait),
        None => Ok(Sources { sources: content.sources, ..Sources::default() }),
    }
}

/// Events that were read at once.
#[derive(Debug, Default)]
pub struct EventContent {
    pub sources: Vec<Source>,
    /// The events that are still to be read, because the provider asks for a wait.
    pub unread: Vec<String>,
    /// The failure for which events are still to be read.
    pub wait: Option<Failure>,
}

/// Reads the events of these ids in batches. One that is gone is deleted; one that cannot be read has an error, and its neighbours are read
/// all the same.
pub fn read_sources(
    context: &Context,
    calendar: &str,
    ids: &[String],
    mailbox: &MailboxInfo,
) -> Outcome<EventContent> {
    let mut content = EventContent::default();
    let mut parts = Vec::new();
    for id in ids {
        match event_request(calendar, id) {
            Ok(request) => parts.push(Part::new(id.clone(), request)),
            // What can be no id names no event.
            Err(_) => content.sources.push(deleted_source(id)),
        }
    }
    let outcome = batch::read(context, parts, batch::MAX_PARTS, READING)?;
    for (id, part) in outcome.parts {
        match part {
            PartOutcome::Answered(response) => {
                content.sources.push(source_of(context, &id, response, mailbox)?);
            }
            PartOutcome::Missing => content.unread.push(id),
        }
    }
    content.wait = outcome.wait;
    Ok(content)
}

fn source_of(context: &Context, id: &str, response: Response, mailbox: &MailboxInfo) -> Outcome<Source> {
    let response = match accepted(context, response, READING) {
        Err(failure) if is_gone(&failure) => return Ok(deleted_source(id)),
        answer => answer?,
    };
    let source = object::<Event>(&response).and_then(|event| event_source(&event, mailbox));
    Ok(match source {
        // The id as it was asked for names the source.
        Ok(source) => Source { external_id: id.to_owned(), ..source },
        Err(failure) => unreadable_source(id, failure.message),
    })
}
