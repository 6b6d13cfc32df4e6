//! `delete_event`: removes an event, an instance or a series.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{ActKind, Passage, way_out};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object, output};
use crate::tools::events::people::{EventBefore, act};
use crate::tools::events::update::{InstanceScope, scope_schema};
use crate::tools::writing;

pub const DELETE_EVENT: Definition = Definition {
    name: "delete_event",
    title: "Delete an event",
    description: "Deletes an event; nobody is notified, unless `notify` is true and the key may send cancellations. To decline an \
        invitation use respond_to_invitation.",
    scope: "calendar.write",
    effect: Effect::Destroy,
    idempotent: true,
    open_world: true,
    budget: 1 << 10,
    input,
    output: result,
};

fn input() -> JsonObject {
    let id = json!({"type": "string"});
    object(
        json!({
            "calendarId": id,
            "eventId": id,
            "recurrenceScope": scope_schema(),
            "notify": {"type": "boolean", "default": false},
        }),
        &["calendarId", "eventId"],
    )
}

fn result() -> JsonObject {
    let (flag, list) = (json!({"type": "boolean"}), json!({"type": "array"}));
    output(json!({ "deleted": flag, "notified": flag, "warnings": list }), &["deleted", "notified"])
}

/// Arguments of `delete_event`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteEventArguments {
    calendar_id: String,
    event_id: String,
    recurrence_scope: Option<InstanceScope>,
    #[serde(default)]
    notify: bool,
}

pub async fn delete_event<A: Api>(
    context: &Context<'_, A>,
    arguments: DeleteEventArguments,
) -> Result<Outcome, ToolError> {
    let (calendar, id) = (arguments.calendar_id.as_str(), arguments.event_id.as_str());
    let path = format!("/v1/calendars/{}/events/{}", segment(calendar), segment(id));
    let scope = arguments.recurrence_scope.map(InstanceScope::as_str);
    let request = Request::delete(path).with_some("recurrence_scope", scope).strict();
    let silent_key = || writing::repeat_key(context.api, DELETE_EVENT.name, &arguments);
    if !arguments.notify {
        return delete(context, request.with("notify", "none").idempotent(silent_key()), false).await;
    }
    let has_more =
        matches!(arguments.recurrence_scope, Some(InstanceScope::ThisAndFollowing | InstanceScope::All));
    let before = EventBefore::read(context.api, calendar, id, has_more).await?;
    if before.people.is_empty() {
        return delete(context, request.with("notify", "none").idempotent(silent_key()), false).await;
    }
    let Value::Object(shown) = &before.event else {
        return Err(ToolError::new("not_found", "there is no such event"));
    };
    let target = before.target();
    let mut act = act(ActKind::Cancellation, DELETE_EVENT.name, &arguments, &before.people, shown);
    act.target = Some(target.clone());
    match way_out(context, &act).await? {
        Passage::Ask(question) => Ok(Outcome::Ask(question)),
        Passage::Go { idempotency_key } => {
            let request = request.with("notify", "all").if_match(target.etag).idempotent(idempotency_key);
            delete(context, request, true).await
        }
    }
}

async fn delete<A: Api>(
    context: &Context<'_, A>,
    request: Request,
    notified: bool,
) -> Result<Outcome, ToolError> {
    let answer = json_of(context.api.call(request).await)?;
    Ok(json!({ "deleted": true, "notified": notified, "warnings": writing::warnings(&answer) }).into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DELETE_EVENT, DeleteEventArguments, delete_event};
    use crate::tool::{Outcome, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    const PATH: &str = "/v1/calendars/cal_1/events/evt_1";

    fn read(given: Value) -> DeleteEventArguments {
        arguments(&DELETE_EVENT, given.as_object().cloned().expect("an object")).expect("arguments")
    }

    #[tokio::test]
    async fn a_deletion_is_silent() {
        let api = Script::new().on("DELETE", PATH, 204, Value::Null);
        let policy = quiet_policy();
        let given =
            read(json!({ "calendarId": "cal_1", "eventId": "evt_1", "recurrenceScope": "thisAndFollowing" }));
        let Ok(Outcome::Done(done)) = delete_event(&context(&api, &policy), given).await else {
            panic!("not deleted")
        };
        assert_eq!(done.structured, json!({ "deleted": true, "notified": false, "warnings": [] }));
        assert_eq!(api.lines(), [format!("DELETE {PATH}?recurrence_scope=thisAndFollowing&notify=none")]);
        assert!(api.last().strict);
    }

    #[tokio::test]
    async fn a_cancellation_is_a_way_out() {
        let event = json!({ "id": "evt_1", "etag": "\"1\"", "attendees": [{ "email": "bob@example.com", "self": false }] });
        let api = Script::new().on("GET", PATH, 200, event);
        let policy = quiet_policy();
        let given = read(json!({ "calendarId": "cal_1", "eventId": "evt_1", "notify": true }));
        let error = delete_event(&context(&api, &policy), given).await.unwrap_err();
        assert_eq!(error.code, "person_required");
    }
}
