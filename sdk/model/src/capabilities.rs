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
    pub connection_id: String,
    pub provider: String,
    pub connector_version: String,
    pub evaluated_at: Instant,
    pub operations: EmailOperations,
    pub features: EmailFeatures,
    pub limits: EmailLimits,
    pub aliases: Vec<Alias>,
    /// Why something is not possible, where the reason is known.
    pub missing: Vec<MissingOperation>,
    /// Null where the account has no calendars.
    pub calendar: Option<SurfaceCapabilities>,
    pub contacts: Option<SurfaceCapabilities>,
    pub tasks: Option<SurfaceCapabilities>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailOperations {
    pub read: bool,
    pub search: bool,
    /// `native_query` of the message list.
    pub native_search: bool,
    pub modify_flags: bool,
    #[serde(rename = "move")]
    pub move_message: bool,
    pub delete: bool,
    pub permanent_delete: bool,
    pub create_draft: bool,
    pub send_draft: bool,
    pub send: bool,
    pub schedule_send: bool,
    pub cancel_scheduled: bool,
    pub append_message: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailFeatures {
    pub folders: bool,
    pub labels: bool,
    /// A message can be in several folders.
    pub multi_folder: bool,
    pub threads: ThreadSource,
    pub keywords: bool,
    pub importance: bool,
    pub raw_mime: bool,
    pub send_as_alias: bool,
    pub delegated_send: bool,
    pub open_tracking: bool,
    pub link_tracking: bool,
    pub bounce_detection: BounceDetection,
    pub read_receipts: bool,
    pub push: bool,
    pub delta: EmailDelta,
}

/// The side that groups messages into threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ThreadSource {
    Server,
    #[default]
    Computed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceDetection {
    /// RFC 3464 reports in the mailbox are read.
    Dsn,
    Provider,
    #[default]
    None,
}

/// The way in which changes are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EmailDelta {
    History,
    DeltaToken,
    Uid,
    #[default]
    Scan,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailLimits {
    pub max_message_bytes: Option<i64>,
    pub max_attachment_bytes: Option<i64>,
    pub max_recipients: Option<i64>,
    pub max_send_per_day: Option<i64>,
    pub page_size: Option<i64>,
}

/// An address that the account can send as.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Alias {
    pub email: String,
    pub name: Option<String>,
    pub is_default: bool,
}

/// An operation that is not available, and the scopes that would help.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MissingOperation {
    pub operation: String,
    pub reason: MissingReason,
    pub required_scopes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    ScopeNotGranted,
    #[default]
    ProviderUnsupported,
    AdminPolicy,
    ConnectionNotActive,
}

/// The capabilities of one surface other than the mailbox. The names depend on the surface: clients look up those that they know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SurfaceCapabilities {
    pub operations: BTreeMap<String, bool>,
    /// Flags, or the name of the way in which it is done.
    pub features: BTreeMap<String, Value>,
    pub limits: BTreeMap<String, Option<i64>>,
    pub missing: Vec<MissingOperation>,
}
