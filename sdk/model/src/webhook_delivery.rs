//! Delivery: one notification on its way to one subscription, with its attempts.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// One notification on its way to one subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Delivery {
    /// The id of the delivery.
    pub id: String,
    /// The id of the event.
    pub event_id: String,
    /// The id of the webhook.
    pub webhook_id: String,
    /// The `sequence` of the event.
    pub sequence: i64,
    /// The id of the replay that the delivery belongs to; null for the first delivery of an event.
    pub replay_id: Option<String>,
    /// The state of the delivery.
    pub status: DeliveryStatus,
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
    /// The time of the next attempt; null if there will be none.
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
    /// The number of the attempt, from 1.
    pub n: i64,
    /// The time of the attempt.
    pub at: Instant,
    /// The HTTP status of the answer; null if there was no answer.
    pub status_code: Option<i64>,
    /// The kind of failure; null if the attempt succeeded.
    pub error: Option<AttemptError>,
    /// The duration of the attempt in milliseconds.
    pub duration_ms: i64,
    /// The beginning of the answer's body, at most 1 KiB; null if there was none.
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
