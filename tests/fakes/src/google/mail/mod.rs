//! The Gmail API: mailboxes of raw messages with labels, their history, drafts, uploads and batches.

pub mod batch;
mod drafts;
mod headers;
mod history;
mod labels;
mod mailbox;
mod messages;
mod mime;
mod multipart;
mod pubsub;
mod query;
mod seed;
mod sending;
mod settings;
mod state;
mod threads;
mod units;
pub mod upload;
mod views;

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;

pub use mailbox::{MailRecord, Mailbox, NewMail, SendAsAddress};
pub use pubsub::{PubSub, Topic};
pub use seed::control;
pub use sending::SentMail;
pub use units::charge;

/// Carries out a method of the document gmail.v1.
pub fn dispatch(state: &mut State, id: &str, call: &Call) -> MethodResult {
    match id.strip_prefix("gmail.users.").unwrap_or_default() {
        "getProfile" => settings::get_profile(state, call),
        "watch" => pubsub::watch(state, call),
        "stop" => pubsub::stop(state, call),
        "settings.sendAs.list" => settings::list_addresses(state, call),
        "settings.sendAs.get" => settings::get_address(state, call),
        "labels.list" => labels::list(state, call),
        "labels.get" => labels::get(state, call),
        "labels.create" => labels::create(state, call),
        "labels.patch" | "labels.update" => labels::patch(state, call),
        "labels.delete" => labels::delete(state, call),
        "history.list" => history::list(state, call),
        "messages.list" => messages::list(state, call),
        "messages.get" => messages::get(state, call),
        "messages.modify" => messages::modify(state, call),
        "messages.batchModify" => messages::modify_many(state, call),
        "messages.trash" => messages::trash(state, call),
        "messages.untrash" => messages::untrash(state, call),
        "messages.delete" => messages::delete(state, call),
        "messages.batchDelete" => messages::delete_many(state, call),
        "messages.insert" | "messages.import" => messages::insert(state, call),
        "messages.send" => sending::send(state, call),
        "messages.attachments.get" => messages::get_attachment(state, call),
        "threads.list" => threads::list(state, call),
        "threads.get" => threads::get(state, call),
        "threads.modify" => threads::modify(state, call),
        "threads.trash" => threads::trash(state, call),
        "threads.untrash" => threads::untrash(state, call),
        "drafts.list" => drafts::list(state, call),
        "drafts.get" => drafts::get(state, call),
        "drafts.create" => drafts::create(state, call),
        "drafts.update" => drafts::update(state, call),
        "drafts.delete" => drafts::delete(state, call),
        "drafts.send" => drafts::send(state, call),
        _ => Err(ApiError::named(501, "notImplemented", &format!("The fake has no {id}."))),
    }
}

/// The mailbox of a call.
///
/// # Errors
/// The path names another user: 403. The user has no mailbox: 400.
fn mailbox<'s>(state: &'s mut State, call: &Call) -> Result<&'s mut Mailbox, ApiError> {
    let user = call.path("userId");
    if user != "me" && user != call.user {
        return Err(ApiError::named(403, "forbidden", &format!("Delegation denied for {}", call.user)));
    }
    let found = state.mail.get_mut(&call.user);
    found.ok_or_else(|| ApiError::named(400, "failedPrecondition", "Mail service not enabled"))
}

/// The error of a message, thread, label or draft that is not there.
fn not_found() -> ApiError {
    ApiError::named(404, "notFound", "Requested entity was not found.")
}

fn invalid(message: &str) -> ApiError {
    ApiError::named(400, "invalidArgument", message)
}
