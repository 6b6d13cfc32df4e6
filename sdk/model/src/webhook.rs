//! WebhookSubscription, Notification (the records of webhooks and the event log) and its deliveries.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::resource::{Body, Nothing};

/// An endpoint of a customer, and the notifications that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookSubscription {
    /// https, without credentials, at most 2,048 characters, on a public address.
    pub url: String,
    /// Exact names, `family.*` (any suffix) or `*`: 1 to 100. Each needs the scope that reads its resource; `*` is everything that
    /// the API key may read.
    pub event_types: Vec<String>,
    /// Only these connections, at most 1,000; empty for all that the API key may use.
    pub connection_ids: Vec<String>,
    /// At most 1,024 characters.
    pub description: Option<String>,
    pub status: WebhookStatus,
    pub disabled_reason: Option<DisabledReason>,
    /// The API key or access token that the webhook belongs to, and ends with: the one that created it, or last set `url` or `eventTypes`. Null
    /// if the webhook is older than this field.
    pub key_id: Option<String>,
    pub payload_mode: PayloadMode,
    /// Whether a notification waits until the earlier ones of the same resource have ended.
    pub ordered: bool,
    /// Whether records that a first scan or a reset finds are sent too.
    pub include_backfill: bool,
    /// The signatures of each delivery: `v1` always.
    pub signatures: Vec<SignatureVersion>,
    /// `whsec_` and base64 of 24 to 64 bytes; made where none is given. Only in the answers to a create and to a rotation.
    pub secret: Option<String>,
    /// Verifies the signatures of `v1a`: `whpk_` and base64 of an Ed25519 public key.
    pub public_key: Option<String>,
    /// Sent with every delivery. You can set the values but not read them: answers show `********`, and sending that back keeps the stored
    /// value. At most 10 and 4 KiB, none of `webhook-*`, `content-*`, `transfer-*`, `proxy-*`, `host`, `user-agent`
    /// and those that are about the connection.
    pub headers: BTreeMap<String, String>,
    /// Attempts that are started in a second at most, 1 to 1,000; null for no limit.
    pub max_per_second: Option<i64>,
    /// Attempts that are under way at a time at most, 1 to 64.
    pub max_concurrent: i64,
    pub last_success_at: Option<Instant>,
    pub last_failure_at: Option<Instant>,
    pub last_failure: Option<DeliveryFailure>,
    pub consecutive_failures: i64,
    /// Every notification up to this sequence was sent, or is not for this subscription.
    pub cursor: i64,
}

impl Default for WebhookSubscription {
    fn default() -> Self {
        WebhookSubscription {
            url: String::new(),
            event_types: Vec::new(),
            connection_ids: Vec::new(),
            description: None,
            status: WebhookStatus::default(),
            disabled_reason: None,
            key_id: None,
            payload_mode: PayloadMode::default(),
            ordered: false,
            include_backfill: false,
            signatures: vec![SignatureVersion::V1],
            secret: None,
            public_key: None,
            headers: BTreeMap::new(),
            max_per_second: None,
            max_concurrent: 8,
            last_success_at: None,
            last_failure_at: None,
            last_failure: None,
            consecutive_failures: 0,
            cursor: 0,
        }
    }
}

impl Body for WebhookSubscription {
    const NAME: &'static str = "WebhookSubscription";
    const IN_CONNECTION: bool = false;
    const REQUIRED: &'static [&'static str] = &["url", "eventTypes"];
    const READ_ONLY: &'static [&'static str] = &[
        "consecutiveFailures",
        "cursor",
        "disabledReason",
        "keyId",
        "lastFailure",
        "lastFailureAt",
        "lastSuccessAt",
        "publicKey",
    ];
    type Extra = Nothing;
    type Options = WebhookOptions;
}

/// For a patch: a new secret, made here or given as `secret`. The old one signs as well until the grace is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookOptions {
    pub rotate_secret: bool,
    /// At most 604,800 (a week). With 0 all earlier secrets end at once, even without a new one.
    pub secret_grace_seconds: i64,
}

impl Default for WebhookOptions {
    fn default() -> Self {
        WebhookOptions { rotate_secret: false, secret_grace_seconds: 86_400 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum WebhookStatus {
    /// Setting it on a paused one continues where it stopped; on a disabled one it starts from now, and missed events need a replay.
    #[default]
    Active,
    /// Deliveries wait: none is sent, and none is lost.
    Paused,
    /// Active, but the last ten attempts or more have failed. Cannot be set.
    Failing,
    /// No delivery is sent, and events in the meantime are not delivered later.
    Disabled,
}

/// A form of signature (Standard Webhooks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SignatureVersion {
    /// HMAC-SHA256 with `secret`.
    V1,
    /// Ed25519, to be verified with `publicKey`.
    V1a,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    #[default]
    Manual,
    /// The endpoint answered 410.
    #[serde(rename = "gone_410")]
    Gone410,
    /// Every attempt has failed for five days.
    #[serde(rename = "failures_5d")]
    Failures5d,
    /// The API key or access token in `keyId` was revoked or has expired.
    KeyEnded,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PayloadMode {
    /// With the resource.
    #[default]
    Full,
    /// Without: the receiver reads it.
    Thin,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryFailure {
    pub status: Option<i64>,
    pub error: Option<AttemptError>,
    pub at: Option<Instant>,
}

/// An event, as it is sent to webhooks and kept in the event log. The same id on every attempt and replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Notification {
    /// `ev_…`, also in the `webhook-id` header.
    pub id: String,
    /// Such as `calendar.event.updated`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    pub timestamp: Instant,
    /// Strictly increasing within an application: lets a receiver drop notifications older than its newest one.
    pub sequence: i64,
    pub api_version: String,
    pub application_id: String,
    pub connection_id: Option<String>,
    pub data: NotificationData,
}

impl Default for Notification {
    fn default() -> Self {
        Notification {
            id: String::new(),
            kind: String::new(),
            timestamp: Instant::default(),
            sequence: 0,
            api_version: "v1".into(),
            application_id: String::new(),
            connection_id: None,
            data: NotificationData::default(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NotificationData {
    pub resource_type: String,
    pub resource_id: String,
    /// The container of the resource: an event's calendar, a task's list.
    pub parent_id: Option<String>,
    pub change_type: NotifiedChange,
    pub changed_fields: Option<Vec<String>>,
    pub etag: Option<String>,
    pub origin: Origin,
    /// Null in thin mode, on a delete, and where the body would be above 256 KiB.
    pub resource: Option<Value>,
    /// `resource` is left out because it is too big.
    pub truncated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum NotifiedChange {
    #[default]
    Created,
    Updated,
    Deleted,
    /// A change of state, such as a connection that must be authorized again.
    State,
}

/// The side that made the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    #[default]
    Provider,
    Api,
    System,
    /// The record was found by a first scan or a reset: it is not new.
    Backfill,
}

/// One notification on its way to one subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Delivery {
    pub id: String,
    pub event_id: String,
    pub webhook_id: String,
    /// The `sequence` of the event.
    pub sequence: i64,
    /// The replay that it belongs to; null for the first delivery of an event.
    pub replay_id: Option<String>,
    pub status: DeliveryStatus,
    pub attempts: Vec<Attempt>,
    pub next_attempt_at: Option<Instant>,
}

/// Events to be sent to a subscription once more: those of `eventIds`, or those that happened from `from` on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewWebhookReplay {
    /// 1 to 1,000 ids of events, `ev_…`, each once. Without `from` and `to`.
    pub event_ids: Vec<String>,
    /// The first `timestamp` of the events that are sent. It must not be before the oldest event that is kept.
    pub from: Option<Instant>,
    /// The events that are sent happened before this; null for all that there are when the replay begins.
    pub to: Option<Instant>,
    /// Only these: exact names, `family.*` or `*`, at most 100; empty for all event types of the subscription.
    pub event_types: Vec<String>,
    /// Only events whose delivery to the subscription was given up (`failed` or `discarded`), and that have not arrived since.
    pub only_failed: bool,
}

/// Events that are sent to a subscription once more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookReplay {
    /// `rpl_…`, also in the `webhook-replay` header of its deliveries.
    pub replay_id: String,
    pub webhook_id: String,
    pub status: ReplayStatus,
    /// Why it failed; null otherwise.
    pub reason: Option<ReplayFailure>,
    /// How many events are sent: those that are found until `counted` is true, and from then on all.
    pub event_count: i64,
    /// Whether the whole range was read. In a long range events are counted while they are sent.
    pub counted: bool,
    /// How many of them have arrived.
    pub sent: i64,
    /// How many of them were given up.
    pub failed: i64,
    /// As requested.
    pub from: Option<Instant>,
    /// As requested.
    pub to: Option<Instant>,
    /// As requested.
    pub event_types: Vec<String>,
    /// As requested.
    pub only_failed: bool,
    /// The `from` with which a new replay continues where this one failed; null where no event is left. A few events around that time may
    /// be sent twice.
    pub continue_from: Option<Instant>,
    /// The id of the API key that requested the replay.
    pub created_by: String,
    pub created_at: Instant,
    pub updated_at: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReplayStatus {
    #[default]
    Running,
    /// Each event has arrived or was given up.
    Completed,
    Cancelled,
    /// The subscription was paused or disabled before all events were sent.
    Failed,
}

/// Why a replay failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayFailure {
    /// The events up to `continueFrom` are sent when the subscription is resumed.
    #[default]
    WebhookPaused,
    /// The rest of the replay is not sent.
    WebhookDisabled,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DeliveryStatus {
    #[default]
    Pending,
    Delivered,
    Failed,
    Discarded,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Attempt {
    /// From 1.
    pub n: i64,
    pub at: Instant,
    pub status_code: Option<i64>,
    pub error: Option<AttemptError>,
    pub duration_ms: i64,
    /// At most 1 KiB.
    pub response_snippet: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptError {
    Dns,
    Tls,
    Connect,
    Timeout,
    Redirect,
    /// A private or otherwise refused address.
    BlockedAddress,
    /// An answer that is not 2xx.
    #[default]
    Http,
}
