//! The parts of a message to write, and their transfer encodings.
//!
//! Text is always quoted-printable and every file base64, except an attached message, which must be neither (RFC 2046 5.2.1). So no content
//! can have a line that is a delimiter: those have `=_` in them, which neither encoding writes (RFC 2045 6.7).

use email_encoding::body::base64;
use quoted_printable::encode_to_str;

use crate::build::fields::Header;
use crate::build::outgoing::{CalendarPart, Outgoing, OutgoingFile};

/// Longest line of mail, bytes without its end (RFC 5322 2.1.1).
const LINE_BYTES: usize = 998;

/// A part, or several in one.
pub enum Part<'a> {
    /// A subtype of `text`.
    Text(&'static str, &'a str),
    Calendar(&'a CalendarPart),
    File(&'a OutgoingFile),
    /// A subtype of `multipart`, with parameters besides the boundary.
    Several(&'static str, Vec<Part<'a>>),
}

impl<'a> Part<'a> {
    /// The parts of a message.
    pub fn from_message(message: &'a Outgoing) -> Part<'a> {
        let is_related = |file: &&OutgoingFile| file.inline && message.html.is_some();
        let related: Vec<Part<'a>> = message.attachments.iter().filter(is_related).map(Part::File).collect();
        let text = message.text.as_deref().map(|text| Part::Text("plain", text));
        let html = message.html.as_deref().map(|html| Part::Text("html", html));
        let html = html.map(|html| match related.is_empty() {
            true => html,
            false => {
                Part::Several("related; type=\"text/html\"", std::iter::once(html).chain(related).collect())
            }
        });
        let calendar = message.calendar.as_ref().map(Part::Calendar);
        let mut alternatives: Vec<Part<'a>> = [text, html, calendar].into_iter().flatten().collect();
        let body = match alternatives.len() {
            0 | 1 => alternatives.pop(),
            _ => Some(Part::Several("alternative", alternatives)),
        };
        let files = message.attachments.iter().filter(|file| !is_related(file)).map(Part::File);
        let mut parts: Vec<Part<'a>> = body.into_iter().chain(files).collect();
        match (parts.len(), parts.pop()) {
            (_, None) => Part::Text("plain", ""),
            (1, Some(only @ (Part::Text(..) | Part::Calendar(_) | Part::Several(..)))) => only,
            (_, Some(last)) => Part::Several("mixed", parts.into_iter().chain([last]).collect()),
        }
    }

    /// The header of the part, an empty line and its content; the last line is not ended. Recursion is three deep: mixed, alternative, related.
    pub fn write(&self, out: &mut String, boundary: &str) {
        match self {
            Part::Text(subtype, text) => write_text(out, subtype, text),
            // Programs look at the method here before they look inside.
            Part::Calendar(CalendarPart { method, text }) => {
                write_text(out, &format!("calendar; method={method}"), text);
            }
            Part::File(file) => write_file(out, file),
            Part::Several(subtype, parts) => {
                let boundary = format!("{boundary}.");
                out.push_str(&format!(
                    "Content-Type: multipart/{subtype};\r\n boundary=\"{boundary}\"\r\n\r\n"
                ));
                for (index, part) in parts.iter().enumerate() {
                    out.push_str(&format!("--{boundary}\r\n"));
                    part.write(out, &format!("{boundary}{index}"));
                    out.push_str("\r\n");
                }
                out.push_str(&format!("--{boundary}--"));
            }
        }
    }
}

fn write_text(out: &mut String, subtype: &str, text: &str) {
    out.push_str(&format!("Content-Type: text/{subtype}; charset=utf-8\r\n"));
    out.push_str("Content-Transfer-Encoding: quoted-printable\r\n\r\n");
    out.push_str(&encode_to_str(with_crlf(text)));
}

fn write_file(out: &mut String, file: &OutgoingFile) {
    let content_type = file.content_type.as_deref().unwrap_or("application/octet-stream");
    let plain = is_message(content_type).then(|| as_lines(&file.content)).flatten();
    let mut header = Header::default();
    header.caller_field("Content-Type", content_type);
    header.raw("Content-Transfer-Encoding", if plain.is_some() { "7bit" } else { "base64" });
    header.disposition(if file.inline { "inline" } else { "attachment" }, file.filename.as_deref());
    header.ids("Content-ID", file.content_id.as_slice());
    out.push_str(&header.into_text());
    out.push_str("\r\n");
    match plain {
        Some(lines) => out.push_str(lines),
        None => base64::encode(&file.content, out).expect("writing to a string cannot fail"),
    }
}

fn is_message(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    name.eq_ignore_ascii_case("message/rfc822") || name.eq_ignore_ascii_case("message/global")
}

/// The content, if it can stand in a message as it is: short lines of ASCII that end with CRLF, none of which looks like one of our
/// delimiters. A message that cannot is written in base64 all the same, which mail programs read.
fn as_lines(content: &[u8]) -> Option<&str> {
    let text = str::from_utf8(content).ok().filter(|text| text.is_ascii() && !text.contains('\0'))?;
    let is_line =
        |line: &str| line.len() <= LINE_BYTES && !line.contains(['\r', '\n']) && !line.starts_with("--=_");
    text.split("\r\n").all(is_line).then_some(text)
}

/// All line ends as CRLF: CR and LF alone are line ends too.
fn with_crlf(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / 32);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                lines.push_str("\r\n");
            }
            '\n' => lines.push_str("\r\n"),
            // No database stores it, and many a server refuses it (RFC 5322 4).
            '\0' => (),
            c => lines.push(c),
        }
    }
    lines
}

/// Returns the prefix of all boundaries of a message: from its id, by FNV-1a, so that a forwarded message's do not equal its envelope's.
pub fn boundary_base(message_id: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = message_id.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("=_{hash:016x}")
}
