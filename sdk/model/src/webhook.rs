//! WebhookSubscription, Notification (the records of webhooks and the event log) and its deliveries.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

use crate::resource::{Body, Nothing};
pub use crate::webhook_replay::{NewWebhookReplay, ReplayFailure, ReplayStatus, WebhookReplay};

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
    /// The state of the subscription.
    pub status: WebhookStatus,
    /// The reason why it is disabled.
    pub disabled_reason: Option<DisabledReason>,
    /// The API key or access token that the webhook belongs to, and ends with: the one that created it, or last set `url` or `eventTypes`. Null
    /// if the webhook is older than this field.
    pub key_id: Option<String>,
    /// Whether notifications have the resource in them.
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
    /// The time of the last success.
    pub last_success_at: Option<Instant>,
    /// The time of the last failed attempt.
    pub last_failure_at: Option<Instant>,
    /// The last failed attempt.
    pub last_failure: Option<DeliveryFailure>,
    /// Failed attempts since the last success.
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
    /// Whether to make a new secret.
    pub rotate_secret: bool,
    /// At most 604,800 (a week). With 0 all earlier secrets end at once, even without a new one.
    pub secret_grace_seconds: i64,
}

impl Default for WebhookOptions {
    fn default() -> Self {
        WebhookOptions { rotate_secret: false, secret_grace_seconds: 86_400 }
    }
}

/// The state of a subscription.
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

/// The reason why a subscription is disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    /// A caller disabled it.
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

/// Whether notifications have the resource in them.
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

/// A failed attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryFailure {
    /// The HTTP status of the answer, if there was one.
    pub status: Option<i64>,
    /// The kind of failure.
    pub error: Option<AttemptError>,
    /// The time of the attempt.
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
    /// The version of the API: `v1`.
    pub api_version: String,
    /// The application's id.
    pub application_id: String,
    /// The connection; null for events of the application.
    pub connection_id: Option<String>,
    /// The change.
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

/// The change that a notification is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NotificationData {
    /// The type of the resource, such as `calendar_event`.
    pub resource_type: String,
    /// The id of the resource.
    pub resource_id: String,
    /// The container of the resource: an event's calendar, a task's list.
    pub parent_id: Option<String>,
    /// The kind of change.
    pub change_type: NotifiedChange,
    /// Names of the fields that changed; null if unknown.
    pub changed_fields: Option<Vec<String>>,
    /// The version after the change.
    pub etag: Option<String>,
    /// The side that made the change.
    pub origin: Origin,
    /// Null in thin mode, on a delete, and where the body would be above 256 KiB.
    pub resource: Option<Value>,
    /// `resource` is left out because it is too big.
    pub truncated: bool,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum NotifiedChange {
    /// The resource is new.
    #[default]
    Created,
    /// The resource was changed.
    Updated,
    /// The resource was deleted.
    Deleted,
    /// A change of state, such as a connection that must be authorized again.
    State,
}

/// The side that made the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// The provider, or the user there.
    #[default]
    Provider,
    /// A caller of the API.
    Api,
    /// This service.
    System,
    /// The record was found by a first scan or a reset: it is not new.
    Backfill,
}

/// One notification on its way to one subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Delivery {
    /// The delivery's id.
    pub id: String,
    /// The id of the event.
    pub event_id: String,
    /// The id of the subscription.
    pub webhook_id: String,
    /// The `sequence` of the event.
    pub sequence: i64,
    /// The replay that it belongs to; null for the first delivery of an event.
    pub replay_id: Option<String>,
    /// The state of the delivery.
    pub status: DeliveryStatus,
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
    /// The time of the next attempt; null: none.
    pub next_attempt_at: Option<Instant>,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DeliveryStatus {
    /// It waits for an attempt.
    #[default]
    Pending,
    /// The endpoint accepted it.
    Delivered,
    /// All attempts failed.
    Failed,
    /// It was given up without further attempts.
    Discarded,
}

/// An attempt to deliver a notification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Attempt {
    /// From 1.
    pub n: i64,
    /// The time of the attempt.
    pub at: Instant,
    /// The HTTP status of the answer, if there was one.
    pub status_code: Option<i64>,
    /// The kind of failure; null after a success.
    pub error: Option<AttemptError>,
    /// The time that the attempt took, ms.
    pub duration_ms: i64,
    /// At most 1 KiB.
    pub response_snippet: Option<String>,
}

/// The kind of a failed attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptError {
    /// The host name has no address.
    Dns,
    /// The TLS handshake failed.
    Tls,
    /// No connection, or it broke.
    Connect,
    /// No answer in time.
    Timeout,
    /// A redirect, which is not followed.
    Redirect,
    /// A private or otherwise refused address.
    BlockedAddress,
    /// An answer that is not 2xx.
    #[default]
    Http,
}
