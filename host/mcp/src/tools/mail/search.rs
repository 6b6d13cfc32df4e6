//! `search_mail`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_bytes, object};
use crate::tools::mail::folders::find_folder_id;
use crate::tools::mail::parts::with_argument;
use crate::tools::shape::{FieldChoice, ListPage, address, cursor_schema, limit, list_schema};
use crate::untrusted::shorten;

const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 25;
/// Bytes of a result that messages do not have.
const FRAME_BYTES: usize = 650;
/// Bytes of a message: the smaller number where there are many of them.
const MESSAGE_BYTES: [usize; 2] = [300, 600];
/// Bytes of an author's name.
const NAME_BYTES: usize = 60;
/// Bytes of a subject.
const SUBJECT_BYTES: usize = 120;
/// Bytes of a snippet.
const SNIPPET_BYTES: usize = 300;
/// Bytes below which a text is left out rather than shortened.
const LEAST_TEXT_BYTES: usize = 8;
/// Texts of a message in the order in which they give way.
const TEXTS: [&str; 3] = ["untrustedSnippet", "untrustedSubject", "untrustedFromName"];

/// The arguments that have another name in the API.
const PARAMETERS: [(&str, &str); 6] = [
    ("q", "query"),
    ("connection_id", "connectionId"),
    ("folder_id", "folder"),
    ("received_after", "after"),
    ("received_before", "before"),
    ("has_attachment", "hasAttachment"),
];

pub const SEARCH_MAIL: Definition = Definition {
    name: "search_mail",
    title: "Search mail",
    description: "Messages that match all arguments, newest first; without arguments the newest ones. With connectionId the provider \
        searches whole texts for `query`; else people, subjects and snippets are searched.",
    scope: "email.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 8 << 10,
    input,
    output: messages_schema,
};

fn input() -> JsonObject {
    let time = json!({"type": "string", "description": "2026-03-01 or 2026-03-01T09:00:00Z"});
    let person = json!({"type": "string", "description": "Part of a name or address."});
    object(
        json!({
            "query": {"type": "string", "description": "Words."},
            "connectionId": {"type": "string"},
            "from": person,
            "to": person,
            "after": time,
            "before": time,
            "folder": {"type": "string", "description": "An id of list_folders, or a role such as inbox, sent, archive, trash."},
            "unread": {"type": "boolean"},
            "hasAttachment": {"type": "boolean"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
            "cursor": cursor_schema(),
        }),
        &[],
    )
}

fn messages_schema() -> JsonObject {
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let message = object(
        json!({
            "id": text, "threadId": text, "connectionId": text, "receivedAt": text,
            "unread": flag, "starred": flag, "draft": flag, "hasAttachments": flag,
            "from": text, "untrustedFromName": text, "untrustedSubject": text, "untrustedSnippet": text,
            "hiddenTextRemoved": {"type": "integer"},
        }),
        &["id"],
    );
    list_schema("messages", json!({ "messages": {"type": "array", "items": message} }))
}

/// Arguments of `search_mail`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchMailArguments {
    query: Option<String>,
    connection_id: Option<String>,
    from: Option<String>,
    to: Option<String>,
    after: Option<String>,
    before: Option<String>,
    folder: Option<String>,
    unread: Option<bool>,
    has_attachment: Option<bool>,
    limit: Option<u64>,
    cursor: Option<String>,
}

pub async fn search_mail<A: Api>(
    context: &Context<'_, A>,
    arguments: SearchMailArguments,
) -> Result<Outcome, ToolError> {
    let limit = limit(arguments.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let connection_id = arguments.connection_id;
    let folder_id = match arguments.folder {
        Some(folder) => Some(find_folder_id(context.api, connection_id.as_deref(), folder).await?),
        None => None,
    };
    let is_of_one_account = connection_id.is_some();
    let request = Request::get("/v1/email/messages")
        .with_some("q", arguments.query.filter(|query| !query.trim().is_empty()))
        .with_some("connection_id", connection_id)
        .with_some("from", arguments.from)
        .with_some("to", arguments.to)
        .with_some("received_after", arguments.after)
        .with_some("received_before", arguments.before)
        .with_some("folder_id", folder_id)
        .with_some("unread", arguments.unread)
        .with_some("has_attachment", arguments.has_attachment)
        .with_some("cursor", arguments.cursor);
    let [least, most] = MESSAGE_BYTES;
    let max_bytes = ((SEARCH_MAIL.budget - FRAME_BYTES) / limit).clamp(least, most);
    let links = context.policy.links;
    let shape = move |message: &Value| summary(message, links, is_of_one_account, max_bytes);
    let page = ListPage::read(context.api, request, limit, SEARCH_MAIL.budget, shape).await;
    let page = page.map_err(|error| with_argument(error, &PARAMETERS))?;
    Ok(page.into_result("messages", SEARCH_MAIL.name).into())
}

/// A message in a list, in at most `max_bytes` of JSON if its texts can give way.
fn summary(message: &Value, links: bool, is_of_one_account: bool, max_bytes: usize) -> Value {
    let from = &message["from"][0];
    let mut shown = FieldChoice::new(message, links)
        .copy(&["id", "threadId"])
        .copy(if is_of_one_account { &[] } else { &["connectionId"] })
        .copy(&["receivedAt", "unread", "starred", "draft", "hasAttachments"])
        .put("from", json!(address(&from["email"])))
        .line("untrustedFromName", &from["name"], NAME_BYTES)
        .line("untrustedSubject", &message["subject"], SUBJECT_BYTES)
        .line("untrustedSnippet", &message["snippet"], SNIPPET_BYTES)
        .finish();
    for name in TEXTS {
        let excess = json_bytes(&shown).saturating_sub(max_bytes);
        if excess == 0 {
            break;
        }
        let Some(fields) = shown.as_object_mut() else { break };
        let Some(text) = fields.get(name).and_then(Value::as_str) else { continue };
        if text.len() > excess + LEAST_TEXT_BYTES {
            let shorter = shorten(text, text.len() - excess);
            fields.insert(name.to_owned(), json!(shorter));
        } else {
            fields.shift_remove(name);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SearchMailArguments, search_mail, summary};
    use crate::policy::Policy;
    use crate::tool::{Outcome, json_bytes};
    use crate::tools::script::{Script, context};

    fn message(n: usize) -> Value {
        json!({
            "id": format!("msg_{n:026}"), "threadId": format!("thr_{n:026}"), "connectionId": "conn_1", "etag": "\"1\"",
            "receivedAt": "2026-03-01T09:00:00.000Z", "unread": true, "starred": false, "hasAttachments": true,
            "from": [{"name": "Eve \"E\" \u{200b}Moriarty", "email": "eve@example.com"}],
            "subject": "Offer ".repeat(40), "snippet": "See https://evil.example/x \"now\" ".repeat(12),
            "to": [{"email": "ada@example.com"}], "attachments": [{"id": "att_1", "filename": "a.pdf"}],
        })
    }

    #[tokio::test]
    async fn as_many_messages_as_were_asked_for_fit() {
        for limit in [1, 10, 25] {
            let messages: Vec<Value> = (0..limit).map(message).collect();
            let page = json!({"data": messages, "next_cursor": "c2"});
            let api = Script::new().on("GET", "/v1/email/messages", 200, page);
            let arguments = SearchMailArguments {
                query: Some("offer".to_owned()),
                limit: Some(limit as u64),
                unread: Some(true),
                ..SearchMailArguments::default()
            };
            let policy = Policy::default();
            let outcome = search_mail(&context(&api, &policy), arguments).await;
            let Ok(Outcome::Done(done)) = outcome else { panic!("{outcome:?}") };
            assert_eq!(done.structured["messages"].as_array().map(Vec::len), Some(limit));
            assert!(json_bytes(&done.structured) <= 8 << 10);
            assert_eq!(done.structured["nextCursor"], "c2");
            assert_eq!(api.lines(), [format!("GET /v1/email/messages?q=offer&unread=true&limit={limit}")]);
        }
    }

    #[test]
    fn the_texts_of_a_message_give_way_to_its_ids() {
        for max_bytes in [300, 450, 600, 5_000] {
            let shown = summary(&message(1), false, false, max_bytes);
            assert!(json_bytes(&shown) <= max_bytes, "{shown}");
            assert_eq!(
                (&shown["connectionId"], &shown["from"]),
                (&json!("conn_1"), &json!("eve@example.com"))
            );
            assert!(!shown.to_string().contains("https://"), "{shown}");
        }
        assert_eq!(summary(&message(1), false, true, 5_000).get("connectionId"), None);
    }

    #[tokio::test]
    async fn an_error_names_the_argument() {
        let error =
            json!({"error": {"code": "invalid_parameter", "message": "no time", "param": "received_after"}});
        let api = Script::new().on("GET", "/v1/email/messages", 400, error);
        let policy = Policy::default();
        let arguments =
            SearchMailArguments { after: Some("soon".to_owned()), ..SearchMailArguments::default() };
        let error = search_mail(&context(&api, &policy), arguments).await.unwrap_err();
        assert_eq!(error.param.as_deref(), Some("after"));
        let arguments = SearchMailArguments { limit: Some(1_000_000_000), ..SearchMailArguments::default() };
        let error = search_mail(&context(&api, &policy), arguments).await.unwrap_err();
        assert_eq!(error.message, "limit must be from 1 to 25; got 1000000000");
    }
}
