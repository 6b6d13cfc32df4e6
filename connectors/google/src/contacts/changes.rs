//! Changes of an address book, read from Google's lists. The parameters of all calls are equal, because a sync token is valid only with
//! those of its first call. Groups and people are separate lists, read concurrently.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::contacts::ContactSource;
use model::wire::{ChangesRequest, Source, Sources};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::{accepted, object};
use crate::contacts::books::{Book, book};
use crate::contacts::native::PeoplePage;
use crate::contacts::other::OTHER_FIELDS;
use crate::contacts::read::{GROUP_FIELDS, PERSON_FIELDS};
use crate::contacts::record::{listed_group, listed_person, named_group, named_person};
use crate::roots;

/// The version of the cursors and of the lists' parameters.
const VERSION: &str = "g1";
/// The number of people in a page. Google allows 1,000, which do not fit an answer.
const PAGE_SIZE: u32 = 500;
/// The number of lists that are read concurrently.
const CONCURRENT: u8 = 2;

const DAY_MS: i64 = 86_400_000;
/// The lifetime of sync tokens in milliseconds, from the start of the full sync.
const TOKEN_LIFE_MS: i64 = 7 * DAY_MS;
/// The time in milliseconds before the end of that lifetime in which the next full sync starts.
const RENEWAL_MS: i64 = DAY_MS;

/// A list of Google's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PeopleList {
    Groups,
    People,
    Other,
}

/// The position in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListWalk {
    list: PeopleList,
    /// The sync token of the last round; none in a full sync.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    since: Option<String>,
    /// The next page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    page: Option<String>,
    /// The sync token for the next round, once the list's last page was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    next: Option<String>,
}

/// The position in an address book.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BookWalk {
    /// The page size, which must not change for the lifetime of the sync tokens.
    size: u32,
    /// The start of the last full sync, in Unix milliseconds.
    full_at: i64,
    /// The time from which the next full sync starts, in Unix milliseconds.
    renew_at: i64,
    lists: Vec<ListWalk>,
}

/// Returns the next page of an address book, or of its changes. Fails with `cursor-expired` if a token has expired, or if the cursor is
/// from another version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let book = book(args.collection.as_deref().unwrap_or_default())?;
    let mut walk = match &context.cursor {
        Some(text) => BookWalk::read(text, book)?,
        None => BookWalk::new(context, book, args.limit),
    };
    if walk.is_at_start() && walk.is_due(context.now_ms()) {
        walk = BookWalk::new(context, book, args.limit);
    }
    let is_delta = walk.is_delta();
    let pages = walk.read_pages(context, args.names_only)?;
    let mut sources = Vec::new();
    let open = walk.lists.iter_mut().filter(|list| list.next.is_none());
    for (list, page) in open.zip(pages) {
        sources.extend(list.sources(&page, args.names_only));
        list.advance(page)?;
    }
    let more = walk.lists.iter().any(|list| list.next.is_none());
    if !more {
        walk.turn();
    }
    let cursor = Some(cursor::write(VERSION, &walk)?);
    Ok(Answer { body: Sources { sources, enumeration: !is_delta, ..Sources::default() }, cursor, more })
}

impl BookWalk {
    /// Returns the start of a full sync.
    fn new(context: &Context, book: Book, limit: u32) -> Self {
        // Spreads the next full syncs of accounts that were connected at the same time.
        let spread = context.random_bytes(2).iter().fold(0, |sum: i64, byte| sum * 256 + i64::from(*byte));
        let lists = lists_of(book).iter();
        let list = |list: &PeopleList| ListWalk { list: *list, since: None, page: None, next: None };
        let full_at = context.now_ms();
        let renew_in = TOKEN_LIFE_MS - RENEWAL_MS + RENEWAL_MS / 2 * spread / 65_536;
        BookWalk {
            size: if limit == 0 { PAGE_SIZE } else { limit.min(PAGE_SIZE) },
            full_at,
            renew_at: full_at.saturating_add(renew_in),
            lists: lists.map(list).collect(),
        }
    }

    /// Reads a cursor. Fails with `cursor-expired` for one of another version, or of another book.
    fn read(text: &str, book: Book) -> Outcome<Self> {
        let walk: BookWalk = cursor::read(VERSION, text)?;
        let is_of_book = walk.lists.iter().map(|list| list.list).eq(lists_of(book).iter().copied());
        let is_alike = walk.lists.iter().all(|list| list.since.is_some() == walk.is_delta());
        let is_open = walk.lists.iter().any(|list| list.next.is_none());
        if is_of_book && is_alike && is_open && walk.size > 0 {
            return Ok(walk);
        }
        Err(Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this address book"))
    }

    /// Whether this is a round of changes, not a full sync.
    fn is_delta(&self) -> bool {
        self.lists.iter().any(|list| list.since.is_some())
    }

    /// Whether a full sync is due before the tokens expire. For older tokens Google itself reports whether they have expired.
    fn is_due(&self, now: i64) -> bool {
        (self.renew_at..self.full_at.saturating_add(TOKEN_LIFE_MS)).contains(&now)
    }

    fn is_at_start(&self) -> bool {
        self.lists.iter().all(|list| list.page.is_none() && list.next.is_none())
    }

    /// Makes the end of this round the start of the next one.
    fn turn(&mut self) {
        for list in &mut self.lists {
            (list.since, list.page) = (list.next.take(), None);
        }
    }

    /// Reads the next page of each list that has one. Pages that are too large for an answer are requested again with fewer items.
    fn read_pages(&mut self, context: &Context, names_only: bool) -> Outcome<Vec<PeoplePage>> {
        loop {
            let open: Vec<&ListWalk> = self.lists.iter().filter(|list| list.next.is_none()).collect();
            let requests = open.iter().map(|list| list.request(self.size, names_only));
            let responses = context.send_many(requests.collect::<Outcome<Vec<Request>>>()?, CONCURRENT);
            let accept = |(list, response): (&&ListWalk, Outcome<Response>)| {
                let response = response.and_then(|response| accepted(context, response, list.doing()));
                response.map_err(|failure| list.expire_cursor(failure))
            };
            let responses: Vec<Response> =
                open.iter().zip(responses).map(accept).collect::<Outcome<Vec<_>>>()?;
            if self.size == 1 || !responses.iter().any(|response| response.truncated) {
                return responses.iter().map(object::<PeoplePage>).collect();
            }
            self.size = (self.size / 4).max(1);
        }
    }
}

/// The lists that an address book consists of.
fn lists_of(book: Book) -> &'static [PeopleList] {
    match book {
        Book::Contacts => &[PeopleList::Groups, PeopleList::People],
        Book::Other => &[PeopleList::Other],
    }
}

impl ListWalk {
    /// The request for the next page. `fields` of a request for names is not one of the parameters that must be constant.
    fn request(&self, size: u32, names_only: bool) -> Outcome<Request> {
        let size = size.to_string();
        let (path, mut query, names): (&[&str], Vec<(&str, &str)>, &str) = match self.list {
            PeopleList::Groups => (
                &["contactGroups"],
                vec![("groupFields", GROUP_FIELDS)],
                "nextPageToken,nextSyncToken,contactGroups(resourceName,etag,metadata)",
            ),
            PeopleList::People => (
                &["people", "me", "connections"],
                vec![
                    ("personFields", PERSON_FIELDS),
                    ("sources", "READ_SOURCE_TYPE_CONTACT"),
                    ("requestSyncToken", "true"),
                ],
                "nextPageToken,nextSyncToken,connections(resourceName,metadata)",
            ),
            PeopleList::Other => (
                &["otherContacts"],
                vec![("readMask", OTHER_FIELDS), ("requestSyncToken", "true")],
                "nextPageToken,nextSyncToken,otherContacts(resourceName,metadata)",
            ),
        };
        query.push(("pageSize", size.as_str()));
        query.extend(self.since.as_deref().map(|token| ("syncToken", token)));
        query.extend(self.page.as_deref().map(|token| ("pageToken", token)));
        query.extend(names_only.then_some(("fields", names)));
        Ok(Request::get(roots::people(path, &query)?))
    }

    fn doing(&self) -> &'static str {
        match self.list {
            PeopleList::Groups => "listing the groups",
            PeopleList::People => "listing the contacts",
            PeopleList::Other => "listing the other contacts",
        }
    }

    /// Converts the failure of a request with a token: a token that the provider refuses means `cursor-expired`.
    fn expire_cursor(&self, failure: Failure) -> Failure {
        let is_continued = self.since.is_some() || self.page.is_some();
        match (failure.http_status, failure.code.as_str()) {
            (Some(400), code::INVALID) | (Some(410), _) if is_continued => {
                failure.with_code(code::CURSOR_EXPIRED)
            }
            _ => failure,
        }
    }

    /// The sources of a page. Google reports changes of people minutes late; with their times the host keeps newer data.
    fn sources(&self, page: &PeoplePage, names_only: bool) -> Vec<Source> {
        match self.list {
            PeopleList::Groups if names_only => {
                page.contact_groups.iter().map(|record| named_group(record)).collect()
            }
            PeopleList::Groups => page.contact_groups.iter().map(|record| listed_group(record)).collect(),
            PeopleList::People => people(&page.connections, ContactSource::AddressBook, names_only),
            PeopleList::Other => people(&page.other_contacts, ContactSource::Suggested, names_only),
        }
    }

    /// Continues after a page. An empty page with a page token is not the last one.
    fn advance(&mut self, page: PeoplePage) -> Outcome<()> {
        let token = |token: Option<String>| token.filter(|token| !token.is_empty());
        match (token(page.next_page_token), token(page.next_sync_token)) {
            (Some(next), _) => self.page = Some(next),
            (None, Some(next)) => (self.page, self.next) = (None, Some(next)),
            (None, None) => {
                return Err(Failure::unavailable("the provider's last page has no sync token"));
            }
        }
        Ok(())
    }
}

fn people(records: &[Box<RawValue>], of: ContactSource, names_only: bool) -> Vec<Source> {
    match names_only {
        true => records.iter().flat_map(|record| named_person(record)).collect(),
        false => records.iter().flat_map(|record| listed_person(record, of)).collect(),
    }
}
