//! MIME of messages that have none of their own: those made of JSON, and drafts that were changed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::DateTime;
use serde_json::Value;

use crate::graph::mail::content::{AttachmentKind, HeaderLine, MailAddress, MailContent, StoredAttachment};

/// Lines of a head that a composed message has of its content.
const OWN_LINES: [&str; 10] =
    ["from", "sender", "to", "cc", "bcc", "reply-to", "subject", "message-id", "date", "mime-version"];
/// Bytes of a text in one encoded word (RFC 2047 §2: at most 75 characters with its frame).
const WORD_BYTES: usize = 42;
/// Characters of a line of base64 (RFC 2045 §6.8).
const LINE_CHARS: usize = 76;

/// Members of a message that a request of JSON may set, as the content has them.
pub fn put_members(content: &mut MailContent, body: &Value) {
    let lists = [
        ("toRecipients", &mut content.to),
        ("ccRecipients", &mut content.cc),
        ("bccRecipients", &mut content.bcc),
        ("replyTo", &mut content.reply_to),
    ];
    for (name, list) in lists {
        if let Some(given) = body[name].as_array() {
            *list = given.iter().filter_map(MailAddress::from_value).collect();
        }
    }
    for (name, list) in [("from", &mut content.from), ("sender", &mut content.sender)] {
        if let Some(one) = MailAddress::from_value(&body[name]) {
            *list = vec![one];
        }
    }
    if let Some(subject) = body["subject"].as_str() {
        content.subject = subject.to_owned();
    }
    if let Some(text) = body["body"]["content"].as_str() {
        let is_html =
            body["body"]["contentType"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("html"));
        content.html = is_html.then(|| text.to_owned());
        content.text = (!is_html).then(|| text.to_owned());
    }
    for line in body["internetMessageHeaders"].as_array().into_iter().flatten() {
        if let (Some(name), Some(value)) = (line["name"].as_str(), line["value"].as_str()) {
            content.headers.push(HeaderLine { name: name.to_owned(), value: value.to_owned() });
        }
    }
}

/// The MIME of a content.
pub fn compose(content: &MailContent) -> Vec<u8> {
    let mut head = String::new();
    let lists = [
        ("From", &content.from),
        ("Sender", &content.sender),
        ("To", &content.to),
        ("Cc", &content.cc),
        ("Bcc", &content.bcc),
        ("Reply-To", &content.reply_to),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let all: Vec<String> = list.iter().map(written).collect();
        head.push_str(&format!("{name}: {}\r\n", all.join(",\r\n ")));
    }
    head.push_str(&format!("Subject: {}\r\n", encoded(&content.subject)));
    if !content.message_id.is_empty() {
        head.push_str(&format!("Message-ID: {}\r\n", content.message_id));
    }
    if let Some(date) = content.sent_ms.and_then(DateTime::from_timestamp_millis) {
        head.push_str(&format!("Date: {}\r\n", date.to_rfc2822()));
    }
    for line in &content.headers {
        let name = line.name.to_lowercase();
        if !OWN_LINES.contains(&name.as_str()) && !name.starts_with("content-") {
            head.push_str(&format!("{}: {}\r\n", line.name, line.value));
        }
    }
    head.push_str("MIME-Version: 1.0\r\n");
    let mut whole = head.into_bytes();
    whole.extend(entity(content));
    whole
}

/// The body with its own head: the texts, and the attachments around them.
fn entity(content: &MailContent) -> Vec<u8> {
    let texts: Vec<Vec<u8>> = [("plain", &content.text), ("html", &content.html)]
        .into_iter()
        .filter_map(|(kind, text)| Some(text_entity(kind, text.as_ref()?)))
        .collect();
    let mut texts = texts.into_iter();
    let body = match (texts.next(), texts.next()) {
        (Some(text), Some(html)) => multipart("alternative", &[text, html]),
        (Some(one), None) => one,
        _ => text_entity("plain", ""),
    };
    let files: Vec<&StoredAttachment> =
        content.attachments.iter().filter(|one| one.kind != AttachmentKind::Reference).collect();
    if files.is_empty() {
        return body;
    }
    let parts: Vec<Vec<u8>> = [body].into_iter().chain(files.into_iter().map(file_entity)).collect();
    multipart("mixed", &parts)
}

fn text_entity(kind: &str, text: &str) -> Vec<u8> {
    let mut whole =
        format!("Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n")
            .into_bytes();
    whole.extend(base64_lines(text.as_bytes()));
    whole
}

fn file_entity(file: &StoredAttachment) -> Vec<u8> {
    let way = if file.is_inline { "inline" } else { "attachment" };
    let name = |parameter: &str| match file.name.is_ascii() {
        true => format!("{parameter}=\"{}\"", file.name.replace(['"', '\\', '\r', '\n'], "'")),
        // RFC 2231 §4
        false => {
            let text: String = url::form_urlencoded::byte_serialize(file.name.as_bytes()).collect();
            format!("{parameter}*=utf-8''{}", text.replace('+', "%20"))
        }
    };
    let mut head = format!(
        "Content-Type: {}; {}\r\nContent-Disposition: {way}; {}\r\n",
        file.content_type,
        name("name"),
        name("filename")
    );
    if let Some(id) = &file.content_id {
        head.push_str(&format!("Content-ID: <{}>\r\n", id.trim_matches(['<', '>'])));
    }
    if file.kind == AttachmentKind::File {
        head.push_str("Content-Transfer-Encoding: base64\r\n");
    }
    let mut whole = format!("{head}\r\n").into_bytes();
    match file.kind {
        AttachmentKind::File => whole.extend(base64_lines(&file.bytes)),
        AttachmentKind::Item | AttachmentKind::Reference => whole.extend_from_slice(&file.bytes),
    }
    whole
}

fn multipart(kind: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    // An outer entity is longer than those in it, and no line of base64 begins with an underscore.
    let boundary = format!("_fake_{kind}_{:010}", parts.iter().map(Vec::len).sum::<usize>());
    let mut whole = format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n\r\n").into_bytes();
    for part in parts {
        whole.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        whole.extend_from_slice(part);
        whole.extend_from_slice(b"\r\n");
    }
    whole.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    whole
}

fn base64_lines(bytes: &[u8]) -> Vec<u8> {
    let text = BASE64_STANDARD.encode(bytes).into_bytes();
    let mut lines = Vec::with_capacity(text.len() + text.len() / LINE_CHARS * 2 + 2);
    for line in text.chunks(LINE_CHARS) {
        lines.extend_from_slice(line);
        lines.extend_from_slice(b"\r\n");
    }
    lines
}

fn written(address: &MailAddress) -> String {
    match address.name == address.address {
        true => address.address.clone(),
        false if address.name.is_ascii() => {
            format!("\"{}\" <{}>", address.name.replace(['"', '\\'], ""), address.address)
        }
        false => format!("{} <{}>", encoded(&address.name), address.address),
    }
}

/// A text of a head: encoded words where it is not ASCII.
fn encoded(text: &str) -> String {
    if text.is_ascii() {
        return text.replace(['\r', '\n'], " ");
    }
    let mut words = vec![String::new()];
    for character in text.chars() {
        if words.last().is_some_and(|word| word.len() + character.len_utf8() > WORD_BYTES) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    let words: Vec<String> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(word))).collect();
    words.join("\r\n ")
}

/// The message without the lines of its head for whose name `goes` is true.
pub fn without_lines(raw: &[u8], goes: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(raw.len());
    let (mut at, mut is_left_out) = (0, false);
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            break;
        }
        at += line.len();
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            is_left_out = goes(&String::from_utf8_lossy(name).trim().to_lowercase());
        }
        if !is_left_out {
            kept.extend_from_slice(line);
        }
    }
    kept.extend_from_slice(raw.get(at..).unwrap_or_default());
    kept
}

/// The message with this line at its beginning, without its line end.
pub fn with_line(raw: &[u8], line: &str) -> Vec<u8> {
    let mut whole = format!("{line}\r\n").into_bytes();
    whole.extend_from_slice(raw);
    whole
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{compose, put_members, with_line, without_lines};
    use crate::graph::mail::content::{AttachmentKind, MailContent, StoredAttachment};

    #[test]
    fn a_composed_message_reads_as_it_was_written() {
        let mut content = MailContent::default();
        let body = json!({
            "subject": "Gr\u{fc}\u{df}e an alle, die dies lesen: \u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}",
            "body": { "contentType": "HTML", "content": "<p>1 &lt; 2</p>" },
            "toRecipients": [{ "emailAddress": { "address": "b@x.test", "name": "B\u{e9}" } }],
            "internetMessageHeaders": [{ "name": "x-own", "value": "1" }],
        });
        put_members(&mut content, &body);
        content.text = Some("1 < 2".to_owned());
        let file = |number: u64, kind: AttachmentKind, bytes: &[u8]| StoredAttachment {
            number,
            kind,
            name: format!("{number}.bin"),
            content_type: if kind == AttachmentKind::Item { "message/rfc822" } else { "text/csv" }.to_owned(),
            content_id: None,
            content_location: None,
            is_inline: false,
            bytes: bytes.to_vec(),
        };
        content.attachments = vec![
            file(1, AttachmentKind::File, &[b'a'; 200]),
            file(2, AttachmentKind::Item, b"Subject: i\r\n\r\nx"),
        ];
        let read = MailContent::parse(&compose(&content));
        assert_eq!((&read.subject, &read.to), (&content.subject, &content.to));
        assert_eq!((read.text.as_deref(), read.html.as_deref()), (Some("1 < 2"), Some("<p>1 &lt; 2</p>")));
        assert_eq!(read.header("x-own"), Some("1"));
        let kinds: Vec<_> = read.attachments.iter().map(|one| (one.kind, one.bytes.len())).collect();
        assert_eq!(kinds[0], (AttachmentKind::File, 200));
        assert_eq!(kinds[1].0, AttachmentKind::Item);
    }

    #[test]
    fn lines_of_a_head_go_and_come() {
        let raw = b"To: a@x.test\r\nBcc: b@x.test,\r\n c@x.test\r\nSubject: Hi\r\n\r\nBcc: text\r\n";
        let left = without_lines(raw, |name| name == "bcc");
        assert_eq!(left, b"To: a@x.test\r\nSubject: Hi\r\n\r\nBcc: text\r\n");
        assert!(with_line(&left, "Date: x").starts_with(b"Date: x\r\nTo: "));
    }
}
