//! The parts of a message as Gmail tells them. The crate mail-parser splits the message; nothing of the product's own reader is here.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Encoding, Header, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};
use serde_json::{Value, json};

use crate::google::facts;

/// The maximum nesting of parts in an answer.
const MAX_DEPTH: usize = 60;
/// Characters of a snippet before it is escaped.
const SNIPPET_CHARS: usize = 200;

/// The detail of parts in an answer.
pub enum PayloadDetail {
    Full,
    /// The head alone, with these fields; with all where it is none.
    Metadata(Option<Vec<String>>),
}

/// Parses a message; none where it has no head.
pub fn parse(raw: &[u8]) -> Option<Message<'_>> {
    MessageParser::new().with_mime_headers().default_header_text().parse(raw)
}

/// The payload of a message. `attachment_id` makes an id for the part with this id.
pub fn payload(raw: &[u8], detail: &PayloadDetail, attachment_id: &mut dyn FnMut(&str) -> String) -> Value {
    let Some(message) = parse(raw) else { return json!({ "partId": "", "mimeType": "text/plain" }) };
    match detail {
        PayloadDetail::Full => part_value(&message, 0, "", attachment_id, 0),
        PayloadDetail::Metadata(wanted) => {
            let root = message.root_part();
            let mut fields = header_values(&message, root);
            if let Some(wanted) = wanted {
                let is_wanted = |name: &str| wanted.iter().any(|one| one.eq_ignore_ascii_case(name));
                fields.retain(|field| field["name"].as_str().is_some_and(is_wanted));
            }
            json!({ "mimeType": mime_type(root), "headers": fields })
        }
    }
}

fn part_value(
    message: &Message<'_>,
    at: u32,
    part_id: &str,
    attachment_id: &mut dyn FnMut(&str) -> String,
    depth: usize,
) -> Value {
    let Some(part) = message.part(at).filter(|_| depth < MAX_DEPTH) else { return json!({}) };
    let mut value = json!({
        "partId": part_id,
        "mimeType": mime_type(part),
        "filename": file_name(part),
        "headers": header_values(message, part),
    });
    match &part.body {
        PartType::Multipart(children) => {
            let children = children.iter().enumerate().map(|(number, child)| {
                part_value(message, *child, &child_id(part_id, number), attachment_id, depth + 1)
            });
            let children: Vec<Value> = children.collect();
            value["body"] = json!({ "size": 0 });
            value["parts"] = children.into();
        }
        PartType::Message(inner) => {
            let size = decoded(message, part).len();
            value["body"] = json!({ "size": size, "attachmentId": attachment_id(part_id) });
            value["parts"] = json!([part_value(inner, 0, &child_id(part_id, 0), attachment_id, depth + 1)]);
        }
        PartType::Text(text) | PartType::Html(text) if is_inline_text(part, text.len()) => {
            // UTF-8, whatever charset the part has.
            value["body"] = json!({ "size": text.len(), "data": BASE64_URL_SAFE.encode(text.as_bytes()) });
        }
        _ => {
            let size = decoded(message, part).len();
            value["body"] = json!({ "size": size, "attachmentId": attachment_id(part_id) });
        }
    }
    value
}

fn child_id(parent: &str, number: usize) -> String {
    match parent {
        "" => number.to_string(),
        parent => format!("{parent}.{number}"),
    }
}

/// Returns whether the text of a part is in the message, and not an attachment.
fn is_inline_text(part: &MessagePart<'_>, bytes: usize) -> bool {
    file_name(part).is_empty() && bytes <= facts::number("mail_limits", "inline_text_bytes")
}

fn mime_type(part: &MessagePart<'_>) -> String {
    let Some(kind) = part.content_type() else { return "text/plain".to_owned() };
    format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("plain")).to_lowercase()
}

fn file_name<'p>(part: &'p MessagePart<'_>) -> &'p str {
    part.attachment_name().unwrap_or_default()
}

/// The fields of a part's head, with names as they are written and values decoded.
fn header_values(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<Value> {
    part.headers.iter().map(|header| header_value(message, header)).collect()
}

fn header_value(message: &Message<'_>, header: &Header<'_>) -> Value {
    let written = |start: u32, end: u32| {
        let bytes = message.raw_message.get(start as usize..end as usize).unwrap_or_default();
        String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let name = written(header.offset_field, header.offset_start);
    let value = match &header.value {
        HeaderValue::Text(text) if !header.name.is_mime_header() => text.trim().to_owned(),
        _ => written(header.offset_start, header.offset_end),
    };
    json!({ "name": name.trim_end_matches(':').trim(), "value": value })
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

/// The bytes of the part with this id; none where there is no such part.
pub fn part_bytes(raw: &[u8], part_id: &str) -> Option<Vec<u8>> {
    let message = parse(raw)?;
    let (mut inside, mut at) = (&message, 0);
    for step in part_id.split('.').filter(|step| !step.is_empty()) {
        let number: usize = step.parse().ok()?;
        match &inside.part(at)?.body {
            PartType::Multipart(children) => at = *children.get(number)?,
            PartType::Message(inner) => (inside, at) = (inner, 0),
            _ => return None,
        }
    }
    Some(decoded(inside, inside.part(at)?))
}

/// The beginning of a message's text, HTML-escaped.
pub fn snippet(raw: &[u8]) -> String {
    let text = parse(raw).and_then(|message| Some(message.body_text(0)?.into_owned())).unwrap_or_default();
    let text: Vec<&str> = text.split_whitespace().collect();
    let mut escaped = String::new();
    for character in text.join(" ").chars().take(SNIPPET_CHARS) {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// All texts of a message, and the names of its files.
pub fn searchable_text(raw: &[u8]) -> (String, Vec<String>) {
    let Some(message) = parse(raw) else { return (String::new(), Vec::new()) };
    let texts: Vec<&str> =
        message.parts.iter().filter(|part| part.is_text()).filter_map(|part| part.text_contents()).collect();
    let names =
        message.parts.iter().map(file_name).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (texts.join("\n"), names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PayloadDetail, part_bytes, payload, snippet};

    const RAW: &[u8] = b"Subject: =?utf-8?q?Caf=C3=A9?=\r\nmessage-id: <1@x.test>\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n1 < 2 \xe9\r\n\
        --m\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        YSxi\r\n--m--\r\n";

    #[test]
    fn parts_are_told_as_gmail_tells_them() {
        let mut made = Vec::new();
        let mut attachment_id = |part: &str| {
            made.push(part.to_owned());
            format!("id-{part}")
        };
        let full = payload(RAW, &PayloadDetail::Full, &mut attachment_id);
        assert_eq!(full["headers"][0], json!({ "name": "Subject", "value": "Caf\u{e9}" }));
        assert_eq!(full["headers"][1], json!({ "name": "message-id", "value": "<1@x.test>" }));
        assert_eq!((&full["partId"], &full["mimeType"]), (&json!(""), &json!("multipart/mixed")));
        // UTF-8, whatever the charset is.
        assert_eq!(full["parts"][0]["body"], json!({ "size": 8, "data": "MSA8IDIgw6k=" }));
        let file = &full["parts"][1];
        assert_eq!((&file["partId"], &file["filename"]), (&json!("1"), &json!("a.csv")));
        assert_eq!(file["body"], json!({ "size": 3, "attachmentId": "id-1" }));
        assert_eq!((part_bytes(RAW, "1").as_deref(), made), (Some(&b"a,b"[..]), vec!["1".to_owned()]));
        assert_eq!(snippet(RAW), "1 &lt; 2 \u{e9}");
    }

    #[test]
    fn metadata_has_no_parts() {
        let wanted = PayloadDetail::Metadata(Some(vec!["Message-ID".to_owned()]));
        let told = payload(RAW, &wanted, &mut |_| String::new());
        assert_eq!(
            told,
            json!({ "mimeType": "multipart/mixed", "headers": [{ "name": "message-id", "value": "<1@x.test>" }] })
        );
    }
}
