//! From a message's bytes to what it says. The only file that knows the MIME parser.

use mail_parser::{Address, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::sandbox_provider::mail::types::{Content, Correspondent, File, Weight};
use crate::sandbox_provider::times::instant;

/// Messages in messages that are looked into; what has more is refused, because the parser's tree is as deep.
const MAX_NESTED: usize = 100;
/// Bounds of what is kept beside the bytes.
const MAX_ADDRESSES: usize = 500;
const MAX_IDS: usize = 100;
const MAX_FILES: usize = 200;
const MAX_LINE: usize = 2 << 10;
const MAX_SEARCH: usize = 16 << 10;
const PREVIEW_CHARS: usize = 200;

/// What a message says, with what a search looks through and the weight that its author gave it.
#[derive(Clone)]
pub struct Read {
    pub content: Content,
    pub search: String,
    pub weight: Weight,
}

/// All text of a message.
#[derive(Debug, Default, PartialEq)]
pub struct Text {
    pub plain: Option<String>,
    pub html: Option<String>,
    pub charset: Option<String>,
}

/// The bytes of one part.
pub struct Part {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

fn parsed(raw: &[u8]) -> Option<mail_parser::Message<'_>> {
    let count = raw.iter().enumerate().filter(|(at, byte)| **byte == b'/' && nests(&raw[at + 1..])).count();
    if count > MAX_NESTED { None } else { MessageParser::default().parse(raw) }
}

/// The types whose content the parser reads as a message of its own.
fn nests(subtype: &[u8]) -> bool {
    let is = |name: &str| subtype.get(..name.len()).is_some_and(|s| s.eq_ignore_ascii_case(name.as_bytes()));
    is("rfc822") || is("global") || is("digest")
}

/// Reads a message. None: it is none, or it holds too many others.
pub fn read(raw: &[u8]) -> Option<Read> {
    let message = parsed(raw)?;
    let line = |text: Option<&str>| text.map(|text| cut(text, MAX_LINE).trim().to_owned());
    let mut text = String::new();
    for at in 0..message.text_body_count() {
        text.push_str(&message.body_text(at).unwrap_or_default());
        text.push('\n');
        if text.len() > MAX_SEARCH {
            break;
        }
    }
    let sent_ms = message.date().filter(|date| date.is_valid()).map(|date| date.to_timestamp());
    let automatic = message.header_raw("Auto-Submitted").map(str::trim);
    let content = Content {
        message_id: message.message_id().map(|id| cut(id, MAX_LINE).to_owned()),
        in_reply_to: ids(message.in_reply_to()),
        references: ids(message.references()),
        subject: line(message.subject()),
        from: people(message.from()),
        sender: people(message.sender()).into_iter().next(),
        to: people(message.to()),
        cc: people(message.cc()),
        bcc: people(message.bcc()),
        reply_to: people(message.reply_to()),
        sent_at: sent_ms.and_then(|seconds| seconds.checked_mul(1000)).map(instant),
        preview: preview(&text),
        files: files(&message),
        bytes: raw.len(),
        automatic: automatic.is_some_and(|how| !how.eq_ignore_ascii_case("no")),
        unsubscribe: line(message.header_raw("List-Unsubscribe")).map(|text| unfolded(&text)),
        invitation: message.parts.iter().find_map(invitation),
    };
    Some(Read { search: search(&content, &text), weight: weight(&message), content })
}

/// All headers in order, and the text.
pub fn whole(raw: &[u8]) -> (Vec<(String, String)>, Text) {
    let Some(message) = parsed(raw) else { return Default::default() };
    let header = |(name, value): (&str, &str)| (name.to_owned(), unfolded(value));
    let headers = message.headers_raw().map(header).collect();
    let mut text = Text::default();
    for (ids, wants_html) in [(&message.text_body, false), (&message.html_body, true)] {
        for part in ids.iter().filter_map(|id| message.part(*id)) {
            let (found, into) = match &part.body {
                PartType::Text(found) if !wants_html => (found, &mut text.plain),
                PartType::Html(found) if wants_html => (found, &mut text.html),
                _ => continue,
            };
            into.get_or_insert_default().push_str(found);
            let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
            text.charset = text.charset.or_else(|| charset.map(str::to_lowercase));
        }
    }
    (headers, text)
}

/// One of the `files`.
pub fn part(raw: &[u8], part: &str) -> Option<Part> {
    let (message, id) = (parsed(raw)?, part.parse::<u32>().ok()?);
    let found = message.attachments.contains(&id).then(|| message.part(id)).flatten()?;
    let file = file(&message, id, found);
    // A message in a message counts as the bytes that it stands in.
    let bytes = match &found.body {
        PartType::Message(_) => {
            let (from, to) = (found.raw_body_offset() as usize, found.raw_end_offset() as usize);
            raw.get(from..to)?.to_vec()
        }
        _ => found.contents().to_vec(),
    };
    Some(Part { media_type: file.media_type, bytes })
}

fn files(message: &mail_parser::Message<'_>) -> Vec<File> {
    let parts = message.attachments.iter().filter_map(|id| Some((*id, message.part(*id)?)));
    parts.take(MAX_FILES).map(|(id, part)| file(message, id, part)).collect()
}

fn file(message: &mail_parser::Message<'_>, id: u32, part: &MessagePart<'_>) -> File {
    let kind = part.content_type().map(|kind| match kind.subtype() {
        Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_lowercase(),
        None => kind.ctype().to_lowercase(),
    });
    let disposition = part.content_disposition().map(|how| how.ctype().to_lowercase());
    let cid = part.content_id().map(|cid| cut(cid, MAX_LINE).to_owned());
    let is_message = part.is_message();
    let encoded_bytes = part.raw_end_offset().saturating_sub(part.raw_body_offset()) as usize;
    File {
        part: id.to_string(),
        name: part.attachment_name().map(file_name).filter(|name| !name.is_empty()),
        media_type: kind.filter(|kind| kind.contains('/')).unwrap_or_else(|| match is_message {
            true => "message/rfc822".to_owned(),
            false => "application/octet-stream".to_owned(),
        }),
        bytes: if is_message { encoded_bytes } else { part.contents().len() },
        encoded_bytes,
        inline: match disposition.as_deref() {
            Some("inline") => true,
            Some(_) => false,
            None => cid.is_some() && !message.html_body.is_empty(),
        },
        disposition,
        cid,
        is_message,
    }
}

/// A name alone, without the folders that a sender may have put before it.
fn file_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    cut(&name, 255).trim().to_owned()
}

fn people(header: Option<&Address<'_>>) -> Vec<Correspondent> {
    let person = |found: &mail_parser::Addr<'_>| Correspondent {
        mail: cut(found.address().unwrap_or_default(), MAX_LINE).to_owned(),
        label: found.name().map(|name| cut(name, MAX_LINE).to_owned()),
    };
    header.into_iter().flat_map(Address::iter).take(MAX_ADDRESSES).map(person).collect()
}

fn ids(header: &HeaderValue<'_>) -> Vec<String> {
    let found: Vec<&str> = match header {
        HeaderValue::Text(id) => vec![id],
        HeaderValue::TextList(ids) => ids.iter().map(AsRef::as_ref).collect(),
        _ => Vec::new(),
    };
    found.into_iter().filter(|id| id.len() <= MAX_LINE).take(MAX_IDS).map(str::to_owned).collect()
}

fn invitation(part: &MessagePart<'_>) -> Option<String> {
    let kind = part.content_type().filter(|_| part.is_content_type("text", "calendar"))?;
    let method = kind.attribute("method")?.to_lowercase();
    ["request", "reply", "cancel"].contains(&method.as_str()).then_some(method)
}

/// RFC 2156 section 5.3.4, and the older number.
fn weight(message: &mail_parser::Message<'_>) -> Weight {
    let value = |name: &'static str| message.header_raw(name).map(|value| value.trim().to_lowercase());
    match (value("Importance").as_deref(), value("X-Priority").as_deref().and_then(|v| v.get(..1))) {
        (Some("high"), _) | (None, Some("1" | "2")) => Weight::Major,
        (Some("low"), _) | (None, Some("4" | "5")) => Weight::Minor,
        _ => Weight::Usual,
    }
}

fn preview(text: &str) -> String {
    let text = cut(text, MAX_SEARCH);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(PREVIEW_CHARS).collect()
}

fn search(content: &Content, text: &str) -> String {
    let people = [&content.from, &content.to, &content.cc, &content.bcc, &content.reply_to];
    let people = people.into_iter().flatten().flat_map(|p| [p.label.as_deref().unwrap_or_default(), &p.mail]);
    let names = content.files.iter().filter_map(|file| file.name.as_deref());
    let words: Vec<&str> = content.subject.as_deref().into_iter().chain(people).chain(names).collect();
    let words = format!("{}\n{}", words.join("\n"), cut(text, MAX_SEARCH));
    cut(&words.to_lowercase(), MAX_SEARCH).to_owned()
}

fn unfolded(value: &str) -> String {
    value.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// At most `max` bytes, whole characters.
pub fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use crate::sandbox_provider::mail::parse::{cut, part, read, whole};
    use crate::sandbox_provider::mail::types::Weight;

    const RAW: &[u8] = b"From: =?utf-8?Q?J=C3=BCrgen?= <j@x.test>\r\nTo: a@x.test, B <b@x.test>\r\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n\
        Message-ID: <1@x.test>\r\nReferences: <0@x.test>\r\n <9@x.test>\r\nImportance: High\r\nDate: Tue, 10 Mar 2026 08:00:00 +0100\r\n\
        MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6n\r\n--b\r\nContent-Type: application/pdf; name=\"../../a.pdf\"\r\n\
        Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\nSGFsbG8=\r\n--b--\r\n";

    #[test]
    fn a_message() {
        let read = read(RAW).unwrap();
        let content = &read.content;
        assert_eq!(content.subject.as_deref(), Some("Grüße"));
        assert_eq!(
            (content.from[0].label.as_deref(), content.from[0].mail.as_str()),
            (Some("Jürgen"), "j@x.test")
        );
        assert_eq!((content.to.len(), content.references.len()), (2, 2));
        assert_eq!(content.sent_at.as_deref(), Some("2026-03-10T07:00:00.000Z"));
        assert_eq!((content.preview.as_str(), read.weight), ("Schön", Weight::Major));
        let file = &content.files[0];
        assert_eq!((file.name.as_deref(), file.bytes, file.inline), (Some("a.pdf"), 5, false));
        assert!(read.search.contains("grüße") && read.search.contains("schön"));
        assert_eq!(part(RAW, &file.part).unwrap().bytes, b"Hallo");
        assert!(part(RAW, "0").is_none() && part(RAW, "-1").is_none());
        let (headers, text) = whole(RAW);
        assert_eq!(headers[4], ("References".to_owned(), "<0@x.test> <9@x.test>".to_owned()));
        assert_eq!((text.plain.as_deref(), text.html), (Some("Schön"), None));
        assert_eq!(text.charset.as_deref(), Some("iso-8859-1"));
    }

    /// Messages in messages in messages are not followed without end.
    #[test]
    fn nesting() {
        let mut raw = b"Subject: x\r\n".to_vec();
        for _ in 0..10_000 {
            raw.extend_from_slice(b"Content-Type: message/rfc822\r\n\r\n");
        }
        assert!(read(&raw).is_none());
        assert_eq!(cut("aä", 2), "a");
    }
}
