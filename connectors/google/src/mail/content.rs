//! Texts of messages, and bytes of the provider in blobs of the call.

use connector_sdk::http::{BlobInfo, Request, Response};
use connector_sdk::{Context, Failure, Outcome};
use model::email::EmailBody;

use crate::failures;
use crate::mail::mime::{MessageParts, media_type, type_parameter};
use crate::mail::native::{Message, MessagePart};
use crate::mail::roots;

/// The most bytes of a message or of a file in one: what Gmail takes, and JSON around it.
const MAX_CONTENT_BYTES: u64 = 150 << 20;
/// Most bytes of a text that are read, also where the host asks for more.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// Texts of one message that are read apart, because they are too long to come with it.
const MAX_LONG_TEXTS: usize = 4;
/// Bytes of an error's body that are read.
const MAX_ERROR_BYTES: u32 = 64 << 10;

/// Puts the base64url text at a JSON pointer of the answer into a blob.
pub fn to_blob(context: &Context, request: Request, pointer: &str, doing: &str) -> Outcome<BlobInfo> {
    let decode = format!("json-base64url:{pointer}");
    let info = context.host().send_to_blob(request, &decode, MAX_CONTENT_BYTES)?;
    if (200..300).contains(&info.status) {
        return Ok(info);
    }
    // A refusal went into the blob as it came.
    let body = context.host().read_blob(&info.id, 0, MAX_ERROR_BYTES).unwrap_or_default();
    let response =
        Response { status: info.status, headers: info.headers.clone(), body, ..Response::default() };
    Err(failures::from_response(context, &response, doing))
}

/// Puts a part of a message into a blob: by the id that an attachment has for a while.
pub fn attachment_to_blob(context: &Context, message_id: &str, attachment_id: &str) -> Outcome<BlobInfo> {
    let url = roots::mailbox(&["messages", message_id, "attachments", attachment_id], &[("fields", "data")])?;
    let request = Request::get(url).units(roots::ATTACHMENT_UNITS);
    to_blob(context, request, "/data", "reading the attachment")
}

/// Returns the text of a message that was read with the content of its parts, at most this many bytes of each kind.
pub fn body(context: &Context, message: &Message, max_bytes: usize) -> EmailBody {
    let limit = if max_bytes == 0 { MAX_TEXT_BYTES } else { max_bytes.min(MAX_TEXT_BYTES) };
    let parts = MessageParts::from_message(message);
    let mut reader = TextReader { context, message_id: &message.id, limit, long_texts: 0, is_cut: false };
    let text = reader.join_parts(&parts.text);
    let html = reader.join_parts(&parts.html);
    let charset = parts.text.iter().chain(&parts.html).find_map(|part| type_parameter(part, "charset"));
    EmailBody { text, html, safe_html: None, charset, truncated: reader.is_cut }
}

struct TextReader<'a> {
    context: &'a Context<'a>,
    message_id: &'a str,
    limit: usize,
    /// Texts that were read apart.
    long_texts: usize,
    /// A text is cut off.
    is_cut: bool,
}

impl TextReader<'_> {
    /// The parts one after the other; none where there are none.
    fn join_parts(&mut self, parts: &[&MessagePart]) -> Option<String> {
        let mut whole: Option<String> = None;
        for part in parts {
            let text = self.text(part);
            let joined = whole.get_or_insert_default();
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            joined.push_str(&text);
            if joined.len() > self.limit {
                let (text, is_cut) = mail::read::cut(std::mem::take(joined), self.limit);
                *joined = text;
                self.is_cut |= is_cut;
                break;
            }
        }
        whole
    }

    fn text(&mut self, part: &MessagePart) -> String {
        let bytes = match (&part.body.data, &part.body.attachment_id) {
            (Some(data), _) => decoded(data),
            (None, Some(id)) => self.long_text(id).unwrap_or_else(|| {
                self.is_cut = true;
                Vec::new()
            }),
            (None, None) => Vec::new(),
        };
        to_text(part, &bytes)
    }

    /// The beginning of a text that does not come with its message. None: it cannot be read, or too many were.
    fn long_text(&mut self, attachment_id: &str) -> Option<Vec<u8>> {
        if self.long_texts >= MAX_LONG_TEXTS {
            return None;
        }
        self.long_texts += 1;
        let blob = attachment_to_blob(self.context, self.message_id, attachment_id).ok()?;
        // Four bytes of another charset can be one of ours, and a character more shows that there is more.
        let wanted = u32::try_from(self.limit.saturating_add(4)).unwrap_or(u32::MAX);
        let bytes = self.context.host().read_blob(&blob.id, 0, wanted)?;
        // Line ends get shorter, so that the text may fit although it is not all.
        self.is_cut |= blob.size.is_some_and(|size| size > u64::from(wanted));
        Some(bytes)
    }
}

/// The bytes of a base64url text.
pub fn decoded(data: &str) -> Vec<u8> {
    let standard: Vec<u8> = data
        .bytes()
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    let header = b"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    mail::read::part(header, &standard).bytes
}

/// The text of a part. Gmail gives texts in UTF-8, whatever charset their parts name; a text that is not is in the part's charset.
fn to_text(part: &MessagePart, bytes: &[u8]) -> String {
    let charset = match str::from_utf8(bytes) {
        Ok(_) => "utf-8".to_owned(),
        Err(error) if error.error_len().is_none() => "utf-8".to_owned(),
        Err(_) => type_parameter(part, "charset").unwrap_or_default(),
    };
    let charset: String =
        charset.chars().filter(char::is_ascii_graphic).filter(|c| !matches!(c, '"' | '\\')).collect();
    let kind = if media_type(part) == "text/html" { "html" } else { "plain" };
    let charset = if charset.is_empty() { String::new() } else { format!("; charset=\"{charset}\"") };
    let header = format!("Content-Type: text/{kind}{charset}\r\n\r\n");
    mail::read::part(header.as_bytes(), bytes).text.unwrap_or_default()
}

/// Returns the failure for a part or a message that does not exist.
pub fn not_there() -> Failure {
    Failure::not_found("there is no such message or attachment at the provider")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(charset: &str) -> MessagePart {
        let headers =
            json!([{ "name": "Content-Type", "value": format!("text/plain; charset=\"{charset}\"") }]);
        serde_json::from_value(json!({ "mimeType": "text/plain", "headers": headers })).unwrap()
    }

    #[test]
    fn data_is_base64url_with_padding() {
        assert_eq!(decoded("R3LDvMOfZT8_fn4="), "Gr\u{fc}\u{df}e??~~".as_bytes());
        assert_eq!(decoded("R3LDvMOfZT8_fn4"), decoded("R3LDvMOfZT8_fn4="));
        assert!(decoded("").is_empty());
    }

    /// Gmail has made UTF-8 of it, and left the charset of the sender in the header.
    #[test]
    fn a_text_is_utf_8_whatever_its_part_says() {
        assert_eq!(to_text(&part("iso-8859-1"), "Gr\u{fc}\u{df}e".as_bytes()), "Gr\u{fc}\u{df}e");
        assert_eq!(to_text(&part("iso-8859-1"), b"Gr\xfc\xdfe"), "Gr\u{fc}\u{df}e");
        assert_eq!(to_text(&MessagePart::default(), b"plain"), "plain");
        // Cut inside of a character.
        assert!(to_text(&part("iso-8859-1"), b"Gr\xc3").starts_with("Gr"));
        assert_eq!(to_text(&part("a\"\r\nX: y"), b"x"), "x");
    }
}
