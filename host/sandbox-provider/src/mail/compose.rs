//! Messages that the provider writes itself: seeded ones, bounces, replies. Every function returns bytes that end with CRLF.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// RFC 5322 section 3.3.
pub fn date(ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// A text in a header: as it is, or as encoded words (RFC 2047 section 2).
pub fn words(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut chunks = vec![String::new()];
    for c in text.chars() {
        // 45 bytes are 60 characters of base64: a word has at most 75.
        match chunks.last_mut() {
            Some(chunk) if chunk.len() + c.len_utf8() <= 45 => chunk.push(c),
            _ => chunks.push(c.to_string()),
        }
    }
    let words: Vec<String> = chunks.iter().map(|c| format!("=?utf-8?B?{}?=", STANDARD.encode(c))).collect();
    words.join("\r\n ")
}

/// `Name <address>`.
pub fn person(name: &str, mail: &str) -> String {
    match (name.is_empty(), name.is_ascii()) {
        (true, _) => mail.to_owned(),
        (false, true) => format!("\"{}\" <{mail}>", name.replace(['"', '\\'], "")),
        (false, false) => format!("{} <{mail}>", words(name)),
    }
}

/// A message: its headers, and a part made by one of the functions below. Headers without a value are left out.
pub fn message(headers: &[(&str, String)], part: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        raw.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    raw.extend_from_slice(b"MIME-Version: 1.0\r\n");
    raw.extend_from_slice(part);
    raw
}

/// A text part; `kind` is its type without the charset.
pub fn text(kind: &str, text: &str) -> Vec<u8> {
    if !text.is_ascii() {
        let charset = format!("{kind}; charset=utf-8");
        return encoded(&charset, &[], text.replace('\n', "\r\n").as_bytes());
    }
    let lines = text.trim_end_matches('\n').replace('\n', "\r\n");
    let head = format!("Content-Type: {kind}; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n");
    format!("{head}\r\n{lines}\r\n").into_bytes()
}

/// A part in base64, with more headers.
pub fn encoded(kind: &str, headers: &[(&str, String)], bytes: &[u8]) -> Vec<u8> {
    let mut part = format!("Content-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n").into_bytes();
    for (name, value) in headers {
        part.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    part.extend_from_slice(b"\r\n");
    for line in STANDARD.encode(bytes).as_bytes().chunks(76) {
        part.extend_from_slice(line);
        part.extend_from_slice(b"\r\n");
    }
    part
}

/// A file: `how` is `attachment` or `inline`.
pub fn file(kind: &str, name: &str, how: &str, cid: Option<&str>, bytes: &[u8]) -> Vec<u8> {
    // RFC 2231 section 4 for names that are not ASCII.
    let name = match name.is_ascii() {
        true => format!("filename=\"{name}\""),
        false => {
            let escaped: String = name.bytes().map(|b| format!("%{b:02X}")).collect();
            format!("filename*=utf-8''{escaped}")
        }
    };
    let mut headers = vec![("Content-Disposition", format!("{how}; {name}"))];
    headers.extend(cid.map(|cid| ("Content-ID", format!("<{cid}>"))));
    encoded(kind, &headers, bytes)
}

/// A multipart of the parts; `kind` is the subtype. `boundary` must not occur in the parts.
pub fn multipart(kind: &str, boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut whole = format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n\r\n").into_bytes();
    for part in parts {
        whole.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        whole.extend_from_slice(part);
    }
    whole.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    whole
}

#[cfg(test)]
mod tests {
    use crate::mail::compose::{file, message, multipart, person, text, words};
    use crate::mail::parse;

    /// A composed message is parsed to the same values.
    #[test]
    fn there_and_back() {
        let subject = "Ärger mit 柵 ".repeat(12);
        let parts = [
            text("text/plain", "Grüße\nJ."),
            file("application/pdf", "Übersicht.pdf", "attachment", None, b"%PDF"),
            file("image/png", "dot.png", "inline", Some("dot@x.test"), b"PNG"),
        ];
        let headers = [("From", person("Jürgen \"J\"", "j@x.test")), ("Subject", words(subject.trim()))];
        let raw = message(&headers, &multipart("mixed", "part-1", &parts));
        let read = parse::read(&raw).unwrap().content;
        assert_eq!(read.subject.as_deref(), Some(subject.trim()));
        assert_eq!(read.from[0].label.as_deref(), Some("Jürgen \"J\""));
        assert_eq!(parse::whole(&raw).1.plain.as_deref(), Some("Grüße\nJ."));
        assert_eq!(read.files[0].name.as_deref(), Some("Übersicht.pdf"));
        assert_eq!((read.files[1].cid.as_deref(), read.files[1].inline), (Some("dot@x.test"), true));
        assert_eq!(parse::part(&raw, &read.files[1].part).unwrap().bytes, b"PNG");
    }
}
