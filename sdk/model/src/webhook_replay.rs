//! Replays: events that are sent to a webhook once more.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

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
    /// The id of the subscription.
    pub webhook_id: String,
    /// The state of the replay.
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
    /// The time of creation.
    pub created_at: Instant,
    /// The time of the last change.
    pub updated_at: Instant,
}

/// The state of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReplayStatus {
    /// Events are being sent.
    #[default]
    Running,
    /// Each event has arrived or was given up.
    Completed,
    /// A caller cancelled it.
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
