//! The profile, and the addresses that a user sends as.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::mail::{mailbox, not_found};
use crate::google::state::State;

/// `getProfile`
pub fn get_profile(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let threads: BTreeSet<&str> =
        mailbox.messages.values().map(|message| message.thread_id.as_str()).collect();
    Ok(Some(json!({
        "emailAddress": call.user,
        "messagesTotal": mailbox.messages.len(),
        "threadsTotal": threads.len(),
        "historyId": mailbox.history_id.to_string(),
    })))
}

fn addresses(state: &mut State, call: &Call) -> Result<Vec<Value>, ApiError> {
    let name = state.users.get(&call.user).map(|user| user.name.clone()).unwrap_or_default();
    let mailbox = mailbox(state, call)?;
    let own = json!({
        "sendAsEmail": call.user,
        "displayName": name,
        "replyToAddress": "",
        "signature": "",
        "isPrimary": true,
        "isDefault": true,
    });
    let others = mailbox.aliases.iter().map(|alias| {
        json!({
            "sendAsEmail": alias.email,
            "displayName": alias.name,
            "replyToAddress": "",
            "signature": "",
            "treatAsAlias": true,
            "verificationStatus": alias.status,
        })
    });
    Ok([own].into_iter().chain(others).collect())
}

/// `settings.sendAs.list`
pub fn list_addresses(state: &mut State, call: &Call) -> MethodResult {
    Ok(Some(json!({ "sendAs": addresses(state, call)? })))
}

/// `settings.sendAs.get`
pub fn get_address(state: &mut State, call: &Call) -> MethodResult {
    let mut all = addresses(state, call)?.into_iter();
    let found = all.find(|one| one["sendAsEmail"] == call.path("sendAsEmail"));
    found.map(Some).ok_or_else(not_found)
}
