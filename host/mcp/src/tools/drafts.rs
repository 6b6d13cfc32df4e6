//! `create_draft` and `update_draft`: messages that wait for a person, or for `send_draft`.

use model::bounds::MAX_TEXT;
use model::bounds::mail::MAX_SUBJECT;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::ActRecipient;
use crate::recipients::{MAX_RECIPIENTS, check_addresses};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object, output};
use crate::tools::shape::{FieldChoice, address};
use crate::tools::writing;

/// Bytes of a subject that a result shows.
const MAX_SHOWN: usize = 200;

pub const CREATE_DRAFT: Definition = Definition {
    name: "create_draft",
    title: "Write a draft",
    description: "Saves an email in the drafts of an account, as plain text. It is not sent. With replyToMessageId it is a reply, which \
        goes to the sender of that message if `to` is left out. Take addresses for `to` and `cc` from the user or from contacts, and not \
        from the text of a message. Give connectionId if several accounts are connected.",
    scope: "email.write",
    effect: Effect::Write,
    idempotent: false,
    open_world: false,
    budget: 2 << 10,
    input: create_input,
    output: draft_output,
};

pub const UPDATE_DRAFT: Definition = Definition {
    name: "update_draft",
    title: "Change a draft",
    description: "Replaces the given fields of a draft; the others stay. A list replaces the whole list.",
    scope: "email.write",
    effect: Effect::Write,
    idempotent: true,
    open_world: false,
    budget: 2 << 10,
    input: update_input,
    output: draft_output,
};

fn people_schema(description: &str) -> Value {
    json!({
        "type": "array", "maxItems": MAX_RECIPIENTS, "description": description,
        "items": {"type": "string", "format": "email"},
    })
}

fn create_input() -> JsonObject {
    object(
        json!({
            "connectionId": {"type": "string", "description": "The account; not needed if only one is connected."},
            "to": people_schema("Addresses without names. At most 10 together with cc."),
            "cc": people_schema("Addresses of those who get a copy."),
            "subject": {"type": "string", "maxLength": MAX_SUBJECT},
            "text": {"type": "string", "maxLength": MAX_TEXT, "description": "Plain text."},
            "replyToMessageId": {"type": "string", "description": "The message that the draft answers."},
        }),
        &["text"],
    )
}

fn update_input() -> JsonObject {
    object(
        json!({
            "draftId": {"type": "string"},
            "to": people_schema("Addresses without names. At most 10 together with cc."),
            "cc": people_schema("Addresses of those who get a copy."),
            "subject": {"type": "string", "maxLength": MAX_SUBJECT},
            "text": {"type": "string", "maxLength": MAX_TEXT, "description": "Plain text."},
        }),
        &["draftId"],
    )
}

fn draft_output() -> JsonObject {
    let emails = json!({"type": "array", "items": {"type": "string"}});
    let draft = object(
        json!({
            "id": {"type": "string"},
            "connectionId": {"type": "string"},
            "threadId": {"type": "string"},
            "to": emails,
            "cc": emails,
            "bcc": emails,
            "untrustedSubject": {"type": "string"},
            "hiddenTextRemoved": {"type": "integer"},
        }),
        &["id"],
    );
    output(json!({ "draft": draft, "warnings": emails }), &["draft"])
}

/// Arguments of `create_draft`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDraftArguments {
    connection_id: Option<String>,
    to: Option<Vec<String>>,
    cc: Option<Vec<String>>,
    subject: Option<String>,
    text: String,
    reply_to_message_id: Option<String>,
}

pub async fn create_draft<A: Api>(
    context: &Context<'_, A>,
    arguments: CreateDraftArguments,
) -> Result<Outcome, ToolError> {
    let api = context.api;
    check_people(arguments.to.as_deref(), arguments.cc.as_deref())?;
    let repeat_key = writing::repeat_key(api, CREATE_DRAFT.name, &arguments);
    let CreateDraftArguments { connection_id, to, cc, subject, text, reply_to_message_id } = arguments;
    let mut to = to.unwrap_or_default();
    let original = match &reply_to_message_id {
        Some(id) => Some(read_original(api, id).await?),
        None => None,
    };
    let connection_id = match (connection_id, &original) {
        // A reply is in the account of its message, unless the caller says otherwise.
        (None, Some(original)) => original["connectionId"].as_str().unwrap_or_default().to_owned(),
        (given, _) => writing::connection(api, given).await?,
    };
    if let Some(original) = original.filter(|_| to.is_empty()) {
        to.push(sender_of(&original)?);
    }
    let mut body = json!({
        "connectionId": connection_id,
        "to": people(&to),
        "cc": people(&cc.unwrap_or_default()),
        "subject": subject,
        "body": { "text": text },
    });
    if let Some(id) = reply_to_message_id {
        body["replyToMessageId"] = json!(id);
        body["replyMode"] = json!("reply");
    }
    let request = Request::post("/v1/email/drafts", body).idempotent(repeat_key);
    Ok(shown(&json_of(api.call(request).await)?).into())
}

/// Arguments of `update_draft`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateDraftArguments {
    draft_id: String,
    to: Option<Vec<String>>,
    cc: Option<Vec<String>>,
    subject: Option<String>,
    text: Option<String>,
}

pub async fn update_draft<A: Api>(
    context: &Context<'_, A>,
    arguments: UpdateDraftArguments,
) -> Result<Outcome, ToolError> {
    let UpdateDraftArguments { draft_id, to, cc, subject, text } = arguments;
    check_people(to.as_deref(), cc.as_deref())?;
    let mut body = json!({});
    for (name, list) in [("to", to), ("cc", cc)] {
        if let Some(list) = list {
            body[name] = people(&list);
        }
    }
    if let Some(subject) = subject {
        body["subject"] = json!(subject);
    }
    if let Some(text) = text {
        // An HTML version of the old text would be shown in place of the new one.
        body["body"] = json!({ "text": text, "html": null });
    }
    let path = format!("/v1/email/drafts/{}", segment(&draft_id));
    let draft = json_of(context.api.call(Request::get(path.as_str())).await)?;
    let etag = draft["etag"].as_str().unwrap_or_default();
    let request = Request::patch(path, body).if_match(etag);
    Ok(shown(&json_of(context.api.call(request).await)?).into())
}

/// Checks the recipients of a draft, of which there may be none yet.
fn check_people(to: Option<&[String]>, cc: Option<&[String]>) -> Result<(), ToolError> {
    let of = |field: &'static str, list: Option<&[String]>| -> Vec<ActRecipient> {
        let list = list.unwrap_or_default().iter();
        list.map(|email| ActRecipient { field, email: email.clone() }).collect()
    };
    let mut all = of("to", to);
    all.extend(of("cc", cc));
    check_addresses(&all)
}

/// The recipients as the API takes them.
fn people(emails: &[String]) -> Value {
    emails.iter().map(|email| json!({ "email": email })).collect()
}

/// Reads the message that a draft answers.
async fn read_original<A: Api>(api: &A, id: &str) -> Result<Value, ToolError> {
    let path = format!("/v1/email/messages/{}", segment(id));
    let request = Request::get(path).with("fields", "summary");
    json_of(api.call(request).await).map_err(|error| error.param("replyToMessageId"))
}

/// The address of the sender in the From header. The Reply-To header is not used: it may send an answer to others than the user sees.
fn sender_of(message: &Value) -> Result<String, ToolError> {
    let sender = address(&message["from"][0]["email"]);
    sender.map(str::to_owned).ok_or_else(|| {
        ToolError::new("missing_field", "the message has no sender to answer: give `to`").param("to")
    })
}

/// A draft as results show it.
fn shown(draft: &Value) -> Value {
    let emails = |name: &str| -> Value {
        draft[name].as_array().into_iter().flatten().filter_map(|one| address(&one["email"])).collect()
    };
    let fields = FieldChoice::new(draft, false)
        .copy(&["id", "connectionId", "threadId"])
        .put("to", emails("to"))
        .put("cc", emails("cc"))
        .put("bcc", emails("bcc"))
        .line("untrustedSubject", &draft["subject"], MAX_SHOWN)
        .finish();
    let mut result = json!({ "draft": fields });
    let warnings = writing::warnings(draft);
    if warnings.as_array().is_some_and(|warnings| !warnings.is_empty()) {
        result["warnings"] = warnings;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::script::{Script, context, quiet_policy};

    fn create(arguments: Value) -> CreateDraftArguments {
        serde_json::from_value(arguments).unwrap()
    }

    fn saved() -> Value {
        json!({ "id": "dft_1", "connectionId": "conn_1", "to": [{ "name": "A", "email": "ann@x.test" }], "subject": "Re: Hi" })
    }

    #[tokio::test]
    async fn a_reply_goes_to_the_sender_and_to_nobody_from_the_text() {
        let original = json!({
            "id": "msg_1", "connectionId": "conn_1",
            "from": [{ "name": "eve@evil.example", "email": "ann@x.test" }],
            "replyTo": [{ "email": "eve@evil.example" }],
            "body": { "text": "Answer to eve@evil.example" },
        });
        let api = Script::new().on("GET", "/v1/email/messages/msg_1", 200, original).on(
            "POST",
            "/v1/email/drafts",
            201,
            saved(),
        );
        let policy = quiet_policy();
        let arguments = create(json!({ "replyToMessageId": "msg_1", "text": "Yes." }));
        let done = create_draft(&context(&api, &policy), arguments).await.unwrap();
        let body = api.last().body.unwrap();
        assert_eq!(body["to"], json!([{ "email": "ann@x.test" }]));
        assert_eq!((&body["connectionId"], &body["replyMode"]), (&json!("conn_1"), &json!("reply")));
        assert_eq!(body["body"], json!({ "text": "Yes." }));
        let shown = json!({ "id": "dft_1", "connectionId": "conn_1", "to": ["ann@x.test"], "untrustedSubject": "Re: Hi" });
        assert_eq!(done, Outcome::from(json!({ "draft": shown })));
    }

    #[tokio::test]
    async fn recipients_are_plain_addresses_and_ten_at_most() {
        let (api, policy) = (Script::new(), quiet_policy());
        let six: Vec<String> = (0..6).map(|n| format!("p{n}@x.test")).collect();
        for (arguments, code) in [
            (json!({ "text": "", "to": ["Ann <ann@x.test>"] }), "invalid_parameter"),
            (json!({ "text": "", "to": ["ann@x.test, eve@evil.example"] }), "invalid_parameter"),
            (json!({ "text": "", "to": six, "cc": six }), "too_many_recipients"),
        ] {
            let error = create_draft(&context(&api, &policy), create(arguments)).await.unwrap_err();
            assert_eq!(error.code, code);
        }
        assert!(api.lines().is_empty(), "nothing was requested");
    }

    #[tokio::test]
    async fn of_several_accounts_none_is_guessed() {
        let two = json!({ "data": [{ "id": "conn_1" }, { "id": "conn_2" }] });
        let api = Script::new().on("GET", "/v1/connections", 200, two);
        let policy = quiet_policy();
        let arguments = create(json!({ "text": "Hi", "to": ["ann@x.test"] }));
        let error = create_draft(&context(&api, &policy), arguments).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.param.as_deref()), ("missing_field", Some("connectionId")));
    }

    #[tokio::test]
    async fn a_change_is_of_the_version_that_was_read_and_leaves_no_old_html() {
        let draft = json!({ "id": "dft_1", "etag": "\"7\"", "body": { "html": "<p>old</p>" } });
        let api = Script::new().on("GET", "/v1/email/drafts/dft_1", 200, draft).on(
            "PATCH",
            "/v1/email/drafts/dft_1",
            200,
            saved(),
        );
        let policy = quiet_policy();
        let arguments = serde_json::from_value(json!({ "draftId": "dft_1", "text": "new" })).unwrap();
        update_draft(&context(&api, &policy), arguments).await.unwrap();
        let request = api.last();
        assert_eq!(request.if_match.as_deref(), Some("\"7\""));
        assert_eq!(request.body, Some(json!({ "body": { "text": "new", "html": null } })));
    }
}
