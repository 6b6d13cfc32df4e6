//! The resources of the application itself: ApiKey and Usage.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// An API key, without the key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ApiKey {
    /// The key's id.
    pub id: String,
    /// `key`, or `access_token` for one that the token endpoint gave to the key in `createdBy`.
    pub kind: String,
    /// The key's name, 1 to 100 characters.
    pub name: String,
    /// `uc_live_` or `uc_test_` and the first six characters.
    pub prefix: String,
    /// The last four characters of the key.
    pub last4: String,
    /// The scopes that the key grants, `<surface>.<access>`.
    pub scopes: Vec<String>,
    /// The application's id.
    pub application_id: String,
    /// The organization's id.
    pub organization_id: String,
    /// Exact host names, lower case, compared with Origin and Referer; empty: no restriction.
    pub allowed_domains: Vec<String>,
    /// Addresses or CIDR ranges; empty: no restriction.
    pub allowed_ips: Vec<String>,
    /// Requests that the key may make per minute.
    pub rate_limit_per_minute: i64,
    /// Only these connections; empty: all of the application.
    pub connection_ids: Vec<String>,
    /// The time of expiry; null: the key does not expire.
    pub expires_at: Option<Instant>,
    /// Written at most once a minute.
    pub last_used_at: Option<Instant>,
    /// The address of the last request.
    pub last_used_ip: Option<String>,
    /// The key that created this one; null for one that an operator created.
    pub created_by: Option<String>,
    /// The time of the revocation; null: not revoked.
    pub revoked_at: Option<Instant>,
    /// The time of creation.
    pub created_at: Instant,
}

/// An API key to create. Its scopes are among those of the calling key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["name", "scopes"])))]
pub struct NewApiKey {
    /// 1 to 100 characters.
    pub name: String,
    /// At least one, and only scopes of the calling key.
    pub scopes: Vec<String>,
    /// Exact host names, without scheme, port or wildcard. Absent: those of the calling key; if that has some, only such.
    pub allowed_domains: Vec<String>,
    /// Addresses or CIDR ranges. Absent: those of the calling key; if that has some, only within them.
    pub allowed_ips: Vec<String>,
    /// At most the limit of the calling key. Absent: 1000, or that limit if it is lower.
    pub rate_limit_per_minute: Option<i64>,
    /// Absent: those of the calling key; if that has some, only such.
    pub connection_ids: Vec<String>,
    /// Absent: the expiry of the calling key. It cannot be later.
    pub expires_at: Option<Instant>,
}

/// A key that was just created: the only answer that shows it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CreatedApiKey {
    /// Shown once.
    pub key: String,
    /// The key's record.
    #[serde(flatten)]
    pub api_key: ApiKey,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for CreatedApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CreatedApiKey({})", self.api_key.id)
    }
}

/// A rotation of a key's secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct KeyRotation {
    /// Seconds for which the present secret goes on working beside the new one, 0 to 604800. Absent: 86400, a day.
    pub overlap_seconds: Option<i64>,
}

/// A key with a new secret: the only answer that shows it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RotatedApiKey {
    /// The new secret, shown once.
    pub key: String,
    /// The time at which the previous secret stops working.
    pub previous_expires_at: Instant,
    /// The key's record.
    #[serde(flatten)]
    pub api_key: ApiKey,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for RotatedApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RotatedApiKey({})", self.api_key.id)
    }
}

/// The application's usage in a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// The start of the period, inclusive.
    pub period_start: Instant,
    /// The end of the period, exclusive.
    pub period_end: Instant,
    /// The step that the period is counted in.
    pub granularity: Granularity,
    /// Requests to the API.
    pub requests: RequestCount,
    /// The rate limit of the calling key.
    pub rate_limit: RateLimit,
    /// Connections of the application.
    pub connections: ConnectionCount,
    /// Changes found and calls of providers.
    pub sync: SyncCount,
    /// Events and deliveries.
    pub webhooks: WebhookCount,
    /// Messages sent and bounced.
    pub email: EmailCount,
    /// Bookings created and cancelled.
    pub bookings: BookingCount,
    /// Bytes that the application's data take.
    pub storage_bytes: i64,
    /// Requests by API key.
    pub keys: Vec<KeyUsage>,
    /// Units of providers' quotas, by connection and part of the account: those with the most units first, at most 100. Of providers whose
    /// connector names limits; kept for 93 days. A key that is bound to connections gets only theirs.
    // Contract silent: that there are figures of providers' quotas, and which.
    pub provider_units: Vec<ProviderUnits>,
}

/// Units of a provider's quota that the requests of a connection used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderUnits {
    /// The connection's id.
    pub connection_id: String,
    /// The provider's name.
    pub provider: String,
    /// The part of the account that has the quota, as the connector calls it.
    pub bucket: String,
    /// Units in the period.
    pub units: i64,
    /// The same by day, the first day first.
    pub days: Vec<UnitsOfDay>,
    /// None: the connector no longer has this limit.
    pub limit: Option<UnitLimit>,
}

/// Units of a day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnitsOfDay {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// Units on that day.
    pub units: i64,
}

/// The operator's limit of an account, else the connector's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnitLimit {
    /// Units within any `seconds`.
    pub units: i64,
    /// The length of the limit's window, seconds.
    pub seconds: i64,
    /// Units that are left now. Each host keeps to the limit by itself: this is the rest of the host that answers.
    pub remaining: i64,
}

/// The step in which usage is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Granularity {
    /// Days, UTC.
    #[default]
    Day,
}

/// The number of requests, by result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RequestCount {
    /// All requests.
    pub total: i64,
    /// Requests that succeeded.
    pub success: i64,
    /// Requests answered with 4xx other than 429.
    pub client_error: i64,
    /// Requests answered with 5xx.
    pub server_error: i64,
    /// Requests answered with 429.
    pub rate_limited: i64,
    /// Requests by surface.
    pub by_surface: BTreeMap<String, i64>,
}

/// The rate limit of the calling key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RateLimit {
    /// Requests that the key may make per minute.
    pub limit_per_minute: i64,
    /// Requests that are left now.
    pub remaining: i64,
    /// The time at which the whole budget is available again, without further requests.
    pub reset_at: Option<Instant>,
}

/// The number of connections, by status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionCount {
    /// All connections.
    pub total: i64,
    /// Connections that are `active`.
    pub active: i64,
    /// Connections that the user must authorize again.
    pub reauth_required: i64,
}

/// The work of syncing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncCount {
    /// Changes that were added to the change feed.
    pub changes: i64,
    /// Requests that connectors sent to providers, for calls and for background work.
    pub provider_calls: i64,
    /// Calls of connectors in which the provider asked to slow down.
    pub provider_throttled: i64,
}

/// The deliveries to webhooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookCount {
    /// Events that were added to the event log.
    pub events: i64,
    /// Attempts to deliver an event to a webhook that were made, also those of replays and tests.
    pub deliveries: i64,
    /// Attempts that failed, most of which were tried again.
    pub failed: i64,
    /// 95 % of the attempts took at most this long, rounded up to the next of some thirty durations; null without attempts.
    pub p95_ms: Option<i64>,
}

/// The messages that were sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailCount {
    /// Messages that a provider accepted for at least one of their recipients.
    pub sent: i64,
    /// Events `email.message.bounced`: reports by which such a message did not arrive.
    pub bounced: i64,
}

/// The number of bookings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingCount {
    /// Bookings that were created.
    pub created: i64,
    /// Bookings that were cancelled.
    pub cancelled: i64,
}

/// The requests of an API key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct KeyUsage {
    /// The key's id.
    pub id: String,
    /// The key's name.
    pub name: String,
    /// Requests with the key in the period.
    pub requests: i64,
}
