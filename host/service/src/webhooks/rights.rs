//! The rights of a subscription: the key that last set its events and endpoint, what that key may read, and when it ends.

use base::error::{Code, Result, refuse};
use model::Instant;
use model::webhook::{PayloadMode, WebhookSubscription};
use serde_json::{Map, Value, json};
use storage::Tx;
use storage::api_keys::{self, ApiKey};
use storage::webhooks::Webhook;
use storage::webhooks::keys::{self, KeyEnd};

use crate::webhooks::input;

/// Fields that decide what is sent, and where: a key that sets one of them must be allowed to read what is sent.
const REACH: [&str; 5] = ["url", "eventTypes", "connectionIds", "includeBackfill", "payloadMode"];
/// Fields that can widen what is sent, or change the endpoint: a key that sets one of them becomes the subscription's key.
const GROWTH: [&str; 2] = ["url", "eventTypes"];
/// Prefix of operator ids. A subscription made by an operator in the panel depends on no API key, and ends with none.
const OPERATOR: &str = "opr_";

/// The part of a change that affects the rights of a subscription.
pub struct ReachChange<'a> {
    /// Fields of `GROWTH` that the request contains, changed or not.
    pub named: Vec<&'static str>,
    /// Names of the fields whose values change.
    pub changed: &'a [String],
    /// The event types after the change.
    pub event_types: &'a [String],
    /// Whether the fields of `REACH` outside `GROWTH` admit more than before (`widens`).
    pub widens: bool,
    /// Whether the subscription is activated after its key has ended.
    pub is_revived: bool,
}

/// Fields of `GROWTH` that a request contains.
pub fn named_growth(input: &Map<String, Value>) -> Vec<&'static str> {
    GROWTH.into_iter().filter(|field| input.contains_key(*field)).collect()
}

/// Whether a subscription gets events of more connections, of initial syncs, or with resources that it did not get before.
pub fn widens(before: &Webhook, after: &WebhookSubscription) -> bool {
    let is_known = |id: &String| before.connection_ids.contains(id);
    let has_more_connections = !before.connection_ids.is_empty()
        && (after.connection_ids.is_empty() || !after.connection_ids.iter().all(is_known));
    has_more_connections
        || (after.include_backfill && !before.include_backfill)
        || (after.payload_mode == PayloadMode::Full && before.payload_mode != PayloadMode::Full)
}

/// Binds a subscription to a key, so that it ends with the key.
pub fn rest_on(w: &mut Webhook, key: &ApiKey) {
    w.key_id = Some(key.id.clone());
    w.ends_at = key.expires_at;
}

/// Checks that the key may make a change, and sets the families and the key of the subscription.
///
/// # Errors
/// 403 for an event type that the key may not read.
// Contract silent: a subscription gets events of more families only where a request names `url` or `eventTypes`. A change of another
// field leaves out what its key may not read, however much its key may read. Where it widens the filters all the same, and its key ends
// before the one that the subscription rests on, the subscription ends with that key: nothing that a token has opened stays open after
// it.
pub fn settle(after: &mut Webhook, change: &ReachChange<'_>, key: &ApiKey) -> Result<()> {
    let is_changed = |field: &&str| change.changed.iter().any(|name| name == field);
    let readable = input::families(key);
    let grows = GROWTH.iter().any(is_changed);
    // A client that repeats them takes the subscription over, unless it would then get less, or end earlier.
    let takes_over = !change.named.is_empty()
        && after.families.iter().all(|family| readable.contains(family))
        && !ends_before(key.expires_at, after.ends_at)
        && input::check_scopes(change.event_types, key).is_ok();
    if !(grows || takes_over || change.is_revived || REACH.iter().any(is_changed)) {
        return Ok(());
    }
    input::check_scopes(change.event_types, key)?;
    let outlasts_key = change.widens && ends_before(key.expires_at, after.ends_at);
    match grows || takes_over {
        true => after.families = readable,
        false => after.families.retain(|family| readable.contains(family)),
    }
    if grows || takes_over || change.is_revived || outlasts_key {
        rest_on(after, key);
    }
    Ok(())
}

/// Whether a right with this end (none: never) ends before another one.
fn ends_before(end: Option<i64>, other: Option<i64>) -> bool {
    end.is_some_and(|end| other.is_none_or(|other| end < other))
}

/// Returns a warning that the subscription ends with its key.
pub fn end_warning(w: &Webhook) -> Option<Value> {
    let at = Instant::from_millis(w.ends_at?);
    let message = format!(
        "the webhook ends at {at}, with the API key or access token of this request; to keep it, set url or eventTypes with an API key that does not expire"
    );
    Some(json!({ "code": "ends_with_key", "message": message, "target": "keyId", "field": "keyId" }))
}

/// Locks the key of a subscription for the rest of the transaction, and enqueues the subscription's end. First in its transaction.
pub async fn hold_key(tx: &mut Tx, w: &Webhook) -> Result<()> {
    let Some(key_id) = w.key_id.as_ref().filter(|id| !id.starts_with(OPERATOR)) else { return Ok(()) };
    match api_keys::hold(tx, &w.tenant, key_id).await? {
        true => Ok(()),
        false => Err(refuse(Code::RevokedApiKey, "this API key was revoked")),
    }
}

/// Enqueues the end of a subscription, if it has one.
pub async fn schedule_end(tx: &mut Tx, w: &Webhook, now: i64) -> Result<()> {
    if let (Some(key_id), Some(at)) = (&w.key_id, w.ends_at) {
        let end = KeyEnd { tenant: w.tenant.clone(), key_id: key_id.clone(), at };
        keys::schedule(tx, &end, now).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_without_an_end_ends_last() {
        for (end, other, is_before) in [
            (Some(1), None, true),
            (Some(1), Some(2), true),
            (Some(2), Some(2), false),
            (None, Some(2), false),
            (None, None, false),
        ] {
            assert_eq!(ends_before(end, other), is_before, "{end:?} {other:?}");
        }
    }

    #[test]
    fn a_request_names_what_it_repeats() {
        let patch = json!({ "description": "x", "eventTypes": ["*"], "payloadMode": "thin" });
        assert_eq!(named_growth(patch.as_object().expect("an object")), ["eventTypes"]);
    }
}
