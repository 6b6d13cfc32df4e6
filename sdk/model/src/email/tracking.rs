//! TrackingRecord: opens, clicks, replies, bounces and complaints of a sent message.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// Opens, clicks, replies, bounces and complaints of one sent message. `human` counts hits that look like those of people, without known
/// proxies and scanners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingRecord {
    /// The id of the record: the message's `tracking.trackingId`.
    pub id: String,
    /// The id of the message.
    pub message_id: Option<String>,
    /// The id of the connection that sent the message.
    pub connection_id: String,
    /// The id of the message's thread; null if the message was deleted.
    pub thread_id: Option<String>,
    /// The text of your own in `tracking.label` of the message; null if it has none.
    pub label: Option<String>,
    /// The time at which the message was given to the service.
    pub created_at: Instant,
    /// The time after which hits are no longer counted, a year after `createdAt`. Links keep working.
    pub expires_at: Option<Instant>,
    /// The opens of the message.
    pub opens: OpenCount,
    /// The links in the HTML with their clicks, in the order of the HTML; empty if clicks are not tracked.
    pub links: Vec<LinkCount>,
    /// The replies to the message.
    pub replies: ReplyCount,
    /// The reports that the message did not reach a recipient, oldest first.
    pub bounces: Vec<Bounce>,
    /// The reports of the message as spam, oldest first.
    pub complaints: Vec<Complaint>,
    /// The latest events, newest first, at most 100.
    pub events: Vec<TrackingEvent>,
}

/// The opens of a message. An open within 60 seconds of the previous one by the same client is not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OpenCount {
    /// Whether opens are tracked.
    pub enabled: bool,
    /// The number of all opens.
    pub total: i64,
    /// The number of opens that look like those of people.
    pub human: i64,
    /// The time of the first open; null if there is none.
    pub first_at: Option<Instant>,
    /// The time of the last open; null if there is none.
    pub last_at: Option<Instant>,
}

/// The clicks on one link of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LinkCount {
    /// The position of the link in the HTML, from 0.
    pub index: i64,
    /// The address that the link leads to.
    pub url: String,
    /// The number of all clicks on the link.
    pub total: i64,
    /// The number of clicks that look like those of people.
    pub human: i64,
    /// The time of the first click; null if there is none.
    pub first_at: Option<Instant>,
    /// The time of the last click; null if there is none.
    pub last_at: Option<Instant>,
}

/// The replies to a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReplyCount {
    /// Whether replies are tracked.
    pub enabled: bool,
    /// The number of replies, automatic replies not counted.
    pub count: i64,
    /// The ids of the replies, oldest first.
    pub message_ids: Vec<String>,
}

/// A report that a message did not reach a recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Bounce {
    /// The address of the recipient.
    pub recipient: String,
    /// The kind of failure: permanent or temporary.
    pub kind: BounceKind,
    /// The status code of the mail server (RFC 3463), such as `5.1.1`; null if the report has none.
    pub enhanced_status: Option<String>,
    /// The reply of the recipient's mail server; null if the report has none.
    pub diagnostic: Option<String>,
    /// The time of the report.
    pub at: Instant,
}

/// The kind of a failed delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BounceKind {
    /// The failure is permanent, such as an address that does not exist.
    #[default]
    Hard,
    /// The failure is temporary, such as a full mailbox.
    Soft,
}

/// A report that a recipient marked a message as spam (RFC 5965).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Complaint {
    /// The address of the recipient; null if the report does not name it.
    pub recipient: Option<String>,
    /// The type of the complaint (RFC 5965 section 3.5), such as `abuse`; null if the report states none.
    pub feedback_type: Option<String>,
    /// The time of the report.
    pub at: Instant,
}

/// An open, click, reply, bounce or complaint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingEvent {
    /// The id of the event, opaque.
    pub id: String,
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: TrackingKind,
    /// The time of the event.
    pub at: Instant,
    /// The position of the clicked link in the HTML, from 0; null unless the event is a click.
    pub link_index: Option<i64>,
    /// The address that the clicked link leads to; null unless the event is a click.
    pub url: Option<String>,
    /// The network that the request came from, cut to /24 (IPv4) or /48 (IPv6); null unless the event is an open or a click.
    pub ip: Option<String>,
    /// The User-Agent header of the request; null unless the event is an open or a click.
    pub user_agent: Option<String>,
    /// The kind of client that caused the event.
    pub classification: Classification,
    /// The reason why the event does not count as a person's; null if it does, or if the client is unknown.
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
    /// A link in the message was clicked.
    Click,
    /// The message was answered.
    Reply,
    /// A report says that the message did not arrive.
    Bounce,
    /// A recipient reported the message as spam.
    Complaint,
    /// A recipient unsubscribed.
    Unsubscribe,
}

/// The kind of client that opened a message or followed a link. It is a guess: a hit counts as a person's unless something contradicts
/// that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Classification {
    /// A person.
    Human,
    /// A proxy that loads images whether or not a person reads the message.
    Proxy,
    /// A program, such as a mail gateway's scanner.
    Bot,
    /// A client that does not identify itself.
    #[default]
    Unknown,
}

/// The reason why an open or click does not count as a person's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassificationReason {
    /// Apple's Mail Privacy Protection loaded the image.
    #[default]
    AppleMpp,
    /// The request had the method HEAD.
    HeadRequest,
    /// The User-Agent header is that of a scanner.
    ScannerUa,
    /// The hit came within two seconds of sending.
    #[serde(rename = "within_2s_of_send")]
    Within2sOfSend,
    /// All links of the message were followed at once.
    AllLinksBurst,
    /// The sender opened the message.
    SenderSelf,
}
