//! WebhookSubscription: an endpoint of a customer, with its options and state.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing};

pub use crate::notification::{Notification, NotificationData, NotifiedChange, Origin};
pub use crate::webhook_delivery::{Attempt, AttemptError, Delivery, DeliveryStatus};
pub use crate::webhook_replay::{NewWebhookReplay, ReplayFailure, ReplayStatus, WebhookReplay};

/// A webhook: an endpoint of yours, and the notifications that are sent to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookSubscription {
    /// The https URL to which notifications are sent, at most 2,048 characters, on a public address and without credentials.
    #[cfg_attr(feature = "schema", schemars(with = "formats::WebUrl"))]
    pub url: String,
    /// The event types to send, 1 to 100: exact names such as `calendar.event.created`, families such as `calendar.*`, or `*`. Each
    /// needs the scope that reads its resource; `*` covers everything that the API key may read.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::webhook::MAX_EVENT_TYPES), inner(regex(pattern = r"^(\*|[a-z_]+(\.[a-z_]+)*(\.\*)?)$")), extend("uniqueItems" = true)))]
    pub event_types: Vec<String>,
    /// The only connections whose events are sent, at most 1,000. Empty: all that the API key may use.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::webhook::MAX_CONNECTIONS), extend("uniqueItems" = true)))]
    pub connection_ids: Vec<String>,
    /// Your own description of the webhook, at most 1,024 characters; null for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub description: Option<String>,
    /// The state of the webhook. You can set `active`, `paused` and `disabled`.
    pub status: WebhookStatus,
    /// The reason why the webhook is disabled; null in every other state.
    pub disabled_reason: Option<DisabledReason>,
    /// The id of the API key or access token that the webhook belongs to, and ends with: the one that created it, or last set `url` or
    /// `eventTypes`. Null if the webhook is older than this field.
    pub key_id: Option<String>,
    /// The content of notifications: with the resource or without it.
    pub payload_mode: PayloadMode,
    /// Whether a notification waits until earlier ones of the same resource are delivered or given up.
    pub ordered: bool,
    /// Whether records that are found by a first scan or a reset are sent as well.
    pub include_backfill: bool,
    /// The signatures of each delivery: `v1`, alone or with `v1a`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 2)))]
    pub signatures: Vec<SignatureVersion>,
    /// The secret of the `v1` signatures, `whsec_` and base64 of 24 to 64 bytes. If you set none, the service makes one. Only in the
    /// answers to a create and to a rotation; null in every other answer.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^whsec_[A-Za-z0-9+/]{32,86}={0,2}$")))]
    pub secret: Option<String>,
    /// The public key of the `v1a` signatures, `whpk_` and base64 of an Ed25519 key; null without `v1a`.
    pub public_key: Option<String>,
    /// Your own headers, sent with every delivery: at most 10, with 4,096 bytes of names and values together. You can set the values
    /// but not read them: answers show `********`, and sending that back keeps the stored value. Headers that the service sets itself
    /// are refused: `webhook-*`, `content-*`, `transfer-*`, `proxy-*`, `host`, `user-agent` and those of the connection.
    #[cfg_attr(feature = "schema", schemars(with = "formats::HeaderMap"))]
    pub headers: BTreeMap<String, String>,
    /// The most attempts that are started in a second, 1 to 1,000; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::webhook::MAX_PER_SECOND)))]
    pub max_per_second: Option<i64>,
    /// The most attempts that are under way at a time, 1 to 64.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::webhook::MAX_CONCURRENT)))]
    pub max_concurrent: i64,
    /// The time of the last successful attempt; null if there was none.
    pub last_success_at: Option<Instant>,
    /// The time of the last failed attempt; null if there was none.
    pub last_failure_at: Option<Instant>,
    /// The last failed attempt; null if there was none.
    pub last_failure: Option<DeliveryFailure>,
    /// The number of failed attempts since the last success.
    pub consecutive_failures: i64,
    /// The `sequence` up to which every notification was sent, or is not for this webhook.
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

/// Options of a patch: a new secret, which the service makes or you give as `secret`. The old one also signs until its grace period
/// ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookOptions {
    /// Whether the service makes a new secret.
    pub rotate_secret: bool,
    /// The seconds for which the old secret also signs, 0 to 604,800 (a week). With 0 all earlier secrets end at once, even if there is
    /// no new one.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::webhook::MAX_GRACE_S)))]
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
    /// Notifications are sent. A paused webhook continues where it stopped. A disabled one starts with new events; earlier ones need a
    /// replay.
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

/// The content of notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PayloadMode {
    /// Notifications have the resource.
    #[default]
    Full,
    /// Notifications have only the id of the resource: the receiver reads it.
    Thin,
}

/// A failed attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryFailure {
    /// The HTTP status of the answer; null if there was no answer.
    pub status: Option<i64>,
    /// The kind of failure.
    pub error: Option<AttemptError>,
    /// The time of the attempt.
    pub at: Option<Instant>,
}
