//! Capabilities: what one connection can do, which depends on the provider, the account and the scopes that were granted.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;

/// The capabilities of a connection. Those of the mailbox are at the top level, those of the other surfaces under `calendar`, `contacts`
/// and `tasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Capabilities {
    /// The id of the connection.
    pub connection_id: String,
    /// The name of the provider, as in the connection.
    pub provider: String,
    /// The version of the connector that the connection uses.
    pub connector_version: String,
    /// The time at which the capabilities were determined.
    pub evaluated_at: Instant,
    /// The mailbox operations that are possible now.
    pub operations: EmailOperations,
    /// The features of the mailbox.
    pub features: EmailFeatures,
    /// The limits of the mailbox.
    pub limits: EmailLimits,
    /// The addresses that the account can send as.
    pub aliases: Vec<Alias>,
    /// The mailbox operations that are not possible, each with the reason.
    pub missing: Vec<MissingOperation>,
    /// The capabilities of the account's calendars; null if it has none.
    pub calendar: Option<SurfaceCapabilities>,
    /// The capabilities of the account's contacts; null if it has none.
    pub contacts: Option<SurfaceCapabilities>,
    /// The capabilities of the account's tasks; null if it has none.
    pub tasks: Option<SurfaceCapabilities>,
}

/// The mailbox operations of a connection. True: the provider has the operation, the needed scope is granted, and the connection is active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailOperations {
    /// Whether messages can be read.
    pub read: bool,
    /// Whether messages can be searched.
    pub search: bool,
    /// Whether the message list takes `native_query`, a search in the provider's own query language.
    pub native_search: bool,
    /// Whether `unread`, `starred` and the other flags of a message can be changed.
    pub modify_flags: bool,
    /// Whether messages can be moved to other folders.
    #[serde(rename = "move")]
    pub move_message: bool,
    /// Whether messages can be moved to the trash.
    pub delete: bool,
    /// Whether messages can be deleted for good.
    pub permanent_delete: bool,
    /// Whether drafts can be created.
    pub create_draft: bool,
    /// Whether drafts can be sent.
    pub send_draft: bool,
    /// Whether messages can be sent.
    pub send: bool,
    /// Whether messages can be sent at a later time.
    pub schedule_send: bool,
    /// Whether scheduled messages can be cancelled.
    pub cancel_scheduled: bool,
    /// Whether messages can be put into a folder without being sent.
    pub append_message: bool,
}

/// The features of a connection's mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailFeatures {
    /// Whether the mailbox has folders.
    pub folders: bool,
    /// Whether the mailbox has labels.
    pub labels: bool,
    /// Whether a message can be in several folders.
    pub multi_folder: bool,
    /// The side that groups messages into threads.
    pub threads: ThreadSource,
    /// Whether keywords of any name can be set.
    pub keywords: bool,
    /// Whether the importance of a message can be changed.
    pub importance: bool,
    /// Whether messages can be read and appended as RFC 5322 text.
    pub raw_mime: bool,
    /// Whether messages can be sent from the addresses in `aliases`.
    pub send_as_alias: bool,
    /// Whether messages can be sent on behalf of another mailbox.
    pub delegated_send: bool,
    /// Whether opens of sent messages can be tracked.
    pub open_tracking: bool,
    /// Whether clicks on links in sent messages can be tracked.
    pub link_tracking: bool,
    /// The way in which bounces are detected.
    pub bounce_detection: BounceDetection,
    /// Whether read receipts can be requested.
    pub read_receipts: bool,
    /// Whether the provider notifies the service of changes.
    pub push: bool,
    /// The way in which the service finds changes.
    pub delta: EmailDelta,
}

/// The side that groups messages into threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ThreadSource {
    /// The provider groups messages.
    Server,
    /// The service groups messages, by their header fields.
    #[default]
    Computed,
}

/// The way in which bounces are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceDetection {
    /// The service reads delivery reports (RFC 3464) in the mailbox.
    Dsn,
    /// The provider reports bounces.
    Provider,
    /// Bounces are not detected.
    #[default]
    None,
}

/// The way in which the service finds changes in a mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EmailDelta {
    /// A history that the provider keeps.
    History,
    /// A delta token of the provider.
    DeltaToken,
    /// IMAP UIDs and mod-sequences.
    Uid,
    /// A comparison of all messages.
    #[default]
    Scan,
}

/// The limits of a connection's mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailLimits {
    /// The largest message that can be sent, in bytes; null if the provider names no limit. Attachments are a third larger in a message than
    /// their files.
    pub max_message_bytes: Option<i64>,
    /// The largest size of all attachments of a message together, in bytes; null if the account has no mailbox.
    pub max_attachment_bytes: Option<i64>,
    /// The most recipients of a message; null if the account has no mailbox.
    pub max_recipients: Option<i64>,
    /// The most messages that can be sent in a day; null if the provider names no limit.
    pub max_send_per_day: Option<i64>,
    /// The most messages on a page of a list; null if the account has no mailbox.
    pub page_size: Option<i64>,
}

/// An address that the account can send as.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Alias {
    /// The email address.
    pub email: String,
    /// The display name that goes with the address; null if it has none.
    pub name: Option<String>,
    /// Whether messages are sent from this address by default.
    pub is_default: bool,
}

/// An operation that is not possible, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MissingOperation {
    /// The name of the operation, as in `operations`.
    pub operation: String,
    /// The reason why the operation is not possible.
    pub reason: MissingReason,
    /// The scopes that the operation needs.
    pub required_scopes: Vec<String>,
}

/// The reason why an operation is not possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// The account has not granted the needed scope.
    ScopeNotGranted,
    /// The provider does not offer the operation.
    #[default]
    ProviderUnsupported,
    /// An administrator forbids the operation.
    AdminPolicy,
    /// The connection is not active.
    ConnectionNotActive,
}

/// The capabilities of the calendars, contacts or tasks of a connection. The names depend on the surface: look up the ones that you know
/// and ignore the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceCapabilities {
    /// The operations by name. True: the provider has the operation, the needed scope is granted, and the connection is active.
    pub operations: BTreeMap<String, bool>,
    /// The features by name. A value is a boolean, a word or a list of words.
    pub features: BTreeMap<String, Value>,
    /// The limits by name; null if no limit is known.
    pub limits: BTreeMap<String, Option<i64>>,
    /// The operations that are not possible, each with the reason.
    pub missing: Vec<MissingOperation>,
}
