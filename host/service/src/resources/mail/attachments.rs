//! Attachments: their bytes are read from the provider into a blob of the host, on disk if they are large, and streamed to the client.

use base::error::{Result, not_found};
use model::email::{Attachment, EmailMessage};
use model::wire::email::AttachmentRef;
use runtime::Blob;
use sha2::{Digest, Sha256};
use storage::connections::Connection;
use storage::items::Item;

use crate::app::App;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::resources::mail::read::open;
use crate::writes::provider_records::{content, message_ref};

/// Most bytes of an attachment that is returned as JSON.
pub const MAX_JSON: u64 = 10 << 20;

/// An attachment and its bytes.
pub struct AttachmentBytes {
    pub attachment: Attachment,
    pub blob: Blob,
}

/// Asks the provider for an attachment of a message that the key may read.
pub async fn fetch(
    app: &App,
    asker: &RequestContext,
    message_id: &str,
    attachment_id: &str,
) -> Result<AttachmentBytes> {
    let (connection, item) = open(app, asker, message_id, "email.read").await?;
    let (attachment, part) = find(&item, attachment_id)?;
    let blob = bytes(app, asker, &connection, &item, &part).await?;
    Ok(AttachmentBytes { attachment, blob })
}

/// Returns an attachment of a message, and the connector's id of its part. `not_found` if there is none.
pub fn find(item: &Item, attachment_id: &str) -> Result<(Attachment, String)> {
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let attachment = message.attachments.into_iter().find(|a| a.id == attachment_id);
    let part = MessageSideData::from_text(item.aside.as_deref())
        .parts
        .into_iter()
        .find(|(id, _)| id == attachment_id);
    match (attachment, part) {
        (Some(attachment), Some((_, part))) => Ok((attachment, part)),
        _ => Err(not_found("attachment")),
    }
}

/// The bytes of a part of a message.
pub async fn bytes(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: &Item,
    part: &str,
) -> Result<Blob> {
    let message = message_ref(item);
    let args = AttachmentRef { message, part: part.to_owned() };
    content(app, asker, connection, "attachments.get", &args).await
}

/// SHA-256 in lower-case hexadecimal.
pub fn checksum(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
