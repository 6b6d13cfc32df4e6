//! Searches at Graph, one request per page. Searches by conditions continue by time, because Graph's own paging counts messages that arrive
//! in between; searches by words continue by Graph's token.

use std::collections::HashSet;

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::Part;
use connector_sdk::{Answer, Context, Failure, Outcome, code, rest};
use model::Instant;
use model::wire::email::MessageSearch;
use model::wire::{Source, Sources};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::{exchange, object};
use crate::mail::access::ensure_readable;
use crate::mail::cursor::FeedPosition;
use crate::mail::message::{PageMessage, read_each, received_at, source, unreadable};
use crate::mail::native::Message;
use crate::mail::query::{MailQuery, build, is_match};
use crate::mail::select::{self, FILES_AND_PROPERTIES, LISTED};
use crate::odata::page::Page;
use crate::odata::{batch, failures, root};

/// The version of the cursors.
const VERSION: &str = "s1";
/// The default and maximum number of messages in a page.
const PAGE_SIZE: u32 = 50;
const MAX_PAGE_SIZE: u32 = 200;
/// The number of messages in a list of ids.
const MAX_NAMES: &str = "1000";
/// The maximum number of messages in a request.
const MAX_TOP: usize = 1_000;
/// The maximum number of lists of ids that are read for a label.
const MAX_NAME_PAGES: usize = 10;
const DOING: &str = "searching the messages";

/// The position at which a search continues.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum SearchCursor {
    #[serde(rename = "t")]
    Token(FeedPosition),
    /// Continues before this time (milliseconds since 1970), without the messages of about that time that were already reported.
    #[serde(rename = "b")]
    Before { at: i64, told: Vec<String> },
}

/// Returns the matching messages, newest first.
pub fn search(context: &Context, args: &MessageSearch) -> Outcome<Answer<Sources>> {
    ensure_readable(context)?;
    let cursor: Option<SearchCursor> =
        context.cursor.as_deref().map(|text| rest::cursor::read(VERSION, text)).transpose()?;
    let until = match &cursor {
        // Graph's times are more precise than milliseconds.
        Some(SearchCursor::Before { at, .. }) => Some(Instant::from_millis(at.saturating_add(1))),
        _ => None,
    };
    let limit = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(MAX_PAGE_SIZE) };
    let search = Search { context, args, limit: usize::try_from(limit).unwrap_or(1) };
    match (build(args, until)?, cursor) {
        (MailQuery::Words(words), None) => search.by_words(&words, None),
        (MailQuery::Words(words), Some(SearchCursor::Token(at))) => search.by_words(&words, Some(&at)),
        (MailQuery::Ordered(filter), None) => search.by_time(&filter, None, Vec::new()),
        (MailQuery::Ordered(filter), Some(SearchCursor::Before { at, told })) => {
            search.by_time(&filter, Some(at), told)
        }
        (MailQuery::Unordered(filter), None) => search.by_names(&filter, None, Vec::new()),
        (MailQuery::Unordered(filter), Some(SearchCursor::Before { at, told })) => {
            search.by_names(&filter, Some(at), told)
        }
        _ => Err(Failure::new(code::CURSOR_EXPIRED, "the cursor is that of another search")),
    }
}

struct Search<'a> {
    context: &'a Context<'a>,
    args: &'a MessageSearch,
    limit: usize,
}

impl Search<'_> {
    fn url(&self, query: &[(&str, &str)]) -> Outcome<String> {
        match self.args.folder.as_deref() {
            Some(folder) => root::me(&["mailFolders", folder, "messages"], query),
            None => root::me(&["messages"], query),
        }
    }

    /// Lists messages. If a page times out, requests one of half the size.
    fn list(&self, query: &[(&str, &str)], top: usize) -> Outcome<Page<Box<RawValue>>> {
        match self.list_once(query, top) {
            Err(failure) if failure.http_status == Some(504) && top > 1 => self.list_once(query, top / 2),
            listed => listed,
        }
    }

    fn list_once(&self, query: &[(&str, &str)], top: usize) -> Outcome<Page<Box<RawValue>>> {
        let top = top.min(MAX_TOP).to_string();
        let whole =
            [&[("$select", LISTED), ("$expand", FILES_AND_PROPERTIES), ("$top", top.as_str())], query]
                .concat();
        let is_going_on = query.iter().any(|(name, _)| matches!(*name, "$skiptoken" | "$skip"));
        let response = exchange(self.context, Request::get(self.url(&whole)?))?;
        self.page(&response, is_going_on)
    }

    /// Reads a page. Only a request with a token of Graph can fail with `cursor-expired`.
    fn page(&self, response: &Response, is_going_on: bool) -> Outcome<Page<Box<RawValue>>> {
        match (response.is_success(), is_going_on) {
            (true, _) => object(response),
            (false, true) => Err(failures::of_delta(self.context, response, DOING)),
            (false, false) => Err(failures::of(self.context, response, DOING)),
        }
    }

    fn by_words(&self, words: &str, at: Option<&FeedPosition>) -> Outcome<Answer<Sources>> {
        let mut query = vec![("$search", words)];
        query.extend(at.map(FeedPosition::parameter));
        let page = self.list(&query, self.limit)?;
        let next = page.next()?.map(|token| SearchCursor::Token(token.into()));
        let mut found = read_each(&page.value);
        found.sort_by_key(|found| std::cmp::Reverse(time_of(found)));
        self.answer(&found, next)
    }

    /// Reads the next page by time. `at` and `told` are the end of the previous page.
    fn by_time(&self, filter: &str, at: Option<i64>, told: Vec<String>) -> Outcome<Answer<Sources>> {
        let top = self.limit.saturating_add(told.len()).min(MAX_TOP);
        let page = self.list(&[("$filter", filter), ("$orderby", "receivedDateTime desc")], top)?;
        let has_next = page.next_link.is_some();
        let mut found = read_each(&page.value);
        found.retain(|found| !told.iter().any(|id| id == id_of(found)));
        let is_cut = found.len() > self.limit;
        found.truncate(self.limit);
        let next = match at.filter(|_| found.is_empty() && has_next) {
            // More messages have the same time than fit a page: skip them, or the next page would be the same.
            Some(at) => Some(SearchCursor::Before { at: at.saturating_sub(2), told: Vec::new() }),
            None => (is_cut || has_next).then(|| place_after(&found, at, told)).flatten(),
        };
        self.answer(&found, next)
    }

    /// Lists all ids, because Graph does not sort with this filter, and reads the messages of the page.
    fn by_names(&self, filter: &str, at: Option<i64>, told: Vec<String>) -> Outcome<Answer<Sources>> {
        let mut named = self.names(filter)?;
        named.retain(|found| !told.iter().any(|id| id == id_of(found)));
        named.sort_by_key(|found| std::cmp::Reverse(time_of(found)));
        let is_cut = named.len() > self.limit;
        named.truncate(self.limit);
        let part = |found: &PageMessage| -> Outcome<Part> {
            let url = select::message(id_of(found), LISTED)?;
            Ok(Part::new(id_of(found), Request::get(url)))
        };
        let parts: Vec<Part> = named.iter().map(part).collect::<Outcome<_>>()?;
        let outcome = batch::read(self.context, parts, batch::MAX_PARTS, DOING)?;
        // Keeps the order: messages after a missing one come with it in the next page.
        let mut found = Vec::new();
        for (id, response) in outcome.leading() {
            let message = response.is_success().then(|| object::<Message>(response).ok()).flatten();
            match message {
                Some(message) => found.push(PageMessage::Read(Box::new(message))),
                None if failures::is_gone(&failures::of(self.context, response, DOING)) => {}
                None => found.push(PageMessage::Odd(id.to_owned())),
            }
        }
        let answered = outcome.first_missing.unwrap_or(named.len());
        if let Some(failure) = outcome.wait.filter(|_| answered == 0) {
            return Err(failure);
        }
        let is_short = answered < named.len();
        named.truncate(answered);
        let next = (is_cut || is_short).then(|| place_after(&named, at, told)).flatten();
        self.answer(&found, next)
    }

    fn names(&self, filter: &str) -> Outcome<Vec<PageMessage>> {
        let mut named = Vec::new();
        let mut at: Option<FeedPosition> = None;
        for _ in 0..MAX_NAME_PAGES {
            let mut query =
                vec![("$filter", filter), ("$select", "id,receivedDateTime"), ("$top", MAX_NAMES)];
            query.extend(at.as_ref().map(FeedPosition::parameter));
            let response = exchange(self.context, Request::get(self.url(&query)?))?;
            let page = self.page(&response, at.is_some())?;
            named.extend(read_each(&page.value));
            at = page.next()?.map(FeedPosition::from);
            if at.is_none() {
                break;
            }
        }
        Ok(named)
    }

    fn answer(&self, found: &[PageMessage], next: Option<SearchCursor>) -> Outcome<Answer<Sources>> {
        let source = |found: &PageMessage| -> Option<Source> {
            match found {
                PageMessage::Read(message) => is_match(message, self.args).then(|| source(message)),
                PageMessage::Odd(id) => Some(unreadable(id)),
            }
        };
        let sources = found.iter().filter_map(source).collect();
        let more = next.is_some();
        let cursor = next.map(|next| rest::cursor::write(VERSION, &next)).transpose()?;
        Ok(Answer { body: Sources { sources, ..Sources::default() }, cursor, more })
    }
}

fn id_of(found: &PageMessage) -> &str {
    match found {
        PageMessage::Read(message) => &message.id,
        PageMessage::Odd(id) => id,
    }
}

fn time_of(found: &PageMessage) -> Option<i64> {
    match found {
        PageMessage::Read(message) => received_at(message).map(Instant::as_millis),
        PageMessage::Odd(_) => None,
    }
}

/// The position after a page, with the reported messages of about its last time, which the next request returns again. None if no message
/// has a time.
fn place_after(page: &[PageMessage], at: Option<i64>, told: Vec<String>) -> Option<SearchCursor> {
    let last = page.iter().rev().find_map(time_of).or(at)?;
    // Messages without a time are returned again with every page.
    let is_near = |time: Option<i64>| time.is_none_or(|time| time <= last.saturating_add(1));
    let near = page.iter().filter(|found| is_near(time_of(found))).map(|found| id_of(found).to_owned());
    let earlier = told.into_iter().filter(|_| at.is_some_and(|at| at <= last.saturating_add(1)));
    let mut seen = HashSet::new();
    let told = earlier.chain(near).filter(|id| seen.insert(id.clone())).collect();
    Some(SearchCursor::Before { at: last, told })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(id: &str, time: &str) -> PageMessage {
        let message =
            Message { id: id.to_owned(), received_date_time: Some(time.to_owned()), ..Message::default() };
        PageMessage::Read(Box::new(message))
    }

    #[test]
    fn a_page_goes_on_after_its_last_message() {
        let page = [
            found("a", "2026-03-01T00:00:02Z"),
            found("b", "2026-03-01T00:00:01.0004Z"),
            found("c", "2026-03-01T00:00:01Z"),
        ];
        let at = 1_772_323_201_000;
        let told = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let place = place_after(&page, None, Vec::new()).unwrap();
        assert_eq!(place, SearchCursor::Before { at, told: told(&["b", "c"]) });
        // Another page of the same second.
        let place = place_after(&[found("d", "2026-03-01T00:00:01Z")], Some(at), told(&["b", "c"])).unwrap();
        assert_eq!(place, SearchCursor::Before { at, told: told(&["b", "c", "d"]) });
        let place = place_after(&[found("e", "2026-03-01T00:00:00Z")], Some(at), told(&["b", "c"])).unwrap();
        assert_eq!(place, SearchCursor::Before { at: at - 1_000, told: told(&["e"]) });
        assert_eq!(place_after(&[PageMessage::Odd("x".to_owned())], None, Vec::new()), None);
    }
}
