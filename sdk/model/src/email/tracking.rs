//! TrackingRecord: opens, clicks, replies, bounces and complaints of a sent message.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// Opens, clicks, replies, bounces and complaints of one message. `human` counts the hits of people, without those of machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingRecord {
    /// The message's `tracking.trackingId`.
    pub id: String,
    pub message_id: Option<String>,
    pub connection_id: String,
    pub thread_id: Option<String>,
    pub label: Option<String>,
    pub created_at: Instant,
    pub expires_at: Option<Instant>,
    pub opens: OpenCount,
    pub links: Vec<LinkCount>,
    pub replies: ReplyCount,
    pub bounces: Vec<Bounce>,
    pub complaints: Vec<Complaint>,
    /// Newest first, at most 100.
    pub events: Vec<TrackingEvent>,
}

/// An open within 60 seconds of the one before is not counted again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OpenCount {
    pub enabled: bool,
    pub total: i64,
    pub human: i64,
    pub first_at: Option<Instant>,
    pub last_at: Option<Instant>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LinkCount {
    /// Position in the HTML, from 0.
    pub index: i64,
    pub url: String,
    pub total: i64,
    pub human: i64,
    pub first_at: Option<Instant>,
    pub last_at: Option<Instant>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReplyCount {
    pub enabled: bool,
    pub count: i64,
    pub message_ids: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Bounce {
    pub recipient: String,
    pub kind: BounceKind,
    /// RFC 3463, such as `5.1.1`.
    pub enhanced_status: Option<String>,
    /// The other server's answer.
    pub diagnostic: Option<String>,
    pub at: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceKind {
    #[default]
    Hard,
    Soft,
}

/// A recipient reported the message as spam (RFC 5965).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Complaint {
    pub recipient: Option<String>,
    pub feedback_type: Option<String>,
    pub at: Instant,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingEvent {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: TrackingKind,
    pub at: Instant,
    pub link_index: Option<i64>,
    pub url: Option<String>,
    /// Cut to a /24 or /48 network.
    pub ip: Option<String>,
    pub user_agent: Option<String>,
    pub classification: Classification,
    /// The reason why the hit does not count as a person's.
    pub reason: Option<ClassificationReason>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TrackingKind {
    #[default]
    Open,
    Click,
    Reply,
    Bounce,
    Complaint,
    Unsubscribe,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Classification {
    Human,
    Proxy,
    Bot,
    #[default]
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassificationReason {
    #[default]
    AppleMpp,
    HeadRequest,
    ScannerUa,
    #[serde(rename = "within_2s_of_send")]
    Within2sOfSend,
    AllLinksBurst,
    SenderSelf,
}
