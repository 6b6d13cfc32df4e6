//! The resource `message` as Graph answers it.

use serde_json::{Map, Value, json};

use crate::graph::call::GraphCall;
use crate::graph::errors::GraphError;
use crate::graph::ids;
use crate::graph::mail::attachments::attachment_value;
use crate::graph::mail::bodies::{BodyForm, body_of};
use crate::graph::mail::content::MailAddress;
use crate::graph::mail::store::MessageItem;
use crate::graph::times::stamp;

/// Members that answers have without `$select`.
const USUAL: [&str; 29] = [
    "id",
    "createdDateTime",
    "lastModifiedDateTime",
    "changeKey",
    "categories",
    "receivedDateTime",
    "sentDateTime",
    "hasAttachments",
    "internetMessageId",
    "subject",
    "bodyPreview",
    "importance",
    "parentFolderId",
    "conversationId",
    "conversationIndex",
    "isDeliveryReceiptRequested",
    "isReadReceiptRequested",
    "isRead",
    "isDraft",
    "webLink",
    "inferenceClassification",
    "body",
    "sender",
    "from",
    "toRecipients",
    "ccRecipients",
    "bccRecipients",
    "replyTo",
    "flag",
];
/// Members that only `$select` brings.
const ON_DEMAND: [&str; 2] = ["internetMessageHeaders", "uniqueBody"];

/// The form of messages that a call asks for.
#[derive(Clone, Debug, Default)]
pub struct MessageView {
    body: BodyForm,
    /// The members of `$select`; none where all usual ones are wanted.
    selected: Option<Vec<String>>,
    /// The `$select` inside of `$expand=attachments(…)`.
    attachments: Option<Option<Vec<String>>>,
    /// Ids of extended properties.
    properties: Vec<String>,
}

/// The id of a conversation.
pub fn conversation_id(number: u64) -> String {
    ids::stable(&format!("conversation-{number}"))
}

impl MessageView {
    /// The view that a call asks for by its parameters and preferences.
    ///
    /// # Errors
    /// A parameter names a property that is none: 400.
    pub fn read(call: &GraphCall) -> Result<MessageView, GraphError> {
        let mut view = MessageView::with_select(call, call.parameter("$select"))?;
        for part in split_top(call.parameter("$expand").unwrap_or_default()) {
            let (name, inside) = match part.split_once('(') {
                Some((name, inside)) => (name, inside.strip_suffix(')').unwrap_or(inside)),
                None => (part.as_str(), ""),
            };
            match name {
                "attachments" => view.attachments = Some(attachment_select(inside.strip_prefix("$select="))?),
                "singleValueExtendedProperties" => view.properties = property_ids(inside),
                _ => return Err(unknown_property(name, "message")),
            }
        }
        Ok(view)
    }

    /// The view with the members of a `$select` and nothing expanded.
    ///
    /// # Errors
    /// It names a property that is none: 400.
    pub fn with_select(call: &GraphCall, select: Option<&str>) -> Result<MessageView, GraphError> {
        let selected: Option<Vec<String>> =
            select.map(|text| text.split(',').map(|name| name.trim().to_owned()).collect());
        let is_known = |name: &str| USUAL.iter().chain(&ON_DEMAND).any(|one| one.eq_ignore_ascii_case(name));
        if let Some(unknown) = selected.iter().flatten().find(|name| !is_known(name)) {
            return Err(unknown_property(unknown, "message"));
        }
        let body = BodyForm { is_text: call.prefer.text_bodies, is_unsafe: call.prefer.unsafe_html };
        Ok(MessageView { body, selected, attachments: None, properties: Vec::new() })
    }

    /// Whether answers have whole bodies in them.
    pub fn has_bodies(&self) -> bool {
        self.has("body")
    }

    fn has(&self, name: &str) -> bool {
        match &self.selected {
            Some(selected) => selected.iter().any(|one| one.eq_ignore_ascii_case(name)),
            None => !ON_DEMAND.contains(&name),
        }
    }

    /// A message in this view.
    pub fn value(&self, call: &GraphCall, item: &MessageItem) -> Value {
        let names = USUAL.iter().chain(&ON_DEMAND);
        let names = names.filter(|name| **name == "id" || self.has(name));
        let mut members = self.members(call, item, names.copied());
        if let Some(select) = &self.attachments {
            let all = item.content.attachments.iter();
            let all = all.map(|one| attachment_value(call, item, one, select.as_deref()));
            members.insert("attachments".to_owned(), all.collect());
        }
        let properties = self.properties.iter().filter_map(|id| property(item, id));
        let properties: Vec<Value> = properties.collect();
        if !properties.is_empty() {
            members.insert("singleValueExtendedProperties".to_owned(), properties.into());
        }
        Value::Object(members)
    }

    /// These members of a message alone, with its id and etag, as partial updates have them.
    pub fn partial_value(&self, call: &GraphCall, item: &MessageItem, names: &[&'static str]) -> Value {
        let names = names.iter().copied().filter(|name| self.has(name));
        Value::Object(self.members(call, item, ["id"].into_iter().chain(names)))
    }

    fn members<'n>(
        &self,
        call: &GraphCall,
        item: &MessageItem,
        names: impl Iterator<Item = &'n str>,
    ) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("@odata.etag".to_owned(), ids::etag(item.changed).into());
        for name in names {
            if let Some(value) = self.member(call, item, name) {
                members.insert(name.to_owned(), value);
            }
        }
        members
    }

    /// A member of a message; none where answers leave it out.
    fn member(&self, call: &GraphCall, item: &MessageItem, name: &str) -> Option<Value> {
        let content = &item.content;
        let id = || call.id_of(&item.key(), item.place);
        Some(match name {
            "id" => id().into(),
            "createdDateTime" => stamp(item.created_ms).into(),
            "lastModifiedDateTime" => stamp(item.modified_ms).into(),
            "changeKey" => ids::change_key(item.changed).into(),
            "categories" => item.categories.clone().into(),
            "receivedDateTime" => stamp(item.received_ms).into(),
            "sentDateTime" => stamp(content.sent_ms.unwrap_or(item.received_ms)).into(),
            "hasAttachments" => content.has_attachments().into(),
            "internetMessageId" => {
                return (!content.message_id.is_empty()).then(|| content.message_id.clone().into());
            }
            "subject" => content.subject.clone().into(),
            "bodyPreview" => content.preview().into(),
            "importance" => item.importance.clone().into(),
            "parentFolderId" => ids::stable(&item.folder).into(),
            "conversationId" => conversation_id(item.conversation).into(),
            "conversationIndex" => format!("AQHc{:016}", item.conversation).into(),
            "isDeliveryReceiptRequested" | "isReadReceiptRequested" => false.into(),
            "isRead" => item.is_read.into(),
            "isDraft" => item.is_draft.into(),
            "webLink" => {
                let path = "https://outlook.office365.com/owa/?exvsurl=1&viewmodel=ReadMessageItem&ItemID=";
                let id: String = url::form_urlencoded::byte_serialize(id().as_bytes()).collect();
                format!("{path}{id}").into()
            }
            "inferenceClassification" => "focused".into(),
            "body" | "uniqueBody" => {
                let kind = if self.body.is_text { "text" } else { "html" };
                json!({ "contentType": kind, "content": body_of(content, self.body) })
            }
            "sender" => content.sender.first().or_else(|| content.from.first())?.to_value(),
            "from" => content.from.first()?.to_value(),
            "toRecipients" => recipients(&content.to),
            "ccRecipients" => recipients(&content.cc),
            "bccRecipients" => recipients(&content.bcc),
            "replyTo" => recipients(&content.reply_to),
            "flag" => flag_value(item),
            "internetMessageHeaders" => {
                let lines = content.headers.iter();
                lines.map(|line| json!({ "name": line.name, "value": line.value })).collect()
            }
            _ => return None,
        })
    }
}

fn flag_value(item: &MessageItem) -> Value {
    let mut flag = json!({ "flagStatus": item.flag });
    if item.flag == "complete" {
        let day = stamp(item.modified_ms - item.modified_ms.rem_euclid(86_400_000));
        let day = day.replace('Z', ".0000000");
        flag["completedDateTime"] = json!({ "dateTime": day, "timeZone": "UTC" });
    }
    flag
}

fn recipients(all: &[MailAddress]) -> Value {
    all.iter().map(MailAddress::to_value).collect()
}

/// The error of a property that a resource has not.
pub fn unknown_property(name: &str, kind: &str) -> GraphError {
    let message = format!(
        "Parsing OData Select and Expand failed: Could not find a property named '{name}' on type 'microsoft.graph.{kind}'."
    );
    GraphError::new(400, "RequestBroker--ParseUri", &message)
}

/// Reads the `$select` of attachments. `contentId` and others are of fileAttachment and need the cast.
///
/// # Errors
/// A name is not of the type attachment: 400.
pub fn attachment_select(select: Option<&str>) -> Result<Option<Vec<String>>, GraphError> {
    let Some(select) = select else { return Ok(None) };
    let mut names = Vec::new();
    for name in select.split(',').map(str::trim) {
        let plain = match name.strip_prefix("microsoft.graph.fileAttachment/") {
            Some(name) if ["contentId", "contentBytes", "contentLocation"].contains(&name) => name,
            None if ["id", "name", "contentType", "size", "isInline", "lastModifiedDateTime"]
                .contains(&name) =>
            {
                name
            }
            _ => return Err(unknown_property(name, "attachment")),
        };
        names.push(plain.to_owned());
    }
    Ok(Some(names))
}

/// The parts of a list that commas outside of brackets and quotes separate.
fn split_top(text: &str) -> Vec<String> {
    let (mut depth, mut is_quoted) = (0_i32, false);
    let parts = text.split(|c: char| {
        is_quoted ^= c == '\'';
        match c {
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0 && !is_quoted
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The ids in `$filter=id eq 'Integer 0x0E08' or id eq '…'`.
pub fn property_ids(inside: &str) -> Vec<String> {
    inside.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An extended property of a message. Answers write its tag in lower case and without zeros before it.
fn property(item: &MessageItem, id: &str) -> Option<Value> {
    let (kind, tag) = id.split_once(' ')?;
    let tag = u32::from_str_radix(tag.strip_prefix("0x").or_else(|| tag.strip_prefix("0X"))?, 16).ok()?;
    let value = match tag {
        0x0e08 => item.raw.len().to_string(),
        0x1080 => item.icon?.to_string(),
        0x0e07 => (u8::from(item.is_read) + 8 * u8::from(item.is_draft)).to_string(),
        0x0e06 => stamp(item.received_ms),
        0x1042 => item.content.header("in-reply-to")?.to_owned(),
        0x1039 => item.content.header("references")?.to_owned(),
        _ => return None,
    };
    Some(json!({ "id": format!("{kind} 0x{tag:x}"), "value": value }))
}

#[cfg(test)]
mod tests {
    use super::{attachment_select, property_ids, split_top};

    #[test]
    fn expansions_are_split_outside_of_their_brackets() {
        let text = "attachments($select=id,name),singleValueExtendedProperties($filter=id eq 'Integer 0x1080' or id eq 'x,y')";
        let parts = split_top(text);
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert_eq!(property_ids(&parts[1]), ["Integer 0x1080", "x,y"]);
    }

    #[test]
    fn content_id_needs_the_cast() {
        let selected =
            attachment_select(Some("id, microsoft.graph.fileAttachment/contentId")).expect("known");
        assert_eq!(selected.expect("some"), ["id", "contentId"]);
        let error = attachment_select(Some("id,contentId")).expect_err("no cast");
        assert_eq!((error.status, error.code.as_str()), (400, "RequestBroker--ParseUri"));
    }
}
