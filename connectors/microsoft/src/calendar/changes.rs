//! Changes of a calendar. Graph's delta of a calendar's events names single events and series alone, and is not documented for version 1.0:
//! where it is refused, all events are listed by their names and versions, and what is new is read.

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::wire::{ChangesRequest, Source, SourceName, Sources};

use crate::api::{exchange, object};
use crate::calendar::info::MailboxInfo;
use crate::calendar::names;
use crate::calendar::native::{EventName, EventPage};
use crate::calendar::read::read_sources;
use crate::calendar::record::deleted_source;
use crate::calendar::removed::find_remaining;
use crate::calendar::roots::events;
use crate::calendar::walk::{CalendarWalk, Place, cursor_at, place_of};
use crate::odata::failures;
use crate::odata::page::{Token, token};
use crate::odata::prefer::{Prefer, with};

/// Events of a page of the delta: three batches of reads.
const PAGE_SIZE: u32 = 60;
/// The purpose of the requests, for messages.
const READING: &str = "reading the changes of the calendar";

/// Returns the next page of a calendar's events, or of their changes. Fails with `cursor-expired` where the provider has forgotten the
/// token, or the cursor is not one of this version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let place = context.cursor.as_deref().map(place_of).transpose()?;
    let walk = CalendarWalk {
        context,
        args,
        calendar: args.collection.as_deref().unwrap_or_default(),
        mailbox: MailboxInfo::of_call(context, args.time_zone.as_deref()),
    };
    match place {
        None => match walk.delta(None) {
            Err(failure) if is_refused(&failure) => names::page(&walk, 0),
            first => first,
        },
        Some(Place::Names { skip }) => names::page(&walk, skip),
        Some(Place::Named) => names::end(),
        Some(place) => walk.delta(Some(&place)),
    }
}

/// Whether the calendar has no delta. A calendar that is not there has no names either.
fn is_refused(failure: &Failure) -> bool {
    matches!(failure.http_status, Some(400 | 404 | 405 | 501))
}

impl CalendarWalk<'_> {
    /// Reads a page of the delta with the content of its events.
    fn delta(&self, place: Option<&Place>) -> Outcome<Answer<Sources>> {
        let (parameter, is_first) = match place {
            Some(Place::First { page }) => (Some(("$skiptoken", page.as_str())), true),
            Some(Place::Delta { page }) => (Some(("$skiptoken", page.as_str())), false),
            Some(Place::Since { since }) => (Some(("$deltatoken", since.as_str())), false),
            _ => (None, true),
        };
        let query: Vec<(&str, &str)> = parameter.into_iter().collect();
        let page = self.read_page(&query)?;
        let next = next_place(&page, is_first)?;
        let mut ids = ChangedIds::read(&page)?;
        let more = !matches!(next, Place::Since { .. });
        let mut body = Sources { enumeration: is_first, ..Sources::default() };
        // Also of a page that is named alone: the host reads each by itself, and an event of another calendar would be answered.
        let remaining = find_remaining(self.context, self.calendar, &ids.removed)?;
        let gone = ids.removed.iter().filter(|id| !remaining.contains(id));
        body.sources = gone.map(|id| deleted_source(id)).collect();
        ids.changed.extend(remaining);
        if self.args.names_only {
            body.sources.extend(ids.changed.into_iter().map(named_source));
        } else {
            let content = read_sources(self.context, self.calendar, &ids.changed, &self.mailbox)?;
            body.sources.extend(content.sources);
            if let Some(wait) = content.wait {
                // Names need a page behind them, and behind the last one there is none of this round.
                if !self.args.names_first || !more {
                    return Err(wait);
                }
                // The host reads these by itself before it goes on.
                let unread = content.unread.into_iter();
                body.named =
                    unread.map(|id| SourceName { external_id: id, ..SourceName::default() }).collect();
            }
        }
        Ok(Answer { body, cursor: Some(cursor_at(&next)?), more })
    }

    /// Reads a page of the delta. The size goes with each page: without it a page has ten.
    fn read_page(&self, query: &[(&str, &str)]) -> Outcome<EventPage> {
        let request = Request::get(events(self.calendar, &["delta"], query)?);
        let request = with(request, &[Prefer::PageSize(self.limit(PAGE_SIZE))]);
        let response = exchange(self.context, request)?;
        if response.is_success() {
            return object(&response);
        }
        if query.is_empty() {
            return Err(failures::of(self.context, &response, READING));
        }
        let failure = failures::of_delta(self.context, &response, READING);
        // A token that Graph cannot read is one of another walk.
        match failure.code.as_str() {
            code::INVALID => Err(failure.with_code(code::CURSOR_EXPIRED)),
            _ => Err(failure),
        }
    }
}

/// The events that a page of a delta names, each once.
#[derive(Debug, Default)]
struct ChangedIds {
    /// An instance stands for its series, and is no event of its own.
    changed: Vec<String>,
    removed: Vec<String>,
}

impl ChangedIds {
    fn read(page: &EventPage) -> Outcome<Self> {
        let mut ids = ChangedIds::default();
        for record in &page.value {
            let name: EventName = serde_json::from_str(record.get())
                .map_err(|_| Failure::unavailable("the provider's page has an event that cannot be read"))?;
            let is_removed = name.removed.is_some();
            let series = name.series_master_id.filter(|series| !series.is_empty());
            let id = series.unwrap_or(name.id);
            let list = if is_removed { &mut ids.removed } else { &mut ids.changed };
            if !id.is_empty() && !list.contains(&id) {
                list.push(id);
            }
        }
        // An id may be named twice, as removed and as it is now. An event that was moved away is answered too: it is looked for.
        ids.changed.retain(|id| !ids.removed.contains(id));
        Ok(ids)
    }
}

fn named_source(id: String) -> Source {
    Source { external_id: id, ..Source::default() }
}

/// Returns the place at which the walk goes on.
fn next_place(page: &EventPage, is_first: bool) -> Outcome<Place> {
    let link = page.next_link.as_deref().or(page.delta_link.as_deref());
    let link = link.ok_or_else(|| Failure::unavailable("the provider's page has no link to go on"))?;
    Ok(match token(link)? {
        Token::Delta(since) => Place::Since { since },
        Token::Skip(page) | Token::Offset(page) if is_first => Place::First { page },
        Token::Skip(page) | Token::Offset(page) => Place::Delta { page },
    })
}
