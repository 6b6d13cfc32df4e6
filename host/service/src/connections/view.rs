//! The representation of a connection in the API.

use model::Instant;
use runtime::{DISCOVERED, Manifest};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::connections::Connection;
use storage::sync_states::SyncState;

use crate::app::App;
use crate::connections::settings::discovered_of;

/// Returns the version of a connection: changes with all that clients see of it, except counters and refresh times.
pub fn etag(c: &Connection) -> String {
    let seen = json!([
        c.status,
        c.status_reason,
        c.display_name,
        c.email,
        c.surfaces,
        c.granted_scopes,
        c.provider_scopes,
        c.time_zone,
        c.tags,
        c.metadata,
        c.connector_version,
        c.settings.get("serverUrl"),
        c.settings.get(DISCOVERED),
        c.created_at
    ]);
    let hash = Sha256::digest(seen.to_string());
    format!("\"{}\"", hex::encode(&hash[..8]))
}

fn at(ms: Option<i64>) -> Value {
    ms.map_or(Value::Null, |ms| json!(Instant::from_millis(ms)))
}

/// Returns the connection with all its fields; none of them is secret.
pub fn json(app: &App, c: &Connection, states: &[SyncState]) -> Value {
    let missing: Vec<&String> = c.requested_scopes.iter().filter(|s| !c.granted_scopes.contains(s)).collect();
    let error = c.last_refresh_error.as_deref().and_then(|e| serde_json::from_str::<Value>(e).ok());
    let server = c.settings.get("serverUrl").filter(|_| is_server_shown(app, &c.provider));
    let settings = server.map_or(json!({}), |url| json!({ "serverUrl": url }));
    json!({
        "id": c.id,
        "provider": c.provider,
        "connectorVersion": c.connector_version,
        "status": c.status,
        "statusReason": c.status_reason,
        "statusChangedAt": Instant::from_millis(c.status_changed_at),
        "displayName": c.display_name,
        "email": c.email,
        "externalAccountId": c.external_account_id,
        "surfaces": c.surfaces,
        "requestedScopes": c.requested_scopes,
        "grantedScopes": c.granted_scopes,
        "missingScopes": missing,
        "providerScopes": c.provider_scopes,
        "timeZone": c.time_zone,
        "settings": settings,
        "discoveredOrigins": discovered_of(app, c),
        "tokenExpiresAt": at(c.token_expires_at),
        "lastRefreshAt": at(c.last_refresh_at),
        "lastRefreshError": error,
        "sync": sync(app, c, states),
        "tags": c.tags,
        "metadata": c.metadata,
        "createdAt": Instant::from_millis(c.created_at),
        "updatedAt": Instant::from_millis(c.updated_at),
        "etag": c.etag,
    })
}

/// Whether a provider's `serverUrl` is the user's and may be shown. The operator's may be an address of an internal network. It is hidden
/// while the connector is not installed, since its manifest is then unknown.
fn is_server_shown(app: &App, provider: &str) -> bool {
    let is_operators =
        |manifest: &Manifest| manifest.settings.iter().any(|s| s.operator && s.name == "serverUrl");
    app.runtime.find(provider).is_some_and(|connector| !is_operators(&connector.manifest))
}

/// Returns one entry per surface: the worst state of its collections, and the lag of the slowest.
fn sync(app: &App, c: &Connection, states: &[SyncState]) -> Vec<Value> {
    let rank = |s: &SyncState| match s.status.as_str() {
        "error" => 5,
        "blocked" => 4,
        "throttled" => 3,
        "initial" => 2,
        "syncing" => 1,
        _ => 0,
    };
    c.surfaces
        .iter()
        .map(|surface| {
            let own: Vec<&SyncState> = states.iter().filter(|s| s.surface == *surface).collect();
            let worst = own.iter().max_by_key(|s| rank(s));
            let last = own.iter().filter_map(|s| s.last_success_at).min();
            json!({
                "surface": surface,
                "status": worst.map_or("idle", |s| s.status.as_str()),
                "lastSuccessAt": at(last),
                "lagSeconds": last.map(|ms| (app.now() - ms).max(0) / 1000),
            })
        })
        .collect()
}
