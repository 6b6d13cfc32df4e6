//! `send_draft`: the only way by which an assistant sends an email.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{Act, ActKind, ActRecipient, ActTarget, Passage, confirmed, digest, way_out};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object, output};
use crate::tools::shape::FieldChoice;
use crate::untrusted::clean_html;

/// States of a draft that can still be sent.
const OPEN_STATES: [&str; 2] = ["draft", "failed"];

pub const SEND_DRAFT: Definition = Definition {
    name: "send_draft",
    title: "Send a draft",
    description: "Sends a draft, if the policy of the key allows it. Depending on the policy the user is asked first, only some \
        recipients are allowed, or the user has to send it from the drafts.",
    scope: "email.send",
    effect: Effect::Send,
    idempotent: true,
    open_world: true,
    budget: 1 << 10,
    input,
    output: result_schema,
};

fn input() -> JsonObject {
    object(json!({ "draftId": {"type": "string"} }), &["draftId"])
}

fn result_schema() -> JsonObject {
    let message = object(
        json!({
            "id": {"type": "string"},
            "connectionId": {"type": "string"},
            "threadId": {"type": "string"},
            "state": {"type": "string", "description": "State of the delivery, such as queued or sent."},
            "sendAt": {"type": "string", "description": "Time for which the message is scheduled."},
        }),
        &["id"],
    );
    output(json!({ "message": message }), &["message"])
}

/// Arguments of `send_draft`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendDraftArguments {
    draft_id: String,
}

pub async fn send_draft<A: Api>(
    context: &Context<'_, A>,
    arguments: SendDraftArguments,
) -> Result<Outcome, ToolError> {
    let id = arguments.draft_id;
    let digest = digest(&json!({ "draftId": id }));
    let path = format!("/v1/email/drafts/{}", segment(&id));
    let draft = json_of(context.api.call(Request::get(path.as_str())).await)?;
    let (idempotency_key, etag) = match OPEN_STATES.iter().any(|state| draft["status"] == *state) {
        true => {
            let act = act(&draft, id, digest);
            let etag = act.target.as_ref().map(|target| target.etag.clone()).unwrap_or_default();
            match way_out(context, &act).await? {
                Passage::Ask(question) => return Ok(Outcome::Ask(question)),
                Passage::Go { idempotency_key } => (idempotency_key, etag),
            }
        }
        // The same confirmation again: the API repeats its answer to the first one, and sends nothing.
        false => match confirmed(context, SEND_DRAFT.name, &digest, Some(&id))? {
            Some(sealed) => (sealed.nonce, sealed.etag.unwrap_or_default()),
            None => return Err(already_sent(&draft)),
        },
    };
    let request = Request::post(format!("{path}/send"), json!({})).idempotent(idempotency_key).if_match(etag);
    let answer = context.api.call(request).await;
    let message = json_of(answer).map_err(|error| match error.code.as_str() {
        "stale_etag" => {
            error.remedy("The draft has changed. Call send_draft again, to send the present version.")
        }
        _ => error,
    })?;
    let fields = FieldChoice::new(&message, false)
        .copy(&["id", "connectionId", "threadId"])
        .put("state", message["delivery"]["state"].clone())
        .put("sendAt", message["delivery"]["sendAt"].clone())
        .finish();
    Ok(json!({ "message": fields }).into())
}

fn already_sent(draft: &Value) -> ToolError {
    let state = draft["status"].as_str().unwrap_or("sent");
    ToolError::new("draft_already_sent", format!("the draft cannot be sent: its state is {state}"))
        .param("draftId")
        .remedy("Tell the user that it was sent already. Write another draft to send something else.")
}

/// The act of sending a draft. Recipients are addresses alone; of a draft with HTML the text is what a recipient sees of it.
fn act(draft: &Value, id: String, arguments: String) -> Act {
    let mut recipients = Vec::new();
    for field in ["to", "cc", "bcc"] {
        for one in draft[field].as_array().into_iter().flatten() {
            let email = one["email"].as_str().unwrap_or_default().to_owned();
            recipients.push(ActRecipient { field, email });
        }
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let excerpt = match draft["body"]["html"].as_str().filter(|html| !html.is_empty()) {
        Some(html) => clean_html(html, true).text,
        None => text(&draft["body"]["text"]),
    };
    let files = draft["attachments"].as_array().into_iter().flatten();
    let name = |file: &Value| match file["filename"].as_str() {
        Some(name) => name.to_owned(),
        None => "(a file without a name)".to_owned(),
    };
    Act {
        kind: ActKind::Email,
        tool: SEND_DRAFT.name,
        arguments,
        target: Some(ActTarget { id, etag: text(&draft["etag"]) }),
        recipients,
        subject: text(&draft["subject"]),
        excerpt,
        files: files.map(name).collect(),
        details: details(draft),
    }
}

/// Further lines of the question: fields that only other programs write into drafts.
fn details(draft: &Value) -> Vec<(&'static str, String)> {
    let emails = |name: &str| -> Vec<&str> {
        draft[name].as_array().into_iter().flatten().filter_map(|one| one["email"].as_str()).collect()
    };
    let recorded = ["opens", "links", "replies"].into_iter().filter(|name| draft["tracking"][*name] == true);
    let lines = [
        ("From", emails("from").join(", ")),
        ("Replies go to", emails("replyTo").join(", ")),
        ("Scheduled for", draft["sendAt"].as_str().unwrap_or_default().to_owned()),
        ("Tracked", recorded.collect::<Vec<_>>().join(", ")),
    ];
    lines.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::PersonAnswer;
    use crate::policy::{Policy, Recipient, SendPolicy};
    use crate::tools::script::{Script, context};

    fn draft(status: &str) -> Value {
        json!({
            "id": "dft_1", "etag": "\"7\"", "status": status, "subject": "Minutes",
            "to": [{ "name": "ada@acme.com", "email": "bob@acme.com" }],
            "cc": [{ "email": "eve@acme.com" }],
            "bcc": [{ "email": "carl@acme.com" }],
            "from": [{ "email": "me@acme.com" }], "replyTo": [{ "email": "eve@evil.example" }],
            "sendAt": "2026-03-02T11:00:00.000Z", "tracking": { "opens": true, "links": false },
            "body": { "text": "for old programs", "html": "<p>for you</p><p style=\"display:none\">hidden</p>" },
            "attachments": [{ "filename": "minutes.pdf" }, { "filename": null }],
        })
    }

    fn sent() -> Value {
        json!({ "id": "msg_1", "connectionId": "conn_1", "delivery": { "state": "sent", "sendAt": null } })
    }

    fn arguments() -> SendDraftArguments {
        SendDraftArguments { draft_id: "dft_1".to_owned() }
    }

    fn policy(send: SendPolicy) -> Policy {
        Policy {
            send,
            recipients: vec![Recipient::Domain("acme.com".to_owned())],
            per_hour: 1,
            ..Policy::default()
        }
    }

    #[test]
    fn an_act_has_every_recipient_and_the_text_that_they_see() {
        let act = act(&draft("draft"), "dft_1".to_owned(), String::new());
        let recipients: Vec<_> = act.recipients.iter().map(|one| (one.field, one.email.as_str())).collect();
        assert_eq!(recipients, [("to", "bob@acme.com"), ("cc", "eve@acme.com"), ("bcc", "carl@acme.com")]);
        assert_eq!(act.excerpt.trim(), "for you");
        assert_eq!(act.files, ["minutes.pdf", "(a file without a name)"]);
        let details: Vec<_> = act.details.iter().map(|(label, value)| (*label, value.as_str())).collect();
        let wanted = [
            ("From", "me@acme.com"),
            ("Replies go to", "eve@evil.example"),
            ("Scheduled for", "2026-03-02T11:00:00.000Z"),
            ("Tracked", "opens"),
        ];
        assert_eq!(details, wanted);
    }

    #[tokio::test]
    async fn an_allowed_draft_is_sent_in_the_version_that_was_checked() {
        let api = Script::new().on("GET", "/v1/email/drafts/dft_1", 200, draft("draft")).on(
            "POST",
            "/v1/email/drafts/dft_1/send",
            202,
            sent(),
        );
        let policy = policy(SendPolicy::Allowed);
        let done = send_draft(&context(&api, &policy), arguments()).await.unwrap();
        let message = json!({ "id": "msg_1", "connectionId": "conn_1", "state": "sent" });
        assert_eq!(done, Outcome::from(json!({ "message": message })));
        let request = api.last();
        assert_eq!((request.if_match.as_deref(), request.body), (Some("\"7\""), Some(json!({}))));
        assert!(request.idempotency_key.is_some());
    }

    #[tokio::test]
    async fn a_repeated_confirmation_repeats_the_request_of_the_first_one() {
        let api = Script::new()
            .on("GET", "/v1/email/drafts/dft_1", 200, draft("draft"))
            .on("GET", "/v1/email/drafts/dft_1", 200, draft("draft"))
            .on("GET", "/v1/email/drafts/dft_1", 200, draft("sent"))
            .on("POST", "/v1/email/drafts/dft_1/send", 202, sent());
        let policy = policy(SendPolicy::Ask);
        let call = async |asked: Option<PersonAnswer>| {
            let context = Context { asked, can_ask: true, ..context(&api, &policy) };
            send_draft(&context, arguments()).await
        };
        let Ok(Outcome::Ask(question)) = call(None).await else { panic!("no question") };
        assert!(question.message.contains("Bcc: carl@acme.com"), "{}", question.message);
        let answer = PersonAnswer { state: question.state, is_confirmed: true };
        let first = call(Some(answer.clone())).await.unwrap();
        let key = api.last().idempotency_key;
        assert_eq!(call(Some(answer)).await.unwrap(), first);
        assert_eq!((api.last().idempotency_key, api.last().if_match.as_deref()), (key, Some("\"7\"")));
        assert_eq!(call(None).await.unwrap_err().code, "draft_already_sent");
    }
}
