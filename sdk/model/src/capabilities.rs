//! Capabilities: what one connection can do, which depends on the provider, the account and the scopes that were granted.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

/// The capabilities of a connection. The mailbox stands at the top, the other surfaces under their names in the same shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    /// The connection's id.
    pub connection_id: String,
    /// The provider's name.
    pub provider: String,
    /// The version of the connector.
    pub connector_version: String,
    /// The time at which this was found out.
    pub evaluated_at: Instant,
    /// Operations of the mailbox.
    pub operations: EmailOperations,
    /// Features of the mailbox.
    pub features: EmailFeatures,
    /// Limits of the mailbox.
    pub limits: EmailLimits,
    /// Addresses that the account can send as.
    pub aliases: Vec<Alias>,
    /// Why something is not possible, where the reason is known.
    pub missing: Vec<MissingOperation>,
    /// Null where the account has no calendars.
    pub calendar: Option<SurfaceCapabilities>,
    /// Null where the account has no contacts.
    pub contacts: Option<SurfaceCapabilities>,
    /// Null where the account has no tasks.
    pub tasks: Option<SurfaceCapabilities>,
}

/// The operations of a mailbox that are possible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailOperations {
    /// Reading messages.
    pub read: bool,
    /// Searching messages.
    pub search: bool,
    /// `native_query` of the message list.
    pub native_search: bool,
    /// Changing `unread`, `starred` and the like.
    pub modify_flags: bool,
    /// Moving messages to other folders.
    #[serde(rename = "move")]
    pub move_message: bool,
    /// Moving messages to the trash.
    pub delete: bool,
    /// Destroying messages.
    pub permanent_delete: bool,
    /// Creating drafts.
    pub create_draft: bool,
    /// Sending drafts.
    pub send_draft: bool,
    /// Sending messages.
    pub send: bool,
    /// Sending messages at a later time.
    pub schedule_send: bool,
    /// Cancelling messages that are scheduled.
    pub cancel_scheduled: bool,
    /// Putting messages into a folder without sending them.
    pub append_message: bool,
}

/// The features of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailFeatures {
    /// The mailbox has folders.
    pub folders: bool,
    /// The mailbox has labels.
    pub labels: bool,
    /// A message can be in several folders.
    pub multi_folder: bool,
    /// The side that groups messages into threads.
    pub threads: ThreadSource,
    /// Keywords of any name can be set.
    pub keywords: bool,
    /// The importance of a message can be changed.
    pub importance: bool,
    /// Messages can be read as RFC 5322 text.
    pub raw_mime: bool,
    /// Messages can be sent from `aliases`.
    pub send_as_alias: bool,
    /// Messages can be sent for another mailbox.
    pub delegated_send: bool,
    /// Opens can be tracked.
    pub open_tracking: bool,
    /// Clicks can be tracked.
    pub link_tracking: bool,
    /// The way in which bounces are found.
    pub bounce_detection: BounceDetection,
    /// Read receipts can be requested.
    pub read_receipts: bool,
    /// Whether the provider notifies of changes.
    pub push: bool,
    /// The way in which changes are found.
    pub delta: EmailDelta,
}

/// The side that groups messages into threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ThreadSource {
    /// The provider.
    Server,
    /// This service, by header fields.
    #[default]
    Computed,
}

/// The way in which bounces are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceDetection {
    /// RFC 3464 reports in the mailbox are read.
    Dsn,
    /// The provider reports them.
    Provider,
    /// Bounces are not found.
    #[default]
    None,
}

/// The way in which changes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EmailDelta {
    /// A history of the provider.
    History,
    /// A delta token of the provider.
    DeltaToken,
    /// IMAP UIDs and mod-sequences.
    Uid,
    /// Comparison of everything.
    #[default]
    Scan,
}

/// The limits of a mailbox; null: none known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailLimits {
    /// Bytes of a message to send.
    pub max_message_bytes: Option<i64>,
    /// Bytes of the attachments of a message together.
    pub max_attachment_bytes: Option<i64>,
    /// Recipients of a message.
    pub max_recipients: Option<i64>,
    /// Messages sent in a day.
    pub max_send_per_day: Option<i64>,
    /// Most messages on a page of a list.
    pub page_size: Option<i64>,
}

/// An address that the account can send as.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Alias {
    /// The email address.
    pub email: String,
    /// The name.
    pub name: Option<String>,
    /// Whether messages are sent from it by default.
    pub is_default: bool,
}

/// An operation that is not available, and the scopes that would help.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MissingOperation {
    /// The operation's name, as in `operations`.
    pub operation: String,
    /// The reason why it is not possible.
    pub reason: MissingReason,
    /// Scopes that would make it possible.
    pub required_scopes: Vec<String>,
}

/// The reason why an operation is not possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// A scope is missing.
    ScopeNotGranted,
    /// The provider has no such operation.
    #[default]
    ProviderUnsupported,
    /// An administrator forbids it.
    AdminPolicy,
    /// The connection is not active.
    ConnectionNotActive,
}

/// The capabilities of one surface other than the mailbox. The names depend on the surface: clients look up those that they know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceCapabilities {
    /// Operations by name: whether they are possible.
    pub operations: BTreeMap<String, bool>,
    /// Flags, or the name of the way in which it is done.
    pub features: BTreeMap<String, Value>,
    /// Limits by name; null: none known.
    pub limits: BTreeMap<String, Option<i64>>,
    /// Operations that are not possible, with the reason.
    pub missing: Vec<MissingOperation>,
}
