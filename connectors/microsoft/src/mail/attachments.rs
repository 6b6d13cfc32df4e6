//! Files of a message, and the message as it is stored: into blobs of the call.

use connector_sdk::http::{BlobInfo, Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::{AttachmentRef, Content, MessageRef};

use crate::mail::access::ensure_readable;
use crate::mail::message::REFERENCE;
use crate::odata::{failures, prefer, root};

/// The most bytes of a message or of a file: what Graph takes for one.
const MAX_CONTENT_BYTES: u64 = 150 << 20;
/// Bytes of an error's body that are read.
const MAX_ERROR_BYTES: u32 = 64 << 10;
const MESSAGE: &str = "message/rfc822";

/// Returns the message as Exchange writes it.
pub fn raw(context: &Context, args: &MessageRef) -> Outcome<Content> {
    ensure_readable(context)?;
    let url = root::me(&["messages", args.source.as_str(), "$value"], &[])?;
    let info = to_blob(context, &url, "reading the message")?;
    Ok(Content { blob: info.id, content_type: Some(MESSAGE.to_owned()) })
}

/// Returns a file of a message: its bytes, or an enclosed item in its own format (a message in MIME, an event as iCalendar).
pub fn attachment(context: &Context, args: &AttachmentRef) -> Outcome<Content> {
    ensure_readable(context)?;
    if args.part.starts_with(REFERENCE) {
        let message = "the attachment is a link to a file in the cloud, which has no content here";
        return Err(Failure::new(code::UNSUPPORTED, message));
    }
    let path = ["messages", args.message.source.as_str(), "attachments", args.part.as_str(), "$value"];
    let info = to_blob(context, &root::me(&path, &[])?, "reading the attachment")?;
    let named = info.content_type.filter(|named| !named.is_empty());
    Ok(Content { blob: info.id, content_type: named })
}

/// Streams an answer into a blob. One that breaks off is asked for once more: Graph cuts off long messages at times
/// (microsoftgraph/microsoft-graph-docs#18439).
fn to_blob(context: &Context, url: &str, doing: &str) -> Outcome<BlobInfo> {
    let send = || {
        let request = prefer::ensure(Request::get(url));
        context.host().send_to_blob(request, "raw", MAX_CONTENT_BYTES).map_err(Failure::from)
    };
    let is_broken = |failure: &Failure| {
        failure.retry_after_ms.is_none()
            && [code::UNAVAILABLE, code::TIMEOUT].contains(&failure.code.as_str())
    };
    let info = match send() {
        Err(failure) if is_broken(&failure) => send()?,
        sent => sent?,
    };
    if (200..300).contains(&info.status) {
        return Ok(info);
    }
    // A refusal went into the blob as it came.
    let body = context.host().read_blob(&info.id, 0, MAX_ERROR_BYTES).unwrap_or_default();
    let response =
        Response { status: info.status, headers: info.headers.clone(), body, ..Response::default() };
    Err(failures::of(context, &response, doing))
}
