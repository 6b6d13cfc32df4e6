//! Attachments of messages: lists, single ones with their bytes, and those that clients add to drafts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::mail::compose::{compose, put_members};
use crate::graph::mail::content::{AttachmentKind, MailContent, StoredAttachment};
use crate::graph::mail::message_json::attachment_select;
use crate::graph::mail::messages::draft_alone;
use crate::graph::mail::store::{MailStore, MessageItem};
use crate::graph::mail::{find_message, store_mut, upload};
use crate::graph::state::GraphState;
use crate::graph::times::stamp;

/// An attachment of a message as it is answered; with its bytes unless `select` leaves them out.
pub fn attachment_value(
    call: &GraphCall,
    item: &MessageItem,
    one: &StoredAttachment,
    select: Option<&[String]>,
) -> Value {
    attachment_members(one, attachment_id(call, item, one.number), item.modified_ms, select)
}

/// An attachment with this id and time of change, as it is answered.
pub fn attachment_members(
    one: &StoredAttachment,
    id: String,
    modified_ms: i64,
    select: Option<&[String]>,
) -> Value {
    let kind = match one.kind {
        AttachmentKind::File => "fileAttachment",
        AttachmentKind::Item => "itemAttachment",
        AttachmentKind::Reference => "referenceAttachment",
    };
    let mut members = Map::new();
    members.insert("@odata.type".to_owned(), format!("#microsoft.graph.{kind}").into());
    let content_type = match one.kind {
        AttachmentKind::File => one.content_type.clone().into(),
        AttachmentKind::Item | AttachmentKind::Reference => Value::Null,
    };
    let mut usual = json!({
        "lastModifiedDateTime": stamp(modified_ms),
        "name": one.name,
        "contentType": content_type,
        "size": one.size(),
        "isInline": one.is_inline,
    });
    if one.kind == AttachmentKind::File {
        usual["contentId"] = one.content_id.clone().into();
        usual["contentLocation"] = one.content_location.clone().into();
        if select.is_none_or(|names| names.iter().any(|name| name == "contentBytes")) {
            usual["contentBytes"] = BASE64_STANDARD.encode(&one.bytes).into();
        }
    }
    members.insert("id".to_owned(), id.into());
    for (name, value) in usual.as_object().into_iter().flatten() {
        if select.is_none_or(|names| names.contains(name)) {
            members.insert(name.clone(), value.clone());
        }
    }
    Value::Object(members)
}

fn attachment_id(call: &GraphCall, item: &MessageItem, number: u64) -> String {
    call.id_of(&format!("attachment-{}-{number}", item.number), item.place)
}

/// Answers calls below `attachments` of a message.
pub fn answer(state: &mut GraphState, call: &GraphCall, message: u64, rest: &[&str]) -> GraphResult {
    let now = state.clock.now_ms();
    let store = store_mut(state, call)?;
    let item = find_message(store, message)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => list(call, item),
        ("POST", []) => {
            draft_alone(item)?;
            let number = next_number(item);
            let new = read_new(number, &call.body)?;
            add(store, message, new, now);
            let item = find_message(store, message)?;
            Ok(json_reply(201, &entity(call, item, number)?))
        }
        ("POST", ["createUploadSession"]) => upload::create(state, call, message),
        ("GET", [id]) => {
            let number = find(item, id)?.number;
            Ok(json_reply(200, &entity(call, item, number)?))
        }
        ("GET", [id, "$value"]) => {
            let one = find(item, id)?;
            if one.kind == AttachmentKind::Reference {
                let message = "The attachment is a reference and has no content.";
                return Err(GraphError::new(405, "ErrorInvalidRequest", message));
            }
            Ok(Reply::new(200).header("content-type", &one.content_type).body(one.bytes.clone()))
        }
        ("DELETE", [id]) => {
            draft_alone(item)?;
            let (number, mut content) = (find(item, id)?.number, item.content.clone());
            content.attachments.retain(|one| one.number != number);
            let raw = compose(&content);
            store.put_content(message, content, raw);
            store.record_update(message, vec!["hasAttachments"], now);
            Ok(Reply::new(204))
        }
        _ => Err(GraphError::no_route(rest.last().unwrap_or(&"attachments"))),
    }
}

fn list(call: &GraphCall, item: &MessageItem) -> GraphResult {
    let select = attachment_select(call.parameter("$select"))?;
    let all = item.content.attachments.iter();
    let all: Vec<Value> = all.map(|one| attachment_value(call, item, one, select.as_deref())).collect();
    let most = facts::number("mail_pages", "list_most");
    let (top, skip) = (call.top(all.len().max(1), most)?, call.skip()?);
    let mut page = json!({ "@odata.context": call.context("messages('id')/attachments") });
    if skip + top < all.len() {
        page["@odata.nextLink"] = call.next_link(skip + top).into();
    }
    page["value"] = all.into_iter().skip(skip).take(top).collect();
    Ok(json_reply(200, &page))
}

/// One attachment with its context, and with the message inside where `$expand` asks for it.
fn entity(call: &GraphCall, item: &MessageItem, number: u64) -> Result<Value, GraphError> {
    let select = attachment_select(call.parameter("$select"))?;
    let one =
        item.content.attachments.iter().find(|one| one.number == number).ok_or_else(GraphError::not_found)?;
    let mut value = attachment_value(call, item, one, select.as_deref());
    value["@odata.context"] = call.context("messages('id')/attachments/$entity").into();
    let expand = call.parameter("$expand").unwrap_or_default();
    if one.kind == AttachmentKind::Item && expand.starts_with("microsoft.graph.itemAttachment/item") {
        let inner = MailContent::parse(&one.bytes);
        value["item"] = json!({
            "@odata.type": "#microsoft.graph.message",
            "subject": inner.subject,
            "internetMessageId": inner.message_id,
            "body": { "contentType": "text", "content": inner.plain_text() },
        });
    }
    Ok(value)
}

/// The attachment of a message that an id names.
fn find<'i>(item: &'i MessageItem, id: &str) -> Result<&'i StoredAttachment, GraphError> {
    let id = ids::parse_item(id)?;
    let number =
        id.key.strip_prefix(&format!("attachment-{}-", item.number)).and_then(|text| text.parse().ok());
    let number: u64 = number.filter(|_| id.is_at(item.place)).ok_or_else(GraphError::not_found)?;
    item.content.attachments.iter().find(|one| one.number == number).ok_or_else(GraphError::not_found)
}

/// Adds an attachment to a draft.
pub fn add(store: &mut MailStore, message: u64, new: StoredAttachment, now_ms: i64) {
    let Some(item) = store.messages.get(&message) else { return };
    let mut content = item.content.clone();
    content.attachments.push(new);
    let raw = compose(&content);
    store.put_content(message, content, raw);
    store.record_update(message, vec!["hasAttachments"], now_ms);
}

/// The number that the next attachment of a message gets.
pub fn next_number(item: &MessageItem) -> u64 {
    item.content.attachments.iter().map(|one| one.number).max().unwrap_or(0) + 1
}

/// Reads an attachment of a request, which gets this number.
///
/// # Errors
/// Its kind is unknown, or its bytes are missing, wrong or too many: 400, 413.
pub fn read_new(number: u64, body: &Value) -> Result<StoredAttachment, GraphError> {
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    let mut new = StoredAttachment {
        number,
        kind: AttachmentKind::File,
        name: text("name").ok_or_else(|| invalid("Required property Name is missing."))?,
        content_type: text("contentType").unwrap_or_else(|| "application/octet-stream".to_owned()),
        content_id: text("contentId"),
        content_location: text("contentLocation"),
        is_inline: body["isInline"] == true,
        bytes: Vec::new(),
    };
    match body["@odata.type"].as_str().unwrap_or_default().trim_start_matches('#') {
        "microsoft.graph.fileAttachment" => {
            let bytes = body["contentBytes"].as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
            new.bytes = bytes.ok_or_else(|| invalid("ContentBytes are missing or no base64."))?;
        }
        "microsoft.graph.itemAttachment" if body["item"]["@odata.type"] == "#microsoft.graph.message" => {
            let mut inner = MailContent::default();
            put_members(&mut inner, &body["item"]);
            new.kind = AttachmentKind::Item;
            "message/rfc822".clone_into(&mut new.content_type);
            new.bytes = compose(&inner);
        }
        "microsoft.graph.referenceAttachment" => new.kind = AttachmentKind::Reference,
        kind => return Err(invalid(&format!("The fake takes no attachment of the type '{kind}'."))),
    }
    match new.bytes.len() >= facts::number("mail_limits", "attachment_bytes") {
        true => Err(GraphError::too_large()),
        false => Ok(new),
    }
}

fn invalid(message: &str) -> GraphError {
    GraphError::new(400, "ErrorInvalidRequest", message)
}
