//! Attachments: their bytes come from the provider into a blob of the host's, on disk where they are large, and go from there to the
//! client piece by piece.

use base::error::{Code, Result, not_found, refuse};
use model::email::{Attachment, EmailMessage};
use model::wire::email::{AttachmentRef, Content, MessageRef};
use runtime::{self, Blob, Surface, Verb};
use sha2::{Digest, Sha256};
use storage::connections::Connection;
use storage::items::Item;

use crate::app::App;
use crate::connections;
use crate::connections::call::{self, Op, Options, Reply, Target};
use crate::resources::mail::prepare::Aside;
use crate::resources::mail::read::open;
use crate::resources::{Asker, failed};

/// Most bytes of an attachment that is answered as JSON.
pub const MAX_JSON: u64 = 10 << 20;

/// An attachment and its bytes.
pub struct Fetched {
    pub attachment: Attachment,
    pub blob: Blob,
}

/// Asks the provider for an attachment of a message that the key may read.
pub async fn fetch(app: &App, asker: &Asker, message_id: &str, attachment_id: &str) -> Result<Fetched> {
    let (connection, item) = open(app, asker, message_id, "email.read").await?;
    let (attachment, part) = find(&item, attachment_id)?;
    let blob = bytes(app, asker, &connection, &item, &part).await?;
    Ok(Fetched { attachment, blob })
}

/// What is known of an attachment, and what the connector calls it.
pub fn find(item: &Item, attachment_id: &str) -> Result<(Attachment, String)> {
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let attachment = message.attachments.into_iter().find(|a| a.id == attachment_id);
    let part = Aside::of(item.aside.as_deref()).parts.into_iter().find(|(id, _)| id == attachment_id);
    match (attachment, part) {
        (Some(attachment), Some((_, part))) => Ok((attachment, part)),
        _ => Err(not_found("attachment")),
    }
}

/// The bytes of a part of a message.
pub async fn bytes(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    item: &Item,
    part: &str,
) -> Result<Blob> {
    let message = message_ref(item);
    let args = AttachmentRef { message, part: part.to_owned() };
    content(app, asker, connection, "attachments.get", &args).await
}

/// The whole message as it is stored.
pub async fn raw(app: &App, asker: &Asker, connection: &Connection, item: &Item) -> Result<Blob> {
    content(app, asker, connection, "messages.raw", &message_ref(item)).await
}

/// SHA-256 in lower-case hexadecimal.
pub fn checksum(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn message_ref(item: &Item) -> MessageRef {
    MessageRef { source: item.source_id.clone(), hint: Aside::of(item.aside.as_deref()).hint }
}

async fn content<A: serde::Serialize + Sync>(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    name: &'static str,
    args: &A,
) -> Result<Blob> {
    let op = Op { surface: Surface::Email, verb: Verb::Fetch, name };
    let options = Options { request_id: asker.request_id.clone(), ..Options::default() };
    let target = Target::of(app, connection)?;
    let reply: std::result::Result<Reply<Content>, runtime::Error> =
        call::run(app, &target, op, args, options).await;
    let reply = match reply {
        Ok(reply) => reply,
        Err(e) => return Err(failed(app, connection, &e).await),
    };
    connections::state::note(app, connection, Ok(())).await;
    let missing = || refuse(Code::ConnectorError, "the connector named content that is not there");
    reply.blobs.get(&reply.body.blob).ok_or_else(missing)
}
