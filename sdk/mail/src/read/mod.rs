//! Reads the bytes of a message into the model.

mod attachment;
mod body;
mod charset;
mod decode;
mod end;
pub(crate) mod entity;
pub(crate) mod field;
mod header;
pub mod limits;
mod parameters;
pub mod quoted_printable;
pub mod rewrite;
mod utf7;
pub mod uuencode;
mod words;

use std::collections::HashSet;

use memchr::memmem;
use model::email::{Attachment, CalendarMethod, EmailHeader, EmailMessage};

use crate::read::decode::Transfer;
use crate::read::end::End;
use crate::read::entity::{ContentDescription, Entity};
use crate::text::{cut_at, snippet};

pub use attachment::{file_name, is_offered, shown_ids};

/// A message that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mail {
    /// The message without `body` and `headers`, which are below, and without fields that only a provider knows.
    pub message: EmailMessage,
    /// The plain text. None is made from the HTML.
    pub text: Option<String>,
    /// The HTML, as the sender wrote it. None is made from the text.
    pub html: Option<String>,
    /// The charset that the text (where there is none, the HTML) says it has, lower case.
    pub charset: Option<String>,
    /// Every header field in order, repeated ones too, on one line and decoded.
    pub headers: Vec<EmailHeader>,
}

/// Why a message cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// `too_large` or `no_header`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// One part of a message, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedPart {
    /// The text of a `text/*` part; none for any other.
    pub text: Option<String>,
    /// The charset that the part says it has, lower case.
    pub charset: Option<String>,
    /// The bytes without their transfer encoding; empty where `text` has them.
    pub bytes: Vec<u8>,
}

/// A file out of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The file's description, as the message lists it.
    pub attachment: Attachment,
    /// The content without its transfer encoding.
    pub bytes: Vec<u8>,
}

/// Reads a message. Damaged parts are read as far as possible, parts beyond `limits` are left out.
///
/// Fails with `too_large` above `limits::MESSAGE_BYTES`, and with `no_header` where not one header field is found.
pub fn message(raw: &[u8]) -> Result<Mail, Unreadable> {
    if raw.len() > limits::MESSAGE_BYTES {
        return Err(unreadable("too_large", "the message is larger than 256 MiB"));
    }
    let entities = entity::entities(raw);
    let root = entities.first().and_then(|root| raw.get(root.header.clone())).unwrap_or_default();
    let fields = field::fields(root);
    if fields.is_empty() {
        return Err(unreadable("no_header", "the message has no header"));
    }
    let chosen = body::choose(&entities);
    let (text, charset) = joined(raw, &entities, &chosen.text, body::is_plain);
    let (html, html_charset) = joined(raw, &entities, &chosen.html, |kind| kind.media_type == "text/html");
    let files = files(&entities, &chosen);
    let shown = html.as_deref().map(attachment::shown_ids).unwrap_or_default();
    let mut message = header::message(&fields);
    message.attachments = files.iter().map(|entity| attachment::attachment(raw, entity)).collect();
    message.has_attachments = files.iter().zip(&message.attachments).any(|(entity, attachment)| {
        let parent = entity.parent.and_then(|parent| entities.get(parent));
        attachment::is_offered(attachment, parent.map_or("", |parent| &parent.kind.media_type), &shown)
    });
    message.calendar_method = entities.iter().find_map(|entity| calendar_method(raw, entity));
    message.size = i64::try_from(raw.len()).unwrap_or(i64::MAX);
    message.snippet = snippet(text.as_deref(), html.as_deref());
    Ok(Mail { message, text, html, charset: charset.or(html_charset), headers: headers_of(&fields) })
}

/// The fields of a message that its header defines. `size`, `snippet` and the fields of the parts are not set.
pub fn headers(block: &[u8]) -> EmailMessage {
    header::message(&field::fields(block))
}

/// Every field of a header in order, repeated ones too; each value on one line, its encoded words (RFC 2047) decoded.
pub fn raw_headers(block: &[u8]) -> Vec<EmailHeader> {
    headers_of(&field::fields(block))
}

/// One part as IMAP gives it: `BODY[n.MIME]` (empty for `text/plain`) and `BODY[n]`, which may be cut anywhere.
pub fn part(mime_header: &[u8], body: &[u8]) -> DecodedPart {
    let kind = ContentDescription::new(&field::fields(mime_header), "text/plain");
    decoded(&kind, body, End::Cut)
}

/// The transfer encoding that a Content-Transfer-Encoding names: `base64`, `quoted-printable` or `uuencode`; none where the bytes stand for
/// themselves.
pub fn decoding(encoding: &str) -> Option<&'static str> {
    Transfer::from_name(encoding).name()
}

/// The file that `message` listed as an attachment of this id.
pub fn attachment(raw: &[u8], id: &str) -> Option<File> {
    let entities = entity::entities(raw.get(..limits::MESSAGE_BYTES).unwrap_or(raw));
    let entity = entities.iter().find(|entity| entity.section == id && entity.children.is_empty())?;
    let body = raw.get(entity.body.clone()).unwrap_or_default();
    let bytes = entity.kind.transfer.decode(body).into_owned();
    Some(File { attachment: attachment::attachment(raw, entity), bytes })
}

/// The text cut to at most this many bytes, between two characters, and whether anything was cut off.
pub fn cut(mut text: String, max_bytes: usize) -> (String, bool) {
    let end = cut_at(&text, max_bytes).len();
    let is_cut = end < text.len();
    text.truncate(end);
    (text, is_cut)
}

fn unreadable(code: &'static str, message: &str) -> Unreadable {
    Unreadable { code, message: message.to_owned() }
}

fn headers_of(fields: &[field::Field<'_>]) -> Vec<EmailHeader> {
    fields.iter().map(|field| EmailHeader { name: field.name.to_owned(), value: field.text() }).collect()
}

fn decoded(kind: &ContentDescription, body: &[u8], end: End) -> DecodedPart {
    let named = kind.parameter("charset").map(|name| field::clean(name).to_ascii_lowercase());
    let charset = named.filter(|name| !name.is_empty());
    let bytes = kind.transfer.decode(body);
    if kind.top() == "text" || kind.is_multipart() {
        let text = decode::text(bytes, charset.as_deref(), kind.media_type == "text/html", end);
        return DecodedPart { text: Some(text), charset, bytes: Vec::new() };
    }
    DecodedPart { text: None, charset, bytes: bytes.into_owned() }
}

/// The chosen parts of one kind as one text, and the charset of the first of them.
fn joined(
    raw: &[u8],
    entities: &[Entity],
    chosen: &[usize],
    is_kind: impl Fn(&ContentDescription) -> bool,
) -> (Option<String>, Option<String>) {
    let mut whole: Option<DecodedPart> = None;
    for entity in
        chosen.iter().filter_map(|index| entities.get(*index)).filter(|entity| is_kind(&entity.kind))
    {
        let part = decoded(&entity.kind, raw.get(entity.body.clone()).unwrap_or_default(), End::Whole);
        match whole.as_mut().and_then(|whole| whole.text.as_mut()) {
            None => whole = Some(part),
            Some(text) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(part.text.as_deref().unwrap_or_default());
            }
        }
    }
    whole.map(|whole| (whole.text, whole.charset)).unwrap_or_default()
}

/// The parts that are not text of the message. A text that stands for the other one in an alternative is none either.
fn files<'a>(entities: &'a [Entity], chosen: &body::BodyParts) -> Vec<&'a Entity> {
    let is_text = |kind: &ContentDescription| body::is_plain(kind) || kind.media_type == "text/html";
    let all = chosen.text.iter().chain(&chosen.html);
    let texts: HashSet<usize> = all
        .copied()
        .filter(|index| entities.get(*index).is_some_and(|entity| is_text(&entity.kind)))
        .collect();
    let leaves = entities.iter().enumerate().filter(|(_, entity)| entity.children.is_empty());
    leaves.filter(|(index, _)| !texts.contains(index)).map(|(_, entity)| entity).collect()
}

/// The method of an invitation: the parameter of its type, else its METHOD line.
fn calendar_method(raw: &[u8], entity: &Entity) -> Option<CalendarMethod> {
    if entity.kind.media_type != "text/calendar" {
        return None;
    }
    let named = entity.kind.parameter("method").map(str::to_ascii_lowercase);
    let method = named.or_else(|| {
        let body = entity.kind.transfer.decode(raw.get(entity.body.clone())?).to_ascii_lowercase();
        let start = memmem::find(&body, b"\nmethod:")? + b"\nmethod:".len();
        let rest = body.get(start..)?;
        let line = rest.get(..memchr::memchr2(b'\r', b'\n', rest)?)?;
        str::from_utf8(line).ok().map(|method| method.trim().to_owned())
    })?;
    match method.as_str() {
        "request" => Some(CalendarMethod::Request),
        "reply" => Some(CalendarMethod::Reply),
        "cancel" => Some(CalendarMethod::Cancel),
        _ => None,
    }
}
