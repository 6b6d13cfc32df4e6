//! Mail of Graph: folders, messages of raw MIME, their deltas, drafts, attachments with upload sessions, sending, and categories.

mod attachments;
mod bodies;
mod categories;
mod compose;
mod content;
mod delta;
mod drafts;
mod folders;
mod lists;
mod mail_filter;
mod mail_search;
mod message_json;
mod messages;
mod seed;
mod send;
mod store;
mod tree;
pub mod upload;
mod walks;

use serde_json::Value;

use crate::graph::call::GraphCall;
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::ids;
use crate::graph::state::{GraphState, ItemChange};

pub use attachments::{attachment_members, read_new as read_new_attachment};
pub use content::{AttachmentKind, HeaderLine, MailAddress, MailContent, StoredAttachment};
pub use message_json::attachment_select;
pub use seed::control;
pub use send::SentMessage;
pub use store::{MailStore, MessageItem};

static NULL: Value = Value::Null;

/// Answers a call whose path begins with `messages`, `mailFolders`, `sendMail` or `outlook`.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let result = match call.segments().as_slice() {
        ["messages", rest @ ..] => messages::answer(state, call, None, rest),
        ["mailFolders", rest @ ..] => folders::answer(state, call, rest),
        ["sendMail"] => send::send_mail(state, call),
        ["outlook", "masterCategories", rest @ ..] => categories::answer(state, call, rest),
        path => Err(GraphError::no_route(path.last().unwrap_or(&"me"))),
    };
    notify_subscriptions(state);
    result
}

/// Hands the changes since the last call to the subscriptions.
fn notify_subscriptions(state: &mut GraphState) {
    let users: Vec<String> = state.mail.keys().cloned().collect();
    for user in users {
        let notes =
            state.mail.get_mut(&user).map(|store| std::mem::take(&mut store.notes)).unwrap_or_default();
        for note in notes {
            let name = note.folder.strip_prefix("folder-").unwrap_or(&note.folder);
            let collections = [
                "messages".to_owned(),
                format!("mailFolders/{}/messages", ids::stable(&note.folder)),
                format!("mailFolders/{name}/messages"),
            ];
            let key = format!("msg-{}", note.number);
            let data_type = "#Microsoft.Graph.Message";
            let change = ItemChange {
                kind: note.kind,
                collections: &collections,
                data_type,
                key: &key,
                place: note.place,
            };
            state.note_change(&user, &change);
        }
    }
}

/// The mailbox of a call.
///
/// # Errors
/// The account has none: 404.
fn store_mut<'s>(state: &'s mut GraphState, call: &GraphCall) -> Result<&'s mut MailStore, GraphError> {
    state.mail.get_mut(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The message with this number.
///
/// # Errors
/// There is none: 404.
fn find_message(store: &MailStore, number: u64) -> Result<&MessageItem, GraphError> {
    store.messages.get(&number).ok_or_else(GraphError::not_found)
}

/// The key of the folder that an id or a well-known name names.
///
/// # Errors
/// The id is none, or there is no such folder: 400, 404.
fn find_folder(store: &MailStore, id: &str) -> Result<String, GraphError> {
    let is_name = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphabetic()) && id.len() < 30;
    let key = if is_name { id.to_owned() } else { ids::parse_stable(id)? };
    store.tree.find(&key).map(|node| node.key.clone()).ok_or_else(GraphError::not_found)
}

/// A parameter of an action, whatever the case of its letters: Microsoft's clients write `DestinationId`, the docs `destinationId`.
fn action_parameter<'c>(call: &'c GraphCall, name: &str) -> &'c Value {
    let found = call.body.as_object().into_iter().flatten().find(|(one, _)| one.eq_ignore_ascii_case(name));
    found.map_or(&NULL, |(_, value)| value)
}

#[cfg(test)]
mod tests;
