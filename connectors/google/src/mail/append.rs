//! `messages.append`: a message that is put into the mailbox as it is, without being sent or received.

use connector_sdk::{Context, Failure, Outcome};
use model::wire::Mutated;
use model::wire::email::{MessageAppend, MessageUpdate};
use serde_json::json;

use crate::api::ask;
use crate::calendar::patch::field_warning;
use crate::mail::find::{by_message_id, list, with_header};
use crate::mail::labels::{ARCHIVE, INBOX, LabelState, label_change};
use crate::mail::message::read_stored;
use crate::mail::native::Message;
use crate::mail::roots;
use crate::mail::upload::{MAX_STORED_BYTES, MULTIPART, MessageUpload, checked_size, read_header};

const DOING: &str = "storing the message";
/// The newest messages of a folder, among which an earlier attempt's is looked for.
const LOOKED_THROUGH: &str = "25";
/// Gmail keeps its own times to the second.
const SECOND_MS: i64 = 1_000;

/// Puts a message into folders. Its internal date is that of its Date field, or now where the caller names none.
pub fn append(context: &Context, args: &MessageAppend) -> Outcome<Mutated> {
    if args.draft {
        return Err(Failure::unsupported("putting drafts into folders"));
    }
    checked_size(context, &args.blob, MAX_STORED_BYTES)?;
    let folders = if args.folders.is_empty() { vec![INBOX.to_owned()] } else { args.folders.clone() };
    let marks = MessageUpdate {
        unread: Some(args.unread),
        starred: Some(args.starred),
        folders: Some(folders.clone()),
        add_labels: args.labels.clone(),
        add_keywords: args.keywords.clone(),
        ..MessageUpdate::default()
    };
    // A new message has no labels.
    let change = label_change(Some(&[]), &marks)?;
    let mut warnings = change.warnings;
    if is_dated_otherwise(context, args)? {
        warnings.push(field_warning("receivedAt", "Gmail takes the time from the Date field of the message"));
    }
    let left = match context.attempt() > 1 {
        true => left_by_earlier_attempt(context, args, &folders)?,
        false => None,
    };
    let id = match left {
        Some(id) => id,
        None => insert(context, args, &change.add)?,
    };
    let source = read_stored(context, &id, None)?;
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![source], item, warnings, ..Mutated::default() })
}

/// Whether the message is to have another internal date than its Date field says.
fn is_dated_otherwise(context: &Context, args: &MessageAppend) -> Outcome<bool> {
    let Some(wanted) = args.received_at else { return Ok(false) };
    let dated = read_header(context, &args.blob)?.sent_at;
    let seconds = |ms: i64| ms.div_euclid(SECOND_MS);
    Ok(dated.is_none_or(|dated| seconds(dated.as_millis()) != seconds(wanted.as_millis())))
}

/// Stores the message with these labels. Returns its id.
fn insert(context: &Context, args: &MessageAppend, labels: &[String]) -> Outcome<String> {
    let date = if args.received_at.is_some() { "dateHeader" } else { "receivedTime" };
    let upload = MessageUpload {
        url: roots::upload(&["messages"], &[MULTIPART, ("internalDateSource", date)])?,
        metadata: json!({ "labelIds": labels }),
        fields: "",
        blob: &args.blob,
    };
    let request = upload.request(context, "POST").units(roots::INSERT_UNITS);
    let stored: Message = ask(context, request, DOING)?;
    match stored.id.is_empty() {
        true => Err(Failure::unavailable("the provider does not name the message that it stored")),
        false => Ok(stored.id),
    }
}

/// The message in these folders that an earlier attempt stored, whose answer was lost. The index of Message-IDs lags behind: the newest
/// messages of the folder are looked through too.
fn left_by_earlier_attempt(
    context: &Context,
    args: &MessageAppend,
    folders: &[String],
) -> Outcome<Option<String>> {
    let indexed = by_message_id(context, &args.internet_message_id)?;
    let label = folders.iter().find(|folder| *folder != ARCHIVE).map(|folder| ("labelIds", folder.as_str()));
    let mut query = vec![("maxResults", LOOKED_THROUGH), ("includeSpamTrash", "true")];
    query.extend(label);
    let newest = list(context, &query)?;
    let others = newest.iter().filter(|id| !indexed.contains(id));
    let ids: Vec<&str> = indexed.iter().chain(others).map(String::as_str).collect();
    let found = with_header(context, &ids, "Message-ID", &args.internet_message_id)?;
    let is_there = |message: &Message| {
        let state = LabelState::from_labels(message.labels());
        state.is_some_and(|state| folders.iter().all(|folder| state.folder_ids.contains(folder)))
    };
    Ok(found.into_iter().find(is_there).map(|message| message.id))
}
