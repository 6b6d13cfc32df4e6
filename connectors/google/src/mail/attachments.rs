//! Files of a message, and the message as it is stored: into blobs of the call.

use connector_sdk::http::{BlobInfo, Request};
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::{AttachmentRef, Content, MessageRef};

use crate::api::ask;
use crate::mail::content::{attachment_to_blob, not_there, to_blob};
use crate::mail::mime::{PartPlace, is_message, leaves, media_type, part_id};
use crate::mail::native::Message;
use crate::mail::roots;

/// Largest message that is taken apart here, bytes: its whole is in the connector's memory, and the part that is cut out of it.
const MAX_MESSAGE_BYTES: u64 = 12 << 20;
/// Bytes of a blob that are read at a time.
const CHUNK_BYTES: u32 = 1 << 20;

const MESSAGE: &str = "message/rfc822";

/// Returns the message as it is stored.
pub fn raw(context: &Context, args: &MessageRef) -> Outcome<Content> {
    let info = raw_blob(context, &args.source)?;
    Ok(Content { blob: info.id, content_type: Some(MESSAGE.to_owned()) })
}

/// Returns a file of a message, decoded. Gmail changes an attachment's id with each read: it is requested again.
pub fn attachment(context: &Context, args: &AttachmentRef) -> Outcome<Content> {
    let id = args.message.source.as_str();
    let query = [("format", "full"), ("fields", "id,payload")];
    let request = Request::get(roots::message(id, &query)?).units(roots::GET_UNITS);
    let message: Message = ask(context, request, "reading the message")?;
    let place = leaves(&message).into_iter().find(|place| part_id(place.part) == args.part);
    let place = place.ok_or_else(not_there)?;
    let body = &place.part.body;
    let blob = match (&body.attachment_id, &body.data) {
        (Some(attachment_id), _) => attachment_to_blob(context, id, attachment_id)?.id,
        (None, Some(_)) => inline_blob(context, id, &place)?.id,
        (None, None) if is_message(place.part) => enclosed_blob(context, id, &place)?,
        // An empty file.
        (None, None) => create_blob(context, &[])?,
    };
    Ok(Content { blob, content_type: Some(media_type(place.part)) })
}

fn raw_blob(context: &Context, id: &str) -> Outcome<BlobInfo> {
    let query = [("format", "raw"), ("fields", "raw")];
    let request = Request::get(roots::message(id, &query)?).units(roots::GET_UNITS);
    to_blob(context, request, "/raw", "reading the message")
}

/// A small part that comes with its message.
fn inline_blob(context: &Context, id: &str, place: &PartPlace) -> Outcome<BlobInfo> {
    let query = [("format", "full"), ("fields", "payload")];
    let request = Request::get(roots::message(id, &query)?).units(roots::GET_UNITS);
    let steps: String = place.path.iter().map(|at| format!("/parts/{at}")).collect();
    to_blob(context, request, &format!("/payload{steps}/body/data"), "reading the attachment")
}

/// An enclosed message of which Gmail gives the parts alone: it is cut out of the whole.
fn enclosed_blob(context: &Context, id: &str, place: &PartPlace) -> Outcome<String> {
    let info = raw_blob(context, id)?;
    let host = context.host();
    let size = info.size.or_else(|| host.blob_size(&info.id)).unwrap_or(u64::MAX);
    if size > MAX_MESSAGE_BYTES {
        return Err(Failure::new(code::UNSUPPORTED, "the message is too large to be taken apart"));
    }
    let mut message = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    while (message.len() as u64) < size {
        let chunk = host.read_blob(&info.id, message.len() as u64, CHUNK_BYTES).unwrap_or_default();
        if chunk.is_empty() {
            break;
        }
        message.extend_from_slice(&chunk);
    }
    // Sections count from 1 (RFC 9051 section 6.4.5), and a message without a multipart is its own first one.
    let steps: Vec<String> = place.path.iter().map(|at| at.saturating_add(1).to_string()).collect();
    let section = if steps.is_empty() { "1".to_owned() } else { steps.join(".") };
    let file = mail::read::attachment(&message, &section).ok_or_else(not_there)?;
    create_blob(context, &file.bytes)
}

fn create_blob(context: &Context, content: &[u8]) -> Outcome<String> {
    let blob = context.host().create_blob(content, None);
    blob.ok_or_else(|| Failure::unavailable("there is no room for the attachment"))
}
