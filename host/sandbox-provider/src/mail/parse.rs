//! Parsing of messages into the provider's types. The only file that depends on the MIME parser.

use mail::read::{attachment, message};
use mail::text::to_text;
use model::email::{Attachment, CalendarMethod, Disposition, EmailAddress, EmailMessage, Importance};

use crate::mail::types::{Content, Correspondent, File, Weight};

/// Bounds of the data that is stored beside the bytes.
const MAX_LIST: usize = 500;
const MAX_LINE: usize = 2 << 10;
const MAX_SEARCH: usize = 16 << 10;

/// A parsed message, with its searchable text and its importance.
#[derive(Clone)]
pub struct ParsedMessage {
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
pub struct MimePart {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// Parses a message. None: the bytes are not one.
pub fn read(raw: &[u8]) -> Option<ParsedMessage> {
    let found = message(raw).ok()?;
    let content = content(&found.message);
    // Only this much of a text is searched.
    let html = || found.html.as_deref().map(|html| to_text(cut(html, 4 * MAX_SEARCH)));
    let text = found.text.clone().or_else(html).unwrap_or_default();
    let weight = match found.message.importance {
        Importance::Low => Weight::Minor,
        Importance::Normal => Weight::Usual,
        Importance::High => Weight::Major,
    };
    Some(ParsedMessage { search: search(&content, &text), weight, content })
}

fn content(found: &EmailMessage) -> Content {
    let line = |text: &Option<String>| text.as_deref().map(|text| cut(text, MAX_LINE).trim().to_owned());
    let ids = |ids: &[String]| ids.iter().take(MAX_LIST).cloned().collect();
    let people = |all: &[EmailAddress]| all.iter().take(MAX_LIST).map(person).collect();
    Content {
        message_id: found.internet_message_id.clone(),
        in_reply_to: ids(&found.in_reply_to),
        references: ids(&found.references),
        subject: line(&found.subject),
        from: people(&found.from),
        sender: found.sender.as_ref().map(person),
        to: people(&found.to),
        cc: people(&found.cc),
        bcc: people(&found.bcc),
        reply_to: people(&found.reply_to),
        sent_at: found.sent_at.map(|at| at.to_string()),
        preview: found.snippet.clone(),
        files: found.attachments.iter().take(MAX_LIST).map(file).collect(),
        bytes: usize::try_from(found.size).unwrap_or_default(),
        automatic: found.auto_reply,
        unsubscribe: line(&found.list_unsubscribe),
        invitation: found.calendar_method.map(|method| {
            let word = match method {
                CalendarMethod::Request => "request",
                CalendarMethod::Reply => "reply",
                CalendarMethod::Cancel => "cancel",
            };
            word.to_owned()
        }),
    }
}

fn person(found: &EmailAddress) -> Correspondent {
    Correspondent { mail: found.email.clone(), label: found.name.clone() }
}

fn file(found: &Attachment) -> File {
    let bytes = |size: Option<i64>| size.and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
    File {
        part: found.id.clone(),
        name: found.filename.clone(),
        media_type: found.content_type.clone(),
        bytes: bytes(found.size),
        encoded_bytes: bytes(found.encoded_size),
        inline: found.inline,
        disposition: found.disposition.map(|how| {
            let word = match how {
                Disposition::Attachment => "attachment",
                Disposition::Inline => "inline",
            };
            word.to_owned()
        }),
        cid: found.content_id.clone(),
        is_message: found.is_message,
    }
}

/// All headers in order, and the text.
pub fn whole(raw: &[u8]) -> (Vec<(String, String)>, Text) {
    let Ok(found) = message(raw) else { return Default::default() };
    let headers = found.headers.into_iter().map(|header| (header.name, header.value));
    (headers.collect(), Text { plain: found.text, html: found.html, charset: found.charset })
}

/// One of the `files`.
pub fn part(raw: &[u8], part: &str) -> Option<MimePart> {
    let found = attachment(raw, part)?;
    Some(MimePart { media_type: found.attachment.content_type, bytes: found.bytes })
}

fn search(content: &Content, text: &str) -> String {
    let people = [&content.from, &content.to, &content.cc, &content.bcc, &content.reply_to];
    let people = people.into_iter().flatten().flat_map(|p| [p.label.as_deref().unwrap_or_default(), &p.mail]);
    let names = content.files.iter().filter_map(|file| file.name.as_deref());
    let words: Vec<&str> = content.subject.as_deref().into_iter().chain(people).chain(names).collect();
    let words = format!("{}\n{}", words.join("\n"), cut(text, MAX_SEARCH));
    cut(&words.to_lowercase(), MAX_SEARCH).to_owned()
}

/// At most `max` bytes, whole characters.
pub fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use crate::mail::parse::{cut, part, read, whole};
    use crate::mail::types::Weight;

    const RAW: &[u8] = b"From: =?utf-8?Q?J=C3=BCrgen?= <j@x.test>\r\nTo: a@x.test, B <b@x.test>\r\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n\
        Message-ID: <1@x.test>\r\nReferences: <0@x.test>\r\n <9@x.test>\r\nImportance: High\r\nDate: Tue, 10 Mar 2026 08:00:00 +0100\r\n\
        MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6n\r\n--b\r\nContent-Type: application/pdf; name=\"../a.pdf\"\r\n\
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
        assert_eq!((file.bytes, file.inline), (5, false));
        assert!(file.name.as_ref().is_some_and(|name| name.ends_with("a.pdf") && !name.contains('/')));
        assert!(read.search.contains("grüße") && read.search.contains("schön"));
        assert_eq!(part(RAW, &file.part).unwrap().bytes, b"Hallo");
        assert!(part(RAW, "0").is_none() && part(RAW, "-1").is_none());
        let (headers, text) = whole(RAW);
        assert_eq!(headers[4], ("References".to_owned(), "<0@x.test> <9@x.test>".to_owned()));
        assert_eq!((text.plain.as_deref(), text.html), (Some("Schön"), None));
        assert_eq!(text.charset.as_deref(), Some("iso-8859-1"));
    }

    /// The data stored beside the bytes is small whatever a message contains; input that is no message is refused.
    #[test]
    fn bounds() {
        let raw = format!("Subject: {}\r\n\r\n{}", "ä".repeat(9_000), "word ".repeat(90_000));
        let found = read(raw.as_bytes()).unwrap();
        assert!(found.content.subject.unwrap().len() <= 2 << 10 && found.search.len() <= 16 << 10);
        assert!(read(b"").is_none());
        assert_eq!(cut("aä", 2), "a");
    }
}
