//! The events of a calendar without a delta: the names and versions of all, of which the host has those read that it does not know.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Failure, Outcome};
use model::wire::{Source, SourceName, Sources};

use crate::api::ask;
use crate::calendar::native::{EventName, EventPage};
use crate::calendar::read::read_sources;
use crate::calendar::roots::{EVENT_NAMES, events};
use crate::calendar::walk::{CalendarWalk, Place, cursor_at};
use crate::odata::page::{Token, token};

/// Names of a page; Graph's largest is 1,000.
const PAGE_SIZE: u32 = 999;
/// Pages of one round.
const MAX_PAGES: usize = 60;
/// Events of a page whose content is read with it.
const CONTENT_SIZE: u32 = 60;

/// A page of names.
struct NamePage {
    names: Vec<EventName>,
    /// The number of events before the next page; none after the last one.
    next: Option<u32>,
}

/// Returns the names of all events where the host takes names first, else a page of events with their content.
pub fn page(walk: &CalendarWalk, skip: u32) -> Outcome<Answer<Sources>> {
    if walk.args.names_first && !walk.args.names_only {
        return all_names(walk);
    }
    let page = read_names(walk, skip, walk.limit(CONTENT_SIZE))?;
    let mut body = Sources { enumeration: true, ..Sources::default() };
    if walk.args.names_only {
        body.sources = page.names.iter().map(named_source).collect();
    } else {
        let ids: Vec<String> = page.names.into_iter().map(|name| name.id).collect();
        let content = read_sources(walk.context, walk.calendar, &ids, &walk.mailbox)?;
        if let Some(wait) = content.wait {
            return Err(wait);
        }
        body.sources = content.sources;
    }
    let next = Place::Names { skip: page.next.unwrap_or_default() };
    Ok(Answer { body, cursor: Some(cursor_at(&next)?), more: page.next.is_some() })
}

fn all_names(walk: &CalendarWalk) -> Outcome<Answer<Sources>> {
    let mut named: Vec<SourceName> = Vec::new();
    let mut skip = Some(0);
    for _ in 0..MAX_PAGES {
        let Some(from) = skip else { break };
        let page = read_names(walk, from, PAGE_SIZE)?;
        named.extend(page.names.into_iter().map(|name| SourceName {
            etag: name.version(),
            external_id: name.id,
            deleted: false,
        }));
        skip = page.next;
    }
    if skip.is_some() {
        return Err(Failure::unavailable("the calendar has too many events to list them all"));
    }
    if named.is_empty() {
        return end();
    }
    let body = Sources { named, enumeration: true, ..Sources::default() };
    Ok(Answer { body, cursor: Some(cursor_at(&Place::Named)?), more: true })
}

/// Returns the end of a round whose names were all told: the next one lists them again.
pub fn end() -> Outcome<Answer<Sources>> {
    let body = Sources { enumeration: true, ..Sources::default() };
    Ok(Answer { body, cursor: Some(cursor_at(&Place::Names { skip: 0 })?), more: false })
}

/// Reads a page of names. Lists are paged by position: an event may be told twice where others go meanwhile, and the next round tells one
/// that was left out.
fn read_names(walk: &CalendarWalk, skip: u32, size: u32) -> Outcome<NamePage> {
    let (top, from) = (size.to_string(), skip.to_string());
    let mut query = vec![("$select", EVENT_NAMES), ("$top", top.as_str())];
    if skip > 0 {
        query.push(("$skip", from.as_str()));
    }
    let request = Request::get(events(walk.calendar, &[], &query)?);
    let page: EventPage = ask(walk.context, request, "listing the events")?;
    let told = u32::try_from(page.value.len()).unwrap_or(u32::MAX);
    let next = match page.next_link.as_deref().map(token).transpose()? {
        None => None,
        Some(Token::Offset(offset)) => offset.parse().ok().or(Some(skip.saturating_add(told))),
        Some(_) => Some(skip.saturating_add(told)),
    };
    if next.is_some_and(|next| next <= skip) {
        return Err(Failure::unavailable("the provider's list of events does not go on"));
    }
    let names = page.value.iter().filter_map(|record| serde_json::from_str::<EventName>(record.get()).ok());
    let names = names.filter(|name| !name.id.is_empty() && !name.is_instance()).collect();
    Ok(NamePage { names, next })
}

fn named_source(name: &EventName) -> Source {
    Source { external_id: name.id.clone(), etag: name.version(), ..Source::default() }
}
