//! `update_event`: changes of an event.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{ActKind, Passage, way_out};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object};
use crate::tools::events::create::{DetailVisibility, ShownState, field_schemas, written};
use crate::tools::events::people::{EventBefore, act, add, invitation_needed};
use crate::tools::shape::written_schema;
use crate::tools::writing;

/// Arguments that are no fields of an event.
const NO_FIELDS: [&str; 5] = ["calendarId", "eventId", "recurrenceScope", "attendees", "invite"];

pub const UPDATE_EVENT: Definition = Definition {
    name: "update_event",
    title: "Change an event",
    description: "Sets the given fields of an event; null clears a field. Nobody is notified. An event of the account's own with \
        other people can only be changed with `invite: true`, which notifies them if the key may. `attendees` is the whole list \
        of other people.",
    scope: "calendar.write",
    effect: Effect::Write,
    idempotent: true,
    open_world: true,
    budget: 2 << 10,
    input,
    output,
};

/// The schema of the argument that says which instances of a series an act is on.
pub fn scope_schema() -> Value {
    json!({"enum": ["this", "thisAndFollowing", "all"]})
}

fn input() -> JsonObject {
    let id = json!({"type": "string"});
    let mut fields = json!({ "calendarId": id, "eventId": id, "recurrenceScope": scope_schema() });
    for (name, schema) in field_schemas() {
        fields[name] = schema;
    }
    object(fields, &["calendarId", "eventId"])
}

fn output() -> JsonObject {
    written_schema("event")
}

/// The instances of a series that an act is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InstanceScope {
    This,
    ThisAndFollowing,
    All,
}

impl InstanceScope {
    /// The value of the API's parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            InstanceScope::This => "this",
            InstanceScope::ThisAndFollowing => "thisAndFollowing",
            InstanceScope::All => "all",
        }
    }
}

/// Arguments of `update_event`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateEventArguments {
    calendar_id: String,
    event_id: String,
    recurrence_scope: Option<InstanceScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
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
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    location: Option<Option<String>>,
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    description: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    show_as: Option<ShownState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<DetailVisibility>,
    attendees: Option<Vec<String>>,
    #[serde(default)]
    invite: bool,
}

/// Changes an event in the version that was read for the decision: other people who come into it meanwhile make the change fail. Every field
/// is set to a value, so that a repeated call changes nothing more.
pub async fn update_event<A: Api>(
    context: &Context<'_, A>,
    arguments: UpdateEventArguments,
) -> Result<Outcome, ToolError> {
    let mut body = writing::body(&arguments, &NO_FIELDS);
    if body.is_empty() && arguments.attendees.is_none() {
        return Err(writing::missing("title", "give at least one field to change, such as title or start"));
    }
    let has_more =
        matches!(arguments.recurrence_scope, Some(InstanceScope::ThisAndFollowing | InstanceScope::All));
    let (calendar, id) = (arguments.calendar_id.as_str(), arguments.event_id.as_str());
    writing::ensure_own_calendar(context.api, calendar).await?;
    let before = EventBefore::read(context.api, calendar, id, has_more).await?;
    let mut people = before.people.clone();
    let mut is_seen = before.is_seen;
    if let Some(wanted) = &arguments.attendees {
        body.insert("attendees".into(), merged(&before.event["attendees"], wanted));
        wanted.iter().for_each(|email| add(&mut people, email));
        is_seen |= !people.is_empty();
    }
    if is_seen && !arguments.invite {
        return Err(invitation_needed());
    }
    let path = format!("/v1/calendars/{}/events/{}", segment(calendar), segment(id));
    let notifies = arguments.invite && !people.is_empty();
    let target = before.target();
    let key = if notifies {
        let mut shown = body.clone();
        shown.entry("title").or_insert_with(|| before.event["title"].clone());
        let mut act = act(ActKind::EventUpdate, UPDATE_EVENT.name, &arguments, &people, &shown);
        act.target = Some(target.clone());
        match way_out(context, &act).await? {
            Passage::Ask(question) => return Ok(Outcome::Ask(question)),
            Passage::Go { idempotency_key } => Some(idempotency_key),
        }
    } else {
        None
    };
    body.insert("notify".into(), json!(if notifies { "all" } else { "none" }));
    if let Some(scope) = arguments.recurrence_scope {
        body.insert("recurrenceScope".into(), json!(scope));
    }
    if arguments.start_date.is_some() || arguments.start.is_some() {
        body.insert("allDay".into(), json!(arguments.start_date.is_some()));
    }
    let request = Request::patch(path, Value::Object(body)).strict().if_match(target.etag);
    let request = Request { idempotency_key: key, ..request };
    let changed = json_of(context.api.call(request).await)?;
    Ok(written(&changed, notifies, context.policy.links))
}

/// The list of attendees with these other people: those who are in it keep their answers, and the account and the organizer stay.
fn merged(attendees: &Value, wanted: &[String]) -> Value {
    let is_wanted = |attendee: &Value| {
        let email = attendee["email"].as_str().unwrap_or_default();
        let is_named = wanted.iter().any(|one| one.eq_ignore_ascii_case(email));
        is_named || attendee["self"] == true || attendee["organizer"] == true
    };
    let current = attendees.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all: Vec<Value> = current.iter().filter(|attendee| is_wanted(attendee)).cloned().collect();
    for email in wanted {
        let is_there =
            |one: &Value| one["email"].as_str().is_some_and(|there| there.eq_ignore_ascii_case(email));
        if !all.iter().any(is_there) {
            all.push(json!({ "email": email }));
        }
    }
    Value::Array(all)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{UPDATE_EVENT, merged, update_event};
    use crate::tool::{Outcome, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    const PATH: &str = "/v1/calendars/cal_1/events/evt_1";

    fn calendar(attendees: Value) -> Script {
        let organizer = json!({ "email": "ada@example.com", "self": true });
        let event = json!({
            "id": "evt_1", "calendarId": "cal_1", "title": "Lunch", "etag": "\"7\"", "seriesId": null, "organizer": organizer,
            "attendees": attendees,
        });
        Script::new()
            .on("GET", "/v1/calendars/cal_1", 200, json!({ "id": "cal_1", "isOwned": true }))
            .on("GET", PATH, 200, event.clone())
            .on("PATCH", PATH, 200, event)
    }

    async fn update(api: &Script, fields: Value) -> Result<Outcome, crate::tool::ToolError> {
        let policy = quiet_policy();
        let mut given = json!({ "calendarId": "cal_1", "eventId": "evt_1" });
        for (name, value) in fields.as_object().expect("an object") {
            given[name] = value.clone();
        }
        let given = arguments(&UPDATE_EVENT, given.as_object().cloned().expect("an object"))?;
        update_event(&context(api, &policy), given).await
    }

    #[tokio::test]
    async fn a_change_is_of_the_version_that_was_read() {
        let api = calendar(json!([]));
        update(&api, json!({ "start": "2026-03-02T12:00:00Z", "location": null }))
            .await
            .expect("it is changed");
        let sent = api.last();
        assert_eq!((sent.if_match.as_deref(), sent.strict), (Some("\"7\""), true));
        let wanted =
            json!({ "start": "2026-03-02T12:00:00Z", "location": null, "notify": "none", "allDay": false });
        assert_eq!(sent.body, Some(wanted));
        assert_eq!(update(&api, json!({})).await.unwrap_err().code, "missing_field");
    }

    /// An update of an event with attendees, or one that adds attendees, needs an invitation.
    #[tokio::test]
    async fn other_people_need_an_invitation() {
        let bob = json!([{ "email": "bob@example.com", "self": false }]);
        let api = calendar(bob);
        let error = update(&api, json!({ "description": "All customers: …" })).await.unwrap_err();
        assert_eq!(error.code, "invitation_needed");
        let error = update(&api, json!({ "description": "x", "invite": true })).await.unwrap_err();
        assert_eq!(error.code, "person_required");
        let api = calendar(json!([]));
        let error = update(&api, json!({ "attendees": ["eve@example.com"] })).await.unwrap_err();
        assert_eq!(error.code, "invitation_needed");
        assert!(api.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", api.lines());
    }

    #[test]
    fn people_keep_their_answers() {
        let current = json!([
            { "email": "ada@example.com", "self": true }, { "email": "Bob@example.com", "responseStatus": "accepted" },
            { "email": "carl@example.com" },
        ]);
        let wanted = json!([
            { "email": "ada@example.com", "self": true }, { "email": "Bob@example.com", "responseStatus": "accepted" },
            { "email": "dora@example.com" },
        ]);
        assert_eq!(merged(&current, &["bob@example.com".into(), "dora@example.com".into()]), wanted);
    }
}
