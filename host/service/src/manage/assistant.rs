//! The host's side of the MCP server: sends that a key's assistants may still do, and the state of questions that clients carry.

use anyhow::Result;
use storage::agent_sends;
use storage::api_keys::ApiKey;

use crate::app::App;

const HOUR_MS: i64 = 60 * 60 * 1_000;
/// Milliseconds after which a sealed state no longer opens.
const MAX_STATE_AGE_MS: i64 = 10 * 60 * 1_000;
/// The use of sealed states, which keeps them apart from other sealed values.
const STATE: &str = "mcp/request_state";

/// Takes one of the sends of this hour that an assistant with the key has; false if `limit` of them are used up. An act that is repeated
/// takes none. Access tokens share those of their key. The count is in the database, for all hosts.
pub async fn take_send(app: &App, key: &ApiKey, act: &str, limit: u32) -> Result<bool> {
    let (id, act) = (key.budget_id().to_owned(), act.to_owned());
    let (hour, limit) = (app.now().div_euclid(HOUR_MS), i64::from(limit));
    app.db.write(move |tx| Box::pin(async move { agent_sends::take(tx, &id, &act, hour, limit).await })).await
}

/// Seals a text for 10 minutes, so that a client can carry it but neither read nor change it.
pub fn seal_state(app: &App, text: &str) -> Result<String> {
    app.keyring.seal(STATE, format!("{} {text}", app.now()).as_bytes())
}

/// Opens a text that `seal_state` returned on any host of the installation; none if it was changed, comes from elsewhere or is too old.
pub fn open_state(app: &App, sealed: &str) -> Option<String> {
    let opened = app.keyring.open(STATE, sealed).ok()?;
    let (sealed_at, text) = std::str::from_utf8(&opened).ok()?.split_once(' ')?;
    let age_ms = app.now().saturating_sub(sealed_at.parse::<i64>().ok()?);
    (age_ms <= MAX_STATE_AGE_MS).then(|| text.to_owned())
}

/// Counts a call of a tool in the usage of the key's application.
pub fn count_call(app: &App, key: &ApiKey) {
    app.usage.add_mcp_call(&key.tenant, app.now());
}
