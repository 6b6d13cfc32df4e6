//! `respond_to_invitation`: the account's answer to an invitation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{ActKind, Passage, take_send, way_out};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object};
use crate::tools::events::create::written;
use crate::tools::events::people::{EventBefore, act};
use crate::tools::shape::written_schema;
use crate::tools::writing;

pub const RESPOND_TO_INVITATION: Definition = Definition {
    name: "respond_to_invitation",
    title: "Answer an invitation",
    description: "Answers an invitation; the organizer learns the answer. Only a key that may send can add a comment to the \
        organizer. With the id of a series the answer is for all instances.",
    scope: "calendar.write",
    effect: Effect::Write,
    idempotent: true,
    open_world: true,
    budget: 1 << 10,
    input,
    output,
};

fn input() -> JsonObject {
    let id = json!({"type": "string"});
    object(
        json!({
            "calendarId": id,
            "eventId": id,
            "answer": {"enum": ["accept", "tentative", "decline"]},
            "comment": {"type": "string"},
        }),
        &["calendarId", "eventId", "answer"],
    )
}

fn output() -> JsonObject {
    written_schema("event")
}

/// An answer to an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum InvitationAnswer {
    Accept,
    Tentative,
    Decline,
}

impl InvitationAnswer {
    /// The last part of the path of the operation.
    fn as_str(self) -> &'static str {
        match self {
            InvitationAnswer::Accept => "accept",
            InvitationAnswer::Tentative => "tentative",
            InvitationAnswer::Decline => "decline",
        }
    }
}

/// Arguments of `respond_to_invitation`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RespondToInvitationArguments {
    calendar_id: String,
    event_id: String,
    answer: InvitationAnswer,
    comment: Option<String>,
}

/// Answers an invitation. A plain answer sets a state, so that a repeated call changes nothing more.
pub async fn respond_to_invitation<A: Api>(
    context: &Context<'_, A>,
    arguments: RespondToInvitationArguments,
) -> Result<Outcome, ToolError> {
    let (calendar, id) = (arguments.calendar_id.as_str(), arguments.event_id.as_str());
    let answer = arguments.answer.as_str();
    let path = format!("/v1/calendars/{}/events/{}/{answer}", segment(calendar), segment(id));
    let comment = arguments.comment.as_deref().map(str::trim).filter(|comment| !comment.is_empty());
    let Some(comment) = comment else {
        // It says little, but to people who can send any number of invitations.
        let act = writing::repeat_key(context.api, RESPOND_TO_INVITATION.name, &arguments);
        take_send(context, &act).await?;
        return respond(context, Request::post(path, json!({ "notifyOrganizer": true }))).await;
    };
    let before = EventBefore::read(context.api, calendar, id, false).await?;
    let shown = Map::from_iter([
        ("title".to_owned(), before.event["title"].clone()),
        ("description".to_owned(), json!(format!("{answer}: {comment}"))),
    ]);
    let target = before.target();
    // Some providers show the comment to all guests.
    let mut act = act(ActKind::Response, RESPOND_TO_INVITATION.name, &arguments, &before.people, &shown);
    act.target = Some(target.clone());
    match way_out(context, &act).await? {
        Passage::Ask(question) => Ok(Outcome::Ask(question)),
        Passage::Go { idempotency_key } => {
            let body: Value = json!({ "notifyOrganizer": true, "comment": comment });
            let request = Request::post(path, body).if_match(target.etag).idempotent(idempotency_key);
            respond(context, request).await
        }
    }
}

async fn respond<A: Api>(context: &Context<'_, A>, request: Request) -> Result<Outcome, ToolError> {
    let event = json_of(context.api.call(request).await)?;
    let is_silent = writing::has_warning(&event, "notify_not_supported");
    Ok(written(&event, !is_silent, context.policy.links))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{RESPOND_TO_INVITATION, RespondToInvitationArguments, respond_to_invitation};
    use crate::policy::{Policy, Recipient, SendPolicy};
    use crate::tool::{Outcome, ToolError, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    const PATH: &str = "/v1/calendars/cal_1/events/evt_1";

    fn acme() -> Recipient {
        Recipient::Domain("acme.com".to_owned())
    }

    fn read(given: Value) -> Result<RespondToInvitationArguments, ToolError> {
        arguments(&RESPOND_TO_INVITATION, given.as_object().cloned().expect("an object"))
    }

    #[tokio::test]
    async fn a_plain_answer_needs_no_person() {
        let event = json!({ "id": "evt_1", "myResponse": "accepted", "warnings": [] });
        let api = Script::new().on("POST", &format!("{PATH}/accept"), 200, event);
        let policy = quiet_policy();
        let given = read(json!({ "calendarId": "cal_1", "eventId": "evt_1", "answer": "accept" }))
            .expect("arguments");
        let Ok(Outcome::Done(done)) = respond_to_invitation(&context(&api, &policy), given).await else {
            panic!("none")
        };
        assert_eq!(
            (&done.structured["event"]["myResponse"], &done.structured["notified"]),
            (&json!("accepted"), &json!(true))
        );
        assert_eq!(api.last().body, Some(json!({ "notifyOrganizer": true })));
    }

    #[tokio::test]
    async fn a_comment_is_a_way_out() {
        let event = json!({
            "id": "evt_1", "title": "Lunch", "etag": "\"1\"", "organizer": { "email": "ann@acme.com" },
            "attendees": [{ "email": "me@acme.com", "self": true }, { "email": "eve@evil.example", "self": false }],
        });
        let api = Script::new().on("GET", PATH, 200, event);
        let given = json!({ "calendarId": "cal_1", "eventId": "evt_1", "answer": "decline", "comment": "All customers: …" });
        // The other guests may see it too.
        let allowed = Policy { send: SendPolicy::Allowed, recipients: vec![acme()], ..quiet_policy() };
        for (policy, code) in [(quiet_policy(), "person_required"), (allowed, "recipient_not_allowed")] {
            let given = read(given.clone()).expect("arguments");
            let error = respond_to_invitation(&context(&api, &policy), given).await.unwrap_err();
            assert_eq!(error.code, code);
        }
        let error =
            read(json!({ "calendarId": "cal_1", "eventId": "evt_1", "answer": "maybe" })).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("answer"));
    }
}
