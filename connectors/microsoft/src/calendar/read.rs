//! Reads of events, one or many at once.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome};
use model::wire::{Source, SourceRef, Sources, SourcesGet};

use crate::api::{accepted, ask, object};
use crate::calendar::files::{lacks_some_files, put_files};
use crate::calendar::info::MailboxInfo;
use crate::calendar::native::{Event, EventName};
use crate::calendar::record::{deleted_source, event_source, unreadable_source};
use crate::calendar::roots::{event_request, events};
use crate::odata::batch;
use crate::odata::failures::is_gone;

/// The purpose of the requests, for messages.
const READING: &str = "reading the events";

/// Reads an event with its attachments; of a series its changed and cancelled instances too.
pub fn read_event(context: &Context, calendar: &str, id: &str) -> Outcome<Event> {
    let mut event: Event = ask(context, event_request(calendar, id)?, "reading the event")?;
    put_files(context, calendar, &mut [&mut event])?;
    Ok(event)
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
    let mut answers = Vec::new();
    for (id, part) in outcome.parts {
        match part {
            PartOutcome::Answered(response) => {
                let answer = event_of(context, &id, response)?;
                answers.push(EventAnswer { id, answer });
            }
            PartOutcome::Missing => content.unread.push(id),
        }
    }
    let mut found: Vec<&mut Event> = answers.iter_mut().filter_map(|one| one.answer.as_mut().ok()).collect();
    content.wait = match outcome.wait {
        None => put_files(context, calendar, &mut found)?,
        wait => wait,
    };
    for EventAnswer { id, answer } in answers {
        match answer {
            // During a wait its attachments are not known yet; without one they cannot be read.
            Ok(event) if content.wait.is_some() && lacks_some_files(&event) => content.unread.push(id),
            Ok(event) => content.sources.push(source_of(&id, &event, mailbox)),
            Err(source) => content.sources.push(source),
        }
    }
    Ok(content)
}

/// An event that was asked for by this id, or the source of one that is gone or cannot be read.
struct EventAnswer {
    id: String,
    answer: Result<Event, Source>,
}

/// Returns the event of an answer, or the source of one that is gone or cannot be read.
fn event_of(context: &Context, id: &str, response: Response) -> Outcome<Result<Event, Source>> {
    let response = match accepted(context, response, READING) {
        Err(failure) if is_gone(&failure) => return Ok(Err(deleted_source(id))),
        answer => answer?,
    };
    Ok(object::<Event>(&response).map_err(|failure| unreadable_source(id, failure.message)))
}

/// Returns the source of an event. The id as it was asked for names it.
fn source_of(id: &str, event: &Event, mailbox: &MailboxInfo) -> Source {
    match event_source(event, mailbox) {
        Ok(source) => Source { external_id: id.to_owned(), ..source },
        Err(failure) => unreadable_source(id, failure.message),
    }
}
