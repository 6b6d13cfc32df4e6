//! The parts that a server names, in the terms of the model. Everything that is MIME itself is the crate `mail`'s.

use mail::read;
use model::email::{Attachment, CalendarMethod, Disposition, EmailMessage};

use crate::ids::{Hint, TextPart};
use crate::imap::structure::{File, Part, Parts, Within};

/// The header fields that a message in a list is made of; the last two say how to read the beginning of its text. Servers repeat the
/// names in each answer, so every one is used.
pub const FIELDS: &str = "MESSAGE-ID IN-REPLY-TO REFERENCES SUBJECT FROM SENDER TO CC BCC REPLY-TO DATE IMPORTANCE PRIORITY \
    X-PRIORITY AUTO-SUBMITTED X-AUTOREPLY X-AUTORESPOND PRECEDENCE LIST-UNSUBSCRIBE CONTENT-TYPE CONTENT-TRANSFER-ENCODING";

/// A message from its header and, for the snippet, the beginning of its text.
pub fn message(header: &[u8], beginning: Option<&[u8]>) -> EmailMessage {
    let Some(beginning) = beginning else { return read::headers(header) };
    // A server may leave out the empty line that ends the header.
    let header = header.trim_ascii_end();
    let whole = [header, b"\r\n\r\n", beginning].concat();
    read::message(&whole).map(|mail| mail.message).unwrap_or_default()
}

/// Returns the snippet in a list for a preview (RFC 8970).
pub fn snippet(preview: &str) -> String {
    mail::text::snippet(Some(preview), None)
}

/// The text of one part, and its charset, from bytes that may be cut off anywhere.
pub fn text(part: &TextPart, subtype: &str, body: &[u8]) -> (String, Option<String>) {
    let charset = part.charset.iter().map(|charset| format!("; charset=\"{}\"", token(charset)));
    let header = format!(
        "Content-Type: text/{subtype}{}\r\nContent-Transfer-Encoding: {}\r\n\r\n",
        charset.collect::<String>(),
        token(&part.encoding)
    );
    let decoded = read::part(header.as_bytes(), body);
    (decoded.text.unwrap_or_default(), decoded.charset)
}

fn token(text: &str) -> String {
    let is_good = |c: &char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    text.chars().filter(is_good).take(80).collect()
}

/// Returns the hint that names the parts of the message's text.
pub fn hint(parts: &Parts) -> Hint {
    let part = |part: &Part| TextPart {
        section: part.section.clone(),
        encoding: token(&part.encoding),
        charset: part.param("charset").map(token),
    };
    // Text that is split into more parts than this is not what anybody reads.
    Hint {
        text: parts.text.iter().take(20).map(part).collect(),
        html: parts.html.iter().take(20).map(part).collect(),
        is_known: true,
        ..Hint::default()
    }
}

/// Fills in the fields that the parts define.
pub fn fill(message: &mut EmailMessage, parts: &Parts) {
    message.attachments = parts.files.iter().map(|file| attachment(&file.part)).collect();
    message.has_attachments =
        parts.files.iter().zip(&message.attachments).any(|(file, attachment)| is_offered(file, attachment));
    let calendars = parts.files.iter().filter(|file| file.part.kind == "text/calendar");
    let methods = calendars.filter_map(|file| file.part.param("method"));
    message.calendar_method = methods.map(str::to_ascii_lowercase).find_map(|method| match method.as_str() {
        "request" => Some(CalendarMethod::Request),
        "reply" => Some(CalendarMethod::Reply),
        "cancel" => Some(CalendarMethod::Cancel),
        _ => None,
    });
}

fn attachment(part: &Part) -> Attachment {
    let disposition = part.disposition.as_deref().map(|disposition| match disposition {
        "inline" => Disposition::Inline,
        _ => Disposition::Attachment,
    });
    let encoded = part.size.and_then(|size| i64::try_from(size).ok());
    Attachment {
        id: part.section.clone(),
        filename: file_name(part),
        content_type: part.kind.clone(),
        // How much is left without the encoding is known when it is fetched.
        size: encoded.filter(|_| !part.is_encoded()),
        encoded_size: encoded,
        inline: disposition == Some(Disposition::Inline) || disposition.is_none() && part.id.is_some(),
        content_id: part.id.clone(),
        disposition,
        is_message: part.kind == "message/rfc822" || part.kind == "message/global",
        ..Attachment::default()
    }
}

/// Whether a user would look for the part as a file (RFC 8621 section 4.1.4 `hasAttachment`): no picture that the HTML shows, no
/// invitation beside the text, no signature, no part of a delivery report.
fn is_offered(file: &File, attachment: &Attachment) -> bool {
    let kind = file.part.kind.as_str();
    let is_signature = matches!(
        kind,
        "application/pgp-signature" | "application/pkcs7-signature" | "application/x-pkcs7-signature"
    );
    let is_media = ["image/", "audio/", "video/"].iter().any(|top| kind.starts_with(top));
    match file.within {
        _ if is_signature => false,
        Within::Report => false,
        Within::Alternative if kind == "text/calendar" => false,
        Within::Related if file.part.id.is_some() => false,
        _ => match attachment.disposition {
            Some(Disposition::Inline) => !is_media && attachment.filename.is_some(),
            _ => true,
        },
    }
}

fn file_name(part: &Part) -> Option<String> {
    let named = |params: &[(String, String)], name: &str| {
        let mut values = params.iter().filter(|(known, _)| known == name);
        values.next().map(|(_, value)| value.clone()).filter(|value| !value.contains("=?"))
    };
    let is_extended = |params: &[(String, String)]| params.iter().any(|(name, _)| name.contains('*'));
    let all = [&part.disposition_params, &part.params];
    let plain = named(all[0], "filename").or_else(|| named(all[1], "name"));
    if let Some(name) = plain.filter(|_| !all.into_iter().any(|params| is_extended(params))) {
        return read::file_name(&name);
    }
    // Names in pieces, in other charsets and in encoded words (RFC 2231, RFC 2047) are read by those who read messages.
    let mut header = String::from("Content-Disposition: attachment");
    append(&mut header, &part.disposition_params);
    header.push_str("\r\nContent-Type: application/octet-stream");
    append(&mut header, &part.params);
    header.push_str("\r\n\r\n.");
    let mail = read::message(header.as_bytes()).ok()?;
    mail.message.attachments.into_iter().next()?.filename
}

fn append(header: &mut String, params: &[(String, String)]) {
    for (name, value) in
        params.iter().filter(|(name, _)| name.starts_with("filename") || name.starts_with("name"))
    {
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // RFC 2231: an extended value is not quoted.
        let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '*').collect();
        let quote = if name.ends_with('*') { "" } else { "\"" };
        header.push_str(&format!(";\r\n {name}={quote}{value}{quote}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{fill, message, text};
    use crate::ids::TextPart;
    use crate::imap::{structure, value};

    fn named(params: &str) -> Option<String> {
        let text = format!(r#"("APPLICATION" "PDF" NIL NIL NIL "BASE64" 78 NIL ("ATTACHMENT" ({params})))"#);
        let parts = structure::read(&value::read(text.as_bytes()).unwrap()[0]);
        let mut message = model::email::EmailMessage::default();
        fill(&mut message, &parts);
        assert!(message.has_attachments);
        assert_eq!((message.attachments[0].size, message.attachments[0].encoded_size), (None, Some(78)));
        message.attachments.remove(0).filename
    }

    #[test]
    fn files_have_names() {
        assert_eq!(named(r#""FILENAME" "a/b.pdf""#).as_deref(), Some("a_b.pdf"));
        assert_eq!(named(r#""FILENAME*" "utf-8''%E2%82%AC.pdf""#).as_deref(), Some("€.pdf"));
        assert_eq!(
            named(r#""FILENAME*0*" "utf-8''%E2%82%AC" "FILENAME*1" ".pdf""#).as_deref(),
            Some("€.pdf")
        );
        assert_eq!(named(r#""FILENAME" "=?utf-8?B?4oKsLnBkZg==?=""#).as_deref(), Some("€.pdf"));
        assert_eq!(named("\"FILENAME\" \"x\r\nBcc: y\""), Some("xBcc: y".into()));
        assert_eq!(named(""), None);
    }

    #[test]
    fn a_size_is_told_where_it_is_known() {
        let size = |encoding: &str, octets: &str| {
            let text = format!(r#"("IMAGE" "PNG" NIL NIL NIL {encoding} {octets})"#);
            let parts = structure::read(&value::read(text.as_bytes()).unwrap()[0]);
            let mut message = model::email::EmailMessage::default();
            fill(&mut message, &parts);
            message.attachments[0].size
        };
        for exact in ["\"7BIT\"", "\"8bit\"", "\"BINARY\"", "NIL", "\"x-unknown\""] {
            assert_eq!(size(exact, "1234"), Some(1234), "{exact}");
        }
        for encoded in ["\"BASE64\"", "\"Quoted-Printable\"", "\"X-UUENCODE\"", "\"uue\""] {
            assert_eq!(size(encoded, "1234"), None, "{encoded}");
        }
        assert_eq!(size("\"7BIT\"", "NIL"), None);
    }

    #[test]
    fn a_part_that_is_cut_off_is_read_as_far_as_it_goes() {
        let part = TextPart { section: "1".into(), encoding: "base64".into(), charset: Some("utf-8".into()) };
        assert_eq!(text(&part, "plain", b"R3LDvMOfZQ").0, "Grüße");
        let coded = TextPart { encoding: "x-uuencode".into(), ..part.clone() };
        assert_eq!(text(&coded, "plain", b"begin 644 a\n#0V%T\n").0, "Cat");
        let part = TextPart { encoding: "\r\nX: y".into(), charset: Some("iso-8859-1\"\r\n".into()), ..part };
        let (text, charset) = text(&part, "plain", b"Gr\xfc\xdfe");
        assert_eq!((text.as_str(), charset.as_deref()), ("Grüße", Some("iso-8859-1")));
        assert_eq!(message(b"Subject: x\r\n\r\n", Some(b"hello  there")).snippet, "hello there");
    }
}
