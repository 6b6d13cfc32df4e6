//! The events of a replay that names them by their ids.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Detail, Refusal, Result};
use base::ids;
use model::webhook::NewWebhookReplay;
use serde_json::{Value, json};
use storage::api_keys::ApiKey;
use storage::log::{self, Light};
use storage::webhooks::Webhook;

use crate::app::App;
use crate::webhooks::event_head::EventHead;
use crate::webhooks::replay::event_filter::EventFilter;
use crate::webhooks::replay::search;

/// Most events that an answer lists one by one.
const MAX_TOLD: usize = 100;
/// The error for an event that does not exist, is no longer kept, or is not visible to the caller.
const UNKNOWN: &str = "is no event of this application that is still kept";

/// The events to send, in the order of the log, and a warning for each that is left out. Refuses ids of events that the caller may not see.
pub async fn find(
    app: &App,
    key: &ApiKey,
    webhook: &Webhook,
    asked: &NewWebhookReplay,
) -> Result<(Vec<Light>, Vec<Value>)> {
    let mut events = load_events(app, key, &asked.event_ids).await?;
    let filter = EventFilter::new(webhook, asked);
    let missing: Option<BTreeSet<i64>> = match asked.only_failed {
        false => None,
        true => {
            let sequences: Vec<i64> = events.iter().map(|event| event.sequence).collect();
            Some(search::not_arrived(app.db.reader(), &webhook.id, &sequences).await?)
        }
    };
    let mut left_out = BTreeMap::new();
    events.retain(|event| {
        let reason = if !filter.is_wanted(event) {
            "the webhook does not ask for events such as this one"
        } else if !filter.has_type(event) {
            "it is of none of the types in eventTypes"
        } else if missing.as_ref().is_some_and(|missing| !missing.contains(&event.sequence)) {
            "its delivery was not given up, or it has arrived since"
        } else {
            return true;
        };
        left_out.insert(event.id.clone(), reason);
        false
    });
    Ok((events, warnings(&asked.event_ids, &left_out)))
}

/// The position of an id in the request.
fn place(n: usize) -> String {
    format!("eventIds[{n}]")
}

/// The log entries with these ids, in their order. Refuses ids of events that the caller may not see.
async fn load_events(app: &App, key: &ApiKey, event_ids: &[String]) -> Result<Vec<Light>> {
    let plausible: Vec<String> = event_ids.iter().filter(|id| ids::is_plausible(id)).cloned().collect();
    let mut found = log::by_ids(app.db.reader(), &key.tenant, &plausible).await?;
    let is_own = |id: &str| key.connection_ids.iter().any(|own| own == id);
    found.retain(|event| key.connection_ids.is_empty() || EventHead::from(event).is_within(is_own));
    let known: BTreeSet<&str> = found.iter().map(|event| event.id.as_str()).collect();
    let is_unknown = |n: &usize| event_ids.get(*n).is_some_and(|id| !known.contains(id.as_str()));
    let unknown: Vec<usize> = (0..event_ids.len()).filter(is_unknown).collect();
    let Some(first) = unknown.first() else { return Ok(found) };
    let mut refusal =
        Refusal::new(Code::InvalidParameter, format!("{} {UNKNOWN}", place(*first))).param(place(*first));
    let detail =
        |n: &usize| Detail { field: place(*n), code: Code::InvalidParameter, message: UNKNOWN.to_owned() };
    refusal.details = unknown.iter().take(MAX_TOLD).map(detail).collect();
    Err(refusal.into())
}

/// A warning for each event that is left out.
fn warnings(event_ids: &[String], left_out: &BTreeMap<String, &str>) -> Vec<Value> {
    let places = event_ids.iter().enumerate().filter_map(|(n, id)| Some((n, left_out.get(id)?)));
    let warning = |(n, reason): (usize, &&str)| {
        let field = place(n);
        let message = format!("{field} is not sent: {reason}");
        json!({ "code": "event_skipped", "message": message, "target": field, "field": field })
    };
    places.take(MAX_TOLD).map(warning).collect()
}
