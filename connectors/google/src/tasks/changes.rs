//! Changes of a task list. Google has no sync tokens for tasks: it lists those that changed since a time, and everything is read again each
//! day, because a task that only moved, or whose deletion Google has forgotten, is not among them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use connector_sdk::http::Request;
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::ask;
use crate::roots;
use crate::tasks::mapping::millis;
use crate::tasks::native::TaskPage;
use crate::tasks::read::PAGE_SIZE;
use crate::tasks::record::{head_of, listed_task, named_task};

/// The version of the cursors.
const VERSION: &str = "g1";
/// The time in milliseconds for which changes are listed again: a change can become visible after later ones.
const OVERLAP_MS: i64 = 60_000;
/// The time in milliseconds after which everything is read again.
const FULL_READ_MS: i64 = 86_400_000;
/// Tasks of the overlap that the cursor remembers; any more are reported twice.
const MAX_KNOWN: usize = 200;
/// Names and versions of a page of tasks, without their content.
const NAMES: &str = "nextPageToken,items(id,etag,updated,deleted)";

/// A task that was reported, by the time of its last change and a digest of its record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTask {
    #[serde(rename = "t")]
    updated: i64,
    #[serde(rename = "d")]
    digest: u64,
}

/// The place in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskWalk {
    /// The time from which changes are listed, Unix milliseconds; none: everything is listed.
    since: Option<i64>,
    page: Option<String>,
    /// The latest change that was reported, Unix milliseconds.
    newest: Option<i64>,
    /// The start of the last walk over everything, Unix milliseconds.
    full_at: i64,
    /// The start of this walk, Unix milliseconds.
    began_at: i64,
    /// Tasks that the walk before this one has reported.
    known: BTreeMap<String, KnownTask>,
    /// Tasks that this walk has reported.
    told: BTreeMap<String, KnownTask>,
}

/// Returns the next page of a list's tasks, or of their changes. Fails with `cursor-expired` where the provider does not take the time or
/// the page any more, or the cursor is not one of this version.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let now = context.now_ms();
    let mut walk = match &context.cursor {
        Some(text) => cursor::read(VERSION, text)?,
        None => TaskWalk { full_at: now, ..TaskWalk::default() },
    };
    if walk.page.is_none() && now.saturating_sub(walk.full_at) >= FULL_READ_MS {
        walk = TaskWalk { full_at: now, ..TaskWalk::default() };
    }
    if walk.page.is_none() {
        walk.began_at = now;
    }
    let page = walk.read_page(context, args)?;
    let mut sources = Vec::with_capacity(page.items.len());
    for record in &page.items {
        if walk.is_news(record, now) {
            sources.push(read(record, args.names_only));
        }
    }
    let enumeration = walk.since.is_none();
    walk.page = page.next_page_token.filter(|token| !token.is_empty());
    let more = walk.page.is_some();
    if !more {
        walk.turn();
    }
    let cursor = Some(cursor::write(VERSION, &walk)?);
    Ok(Answer { body: Sources { sources, enumeration, ..Sources::default() }, cursor, more })
}

fn read(record: &RawValue, names_only: bool) -> Source {
    if names_only { named_task(record) } else { listed_task(record) }
}

impl TaskWalk {
    fn read_page(&self, context: &Context, args: &ChangesRequest) -> Outcome<TaskPage> {
        let list = args.collection.as_deref().unwrap_or_default();
        let size = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) }.to_string();
        let since = self.since.map(|since| Instant::from_millis(since).to_string());
        let mut query = vec![
            ("maxResults", size.as_str()),
            ("showCompleted", "true"),
            ("showHidden", "true"),
            ("showDeleted", "true"),
            ("showAssigned", "true"),
        ];
        query.extend(since.as_deref().map(|since| ("updatedMin", since)));
        query.extend(self.page.as_deref().map(|token| ("pageToken", token)));
        if args.names_only {
            query.push(("fields", NAMES));
        }
        let request = Request::get(roots::tasks(&["lists", list, "tasks"], &query)?);
        let is_continued = self.since.is_some() || self.page.is_some();
        ask(context, request, "listing the tasks").map_err(|failure| expire_cursor(failure, is_continued))
    }

    /// Whether a record was not reported in this state yet; remembers it. A time in the future hides no changes before it.
    fn is_news(&mut self, record: &RawValue, now: i64) -> bool {
        let head = head_of(record);
        let mut hasher = DefaultHasher::new();
        record.get().hash(&mut hasher);
        let digest = hasher.finish();
        if let Some(updated) = millis(head.updated.as_deref()).map(|updated| updated.min(now)) {
            if self.newest.is_none_or(|newest| newest < updated) {
                self.newest = Some(updated);
                self.told.retain(|_, task| task.updated >= updated - OVERLAP_MS);
            }
            let is_recent = self.newest.is_none_or(|newest| updated >= newest - OVERLAP_MS);
            if is_recent && self.told.len() < MAX_KNOWN {
                self.told.insert(head.id.clone(), KnownTask { updated, digest });
            }
        }
        self.known.get(&head.id).is_none_or(|known| known.digest != digest)
    }

    /// Makes the end of this walk the start of the next one, which begins before this one began at the latest: a task of an earlier page
    /// may have changed since. A list without tasks has no time to begin at and is read as a whole.
    fn turn(&mut self) {
        self.since = self.newest.map(|newest| newest.min(self.began_at).saturating_sub(OVERLAP_MS));
        self.known = std::mem::take(&mut self.told);
    }
}

/// The failure of a request that goes on from a cursor: a time or a page token that the provider does not take. Of another request
/// nothing can be wrong but the list's id.
fn expire_cursor(failure: Failure, is_continued: bool) -> Failure {
    match (failure.http_status, failure.code.as_str()) {
        (Some(400), code::INVALID) | (Some(410), _) if is_continued => {
            failure.with_code(code::CURSOR_EXPIRED)
        }
        (Some(400), code::INVALID) => failure.with_code(code::NOT_FOUND),
        _ => failure,
    }
}
