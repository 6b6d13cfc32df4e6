//! `messages.raw` and `attachments.get`: bytes from the server into a blob of the call.

use connector_sdk::http::BlobInfo;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::{AttachmentRef, Content, MessageRef};

use crate::client::{Client, MESSAGE};
use crate::message;
use crate::message::parts::{self, Hint};
use crate::protocol::email::{self, Email};

/// The message as it is stored.
pub fn raw(cx: &Context, args: MessageRef) -> Outcome<Content> {
    let client = Client::new(cx)?;
    let id = message::id(&args.source)?;
    let download = |blob_id: &str| client.download(blob_id, "message.eml", MESSAGE, "reading the message");
    let known = Hint::read(args.hint.as_ref()).blob_id;
    let info = match known.as_deref().map(download) {
        Some(Err(failure)) if failure.code == code::NOT_FOUND => None,
        other => other.transpose()?,
    };
    // Without a hint, or where the server calls the blob something else by now.
    let info = match info {
        Some(info) => info,
        None => {
            let email = read(&client, &id, &["id", "blobId"])?;
            download(&email.blob_id.ok_or_else(not_there)?)?
        }
    };
    Ok(content(info, MESSAGE))
}

/// An attachment, decoded.
pub fn attachment(cx: &Context, args: AttachmentRef) -> Outcome<Content> {
    let client = Client::new(cx)?;
    let id = message::id(&args.message.source)?;
    let blob_id = parts::blob_id(&args.part).ok_or_else(not_there)?.to_owned();
    let hint = Hint::read(args.message.hint.as_ref());
    let media_type = match hint.media_type(&args.part) {
        Some(media_type) => media_type.to_owned(),
        None => {
            let email = read(&client, &id, &["id", "attachments"])?;
            let mut files = email.attachments.iter().flatten();
            let part =
                files.find(|part| parts::name(part).as_deref() == Some(&args.part)).ok_or_else(not_there)?;
            parts::media_type(part).unwrap_or_else(|| parts::BYTES.to_owned())
        }
    };
    let info = client.download(&blob_id, "attachment", &media_type, "reading the attachment")?;
    Ok(content(info, &media_type))
}

fn read(client: &Client, id: &str, properties: &[&str]) -> Outcome<Email> {
    let found = client.emails(&[id.to_owned()], &email::get(properties), "reading the message")?;
    found.into_iter().next().and_then(Result::ok).ok_or_else(not_there)
}

fn not_there() -> Failure {
    Failure::not_found("there is no such message or attachment at the provider")
}

/// The type that the message names, not the one of the HTTP answer: servers may change that to a harmless one.
fn content(info: BlobInfo, media_type: &str) -> Content {
    Content { blob: info.id, content_type: Some(media_type.to_owned()) }
}
