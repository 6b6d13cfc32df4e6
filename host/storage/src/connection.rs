//! The row of an account that a user connected.

use std::collections::BTreeMap;

use base::tenant::Tenant;
use serde_json::{Map, Value};

/// A stored connection. `credentials` is sealed.
#[derive(Clone, Debug)]
pub struct Connection {
    pub id: String,
    pub tenant: Tenant,
    pub provider: String,
    pub connector_version: String,
    /// `pending`, `active`, `degraded`, `reauth_required` or `revoked`.
    pub status: String,
    pub status_reason: Option<String>,
    pub status_changed_at: i64,
    pub display_name: Option<String>,
    pub email: Option<String>,
    pub external_account_id: String,
    pub username: Option<String>,
    pub addresses: Vec<String>,
    pub surfaces: Vec<String>,
    pub requested_scopes: Vec<String>,
    pub granted_scopes: Vec<String>,
    pub provider_scopes: Vec<String>,
    pub time_zone: Option<String>,
    pub settings: Map<String, Value>,
    pub credentials: String,
    pub credentials_version: i64,
    pub token_expires_at: Option<i64>,
    pub last_refresh_at: Option<i64>,
    /// JSON `{code, message, at}`.
    pub last_refresh_error: Option<String>,
    pub failing_since: Option<i64>,
    pub tags: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
    pub etag: String,
    pub created_at: i64,
    pub updated_at: i64,
}
