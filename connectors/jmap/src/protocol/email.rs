//! A message as `Email/get` gives it (RFC 8621 section 4.1). io-jmap's `JmapEmail` has no room for single header fields
//! (`header:List-Unsubscribe`), neither of the message nor of a part, and one address without an address would fail the whole page.

use std::collections::BTreeMap;

use io_jmap::rfc8621::email::JmapEmailHeader;
use serde::Deserialize;
use serde_json::{Value, json};

/// The properties of a message in a list: all but its text.
pub const SUMMARY: [&str; 26] = [
    "id",
    "blobId",
    "threadId",
    "mailboxIds",
    "keywords",
    "size",
    "receivedAt",
    "messageId",
    "inReplyTo",
    "references",
    "sender",
    "from",
    "to",
    "cc",
    "bcc",
    "replyTo",
    "subject",
    "sentAt",
    "hasAttachment",
    "preview",
    "attachments",
    "header:List-Unsubscribe:asRaw",
    "header:Auto-Submitted:asText",
    "header:Importance:asText",
    "header:X-Priority:asText",
    "header:Priority:asText",
];

/// The properties of a message that can change.
pub const STATE: [&str; 3] = ["id", "keywords", "mailboxIds"];

/// Enough to name a message and to go on after it.
pub const NAME: [&str; 4] = ["id", "keywords", "mailboxIds", "receivedAt"];

/// The properties that are requested of a part.
const PART: [&str; 9] =
    ["partId", "blobId", "size", "name", "type", "charset", "disposition", "cid", "header:Content-Type"];

/// Arguments of `Email/get` for these properties; the ids are added by the caller.
pub fn get(properties: &[&str]) -> Value {
    let has_parts = properties.iter().any(|name| matches!(*name, "attachments" | "textBody" | "htmlBody"));
    match has_parts {
        true => json!({ "properties": properties, "bodyProperties": PART }),
        false => json!({ "properties": properties }),
    }
}

/// A message, or as much of it as was asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Email {
    pub id: String,
    pub blob_id: Option<String>,
    pub thread_id: Option<String>,
    pub mailbox_ids: Option<BTreeMap<String, bool>>,
    pub keywords: Option<BTreeMap<String, bool>>,
    pub size: Option<i64>,
    pub received_at: Option<String>,
    pub message_id: Option<Vec<String>>,
    pub in_reply_to: Option<Vec<String>>,
    pub references: Option<Vec<String>>,
    pub sender: Option<Vec<Address>>,
    pub from: Option<Vec<Address>>,
    pub to: Option<Vec<Address>>,
    pub cc: Option<Vec<Address>>,
    pub bcc: Option<Vec<Address>>,
    pub reply_to: Option<Vec<Address>>,
    pub subject: Option<String>,
    pub sent_at: Option<String>,
    pub has_attachment: Option<bool>,
    pub preview: Option<String>,
    pub attachments: Option<Vec<Part>>,
    pub text_body: Option<Vec<Part>>,
    pub html_body: Option<Vec<Part>>,
    pub body_values: Option<BTreeMap<String, BodyValue>>,
    pub headers: Option<Vec<JmapEmailHeader>>,
    #[serde(rename = "header:List-Unsubscribe:asRaw")]
    pub list_unsubscribe: Option<String>,
    #[serde(rename = "header:Auto-Submitted:asText")]
    pub auto_submitted: Option<String>,
    #[serde(rename = "header:Importance:asText")]
    pub importance: Option<String>,
    #[serde(rename = "header:X-Priority:asText")]
    pub x_priority: Option<String>,
    #[serde(rename = "header:Priority:asText")]
    pub priority: Option<String>,
}

/// RFC 8621 section 4.1.2.3.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Address {
    pub name: Option<String>,
    pub email: Option<String>,
}

/// RFC 8621 section 4.1.4.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Part {
    pub part_id: Option<String>,
    pub blob_id: Option<String>,
    /// Decoded octets.
    pub size: Option<i64>,
    /// Decoded (RFC 2231, RFC 2047) by the server.
    pub name: Option<String>,
    #[serde(rename = "type")]
    pub media_type: Option<String>,
    pub charset: Option<String>,
    pub disposition: Option<String>,
    pub cid: Option<String>,
    /// The whole field with its parameters, raw.
    #[serde(rename = "header:Content-Type")]
    pub content_type: Option<String>,
}

/// The text of a part. What went wrong with its encoding is left out here: the server has put replacement characters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BodyValue {
    pub value: String,
    pub is_truncated: bool,
}

impl Email {
    /// The mailboxes that it is in.
    pub fn mailboxes(&self) -> impl Iterator<Item = &str> {
        names(self.mailbox_ids.as_ref())
    }

    /// Its keywords.
    pub fn keywords(&self) -> impl Iterator<Item = &str> {
        names(self.keywords.as_ref())
    }
}

fn names(set: Option<&BTreeMap<String, bool>>) -> impl Iterator<Item = &str> {
    set.into_iter().flatten().filter(|(_, is_in)| **is_in).map(|(name, _)| name.as_str())
}
