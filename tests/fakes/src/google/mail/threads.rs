//! The methods of threads.

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::mail::labels::LabelChange;
use crate::google::mail::mailbox::{MailRecord, Mailbox};
use crate::google::mail::messages::{estimate, page, select};
use crate::google::mail::views::{MessageFormat, message_value, short_value};
use crate::google::mail::{mailbox, mime, not_found};
use crate::google::state::State;

/// `threads.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let mut newest: Vec<&MailRecord> = Vec::new();
    for message in select(mailbox, call, now)? {
        if !newest.iter().any(|one| one.thread_id == message.thread_id) {
            newest.push(message);
        }
    }
    let (shown, next) = page(call, &newest)?;
    let mut body = json!({ "resultSizeEstimate": estimate(newest.len()) });
    if !shown.is_empty() {
        let threads = shown.iter().map(|message| {
            json!({
                "id": message.thread_id,
                "snippet": mime::snippet(&message.raw),
                "historyId": thread_history(mailbox, &message.thread_id),
            })
        });
        body["threads"] = threads.collect();
    }
    if let Some(next) = next {
        body["nextPageToken"] = next.into();
    }
    Ok(Some(body))
}

fn thread_history(mailbox: &Mailbox, thread: &str) -> String {
    let inside = mailbox.messages.values().filter(|message| message.thread_id == thread);
    inside.map(|message| message.history_id).max().unwrap_or_default().to_string()
}

/// The ids of a thread's messages, the oldest first.
///
/// # Errors
/// There are none that can be read: 404.
fn messages_of(mailbox: &Mailbox, thread: &str, now_ms: i64) -> Result<Vec<String>, ApiError> {
    let all = mailbox.readable(now_ms).into_iter().rev();
    let ids: Vec<String> =
        all.filter(|message| message.thread_id == thread).map(|message| message.id.clone()).collect();
    if ids.is_empty() { Err(not_found()) } else { Ok(ids) }
}

/// `threads.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let format = MessageFormat::read(call)?;
    let mailbox = mailbox(state, call)?;
    let thread = call.path("id");
    let ids = messages_of(mailbox, thread, now)?;
    let messages = ids.iter().map(|id| message_value(mailbox, id, &format, now));
    let messages = messages.collect::<Result<Vec<Value>, ApiError>>()?;
    Ok(Some(json!({ "id": thread, "historyId": thread_history(mailbox, thread), "messages": messages })))
}

/// Changes each message of a thread. The answer has their ids and labels.
fn change(state: &mut State, call: &Call, apply: impl Fn(&mut Mailbox, &str)) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let ids = messages_of(mailbox, call.path("id"), now)?;
    ids.iter().for_each(|id| apply(mailbox, id));
    let messages = ids.iter().filter_map(|id| mailbox.messages.get(id)).map(short_value);
    Ok(Some(json!({ "id": call.path("id"), "messages": messages.collect::<Vec<_>>() })))
}

/// `threads.modify`
pub fn modify(state: &mut State, call: &Call) -> MethodResult {
    let labels = LabelChange::read(mailbox(state, call)?, &call.body)?;
    change(state, call, |mailbox, id| labels.apply(mailbox, id))
}

/// `threads.trash`
pub fn trash(state: &mut State, call: &Call) -> MethodResult {
    change(state, call, |mailbox, id| {
        mailbox.relabel(id, &["TRASH"], &["INBOX", "SPAM"]);
    })
}

/// `threads.untrash`
pub fn untrash(state: &mut State, call: &Call) -> MethodResult {
    change(state, call, |mailbox, id| {
        mailbox.relabel(id, &[], &["TRASH"]);
    })
}
