//! Parses a connector's folders, labels and messages and prepares them for storing. References still use the provider's names:
//! `differences` replaces them by our ids.

use model::email::draft::DraftStatus;
use model::email::folders::{Folder, Label};
use model::email::{EmailAddress, EmailMessage};
use model::wire::Item;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::mail::source_names::flags;
use crate::local_copy::record::{NormalizedContent, NormalizedItem};
use crate::local_copy::search_text::searchable;

/// Fields of a message that can change after it was received.
const CHANGEABLE: [&str; 9] = [
    "unread",
    "starred",
    "answered",
    "forwarded",
    "draft",
    "keywords",
    "importance",
    "folderIds",
    "labelIds",
];
/// Most addresses and references of each kind that one message keeps.
const MAX_ADDRESSES: usize = 1_000;
/// Most attachments that one message lists.
const ATTACHMENTS: usize = 1_000;

/// The side data of a message, folder or label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageSideData {
    /// The hint that the connector wants back when the message is read again.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
    /// Ids of its attachments, with the connector's names.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(String, String)>,
    /// The numbers of all and of unread messages in a folder or a label, as the provider counts them.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<(Option<i64>, Option<i64>)>,
    /// The hash of a message that was last reported completely: the same report again needs no comparison.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl MessageSideData {
    /// Parses an item's side data; empty if they cannot be read.
    pub fn from_text(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    pub fn text(&self) -> Option<String> {
        if *self == MessageSideData::default() {
            return None;
        }
        serde_json::to_string(self).ok()
    }
}

/// Normalizes one item of a record. The error says what does not fit the model.
pub fn prepared(kind: ResourceKind, item: Item) -> Result<NormalizedItem, String> {
    let mut prepared = NormalizedItem {
        kind,
        external_id: item.external_id,
        uid: None,
        series_external_id: None,
        hash: String::new(),
        provider_data: item.provider_data.filter(|d| !d.is_null()).map(|d| d.to_string()),
        content: NormalizedContent::default(),
        fingerprint: item.fingerprint,
        aside: None,
        partial: None,
    };
    let mut aside = MessageSideData { hint: item.hint, ..MessageSideData::default() };
    let mut is_whole = false;
    let body = &item.body;
    let wrong = |e: serde_json::Error| e.to_string();
    match kind {
        ResourceKind::EmailFolder => {
            let mut folder: Folder = body.read().map_err(wrong)?;
            aside.counts = Some((folder.total_count.take(), folder.unread_count.take()));
            prepared.content.sort_at = folder.sort_order;
            prepared.content.body = serde_json::to_string(&folder).map_err(wrong)?;
        }
        ResourceKind::EmailLabel => {
            let mut label: Label = body.read().map_err(wrong)?;
            aside.counts = Some((label.total_count.take(), label.unread_count.take()));
            prepared.content.body = serde_json::to_string(&label).map_err(wrong)?;
        }
        _ if item.partial => {
            let mut fields: Map<String, Value> = body.read().map_err(wrong)?;
            fields.retain(|name, _| CHANGEABLE.contains(&name.as_str()));
            // Either these fields fit a message, or they never will.
            serde_json::from_value::<EmailMessage>(with_time(&fields)).map_err(wrong)?;
            prepared.partial = Some(fields);
        }
        _ => {
            let mut message: EmailMessage = body.read().map_err(wrong)?;
            // Only the host sets these.
            (message.tracking, message.delivery) = (None, None);
            prepared.uid = message.internet_message_id.clone();
            prepared.content = content(message).map_err(wrong)?;
            is_whole = true;
        }
    }
    prepared.hash = hash(&prepared.content.body);
    aside.told = is_whole.then(|| prepared.hash.clone());
    prepared.aside = aside.text();
    Ok(prepared)
}

/// Returns these fields as a complete message.
fn with_time(fields: &Map<String, Value>) -> Value {
    let mut message = json!({ "receivedAt": "1970-01-01T00:00:00Z" });
    if let Some(object) = message.as_object_mut() {
        object.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    message
}

pub fn hash(body: &str) -> String {
    hex::encode(&Sha256::digest(body)[..16])
}

/// Returns the columns of a message.
pub fn content(mut message: EmailMessage) -> serde_json::Result<NormalizedContent> {
    tidy(&mut message);
    Ok(NormalizedContent {
        sort_at: message.received_at.as_millis(),
        is_open: message.unread,
        flags: flags(&message),
        search_text: search_text(&message),
        body: serde_json::to_string(&message)?,
        ..NormalizedContent::default()
    })
}

/// Fields of a message that only the host knows.
const OWN: [&str; 2] = ["tracking", "delivery"];
/// Further fields of a draft that only the host knows.
const OWN_OF_DRAFT: [&str; 6] =
    ["status", "sendAt", "replyToMessageId", "replyMode", "sentMessageId", "sendError"];

/// Returns a message's body with the host's fields as they were before. Drafts have fields of their own.
pub fn with_own(body: String, kind: ResourceKind, before: Option<&str>) -> serde_json::Result<String> {
    let is_draft = kind == ResourceKind::EmailDraft;
    // Most messages have none of them.
    let has_any = before.is_some_and(|b| OWN.iter().any(|f| !b.contains(&format!("\"{f}\":null"))));
    if !is_draft && !has_any {
        return Ok(body);
    }
    let mut fields: Map<String, Value> = serde_json::from_str(&body)?;
    let before: Map<String, Value> = before.map(serde_json::from_str).transpose()?.unwrap_or_default();
    let of_draft = OWN_OF_DRAFT.iter().filter(|_| is_draft);
    for name in OWN.iter().chain(of_draft) {
        if let Some(value) = before.get(*name) {
            fields.insert((*name).to_owned(), value.clone());
        } else if *name == "status" {
            fields.insert((*name).to_owned(), json!(DraftStatus::Draft));
        } else if !fields.contains_key(*name) {
            fields.insert((*name).to_owned(), Value::Null);
        }
    }
    serde_json::to_string(&fields)
}

/// Returns the host's fields of a deleted message or draft: it may reappear under another name, and gets them back.
pub fn own_of(body: &str) -> serde_json::Result<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(body)?;
    fields.retain(|name, _| OWN.contains(&name.as_str()) || OWN_OF_DRAFT.contains(&name.as_str()));
    serde_json::to_string(&fields)
}

/// Truncates lists to their limits, and removes the parts that are read on demand.
fn tidy(message: &mut EmailMessage) {
    message.body = None;
    message.headers = Vec::new();
    message.snippet = ::mail::text::snippet(Some(&message.snippet), None);
    for people in
        [&mut message.from, &mut message.to, &mut message.cc, &mut message.bcc, &mut message.reply_to]
    {
        people.truncate(MAX_ADDRESSES);
    }
    message.in_reply_to.truncate(MAX_ADDRESSES);
    message.references.truncate(MAX_ADDRESSES);
    message.attachments.truncate(ATTACHMENTS);
    message.keywords.iter_mut().for_each(|k| *k = k.to_lowercase());
    message.keywords.sort();
    message.keywords.dedup();
}

/// Returns the text that lists search: names and addresses, subject, snippet, file names.
fn search_text(message: &EmailMessage) -> String {
    let people = [&message.from, &message.to, &message.cc, &message.bcc, &message.reply_to];
    let of = |a: &EmailAddress| [a.name.clone(), Some(a.email.clone())];
    let names: Vec<Option<String>> = people.into_iter().flatten().flat_map(of).collect();
    let files = message.attachments.iter().map(|a| a.filename.as_deref());
    let texts = [message.subject.as_deref(), Some(message.snippet.as_str())];
    searchable(texts.into_iter().chain(names.iter().map(Option::as_deref)).chain(files))
}

/// Returns the id of an attachment, derived from its message's id and the connector's name, so that it need not be stored.
pub fn attachment_id(message_id: &str, part: &str) -> String {
    let digest = Sha256::digest(format!("{message_id}\n{part}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    format!("att_{}", ulid::Ulid::from_bytes(bytes))
}
