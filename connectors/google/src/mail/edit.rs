//! `messages.update` and `messages.delete`. A change is labels to add and to remove, in one request and without a reading; Gmail knows no
//! If-Match, so one that is based on a version reads the message first.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::{MessageDelete, MessageUpdate};
use model::wire::{Mutated, Source, Warning};
use serde_json::json;

use crate::api::ask;
use crate::calendar::patch::field_warning;
use crate::failures;
use crate::mail::labels::{self, DRAFT, INBOX, LabelChange, LabelState, SPAM, TRASH, label_change};
use crate::mail::message::{Hint, deleted_source, partial};
use crate::mail::native::Message;
use crate::mail::{drafts, roots};

const DOING: &str = "changing the message";
/// The members with a message's labels and version.
const STATE_FIELDS: &str = "id,threadId,labelIds,historyId";

/// Changes the labels of a message, which are its folders and marks too.
pub fn update(context: &Context, args: &MessageUpdate) -> Outcome<Mutated> {
    let id = args.message.source.as_str();
    let is_read = args.if_match.is_some() || labels::needs_labels(args);
    let now = is_read.then(|| read_state(context, id, args.if_match.as_deref())).transpose()?;
    let change = label_change(now.as_ref().map(Message::labels), args)?;
    let message = apply(context, id, &change)?;
    let kept = args.folders.as_deref().and_then(|wanted| kept_folders(wanted, &message));
    let warnings = change.warnings.into_iter().chain(kept).collect();
    Ok(Mutated { sources: vec![state_of(id, &message)], item: Some(id.to_owned()), warnings, part: None })
}

/// The source of a message of which the labels are known.
fn state_of(id: &str, message: &Message) -> Source {
    partial(id, message.history_id.as_deref(), message.labels())
}

/// Warns where a message is not where it was to go: what Gmail sent, and drafts, stay in their folders beside any other.
fn kept_folders(wanted: &[String], message: &Message) -> Option<Warning> {
    let mut found = LabelState::from_labels(message.labels())?.folder_ids;
    let mut wanted = wanted.to_vec();
    for folders in [&mut found, &mut wanted] {
        folders.sort_unstable();
        folders.dedup();
    }
    (found != wanted)
        .then(|| field_warning("folderIds", "Gmail keeps sent messages and drafts in folders of their own"))
}

/// Makes the change and returns the message with its labels and its version. Moving into the trash and out of it takes a separate
/// request.
fn apply(context: &Context, id: &str, change: &LabelChange) -> Outcome<Message> {
    let has = |labels: &[String], label: &str| labels.iter().any(|id| id == label);
    if has(&change.add, TRASH) {
        let mut marks = change.clone();
        marks.add.retain(|label| label != TRASH);
        // The trash takes a message out of these.
        marks.remove.retain(|label| label != INBOX && label != SPAM);
        if !marks.is_empty() {
            modify(context, id, &marks)?;
        }
        trash(context, id)?;
        return read_state(context, id, None);
    }
    if change.is_empty() {
        return read_state(context, id, None);
    }
    let message = modify(context, id, change)?;
    if has(&change.remove, TRASH) && message.has_label(TRASH) {
        let request = Request::post(roots::mailbox(&["messages", id, "untrash"], &[])?);
        ask::<Message>(context, request.units(roots::MODIFY_UNITS), DOING)?;
        return read_state(context, id, None);
    }
    match message.history_id {
        Some(_) => Ok(message),
        None => read_state(context, id, None),
    }
}

fn modify(context: &Context, id: &str, change: &LabelChange) -> Outcome<Message> {
    let request = Request::post(roots::mailbox(&["messages", id, "modify"], &[])?);
    let body = json!({ "addLabelIds": change.add, "removeLabelIds": change.remove });
    ask(context, request.units(roots::MODIFY_UNITS).json(&body), DOING)
}

fn trash(context: &Context, id: &str) -> Outcome<Message> {
    let request = Request::post(roots::mailbox(&["messages", id, "trash"], &[])?);
    ask(context, request.units(roots::MODIFY_UNITS), "deleting the message")
}

/// Reads the labels and the version of a message. Fails with `conflict` where that is not the version which the change is based on.
fn read_state(context: &Context, id: &str, expected: Option<&str>) -> Outcome<Message> {
    let url = roots::message(id, &[("format", "minimal"), ("fields", STATE_FIELDS)])?;
    let message: Message = ask(context, Request::get(url).units(roots::GET_UNITS), "reading the message")?;
    if expected.is_some_and(|expected| message.history_id.as_deref() != Some(expected)) {
        return Err(Failure::conflict("the message has changed since"));
    }
    Ok(message)
}

/// Moves a message to the trash. For good go drafts alone: of other messages that takes the right to everything in the mailbox, which is
/// not asked for.
pub fn delete(context: &Context, args: &MessageDelete) -> Outcome<Mutated> {
    let id = args.message.source.as_str();
    let source = match args.permanent {
        true => destroy(context, args)?,
        false => {
            if let Some(expected) = &args.if_match {
                read_state(context, id, Some(expected))?;
            }
            match trash(context, id) {
                Ok(message) if message.has_label(TRASH) => state_of(id, &message),
                // The answer does not show the message in the trash.
                Ok(_) => state_of(id, &read_state(context, id, None)?),
                Err(failure) if failures::is_gone(&failure) => deleted_source(id),
                // An error of a front end says nothing about the message.
                Err(failure) if failure.code == code::NOT_FOUND => {
                    return Err(failure.with_code(code::UNAVAILABLE));
                }
                Err(failure) => return Err(failure),
            }
        }
    };
    Ok(Mutated { sources: vec![source], ..Mutated::default() })
}

/// Destroys a draft.
fn destroy(context: &Context, args: &MessageDelete) -> Outcome<Source> {
    let id = args.message.source.as_str();
    let hinted = Hint::read(args.message.hint.as_ref()).draft;
    if args.if_match.is_some() || hinted.is_none() {
        match read_state(context, id, args.if_match.as_deref()) {
            Ok(message) if message.has_label(DRAFT) => {}
            Ok(_) => return Err(Failure::unsupported("deleting messages for good")),
            Err(failure) if failures::is_gone(&failure) && args.if_match.is_none() => {
                return Ok(deleted_source(id));
            }
            Err(failure) => return Err(failure),
        }
    }
    let is_removed = match &hinted {
        Some(draft) => drafts::remove(context, draft)?,
        None => false,
    };
    // The hint may be older than the draft.
    if !is_removed && let Some(draft) = drafts::find_listed(context, id)? {
        drafts::remove(context, &draft)?;
    }
    Ok(deleted_source(id))
}
