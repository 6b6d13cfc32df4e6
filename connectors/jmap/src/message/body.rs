//! The text and the header of a message.

use model::email::{EmailBody, EmailHeader};

use crate::message::{parts, text};
use crate::protocol::email::{Email, Part};

/// Most header fields that are returned.
const HEADERS: usize = 1000;

/// The text, at most this many bytes of each kind; none where no text was requested. JMAP lists a part that has no alternative as text and
/// as HTML both: its media type decides.
pub fn email_body(email: &Email, max_bytes: usize) -> Option<EmailBody> {
    email.body_values.as_ref()?;
    let (text, is_text_cut) = join_parts(email, email.text_body.as_deref(), "text/plain", max_bytes);
    let (html, is_html_cut) = join_parts(email, email.html_body.as_deref(), "text/html", max_bytes);
    let shown = of_type(email.text_body.as_deref(), "text/plain");
    let charset =
        shown.chain(of_type(email.html_body.as_deref(), "text/html")).find_map(|part| part.charset.clone());
    Some(EmailBody { text, html, safe_html: None, charset, truncated: is_text_cut || is_html_cut })
}

fn of_type<'a>(parts: Option<&'a [Part]>, media_type: &'static str) -> impl Iterator<Item = &'a Part> {
    let all = parts.unwrap_or_default().iter();
    all.filter(move |part| parts::media_type(part).as_deref() == Some(media_type))
}

/// The parts of this type one after the other, and whether something is missing.
fn join_parts(
    email: &Email,
    parts: Option<&[Part]>,
    media_type: &'static str,
    max_bytes: usize,
) -> (Option<String>, bool) {
    let values = email.body_values.as_ref();
    let mut whole: Option<String> = None;
    let mut is_cut = false;
    for part in of_type(parts, media_type) {
        let Some(value) = part.part_id.as_ref().and_then(|id| values?.get(id)) else { continue };
        is_cut |= value.is_truncated;
        let whole = whole.get_or_insert_default();
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(&value.value);
        if whole.len() > max_bytes {
            is_cut = true;
            whole.truncate(text::cut(whole, max_bytes).len());
            break;
        }
    }
    (whole, is_cut)
}

/// The header in order, decoded; empty where it was not asked for.
pub fn headers(email: &Email) -> Vec<EmailHeader> {
    let fields = email.headers.iter().flatten().take(HEADERS);
    text::decoded(fields.map(|field| (field.name.as_str(), field.value.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{email_body, headers};
    use crate::protocol::email::Email;

    fn email(text: Value, html: Value, values: Value) -> Email {
        let email = json!({ "id": "e", "textBody": text, "htmlBody": html, "bodyValues": values });
        serde_json::from_value(email).unwrap()
    }

    #[test]
    fn text_is_never_made_of_html_nor_html_of_text() {
        let html = json!([{ "partId": "1", "type": "text/html", "charset": "utf-8" }]);
        let only_html = email(html.clone(), html, json!({ "1": { "value": "<p>" } }));
        let body = email_body(&only_html, 100).unwrap();
        assert_eq!(
            (body.text, body.html.as_deref(), body.charset.as_deref()),
            (None, Some("<p>"), Some("utf-8"))
        );
        let text = json!([{ "partId": "1", "type": "text/plain" }]);
        let body = email_body(&email(text.clone(), text, json!({ "1": { "value": "" } })), 100).unwrap();
        assert_eq!((body.text.as_deref(), body.html), (Some(""), None));
    }

    #[test]
    fn parts_are_joined_and_cut() {
        let text = json!([
            { "partId": "1", "type": "TEXT/plain" }, { "partId": "2", "type": "image/png" },
            { "partId": "3", "type": "text/plain" }, { "partId": "4", "type": "text/plain" },
        ]);
        let values = json!({ "1": { "value": "one" }, "3": { "value": "tw\u{f6}" } });
        let email = email(text, json!([]), values);
        let body = email_body(&email, 100).unwrap();
        assert_eq!((body.text.as_deref(), body.truncated), (Some("one\ntw\u{f6}"), false));
        let body = email_body(&email, 7).unwrap();
        assert_eq!((body.text.as_deref(), body.truncated), (Some("one\ntw"), true));
        assert!(email_body(&Email::default(), 100).is_none());
    }

    #[test]
    fn the_header_is_decoded_in_order() {
        let fields = json!([{ "name": "X-A", "value": " =?utf-8?q?=C3=A4?=" }, { "name": "x-a", "value": " 2\r\n 3" }]);
        let email: Email = serde_json::from_value(json!({ "id": "e", "headers": fields })).unwrap();
        let read = headers(&email);
        assert_eq!((read[0].name.as_str(), read[0].value.as_str()), ("X-A", "\u{e4}"));
        assert_eq!((read[1].name.as_str(), read[1].value.as_str()), ("x-a", "2 3"));
    }
}
