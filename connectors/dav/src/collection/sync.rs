//! What changed in a collection: sync-collection (RFC 6578), or a scan of etags where a server does not have it.
//!
//! The connector keeps nothing between calls, so a long answer of the server is asked for again for every page: the pages of one
//! round are cut from the list sorted by id, and the round ends with the token of its *first* answer. What changes in between is
//! then reported again by the next round, and nothing is lost.

use connector_sdk::{Answer, Failure, Outcome, code};
use model::wire::{ChangesRequest, Source, Sources};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::collection::objects::{Data, Object};
use crate::collection::{Content, Session};
use crate::webdav::multistatus::{Member, Multistatus};
use crate::webdav::xml::{CALENDARSERVER, DAV};
use crate::webdav::{conditions, prop, request, text_element};

/// Sources in an answer where the host has no wish.
const PAGE: usize = 200;
/// Most that one answer holds: what fits the memory of a call.
const MAX_PAGE: usize = 1_000;

/// Where to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Cursor {
    /// Etags are scanned: the server has no sync-collection.
    #[serde(rename = "s", skip_serializing_if = "std::ops::Not::not")]
    scan: bool,
    /// The state that this round starts from: a sync-token, or a scan's digest. None: from nothing.
    #[serde(rename = "f", skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The state that this round leads to.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The last id of this round that was answered.
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// This round, and the truncated ones before it, tell everything there is.
    #[serde(rename = "e", skip_serializing_if = "std::ops::Not::not")]
    enumeration: bool,
    /// The server cut this round short: there is more behind `to`.
    #[serde(rename = "c", skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// One thing that a round says: here (with its etag) or gone.
struct Change {
    id: String,
    etag: Option<String>,
    gone: bool,
}

/// What the host wants of a page.
#[derive(Clone, Copy)]
struct Wish {
    limit: usize,
    names_only: bool,
}

impl<R: Content> Session<'_, R> {
    /// What changed since the cursor of the session's context, one page.
    pub fn changes(&self, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let collection =
            args.collection.as_deref().ok_or_else(|| Failure::invalid("collection is missing"))?;
        let collection = self.client.url(collection)?;
        let limit = match usize::try_from(args.limit).unwrap_or(PAGE) {
            0 => PAGE,
            wanted => wanted.min(MAX_PAGE),
        };
        let wish = Wish { limit, names_only: args.names_only };
        let cursor = match &self.cx().cursor {
            None => Cursor { enumeration: true, ..Cursor::default() },
            Some(text) => serde_json::from_str(text)
                .map_err(|_| Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector"))?,
        };
        if cursor.scan {
            return self.scan(&collection, wish, cursor);
        }
        match self.report(&collection, limit, cursor.from.as_deref())? {
            Some(answer) => self.round(&collection, wish, cursor, answer),
            None => {
                self.scan(&collection, wish, Cursor { scan: true, enumeration: true, ..Cursor::default() })
            }
        }
    }

    /// sync-collection from a token; none where the server does not have it.
    fn report(&self, collection: &Url, limit: usize, token: Option<&str>) -> Outcome<Option<Multistatus>> {
        let body = |limit: Option<usize>| {
            let token = text_element((DAV, "sync-token"), token.unwrap_or_default());
            let limit =
                limit.map(|n| format!("<D:limit><D:nresults>{n}</D:nresults></D:limit>")).unwrap_or_default();
            let names = prop(&[(DAV, "getetag")]);
            format!(
                "<D:sync-collection>{token}<D:sync-level>1</D:sync-level>{limit}{names}</D:sync-collection>"
            )
        };
        // RFC 6578 section 3.2: depth 0, the sync-level says how deep.
        let mut response = self.cx().send(request("REPORT", collection, "0", &body(Some(limit))))?;
        let limited = |c: &String| c == "number-of-matches-within-limits";
        if response.status == 507 || response.status >= 400 && conditions(&response).iter().any(limited) {
            // Section 3.6: a server that cannot cut its answer refuses the limit.
            response = self.cx().send(request("REPORT", collection, "0", &body(None)))?;
        }
        match (response.status, token) {
            (207, _) => Multistatus::read(&response, "asking what changed").map(Some),
            // Section 3.2 names 403 with valid-sync-token; servers also say it in other ways. If it was something else, the new
            // start will show it.
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
            // Collections inside this one are none of its items; a first enumeration has no use for what is gone.
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

    /// Everything, by PROPFIND, unless the collection is as it was.
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

    /// The next `limit` changes of a round, read, and where to go on.
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
        changes.truncate(wish.limit);
        let sources = match wish.names_only {
            true => changes.iter().map(named).collect(),
            false => self.read(collection, &changes, &cursor)?,
        };
        let body = Sources { sources, enumeration: cursor.enumeration, ..Sources::default() };
        let next = match (rest, cursor.truncated) {
            (true, _) => Cursor { after: changes.last().map(|change| change.id.clone()), ..cursor },
            (false, true) => Cursor { from: cursor.to, to: None, after: None, truncated: false, ..cursor },
            (false, false) => Cursor { scan: cursor.scan, from: cursor.to, ..Cursor::default() },
        };
        let more = next.enumeration || next.after.is_some() || cursor.truncated;
        Ok(Answer { body, cursor: Some(print(&next)), more })
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
            // What holds nothing of this service (a task among events) need not be told, nor what went while it was being read.
            sources.retain(|source| source.error.is_some() || !source.items.is_empty());
        }
        Ok(sources)
    }
}

fn named(change: &Change) -> Source {
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

/// The state of a collection without a ctag.
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
