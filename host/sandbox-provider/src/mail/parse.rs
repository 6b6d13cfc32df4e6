//! Messages from their bytes.

use mail::read as mime;
use mail::text::to_text;
use model::email::{EmailBody, EmailHeader, EmailMessage};

use crate::mail::types::Message;

/// Bounds of the data that is stored beside the bytes.
const MAX_LIST: usize = 500;
const MAX_LINE: usize = 2 << 10;
const MAX_SEARCH: usize = 16 << 10;

/// Parses a message: its content and its searchable text. None: the bytes are not one.
pub fn read(raw: &[u8]) -> Option<Message> {
    let found = mime::message(raw).ok()?;
    let body = bounded(found.message);
    // Only this much of a text is searched.
    let html = || found.html.as_deref().map(|html| to_text(cut(html, 4 * MAX_SEARCH)));
    let text = found.text.clone().or_else(html).unwrap_or_default();
    Some(Message { search: search(&body, &text), body, ..Message::default() })
}

fn bounded(mut body: EmailMessage) -> EmailMessage {
    body.in_reply_to.truncate(MAX_LIST);
    body.references.truncate(MAX_LIST);
    for people in [&mut body.from, &mut body.to, &mut body.cc, &mut body.bcc, &mut body.reply_to] {
        people.truncate(MAX_LIST);
    }
    body.attachments.truncate(MAX_LIST);
    for line in [&mut body.subject, &mut body.list_unsubscribe].into_iter().flatten() {
        *line = cut(line, MAX_LINE).trim().to_owned();
    }
    body
}

/// All headers in order, and the text, at most `max` bytes of each form.
pub fn whole(raw: &[u8], max: usize) -> (Vec<EmailHeader>, EmailBody) {
    let Ok(found) = mime::message(raw) else { return Default::default() };
    let is_long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > max);
    let truncated = is_long(&found.text) || is_long(&found.html);
    let cut = |text: Option<String>| text.map(|text| mime::cut(text, max).0);
    let (text, html) = (cut(found.text), cut(found.html));
    (found.headers, EmailBody { text, html, safe_html: None, charset: found.charset, truncated })
}

fn search(body: &EmailMessage, text: &str) -> String {
    let people = [&body.from, &body.to, &body.cc, &body.bcc, &body.reply_to];
    let people = people.into_iter().flatten().flat_map(|p| [p.name.as_deref().unwrap_or_default(), &p.email]);
    let names = body.attachments.iter().filter_map(|file| file.filename.as_deref());
    let words: Vec<&str> = body.subject.as_deref().into_iter().chain(people).chain(names).collect();
    let words = format!("{}\n{}", words.join("\n"), cut(text, MAX_SEARCH));
    cut(&words.to_lowercase(), MAX_SEARCH).to_owned()
}

/// At most `max` bytes, whole characters.
fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use crate::mail::parse::{cut, read, whole};

    const RAW: &[u8] = b"From: =?utf-8?Q?J=C3=BCrgen?= <j@x.test>\r\nTo: a@x.test\r\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n\
        MIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6n";

    /// The content is read, and people, subject and text can be searched.
    #[test]
    fn a_message() {
        let found = read(RAW).unwrap();
        assert_eq!((found.body.subject.as_deref(), found.body.snippet.as_str()), (Some("Grüße"), "Schön"));
        assert!(["jürgen", "a@x.test", "grüße", "schön"].iter().all(|word| found.search.contains(word)));
        let (headers, text) = whole(RAW, 5);
        assert_eq!((headers[1].name.as_str(), headers[1].value.as_str()), ("To", "a@x.test"));
        assert_eq!((text.text.as_deref(), text.html.as_deref(), text.truncated), (Some("Schö"), None, true));
        assert!(!whole(RAW, 6).1.truncated);
    }

    /// The data stored beside the bytes is small whatever a message contains; input that is no message is refused.
    #[test]
    fn bounds() {
        let raw = format!("Subject: {}\r\n\r\n{}", "ä".repeat(9_000), "word ".repeat(90_000));
        let found = read(raw.as_bytes()).unwrap();
        assert!(found.body.subject.unwrap().len() <= 2 << 10 && found.search.len() <= 16 << 10);
        assert!(read(b"").is_none());
        assert_eq!(cut("aä", 2), "a");
    }
}
