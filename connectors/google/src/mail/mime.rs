//! Groups the parts of a message into text and files (RFC 8621 section 4.1.4).

use std::collections::HashSet;

use model::email::{Attachment, CalendarMethod, Disposition, EmailMessage};

use crate::mail::native::{Message, MessagePart};

/// The maximum number of parts that are read. Only malicious mail has more.
const MAX_PARTS: usize = 2_000;
/// The maximum nesting depth of parts.
const MAX_DEPTH: usize = 64;
/// The id of the only part of a message without a multipart, to which Gmail gives none.
const ROOT: &str = "root";

/// The parts of a message by their use.
#[derive(Debug, Default)]
pub struct MessageParts<'m> {
    /// The parts to show as plain text, in order.
    pub text: Vec<&'m MessagePart>,
    /// The parts to show as HTML, in order.
    pub html: Vec<&'m MessagePart>,
    /// All other parts.
    pub files: Vec<FilePart<'m>>,
}

/// An attachment, or a picture in the HTML.
#[derive(Debug)]
pub struct FilePart<'m> {
    pub part: &'m MessagePart,
    /// The media type of the enclosing multipart in lower case; empty if there is none.
    within: String,
}

/// A part with its position in the tree.
#[derive(Debug)]
pub struct PartPlace<'m> {
    pub part: &'m MessagePart,
    /// The indices from the outermost part down to it.
    pub path: Vec<usize>,
}

impl<'m> MessageParts<'m> {
    /// Reads the parts of a message; empty if they were not requested.
    pub fn from_message(message: &'m Message) -> MessageParts<'m> {
        let mut parts = MessageParts::default();
        for PartPlace { part, path } in leaves(message) {
            let parent = path.split_last().and_then(|(_, above)| part_at(message, above));
            let within = parent.map(media_type).unwrap_or_default();
            let kind = media_type(part);
            let is_text = kind == "text/plain" || kind == "text/html";
            let is_first = path.last().is_none_or(|at| *at == 0);
            let is_shown = is_text
                && disposition(part) != Some(Disposition::Attachment)
                && (is_first || (within != "multipart/related" && part.filename.is_empty()));
            match kind.as_str() {
                "text/html" if is_shown => parts.html.push(part),
                _ if is_shown => parts.text.push(part),
                _ => parts.files.push(FilePart { part, within }),
            }
        }
        parts
    }

    /// Adds the data of the files to the message.
    pub fn describe(&self, message: &mut EmailMessage) {
        message.attachments = self.files.iter().map(|file| attachment(file.part)).collect();
        message.has_attachments = self.files.iter().zip(&message.attachments).any(|(file, attachment)| {
            let is_shown = file.within == "multipart/related" && attachment.content_id.is_some();
            !is_shown && mail::read::is_offered(attachment, &file.within, &HashSet::new())
        });
        message.calendar_method = self.files.iter().find_map(|file| calendar_method(file.part));
    }
}

/// The leaves of a message, in order. An enclosed message is one leaf.
pub fn leaves(message: &Message) -> Vec<PartPlace<'_>> {
    let mut found = Vec::new();
    let mut stack: Vec<PartPlace<'_>> =
        message.payload.iter().map(|part| PartPlace { part, path: Vec::new() }).collect();
    let mut left = MAX_PARTS;
    while let Some(place) = stack.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        if is_message(place.part) || place.part.parts.is_empty() || place.path.len() >= MAX_DEPTH {
            found.push(place);
            continue;
        }
        for (at, part) in place.part.parts.iter().enumerate().rev() {
            let path = place.path.iter().copied().chain([at]).collect();
            stack.push(PartPlace { part, path });
        }
    }
    found
}

fn part_at<'m>(message: &'m Message, path: &[usize]) -> Option<&'m MessagePart> {
    path.iter().try_fold(message.payload.as_ref()?, |part, at| part.parts.get(*at))
}

/// The id of a part for attachments, which never changes for a message.
pub fn part_id(part: &MessagePart) -> &str {
    if part.part_id.is_empty() { ROOT } else { &part.part_id }
}

/// The media type, lower case.
pub fn media_type(part: &MessagePart) -> String {
    let named = part.mime_type.trim().to_ascii_lowercase();
    if named.is_empty() { "application/octet-stream".to_owned() } else { named }
}

pub fn is_message(part: &MessagePart) -> bool {
    matches!(media_type(part).as_str(), "message/rfc822" | "message/global")
}

/// Decodes encoded words (RFC 2047), which Gmail leaves in some texts.
fn decode(text: &str) -> String {
    if !text.contains("=?") {
        return text.to_owned();
    }
    let block = format!("X-Text: {}\r\n", mail::foreign::one_line(text));
    let field = mail::read::raw_headers(block.as_bytes()).into_iter().next();
    field.map_or_else(|| text.to_owned(), |field| field.value)
}

/// The disposition of a part; an unknown one counts as `attachment` (RFC 2183 section 2.8).
fn disposition(part: &MessagePart) -> Option<Disposition> {
    let value = part.header("content-disposition")?;
    let word = value.split(';').next().unwrap_or_default().trim();
    let is_inline = word.eq_ignore_ascii_case("inline");
    (!word.is_empty()).then_some(if is_inline { Disposition::Inline } else { Disposition::Attachment })
}

fn attachment(part: &MessagePart) -> Attachment {
    let disposition = disposition(part);
    let content_id = part.header("content-id").map(|id| id.trim().trim_matches(['<', '>']).to_owned());
    let content_id = content_id.filter(|id| !id.is_empty());
    Attachment {
        id: part_id(part).to_owned(),
        filename: mail::read::file_name(&decode(&part.filename)),
        content_type: media_type(part),
        size: Some(part.body.size.max(0)),
        inline: disposition == Some(Disposition::Inline) || disposition.is_none() && content_id.is_some(),
        content_id,
        disposition,
        is_message: is_message(part),
        ..Attachment::default()
    }
}

/// A parameter of the part's Content-Type. Its name is given in lower case.
pub fn type_parameter(part: &MessagePart, name: &str) -> Option<String> {
    let value = part.header("content-type")?;
    let mut parameters = value.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"').to_ascii_lowercase()).filter(|value| !value.is_empty())
}

/// The method of an invitation (RFC 6047 section 2.4), if the model has it.
fn calendar_method(part: &MessagePart) -> Option<CalendarMethod> {
    if media_type(part) != "text/calendar" {
        return None;
    }
    match type_parameter(part, "method")?.as_str() {
        "request" => Some(CalendarMethod::Request),
        "reply" => Some(CalendarMethod::Reply),
        "cancel" => Some(CalendarMethod::Cancel),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(payload: Value) -> Message {
        serde_json::from_value(json!({ "id": "m", "payload": payload })).unwrap()
    }

    fn part(id: &str, kind: &str, more: Value) -> Value {
        let mut part = json!({ "partId": id, "mimeType": kind });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    }

    fn ids(parts: &[&MessagePart]) -> Vec<String> {
        parts.iter().map(|part| part_id(part).to_owned()).collect()
    }

    #[test]
    fn a_message_is_taken_apart() {
        let header = |name: &str, value: &str| json!({ "name": name, "value": value });
        let picture = json!({ "filename": "a.png", "headers": [header("Content-ID", "<c@x>")], "body": { "attachmentId": "z", "size": 9 } });
        let invitation = json!({ "headers": [header("content-type", "text/calendar; METHOD=\"Request\"")] });
        let file = json!({ "filename": "=?utf-8?q?=C3=A4/b.pdf?=", "headers": [header("Content-Disposition", "attachment; x=y")] });
        let enclosed = json!({ "filename": "m.eml", "parts": [part("2.0", "text/plain", json!({}))] });
        let message = message(part(
            "",
            "multipart/mixed",
            json!({ "parts": [
            part("0", "multipart/related", json!({ "parts": [
                part("0.0", "multipart/alternative", json!({ "parts": [
                    part("0.0.0", "text/plain", json!({})), part("0.0.1", "TEXT/HTML", json!({})),
                    part("0.0.2", "text/calendar", invitation),
                ] })),
                part("0.1", "image/png", picture),
            ] })),
            part("1", "application/pdf", file),
            part("2", "message/rfc822", enclosed),
        ] }),
        ));
        let parts = MessageParts::from_message(&message);
        assert_eq!(
            (ids(&parts.text), ids(&parts.html)),
            (vec!["0.0.0".to_owned()], vec!["0.0.1".to_owned()])
        );
        let mut told = EmailMessage::default();
        parts.describe(&mut told);
        let names: Vec<_> =
            told.attachments.iter().map(|file| (file.id.as_str(), file.filename.as_deref())).collect();
        assert_eq!(
            names,
            [("0.0.2", None), ("0.1", Some("a.png")), ("1", Some("\u{e4}_b.pdf")), ("2", Some("m.eml"))]
        );
        assert_eq!(told.calendar_method, Some(CalendarMethod::Request));
        assert!(told.has_attachments && told.attachments[3].is_message);
        let picture = &told.attachments[1];
        assert_eq!(
            (picture.content_id.as_deref(), picture.inline, picture.size),
            (Some("c@x"), true, Some(9))
        );
        // Inline pictures and an invitation beside the text are not attachments.
        let mut few = MessageParts::from_message(&message);
        few.files.truncate(2);
        few.describe(&mut told);
        assert!(!told.has_attachments);
    }

    #[test]
    fn a_message_of_one_part_is_text_or_a_file() {
        let text = message(part("", "text/plain", json!({})));
        assert_eq!(ids(&MessageParts::from_message(&text).text), ["root"]);
        let file = message(part("", "application/pdf", json!({ "filename": "a.pdf" })));
        let parts = MessageParts::from_message(&file);
        assert_eq!((parts.text.len(), parts.files.len()), (0, 1));
        assert!(MessageParts::from_message(&Message::default()).files.is_empty());
    }

    #[test]
    fn mail_that_is_made_to_hurt_ends() {
        let many: Vec<Value> = (0..5_000).map(|at| part(&at.to_string(), "text/plain", json!({}))).collect();
        let wide = message(part("", "multipart/mixed", json!({ "parts": many })));
        assert_eq!(leaves(&wide).len(), MAX_PARTS - 1);
        let mut deep = MessagePart { part_id: "x".to_owned(), ..MessagePart::default() };
        for _ in 0..500 {
            deep = MessagePart { parts: vec![deep], ..MessagePart::default() };
        }
        let deep = Message { payload: Some(deep), ..Message::default() };
        assert_eq!(leaves(&deep).first().map(|place| place.path.len()), Some(MAX_DEPTH));
    }
}
