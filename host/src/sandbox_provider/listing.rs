//! `GET /sandbox/v1/calendars/{calendar}/events`: everything there is, page by page, and afterwards what changed.
//!
//! Both walk the calendar in the order of changes. An event that changes during a walk moves behind the cursor and comes once
//! more, so a walk misses nothing; one that is deleted during it comes as a tombstone.

use axum::extract::{Path, Query, State as AxumState};
use axum::{Extension, Json};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::sandbox_provider::Caller;
use crate::sandbox_provider::events::folder;
use crate::sandbox_provider::problem::Problem;
use crate::sandbox_provider::series;
use crate::sandbox_provider::state::{Folder, Slot};
use crate::sandbox_provider::times::{instant, parse_instant, stored_zone};
use crate::sandbox_provider::types::Event;
use crate::sandbox_provider::write::{View, etag};

const MAX_LIMIT: usize = 250;
const DEFAULT_LIMIT: usize = 100;

/// The query string.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ListQuery {
    limit: Option<usize>,
    page_token: Option<String>,
    sync_token: Option<String>,
    /// Changed at or after.
    updated_min: Option<String>,
    /// Overlaps the time from here…
    from: Option<String>,
    /// … to here.
    to: Option<String>,
    /// Text in subject, body or place.
    q: Option<String>,
    uid: Option<String>,
    guest: Option<String>,
}

/// A place in a walk, as tokens carry it: base64url of JSON. Clients must not look inside; nothing in it is secret.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    epoch: String,
    calendar: String,
    /// Behind this change.
    after: u64,
    /// Tombstones older than this are not told; none: a walk of changes, which tells all.
    #[serde(default)]
    since: Option<u64>,
    /// Of the filters, which must stay the same.
    filters: String,
    /// Sync tokens: when it was made.
    #[serde(default)]
    at_ms: Option<i64>,
}

impl Place {
    fn token(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn from_token(token: &str, field: &str) -> Result<Place, Problem> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok();
        bytes
            .and_then(|b| serde_json::from_slice(&b).ok())
            .ok_or_else(|| Problem::bad_request(format!("{field} was not made by this service")))
    }
}

/// The filters, read.
struct Filter {
    updated_min_ms: i64,
    from_ms: i64,
    to_ms: i64,
    q: Option<String>,
    uid: Option<String>,
    guest: Option<String>,
    /// No filter is given.
    is_open: bool,
    print: String,
}

impl ListQuery {
    fn filter(&self) -> Result<Filter, Problem> {
        let at = |value: &Option<String>, field: &str, or: i64| match value {
            Some(text) => parse_instant(text, field),
            None => Ok(or),
        };
        let lower = |value: &Option<String>| value.as_ref().map(|v| v.to_lowercase());
        let given = [&self.updated_min, &self.from, &self.to, &self.q, &self.uid, &self.guest];
        let print = serde_json::to_vec(&given).unwrap_or_default();
        let print = hex::encode(&Sha256::digest(print)[..6]);
        Ok(Filter {
            updated_min_ms: at(&self.updated_min, "updatedMin", i64::MIN)?,
            from_ms: at(&self.from, "from", i64::MIN)?,
            to_ms: at(&self.to, "to", i64::MAX)?,
            q: lower(&self.q),
            uid: self.uid.clone(),
            guest: lower(&self.guest),
            is_open: given.iter().all(|f| f.is_none()),
            print,
        })
    }
}

impl Filter {
    fn takes(&self, event: &Event, slot: &Slot, zone: &TimeZone) -> bool {
        if self.is_open {
            return true;
        }
        let has =
            |text: &Option<String>, q: &str| text.as_ref().is_some_and(|t| t.to_lowercase().contains(q));
        slot.at_ms >= self.updated_min_ms
            && self.uid.as_ref().is_none_or(|uid| event.uid == *uid)
            && self.guest.as_ref().is_none_or(|mail| event.guests.iter().any(|g| g.mail == *mail))
            && self
                .q
                .as_ref()
                .is_none_or(|q| has(&event.subject, q) || has(&event.body.text, q) || has(&event.place, q))
            && (self.from_ms == i64::MIN && self.to_ms == i64::MAX
                || series::touches(event, self.from_ms, self.to_ms, zone))
    }
}

/// `GET …/events`
pub async fn list(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(calendar): Path<String>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Value>, Problem> {
    let filter = query.filter()?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::field("limit", format!("limit must be 1 to {MAX_LIMIT}")));
    }
    let (epoch, now_ms) = (sandbox.epoch(), sandbox.now_ms());
    let ttl_ms = sandbox.0.sync_token_ms;
    let page = sandbox
        .read(|state| {
            let folder = folder(state, &login.mail, &calendar)?;
            let place = begin(&query, &filter, folder, &epoch, state.seq, now_ms - ttl_ms)?;
            Ok(page(&login.mail, folder, &filter, place, limit, state.seq, now_ms))
        })
        .await?;
    Ok(Json(page))
}

/// Where the walk goes on.
fn begin(
    query: &ListQuery,
    filter: &Filter,
    folder: &Folder,
    epoch: &str,
    seq: u64,
    oldest_ms: i64,
) -> Result<Place, Problem> {
    let calendar = &folder.calendar.id;
    let place = match (&query.page_token, &query.sync_token) {
        (Some(_), Some(_)) => return Err(Problem::bad_request("send pageToken or syncToken, not both")),
        (Some(token), None) => Place::from_token(token, "pageToken")?,
        (None, Some(token)) => {
            let place = Place::from_token(token, "syncToken")?;
            if !filter.is_open {
                return Err(Problem::bad_request("a list with syncToken takes no filters"));
            }
            match place.at_ms {
                None => return Err(Problem::bad_request("syncToken is a page token: send it as pageToken")),
                Some(at_ms) if at_ms < oldest_ms => return Err(Problem::gone("the sync token is too old")),
                Some(_) => Place { at_ms: None, ..place },
            }
        }
        (None, None) => Place {
            epoch: epoch.to_owned(),
            calendar: calendar.clone(),
            after: 0,
            since: Some(seq),
            filters: filter.print.clone(),
            at_ms: None,
        },
    };
    if place.calendar != *calendar || place.filters != filter.print {
        return Err(Problem::bad_request("the token was made for another calendar or for other filters"));
    }
    let told_from = place.since.unwrap_or(place.after);
    if place.epoch != epoch || told_from < folder.floor || told_from > seq {
        return Err(Problem::gone("what changed since then is no longer known: list everything again"));
    }
    Ok(place)
}

fn page(
    mail: &str,
    folder: &Folder,
    filter: &Filter,
    place: Place,
    limit: usize,
    seq: u64,
    now_ms: i64,
) -> Value {
    let zone = stored_zone(&folder.calendar.zone);
    let mut events = Vec::new();
    let (mut after, mut is_last) = (place.after, true);
    for (at, id) in folder.order.range(place.after + 1..) {
        let Some(slot) = folder.events.get(id) else { continue };
        let shown = match &slot.event {
            Some(event) if filter.takes(event, slot, &zone) => {
                let view = View { mail, calendar: &folder.calendar, seq: slot.seq };
                Some(view.event(event))
            }
            None if filter.is_open && place.since.is_none_or(|since| *at > since) => Some(json!({
                "id": id, "deleted": true, "etag": etag(slot.seq), "updatedAt": instant(slot.at_ms),
            })),
            _ => None,
        };
        if let Some(shown) = shown {
            if events.len() == limit {
                is_last = false;
                break;
            }
            events.push(shown);
        }
        after = *at;
    }
    let next = |after, at_ms| Place { after, at_ms, ..place };
    let mut answer = json!({ "events": events, "nextPageToken": null, "nextSyncToken": null });
    if !is_last {
        answer["nextPageToken"] = json!(next(after, None).token());
    } else if filter.is_open {
        answer["nextSyncToken"] = json!(Place { since: None, ..next(seq, Some(now_ms)) }.token());
    }
    answer
}
