//! Drafts. Graph cannot replace the content of a message by another MIME: each version is a new message, and the one before it is deleted.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::{DraftSave, MessageRef};
use model::wire::{Mutated, Source};

use crate::api::object;
use crate::mail::access::ensure_readable;
use crate::mail::compose::{abandon, read_message, small_mime, store_draft};
use crate::mail::edit::{read_state, remove};
use crate::mail::find::{DRAFTS, look_through};
use crate::mail::message::source;
use crate::mail::native::Message;
use crate::mail::read::read_source;
use crate::mail::select::{self, LISTED};
use crate::odata::batch::{change_in_turn, taken};
use crate::odata::{failures, root};

const DOING: &str = "saving the draft";

/// Stores a draft, or another version of one.
pub fn save_draft(context: &Context, args: &DraftSave) -> Outcome<Mutated> {
    ensure_readable(context)?;
    let raw = read_message(context, &args.blob)?;
    let left = left_by_earlier_attempt(context, args)?;
    let is_left = !left.is_empty();
    let id = match left.first().filter(|_| small_mime(&raw, "").is_some()) {
        Some(id) => id.clone(),
        // The files of a large message follow one by one: an attempt that broke off may have left it without some.
        None => {
            let stored = store_draft(context, &raw, "")?;
            left.iter().for_each(|left| abandon(context, left));
            stored.id
        }
    };
    drop(raw);
    let stored = match &args.replaces {
        Some(replaced) => take_place(context, args, replaced, &Version { id: &id, is_left })?,
        None => read_source(context, &id).map_err(not_there_yet)?,
    };
    let previous_id = args.replaces.as_ref().map(|replaced| replaced.source.clone());
    let previous_id = previous_id.filter(|previous| *previous != stored.external_id);
    let item = Some(stored.external_id.clone());
    Ok(Mutated { sources: vec![Source { previous_id, ..stored }], item, ..Mutated::default() })
}

/// A version of a draft that was stored just now.
struct Version<'a> {
    id: &'a str,
    /// By an earlier attempt, which may have deleted the version before it.
    is_left: bool,
}

/// Deletes the version before, and reads the new one: one batch. Where the version before is another one than the change is based on, it
/// stays, and the new one goes.
fn take_place(context: &Context, args: &DraftSave, replaced: &MessageRef, new: &Version) -> Outcome<Source> {
    let refuse = |failure: Failure| {
        abandon(context, new.id);
        Err(failure)
    };
    if replaced.source == new.id {
        return read_source(context, new.id).map_err(not_there_yet);
    }
    let delete =
        Request::delete(root::me(&["messages", &replaced.source], &[])?).if_match(args.if_match.as_deref());
    let read = Request::get(select::message(new.id, LISTED)?);
    let mut answers = change_in_turn(context, vec![delete, read], DOING)?;
    let deleted = match taken(context, &mut answers, 0, DOING) {
        // A conflict with a version that is still there is none (microsoftgraph/microsoft-graph-docs#2256).
        Err(failure) if failure.code == code::CONFLICT => {
            let expected = args.if_match.as_deref();
            read_state(context, &replaced.source, expected)
                .and_then(|_| remove(context, &replaced.source, expected))
        }
        deleted => deleted.map(|_| ()),
    };
    match deleted {
        Ok(()) => {
            let read =
                taken(context, &mut answers, 1, DOING).and_then(|response| object::<Message>(&response));
            read.map(|message| source(&message))
                .or_else(|_| read_source(context, new.id))
                .map_err(not_there_yet)
        }
        // A draft that is gone is made again, unless the change is based on its version.
        Err(failure) if failures::is_gone(&failure) => match args.if_match.is_some() && !new.is_left {
            true => refuse(Failure::not_found("the draft is no longer there")),
            false => read_source(context, new.id).map_err(not_there_yet),
        },
        Err(failure) if failure.code == code::CONFLICT => {
            refuse(Failure::conflict("the draft has changed since"))
        }
        // The version before may be gone: the new one has to stay, and another attempt finds it.
        Err(failure) if !is_refusal(&failure) => Err(failure),
        Err(failure) => refuse(failure),
    }
}

/// Whether the provider says that it has not done what it was asked for.
fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.http_status, Some(400..=407 | 409..=499))
}

/// A message that was stored just now is not missing.
fn not_there_yet(failure: Failure) -> Failure {
    match failure.code == code::NOT_FOUND {
        true => Failure::unavailable("the provider does not show the message that it stored yet"),
        false => failure,
    }
}

/// The drafts that earlier attempts stored, whose answers were lost.
fn left_by_earlier_attempt(context: &Context, args: &DraftSave) -> Outcome<Vec<String>> {
    if context.attempt() == 1 || args.internet_message_id.is_empty() {
        return Ok(Vec::new());
    }
    let replaced = args.replaces.as_ref().map(|replaced| replaced.source.as_str());
    let found = look_through(context, DRAFTS, &args.internet_message_id)?;
    Ok(found.into_iter().map(|message| message.id).filter(|id| Some(id.as_str()) != replaced).collect())
}
