//! The methods of messages.

use base64::Engine;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::headers::MailHead;
use crate::google::mail::labels::LabelChange;
use crate::google::mail::mailbox::{MailRecord, Mailbox, NewMail};
use crate::google::mail::query::MailQuery;
use crate::google::mail::views::{MessageFormat, message_value, short_value};
use crate::google::mail::{invalid, mailbox, mime, not_found};
use crate::google::state::State;
use crate::google::tokens::PageToken;

/// The largest estimate of how many there are.
const MAX_ESTIMATE: usize = 201;
/// The folders that lists leave out unless they are asked for.
const LEFT_OUT: [&str; 2] = ["SPAM", "TRASH"];

/// The messages that the parameters of a list take, the newest first.
///
/// # Errors
/// A label is unknown, or a term of the search: 400. The token may not search: 403.
pub fn select<'m>(mailbox: &'m Mailbox, call: &Call, now_ms: i64) -> Result<Vec<&'m MailRecord>, ApiError> {
    let labels: Vec<&str> = call.all("labelIds").collect();
    if let Some(unknown) = labels.iter().find(|label| !mailbox.labels.contains_key(**label)) {
        return Err(invalid(&format!("Invalid label: {unknown}")));
    }
    let text = call.parameter("q").unwrap_or_default();
    if !text.is_empty() && call.reads_heads_alone() {
        return Err(ApiError::named(403, "forbidden", "Metadata scope does not support 'q' parameter"));
    }
    let query = MailQuery::parse(text, mailbox)?;
    let is_shown =
        |label: &str| call.is_set("includeSpamTrash") || labels.contains(&label) || query.reaches(label);
    let hidden: Vec<&str> = LEFT_OUT.into_iter().filter(|label| !is_shown(label)).collect();
    let mut found = mailbox.readable(now_ms);
    found.retain(|message| {
        labels.iter().all(|label| message.has_label(label))
            && !hidden.iter().any(|label| message.has_label(label))
            && query.matches(message, now_ms)
    });
    Ok(found)
}

/// The place of a message in a list: its time, and its id as a number.
fn place(message: &MailRecord) -> (u64, u64) {
    let id = u64::from_str_radix(&message.id, 16).unwrap_or_default();
    (u64::try_from(message.internal_ms).unwrap_or_default(), id)
}

/// The page of a list that a call asks for, and the token of the next one.
///
/// # Errors
/// The page token is none: 400.
pub fn page<'m>(
    call: &Call,
    all: &[&'m MailRecord],
) -> Result<(Vec<&'m MailRecord>, Option<String>), ApiError> {
    let token = call.parameter("pageToken").map(PageToken::parse).transpose()?;
    let is_after =
        |message: &MailRecord| token.as_ref().is_none_or(|token| place(message) < (token.upper, token.after));
    let rest: Vec<&MailRecord> = all.iter().copied().filter(|message| is_after(message)).collect();
    let size =
        call.page_size(facts::number("mail_pages", "list_usual"), facts::number("mail_pages", "list_most"));
    let shown = rest.get(..size.min(rest.len())).unwrap_or_default().to_vec();
    let next = shown.last().filter(|_| rest.len() > shown.len()).map(|last| {
        let (upper, after) = place(last);
        PageToken { upper, after, is_empty: false }.to_text()
    });
    Ok((shown, next))
}

/// An estimate of how many there are, which stops early.
pub fn estimate(count: usize) -> usize {
    count.min(MAX_ESTIMATE)
}

/// `messages.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let found = select(mailbox, call, now)?;
    let (shown, next) = page(call, &found)?;
    let mut body = json!({ "resultSizeEstimate": estimate(found.len()) });
    if !shown.is_empty() {
        let ids = shown.iter().map(|message| json!({ "id": message.id, "threadId": message.thread_id }));
        body["messages"] = ids.collect();
    }
    if let Some(next) = next {
        body["nextPageToken"] = next.into();
    }
    Ok(Some(body))
}

/// `messages.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let format = MessageFormat::read(call)?;
    let lacks_payload = state.traps.fires("missing_payload");
    let expires = state.traps.fires("attachments_expire");
    let mailbox = mailbox(state, call)?;
    let mut value = message_value(mailbox, call.path("id"), &format, now)?;
    if lacks_payload && let Some(members) = value.as_object_mut() {
        members.remove("payload");
    }
    if expires {
        mailbox.expire_attachment_ids();
    }
    Ok(Some(value))
}

/// A message that can be read now.
fn readable<'m>(mailbox: &'m Mailbox, id: &str, now_ms: i64) -> Result<&'m MailRecord, ApiError> {
    mailbox.messages.get(id).filter(|message| message.readable_ms <= now_ms).ok_or_else(not_found)
}

/// Returns the ids and labels of a message, with its history id if requested.
fn changed_value(mailbox: &Mailbox, id: &str, has_history: bool) -> MethodResult {
    let message = mailbox.messages.get(id).ok_or_else(not_found)?;
    let mut value = short_value(message);
    if has_history {
        value["historyId"] = message.history_id.to_string().into();
    }
    Ok(Some(value))
}

/// `messages.modify`
pub fn modify(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let id = &readable(mailbox, call.path("id"), now)?.id.clone();
    LabelChange::read(mailbox, &call.body)?.apply(mailbox, id);
    changed_value(mailbox, id, true)
}

/// `messages.batchModify`
pub fn modify_many(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let change = LabelChange::read(mailbox, &call.body)?;
    for id in given_ids(call)? {
        change.apply(mailbox, &id);
    }
    Ok(None)
}

fn given_ids(call: &Call) -> Result<Vec<String>, ApiError> {
    let ids = call.body["ids"].as_array().into_iter().flatten();
    let ids: Vec<String> = ids.filter_map(Value::as_str).map(str::to_owned).collect();
    match ids.is_empty() || ids.len() > facts::number("mail_limits", "ids_per_change") {
        true => Err(invalid("Invalid number of message ids")),
        false => Ok(ids),
    }
}

/// `messages.trash`
pub fn trash(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let id = &readable(mailbox, call.path("id"), now)?.id.clone();
    mailbox.relabel(id, &["TRASH"], &["INBOX", "SPAM"]);
    changed_value(mailbox, id, false)
}

/// `messages.untrash`. The message does not come back to the inbox.
pub fn untrash(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let id = &readable(mailbox, call.path("id"), now)?.id.clone();
    mailbox.relabel(id, &[], &["TRASH"]);
    changed_value(mailbox, id, true)
}

/// `messages.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    match mailbox(state, call)?.remove(call.path("id")) {
        true => Ok(None),
        false => Err(not_found()),
    }
}

/// `messages.batchDelete`
pub fn delete_many(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    for id in given_ids(call)? {
        mailbox.remove(&id);
    }
    Ok(None)
}

/// The message that a call has: uploaded, or in the member `raw` of this resource.
///
/// # Errors
/// There is none, or it has no head: 400. JSON takes fewer bytes than an upload: 413.
pub fn given_message(call: &Call, resource: &Value) -> Result<Bytes, ApiError> {
    let raw = match (&call.media, resource["raw"].as_str()) {
        (Some(media), _) => media.clone(),
        (None, Some(text)) if text.len() > facts::number("mail_limits", "json_bytes") => {
            return Err(ApiError::named(413, "uploadTooLarge", "Request entity too large."));
        }
        (None, Some(text)) => {
            let decoded = BASE64_URL_SAFE.decode(text).or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(text));
            decoded.map_err(|_| invalid("Invalid value for ByteString"))?.into()
        }
        (None, None) => {
            let message =
                "'raw' RFC822 payload message string or uploading message via /upload/* URL required";
            return Err(invalid(message));
        }
    };
    match mime::parse(&raw) {
        Some(_) => Ok(raw),
        None => Err(invalid("Missing draft message")),
    }
}

/// The thread that a resource names, where the message belongs into it: it answers a message there, with the same subject.
///
/// # Errors
/// There is no such thread: 404.
pub fn wanted_thread(
    mailbox: &Mailbox,
    resource: &Value,
    head: &MailHead,
) -> Result<Option<String>, ApiError> {
    let Some(wanted) = resource["threadId"].as_str().filter(|text| !text.is_empty()) else { return Ok(None) };
    let mut inside = mailbox.messages.values().filter(|message| message.thread_id == wanted).peekable();
    inside.peek().ok_or_else(not_found)?;
    let belongs = inside.any(|message| head.answers(&MailHead::parse(&message.raw)));
    Ok(belongs.then(|| wanted.to_owned()))
}

/// `messages.insert` and `messages.import`
pub fn insert(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let indexed_ms = state.indexed_ms(now);
    let mailbox = mailbox(state, call)?;
    let raw = given_message(call, &call.body)?;
    let head = MailHead::parse(&raw);
    let labels = call.body["labelIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let labels: Vec<String> = labels.map(str::to_owned).collect();
    if let Some(wrong) = labels.iter().find(|label| *label == "DRAFT" || !mailbox.labels.contains_key(*label))
    {
        return Err(invalid(&format!("Invalid label: {wrong}")));
    }
    let from_head = call.parameter("internalDateSource") == Some("dateHeader");
    let mail = NewMail {
        thread_id: wanted_thread(mailbox, &call.body, &head)?,
        raw: raw.to_vec(),
        labels,
        internal_ms: head.date_ms.filter(|_| from_head).unwrap_or(now),
        readable_ms: now,
        indexed_ms,
        follows_references: false,
    };
    let id = mailbox.add(mail);
    changed_value(mailbox, &id, false)
}

/// `messages.attachments.get`
pub fn get_attachment(state: &mut State, call: &Call) -> MethodResult {
    let now = state.clock.now_ms();
    let mailbox = mailbox(state, call)?;
    let message = readable(mailbox, call.path("messageId"), now)?;
    let known = mailbox.attachment_ids.get(call.path("id")).filter(|(of, _)| *of == message.id);
    let (_, part) = known.ok_or_else(|| invalid("Invalid attachment token"))?;
    let bytes = mime::part_bytes(&message.raw, part).ok_or_else(not_found)?;
    Ok(Some(json!({ "size": bytes.len(), "data": BASE64_URL_SAFE.encode(bytes) })))
}
