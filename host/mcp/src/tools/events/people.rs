//! The people of an event beside the account, whom an act can reach.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::{Api, Request, segment};
use crate::policy::{Act, ActKind, ActRecipient, ActTarget, digest};
use crate::tool::{ToolError, json_of};
use crate::untrusted;

/// Bytes of an event's place in the question to a person.
const MAX_PLACE: usize = 80;

/// The addresses of the people of an event without the account itself, each once. An event without attendees has no other people: its
/// organizer is the account, under whatever address. A person without an address is an empty one, to which nothing may be sent.
pub fn others(event: &Value) -> Vec<String> {
    let attendees = event["attendees"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all: Vec<String> = Vec::new();
    if attendees.is_empty() {
        return all;
    }
    let organizer = Some(&event["organizer"]).filter(|organizer| organizer.is_object());
    for person in attendees.iter().chain(organizer).filter(|person| person["self"] != true) {
        add(&mut all, person["email"].as_str().unwrap_or_default());
    }
    all
}

/// Adds an address that is not there yet.
pub fn add(all: &mut Vec<String>, email: &str) {
    if !all.iter().any(|one| one.eq_ignore_ascii_case(email)) {
        all.push(email.to_owned());
    }
}

/// Whether other people see what the account changes in the event. Only a guest's changes stay in the guest's own copy, unless guests can
/// change the event.
pub fn is_seen_by_others(event: &Value) -> bool {
    let mut attendees = event["attendees"].as_array().into_iter().flatten();
    let is_guest = event["organizer"]["self"] != true && attendees.any(|one| one["self"] == true);
    let is_own_copy = is_guest && event["guestsCanModify"] != true;
    !is_own_copy && !others(event).is_empty()
}

/// An event as the API has it, before a change.
#[derive(Debug)]
pub struct EventBefore {
    pub event: Value,
    /// The people whom a change can reach: those of the event, and of its series if more than one instance changes.
    pub people: Vec<String>,
    /// Whether other people see what the account changes, even if nobody is notified.
    pub is_seen: bool,
}

impl EventBefore {
    /// Reads the event in this calendar. `has_more`: the change is of more than one instance of a series.
    pub async fn read<A: Api>(api: &A, calendar: &str, id: &str, has_more: bool) -> Result<Self, ToolError> {
        let event = get(api, calendar, id).await?;
        let mut people = others(&event);
        let mut is_seen = is_seen_by_others(&event);
        if let Some(series) = event["seriesId"].as_str().filter(|_| has_more) {
            let series = get(api, calendar, series).await?;
            others(&series).iter().for_each(|email| add(&mut people, email));
            is_seen |= is_seen_by_others(&series);
        }
        Ok(EventBefore { event, people, is_seen })
    }

    /// The event in this version, as the target of an act.
    pub fn target(&self) -> ActTarget {
        ActTarget { id: text(&self.event["id"]), etag: text(&self.event["etag"]) }
    }
}

async fn get<A: Api>(api: &A, calendar: &str, id: &str) -> Result<Value, ToolError> {
    let path = format!("/v1/calendars/{}/events/{}", segment(calendar), segment(id));
    json_of(api.call(Request::get(path)).await)
}

/// A text, or an empty one.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// An act of a tool that reaches these people. `shown` has the fields of the event that they will see.
pub fn act(
    kind: ActKind,
    tool: &'static str,
    arguments: &impl Serialize,
    people: &[String],
    shown: &Map<String, Value>,
) -> Act {
    let field = |name: &str| shown.get(name).and_then(Value::as_str).unwrap_or_default();
    let times =
        ["start", "startDate", "end", "endDate"].map(field).into_iter().filter(|time| !time.is_empty());
    let mut lines: Vec<String> = vec![times.collect::<Vec<_>>().join(" – ")];
    lines.push(untrusted::shorten(field("location"), MAX_PLACE));
    lines.push(field("description").to_owned());
    lines.retain(|line| !line.is_empty());
    Act {
        kind,
        tool,
        // The people of a series have no version of their own in the target.
        arguments: digest(&json!([arguments, people])),
        target: None,
        recipients: people
            .iter()
            .map(|email| ActRecipient { field: "attendees", email: email.clone() })
            .collect(),
        subject: field("title").to_owned(),
        excerpt: lines.join("\n"),
        files: Vec::new(),
        details: details(shown),
    }
}

/// Further lines of the question.
fn details(shown: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let rules = shown.get("recurrence").and_then(Value::as_array).into_iter().flatten();
    let rules: Vec<&str> = rules.filter_map(Value::as_str).collect();
    if rules.is_empty() { Vec::new() } else { vec![("Repeats", rules.join(" "))] }
}

/// The refusal of a silent act on an event that other people see.
pub fn invitation_needed() -> ToolError {
    let message = "other people see this event, so it needs `invite: true`: a provider may show it to them even if it notifies nobody";
    ToolError::new("invitation_needed", message).param("invite").remedy(
        "Leave the other people out, or call the tool with `invite: true` if the user wants them to know.",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{act, is_seen_by_others, others};
    use crate::policy::ActKind;

    #[test]
    fn the_account_is_none_of_the_others() {
        let event = json!({
            "organizer": { "email": "Eve@example.com", "self": false },
            "attendees": [
                { "email": "ada@example.com", "self": true }, { "email": "bob@example.com", "self": false },
                { "email": "eve@example.com", "self": false },
            ],
        });
        assert_eq!(others(&event), ["bob@example.com", "eve@example.com"]);
        let unknown = json!({ "organizer": null, "attendees": [{ "email": null, "self": false }] });
        assert_eq!(others(&unknown), [""]);
        let alone = json!({ "organizer": { "email": "a.l@example.com", "self": false }, "attendees": [] });
        assert_eq!(others(&alone), Vec::<String>::new());
    }

    #[test]
    fn the_organizer_s_changes_are_seen() {
        let event = |is_own: bool, can_modify: bool| {
            json!({
                "organizer": { "email": "ada@example.com", "self": is_own }, "guestsCanModify": can_modify,
                "attendees": [{ "email": "bob@example.com", "self": !is_own }],
            })
        };
        assert!(is_seen_by_others(&event(true, false)));
        assert!(is_seen_by_others(&event(false, true)));
        assert!(!is_seen_by_others(&event(false, false)));
        assert!(!is_seen_by_others(&json!({ "organizer": null, "attendees": [] })));
        // The organizer may be the account under another address: then it is no guest.
        let alias = json!({
            "organizer": { "email": "a.l@example.com", "self": false },
            "attendees": [{ "email": "bob@example.com", "self": false }],
        });
        assert!(is_seen_by_others(&alias));
    }

    #[test]
    fn a_person_is_shown_when_and_where() {
        let shown: Map<String, Value> = json!({
            "title": "Lunch", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "location": null,
            "description": "Bring figures",
        })
        .as_object()
        .cloned()
        .expect("an object");
        let made =
            act(ActKind::Invitation, "create_event", &json!({}), &["bob@example.com".to_owned()], &shown);
        assert_eq!(made.subject, "Lunch");
        assert_eq!(made.excerpt, "2026-03-02T11:00:00Z – 2026-03-02T12:00:00Z\nBring figures");
        assert_eq!(
            (made.recipients[0].field, made.recipients[0].email.as_str()),
            ("attendees", "bob@example.com")
        );
    }
}
