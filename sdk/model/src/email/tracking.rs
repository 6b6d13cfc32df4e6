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
    /// The id of the message.
    pub message_id: Option<String>,
    /// The connection's id.
    pub connection_id: String,
    /// The id of its thread.
    pub thread_id: Option<String>,
    /// The caller's own label, as in `tracking.label`.
    pub label: Option<String>,
    /// The time of creation.
    pub created_at: Instant,
    /// The end of tracking.
    pub expires_at: Option<Instant>,
    /// Opens.
    pub opens: OpenCount,
    /// Clicks, by link.
    pub links: Vec<LinkCount>,
    /// Replies.
    pub replies: ReplyCount,
    /// Bounces.
    pub bounces: Vec<Bounce>,
    /// Complaints.
    pub complaints: Vec<Complaint>,
    /// Newest first, at most 100.
    pub events: Vec<TrackingEvent>,
}

/// An open within 60 seconds of the one before is not counted again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OpenCount {
    /// Whether opens are tracked.
    pub enabled: bool,
    /// The number of all.
    pub total: i64,
    /// The number of those by people.
    pub human: i64,
    /// The time of the first one.
    pub first_at: Option<Instant>,
    /// The time of the last one.
    pub last_at: Option<Instant>,
}

/// The clicks on a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LinkCount {
    /// Position in the HTML, from 0.
    pub index: i64,
    /// The address that the link leads to.
    pub url: String,
    /// The number of all.
    pub total: i64,
    /// The number of those by people.
    pub human: i64,
    /// The time of the first one.
    pub first_at: Option<Instant>,
    /// The time of the last one.
    pub last_at: Option<Instant>,
}

/// The replies to a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReplyCount {
    /// Whether replies are tracked.
    pub enabled: bool,
    /// The number of replies.
    pub count: i64,
    /// Ids of the replies.
    pub message_ids: Vec<String>,
}

/// A report that a message did not arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Bounce {
    /// The recipient's address.
    pub recipient: String,
    /// Whether the failure is permanent.
    pub kind: BounceKind,
    /// RFC 3463, such as `5.1.1`.
    pub enhanced_status: Option<String>,
    /// The other server's answer.
    pub diagnostic: Option<String>,
    /// The time of the report.
    pub at: Instant,
}

/// Whether a failure of delivery is permanent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceKind {
    /// Permanent.
    #[default]
    Hard,
    /// Temporary.
    Soft,
}

/// A recipient reported the message as spam (RFC 5965).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Complaint {
    /// The recipient's address, if the report names it.
    pub recipient: Option<String>,
    /// The type of the complaint (RFC 5965 section 3.5): `abuse`.
    pub feedback_type: Option<String>,
    /// The time of the report.
    pub at: Instant,
}

/// An open, click, reply, bounce or complaint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingEvent {
    /// The id, opaque.
    pub id: String,
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: TrackingKind,
    /// The time.
    pub at: Instant,
    /// Clicks: the link's position in the HTML, from 0.
    pub link_index: Option<i64>,
    /// Clicks: the address that the link leads to.
    pub url: Option<String>,
    /// Cut to a /24 or /48 network.
    pub ip: Option<String>,
    /// The client's User-Agent header.
    pub user_agent: Option<String>,
    /// The kind of client.
    pub classification: Classification,
    /// The reason why the hit does not count as a person's.
    pub reason: Option<ClassificationReason>,
}

/// The kind of a tracking event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TrackingKind {
    /// The message was opened.
    #[default]
    Open,
    /// A link was clicked.
    Click,
    /// The message was answered.
    Reply,
    /// The message did not arrive.
    Bounce,
    /// The message was reported as spam.
    Complaint,
    /// The recipient unsubscribed.
    Unsubscribe,
}

/// The kind of client of an open or click.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Classification {
    /// A person.
    Human,
    /// A proxy that loads images for people.
    Proxy,
    /// A program, such as a scanner.
    Bot,
    /// Unknown.
    #[default]
    Unknown,
}

/// The reason why a hit does not count as a person's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassificationReason {
    /// Apple's Mail Privacy Protection loaded it.
    #[default]
    AppleMpp,
    /// The request was a HEAD.
    HeadRequest,
    /// The User-Agent is that of a scanner.
    ScannerUa,
    /// The hit came within two seconds of sending.
    #[serde(rename = "within_2s_of_send")]
    Within2sOfSend,
    /// All links were opened at once.
    AllLinksBurst,
    /// The sender opened it.
    SenderSelf,
}
