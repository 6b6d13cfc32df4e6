//! Notification: an event, as webhooks and the event log show it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

/// An event, as webhooks receive it and the event log shows it. Its id is the same on every attempt and replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Notification {
    /// The id of the event, `ev_…`, which is also in the `webhook-id` header.
    pub id: String,
    /// The event type, such as `calendar.event.updated`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The time at which the event happened.
    pub timestamp: Instant,
    /// The position in the event log, which goes up strictly within an application. A receiver can drop notifications that are older
    /// than its newest one.
    pub sequence: i64,
    /// The version of the API: `v1`.
    pub api_version: String,
    /// The id of the application.
    pub application_id: String,
    /// The id of the connection; null for events of the application itself.
    pub connection_id: Option<String>,
    /// The change that the event is about.
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
    /// The id of the container of the resource, such as an event's calendar or a task's list; null if it has none.
    pub parent_id: Option<String>,
    /// The kind of change.
    pub change_type: NotifiedChange,
    /// The names of the fields that changed; null if they are unknown.
    pub changed_fields: Option<Vec<String>>,
    /// The version of the resource after the change; null if it was deleted, or has no version.
    pub etag: Option<String>,
    /// The side that made the change.
    pub origin: Origin,
    /// The resource after the change. Null if it was deleted, in thin mode, and if the notification would exceed 256 KiB.
    pub resource: Option<Value>,
    /// Whether `resource` was left out because it is too large.
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
