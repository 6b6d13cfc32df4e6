//! Messages as drafts at Graph: in one request, or without their large files, which follow one by one. The message is in memory once,
//! whatever its size.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use mail::read::rewrite::{FilePart, base64_text, file_parts, rewritten};

use crate::api::ask;
use crate::mail::edit::remove;
use crate::mail::native::Message;
use crate::mail::road::{MAX_MESSAGE_BYTES, MAX_MIME_BYTES};
use crate::mail::upload::attach;
use crate::odata::root;

/// Bytes of a blob that are read at a time.
const CHUNK_BYTES: u32 = 1 << 20;
/// Files of this many bytes and more do not go with the rest of a message that is too large for one request.
const LARGE_FILE_BYTES: usize = 262_144;
/// Bytes that a message can be longer than its parts together suggest: other transfer encodings.
const SLACK_BYTES: usize = 65_536;
const DOING: &str = "storing the message";

/// Returns the size of a message in bytes. Fails with `invalid` where Graph takes less.
pub fn checked_size(context: &Context, blob: &str) -> Outcome<u64> {
    match context.host().blob_size(blob) {
        Some(size) if size <= MAX_MESSAGE_BYTES => Ok(size),
        Some(size) => Err(Failure::invalid(format!(
            "the message has {size} bytes; the provider takes at most {MAX_MESSAGE_BYTES}"
        ))),
        None => Err(Failure::new(code::INTERNAL, "the message of the call is missing")),
    }
}

/// Returns the message of the call.
pub fn read_message(context: &Context, blob: &str) -> Outcome<Vec<u8>> {
    let size = usize::try_from(checked_size(context, blob)?).unwrap_or_default();
    // Room for all of it at once: growing would need twice as much.
    let mut message = Vec::with_capacity(size);
    while message.len() < size {
        let chunk = context.host().read_blob(blob, message.len() as u64, CHUNK_BYTES).unwrap_or_default();
        if chunk.is_empty() {
            return Err(Failure::new(code::INTERNAL, "the message of the call is cut off"));
        }
        message.extend_from_slice(&chunk);
    }
    Ok(message)
}

/// Returns the request body with a message: base64 of the MIME.
pub fn mime_request(url: String, mime: &[u8]) -> Request {
    Request::post(url).body("text/plain", base64_text(mime).into_bytes())
}

/// Returns the message as it goes in one request, with these header fields before its own; none where it is too large for that.
pub fn small_mime(raw: &[u8], fields: &str) -> Option<Vec<u8>> {
    if !is_small(raw) {
        return None;
    }
    Some(rewritten(raw, fields, &[])).filter(|mime| is_small(mime.as_slice()))
}

fn is_small(mime: &[u8]) -> bool {
    mime.len() as u64 <= MAX_MIME_BYTES
}

/// Stores a message as a draft, with these header fields before its own. What was stored before a failure is deleted again.
pub fn store_draft(context: &Context, raw: &[u8], fields: &str) -> Outcome<Message> {
    if let Some(mime) = small_mime(raw, fields) {
        return post(context, &mime);
    }
    let files = file_parts(raw);
    let large = large_files(raw.len(), &files)?;
    let mime = rewritten(raw, fields, &large);
    if !is_small(&mime) {
        return Err(too_large_without_files());
    }
    let draft = post(context, &mime)?;
    drop(mime);
    for file in large {
        if let Err(failure) = attach(context, &draft.id, raw, file) {
            abandon(context, &draft.id);
            return Err(failure);
        }
    }
    Ok(draft)
}

/// Deletes a draft that is of no use any more. Where that fails, a later attempt finds it.
pub fn abandon(context: &Context, id: &str) {
    if let Err(failure) = remove(context, id, None) {
        context.log(
            connector_sdk::Level::Warn,
            "a draft could not be deleted",
            &[("code", failure.code), ("status", failure.http_status.unwrap_or_default().to_string())],
        );
    }
}

fn post(context: &Context, mime: &[u8]) -> Outcome<Message> {
    let draft: Message = ask(context, mime_request(root::me(&["messages"], &[])?, mime), DOING)?;
    match draft.id.is_empty() {
        true => Err(Failure::unavailable("the provider does not name the draft that it stored")),
        false => Ok(draft),
    }
}

/// The files that do not go with the rest: all large ones, and as many others as it takes.
fn large_files(size: usize, files: &[FilePart]) -> Outcome<Vec<&FilePart>> {
    let mut rest = size.saturating_add(SLACK_BYTES);
    let max = usize::try_from(MAX_MIME_BYTES).unwrap_or(usize::MAX);
    let mut left_out: Vec<&FilePart> = files.iter().filter(|file| file.can_be_left_out).collect();
    left_out.sort_by_key(|file| std::cmp::Reverse(file.body.len()));
    left_out.retain(|file| {
        let is_left_out = file.body.len() >= LARGE_FILE_BYTES || rest > max;
        if is_left_out {
            rest = rest.saturating_sub(file.body.len());
        }
        is_left_out
    });
    if rest > max {
        return Err(too_large_without_files());
    }
    // As they stand in the message.
    left_out.sort_by_key(|file| file.body.start);
    Ok(left_out)
}

fn too_large_without_files() -> Failure {
    Failure::invalid(format!(
        "the message is larger than {MAX_MIME_BYTES} bytes without its files, which the provider does not take"
    ))
}
