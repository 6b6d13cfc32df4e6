//! The profile, the addresses that a user sends as, and watches.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::{invalid, mailbox, not_found};
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

/// `watch`: the topic is kept, and nothing is published.
pub fn watch(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let topic = call.body["topicName"].as_str().unwrap_or_default().to_owned();
    let parts: Vec<&str> = topic.split('/').collect();
    if !matches!(parts.as_slice(), ["projects", _, "topics", _]) {
        return Err(invalid("Invalid topicName does not match projects/*/topics/*"));
    }
    if state.traps.fires("watch_not_authorized") {
        let message = format!(
            "Error sending test message to Cloud PubSub {topic} : User not authorized to perform this action."
        );
        return Err(ApiError::named(403, "forbidden", &message));
    }
    if state.traps.fires("watch_no_topic") {
        return Err(ApiError::named(500, "backendError", "Internal error encountered."));
    }
    let life_ms = i64::try_from(facts::number("mail_limits", "watch_life_s")).unwrap_or_default() * 1000;
    let mailbox = mailbox(state, call)?;
    let open = mailbox.watch.as_ref().filter(|(_, until)| now < *until);
    if open.is_some_and(|(other, _)| *other != topic) {
        let message =
            "Only one user push notification client allowed per developer (call /stop then try again)";
        return Err(invalid(message));
    }
    mailbox.watch = Some((topic, now + life_ms));
    let answer =
        json!({ "historyId": mailbox.history_id.to_string(), "expiration": (now + life_ms).to_string() });
    Ok(Some(answer))
}

/// `stop`
pub fn stop(state: &mut State, call: &Call) -> MethodResult {
    mailbox(state, call)?.watch = None;
    Ok(None)
}
