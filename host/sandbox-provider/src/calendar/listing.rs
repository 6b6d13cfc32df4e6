//! `GET /sandbox/v1/calendars/{calendar}/events`: the filters of event lists.

use axum::extract::{Path, Query, State as AxumState};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::calendar::series;
use crate::calendar::types::{Calendar, Event};
use crate::problem::Problem;
use crate::record::Slot;
use crate::sandbox::Caller;
use crate::times::parse_instant;
use crate::walk::{Filter, Tokens, pages};

/// The query string.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ListQuery {
    limit: Option<usize>,
    page_token: Option<String>,
    sync_token: Option<String>,
    /// Changed at or after.
    updated_min: Option<String>,
    /// Start of the time range that an event must overlap.
    from: Option<String>,
    /// End of that range.
    to: Option<String>,
    /// Text in title, description or location.
    q: Option<String>,
    uid: Option<String>,
    guest: Option<String>,
}

/// The filters, read.
struct EventFilter {
    updated_min_ms: i64,
    from_ms: i64,
    to_ms: i64,
    q: Option<String>,
    uid: Option<String>,
    guest: Option<String>,
    is_open: bool,
    print: String,
}

impl ListQuery {
    fn filter(&self) -> Result<EventFilter, Problem> {
        let at = |value: &Option<String>, field: &str, or: i64| match value {
            Some(text) => parse_instant(text, field),
            None => Ok(or),
        };
        let lower = |value: &Option<String>| value.as_ref().map(|v| v.to_lowercase());
        let given = [&self.updated_min, &self.from, &self.to, &self.q, &self.uid, &self.guest];
        let print = serde_json::to_vec(&given).unwrap_or_default();
        let print = hex::encode(&Sha256::digest(print)[..6]);
        Ok(EventFilter {
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

impl Filter<Event> for EventFilter {
    fn print(&self) -> String {
        self.print.clone()
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn takes(&self, event: &Event, slot: &Slot<Event>, calendar: &Calendar) -> bool {
        if self.is_open {
            return true;
        }
        let has =
            |text: &Option<String>, q: &str| text.as_ref().is_some_and(|t| t.to_lowercase().contains(q));
        slot.at_ms >= self.updated_min_ms
            && self.uid.as_ref().is_none_or(|uid| event.uid() == uid)
            && self.guest.as_ref().is_none_or(|mail| event.body.attendees.iter().any(|a| a.email == *mail))
            && self.q.as_ref().is_none_or(|q| {
                has(&event.body.title, q) || has(&event.body.description, q) || has(&event.body.location, q)
            })
            && (self.from_ms == i64::MIN && self.to_ms == i64::MAX
                || series::touches(event, self.from_ms, self.to_ms, &calendar.zone()))
    }
}

/// `GET …/events`
pub async fn list(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(calendar): Path<String>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Value>, Problem> {
    let filter = query.filter()?;
    let tokens = Tokens { limit: query.limit, page_token: query.page_token, sync_token: query.sync_token };
    pages(&sandbox, &login, &calendar, &tokens, &filter).await
}
