//! Replays: events that are sent to a webhook once more.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// A replay to start: events that are sent to a webhook once more, either those in `eventIds`, or those that happened from `from` on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["exactly one of eventIds and from", "to only with from", "to is after from"])))]
pub struct NewWebhookReplay {
    /// The ids of the events, `ev_…`, 1 to 1,000, each once. Exactly one of `eventIds` and `from` is required.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::webhook::MAX_REPLAYED), extend("uniqueItems" = true)))]
    pub event_ids: Vec<String>,
    /// The first `timestamp` of the events to send, not before the oldest event that is kept. Exactly one of `eventIds` and `from` is
    /// required.
    pub from: Option<Instant>,
    /// The `timestamp` before which the events happened. Only with `from`. Null: all up to the start of the replay.
    pub to: Option<Instant>,
    /// The only event types to send, at most 100: exact names, families such as `calendar.*`, or `*`. Empty: all event types of the
    /// webhook.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::webhook::MAX_EVENT_TYPES), inner(regex(pattern = r"^(\*|[a-z_]+(\.[a-z_]+)*(\.\*)?)$")), extend("uniqueItems" = true)))]
    pub event_types: Vec<String>,
    /// Whether to send only events whose delivery to the webhook was given up (`failed` or `discarded`), and that have not arrived
    /// since.
    pub only_failed: bool,
}

/// A replay: events that are sent to a webhook once more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookReplay {
    /// The id of the replay, `rpl_…`, which is also in the `webhook-replay` header of its deliveries.
    pub replay_id: String,
    /// The id of the webhook.
    pub webhook_id: String,
    /// The state of the replay.
    pub status: ReplayStatus,
    /// The reason why the replay failed; null in every other state.
    pub reason: Option<ReplayFailure>,
    /// The number of events of the replay: those that were found so far, and all of them once `counted` is true.
    pub event_count: i64,
    /// Whether all events of the replay were found. In a long range they are found while others are being sent.
    pub counted: bool,
    /// The number of events that have arrived.
    pub sent: i64,
    /// The number of events whose delivery was given up.
    pub failed: i64,
    /// The `from` of the request; null if it named events by their ids.
    pub from: Option<Instant>,
    /// The `to` of the request; null if it had none.
    pub to: Option<Instant>,
    /// The `eventTypes` of the request.
    pub event_types: Vec<String>,
    /// The `onlyFailed` of the request.
    pub only_failed: bool,
    /// The `from` with which a new replay continues where this one failed; null if no event is left, and in every other state. A few
    /// events around that time may be sent twice.
    pub continue_from: Option<Instant>,
    /// The id of the API key that started the replay.
    pub created_by: String,
    /// The time at which the replay was started.
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

/// The reason why a replay failed.
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
