//! Drafts: each keeps its id, and has a message with another id after each update.

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::mail::headers::MailHead;
use crate::google::mail::mailbox::{Mailbox, NewMail};
use crate::google::mail::messages::{estimate, given_message, page, select, wanted_thread};
use crate::google::mail::sending;
use crate::google::mail::views::{MessageFormat, message_value, short_value};
use crate::google::mail::{invalid, mailbox, not_found};
use crate::google::state::State;

/// `drafts.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let mut found = select(mailbox, call, now)?;
    found.retain(|message| draft_of(mailbox, &message.id).is_some());
    let (shown, next) = page(call, &found)?;
    let mut body = json!({ "resultSizeEstimate": estimate(found.len()) });
    if !shown.is_empty() {
        let drafts = shown.iter().map(|message| {
            let short = json!({ "id": message.id, "threadId": message.thread_id });
            json!({ "id": draft_of(mailbox, &message.id), "message": short })
        });
        body["drafts"] = drafts.collect();
    }
    if let Some(next) = next {
        body["nextPageToken"] = next.into();
    }
    Ok(Some(body))
}

fn draft_of<'m>(mailbox: &'m Mailbox, message: &str) -> Option<&'m str> {
    let mut all = mailbox.drafts.iter();
    all.find(|(_, one)| *one == message).map(|(draft, _)| draft.as_str())
}

/// `drafts.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let format = MessageFormat::read(call)?;
    let mailbox = mailbox(state, call)?;
    let message = mailbox.drafts.get(call.path("id")).ok_or_else(not_found)?.clone();
    let message = message_value(mailbox, &message, &format, now)?;
    Ok(Some(json!({ "id": call.path("id"), "message": message })))
}

/// `drafts.create`
pub fn create(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let message = read_message(mailbox, call)?;
    let draft = format!("r-{:019}", 4_611_686_018_427_387_000_u64 + mailbox.number());
    put(mailbox, &draft, message, now)
}

/// `drafts.update`. The message of before is deleted, and one with another id is added.
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let draft = call.path("id").to_owned();
    let old = mailbox.drafts.get(&draft).ok_or_else(not_found)?.clone();
    let mut message = read_message(mailbox, call)?;
    let old_thread = mailbox.messages.get(&old).map(|message| message.thread_id.clone());
    // Without the thread's id the draft moves into a thread of its own (anthropics/claude-code#91305).
    if old_thread.as_deref() == call.body["message"]["threadId"].as_str() {
        message.thread_id = old_thread;
    }
    mailbox.remove(&old);
    put(mailbox, &draft, message, now)
}

/// The message of a draft that a call has.
fn read_message(mailbox: &Mailbox, call: &Call) -> Result<NewMail, ApiError> {
    let resource = &call.body["message"];
    let raw = given_message(call, resource)?;
    let thread_id = wanted_thread(mailbox, resource, &MailHead::parse(&raw))?;
    Ok(NewMail { raw: raw.to_vec(), thread_id, ..NewMail::default() })
}

fn put(mailbox: &mut Mailbox, draft: &str, message: NewMail, now_ms: i64) -> MethodResult {
    let labels = vec!["DRAFT".to_owned()];
    let id = mailbox.add(NewMail {
        labels,
        internal_ms: now_ms,
        readable_ms: now_ms,
        indexed_ms: now_ms,
        ..message
    });
    mailbox.drafts.insert(draft.to_owned(), id.clone());
    let message = mailbox.messages.get(&id).map(short_value);
    Ok(Some(json!({ "id": draft, "message": message })))
}

/// `drafts.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let message = mailbox.drafts.get(call.path("id")).ok_or_else(not_found)?.clone();
    mailbox.remove(&message);
    Ok(None)
}

/// `drafts.send`: sends the stored draft, or the one in the call, and removes it.
pub fn send(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let draft = call.body["id"].as_str().ok_or_else(|| invalid("Invalid draft"))?.to_owned();
    let message = mailbox.drafts.get(&draft).ok_or_else(not_found)?.clone();
    let stored = mailbox.messages.get(&message).ok_or_else(not_found)?.clone();
    let resource = &call.body["message"];
    let has_new = call.media.is_some() || resource["raw"].is_string();
    let (raw, thread) = match has_new {
        true => {
            let raw = given_message(call, resource)?.to_vec();
            let named = wanted_thread(mailbox, resource, &MailHead::parse(&raw))?;
            (raw, named.unwrap_or(stored.thread_id))
        }
        false => (stored.raw, stored.thread_id),
    };
    sending::check(state, &raw)?;
    let answer: Value = sending::hand_over(state, &call.user, &raw, Some(thread));
    if let Some(mailbox) = state.mail.get_mut(&call.user) {
        mailbox.remove(&message);
    }
    Ok(Some(answer))
}
