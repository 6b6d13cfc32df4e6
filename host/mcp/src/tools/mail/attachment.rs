//! `read_attachment`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Answer, Api, Content, Request, segment};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object, output};
use crate::tools::mail::parts::{
    TextSlice, add_removed, fields, file, file_properties, free_bytes, media_type, path,
};
use crate::untrusted::{CleanText, clean, clean_html};

/// Characters of a file that a result has.
const MAX_CHARS: usize = 64 << 10;
/// Largest file whose text is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Bytes of a file that are read: of any text more than a result has.
const MAX_READ_BYTES: usize = 512 << 10;
/// Longest id of a file, in bytes.
const MAX_ID_BYTES: usize = 256;
/// Bytes of a result for the fields that come last.
const FRAME_BYTES: usize = 600;

/// Media types beside `text/*` whose files are text.
const TEXT_TYPES: [&str; 8] = [
    "application/csv",
    "application/ics",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
];

pub const READ_ATTACHMENT: Definition = Definition {
    name: "read_attachment",
    title: "Read an attachment",
    description: "A file of a message. Of a text file the text; of any other its name, type, size and the address of a resource, which \
        the client can read.",
    scope: "email.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 64 << 10,
    input,
    output: attachment_schema,
};

fn input() -> JsonObject {
    object(
        json!({
            "messageId": {"type": "string"},
            "attachmentId": {"type": "string", "description": "An id of `attachments` of read_message."},
        }),
        &["messageId", "attachmentId"],
    )
}

fn attachment_schema() -> JsonObject {
    let mut properties = file_properties();
    properties["resourceUri"] = json!({"type": "string"});
    properties["untrustedText"] = json!({"type": "string"});
    output(properties, &["id"])
}

/// Arguments of `read_attachment`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadAttachmentArguments {
    message_id: String,
    attachment_id: String,
}

pub async fn read_attachment<A: Api>(
    context: &Context<'_, A>,
    arguments: ReadAttachmentArguments,
) -> Result<Outcome, ToolError> {
    let ReadAttachmentArguments { message_id, attachment_id } = arguments;
    let message_path = path("messages", "messageId", &message_id)?;
    let request = Request::get(message_path.clone()).with("fields", "summary");
    let message = json_of(context.api.call(request).await)?;
    let mut files = message["attachments"].as_array().into_iter().flatten();
    let is_wanted =
        |file: &&Value| file["id"] == attachment_id.as_str() && attachment_id.len() <= MAX_ID_BYTES;
    let Some(attachment) = files.find(is_wanted) else {
        return Err(ToolError::new("not_found", "the message has no attachment with this id")
            .param("attachmentId")
            .remedy("Take an id of `attachments` of read_message."));
    };
    let mut shown = fields(file(attachment));
    let text = match is_read_as_text(attachment) {
        true => {
            let request = Request::get(format!("{message_path}/attachments/{}", segment(&attachment_id)));
            text_of_answer(context.api.call(request.with("format", "raw")).await, context.policy.links)?
        }
        false => None,
    };
    let is_whole = text.is_some_and(|text| add_text(&mut shown, &text));
    if !is_whole {
        let address =
            format!("switchboard://attachments/{}/{}", segment(&message_id), segment(&attachment_id));
        shown.insert("resourceUri".to_owned(), json!(address));
    }
    Ok(Value::Object(shown).into())
}

/// Whether a file is text by its type, and not too large.
fn is_read_as_text(attachment: &Value) -> bool {
    let kind = media_type(attachment["contentType"].as_str().unwrap_or_default()).unwrap_or_default();
    let is_application =
        kind.starts_with("application/") && (kind.ends_with("+json") || kind.ends_with("+xml"));
    let is_text = kind.starts_with("text/") || is_application || TEXT_TYPES.contains(&kind.as_str());
    is_text && attachment["size"].as_u64().is_none_or(|size| size <= MAX_FILE_BYTES)
}

/// The text of a file; none if its bytes are no text, or too many.
fn text_of_answer(answer: Answer, links: bool) -> Result<Option<CleanText>, ToolError> {
    if !answer.is_success() {
        let error = ToolError::from(&answer);
        return if error.code == "payload_too_large" { Ok(None) } else { Err(error) };
    }
    Ok(match answer.body {
        Content::Bytes { media_type, bytes } => file_text(&media_type, &bytes, links),
        Content::Json(value) => Some(clean(&value.to_string(), links)),
        Content::Empty => Some(CleanText::default()),
    })
}

/// The text of these bytes, by the charset that the type names; none if they are no text.
fn file_text(content_type: &str, bytes: &[u8], links: bool) -> Option<CleanText> {
    let charset = content_type.split(';').map(str::trim).find(|part| has_prefix(part, "charset="));
    let charset = charset.unwrap_or_default().to_ascii_lowercase();
    let is_wide =
        charset.contains("utf-16") || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    if bytes.contains(&0) && !is_wide {
        return None;
    }
    let is_html = media_type(content_type).as_deref() == Some("text/html");
    let kind = if is_html { "text/html" } else { "text/plain" };
    let header = format!("Content-Type: {kind}; {charset}\r\n\r\n");
    let start = bytes.get(..MAX_READ_BYTES).unwrap_or(bytes);
    let text = mail::read::part(header.as_bytes(), start).text?;
    let text = if is_html { clean_html(&text, links) } else { clean(&text, links) };
    Some(CleanText { is_cut: text.is_cut || start.len() < bytes.len(), ..text })
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// Adds as much of the text as fits. Returns whether that is all of it.
fn add_text(shown: &mut Map<String, Value>, text: &CleanText) -> bool {
    let free = free_bytes(READ_ATTACHMENT.budget, shown, FRAME_BYTES);
    let slice = TextSlice::new(&text.text, 0, MAX_CHARS, free);
    let is_whole = slice.next.is_none() && !text.is_cut;
    shown.insert("untrustedText".to_owned(), json!(slice.text));
    add_removed(shown, text.removed);
    if !is_whole {
        shown.insert("truncated".to_owned(), json!(true));
        let how = "Only the beginning of the file is shown. The whole file is in a mail program.";
        shown.insert("howToContinue".to_owned(), json!(how));
    }
    is_whole
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ReadAttachmentArguments, file_text, is_read_as_text, read_attachment};
    use crate::policy::Policy;
    use crate::tool::Outcome;
    use crate::tools::script::{Script, context};

    fn arguments(attachment_id: &str) -> ReadAttachmentArguments {
        ReadAttachmentArguments { message_id: "msg_1".to_owned(), attachment_id: attachment_id.to_owned() }
    }

    fn message(content_type: &str, size: Value) -> Value {
        let file =
            json!({"id": "att_1", "filename": "a\u{202e}.pdf", "contentType": content_type, "size": size});
        json!({"id": "msg_1", "attachments": [file]})
    }

    #[tokio::test]
    async fn a_binary_file_has_an_address_and_no_bytes() {
        let api =
            Script::new().on("GET", "/v1/email/messages/msg_1", 200, message("application/pdf", json!(9)));
        let policy = Policy::default();
        let outcome = read_attachment(&context(&api, &policy), arguments("att_1")).await;
        let Ok(Outcome::Done(done)) = outcome else { panic!("{outcome:?}") };
        let wanted = json!({
            "id": "att_1", "untrustedName": "a.pdf", "mediaType": "application/pdf", "size": 9, "hiddenTextRemoved": 1,
            "resourceUri": "switchboard://attachments/msg_1/att_1",
        });
        assert_eq!(done.structured, wanted);
        assert_eq!(api.lines(), ["GET /v1/email/messages/msg_1?fields=summary"]);
    }

    #[tokio::test]
    async fn a_file_that_the_message_lacks_is_not_asked_for() {
        let api = Script::new().on("GET", "/v1/email/messages/msg_1", 200, message("text/plain", json!(9)));
        let policy = Policy::default();
        for id in ["att_2", "../msg_2", ""] {
            let error = read_attachment(&context(&api, &policy), arguments(id)).await.unwrap_err();
            assert_eq!(
                (error.code.as_str(), error.param.as_deref()),
                ("not_found", Some("attachmentId")),
                "{id}"
            );
        }
    }

    #[test]
    fn text_is_read_by_its_type_and_charset() {
        for (content_type, size, is_text) in [
            ("text/csv; charset=utf-8", json!(10), true),
            ("application/ld+json", Value::Null, true),
            ("application/json", json!(5 << 20), false),
            ("image/svg+xml", json!(10), false),
            ("application/octet-stream", json!(10), false),
            ("", json!(10), false),
        ] {
            assert_eq!(
                is_read_as_text(&message(content_type, size)["attachments"][0]),
                is_text,
                "{content_type}"
            );
        }
        let read = |kind: &str, bytes: &[u8]| file_text(kind, bytes, false).map(|read| read.text);
        assert_eq!(read("text/plain; Charset=iso-8859-1", b"\xe4\xf6").as_deref(), Some("äö"));
        assert_eq!(read("text/csv", "ä,ö\u{200b}".as_bytes()).as_deref(), Some("ä,ö"));
        assert_eq!(read("text/html", b"<p>seen<i hidden>secret</i>").as_deref(), Some("seen"));
        assert_eq!(read("text/plain", b"PK\0\x01"), None);
    }
}
