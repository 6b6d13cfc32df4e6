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
    /// Mail.
    Email,
    /// Calendars.
    #[default]
    Calendar,
    /// Contacts.
    Contacts,
    /// Tasks.
    Tasks,
}

/// The sync state of a surface, or of one calendar or task list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncState {
    /// The connection's id.
    pub connection_id: String,
    /// The surface.
    pub surface: Surface,
    /// The calendar or task list; null where the surface is synced as a whole.
    pub scope_id: Option<String>,
    /// The state of the sync.
    pub status: SyncStatus,
    /// Goes up with every hard reset; cursors of an older one are refused.
    pub epoch: i64,
    /// The time at which syncing was started.
    pub started_at: Option<Instant>,
    /// The time of the last success.
    pub last_success_at: Option<Instant>,
    /// The time of the last attempt.
    pub last_attempt_at: Option<Instant>,
    /// Seconds since the copy was last known to be complete.
    pub lag_seconds: Option<i64>,
    /// The progress of the running scan.
    pub progress: SyncProgress,
    /// How far back the first scan goes; null for everything.
    pub backfill_since: Option<Instant>,
    /// The provider's push channel; null: none.
    pub watch: Option<Watch>,
    /// The reason why the provider sends no notifications, where this service has asked for them, or would if the operator had
    /// completed the provider's registration; changes are polled then.
    // Contract silent: a watch has no place for that. It is an additional field.
    pub watch_error: Option<SyncError>,
    /// The number of collections whose changes the provider notifies of; null for one calendar, task list or mailbox, for which `watch`
    /// is enough, for data that is not followed, and where the provider has no push.
    pub watch_coverage: Option<WatchCoverage>,
    /// Failures since the last success.
    pub consecutive_errors: i64,
    /// The last failure.
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
    /// A stable code of the error.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// Attempts at reading this version of the item.
    pub attempts: i64,
    /// The attempts are used up: the item is not read again until the provider has another version, the connector has another build, or
    /// the sync is reset.
    pub quarantined: bool,
    /// The time of the last attempt.
    pub at: Instant,
}

/// The state of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    /// It was not started.
    #[default]
    Idle,
    /// The first scan is running.
    Initial,
    /// Changes are being read.
    Syncing,
    /// The copy has all changes.
    CaughtUp,
    /// The provider asked us to wait.
    Throttled,
    /// The connection is not active.
    Blocked,
    /// The last attempt failed.
    Error,
}

/// The progress of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncProgress {
    /// Items that were read.
    pub seen: i64,
    /// Items that there may be; null if unknown.
    pub estimated: Option<i64>,
    /// A mailbox that is read for the first time is here from this time on; null before its first messages, and once all of it is here.
    pub covered_since: Option<Instant>,
}

/// The provider's push channel. A notification is only a hint: what changed is always read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Watch {
    /// The state of the channel.
    pub status: WatchStatus,
    /// The end of the channel, unless it is renewed.
    pub expires_at: Option<Instant>,
    /// The time of the last notification.
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

/// The state of a push channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum WatchStatus {
    /// The provider notifies of changes.
    Active,
    /// The channel ends soon and is being renewed.
    Expiring,
    /// Changes are polled until there is a channel again; of contacts also where not every book is watched.
    Expired,
    /// The provider has no push: changes are polled.
    #[default]
    Unsupported,
}

/// A failure of a sync.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncError {
    /// A stable code: branch on this.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The time of the failure.
    pub at: Instant,
    /// The time of the next attempt.
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
    /// The kind of reset; `soft` if absent.
    pub mode: ResetMode,
}

/// The kind of a reset.
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
    /// The changes, in order of `sequence`.
    pub data: Vec<Change>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
    /// The cursor for the next call.
    pub sync_cursor: String,
    /// The epoch of the sync; cursors of an older one are refused.
    pub epoch: i64,
    /// Whether there is a next page.
    pub has_more: bool,
    /// The state of the sync.
    pub sync_status: SyncStatus,
}

/// One change. Several changes of one resource since the cursor are one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Change {
    /// Strictly increasing within an application.
    pub sequence: i64,
    /// The kind of change.
    pub change_type: ChangeType,
    /// Such as `calendar_event`.
    pub resource_type: String,
    /// The id of the resource.
    pub resource_id: String,
    /// The time of the change.
    pub changed_at: Instant,
    /// The version after the change; null when deleted.
    pub etag: Option<String>,
    /// The resource as it is now; null when deleted, or with `include=none`.
    pub resource: Option<Value>,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ChangeType {
    /// The resource is new.
    #[default]
    Created,
    /// The resource was changed.
    Updated,
    /// The resource was deleted.
    Deleted,
}
