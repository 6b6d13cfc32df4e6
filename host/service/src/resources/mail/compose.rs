//! Prepares a message for building from a caller's input: sender, recipients, the message that it replies to or forwards, and the
//! attachments' bytes.

use base::error::{Code, Error, Result, invalid};
use base::input::validate::{fault, length, text};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mail::build::{BuiltMessage, Invalid, Outgoing, OutgoingFile, build, draft};
use model::Instant;
use model::bounds::mail::{MAX_FILES, MAX_FROM, MAX_HEADERS, MAX_RECIPIENTS, MAX_REPLY_TO, MAX_SUBJECT};
use model::email::draft::ReplyMode;
use model::email::send::{NewAttachment, NewBody};
use model::email::{EmailAddress, EmailHeader, Importance};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use storage::connections::Connection;

use crate::app::App;
use crate::connections::request_context::RequestContext;
use crate::resources::mail::files::{outgoing_file, within};
use crate::resources::mail::reply::answer;
use crate::resources::mail::{attachments, read};
use crate::sending::message::{Original, OutgoingMessage};

/// The content of a message as a caller writes it, whether it is saved, sent or appended.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DraftContent {
    pub from: Vec<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub subject: Option<String>,
    pub body: NewBody,
    pub attachments: Vec<NewAttachment>,
    pub headers: Vec<EmailHeader>,
    pub importance: Importance,
    pub reply_to_message_id: Option<String>,
    pub reply_mode: Option<ReplyMode>,
    /// The time in the Date header; none for now.
    #[serde(skip)]
    pub sent_at: Option<Instant>,
    /// The reply references of a draft that is rewritten.
    #[serde(skip)]
    pub kept: Option<ReplyReference>,
    /// Whether the message is only saved: its addresses may be unfinished, and are validated when it is sent.
    #[serde(skip)]
    pub is_draft: bool,
}

/// The references that a draft keeps to the message that it replies to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplyReference {
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
}

/// Builds the message. Its Message-ID is derived from `key`, so that a repeated attempt has the same one.
pub async fn compose(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    mut content: DraftContent,
    key: &str,
) -> Result<OutgoingMessage> {
    check(&content)?;
    let write: fn(&Outgoing) -> std::result::Result<BuiltMessage, Invalid> =
        if content.is_draft { draft } else { build };
    let original = original(app, asker, connection, &content).await?;
    let from = match content.from.is_empty() {
        true => vec![own_address(connection)?],
        false => std::mem::take(&mut content.from),
    };
    let kept = content.kept.take();
    let mut outgoing = Outgoing {
        message_id: message_id(key, from.first().map(|a| a.email.as_str())),
        date: content.sent_at.unwrap_or_else(|| app.clock.now()),
        from,
        to: content.to,
        cc: content.cc,
        bcc: content.bcc,
        reply_to: content.reply_to,
        subject: content.subject,
        text: content.body.text,
        html: content.body.html,
        headers: content.headers,
        importance: content.importance,
        attachments: files(app, asker, std::mem::take(&mut content.attachments)).await?,
        ..Outgoing::default()
    };
    match (&original, kept) {
        (_, Some(kept)) => (outgoing.in_reply_to, outgoing.references) = (kept.in_reply_to, kept.references),
        (Some(original), None) => answer(app, asker, connection, original, &mut outgoing).await?,
        (None, None) => {}
    }
    let built = app.compute.run(&asker.tenant.application_id, bytes(&outgoing), || write(&outgoing)).await;
    let built = built.map_err(|e| wrong(&e))?;
    Ok(OutgoingMessage { outgoing, built, original })
}

/// Bytes of the content to build.
fn bytes(outgoing: &Outgoing) -> usize {
    let texts = [&outgoing.text, &outgoing.html].into_iter().flatten().map(String::len).sum::<usize>();
    texts + outgoing.attachments.iter().map(|file| file.content.len()).sum::<usize>()
}

/// Maps an error of the message builder to an error of the API.
fn wrong(e: &Invalid) -> Error {
    invalid(Code::InvalidParameter, e.field.clone(), format!("{}: {}", e.field, e.message))
}

fn check(content: &DraftContent) -> Result<()> {
    let people = content.to.len() + content.cc.len() + content.bcc.len();
    if people > MAX_RECIPIENTS {
        return Err(fault("to", &format!("may have at most {MAX_RECIPIENTS} recipients, with cc and bcc")));
    }
    length("from", content.from.len(), MAX_FROM)?;
    length("replyTo", content.reply_to.len(), MAX_REPLY_TO)?;
    length("attachments", content.attachments.len(), MAX_FILES)?;
    length("headers", content.headers.len(), MAX_HEADERS)?;
    // The subject of a rewritten draft may come from another program. One that the caller gives is validated where it is read.
    match content.kept {
        Some(_) => Ok(()),
        None => text("subject", content.subject.as_deref(), MAX_SUBJECT),
    }
}

/// The address of the account.
fn own_address(connection: &Connection) -> Result<EmailAddress> {
    let email = connection.email.clone().or_else(|| connection.addresses.first().cloned());
    let missing = || {
        let message = "from is required: the provider does not tell what the address of this account is";
        invalid(Code::MissingField, "from", message)
    };
    Ok(EmailAddress { name: connection.display_name.clone(), email: email.ok_or_else(missing)? })
}

/// A Message-ID made by the host, in the domain of an address.
pub fn message_id(key: &str, address: Option<&str>) -> String {
    let domain = address.and_then(|a| a.rsplit_once('@')).map(|(_, domain)| domain);
    let is_plain = |d: &&str| d.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'));
    let domain = domain.filter(is_plain).filter(|d| !d.is_empty()).unwrap_or("switchboard.invalid");
    format!("{}@{domain}", hex::encode(&Sha256::digest(format!("message id\n{key}"))[..16]))
}

async fn original(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    content: &DraftContent,
) -> Result<Option<Original>> {
    let Some(id) = &content.reply_to_message_id else {
        return match content.reply_mode {
            None => Ok(None),
            Some(_) => Err(fault("replyMode", "needs replyToMessageId: the message that is answered")),
        };
    };
    let found = match read::find(app, asker, id).await {
        Err(e) if e.code() == Some(Code::NotFound) => None,
        Err(e) => return Err(e.with_param("replyToMessageId")),
        Ok(found) => Some(found),
    };
    let found = found.filter(|item| item.connection_id == connection.id);
    let item = found.ok_or_else(|| fault("replyToMessageId", "names no message of this connection"))?;
    Ok(Some(Original { item, mode: content.reply_mode.unwrap_or_default() }))
}

/// Returns the bytes of all attachments. Each input is freed once it is decoded.
async fn files(app: &App, asker: &RequestContext, given: Vec<NewAttachment>) -> Result<Vec<OutgoingFile>> {
    let mut files = Vec::with_capacity(given.len());
    let mut bytes = 0;
    for (i, attachment) in given.into_iter().enumerate() {
        let file = file(app, asker, attachment, &format!("attachments[{i}]")).await?;
        bytes += file.content.len();
        within(bytes, &format!("attachments[{i}]"))?;
        files.push(file);
    }
    Ok(files)
}

async fn file(app: &App, asker: &RequestContext, given: NewAttachment, field: &str) -> Result<OutgoingFile> {
    let mut file = OutgoingFile {
        filename: given.filename,
        content_type: given.content_type,
        inline: given.inline,
        content_id: given.content_id,
        ..OutgoingFile::default()
    };
    match (&given.content_base64, &given.attachment_ref, &given.upload_id) {
        (Some(text), None, None) => {
            let field = format!("{field}.contentBase64");
            let decode = || BASE64_STANDARD.decode(text.as_bytes());
            let decoded = app.compute.run(&asker.tenant.application_id, text.len(), decode).await;
            file.content =
                decoded.map_err(|_| fault(&field, "must be base64 (RFC 4648 section 4), with padding"))?;
        }
        (None, Some(of), None) => {
            let missing = |e: Error| match e.code() {
                Some(Code::NotFound) => fault(&format!("{field}.attachmentRef"), "names no attachment"),
                Some(Code::InsufficientScope) => e.with_param(format!("{field}.attachmentRef")),
                _ => e,
            };
            let fetched = attachments::fetch(app, asker, &of.message_id, &of.attachment_id).await;
            let fetched = fetched.map_err(missing)?;
            within(usize::try_from(fetched.blob.size()).unwrap_or(usize::MAX), field)?;
            let size = usize::try_from(fetched.blob.size()).unwrap_or(0);
            file.content = fetched.blob.read(0, size).map_err(anyhow::Error::from)?.to_vec();
            let attachment = fetched.attachment;
            let taken = outgoing_file(&attachment);
            file.filename = file.filename.or(taken.filename);
            file.content_type = file.content_type.or(taken.content_type);
            file.inline |= taken.inline;
            file.content_id = file.content_id.or(taken.content_id);
        }
        // Contract silent: where uploads would be made. Nowhere yet.
        (None, None, Some(_)) => {
            return Err(fault(
                &format!("{field}.uploadId"),
                "names no upload: give contentBase64 or attachmentRef",
            ));
        }
        (None, None, None) => {
            let message = format!("{field} needs contentBase64 or attachmentRef");
            return Err(invalid(Code::MissingField, field, message));
        }
        _ => {
            let message = format!("{field} has several contents: give contentBase64 or attachmentRef");
            return Err(invalid(Code::ConflictingFields, field, message));
        }
    }
    Ok(file)
}
