//! `read_thread`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, json_bytes, json_of, object, output,
};
use crate::tools::mail::parts::{TextSlice, add_removed, fields, free_bytes, path, text_of};
use crate::tools::mail::quotes::without_quotes;
use crate::tools::shape::{FieldChoice, address, items, person};
use crate::untrusted::clean_html_reply;

const DEFAULT_MESSAGES: usize = 10;
const MAX_MESSAGES: usize = 20;
/// Messages of a conversation whose messages are too long to be read together.
const FEW_MESSAGES: usize = 2;
/// Recipients of a message that a result shows.
const MAX_RECIPIENTS: usize = 3;
/// Bytes of the subject.
const SUBJECT_BYTES: usize = 300;
/// Bytes of the fields beside the messages.
const FRAME_BYTES: usize = 1_700;
/// Bytes of a message's fields that are not known before its text is cut.
const MESSAGE_FRAME_BYTES: usize = 90;

pub const READ_THREAD: Definition = Definition {
    name: "read_thread",
    title: "Read a conversation",
    description: "The newest messages of a thread, oldest first, without the quotes of earlier ones. Long texts are shortened: \
        read_message has the whole text.",
    scope: "email.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 24 << 10,
    input,
    output: thread_schema,
};

fn input() -> JsonObject {
    let number =
        json!({"type": "integer", "minimum": 1, "maximum": MAX_MESSAGES, "default": DEFAULT_MESSAGES});
    object(json!({ "threadId": {"type": "string"}, "maxMessages": number }), &["threadId"])
}

fn thread_schema() -> JsonObject {
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let author =
        object(json!({"email": text, "untrustedName": text, "hiddenTextRemoved": {"type": "integer"}}), &[]);
    let message = object(
        json!({
            "id": text, "from": author, "to": {"type": "array", "items": text}, "receivedAt": text,
            "draft": flag, "unread": flag, "hasAttachments": flag,
            "untrustedText": text, "isShortened": flag, "hiddenTextRemoved": {"type": "integer"},
        }),
        &["id", "untrustedText"],
    );
    output(
        json!({
            "id": text,
            "connectionId": text,
            "untrustedSubject": text,
            "messages": {"type": "array", "items": message},
            "earlierMessageIds": {"type": "array", "items": text, "description": "The newest of the messages that are not shown."},
            "hiddenTextRemoved": {"type": "integer"},
        }),
        &["id", "messages"],
    )
}

/// Arguments of `read_thread`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadThreadArguments {
    thread_id: String,
    max_messages: Option<u64>,
}

pub async fn read_thread<A: Api>(
    context: &Context<'_, A>,
    arguments: ReadThreadArguments,
) -> Result<Outcome, ToolError> {
    let max_messages = max_messages(arguments.max_messages)?;
    let request = Request::get(path("threads", "threadId", &arguments.thread_id)?);
    let thread = json_of(context.api.call(request).await)?;
    let request = Request::get("/v1/email/messages")
        // The id of the thread that this one was merged into.
        .with("thread_id", thread["id"].as_str().unwrap_or(&arguments.thread_id))
        .with("fields", "full");
    let page = json_of(context.api.call(request.clone().with("limit", max_messages)).await);
    let mut page = match page {
        // Of very long messages only the newest ones are read.
        Err(error) if error.code == "payload_too_large" => {
            json_of(context.api.call(request.with("limit", FEW_MESSAGES)).await)?
        }
        page => page?,
    };
    let newest_first = items(&mut page);
    let mut room = READ_THREAD.budget.saturating_sub(FRAME_BYTES);
    let mut shown = Vec::with_capacity(newest_first.len());
    for (at, message) in newest_first.iter().enumerate() {
        // A short text leaves its room to the older ones.
        let message = thread_message(message, context.policy.links, room / (newest_first.len() - at));
        room = room.saturating_sub(json_bytes(&message) + 1);
        shown.push(message);
    }
    shown.reverse();
    let earlier = earlier_ids(&thread, &shown);
    let is_shortened = shown.iter().any(|message| message["isShortened"] == true);
    let is_cut = is_shortened || !earlier.is_empty();
    let how = is_cut.then_some("Call read_message with the id of a message.");
    let thread = FieldChoice::new(&thread, context.policy.links)
        .copy(&["id", "connectionId"])
        .line("untrustedSubject", &thread["subject"], SUBJECT_BYTES)
        .put("earlierMessageIds", json!(earlier))
        .put("truncated", json!(is_cut))
        .put("howToContinue", json!(how))
        .finish();
    let mut thread = fields(thread);
    thread.insert("messages".to_owned(), Value::Array(shown));
    Ok(Value::Object(thread).into())
}

fn max_messages(given: Option<u64>) -> Result<usize, ToolError> {
    let Some(given) = given else { return Ok(DEFAULT_MESSAGES) };
    let allowed = usize::try_from(given).ok().filter(|number| (1..=MAX_MESSAGES).contains(number));
    allowed.ok_or_else(|| {
        ToolError::invalid(
            "maxMessages",
            format!("maxMessages must be from 1 to {MAX_MESSAGES}; got {given}"),
        )
    })
}

/// A message of a conversation in at most `max_bytes` of JSON, without the quotes in it.
fn thread_message(message: &Value, links: bool, max_bytes: usize) -> Value {
    let recipients: Vec<&str> = message["to"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|recipient| address(&recipient["email"]))
        .take(MAX_RECIPIENTS)
        .collect();
    let author = message["from"].get(0).map_or(Value::Null, person);
    let head = FieldChoice::new(message, links)
        .copy(&["id"])
        .put("from", author)
        .put("to", json!(recipients))
        .copy(&["receivedAt", "draft", "unread", "hasAttachments"])
        .finish();
    let mut shown = fields(head);
    let body = text_of(&message["body"], links, clean_html_reply);
    let text = without_quotes(&body.text);
    let free = free_bytes(max_bytes, &shown, MESSAGE_FRAME_BYTES);
    let slice = TextSlice::new(&text, 0, usize::MAX, free);
    shown.insert("untrustedText".to_owned(), json!(slice.text));
    if slice.next.is_some() || body.is_cut {
        shown.insert("isShortened".to_owned(), json!(true));
    }
    add_removed(&mut shown, body.removed);
    Value::Object(shown)
}

/// The ids of the newest messages of a thread that are not shown.
fn earlier_ids(thread: &Value, shown: &[Value]) -> Vec<Value> {
    let all = thread["messageIds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_hidden = |id: &&Value| shown.iter().all(|message| message["id"] != **id);
    all.iter().rev().filter(is_hidden).take(MAX_MESSAGES).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ReadThreadArguments, read_thread};
    use crate::policy::Policy;
    use crate::tool::{Outcome, json_bytes};
    use crate::tools::script::{Script, context};

    async fn read(thread: Value, newest_first: Vec<Value>) -> Value {
        let api = Script::new().on("GET", "/v1/email/threads/thr_1", 200, thread).on(
            "GET",
            "/v1/email/messages",
            200,
            json!({ "data": newest_first, "next_cursor": null }),
        );
        let arguments = ReadThreadArguments { thread_id: "thr_1".to_owned(), max_messages: Some(20) };
        let policy = Policy::default();
        let outcome = read_thread(&context(&api, &policy), arguments).await;
        let Ok(Outcome::Done(done)) = outcome else { panic!("{outcome:?}") };
        done.structured
    }

    #[tokio::test]
    async fn messages_come_oldest_first_and_without_quotes() {
        let message = |id: &str, body: Value| json!({"id": id, "from": [{"name": "Ada", "email": "ada@example.com"}], "to": [], "body": body, "receivedAt": "2026-03-01T09:00:00Z"});
        let newest_first = vec![
            message(
                "msg_3",
                json!({"html": "<p>Fine</p><p>On 1 March Ada wrote:</p><blockquote>Tuesday?</blockquote>"}),
            ),
            message("msg_2", json!({"text": "Tuesday?\n\n> When?"})),
        ];
        let thread = json!({"id": "thr_1", "subject": "Lunch", "messageIds": ["msg_1", "msg_2", "msg_3"], "etag": "\"1\""});
        let shown = read(thread, newest_first).await;
        let author = json!({"email": "ada@example.com", "untrustedName": "Ada"});
        let wanted = json!({
            "id": "thr_1", "untrustedSubject": "Lunch", "earlierMessageIds": ["msg_1"], "truncated": true,
            "howToContinue": "Call read_message with the id of a message.",
            "messages": [
                {"id": "msg_2", "from": author, "receivedAt": "2026-03-01T09:00:00Z", "untrustedText": "Tuesday?"},
                {"id": "msg_3", "from": author, "receivedAt": "2026-03-01T09:00:00Z", "untrustedText": "Fine"},
            ],
        });
        assert_eq!(shown, wanted);
    }

    #[tokio::test]
    async fn long_messages_share_the_result() {
        let message = |n: usize| {
            let text = if n == 0 { "short".to_owned() } else { "löng \"text\"\n".repeat(20_000) };
            json!({"id": format!("msg_{n:026}"), "body": {"text": text}})
        };
        let ids: Vec<String> = (0..200).rev().map(|n| format!("msg_{n:026}")).collect();
        let thread = json!({"id": "thr_1", "subject": "x".repeat(5_000), "messageIds": ids});
        let shown = read(thread, (0..20).map(message).collect()).await;
        assert!(json_bytes(&shown) <= 24 << 10, "{}", json_bytes(&shown));
        let messages = shown["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 20);
        assert!(messages.iter().filter(|message| message["isShortened"] == true).count() == 19);
        assert!(
            messages
                .iter()
                .rev()
                .skip(1)
                .all(|message| message["untrustedText"].as_str().unwrap().len() > 500)
        );
    }
}
