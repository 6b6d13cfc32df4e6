//! Sync of all four surfaces: the state of a local copy, the feed of its changes, and the bodies of start and reset.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
#[cfg(feature = "schema")]
use crate::formats;

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
    /// The id of the connection.
    pub connection_id: String,
    /// The part of the account.
    pub surface: Surface,
    /// The id of the calendar or task list; null if the surface is synced as a whole.
    pub scope_id: Option<String>,
    /// The state of the sync.
    pub status: SyncStatus,
    /// The generation of the local copy, which goes up with every hard reset. Cursors of an older one are refused.
    pub epoch: i64,
    /// The time at which syncing was started; null if it was not.
    pub started_at: Option<Instant>,
    /// The time of the last success; null if there was none.
    pub last_success_at: Option<Instant>,
    /// The time of the last attempt; null if there was none.
    pub last_attempt_at: Option<Instant>,
    /// The seconds since the copy was last known to be complete; null if it never was.
    pub lag_seconds: Option<i64>,
    /// The progress of the running scan.
    pub progress: SyncProgress,
    /// The time back to which the first scan goes; null for everything.
    pub backfill_since: Option<Instant>,
    /// The provider's push channel; null if there is none.
    pub watch: Option<Watch>,
    /// The reason why the provider sends no notifications, if this service asked for them, or would ask if the operator completed the
    /// registration at the provider. Changes are polled then. Null if there is no such reason.
    // Contract silent: `watch` has no field for the reason. This is an additional field.
    pub watch_error: Option<SyncError>,
    /// The number of collections whose changes the provider notifies of. Null for one calendar, task list or mailbox, for which `watch`
    /// is enough, for data that is not synced, and if the provider has no push.
    pub watch_coverage: Option<WatchCoverage>,
    /// The number of failures since the last success.
    pub consecutive_errors: i64,
    /// The last failure; null if there was none since the last success.
    pub last_error: Option<SyncError>,
    /// The number of times that the provider lost its cursor and everything was compared again.
    pub provider_resets: i64,
    /// Set while everything is read a second time, because the last sync lacked so many items that none was deleted; null otherwise.
    // Contract silent: `status` has no value for this state. This is an additional field.
    pub second_reading: Option<SecondReading>,
    /// The time at which the next scheduled pull is due; null if it is not synced, or is being read.
    pub next_attempt_at: Option<Instant>,
    /// The sequence of the last change in the log.
    pub latest_sequence: i64,
    /// The items that could not be read, newest first, at most 20. The rest of the copy is up to date.
    pub item_errors: Vec<SyncItemError>,
    /// The number of items that could not be read.
    pub item_error_count: i64,
}

/// A second reading of everything, because the provider's list was empty, or lacked more than half of 20 or more items or of the
/// collections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SecondReading {
    /// The number of items that the last sync lacked. They are deleted if the second reading lacks them as well.
    pub missing: i64,
    /// The number of items in the copy before it.
    pub known: i64,
    /// The end of the last sync.
    pub since: Instant,
}

/// An item of the provider that could not be read: it is missing in the copy, and blocks no other item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncItemError {
    /// The provider's id of the item.
    pub external_id: String,
    /// A stable code of the error, to branch on.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
    /// The number of attempts to read this version of the item.
    pub attempts: i64,
    /// Whether the attempts are used up: the item is not read again until the provider has another version, the connector has another
    /// build, or the sync is reset.
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
    /// The provider asked the service to wait.
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
    /// The number of items that were read.
    pub seen: i64,
    /// The estimated number of all items; null if it is unknown.
    pub estimated: Option<i64>,
    /// The time from which on a mailbox that is read for the first time is complete; null before its first messages, and once all of it
    /// was read.
    pub covered_since: Option<Instant>,
}

/// A provider's push channel. A notification is only a hint: changes are always read from the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Watch {
    /// The state of the channel.
    pub status: WatchStatus,
    /// The time at which the channel ends unless it is renewed; null if it has no end, or if there is none.
    pub expires_at: Option<Instant>,
    /// The time of the last notification; null if there was none.
    pub last_notification_at: Option<Instant>,
}

/// The coverage of push channels for a surface that is synced with all of its collections, such as contacts with their books. At most
/// the first 50 are watched; the others are polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WatchCoverage {
    /// The number of collections with a channel that is active or expiring.
    pub watched: i64,
    /// The number of all collections.
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
    /// A stable code of the error, to branch on.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
    /// The time of the failure.
    pub at: Instant,
    /// The time of the next attempt; null if none is planned.
    pub retry_at: Option<Instant>,
}

/// The body of a start of the sync of one calendar or task list. Starting a sync that is running changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncStart {
    /// The id of the connection. It is not needed, because the path names the calendar or task list.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub connection_id: Option<String>,
    /// The time back to which the first scan goes at least. Null: everything. Calendars, contacts and tasks are always read as a whole,
    /// because queries need complete copies.
    pub backfill_since: Option<Instant>,
    /// Whether the copy of a mailbox has the bodies of messages. Only for email.
    pub include_bodies: bool,
}

/// The body of a reset of the sync of one calendar or task list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncReset {
    /// The id of the connection. It is not needed, because the path names the calendar or task list.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub connection_id: Option<String>,
    /// The kind of reset. Absent: `soft`.
    pub mode: ResetMode,
}

/// The body of a start of the sync of a whole connection. Starting a sync that is running changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct ConnectionSyncStart {
    /// The id of the connection.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The time back to which the first scan goes at least. Null: everything. Contacts are always read as a whole, because queries need
    /// complete copies.
    pub backfill_since: Option<Instant>,
    /// Whether the copy of a mailbox has the bodies of messages. Only for email.
    pub include_bodies: bool,
}

/// The body of a reset of the sync of a whole connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct ConnectionSyncReset {
    /// The id of the connection.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The kind of reset. Absent: `soft`.
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

/// A page of changes. Store `sync_cursor`, and pass it as `cursor` next time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SyncChanges {
    /// The changes, in the order of `sequence`.
    pub data: Vec<Change>,
    /// The cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The cursor of the next call, on every page: it continues after this page.
    pub sync_cursor: String,
    /// The generation of the local copy. Cursors of an older one are refused.
    pub epoch: i64,
    /// Whether there is a next page.
    pub has_more: bool,
    /// The state of the sync.
    pub sync_status: SyncStatus,
}

/// One change. Several changes of one resource since the cursor are reported as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Change {
    /// The position of the change, which goes up strictly within an application.
    pub sequence: i64,
    /// The kind of change.
    pub change_type: ChangeType,
    /// The type of the resource, such as `calendar_event`.
    pub resource_type: String,
    /// The id of the resource.
    pub resource_id: String,
    /// The time of the change.
    pub changed_at: Instant,
    /// The version of the resource after the change; null if it was deleted.
    pub etag: Option<String>,
    /// The resource as it is now; null if it was deleted, or with `include=none`.
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
