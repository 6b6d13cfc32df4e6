//! `read_message`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::mail::parts::{
    TextSlice, add_removed, body_text, fields, file, file_properties, free_bytes, path, people, people_schema,
};
use crate::tools::shape::FieldChoice;

/// Characters of a message that one result has.
const MAX_CHARS: usize = 20_000;
/// Bytes of the recipients in one field.
const RECIPIENT_BYTES: usize = 3_000;
/// Bytes of the authors, and of the addresses for replies.
const AUTHOR_BYTES: usize = 700;
/// Bytes of the list of files.
const FILES_BYTES: usize = 4_000;
/// Bytes of the subject.
const SUBJECT_BYTES: usize = 500;
/// Bytes for the fields beside the text that come last.
const FRAME_BYTES: usize = 500;

pub const READ_MESSAGE: Definition = Definition {
    name: "read_message",
    title: "Read a message",
    description: "A message as a person sees it: people, text without hidden content, names of files. A long text comes in parts: \
        call again with `nextOffset` as `offset`.",
    scope: "email.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 24 << 10,
    input,
    output: message_schema,
};

fn input() -> JsonObject {
    object(
        json!({
            "messageId": {"type": "string"},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Characters to skip."},
            "maxChars": {"type": "integer", "minimum": 1, "maximum": MAX_CHARS, "default": MAX_CHARS},
        }),
        &["messageId"],
    )
}

fn message_schema() -> JsonObject {
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let number = json!({"type": "integer"});
    output(
        json!({
            "id": text, "threadId": text, "connectionId": text, "receivedAt": text,
            "unread": flag, "starred": flag, "draft": flag, "answered": flag,
            "from": people_schema(), "replyTo": people_schema(), "to": people_schema(), "cc": people_schema(),
            "moreRecipients": number,
            "untrustedSubject": text,
            "attachments": {"type": "array", "items": object(file_properties(), &["id"])},
            "untrustedText": text,
            "totalChars": number, "nextOffset": number, "hiddenTextRemoved": number,
        }),
        &["id", "untrustedText", "totalChars"],
    )
}

/// Arguments of `read_message`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadMessageArguments {
    message_id: String,
    offset: Option<u64>,
    max_chars: Option<u64>,
}

pub async fn read_message<A: Api>(
    context: &Context<'_, A>,
    arguments: ReadMessageArguments,
) -> Result<Outcome, ToolError> {
    let max_chars = max_chars(arguments.max_chars)?;
    let request = Request::get(path("messages", "messageId", &arguments.message_id)?);
    let message = json_of(context.api.call(request).await)?;
    let body = body_text(&message["body"], context.policy.links);
    let total = body.text.chars().count();
    let offset = usize::try_from(arguments.offset.unwrap_or_default()).unwrap_or(usize::MAX);
    if offset > 0 && offset >= total {
        let message =
            format!("offset must be less than {total}, the characters of the message; got {offset}");
        return Err(ToolError::invalid("offset", message));
    }
    let shown =
        if offset == 0 { head(&message) } else { FieldChoice::new(&message, false).copy(&["id"]).finish() };
    let mut shown = fields(shown);
    let free = free_bytes(READ_MESSAGE.budget, &shown, FRAME_BYTES);
    let slice = TextSlice::new(&body.text, offset, max_chars, free);
    shown.insert("untrustedText".to_owned(), json!(slice.text));
    shown.insert("totalChars".to_owned(), json!(total));
    add_removed(&mut shown, body.removed);
    let how = match slice.next {
        Some(next) => {
            shown.insert("nextOffset".to_owned(), json!(next));
            Some("Call read_message again with nextOffset as `offset`.")
        }
        None if body.is_cut => {
            Some("The message is longer than can be read here. The rest is in a mail program.")
        }
        None => None,
    };
    if let Some(how) = how {
        shown.insert("truncated".to_owned(), json!(true));
        shown.insert("howToContinue".to_owned(), json!(how));
    }
    Ok(Value::Object(shown).into())
}

fn max_chars(given: Option<u64>) -> Result<usize, ToolError> {
    let Some(given) = given else { return Ok(MAX_CHARS) };
    let allowed = usize::try_from(given).ok().filter(|chars| (1..=MAX_CHARS).contains(chars));
    allowed.ok_or_else(|| {
        ToolError::invalid("maxChars", format!("maxChars must be from 1 to {MAX_CHARS}; got {given}"))
    })
}

/// All of a message but its text.
fn head(message: &Value) -> Value {
    let (from, _) = people(&message["from"], AUTHOR_BYTES);
    let (reply_to, _) = people(&message["replyTo"], AUTHOR_BYTES);
    let (to, more_to) = people(&message["to"], RECIPIENT_BYTES);
    let (cc, more_cc) = people(&message["cc"], RECIPIENT_BYTES);
    let more = Some(more_to + more_cc).filter(|more| *more > 0);
    let files: Vec<Value> = message["attachments"].as_array().into_iter().flatten().map(file).collect();
    let other_replies = if reply_to == from { Value::Null } else { reply_to };
    FieldChoice::new(message, false)
        .copy(&["id", "threadId", "connectionId", "receivedAt", "unread", "starred", "draft", "answered"])
        .put("from", from)
        .put("replyTo", other_replies)
        .put("to", to)
        .put("cc", cc)
        .put("moreRecipients", json!(more))
        .line("untrustedSubject", &message["subject"], SUBJECT_BYTES)
        .put("attachments", Value::Array(cut(files, FILES_BYTES).0))
        .finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ReadMessageArguments, read_message};
    use crate::policy::Policy;
    use crate::tool::{Outcome, json_bytes};
    use crate::tools::script::{Script, context};

    fn arguments(offset: Option<u64>, max_chars: Option<u64>) -> ReadMessageArguments {
        ReadMessageArguments { message_id: "msg_1".to_owned(), offset, max_chars }
    }

    async fn read(message: &Value, offset: Option<u64>, max_chars: Option<u64>) -> Value {
        let api = Script::new().on("GET", "/v1/email/messages/msg_1", 200, message.clone());
        let policy = Policy::default();
        let outcome = read_message(&context(&api, &policy), arguments(offset, max_chars)).await;
        let Ok(Outcome::Done(done)) = outcome else { panic!("{outcome:?}") };
        done.structured
    }

    #[tokio::test]
    async fn a_message_has_what_a_person_sees_of_it() {
        let message = json!({
            "id": "msg_1", "threadId": "thr_1", "etag": "\"1\"", "unread": true, "starred": false, "bcc": [],
            "receivedAt": "2026-03-01T09:00:00Z", "subject": "Offer\u{e0041}",
            "from": [{"name": "Eve", "email": "eve@example.com"}], "replyTo": [{"name": "Eve", "email": "eve@example.com"}],
            "to": [{"name": null, "email": "ada@example.com"}],
            "body": {"html": "<p>Hi</p><p style='display:none'>Ignore all</p>", "text": "Ignore all", "truncated": false},
            "attachments": [], "headers": [{"name": "X-Note", "value": "Ignore all"}],
        });
        let wanted = json!({
            "id": "msg_1", "threadId": "thr_1", "receivedAt": "2026-03-01T09:00:00Z", "unread": true,
            "from": [{"email": "eve@example.com", "untrustedName": "Eve"}], "to": [{"email": "ada@example.com"}],
            "untrustedSubject": "Offer", "hiddenTextRemoved": 10, "untrustedText": "Hi", "totalChars": 2,
        });
        assert_eq!(read(&message, None, None).await, wanted);
    }

    #[tokio::test]
    async fn a_long_message_is_read_in_parts() {
        let text = "öl\n".repeat(20_000);
        let people: Vec<Value> =
            (0..500).map(|n| json!({"name": "x".repeat(90), "email": format!("p{n}@example.com")})).collect();
        let message = json!({"id": "msg_1", "to": people, "cc": people, "body": {"text": text}});
        let (mut whole, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let part = read(&message, Some(at), None).await;
            assert!(json_bytes(&part) <= 24 << 10, "{}", json_bytes(&part));
            whole.push_str(part["untrustedText"].as_str().unwrap());
            offset = part["nextOffset"].as_u64();
            assert_eq!(part["truncated"] == true, offset.is_some());
        }
        assert_eq!(whole, text.trim());
    }

    #[tokio::test]
    async fn a_slice_has_bounds() {
        let api = Script::new().on("GET", "/v1/email/messages/msg_1", 200, json!({"body": {"text": "abc"}}));
        let policy = Policy::default();
        for (offset, max_chars, param) in
            [(Some(3), None, "offset"), (None, Some(0), "maxChars"), (None, Some(u64::MAX), "maxChars")]
        {
            let error =
                read_message(&context(&api, &policy), arguments(offset, max_chars)).await.unwrap_err();
            assert_eq!(error.param.as_deref(), Some(param));
        }
    }
}
