//! `create_event`: an event of the account's own, or an invitation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{ActKind, Passage, way_out};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object};
use crate::tools::events::fields::summary;
use crate::tools::events::people::{act, invitation_needed};
use crate::tools::shape::written_schema;
use crate::tools::writing;

/// Bytes of a title, and of a place, that the result of a write shows.
const MAX_LINE: usize = 120;

pub const CREATE_EVENT: Definition = Definition {
    name: "create_event",
    title: "Create an event",
    description: "Adds an event to a calendar, or to the main calendar of an account; nobody is notified. `attendees` needs \
        `invite: true`, which sends invitations if the key may. All-day events have startDate (and endDate, the day after the \
        last) in place of start and end. Give calendarId or connectionId if several accounts are connected.",
    scope: "calendar.write",
    effect: Effect::Write,
    idempotent: false,
    open_world: true,
    budget: 2 << 10,
    input,
    output,
};

/// The schemas of the fields of an event that tools write.
pub fn field_schemas() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let clearable = json!({"type": ["string", "null"]});
    let texts = json!({"type": "array", "items": text});
    let fields = json!({
        "title": text,
        "start": {"type": "string", "format": "date-time"},
        "end": {"type": "string", "format": "date-time"},
        "startDate": text,
        "endDate": text,
        "timeZone": text,
        "location": clearable,
        "description": clearable,
        "recurrence": {"type": "array", "items": text, "description": "RFC 5545 lines, such as RRULE:FREQ=WEEKLY"},
        "showAs": {"enum": ["busy", "free", "tentative", "oof", "workingElsewhere"]},
        "visibility": {"enum": ["default", "private", "confidential"]},
        "attendees": texts,
        "invite": {"type": "boolean"},
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn input() -> JsonObject {
    let mut fields = json!({ "calendarId": {"type": "string"}, "connectionId": {"type": "string"} });
    for (name, schema) in field_schemas() {
        fields[name] = schema;
    }
    object(fields, &["title"])
}

fn output() -> JsonObject {
    written_schema("event")
}

/// The state in which others see an event's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ShownState {
    Busy,
    Free,
    Tentative,
    Oof,
    WorkingElsewhere,
}

/// The people who can see an event's details. None of them is everybody: public details reach people whom nobody invited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DetailVisibility {
    Default,
    Private,
    Confidential,
}

/// Arguments of `create_event`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateEventArguments {
    calendar_id: Option<String>,
    connection_id: Option<String>,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    show_as: Option<ShownState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<DetailVisibility>,
    #[serde(default)]
    attendees: Vec<String>,
    #[serde(default)]
    invite: bool,
}

pub async fn create_event<A: Api>(
    context: &Context<'_, A>,
    arguments: CreateEventArguments,
) -> Result<Outcome, ToolError> {
    let invites = !arguments.attendees.is_empty();
    if invites && !arguments.invite {
        return Err(invitation_needed().param("attendees"));
    }
    let (calendar, connection) = (arguments.calendar_id.clone(), arguments.connection_id.clone());
    let calendar = writing::calendar(context.api, calendar, connection).await?;
    let mut body = writing::body(&arguments, &["calendarId", "connectionId", "attendees", "invite"]);
    let key = match invites {
        false => writing::repeat_key(context.api, CREATE_EVENT.name, &arguments),
        true => {
            let act = act(ActKind::Invitation, CREATE_EVENT.name, &arguments, &arguments.attendees, &body);
            match way_out(context, &act).await? {
                Passage::Ask(question) => return Ok(Outcome::Ask(question)),
                Passage::Go { idempotency_key } => idempotency_key,
            }
        }
    };
    let attendees: Vec<Value> = arguments.attendees.iter().map(|email| json!({ "email": email })).collect();
    body.insert("attendees".into(), json!(attendees));
    body.insert("notify".into(), json!(if invites { "all" } else { "none" }));
    if arguments.start_date.is_some() {
        body.insert("allDay".into(), json!(true));
    }
    let path = format!("/v1/calendars/{}/events", segment(&calendar));
    let request = Request::post(path, Value::Object(body)).strict().idempotent(key);
    let created = json_of(context.api.call(request).await)?;
    Ok(written(&created, invites, context.policy.links))
}

/// The result of a write of an event.
pub fn written(event: &Value, notified: bool, links: bool) -> Outcome {
    let warnings = writing::warnings(event);
    json!({ "event": summary(event, links, MAX_LINE).finish(), "notified": notified, "warnings": warnings })
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CREATE_EVENT, CreateEventArguments, create_event};
    use crate::policy::{Policy, SendPolicy};
    use crate::tool::{Outcome, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    fn read(given: Value) -> CreateEventArguments {
        arguments(&CREATE_EVENT, given.as_object().cloned().expect("an object")).expect("arguments")
    }

    fn calendar() -> Script {
        let created = json!({ "id": "evt_1", "calendarId": "cal_1", "title": "Lunch", "warnings": [] });
        Script::new().on("GET", "/v1/calendars/cal_1", 200, json!({ "id": "cal_1", "isOwned": true })).on(
            "POST",
            "/v1/calendars/cal_1/events",
            201,
            created,
        )
    }

    /// An event without other people is silent, and a provider that cannot be silent refuses it.
    #[tokio::test]
    async fn an_event_is_silent() {
        let (api, policy) = (calendar(), quiet_policy());
        let given =
            json!({ "calendarId": "cal_1", "title": "Day off", "startDate": "2026-03-05", "showAs": "oof" });
        let Ok(Outcome::Done(done)) = create_event(&context(&api, &policy), read(given)).await else {
            panic!("no event")
        };
        assert_eq!(done.structured["notified"], false);
        let sent = api.last();
        assert!(sent.strict && sent.idempotency_key.is_some(), "{sent:?}");
        let wanted = json!({
            "title": "Day off", "startDate": "2026-03-05", "showAs": "oof", "attendees": [], "notify": "none", "allDay": true,
        });
        assert_eq!(sent.body, Some(wanted));
    }

    /// Attendees are reached even if nobody is notified: without `invite` there are none.
    #[tokio::test]
    async fn attendees_are_a_way_out() {
        let (api, policy) = (calendar(), quiet_policy());
        let given = |invite: bool| {
            read(json!({
                "calendarId": "cal_1", "title": "Lunch", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z",
                "attendees": ["eve@example.com"], "invite": invite,
            }))
        };
        let error = create_event(&context(&api, &policy), given(false)).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.param.as_deref()), ("invitation_needed", Some("attendees")));
        let error = create_event(&context(&api, &policy), given(true)).await.unwrap_err();
        assert_eq!(error.code, "person_required");
        assert!(api.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", api.lines());

        let recipients = Policy::for_key(Some(&model::agent::AgentPolicy {
            recipients: vec!["*@example.com".into()],
            ..model::agent::AgentPolicy::default()
        }))
        .recipients;
        let policy = Policy { send: SendPolicy::Allowed, per_hour: 20, recipients, ..quiet_policy() };
        let Ok(Outcome::Done(done)) = create_event(&context(&api, &policy), given(true)).await else {
            panic!("no event")
        };
        assert_eq!(done.structured["notified"], true);
        let body = api.last().body.expect("a body");
        assert_eq!(
            (&body["notify"], &body["attendees"]),
            (&json!("all"), &json!([{ "email": "eve@example.com" }]))
        );
    }
}
