//! Changes of a calendar: one walk, with parameters that never differ, because a sync token is good for those of its first call alone.

use connector_sdk::http::Request;
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::wire::{ChangesRequest, Sources};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::{object, send};
use crate::calendar::info::CalendarInfo;
use crate::calendar::native::EventPage;
use crate::calendar::record::{listed_event, named_event};
use crate::fields::EVENT_NAMES;
use crate::roots;

/// The version of the cursors, and of the parameters of the walk.
const VERSION: &str = "g1";
/// Events of a page; Google takes up to 2,500, which are too many for one answer.
const PAGE_SIZE: u32 = 250;
/// The end of the ids of calendars whose deltas report no deletions: birthdays of contacts.
const WITHOUT_DELTAS: &str = "#contacts@group.v.calendar.google.com";

/// A place in the walk.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Place {
    /// The next page of everything.
    First { page: String },
    /// The next page of the changes since a token.
    Delta { since: String, page: String },
    /// The changes since a token.
    Since { since: String },
    /// Everything again.
    Whole,
}

/// Returns the next page of a calendar's events, or of their changes. Fails with `cursor-expired` where the provider has forgotten the
/// token, or the cursor is not one of this version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let calendar_id = args.collection.as_deref().unwrap_or_default();
    let place = match &context.cursor {
        Some(text) => cursor::read(VERSION, text)?,
        None => Place::Whole,
    };
    let mut query = vec![("singleEvents", "false"), ("showDeleted", "true")];
    if args.names_only {
        query.push(("fields", EVENT_NAMES));
    }
    let since = match &place {
        Place::Delta { since, .. } | Place::Since { since } => Some(since.as_str()),
        Place::First { .. } | Place::Whole => None,
    };
    query.extend(since.map(|since| ("syncToken", since)));
    if let Place::First { page } | Place::Delta { page, .. } = &place {
        query.push(("pageToken", page.as_str()));
    }
    let limit = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) };
    let page =
        read_page(context, calendar_id, &query, limit).map_err(|failure| expire_cursor(failure, &place))?;
    let next = next_place(calendar_id, since, &page)?;
    let more = matches!(next, Place::First { .. } | Place::Delta { .. });
    let cursor = Some(cursor::write(VERSION, &next)?);
    let zone = page.time_zone.as_deref().or(args.time_zone.as_deref());
    let calendar = CalendarInfo::of_call(context, zone);
    let read = |record: &RawValue| match args.names_only {
        true => named_event(record),
        false => listed_event(record, &calendar),
    };
    let sources = page.items.iter().map(|record| read(record)).collect();
    let body = Sources { sources, enumeration: since.is_none(), ..Sources::default() };
    Ok(Answer { body, cursor, more })
}

/// Reads a page of at most `limit` events. One that is too large for an answer is requested again with fewer: their number is no parameter
/// of the walk.
fn read_page(context: &Context, calendar_id: &str, query: &[(&str, &str)], limit: u32) -> Outcome<EventPage> {
    let mut limit = limit;
    loop {
        let size = limit.to_string();
        let query = [&[("maxResults", size.as_str())][..], query].concat();
        let request = Request::get(roots::events(calendar_id, &[], &query)?);
        let response = send(context, request, "listing the events")?;
        if !response.truncated || limit == 1 {
            return object(&response);
        }
        limit = (limit / 4).max(1);
    }
}

/// Returns the position at which the walk continues. A page without events is not the last one if it has a page token.
fn next_place(calendar_id: &str, since: Option<&str>, page: &EventPage) -> Outcome<Place> {
    match (&page.next_page_token, &page.next_sync_token, since) {
        (Some(page), _, None) => Ok(Place::First { page: page.clone() }),
        (Some(page), _, Some(since)) => Ok(Place::Delta { since: since.to_owned(), page: page.clone() }),
        (None, _, _) if calendar_id.ends_with(WITHOUT_DELTAS) => Ok(Place::Whole),
        (None, Some(token), _) => Ok(Place::Since { since: token.clone() }),
        (None, None, _) => Err(Failure::unavailable("the provider's last page has no sync token")),
    }
}

/// The failure of a request that continues from a cursor: a page token that the provider cannot read is from another walk.
fn expire_cursor(failure: Failure, place: &Place) -> Failure {
    let is_of_token = failure.http_status == Some(400) && !matches!(place, Place::Whole);
    match failure.code.as_str() {
        code::INVALID if is_of_token => failure.with_code(code::CURSOR_EXPIRED),
        _ => failure,
    }
}
