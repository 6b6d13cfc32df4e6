//! Sync: the state of a local copy, the feed of its changes, and the bodies of start and reset. The same for all four surfaces.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

/// Part of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Surface {
    Email,
    #[default]
    Calendar,
    Contacts,
    Tasks,
}

/// The sync state of a surface, or of one calendar or task list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncState {
    pub connection_id: String,
    pub surface: Surface,
    /// The calendar or task list; null where the surface is synced as a whole.
    pub scope_id: Option<String>,
    pub status: SyncStatus,
    /// Goes up with every hard reset; cursors of an older one are refused.
    pub epoch: i64,
    pub started_at: Option<Instant>,
    pub last_success_at: Option<Instant>,
    pub last_attempt_at: Option<Instant>,
    /// Seconds since the copy was last known to be complete.
    pub lag_seconds: Option<i64>,
    pub progress: SyncProgress,
    /// How far back the first scan goes; null for everything.
    pub backfill_since: Option<Instant>,
    pub watch: Option<Watch>,
    /// The reason why the provider sends no notifications, where this service has asked for them, or would if the operator had
    /// completed the provider's registration; changes are polled then.
    // Contract silent: a watch has no place for that. It is an additional field.
    pub watch_error: Option<SyncError>,
    /// The number of collections whose changes the provider notifies of; null for one calendar, task list or mailbox, for which `watch`
    /// is enough, for data that is not followed, and where the provider has no push.
    pub watch_coverage: Option<WatchCoverage>,
    pub consecutive_errors: i64,
    pub last_error: Option<SyncError>,
    /// How often the provider lost its cursor and everything was compared again.
    pub provider_resets: i64,
    /// Set while everything is read a second time: the last sync lacked so many items that none was deleted.
    // Contract silent: a status has no word for that. It is an additional field.
    pub second_reading: Option<SecondReading>,
    /// When the next scheduled pull is due; null where it is not followed, or is being read.
    pub next_attempt_at: Option<Instant>,
    /// The sequence of the last change in the log.
    pub latest_sequence: i64,
    /// The items that could not be read, newest first, at most 20. The rest of the copy is in step all the same.
    pub item_errors: Vec<SyncItemError>,
    /// How many there are.
    pub item_error_count: i64,
}

/// Everything is read a second time, because the provider's list was empty, or lacked more than half of 20 or more items or of the collections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SecondReading {
    /// Items that the last sync lacked. They are deleted if the second one lacks them too.
    pub missing: i64,
    /// Items of the copy before it.
    pub known: i64,
    /// The end of the last sync.
    pub since: Instant,
}

/// An item of the provider that could not be read: it is missing in the copy, and blocks no other item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncItemError {
    /// The provider's id of it.
    pub external_id: String,
    pub code: String,
    pub message: String,
    /// Attempts at reading this version of the item.
    pub attempts: i64,
    /// The attempts are used up: the item is not read again until the provider has another version, the connector has another build, or
    /// the sync is reset.
    pub quarantined: bool,
    /// The time of the last attempt.
    pub at: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    #[default]
    Idle,
    /// The first scan is running.
    Initial,
    Syncing,
    CaughtUp,
    /// The provider asked us to wait.
    Throttled,
    /// The connection is not active.
    Blocked,
    Error,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncProgress {
    pub seen: i64,
    pub estimated: Option<i64>,
    /// A mailbox that is read for the first time is here from this time on; null before its first messages, and once all of it is here.
    pub covered_since: Option<Instant>,
}

/// The provider's push channel. A notification is only a hint: what changed is always read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Watch {
    pub status: WatchStatus,
    pub expires_at: Option<Instant>,
    pub last_notification_at: Option<Instant>,
}

/// The coverage of push channels for a surface that is synced with all of its collections, such as contacts with their books. At most
/// the first 50 are watched; the others are polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchCoverage {
    /// Collections with a channel that is active or expiring.
    pub watched: i64,
    /// Collections that there are.
    pub total: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum WatchStatus {
    Active,
    Expiring,
    /// Changes are polled until there is a channel again; of contacts also where not every book is watched.
    Expired,
    /// The provider has no push: changes are polled.
    #[default]
    Unsupported,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncError {
    pub code: String,
    pub message: String,
    pub at: Instant,
    pub retry_at: Option<Instant>,
}

/// Body of a start. Starting what runs already changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncStart {
    /// Needed where the path names no resource of the connection.
    pub connection_id: Option<String>,
    /// How far back the first scan goes at the least; everything where it is absent. Calendars, contacts and tasks are read
    /// whole in any case: queries need complete copies.
    pub backfill_since: Option<Instant>,
    /// Email: keep bodies in the copy.
    pub include_bodies: bool,
}

/// Body of a reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncReset {
    /// Needed where the path names no resource of the connection.
    pub connection_id: Option<String>,
    pub mode: ResetMode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ResetMode {
    /// Everything is read and compared again: only real differences are reported, cursors stay valid.
    #[default]
    Soft,
    /// The copy is thrown away; cursors from before give 409 `sync_reset_required`.
    Hard,
}

/// A page of changes. `next_cursor` leads to the next page and is null when caught up; `sync_cursor` is always there: store it
/// and pass it as `cursor` next time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SyncChanges {
    pub data: Vec<Change>,
    pub next_cursor: Option<String>,
    pub sync_cursor: String,
    pub epoch: i64,
    pub has_more: bool,
    pub sync_status: SyncStatus,
}

/// One change. Several changes of one resource since the cursor are one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Change {
    /// Strictly increasing within an application.
    pub sequence: i64,
    pub change_type: ChangeType,
    /// Such as `calendar_event`.
    pub resource_type: String,
    pub resource_id: String,
    pub changed_at: Instant,
    pub etag: Option<String>,
    /// The resource as it is now; null when deleted, or with `include=none`.
    pub resource: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ChangeType {
    #[default]
    Created,
    Updated,
    Deleted,
}
