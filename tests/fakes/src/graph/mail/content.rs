//! The content of a message, split from its MIME by the crate mail-parser; nothing of the product's own reader is here.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mail_parser::decoders::html::html_to_text;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Address, Encoding, Header, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};
use serde_json::{Value, json};

/// Bytes that the size of an attachment counts beside its content.
const ENVELOPE_BYTES: usize = 158;
/// Characters of a preview.
const PREVIEW_CHARS: usize = 255;

/// The content of a message.
#[derive(Clone, Debug, Default)]
pub struct MailContent {
    pub subject: String,
    pub from: Vec<MailAddress>,
    pub sender: Vec<MailAddress>,
    pub to: Vec<MailAddress>,
    pub cc: Vec<MailAddress>,
    pub bcc: Vec<MailAddress>,
    pub reply_to: Vec<MailAddress>,
    /// With its brackets; empty where there is none.
    pub message_id: String,
    /// The ids of References and In-Reply-To, without brackets.
    pub references: Vec<String>,
    /// Unix milliseconds.
    pub sent_ms: Option<i64>,
    pub headers: Vec<HeaderLine>,
    pub text: Option<String>,
    pub html: Option<String>,
    pub attachments: Vec<StoredAttachment>,
}

/// A line of a message's head.
#[derive(Clone, Debug)]
pub struct HeaderLine {
    pub name: String,
    pub value: String,
}

/// A name with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress {
    pub name: String,
    pub address: String,
}

/// The kinds of attachments that Graph knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentKind {
    File,
    /// A message, whose bytes are MIME.
    Item,
    /// A link to a file elsewhere.
    Reference,
}

/// An attachment.
#[derive(Clone, Debug)]
pub struct StoredAttachment {
    /// Its number within the message.
    pub number: u64,
    pub kind: AttachmentKind,
    pub name: String,
    pub content_type: String,
    pub content_id: Option<String>,
    pub content_location: Option<String>,
    pub is_inline: bool,
    pub bytes: Vec<u8>,
}

impl MailAddress {
    pub fn new(name: &str, address: &str) -> MailAddress {
        let name = if name.is_empty() { address } else { name };
        MailAddress { name: name.to_owned(), address: address.to_owned() }
    }

    pub fn to_value(&self) -> Value {
        json!({ "emailAddress": { "name": self.name, "address": self.address } })
    }

    /// Reads a recipient of a request; none without an address.
    pub fn from_value(value: &Value) -> Option<MailAddress> {
        let inner = &value["emailAddress"];
        Some(MailAddress::new(inner["name"].as_str().unwrap_or_default(), inner["address"].as_str()?))
    }
}

impl StoredAttachment {
    /// The size that Graph names: with an envelope.
    pub fn size(&self) -> usize {
        self.bytes.len() + ENVELOPE_BYTES
    }
}

impl MailContent {
    /// Splits a message; empty where it has no head.
    pub fn parse(raw: &[u8]) -> MailContent {
        let Some(message) = MessageParser::default().parse(raw) else { return MailContent::default() };
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let mut references = ids(message.references());
        references.extend(ids(message.in_reply_to()));
        let (text_body, html_body) = (body_of(&message, false), body_of(&message, true));
        let mut content = MailContent {
            subject: text(message.subject()),
            from: addresses(message.from()),
            sender: addresses(message.sender()),
            to: message.all_to().flat_map(|list| addresses(Some(list))).collect(),
            cc: message.all_cc().flat_map(|list| addresses(Some(list))).collect(),
            bcc: message.all_bcc().flat_map(|list| addresses(Some(list))).collect(),
            reply_to: addresses(message.reply_to()),
            message_id: message.message_id().map(|id| format!("<{id}>")).unwrap_or_default(),
            references,
            sent_ms: message.date().map(|date| date.to_timestamp() * 1000),
            headers: message.headers().iter().map(|header| header_line(&message, header)).collect(),
            text: text_body,
            html: html_body,
            attachments: Vec::new(),
        };
        for at in &message.attachments {
            if let Some(part) = message.part(*at) {
                let number = content.attachments.len() as u64 + 1;
                content.attachments.push(attachment(&message, part, number));
            }
        }
        content
    }

    /// The addresses of To, Cc and Bcc, in lower case, each once.
    pub fn recipients(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for one in self.to.iter().chain(&self.cc).chain(&self.bcc) {
            let address = one.address.to_lowercase();
            if !all.contains(&address) {
                all.push(address);
            }
        }
        all
    }

    /// The first value of a line of the head, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name));
        found.map(|line| line.value.as_str())
    }

    /// `low`, `normal` or `high`.
    pub fn importance(&self) -> &'static str {
        let word = self.header("importance").or_else(|| self.header("x-priority")).unwrap_or_default();
        match word.trim().to_lowercase().chars().next() {
            Some('h' | '1' | '2') => "high",
            Some('l' | '4' | '5') => "low",
            _ => "normal",
        }
    }

    /// The text, made of the HTML where there is none.
    pub fn plain_text(&self) -> String {
        match (&self.text, &self.html) {
            (Some(text), _) => text.clone(),
            (None, Some(html)) => html_to_text(html),
            (None, None) => String::new(),
        }
    }

    /// The beginning of the text.
    pub fn preview(&self) -> String {
        let text = self.plain_text();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").chars().take(PREVIEW_CHARS).collect()
    }

    /// Whether there is an attachment that is not inline.
    pub fn has_attachments(&self) -> bool {
        self.attachments.iter().any(|attachment| !attachment.is_inline)
    }
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(text) => vec![text.to_string()],
        HeaderValue::TextList(list) => list.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn addresses(list: Option<&Address<'_>>) -> Vec<MailAddress> {
    let all = list.into_iter().flat_map(Address::iter);
    all.filter_map(|one| Some(MailAddress::new(one.name().unwrap_or_default(), one.address()?))).collect()
}

/// A line as it is written, without its folds.
fn header_line(message: &Message<'_>, header: &Header<'_>) -> HeaderLine {
    let written = |start: u32, end: u32| {
        let bytes = message.raw_message.get(start as usize..end as usize).unwrap_or_default();
        String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let name = written(header.offset_field, header.offset_start);
    let name = name.trim_end_matches(':').trim().to_owned();
    HeaderLine { name, value: written(header.offset_start, header.offset_end) }
}

/// The parts that are the body in one form, one after the other.
fn body_of(message: &Message<'_>, is_html: bool) -> Option<String> {
    let ids = if is_html { &message.html_body } else { &message.text_body };
    let texts = ids.iter().filter_map(|at| match (&message.part(*at)?.body, is_html) {
        (PartType::Html(text), true) | (PartType::Text(text), false) => Some(text.to_string()),
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\r\n"))
}

fn attachment(message: &Message<'_>, part: &MessagePart<'_>, number: u64) -> StoredAttachment {
    let is_message = matches!(part.body, PartType::Message(_));
    let kind = if is_message { AttachmentKind::Item } else { AttachmentKind::File };
    let content_type = part.content_type().map_or_else(
        || "text/plain".to_owned(),
        |kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("plain")).to_lowercase(),
    );
    let content_id = part.content_id().map(str::to_owned);
    let is_inline = part.content_disposition().map_or(content_id.is_some(), |one| one.ctype() == "inline");
    let name = match (part.attachment_name(), &part.body) {
        (Some(name), _) => name.to_owned(),
        (None, PartType::Message(inner)) => inner.subject().unwrap_or("Untitled").to_owned(),
        (None, _) => format!("attachment-{number}"),
    };
    StoredAttachment {
        number,
        kind,
        name,
        content_type,
        content_id,
        content_location: part.content_location().map(str::to_owned),
        is_inline,
        bytes: decoded(message, part),
    }
}

/// The bytes of a part without its transfer encoding, in the part's own charset.
fn decoded(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    let range = part.offset_body as usize..part.offset_end as usize;
    let raw = message.raw_message.get(range).unwrap_or_default();
    match (&part.body, part.encoding) {
        (PartType::Binary(bytes) | PartType::InlineBinary(bytes), _) => bytes.to_vec(),
        (_, Encoding::Base64) => {
            let text: Vec<u8> = raw.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            BASE64_STANDARD.decode(text).unwrap_or_else(|_| part.contents().to_vec())
        }
        (_, Encoding::QuotedPrintable) => {
            quoted_printable_decode(raw).unwrap_or_else(|| part.contents().to_vec())
        }
        (_, Encoding::None) => raw.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AttachmentKind, MailContent};

    const RAW: &[u8] = b"From: Ann <ann@x.test>\r\nTo: b@x.test\r\nBcc: c@x.test\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n\
        Message-ID: <1@x.test>\r\nIn-Reply-To: <0@x.test>\r\nX-Long: one\r\n two\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n1 < 2 \xe9\r\n\
        --m\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        YSxi\r\n--m\r\nContent-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nHello\r\n--m--\r\n";

    #[test]
    fn a_message_is_split_into_head_bodies_and_attachments() {
        let content = MailContent::parse(RAW);
        assert_eq!((content.subject.as_str(), content.message_id.as_str()), ("Caf\u{e9}", "<1@x.test>"));
        assert_eq!(content.recipients(), ["b@x.test", "c@x.test"]);
        assert_eq!(
            (content.references.as_slice(), content.header("x-long")),
            (&["0@x.test".to_owned()][..], Some("one two"))
        );
        assert_eq!(content.preview(), "1 < 2 \u{e9}");
        assert!(content.html.is_none() && content.has_attachments());
        let [file, item] = content.attachments.as_slice() else { panic!("{:?}", content.attachments) };
        assert_eq!(
            (file.kind, file.name.as_str(), file.bytes.as_slice()),
            (AttachmentKind::File, "a.csv", &b"a,b"[..])
        );
        assert_eq!((item.kind, item.name.as_str()), (AttachmentKind::Item, "Inner"));
        assert!(item.bytes.starts_with(b"Subject: Inner"), "{:?}", item.bytes);
        assert!(file.size() > file.bytes.len(), "the size counts an envelope too");
    }

    #[test]
    fn text_is_made_of_html_where_there_is_none() {
        let content = MailContent::parse(
            b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>One</p><p>Two &amp; three</p>",
        );
        assert!(content.text.is_none());
        assert_eq!(content.preview(), "One Two & three");
    }
}
