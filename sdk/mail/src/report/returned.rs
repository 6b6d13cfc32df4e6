//! The message that came back with a report: as a part, or in the report's own text behind a line that says so.

use crate::read::entity::Entity;
use crate::read::field::{Field, fields, last};
use crate::read::limits::HEADER_BYTES;
use crate::text::cut_at;
use crate::threads::message_ids;

/// Types of a message that came back, whole or its header alone.
const TYPES: [&str; 5] = [
    "message/rfc822",
    "message/global",
    "text/rfc822-headers",
    "message/rfc822-headers",
    "message/global-headers",
];

/// How the line begins behind which the message follows, lower case and without the dashes around it.
const MARKS: [&str; 27] = [
    "below this line is a copy of",
    "below the next line is a copy of",
    "below is a copy of the original",
    "this is a copy of",
    "a copy of the original message",
    "included is a copy of",
    "here is your returned mail",
    "start of returned message",
    "start of message",
    "returned mail follows",
    "returned message",
    "original message",
    "original mail",
    "original header",
    "possibly truncated original message",
    "message header follows",
    "message headers follow",
    "message text follows",
    "the header of the original message",
    "the original message headers",
    "unsent message follows",
    "undelivered message",
    "no message was collected",
    "your message reads",
    "old message:",
    "urspr\u{fc}ngliche nachricht",
    "der header der urspr",
];

/// Whether a part is a message that came back.
pub fn is_returned(part: &Entity) -> bool {
    TYPES.contains(&part.kind.media_type.as_str())
}

/// The Message-ID of the first message that came back as a part.
pub fn id_of_part(raw: &[u8], parts: &[Entity]) -> Option<String> {
    let returned = parts.iter().find(|part| is_returned(part))?;
    let body = raw.get(returned.body.clone()).unwrap_or_default();
    // Twice the longest header: as much is needed of one in base64, and the rest is not decoded.
    let content = returned.kind.transfer.decode(body.get(..2 * HEADER_BYTES).unwrap_or(body));
    first_id(last(&fields(content.trim_ascii_start()), "message-id")?)
}

/// The first Message-ID of a field.
pub fn first_id(field: Field<'_>) -> Option<String> {
    message_ids(&field.raw()).into_iter().next()
}

/// Returns the offset at which the text of a report ends and the returned message begins.
pub fn start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_mark(line) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn is_mark(line: &str) -> bool {
    let words = cut_at(line, 200).trim_matches(|c: char| c.is_whitespace() || "-*=+_#|".contains(c));
    let words = words.to_lowercase();
    // `The original message was received at …` goes on as a sentence, `Original message follows.` does not.
    MARKS.iter().any(|mark| words.starts_with(mark)) && !words.starts_with("original message was")
}

/// The Message-ID of a header that stands in a text. `returned` begins with the line before it.
pub fn id_in_text(returned: &str) -> Option<String> {
    let mut lines = returned.lines();
    let line = lines.find(|line| is_id(line))?;
    let value = line.split_once(':')?.1;
    // The value may be on the next line alone (RFC 5322 2.2.3).
    let value = if value.trim().is_empty() { lines.next()? } else { value };
    message_ids(value).into_iter().next()
}

fn is_id(line: &str) -> bool {
    cut_at(line.trim_start(), 11).eq_ignore_ascii_case("message-id:")
}
