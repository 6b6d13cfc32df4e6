//! Appends a message to a folder without sending it: an imported message, or one made from fields.

use ::mail::read::message as read_message;
use base::error::{Code, Error, Refusal, Result, invalid};
use base::input::metadata;
use base::input::validate::{fault, year_of};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::bounds::mail::MAX_RAW;
use model::email::send::NewMessage;
use model::wire::email::MessageAppend;
use runtime::{Blobs, Surface};
use serde_json::Value;
use storage::connections::Connection;

use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, call_provider};
use crate::connections::write_context::WriteContext;
use crate::resources::mail::compose::{DraftContent, compose, message_id};
use crate::resources::mail::write::{keywords, resolve_folders};
use crate::resources::open_item::ensure_mailbox_fresh;
use crate::writes::mail::MessageView;
use crate::writes::open_collection::WriteLocation;
use crate::writes::reconcile::reconcile;
use crate::writes::response::ResponseChange;

/// Stores a message.
pub async fn append(cx: &WriteContext, new: NewMessage, warnings: Vec<Value>) -> Result<StoredResponse> {
    if new.connection_id.is_empty() {
        return Err(invalid(Code::MissingField, "connectionId", "connectionId is required"));
    }
    metadata::check("metadata", &new.metadata)?;
    let mut account = cx.account(&new.connection_id, "email.write").await?;
    // Folders and threads are looked up in the local copy.
    ensure_mailbox_fresh(&cx.app, &mut account, false).await?;
    let connection = &account.connection;
    let (bytes, message_id) = bytes(cx, connection, &new).await?;
    let blobs = Blobs::default();
    let blob = blobs.create(&bytes, Some("message/rfc822".to_owned())).ok_or_else(full)?;
    drop(bytes);
    let (folder, label) = (ResourceKind::EmailFolder, ResourceKind::EmailLabel);
    let folders = resolve_folders(cx, connection, folder, "folderIds", &new.folder_ids).await?;
    let labels = resolve_folders(cx, connection, label, "labelIds", &new.label_ids).await?;
    let args = MessageAppend {
        blob,
        internet_message_id: message_id,
        folders,
        labels,
        unread: new.unread,
        starred: new.starred,
        draft: false,
        keywords: keywords("keywords", new.keywords)?,
        received_at: new.received_at,
    };
    let call = ProviderChange::new(Surface::Email, "messages.append", &args).with_blobs(blobs);
    let mut done = call_provider(cx, &account, call).await?;
    let metadata = Some(new.metadata).filter(|m| !m.is_empty());
    let change = ResponseChange { status: 201, metadata, warnings };
    let view = MessageView::message(None, change).after(&mut done)?;
    reconcile(cx, WriteLocation::top(connection, ResourceKind::EmailMessage), done, view).await
}

pub fn full() -> Error {
    Refusal::new(Code::Overloaded, "there is no room for this message now").into()
}

/// The bytes and the Message-ID of the message: as the caller sent it, or built from its fields.
async fn bytes(cx: &WriteContext, connection: &Connection, new: &NewMessage) -> Result<(Vec<u8>, String)> {
    let key = &cx.attempt.connector_key;
    let Some(raw) = &new.raw_base64 else {
        if let Some(at) = new.sent_at {
            year_of("sentAt", at)?;
        }
        let content = DraftContent {
            from: new.from.clone(),
            to: new.to.clone(),
            cc: new.cc.clone(),
            bcc: new.bcc.clone(),
            reply_to: new.reply_to.clone(),
            subject: new.subject.clone(),
            body: new.body.clone(),
            attachments: new.attachments.clone(),
            headers: new.headers.clone(),
            sent_at: new.sent_at,
            ..DraftContent::default()
        };
        let composed = compose(&cx.app, &cx.request, connection, content, key).await?;
        return Ok((composed.built.with_bcc(), composed.outgoing.message_id));
    };
    let read = || whole(raw);
    let tenant = &cx.request.tenant.application_id;
    let (bytes, read) = cx.app.compute.run(tenant, raw.len(), read).await?;
    // Even an invalid Message-ID stays the only one: a second one would make two messages of it for programs that look it up.
    match read.message.internet_message_id {
        Some(id) => Ok((bytes, id)),
        None => {
            // Servers and clients identify a message by it.
            let id = message_id(key, connection.email.as_deref());
            let mut named = format!("Message-ID: <{id}>\r\n").into_bytes();
            named.extend(bytes);
            Ok((named, id))
        }
    }
}

/// Parses a message that was given as raw text, with CRLF line ends.
fn whole(raw: &str) -> Result<(Vec<u8>, ::mail::read::Mail)> {
    let bytes = BASE64_STANDARD
        .decode(raw.as_bytes())
        .map_err(|_| fault("rawBase64", "must be base64 (RFC 4648 section 4), with padding"))?;
    if bytes.len() > MAX_RAW {
        let refusal = Refusal::new(Code::PayloadTooLarge, "a message may have at most 35 MiB");
        return Err(refusal.param("rawBase64").into());
    }
    if bytes.contains(&0) {
        return Err(fault("rawBase64", "must not contain NUL (RFC 5322 section 2.1)"));
    }
    let bytes = with_crlf(bytes);
    let read =
        read_message(&bytes).map_err(|e| fault("rawBase64", &format!("is no message: {}", e.message)))?;
    Ok((bytes, read))
}

/// Converts line ends to CRLF (RFC 5322 section 2.1): servers refuse bare line feeds, or interpret them in different ways.
fn with_crlf(bytes: Vec<u8>) -> Vec<u8> {
    let is_right = |at: usize| bytes[at] != b'\n' || (at > 0 && bytes[at - 1] == b'\r');
    let lone_cr = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    if (0..bytes.len()).all(|at| is_right(at) && !lone_cr(at)) {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 40);
    let mut bytes = bytes.into_iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                if bytes.peek() == Some(&b'\n') {
                    bytes.next();
                }
                out.extend_from_slice(b"\r\n");
            }
            b'\n' => out.extend_from_slice(b"\r\n"),
            byte => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::with_crlf;

    #[test]
    fn lines_end_with_crlf() {
        assert_eq!(with_crlf(b"a\r\nb\r\n".to_vec()), b"a\r\nb\r\n");
        assert_eq!(with_crlf(b"a\nb\rc\r\n\n".to_vec()), b"a\r\nb\r\nc\r\n\r\n");
    }
}
