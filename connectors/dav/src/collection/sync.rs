//! The changes of a collection: by sync-collection (RFC 6578), or by a comparison of etags if the server does not support it.
//!
//! The connector keeps nothing between calls. If the host sets `namesFirst`, a round that does not fit a page is answered with all its
//! names, which the host stores and reads in batches, so the server lists them only once. Otherwise the server's answer is requested again
//! for every page, and pages are cut from the list sorted by id. Either way the round ends with the token of its *first* answer, so changes
//! in between are reported again by the next round and none is lost.

use connector_sdk::{Answer, Failure, Outcome, code, http};
use model::wire::{ChangesRequest, Source, SourceName, Sources};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::collection::objects::{Data, Object};
use crate::collection::{Content, Session};
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{CALENDARSERVER, DAV};
use crate::webdav::{conditions, prop, request, text_element};

/// The default number of sources in an answer.
const PAGE: usize = 200;
/// The maximum number of sources in an answer, which fit the memory of a call.
const MAX_PAGE: usize = 1_000;
/// The maximum number of names requested from a server at once, well below what fits the memory of a call. A server that supports limits
/// returns the others under the token of its answer.
const MAX_NAMES: usize = 20_000;

/// The maximum bytes of names in an answer, well below the host's limit of 8 MiB per call.
const NAMES_BYTES: usize = 4 << 20;
/// The bytes of a name in addition to its id and etag.
const NAME_BYTES: usize = 64;

/// The position at which to continue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Cursor {
    /// Whether etags are compared, because the server has no sync-collection.
    #[serde(rename = "s", skip_serializing_if = "std::ops::Not::not")]
    scan: bool,
    /// The state at the start of this round: a sync-token or a digest of etags; none for an initial sync.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The state at the end of this round.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The last id of this round that was reported.
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Whether this round, with truncated ones before it, lists all resources.
    #[serde(rename = "e", skip_serializing_if = "std::ops::Not::not")]
    enumeration: bool,
    /// Whether the server truncated this round, so that more follows after `to`.
    #[serde(rename = "c", skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Whether all names of the round were reported, so that the server need not be asked before the next one.
    #[serde(rename = "n", skip_serializing_if = "std::ops::Not::not")]
    named: bool,
    /// The limit of changes per request in this round, after the server refused more; 0 for none.
    #[serde(rename = "l", skip_serializing_if = "is_zero")]
    most: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A change of a resource: it exists, with its etag, or it was deleted.
struct Change {
    id: String,
    etag: Option<String>,
    gone: bool,
}

impl Cursor {
    /// Returns the cursor after the whole round was reported, and whether there is more now.
    fn finish_round(self) -> (Cursor, bool) {
        let next = Cursor { scan: self.scan, from: self.to, ..Cursor::default() };
        match self.truncated {
            true => (Cursor { enumeration: self.enumeration, most: self.most, ..next }, true),
            false => (next, false),
        }
    }
}

/// The host's request for a page.
#[derive(Clone, Copy)]
struct Wish {
    limit: usize,
    names_only: bool,
    /// Whether to report only names if a round does not fit a page.
    names_first: bool,
}

impl Wish {
    /// The number of changes to request from the server at once.
    fn listed(self, cursor: &Cursor) -> usize {
        let wanted = if self.names_first { MAX_NAMES } else { self.limit };
        if cursor.most == 0 { wanted } else { wanted.min(cursor.most) }
    }
}

impl<R: Content> Session<'_, R> {
    /// Returns one page of the changes since the cursor of the session's context.
    pub fn changes(&self, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let collection =
            args.collection.as_deref().ok_or_else(|| Failure::invalid("collection is missing"))?;
        let collection = self.client.url(collection)?;
        let limit = match usize::try_from(args.limit).unwrap_or(PAGE) {
            0 => PAGE,
            wanted => wanted.min(MAX_PAGE),
        };
        let names_first = args.names_first && !args.names_only;
        let wish = Wish { limit, names_only: args.names_only, names_first };
        let cursor = match &self.cx().cursor {
            None => Cursor { enumeration: true, ..Cursor::default() },
            Some(text) => serde_json::from_str(text)
                .map_err(|_| Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector"))?,
        };
        if cursor.named {
            let body = Sources { enumeration: cursor.enumeration, ..Sources::default() };
            return Ok(answer(body, cursor.finish_round()));
        }
        if cursor.scan {
            return self.scan(&collection, wish, cursor);
        }
        let wanted = wish.listed(&cursor);
        match self.report(&collection, wanted, cursor.from.as_deref())? {
            Some((answer, listed)) => {
                let most = if listed < wanted { listed } else { cursor.most };
                self.round(&collection, wish, Cursor { most, ..cursor }, answer)
            }
            None => {
                self.scan(&collection, wish, Cursor { scan: true, enumeration: true, ..Cursor::default() })
            }
        }
    }

    /// Runs sync-collection from a token. Returns the answer and the final limit of changes; none if the server does not support the
    /// report.
    fn report(
        &self,
        collection: &Url,
        mut limit: usize,
        token: Option<&str>,
    ) -> Outcome<Option<(Multistatus, usize)>> {
        let body = |limit: Option<usize>| {
            let token = text_element((DAV, "sync-token"), token.unwrap_or_default());
            let limit =
                limit.map(|n| format!("<D:limit><D:nresults>{n}</D:nresults></D:limit>")).unwrap_or_default();
            let names = prop(&[(DAV, "getetag")]);
            format!(
                "<D:sync-collection>{token}<D:sync-level>1</D:sync-level>{limit}{names}</D:sync-collection>"
            )
        };
        // RFC 6578 section 3.2: depth 0; the sync-level determines the depth.
        let ask = |limit| self.cx().send(request("REPORT", collection, "0", &body(limit)));
        let mut response = ask(Some(limit))?;
        if is_over_the_limit(&response) {
            // Section 3.6: a server that cannot cut its answer refuses the limit.
            response = ask(None)?;
        }
        while limit > PAGE && (response.truncated || is_over_the_limit(&response)) {
            // Too many changes for the server or for this call: request fewer, down to `PAGE`.
            limit = (limit / 4).max(PAGE);
            drop(response);
            response = ask(Some(limit))?;
        }
        match (response.status, token) {
            (207, _) => Ok(Some((Multistatus::read(&response, "asking what changed")?, limit))),
            // Section 3.2 requires 403 with valid-sync-token, but servers also answer otherwise. If the cause was another one, the new sync
            // will show it.
            (400 | 403 | 409 | 410 | 412, Some(_)) => Err(Failure::new(
                code::CURSOR_EXPIRED,
                "the provider no longer knows the state that the cursor names",
            )),
            (400 | 403 | 405 | 415 | 422 | 501, None) => Ok(None),
            _ => Err(self.client.failure(&response, "asking what changed")),
        }
    }

    /// One page of a sync-collection answer.
    fn round(
        &self,
        collection: &Url,
        wish: Wish,
        cursor: Cursor,
        answer: Multistatus,
    ) -> Outcome<Answer<Sources>> {
        let token = answer
            .sync_token
            .ok_or_else(|| Failure::unavailable("the provider's list of changes has no sync-token"))?;
        let own = self.client.id(collection);
        let mut truncated = false;
        let mut changes = Vec::new();
        for member in answer.responses {
            let Some(id) = self.client.id_of(collection, &member.href) else { continue };
            if id.trim_end_matches('/') == own.trim_end_matches('/') {
                truncated |= member.status == Some(507);
                continue;
            }
            let gone = matches!(member.status, Some(404 | 410));
            // Nested collections are not items, and an initial sync needs no deletions.
            let useless = gone && cursor.enumeration && cursor.from.is_none();
            if id.ends_with('/') || useless {
                continue;
            }
            let etag = member.text(DAV, "getetag").map(str::to_owned);
            changes.push(Change { id, etag, gone });
        }
        let first_page = cursor.to.is_none();
        let cursor = Cursor {
            to: Some(cursor.to.unwrap_or(token)),
            truncated: if first_page { truncated } else { cursor.truncated },
            ..cursor
        };
        self.page(collection, wish, cursor, changes)
    }

    /// Compares the etags of all resources, read by PROPFIND, unless the collection is unchanged.
    fn scan(&self, collection: &Url, wish: Wish, cursor: Cursor) -> Outcome<Answer<Sources>> {
        let names = [(DAV, "getetag"), (DAV, "resourcetype"), (CALENDARSERVER, "getctag")];
        let listed =
            self.client.propfind(collection, "1", &names, &format!("listing the {}", R::KIND.items))?;
        let own = self.client.id(collection);
        let mut tag = None;
        let mut found: Vec<(String, String)> = Vec::new();
        for member in listed.responses {
            let Some(id) = self.client.id_of(collection, &member.href) else { continue };
            if id.trim_end_matches('/') == own.trim_end_matches('/') {
                if member.status == Some(507) {
                    // PROPFIND has no way to request the rest, and unlisted resources must not be taken for deleted.
                    let message = format!("the provider lists only a part of the {}", R::KIND.collection);
                    return Err(Failure { http_status: Some(507), ..Failure::unavailable(message) });
                }
                tag = member.text(CALENDARSERVER, "getctag").map(str::to_owned);
            } else if is_resource(&member) {
                found.push((id, member.text(DAV, "getetag").unwrap_or_default().to_owned()));
            }
        }
        found.sort();
        let state = tag.unwrap_or_else(|| digest(&found));
        if cursor.to.is_none() && cursor.from.as_ref() == Some(&state) {
            let cursor = Cursor { scan: true, from: Some(state), ..Cursor::default() };
            return Ok(Answer { body: Sources::default(), cursor: Some(print(&cursor)), more: false });
        }
        let changes =
            found.into_iter().map(|(id, etag)| Change { id, etag: Some(etag), gone: false }).collect();
        let cursor = Cursor { scan: true, enumeration: true, to: Some(cursor.to.unwrap_or(state)), ..cursor };
        self.page(collection, wish, cursor, changes)
    }

    /// Reads the next `limit` changes of a round, and returns the position to continue at.
    fn page(
        &self,
        collection: &Url,
        wish: Wish,
        cursor: Cursor,
        mut changes: Vec<Change>,
    ) -> Outcome<Answer<Sources>> {
        changes.sort_by(|a, b| a.id.cmp(&b.id));
        changes.dedup_by(|a, b| a.id == b.id);
        if let Some(after) = &cursor.after {
            changes.retain(|change| change.id > *after);
        }
        let rest = changes.len() > wish.limit;
        if rest && wish.names_first {
            return Ok(all_named(cursor, changes));
        }
        changes.truncate(wish.limit);
        let sources = match wish.names_only {
            true => changes.iter().map(bare_source).collect(),
            false => self.read(collection, &changes, &cursor)?,
        };
        let body = Sources { sources, enumeration: cursor.enumeration, ..Sources::default() };
        let next = match rest {
            true => (Cursor { after: changes.last().map(|change| change.id.clone()), ..cursor }, true),
            false => cursor.finish_round(),
        };
        Ok(answer(body, next))
    }

    fn read(&self, collection: &Url, changes: &[Change], cursor: &Cursor) -> Outcome<Vec<Source>> {
        let there: Vec<String> =
            changes.iter().filter(|change| !change.gone).map(|change| change.id.clone()).collect();
        let mut sources: Vec<Source> = Vec::with_capacity(changes.len());
        self.multiget(collection, &there, &mut |object| sources.push(self.source(object)))?;
        let gone = changes.iter().filter(|change| change.gone);
        sources.extend(
            gone.map(|change| self.source(Object { id: change.id.clone(), etag: None, data: Data::Gone })),
        );
        if cursor.enumeration && (cursor.scan || cursor.from.is_none()) {
            // Resources without an item of this service (a task among events) are not reported, nor those deleted during the read.
            sources.retain(|source| source.error.is_some() || !source.items.is_empty());
        }
        Ok(sources)
    }
}

/// The number of changes whose names fit one answer, at least one.
fn fitting(changes: &[Change]) -> usize {
    let mut bytes = 0;
    let fits = |change: &&Change| {
        // An etag has quotes, which are escaped.
        bytes += NAME_BYTES + change.id.len() + 2 * change.etag.as_ref().map_or(0, String::len);
        bytes <= NAMES_BYTES
    };
    changes.iter().take_while(fits).count().max(1)
}

/// Reports the names of the round, as many as fit an answer. The others, and those that the server truncated, are listed once these were
/// read.
fn all_named(cursor: Cursor, mut changes: Vec<Change>) -> Answer<Sources> {
    let fitting = fitting(&changes);
    let last = changes.get(fitting - 1).map(|change| change.id.clone()).filter(|_| fitting < changes.len());
    changes.truncate(fitting);
    let name = |change: Change| SourceName {
        external_id: change.id,
        etag: change.etag.filter(|etag| !etag.is_empty()),
        deleted: change.gone,
    };
    let named = changes.into_iter().map(name).collect();
    let body = Sources { named, enumeration: cursor.enumeration, ..Sources::default() };
    let next = match (last, cursor.truncated) {
        (Some(last), _) => Cursor { after: Some(last), ..cursor },
        (None, true) => cursor.finish_round().0,
        (None, false) => Cursor { named: true, after: None, ..cursor },
    };
    answer(body, (next, true))
}

fn answer(body: Sources, (next, more): (Cursor, bool)) -> Answer<Sources> {
    Answer { body, cursor: Some(print(&next)), more }
}

/// Whether the server refuses to send as many changes as requested (RFC 6578 section 3.6).
fn is_over_the_limit(response: &http::Response) -> bool {
    let limited = |c: &String| c == "number-of-matches-within-limits";
    response.status == 507 || response.status >= 400 && conditions(response).iter().any(limited)
}

fn bare_source(change: &Change) -> Source {
    Source {
        external_id: change.id.clone(),
        etag: change.etag.clone(),
        deleted: change.gone,
        ..Source::default()
    }
}

fn is_resource(member: &Member) -> bool {
    let kind = member.property(DAV, "resourcetype");
    kind.is_none_or(|kind| kind.child(DAV, "collection").is_none())
        && !matches!(member.status, Some(404 | 410))
}

/// A digest of the etags, as the state of a collection without a ctag.
fn digest(found: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    for (id, etag) in found {
        hash.update(format!("{id}\n{etag}\n"));
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn print(cursor: &Cursor) -> String {
    serde_json::to_string(cursor).expect("a cursor is a plain struct of texts, which always serialises")
}
