//! Converts Graph's messages to sources: in full, or only the changeable fields of a known message.

use connector_sdk::Outcome;
use model::Instant;
use model::email::{
    Attachment, CalendarMethod, Disposition, EmailAddress, EmailBody, EmailHeader, EmailMessage, Importance,
};
use model::wire::{Item, ItemError, JsonText, Source};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::mail::categories::label_id;
use crate::mail::native::{AttachmentEntry, Message, Recipient};
use crate::mail::select::{ICON, SIZE};
use crate::odata::stamp::stamp;

/// The prefix of the id of a linked file, whose content Graph does not have.
pub const REFERENCE: &str = "reference:";

/// The icons of messages that were answered or forwarded (MS-OXOMSG, `PidTagIconIndex`).
const ANSWERED_ICON: &str = "261";
const FORWARDED_ICON: &str = "262";
/// The maximum number of header fields that are returned.
const MAX_HEADERS: usize = 1_000;
/// The maximum number of files of a message that are listed.
const MAX_FILES: usize = 1_000;

/// A message of a page, parsed separately, so that a malformed one does not affect the others.
#[derive(Clone, Debug)]
pub enum PageMessage {
    Read(Box<Message>),
    /// The id of a malformed message.
    Odd(String),
}

/// Parses the messages of a page, without those that have no id.
pub fn read_each(page: &[Box<RawValue>]) -> Vec<PageMessage> {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    let read = |raw: &RawValue| match serde_json::from_str::<Message>(raw.get()) {
        Ok(message) if message.id.is_empty() => None,
        Ok(message) => Some(PageMessage::Read(Box::new(message))),
        Err(_) => serde_json::from_str::<Named>(raw.get()).ok().map(|named| PageMessage::Odd(named.id)),
    };
    page.iter().filter_map(|raw| read(raw)).collect()
}

/// Parts of a message that are returned only on request.
#[derive(Debug, Default)]
pub struct MessageExtras {
    pub headers: bool,
    pub body: Option<EmailBody>,
}

/// Returns the source of a message, with the fields that lists show.
pub fn source(message: &Message) -> Source {
    source_with(message, MessageExtras::default())
}

/// Returns the source of a message, with its text or header as requested.
pub fn source_with(message: &Message, extras: MessageExtras) -> Source {
    let Ok(mut body) = email(message) else { return unreadable(&message.id) };
    if !extras.headers {
        body.headers = Vec::new();
    }
    body.body = extras.body;
    let fingerprint = body
        .internet_message_id
        .as_ref()
        .map(|id| format!("{id} {}", body.received_at.as_millis().div_euclid(1_000)));
    let Ok(body) = JsonText::of(&body) else { return unreadable(&message.id) };
    let item = Item { external_id: message.id.clone(), body, fingerprint, ..Item::default() };
    Source { etag: message.etag.clone(), items: vec![item], ..bare_source(&message.id) }
}

/// Returns the source of a deleted message.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns a source with the id of a message alone.
pub fn bare_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), ..Source::default() }
}

/// Returns the source of an existing message that cannot be parsed.
pub fn unreadable(id: &str) -> Source {
    let message = "the provider's description of this message cannot be read".to_owned();
    let error = ItemError { code: "unreadable".to_owned(), message };
    Source { error: Some(error), ..bare_source(id) }
}

/// The known fields of those that can change.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangedFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starred: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<Importance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_ids: Option<Vec<String>>,
}

/// Returns a partial source with the known changeable fields of a message.
pub fn partial(message: &Message) -> Source {
    let icon = message.property(ICON);
    let fields = ChangedFields {
        unread: message.is_read.map(|is_read| !is_read),
        starred: message.flag.as_ref().map(|_| is_starred(message)),
        draft: message.is_draft,
        answered: icon.map(|icon| icon == ANSWERED_ICON),
        forwarded: icon.map(|icon| icon == FORWARDED_ICON),
        importance: message.importance.as_deref().map(importance),
        folder_ids: message.parent_folder_id.clone().map(|folder| vec![folder]),
        label_ids: message.categories.as_ref().map(|_| labels(message)),
    };
    let Ok(body) = JsonText::of(&fields) else { return unreadable(&message.id) };
    let item = Item { external_id: message.id.clone(), body, partial: true, ..Item::default() };
    Source { etag: message.etag.clone(), items: vec![item], ..bare_source(&message.id) }
}

/// The time by which messages are sorted; none if the message has none.
pub fn received_at(message: &Message) -> Option<Instant> {
    time(message.received_date_time.as_deref()).ok().flatten()
}

fn time(text: Option<&str>) -> Outcome<Option<Instant>> {
    text.map_or(Ok(None), stamp)
}

fn is_starred(message: &Message) -> bool {
    message.flag.as_ref().and_then(|flag| flag.flag_status.as_deref()) == Some("flagged")
}

fn labels(message: &Message) -> Vec<String> {
    message.categories.iter().flatten().filter(|name| !name.is_empty()).map(|name| label_id(name)).collect()
}

/// Returns the importance of this name; a name that is not known is normal.
fn importance(name: &str) -> Importance {
    match name.to_ascii_lowercase().as_str() {
        "low" => Importance::Low,
        "high" => Importance::High,
        _ => Importance::Normal,
    }
}

/// Converts a message to the model, with its header if it was read. Fails for an invalid time.
fn email(message: &Message) -> Outcome<EmailMessage> {
    let sent_at = time(message.sent_date_time.as_deref())?;
    let received = time(message.received_date_time.as_deref())?.or(sent_at);
    let created = time(message.created_date_time.as_deref())?;
    let from: Vec<EmailAddress> = message.from.iter().filter_map(address).collect();
    let is_author =
        |sender: &EmailAddress| from.iter().any(|one| one.email.eq_ignore_ascii_case(&sender.email));
    let sender =
        message.sender.as_ref().and_then(address).filter(|sender| !from.is_empty() && !is_author(sender));
    let icon = message.property(ICON);
    let headers = headers(message);
    let of_header = mail::read::headers(&header_block(&headers));
    Ok(EmailMessage {
        thread_id: message.conversation_id.clone().filter(|id| !id.is_empty()),
        internet_message_id: message.message_id().map(str::to_owned),
        in_reply_to: of_header.in_reply_to,
        references: of_header.references,
        subject: message.subject.clone(),
        from,
        sender,
        to: addresses(message.to_recipients.as_deref()),
        cc: addresses(message.cc_recipients.as_deref()),
        bcc: addresses(message.bcc_recipients.as_deref()),
        reply_to: addresses(message.reply_to.as_deref()),
        received_at: received.or(created).unwrap_or_default(),
        sent_at,
        snippet: mail::text::snippet(message.body_preview.as_deref(), None),
        folder_ids: message.parent_folder_id.iter().filter(|id| !id.is_empty()).cloned().collect(),
        label_ids: labels(message),
        unread: message.is_read == Some(false),
        starred: is_starred(message),
        draft: message.is_draft == Some(true),
        answered: icon == Some(ANSWERED_ICON),
        forwarded: icon == Some(FORWARDED_ICON),
        importance: importance(message.importance.as_deref().unwrap_or_default()),
        has_attachments: message.has_attachments == Some(true),
        attachments: message.attachments.iter().flatten().take(MAX_FILES).map(attachment).collect(),
        size: message.property(SIZE).and_then(|size| size.parse::<i64>().ok()).unwrap_or_default().max(0),
        headers,
        auto_reply: of_header.auto_reply,
        list_unsubscribe: of_header.list_unsubscribe,
        calendar_method: calendar_method(message),
        ..EmailMessage::default()
    })
}

/// The address of a sender or recipient; the name is used if there is no address.
fn address(recipient: &Recipient) -> Option<EmailAddress> {
    let named = recipient.email_address.as_ref()?;
    let text = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match (text(&named.address), text(&named.name)) {
        // Graph returns the address as the name if there is no name.
        (Some(email), name) => {
            Some(EmailAddress { name: name.filter(|name| !name.eq_ignore_ascii_case(&email)), email })
        }
        (None, Some(email)) => Some(EmailAddress { name: None, email }),
        (None, None) => None,
    }
}

fn addresses(recipients: Option<&[Recipient]>) -> Vec<EmailAddress> {
    recipients.unwrap_or_default().iter().filter_map(address).collect()
}

/// The method of an invitation or a reply. Graph has no separate type for cancellations.
fn calendar_method(message: &Message) -> Option<CalendarMethod> {
    match message.kind.as_deref()?.rsplit('.').next()? {
        "eventMessageRequest" => Some(CalendarMethod::Request),
        "eventMessageResponse" => Some(CalendarMethod::Reply),
        _ => None,
    }
}

fn attachment(entry: &AttachmentEntry) -> Attachment {
    let kind = entry.kind.as_deref().and_then(|kind| kind.rsplit('.').next()).unwrap_or_default();
    let named = entry.content_type.as_deref().and_then(|named| named.split(';').next()).map(str::trim);
    let is_item = kind == "itemAttachment";
    let content_type = match named.filter(|named| !named.is_empty()) {
        Some(named) => named.to_ascii_lowercase(),
        None if is_item => "message/rfc822".to_owned(),
        None => "application/octet-stream".to_owned(),
    };
    let is_inline = entry.is_inline == Some(true);
    let content_id = entry.content_id.as_deref().map(|id| id.trim_matches(['<', '>', ' ']).to_owned());
    Attachment {
        id: if kind == "referenceAttachment" { format!("{REFERENCE}{}", entry.id) } else { entry.id.clone() },
        filename: entry.name.as_deref().and_then(mail::read::file_name),
        is_message: is_item || content_type == "message/rfc822",
        content_type,
        // Graph's size includes an envelope, so it is not the length of the content.
        encoded_size: entry.size.filter(|size| *size >= 0),
        inline: is_inline,
        content_id: content_id.filter(|id| !id.is_empty()),
        disposition: Some(if is_inline { Disposition::Inline } else { Disposition::Attachment }),
        ..Attachment::default()
    }
}

fn headers(message: &Message) -> Vec<EmailHeader> {
    let fields = message.internet_message_headers.iter().flatten().take(MAX_HEADERS);
    fields.map(|field| EmailHeader { name: field.name.clone(), value: field.value.clone() }).collect()
}

/// The header fields that Graph returns, as a header block. The values are decoded, which header parsers accept.
fn header_block(fields: &[EmailHeader]) -> Vec<u8> {
    // Neither a name nor a value can inject another field.
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    let mut block = String::new();
    for field in fields.iter().filter(|field| is_name(&field.name)) {
        let value = field.value.chars().map(|c| if matches!(c, '\r' | '\n') { ' ' } else { c });
        block.push_str(&field.name);
        block.push_str(": ");
        block.extend(value);
        block.push_str("\r\n");
    }
    block.push_str("\r\n");
    block.into_bytes()
}
