//! Messages by their ids, with the requested parts of each.

use connector_sdk::{Context, Outcome};
use model::wire::email::MessagesGet;
use model::wire::{Source, Sources};

use crate::fields;
use crate::mail::content::body;
use crate::mail::draft_index::DraftIndex;
use crate::mail::fetch::{FetchedMessage, SYNC_PARTS, WAITING_PARTS, fetch};
use crate::mail::labels::DRAFT;
use crate::mail::message::{Hint, MessageExtras, MessageMapping, deleted_source, unreadable};
use crate::mail::native::Message;

/// Messages of one call (`wire::email::MessagesGet`).
const MAX_MESSAGES: usize = 200;

/// Bytes of all texts of one answer, which has an end. What has no room is cut off.
const TEXT_ROOM: usize = 5 << 20;

/// Returns the messages; a missing one is reported as deleted. Fails where the provider does not answer for all of them at the moment: what
/// is left out would be taken for gone.
pub fn get(context: &Context, args: &MessagesGet) -> Outcome<Sources> {
    // With their texts only few are in memory at a time.
    let at_once = if args.body { SYNC_PARTS } else { MAX_MESSAGES };
    let ids: Vec<String> =
        args.messages.iter().take(MAX_MESSAGES).map(|message| message.source.clone()).collect();
    let mut room = TEXT_ROOM;
    let mut sources = Vec::with_capacity(ids.len());
    for ids in ids.chunks(at_once) {
        sources.extend(get_some(context, args, ids, &mut room)?);
    }
    Ok(Sources { sources, ..Sources::default() })
}

/// Returns some of the messages. `room`: bytes that are left for texts.
fn get_some(context: &Context, args: &MessagesGet, ids: &[String], room: &mut usize) -> Outcome<Vec<Source>> {
    let at_most = if args.body { SYNC_PARTS } else { WAITING_PARTS };
    let mut fetched = fetch(context, ids, &fields::message(args.body), at_most)?;
    if let Some(failure) = fetched.wait.take() {
        return Err(failure);
    }
    if let [(_, FetchedMessage::Failed(failure))] = fetched.messages.as_slice() {
        return Err(failure.clone());
    }
    let drafts = drafts_of(context, args, &fetched.messages)?;
    let mapping = MessageMapping { drafts: &drafts, now_ms: context.now_ms() };
    let asked = usize::try_from(args.max_body_bytes).unwrap_or(usize::MAX);
    let most = if asked == 0 { usize::MAX } else { asked };
    let mut whole = |message: &Message| {
        let body = args.body.then(|| body(context, message, most.min(*room / 2).max(1)));
        let texts = body.iter().flat_map(|body| [&body.text, &body.html]).flatten();
        *room = room.saturating_sub(texts.map(String::len).sum());
        mapping.source_with(message, MessageExtras { headers: args.headers || args.body, body })
    };
    let source = |(id, message): &(String, FetchedMessage)| -> Source {
        match message {
            FetchedMessage::There(message) => whole(message),
            FetchedMessage::Gone => deleted_source(id),
            FetchedMessage::Unreadable | FetchedMessage::Failed(_) => unreadable(id),
        }
    };
    Ok(fetched.messages.iter().map(source).collect())
}

/// The drafts among the messages: as their hints say, else as the provider lists them.
fn drafts_of(
    context: &Context,
    args: &MessagesGet,
    messages: &[(String, FetchedMessage)],
) -> Outcome<DraftIndex> {
    let mut known = DraftIndex::default();
    for message in &args.messages {
        if let Some(draft) = Hint::read(message.hint.as_ref()).draft {
            known.add(&message.source, &draft);
        }
    }
    let is_unknown = |(id, message): &(String, FetchedMessage)| match message {
        FetchedMessage::There(message) => message.has_label(DRAFT) && known.draft_of(id).is_none(),
        _ => false,
    };
    if messages.iter().any(is_unknown) { DraftIndex::load(context) } else { Ok(known) }
}
