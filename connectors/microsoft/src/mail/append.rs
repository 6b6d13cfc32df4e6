//! `messages.append`: a message that is put into the mailbox without being sent or received. Graph takes MIME for drafts alone; any other
//! message is written member by member, and of its header what Graph has members and properties for.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use mail::read::rewrite::{FilePart, file_parts};
use model::email::{EmailAddress, EmailMessage};
use model::wire::Mutated;
use model::wire::email::MessageAppend;
use serde_json::{Map, Value, json};

use crate::api::ask;
use crate::mail::access::ensure_readable;
use crate::mail::categories::name_of;
use crate::mail::collection::created_ms;
use crate::mail::compose::{abandon, read_message, small_mime, store_draft};
use crate::mail::edit::{destroy, field_warning, importance_name, move_to, remove};
use crate::mail::find::{DRAFTS, by_message_id, look_through};
use crate::mail::native::Message;
use crate::mail::read::read_source;
use crate::mail::upload::{attach, whole_file};
use crate::odata::root;

/// The folder where the caller names none.
const INBOX: &str = "inbox";
/// The flags of a message (`PidTagMessageFlags`): 1 is read, and without 8 it is no draft.
const FLAGS: &str = "Integer 0x0E07";
/// When it was delivered and when it was submitted (`PidTagMessageDeliveryTime`, `PidTagClientSubmitTime`).
const DELIVERED: &str = "SystemTime 0x0E06";
const SUBMITTED: &str = "SystemTime 0x0039";
/// `PidTagInReplyToId` and `PidTagInternetReferences`.
const IN_REPLY_TO: &str = "String 0x1042";
const REFERENCES: &str = "String 0x1039";
/// Header fields that Graph takes, of those that begin with `X-`.
const MAX_HEADERS: usize = 5;
/// Bytes of files that go with the message in one request.
const MAX_FILES_BYTES: usize = 2_000_000;
/// Time by which Graph's clock may be behind the host's, ms.
const CLOCK_TOLERANCE_MS: i64 = 60_000;
/// Time since the first attempt at most, where it is not known, ms.
const LOOK_BACK_MS: i64 = 3_600_000;
const DOING: &str = "storing the message";

/// Puts a message into a folder.
pub fn append(context: &Context, args: &MessageAppend) -> Outcome<Mutated> {
    ensure_readable(context)?;
    let folder = match args.folders.as_slice() {
        [] => INBOX,
        [folder] => folder.as_str(),
        _ => return Err(Failure::unsupported("messages in several folders")),
    };
    let raw = read_message(context, &args.blob)?;
    let categories: Vec<&str> = args.labels.iter().map(|label| name_of(label)).collect::<Outcome<_>>()?;
    if context.attempt() > 1
        && let Some(left) = find_left(context, args, &raw, folder)?
    {
        if args.draft {
            mark(context, args, &left, &categories)?;
        }
        let source = read_source(context, &left)?;
        return Ok(Mutated { item: Some(left), sources: vec![source], ..Mutated::default() });
    }
    let mut warnings = Vec::new();
    if !args.keywords.is_empty() {
        warnings.push(field_warning("keywords", "the provider does not keep this"));
    }
    let id = match args.draft {
        true => {
            let id = store_in(context, &raw, folder)?;
            mark(context, args, &id, &categories)?;
            id
        }
        false => {
            let lost =
                "the provider keeps the fields of the header that it knows, and not the message as it was";
            warnings.push(field_warning("headers", lost));
            create(context, args, &raw, &Target { folder, categories: &categories })?
        }
    };
    let source = read_source(context, &id)?;
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![source], item, warnings, ..Mutated::default() })
}

/// Stores a draft, and moves it where it is to be.
fn store_in(context: &Context, raw: &[u8], folder: &str) -> Outcome<String> {
    let draft = store_draft(context, raw, "")?;
    if draft.parent_folder_id.as_deref() == Some(folder) {
        return Ok(draft.id);
    }
    match move_to(context, &draft.id, folder) {
        Ok(moved) => Ok(moved.id),
        Err(failure) => {
            abandon(context, &draft.id);
            Err(failure)
        }
    }
}

/// Sets what MIME does not say of a draft.
fn mark(context: &Context, args: &MessageAppend, id: &str, categories: &[&str]) -> Outcome<()> {
    let mut marks = Map::new();
    if args.starred {
        marks.insert("flag".to_owned(), json!({ "flagStatus": "flagged" }));
    }
    if !categories.is_empty() {
        marks.insert("categories".to_owned(), json!(categories));
    }
    if marks.is_empty() {
        return Ok(());
    }
    let request = Request::patch(root::me(&["messages", id], &[])?).json(&Value::Object(marks));
    ask::<Message>(context, request, "marking the message").map(|_| ())
}

/// The place of a new message.
struct Target<'a> {
    folder: &'a str,
    categories: &'a [&'a str],
}

/// Creates the message with its small files; the others follow one by one. What was stored before a failure is deleted again.
fn create(context: &Context, args: &MessageAppend, raw: &[u8], target: &Target) -> Outcome<String> {
    let mail = mail::read::message(raw).map_err(|error| Failure::invalid(error.message))?;
    let files = file_parts(raw);
    let (within, later) = divide(&files);
    let mut body = members(&mail.message, args);
    let (kind, content) = match (&mail.html, &mail.text) {
        (Some(html), _) => ("html", html.as_str()),
        (None, text) => ("text", text.as_deref().unwrap_or_default()),
    };
    body.insert("body".to_owned(), json!({ "contentType": kind, "content": content }));
    body.insert("categories".to_owned(), json!(target.categories));
    if !within.is_empty() {
        let whole = |file: &&FilePart| whole_file(raw, file, bytes_of(file));
        body.insert("attachments".to_owned(), within.iter().map(whole).collect());
    }
    let marks: Vec<Value> = mail
        .headers
        .iter()
        .filter(|field| field.name.len() > 2 && field.name.to_ascii_lowercase().starts_with("x-"))
        .take(MAX_HEADERS)
        .map(|field| json!({ "name": field.name, "value": field.value }))
        .collect();
    if !marks.is_empty() {
        body.insert("internetMessageHeaders".to_owned(), Value::Array(marks));
    }
    let url = root::me(&["mailFolders", target.folder, "messages"], &[])?;
    let created: Message = ask(context, Request::post(url).json(&Value::Object(body)), DOING)?;
    if created.id.is_empty() {
        return Err(Failure::unavailable("the provider does not name the message that it stored"));
    }
    for file in later {
        if let Err(failure) = attach(context, &created.id, raw, file) {
            // A later attempt would take it for whole.
            destroy(context, &created.id)?;
            return Err(failure);
        }
    }
    Ok(created.id)
}

fn bytes_of(file: &FilePart) -> usize {
    usize::try_from(file.attachment.size.unwrap_or_default()).unwrap_or_default()
}

/// The files that go with the message, and those that follow.
fn divide(files: &[FilePart]) -> (Vec<&FilePart>, Vec<&FilePart>) {
    let mut room = MAX_FILES_BYTES;
    files.iter().partition(|file| match room.checked_sub(bytes_of(file)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    })
}

/// The members of a message, without its content.
fn members(message: &EmailMessage, args: &MessageAppend) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("subject", json!(message.subject.as_deref().unwrap_or_default()));
    if let Some(id) = &message.internet_message_id {
        put("internetMessageId", json!(format!("<{id}>")));
    }
    if let Some(from) = message.from.first() {
        put("from", recipient(from));
        put("sender", recipient(message.sender.as_ref().unwrap_or(from)));
    }
    for (name, people) in [
        ("toRecipients", &message.to),
        ("ccRecipients", &message.cc),
        ("bccRecipients", &message.bcc),
        ("replyTo", &message.reply_to),
    ] {
        put(name, people.iter().map(recipient).collect());
    }
    put("isRead", json!(!args.unread));
    put("importance", json!(importance_name(message.importance)));
    if args.starred {
        put("flag", json!({ "flagStatus": "flagged" }));
    }
    put("singleValueExtendedProperties", properties(message, args));
    members
}

fn recipient(person: &EmailAddress) -> Value {
    json!({ "emailAddress": { "address": person.email, "name": person.name.as_deref().unwrap_or(&person.email) } })
}

/// Exchange's properties for what Graph has no members for.
fn properties(message: &EmailMessage, args: &MessageAppend) -> Value {
    let ids = |ids: &[String]| ids.iter().map(|id| format!("<{id}>")).collect::<Vec<_>>().join(" ");
    let mut properties = vec![(FLAGS, i32::from(!args.unread).to_string())];
    properties.extend(args.received_at.or(message.sent_at).map(|at| (DELIVERED, at.to_string())));
    properties.extend(message.sent_at.map(|at| (SUBMITTED, at.to_string())));
    for (id, named) in [(IN_REPLY_TO, &message.in_reply_to), (REFERENCES, &message.references)] {
        if !named.is_empty() {
            properties.push((id, ids(named)));
        }
    }
    properties.into_iter().map(|(id, value)| json!({ "id": id, "value": value })).collect()
}

/// The message in this folder that an earlier attempt stored, whose answer was lost. What an attempt has left that broke off is deleted: a
/// message whose files follow one by one may lack some, and a draft may not be in its folder yet.
fn find_left(context: &Context, args: &MessageAppend, raw: &[u8], folder: &str) -> Outcome<Option<String>> {
    let own_id = args.internet_message_id.as_str();
    if own_id.is_empty() {
        return Ok(None);
    }
    let left = by_message_id(context, own_id, Some(folder))?.into_iter().next();
    let goes_at_once = match args.draft {
        true => small_mime(raw, "").is_some(),
        false => divide(&file_parts(raw)).1.is_empty(),
    };
    if let Some(left) = left {
        if goes_at_once || !is_of_this_change(context, &left) {
            return Ok(Some(left.id));
        }
        destroy(context, &left.id)?;
    }
    if args.draft {
        for left in look_through(context, DRAFTS, own_id)? {
            if is_of_this_change(context, &left) {
                remove(context, &left.id, None)?;
            }
        }
    }
    Ok(None)
}

/// Whether the message was made since the first attempt: an older one with the same Message-ID is the mailbox's own.
fn is_of_this_change(context: &Context, message: &Message) -> bool {
    let since = context.first_attempt_ms().unwrap_or_else(|| context.now_ms().saturating_sub(LOOK_BACK_MS));
    created_ms(message) >= since.saturating_sub(CLOCK_TOLERANCE_MS)
}
