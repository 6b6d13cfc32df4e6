//! The resources of the application itself: ApiKey and Usage.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::agent::AgentPolicy;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// Scopes that an API key of an application can have.
pub const KEY_SCOPES: [&str; 21] = [
    "email.read",
    "email.write",
    "email.send",
    "email.track",
    "calendar.read",
    "calendar.write",
    "calendar.freebusy",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
    "scheduling.read",
    "scheduling.write",
    "scheduling.book",
    "connections.read",
    "connections.write",
    "webhooks.read",
    "webhooks.write",
    "events.read",
    "api_keys.write",
    "usage.read",
];

/// An API key without its secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ApiKey {
    /// The id of the key.
    pub id: String,
    /// The kind of key: `key`, or `access_token` for a token that the token endpoint issued to the key in `createdBy`.
    pub kind: String,
    /// The name of the key, 1 to 100 characters.
    pub name: String,
    /// The first characters of the secret: `uc_live_` or `uc_test_` and six more.
    pub prefix: String,
    /// The last four characters of the secret.
    pub last4: String,
    /// The scopes that the key grants, `<surface>.<access>`, such as `calendar.write`.
    pub scopes: Vec<String>,
    /// The id of the application.
    pub application_id: String,
    /// The id of the organization.
    pub organization_id: String,
    /// The only web sites that the key can be used from: exact host names in lower case, compared with Origin and Referer. Empty: no
    /// restriction.
    pub allowed_domains: Vec<String>,
    /// The only addresses or CIDR ranges that the key can be used from. Empty: no restriction.
    pub allowed_ips: Vec<String>,
    /// The number of requests that the key can make per minute.
    pub rate_limit_per_minute: i64,
    /// The only connections that the key can use. Empty: all connections of the application.
    pub connection_ids: Vec<String>,
    /// The time at which the key expires; null if it does not expire.
    pub expires_at: Option<Instant>,
    /// The time of the last request with the key, written at most once a minute; null if there was none.
    pub last_used_at: Option<Instant>,
    /// The address from which the last request came; null if there was none.
    pub last_used_ip: Option<String>,
    /// The id of the key that created this one; null if an operator created it.
    pub created_by: Option<String>,
    /// The time at which the key was revoked; null if it is not revoked.
    pub revoked_at: Option<Instant>,
    /// The time at which the key was created.
    pub created_at: Instant,
    /// The policy for assistants that use the key through the MCP server; absent if the key has none, and assistants only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentPolicy>,
}

/// An API key to create, which can do no more than the calling key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["name", "scopes"])))]
pub struct NewApiKey {
    /// The name of the key, 1 to 100 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::access::MAX_NAME)))]
    pub name: String,
    /// The scopes that the key grants, `<surface>.<access>`: at least one, and only scopes of the calling key.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), transform = formats::OneOf(&KEY_SCOPES)))]
    pub scopes: Vec<String>,
    /// The only web sites that the key can be used from: exact host names without scheme, port or wildcard. If the calling key has
    /// some, only those are allowed. Absent or empty: those of the calling key.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1, max = bounds::MAX_LABEL))))]
    pub allowed_domains: Vec<String>,
    /// The only addresses or CIDR ranges that the key can be used from, such as `192.0.2.0/24`. If the calling key has some, only
    /// addresses within them are allowed. Absent or empty: those of the calling key.
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = r"^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$"))))]
    pub allowed_ips: Vec<String>,
    /// The number of requests that the key can make per minute, at least 1 and at most the limit of the calling key. Absent: 1,000, or
    /// the limit of the calling key if it is lower.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rate_limit_per_minute: Option<i64>,
    /// The only connections that the key can use. If the calling key is bound to some, only those are allowed. Absent or empty: those
    /// of the calling key.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>"))]
    pub connection_ids: Vec<String>,
    /// The time in the future at which the key expires, not after the calling key. Absent: when the calling key expires.
    pub expires_at: Option<Instant>,
    /// The policy for assistants that use the key through the MCP server. If the calling key has one, only the same or a narrower one is
    /// allowed. Absent: that of the calling key; if it has none either, assistants only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentPolicy>,
}

/// A key that was just created. No other answer shows its secret.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CreatedApiKey {
    /// The secret, to be sent with every request. It is shown only once.
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
    /// The seconds for which the present secret still works beside the new one, 0 to 604,800 (a week). Absent: 86,400 (a day).
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::access::MAX_OVERLAP_S)))]
    pub overlap_seconds: Option<i64>,
}

/// A key with a new secret. No other answer shows it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RotatedApiKey {
    /// The new secret. It is shown only once.
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

/// The usage of the application in a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// The start of the period, inclusive.
    pub period_start: Instant,
    /// The end of the period, exclusive.
    pub period_end: Instant,
    /// The unit of time in which usage is counted.
    pub granularity: Granularity,
    /// The number of requests to the API.
    pub requests: RequestCount,
    /// The rate limit of the calling key.
    pub rate_limit: RateLimit,
    /// The connections of the application, as they are now.
    pub connections: ConnectionCount,
    /// The changes that were found, and the calls of providers.
    pub sync: SyncCount,
    /// The events, and the attempts to deliver them.
    pub webhooks: WebhookCount,
    /// The messages that were sent, and those that bounced.
    pub email: EmailCount,
    /// The bookings that were created, and those that were cancelled.
    pub bookings: BookingCount,
    /// The calls of tools by assistants.
    // Contract silent: that there are figures of the MCP server.
    pub mcp: McpCount,
    /// The size of the application's data in bytes, as it is now.
    pub storage_bytes: i64,
    /// The number of requests of each API key.
    pub keys: Vec<KeyUsage>,
    /// The units of providers' quotas that were used, by connection and part of the account: at most 100, those with the most units
    /// first. Only for providers whose connector names limits; kept for 93 days. A key that is bound to connections gets only theirs.
    // Contract silent: that there are figures of providers' quotas, and which.
    pub provider_units: Vec<ProviderUnits>,
}

/// Units of a provider's quota that the requests of a connection used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderUnits {
    /// The id of the connection.
    pub connection_id: String,
    /// The name of the provider.
    pub provider: String,
    /// The part of the account that has the quota, in the connector's words.
    pub bucket: String,
    /// The number of units in the period.
    pub units: i64,
    /// The number of units by day, in order.
    pub days: Vec<UnitsOfDay>,
    /// The limit of the quota; null if the connector no longer has it.
    pub limit: Option<UnitLimit>,
}

/// The units of a provider's quota that were used on one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnitsOfDay {
    /// The day, `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// The number of units on that day.
    pub units: i64,
}

/// The limit of a provider's quota for one account: the operator's, or else the connector's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnitLimit {
    /// The number of units that can be used within any `seconds`.
    pub units: i64,
    /// The length of the limit's time window in seconds.
    pub seconds: i64,
    /// The number of units that are left now at the host that answers. Each host keeps to the limit by itself.
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
    /// The number of all requests.
    pub total: i64,
    /// The number of requests that succeeded.
    pub success: i64,
    /// The number of requests that were answered with 4xx, except 429.
    pub client_error: i64,
    /// The number of requests that were answered with 5xx.
    pub server_error: i64,
    /// The number of requests that were answered with 429.
    pub rate_limited: i64,
    /// The number of requests by the part of the API, such as `calendar`.
    pub by_surface: BTreeMap<String, i64>,
}

/// The rate limit of the calling key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RateLimit {
    /// The number of requests that the key can make per minute.
    pub limit_per_minute: i64,
    /// The number of requests that are left now.
    pub remaining: i64,
    /// The time at which the whole limit is available again, if no further requests are made.
    pub reset_at: Option<Instant>,
}

/// The number of connections, by status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ConnectionCount {
    /// The number of all connections.
    pub total: i64,
    /// The number of connections that work, including those whose provider fails at the moment.
    pub active: i64,
    /// The number of connections that the user must authorize again.
    pub reauth_required: i64,
}

/// The work of syncing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncCount {
    /// The number of changes that were added to the change feed.
    pub changes: i64,
    /// The number of requests that connectors sent to providers, for calls of the API and in the background.
    pub provider_calls: i64,
    /// The number of calls of connectors in which the provider asked to slow down.
    pub provider_throttled: i64,
}

/// The deliveries to webhooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookCount {
    /// The number of events that were added to the event log.
    pub events: i64,
    /// The number of attempts to deliver an event to a webhook, including those of replays and tests.
    pub deliveries: i64,
    /// The number of attempts that failed, most of which were tried again.
    pub failed: i64,
    /// The time in milliseconds that 95 % of the attempts did not exceed, rounded up to one of about thirty values; null without
    /// attempts.
    pub p95_ms: Option<i64>,
}

/// The messages that were sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailCount {
    /// The number of messages that a provider accepted for at least one recipient.
    pub sent: i64,
    /// The number of events `email.message.bounced`: reports that such a message did not arrive.
    pub bounced: i64,
}

/// The number of bookings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingCount {
    /// The number of bookings that were created.
    pub created: i64,
    /// The number of bookings that were cancelled.
    pub cancelled: i64,
}

/// The use of the MCP server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct McpCount {
    /// The number of calls of tools. The requests that a call makes to the API count as requests, too.
    pub calls: i64,
}

/// The number of requests of one API key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct KeyUsage {
    /// The id of the key.
    pub id: String,
    /// The name of the key; empty if the key no longer exists.
    pub name: String,
    /// The number of requests with the key in the period.
    pub requests: i64,
}
