//! All records of a folder, page by page, and then the changes.
//!
//! Both walk the folder in the order of changes. A record that changes during a walk moves behind the cursor and is returned
//! again, so a walk misses nothing; one that is deleted during it is returned as a tombstone.

use axum::extract::{Path, Query, State as AxumState};
use axum::{Extension, Json};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::auth::Login;
use crate::kind::Kind;
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Folder, Head, Record, Slot};
use crate::sandbox::{Caller, Sandbox};
use crate::store::folder;
use crate::times::instant;

const MAX_LIMIT: usize = 250;
const DEFAULT_LIMIT: usize = 100;

/// The query string of a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Tokens {
    pub limit: Option<usize>,
    pub page_token: Option<String>,
    pub sync_token: Option<String>,
}

/// A position in a walk, as tokens carry it: base64url of JSON. Clients must treat it as opaque; nothing in it is secret.
#[derive(Debug, Serialize, Deserialize)]
struct WalkPosition {
    epoch: String,
    #[serde(default)]
    kind: Kind,
    #[serde(alias = "calendar")]
    folder: String,
    /// Behind this change.
    after: u64,
    /// Tombstones older than this are not returned; none: a walk of changes, which returns all.
    #[serde(default)]
    since: Option<u64>,
    /// Fingerprint of the filters, which must stay the same.
    filters: String,
    /// Sync tokens: creation time.
    #[serde(default)]
    at_ms: Option<i64>,
}

impl WalkPosition {
    fn token(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn from_token(token: &str, field: &str) -> Result<WalkPosition, Problem> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok();
        bytes
            .and_then(|b| serde_json::from_slice(&b).ok())
            .ok_or_else(|| Problem::bad_request(format!("{field} was not made by this service")))
    }
}

/// A filter of the records that a list shows.
pub trait Filter<R: Record> {
    /// The same for the same filters.
    fn print(&self) -> String;
    /// No filter is given.
    fn is_open(&self) -> bool;
    fn takes(&self, record: &R, slot: &Slot<R>, head: &R::Head) -> bool;
}

/// Everything.
pub struct Open;

impl<R: Record> Filter<R> for Open {
    fn print(&self) -> String {
        String::new()
    }

    fn is_open(&self) -> bool {
        true
    }

    fn takes(&self, _: &R, _: &Slot<R>, _: &R::Head) -> bool {
        true
    }
}

/// `GET …/{records}` for records without filters.
pub async fn list<R: Record>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    Query(tokens): Query<Tokens>,
) -> Result<Json<Value>, Problem> {
    pages::<R>(&sandbox, &login, &id, &tokens, &Open).await
}

/// One page of a folder.
pub async fn pages<R: Record>(
    sandbox: &Sandbox,
    login: &Login,
    id: &str,
    tokens: &Tokens,
    filter: &impl Filter<R>,
) -> Result<Json<Value>, Problem> {
    let limit = tokens.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::field("limit", format!("limit must be 1 to {MAX_LIMIT}")));
    }
    let (epoch, now_ms) = (sandbox.epoch(), sandbox.now_ms());
    let oldest_ms = now_ms - sandbox.0.sync_token_ms;
    let page = sandbox
        .read(|state| {
            let folder = folder::<R>(state, &login.mail, id)?;
            let now = Now { epoch, seq: state.seq, ms: now_ms };
            let place = begin(tokens, filter, folder, &now, oldest_ms)?;
            Ok(page(&login.mail, folder, filter, place, limit, &now))
        })
        .await?;
    Ok(Json(page))
}

/// A page without records: only the token for changes from now on.
pub async fn from_now<R: Record>(sandbox: &Sandbox, login: &Login, id: &str) -> Result<Json<Value>, Problem> {
    let (epoch, now_ms) = (sandbox.epoch(), sandbox.now_ms());
    let token = sandbox
        .read(|state| {
            let id = folder::<R>(state, &login.mail, id)?.head.id().to_owned();
            let filters = Filter::<R>::print(&Open);
            let place = WalkPosition {
                epoch,
                kind: R::KIND,
                folder: id,
                after: state.seq,
                since: None,
                filters,
                at_ms: Some(now_ms),
            };
            Ok(place.token())
        })
        .await?;
    Ok(Json(json!({ R::KIND.records(): [], "nextPageToken": null, "nextSyncToken": token })))
}

/// The provider at the moment of the request.
struct Now {
    epoch: String,
    seq: u64,
    ms: i64,
}

/// The position at which the walk continues.
fn begin<R: Record>(
    tokens: &Tokens,
    filter: &impl Filter<R>,
    folder: &Folder<R>,
    now: &Now,
    oldest_ms: i64,
) -> Result<WalkPosition, Problem> {
    let place = match (&tokens.page_token, &tokens.sync_token) {
        (Some(_), Some(_)) => return Err(Problem::bad_request("send pageToken or syncToken, not both")),
        (Some(token), None) => WalkPosition::from_token(token, "pageToken")?,
        (None, Some(token)) => {
            let place = WalkPosition::from_token(token, "syncToken")?;
            if !filter.is_open() {
                return Err(Problem::bad_request("a list with syncToken takes no filters"));
            }
            match place.at_ms {
                None => return Err(Problem::bad_request("syncToken is a page token: send it as pageToken")),
                Some(at_ms) if at_ms < oldest_ms => return Err(Problem::gone("the sync token is too old")),
                Some(_) => WalkPosition { at_ms: None, ..place },
            }
        }
        (None, None) => WalkPosition {
            epoch: now.epoch.clone(),
            kind: R::KIND,
            folder: folder.head.id().to_owned(),
            after: 0,
            since: Some(now.seq),
            filters: filter.print(),
            at_ms: None,
        },
    };
    if place.kind != R::KIND || place.folder != folder.head.id() || place.filters != filter.print() {
        let message = format!("the token was made for another {} or for other filters", R::KIND.folder());
        return Err(Problem::bad_request(message));
    }
    let told_from = place.since.unwrap_or(place.after);
    if place.epoch != now.epoch || told_from < folder.floor || told_from > now.seq {
        return Err(Problem::gone("what changed since then is no longer known: list everything again"));
    }
    Ok(place)
}

fn page<R: Record>(
    mail: &str,
    folder: &Folder<R>,
    filter: &impl Filter<R>,
    place: WalkPosition,
    limit: usize,
    now: &Now,
) -> Value {
    let mut records = Vec::new();
    let (mut after, mut is_last) = (place.after, true);
    for (at, id) in folder.order.range(place.after + 1..) {
        let Some(slot) = folder.records.get(id) else { continue };
        let shown = match &slot.record {
            Some(record) if filter.takes(record, slot, &folder.head) => {
                let mut shown = record.show(folder, mail, slot.seq);
                if let Some(is_new) = record.is_new_since(place.after) {
                    shown["new"] = json!(is_new);
                }
                Some(shown)
            }
            None if filter.is_open() && place.since.is_none_or(|since| *at > since) => Some(json!({
                "id": id, "deleted": true, "etag": etag(slot.seq), "updatedAt": instant(slot.at_ms),
            })),
            _ => None,
        };
        if let Some(shown) = shown {
            if records.len() == limit {
                is_last = false;
                break;
            }
            records.push(shown);
        }
        after = *at;
    }
    let next = |after, at_ms| WalkPosition { after, at_ms, ..place };
    let mut answer = json!({ R::KIND.records(): records, "nextPageToken": null, "nextSyncToken": null });
    if !is_last {
        answer["nextPageToken"] = json!(next(after, None).token());
    } else if filter.is_open() {
        answer["nextSyncToken"] = json!(WalkPosition { since: None, ..next(now.seq, Some(now.ms)) }.token());
    }
    answer
}
