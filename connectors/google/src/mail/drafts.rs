//! Drafts. A draft has its own id, which stays; the message in it gets a new one with each version. The hint of a draft has its id.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::wire::email::{DraftSave, MessageRef};
use model::wire::{Mutated, Source};
use serde_json::{Map, Value, json};

use crate::api::{ask, execute};
use crate::failures;
use crate::mail::draft_index::DraftIndex;
use crate::mail::find::with_header;
use crate::mail::message::{Hint, read_stored};
use crate::mail::native::{DraftEntry, DraftPage};
use crate::mail::roots;
use crate::mail::upload::{MAX_SENT_BYTES, MULTIPART, MessageUpload, checked_size};

const DOING: &str = "saving the draft";
/// The newest drafts, among which an earlier attempt's is looked for.
const LOOKED_THROUGH: &str = "25";
/// The members that identify the stored version of a draft.
const VERSION_FIELDS: &str = "id,message(id,threadId,historyId)";

/// Stores a draft, or another version of one.
pub fn save_draft(context: &Context, args: &DraftSave) -> Outcome<Mutated> {
    checked_size(context, &args.blob, MAX_SENT_BYTES)?;
    let saved = match &args.replaces {
        Some(replaced) => replace(context, args, replaced)?,
        None => create(context, args)?,
    };
    let source = read_stored(context, &saved.message.id, Some(&saved.id))?;
    let previous = args.replaces.as_ref().map(|replaced| replaced.source.clone());
    let previous_id = previous.filter(|id| *id != source.external_id);
    let item = Some(source.external_id.clone());
    Ok(Mutated { sources: vec![Source { previous_id, ..source }], item, ..Mutated::default() })
}

fn create(context: &Context, args: &DraftSave) -> Outcome<DraftEntry> {
    if context.attempt() > 1
        && let Some(left) = left_by_earlier_attempt(context, &args.internet_message_id)?
    {
        return Ok(left);
    }
    upload(context, args, None)
}

/// Replaces a draft by a new version. A draft that is gone is created again, unless the change is based on its version.
fn replace(context: &Context, args: &DraftSave, replaced: &MessageRef) -> Outcome<DraftEntry> {
    let missing = |failure: Failure| match &args.if_match {
        Some(_) => Err(failure),
        None => create(context, args),
    };
    let Some(draft) = find_draft(context, replaced)? else {
        return missing(Failure::not_found("the draft is no longer there"));
    };
    if let Some(expected) = &args.if_match {
        let now = read_version(context, &draft)?;
        // Each version is another message. Where its history is not reported, that is enough.
        let is_same = now.message.id == replaced.source
            && now.message.history_id.as_ref().is_none_or(|history| history == expected);
        if !is_same {
            return match context.attempt() > 1 && is_version(context, &now, &args.internet_message_id)? {
                true => Ok(now),
                false => Err(Failure::conflict("the draft has changed since")),
            };
        }
    }
    match upload(context, args, Some(&draft)) {
        Err(failure) if failures::is_gone(&failure) => missing(failure),
        done => done,
    }
}

/// Uploads a new draft, or a version of the draft of this id. A thread that is no longer there is left out.
fn upload(context: &Context, args: &DraftSave, draft: Option<&str>) -> Outcome<DraftEntry> {
    let saved = match upload_into(context, args, draft, args.thread.as_deref()) {
        Err(failure) if args.thread.is_some() && is_about_thread(&failure) => {
            upload_into(context, args, draft, None)?
        }
        done => done?,
    };
    match saved.id.is_empty() || saved.message.id.is_empty() {
        true => Err(Failure::unavailable("the provider does not name the draft that it stored")),
        false => Ok(saved),
    }
}

/// Whether a refusal may be that of the thread: a thread of another account and one that is gone are refused so.
pub fn is_about_thread(failure: &Failure) -> bool {
    matches!(failure.http_status, Some(400 | 404))
}

fn upload_into(
    context: &Context,
    args: &DraftSave,
    draft: Option<&str>,
    thread: Option<&str>,
) -> Outcome<DraftEntry> {
    let (method, segments, units) = match draft {
        Some(id) => ("PUT", vec!["drafts", id], roots::DRAFT_UPDATE_UNITS),
        None => ("POST", vec!["drafts"], roots::DRAFT_UNITS),
    };
    let upload = MessageUpload {
        url: roots::upload(&segments, &[MULTIPART])?,
        metadata: entry(draft, thread),
        fields: "",
        blob: &args.blob,
    };
    ask(context, upload.request(context, method).units(units), DOING)
}

/// Returns the JSON of a draft whose message is uploaded beside it.
pub fn entry(draft: Option<&str>, thread: Option<&str>) -> Value {
    let mut entry = Map::new();
    entry.extend(draft.map(|id| ("id".to_owned(), json!(id))));
    entry.insert("message".to_owned(), in_thread(thread));
    Value::Object(entry)
}

/// Returns the JSON of a message that is uploaded beside it.
pub fn in_thread(thread: Option<&str>) -> Value {
    Value::Object(thread.map(|id| ("threadId".to_owned(), json!(id))).into_iter().collect())
}

/// The id of the draft of a message: as last reported, else looked up among all drafts.
pub fn find_draft(context: &Context, message: &MessageRef) -> Outcome<Option<String>> {
    match Hint::read(message.hint.as_ref()).draft {
        Some(id) => Ok(Some(id)),
        None => find_listed(context, &message.source),
    }
}

/// The id of the draft that has this message, as Gmail lists it now.
pub fn find_listed(context: &Context, message_id: &str) -> Outcome<Option<String>> {
    Ok(DraftIndex::load(context)?.draft_of(message_id).map(str::to_owned))
}

/// Destroys a draft. Returns whether it was there.
pub fn remove(context: &Context, draft: &str) -> Outcome<bool> {
    let request = Request::delete(roots::mailbox(&["drafts", draft], &[])?).units(roots::DRAFT_UNITS);
    match execute(context, request, "deleting the draft") {
        Ok(()) => Ok(true),
        Err(failure) if failures::is_gone(&failure) => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn read_version(context: &Context, draft: &str) -> Outcome<DraftEntry> {
    let query = [("format", "minimal"), ("fields", VERSION_FIELDS)];
    let request = Request::get(roots::mailbox(&["drafts", draft], &query)?).units(roots::GET_UNITS);
    ask(context, request, "reading the draft")
}

/// Whether the draft is the version with this Message-ID.
fn is_version(context: &Context, draft: &DraftEntry, internet_message_id: &str) -> Outcome<bool> {
    let found = with_header(context, &[draft.message.id.as_str()], "Message-ID", internet_message_id)?;
    Ok(!found.is_empty())
}

/// The draft that an earlier attempt stored, whose answer was lost.
fn left_by_earlier_attempt(context: &Context, internet_message_id: &str) -> Outcome<Option<DraftEntry>> {
    let query = [("maxResults", LOOKED_THROUGH), ("fields", "drafts(id,message(id))")];
    let request = Request::get(roots::mailbox(&["drafts"], &query)?).units(roots::LIST_UNITS);
    let page: DraftPage = ask(context, request, "looking for the draft")?;
    let ids: Vec<&str> = page.drafts.iter().map(|draft| draft.message.id.as_str()).collect();
    let found = with_header(context, &ids, "Message-ID", internet_message_id)?;
    let is_found = |draft: &DraftEntry| found.iter().any(|message| message.id == draft.message.id);
    Ok(page.drafts.into_iter().find(is_found))
}
