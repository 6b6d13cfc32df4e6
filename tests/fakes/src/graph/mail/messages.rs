//! Calls on one message: reads, changes, moves, copies and deletions.

use serde_json::{Value, json};

use crate::door::{Delivery, Reply};
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::ids;
use crate::graph::mail::compose::{compose, put_members};
use crate::graph::mail::message_json::MessageView;
use crate::graph::mail::store::{MailStore, MessageItem};
use crate::graph::mail::tree::RECOVERABLE;
use crate::graph::mail::{
    action_parameter, attachments, delta, drafts, find_folder, find_message, lists, send, store_mut,
};
use crate::graph::state::GraphState;

/// Members that can be changed as long as the message is a draft.
const OF_DRAFTS: [&str; 10] = [
    "subject",
    "body",
    "toRecipients",
    "ccRecipients",
    "bccRecipients",
    "replyTo",
    "from",
    "sender",
    "internetMessageId",
    "internetMessageHeaders",
];
/// Members that can be changed at any time.
const OF_ALL: [&str; 4] = ["isRead", "flag", "categories", "importance"];
/// Members that the fake accepts, and whose change is in no delta.
const SILENT: [&str; 4] = [
    "inferenceClassification",
    "isReadReceiptRequested",
    "isDeliveryReceiptRequested",
    "singleValueExtendedProperties",
];

/// Answers a call below `messages`, of a folder where that is given.
pub fn answer(state: &mut GraphState, call: &GraphCall, folder: Option<&str>, rest: &[&str]) -> GraphResult {
    let method = call.method.as_str();
    let [id, below @ ..] = rest else {
        return match method {
            "GET" => lists::answer(state, call, folder),
            "POST" => drafts::create(state, call, folder),
            _ => Err(GraphError::no_route("messages")),
        };
    };
    match (method, *id) {
        ("GET", "delta") if below.is_empty() => return delta::messages(state, call, folder),
        ("GET", "$count") if below.is_empty() => return lists::count(state, call, folder),
        _ => {}
    }
    if method == "DELETE" && below.is_empty() {
        check_not_deleted(store_mut(state, call)?, id)?;
    }
    // By an id that stays, what lies among the recoverable items may be read.
    let shows_all = method == "GET" && folder.is_none() && state.traps.is_on("recoverable_shown");
    let how = ReadOptions { is_read: method == "GET", shows_all };
    let number = find(store_mut(state, call)?, id, folder, how)?;
    match (method, below) {
        ("GET", []) => {
            let view = MessageView::read(call)?;
            Ok(json_reply(200, &entity(call, &view, find_message(store_mut(state, call)?, number)?)))
        }
        ("GET", ["$value"]) => {
            let is_cut = state.traps.fires("value_cut");
            let raw = find_message(store_mut(state, call)?, number)?.raw.clone();
            let mut reply = Reply::new(200).header("content-type", "text/plain").body(raw);
            if is_cut {
                reply.delivery = Delivery::Cut;
            }
            Ok(reply)
        }
        ("PATCH", []) => patch(state, call, number),
        ("DELETE", []) => {
            let now = state.clock.now_ms();
            let store = store_mut(state, call)?;
            call.check_if_match(&ids::etag(find_message(store, number)?.changed))?;
            store.move_to(number, RECOVERABLE, now);
            Ok(Reply::new(204))
        }
        ("POST", ["move" | "copy"]) => relocate(state, call, number, below == ["move"]),
        ("POST", ["permanentDelete"]) => {
            let now = state.clock.now_ms();
            store_mut(state, call)?.purge(number, now);
            Ok(Reply::new(204))
        }
        ("POST", ["createReply" | "createReplyAll"]) => {
            drafts::create_reply(state, call, number, below == ["createReplyAll"])
        }
        ("POST", ["send"]) => send::send_draft(state, call, number),
        (_, ["attachments", rest @ ..]) => attachments::answer(state, call, number, rest),
        _ => Err(GraphError::no_route(below.last().unwrap_or(&"messages"))),
    }
}

/// The way in which a call looks for a message.
#[derive(Clone, Copy)]
struct ReadOptions {
    /// It changes nothing.
    is_read: bool,
    /// Recoverable messages are found too.
    shows_all: bool,
}

/// The number of the message that an id names, in the folder where one is given.
///
/// # Errors
/// The id is none, or names a message that is not there, or not there yet: 400, 404.
fn find(store: &mut MailStore, id: &str, folder: Option<&str>, how: ReadOptions) -> Result<u64, GraphError> {
    let id = ids::parse_item(id)?;
    let number = id.key.strip_prefix("msg-").and_then(|text| text.parse().ok());
    let number: u64 = number.ok_or_else(GraphError::malformed_id)?;
    let item = store.messages.get_mut(&number).ok_or_else(GraphError::not_found)?;
    if how.is_read && item.late_reads > 0 {
        item.late_reads -= 1;
        return Err(GraphError::not_found());
    }
    let is_in = folder.is_none_or(|folder| item.folder == folder);
    match id.is_at(item.place) && is_in && (how.shows_all || item.folder != RECOVERABLE) {
        true => Ok(number),
        false => Err(GraphError::not_found()),
    }
}

/// Checks that a message was not deleted before, as far as its immutable id shows.
///
/// # Errors
/// It was: 403 (microsoftgraph/msgraph-sdk-dotnet#3047).
fn check_not_deleted(store: &MailStore, id: &str) -> Result<(), GraphError> {
    let id = ids::parse_item(id)?;
    let is_deleted = |item: &MessageItem| item.key() == id.key && item.folder == RECOVERABLE;
    match id.place.is_none() && store.messages.values().any(is_deleted) {
        true => Err(GraphError::new(403, "ErrorCannotDeleteObject", "Cannot delete object.")),
        false => Ok(()),
    }
}

/// A message with its context.
pub fn entity(call: &GraphCall, view: &MessageView, item: &MessageItem) -> Value {
    let mut value = view.value(call, item);
    value["@odata.context"] = call.context("messages/$entity").into();
    value
}

/// Checks that a message is a draft.
///
/// # Errors
/// It was sent: 403.
pub fn draft_alone(item: &MessageItem) -> Result<(), GraphError> {
    match item.is_draft {
        true => Ok(()),
        // Mail-Advanced.ReadWrite, which only administrators grant, from 2026-12-31 on.
        false => Err(GraphError::access_denied()),
    }
}

fn patch(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    let now = state.clock.now_ms();
    if state.traps.fires("irresolvable_conflict") {
        return Err(GraphError::conflict());
    }
    let store = store_mut(state, call)?;
    let item = find_message(store, number)?;
    call.check_if_match(&ids::etag(item.changed))?;
    let names: Vec<&str> =
        call.body.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.starts_with('@')).collect();
    let known = |name: &&str| OF_ALL.contains(name) || OF_DRAFTS.contains(name) || SILENT.contains(name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let message = format!("The property '{unknown}' is read-only and cannot be set.");
        return Err(GraphError::new(400, "ErrorInvalidPropertySet", &message));
    }
    if names.iter().any(|name| OF_DRAFTS.contains(name)) {
        draft_alone(item)?;
        let mut content = item.content.clone();
        put_members(&mut content, &call.body);
        let raw = compose(&content);
        store.put_content(number, content, raw);
    }
    let given = drafts::read_properties(&call.body)?;
    if let Some(item) = store.messages.get_mut(&number) {
        put_state(item, &call.body)?;
        item.icon = given.icon.or(item.icon);
    }
    let all = OF_ALL.iter().chain(&OF_DRAFTS).copied();
    store.record_update(number, all.filter(|name| names.contains(name)).collect(), now);
    let view = MessageView::read(call)?;
    Ok(json_reply(200, &entity(call, &view, find_message(store, number)?)))
}

/// Puts what a request says on the state of a message into it.
///
/// # Errors
/// A value is none of its property: 400.
pub fn put_state(item: &mut MessageItem, body: &Value) -> Result<(), GraphError> {
    let wrong = |name: &str| GraphError::bad_request(&format!("Invalid value for the property '{name}'."));
    if !body["isRead"].is_null() {
        item.is_read = body["isRead"].as_bool().ok_or_else(|| wrong("isRead"))?;
    }
    if let Some(status) = body["flag"]["flagStatus"].as_str() {
        if !["notFlagged", "flagged", "complete"].contains(&status) {
            return Err(wrong("flagStatus"));
        }
        status.clone_into(&mut item.flag);
    }
    if let Some(word) = body["importance"].as_str() {
        if !["low", "normal", "high"].contains(&word) {
            return Err(wrong("importance"));
        }
        word.clone_into(&mut item.importance);
    }
    if let Some(names) = body["categories"].as_array() {
        let names = names.iter().filter_map(Value::as_str).map(str::to_owned);
        item.categories = names.collect();
    }
    Ok(())
}

/// Moves or copies a message into the folder that the body names, and answers it as it is there.
fn relocate(state: &mut GraphState, call: &GraphCall, number: u64, is_move: bool) -> GraphResult {
    let now = state.clock.now_ms();
    let store = store_mut(state, call)?;
    let destination = action_parameter(call, "destinationId").as_str();
    let destination =
        destination.ok_or_else(|| GraphError::bad_request("The parameter DestinationId is missing."))?;
    let folder = find_folder(store, destination).map_err(|_| {
        GraphError::new(404, "ErrorItemNotFound", "The specified destination folder was not found.")
    })?;
    let number = match is_move {
        true => {
            store.move_to(number, &folder, now);
            number
        }
        false => store.copy_to(number, &folder, now).ok_or_else(GraphError::not_found)?,
    };
    let view = MessageView::read(call)?;
    Ok(json_reply(201, &entity(call, &view, find_message(store, number)?)))
}

/// The value of a list that has these items.
pub fn collection(call: &GraphCall, of: &str, value: Vec<Value>) -> Value {
    json!({ "@odata.context": call.context(of), "value": value })
}
