//! Members of an event in a request: which of them a client may set, their values, and the form in which they are stored.

use serde_json::{Map, Value, json};

use crate::graph::calendar::body_text;
use crate::graph::calendar::book::CalendarBook;
use crate::graph::errors::GraphError;
use crate::graph::facts;

/// The time of a stamp that was never set.
pub const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// Members of a request that are no members of the stored event, but say when it is and how it recurs.
const TIME_MEMBERS: [&str; 4] = ["start", "end", "isAllDay", "recurrence"];
/// Members that an attendee may change.
const ATTENDEE_MEMBERS: [&str; 5] =
    ["categories", "isReminderOn", "reminderMinutesBeforeStart", "showAs", "sensitivity"];

/// The members of a new event before those of the request.
pub fn defaults(book: &CalendarBook) -> Map<String, Value> {
    let members = json!({
        "subject": "",
        "body": "",
        "importance": "normal",
        "sensitivity": "normal",
        "showAs": "busy",
        "categories": [],
        "isReminderOn": true,
        "reminderMinutesBeforeStart": facts::number("calendar_limits", "default_reminder_minutes"),
        "responseRequested": true,
        "allowNewTimeProposals": true,
        "hideAttendees": false,
        "hasAttachments": false,
        "isCancelled": false,
        "isDraft": false,
        "attendees": [],
        "location": no_location(),
        "locations": [],
        "organizer": book.recipient(),
        "responseStatus": { "response": "organizer", "time": NO_TIME },
        "isOnlineMeeting": false,
        "onlineMeetingProvider": "unknown",
        "onlineMeeting": null,
        "onlineMeetingUrl": null,
    });
    members.as_object().cloned().unwrap_or_default()
}

fn no_location() -> Value {
    json!({ "displayName": "", "locationType": "default", "uniqueIdType": "unknown", "address": {}, "coordinates": {} })
}

/// Checks the members of a request, and writes them into those of an event.
///
/// # Errors
/// A member cannot be set, or has no value that Exchange takes.
pub fn apply(members: &mut Map<String, Value>, body: &Value) -> Result<(), GraphError> {
    let given = body.as_object().ok_or_else(|| GraphError::bad_request("The body is no event."))?;
    for (name, value) in given {
        if name.contains('@') || TIME_MEMBERS.contains(&name.as_str()) || name == "transactionId" {
            continue;
        }
        if !facts::has("calendar_values", "writable", name) {
            let message = format!("The property '{name}' cannot be set.");
            return Err(GraphError::new(400, "ErrorInvalidPropertySet", &message));
        }
        check_value(name, value)?;
        let stored = match name.as_str() {
            "body" => stored_body(value)?,
            "attendees" => stored_attendees(value, members.get("attendees"))?,
            "location" => stored_location(value),
            "locations" => value.as_array().into_iter().flatten().map(stored_location).collect(),
            // `onlineMeeting` follows from it, see `edit`.
            "isOnlineMeeting" | "onlineMeetingProvider" => continue,
            _ => value.clone(),
        };
        match name.as_str() {
            "location" => {
                let is_empty = stored["displayName"].as_str().is_none_or(str::is_empty);
                let all = if is_empty { json!([]) } else { json!([stored]) };
                members.insert("locations".to_owned(), all);
            }
            "locations" => {
                let first = stored.get(0).cloned().unwrap_or_else(no_location);
                members.insert("location".to_owned(), first);
            }
            _ => {}
        }
        members.insert(name.clone(), stored);
    }
    Ok(())
}

/// Checks a value of which the document knows the type alone.
fn check_value(name: &str, value: &Value) -> Result<(), GraphError> {
    let refused = |message: String| Err(GraphError::new(400, "ErrorPropertyValidationFailure", &message));
    if matches!(name, "importance" | "sensitivity" | "showAs" | "onlineMeetingProvider") {
        let text = value.as_str().unwrap_or_default();
        if !facts::has("calendar_values", name, text) {
            return refused(format!("'{text}' is no value of {name}."));
        }
    }
    if name == "reminderMinutesBeforeStart" && value.as_i64().is_none_or(|minutes| minutes < 0) {
        return refused("The property reminderMinutesBeforeStart is negative.".to_owned());
    }
    if name == "subject" && value.as_str().is_some_and(|text| text.chars().count() > 255) {
        return refused("The subject has more than 255 characters.".to_owned());
    }
    Ok(())
}

/// The HTML of a body. It is stored without its type: what is answered depends on what is asked for.
fn stored_body(value: &Value) -> Result<Value, GraphError> {
    let Some(content) = value["content"].as_str() else {
        let message = "The property 'body' cannot be null.";
        return Err(GraphError::new(400, "ErrorInvalidRequest", message));
    };
    let is_text = value["contentType"].as_str().is_none_or(|kind| kind.eq_ignore_ascii_case("text"));
    Ok(body_text::stored_html(content, is_text).into())
}

/// The attendees of a request; those that were there before keep their answers.
fn stored_attendees(value: &Value, before: Option<&Value>) -> Result<Value, GraphError> {
    let given = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if given.len() > facts::number("calendar_limits", "attendees") {
        return Err(GraphError::new(400, "ErrorInvalidRecipients", "The event has too many attendees."));
    }
    let before = before.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut all = Vec::new();
    for one in given {
        let address = one["emailAddress"]["address"].as_str().unwrap_or_default();
        if !address.contains('@') {
            let message = "At least one recipient isn't valid.";
            return Err(GraphError::new(400, "ErrorInvalidRecipients", message));
        }
        let kind = one["type"].as_str().unwrap_or("required");
        if !facts::has("calendar_values", "attendee_type", kind) {
            let message = format!("'{kind}' is no value of attendees.type.");
            return Err(GraphError::new(400, "ErrorPropertyValidationFailure", &message));
        }
        let known = before.iter().find(|other| is_same(other, address));
        let status = known.map(|known| known["status"].clone());
        all.push(json!({
            "type": kind,
            "status": status.unwrap_or_else(|| json!({ "response": "none", "time": NO_TIME })),
            "emailAddress": {
                "name": one["emailAddress"]["name"].as_str().unwrap_or(address),
                "address": address,
            },
        }));
    }
    Ok(all.into())
}

/// A parameter of an action; its name has no case.
pub fn action_parameter<'v>(body: &'v Value, name: &str) -> &'v Value {
    let mut members = body.as_object().into_iter().flatten();
    members.find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or(&Value::Null, |(_, value)| value)
}

/// Whether an attendee has this address.
pub fn is_same(attendee: &Value, address: &str) -> bool {
    attendee["emailAddress"]["address"].as_str().is_some_and(|one| one.eq_ignore_ascii_case(address))
}

fn stored_location(value: &Value) -> Value {
    let mut location = no_location();
    for (name, member) in value.as_object().into_iter().flatten().filter(|(_, member)| !member.is_null()) {
        location[name.as_str()] = member.clone();
    }
    if let Some(text) = value["displayName"].as_str().filter(|text| !text.is_empty()) {
        location["uniqueId"] = text.into();
        location["uniqueIdType"] = "private".into();
    }
    location
}

/// Checks that the members of a request are those that an attendee may change.
///
/// # Errors
/// One of them belongs to the organizer.
pub fn check_attendee(body: &Value) -> Result<(), GraphError> {
    let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name);
    match names.find(|name| !name.contains('@') && !ATTENDEE_MEMBERS.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let message = format!("You are not the organizer of this meeting: '{name}' cannot be changed.");
            Err(GraphError::new(400, "ErrorCalendarIsNotOrganizer", &message))
        }
    }
}

/// Whether a change is one that attendees get a message on.
pub fn is_for_attendees(body: &Value) -> bool {
    let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name);
    names.any(|name| !name.contains('@') && !ATTENDEE_MEMBERS.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{apply, check_attendee, defaults};
    use crate::graph::calendar::book::CalendarBook;

    fn book() -> CalendarBook {
        CalendarBook::new("a@work.test", "A", "UTC", false)
    }

    #[test]
    fn attendees_of_a_change_replace_those_before_and_keep_their_answers() {
        let mut members = defaults(&book());
        members.insert(
            "attendees".to_owned(),
            json!([{ "type": "required", "status": { "response": "accepted", "time": "2026-01-01T00:00:00Z" },
                "emailAddress": { "name": "B", "address": "b@x.test" } }]),
        );
        let body = json!({ "attendees": [
            { "emailAddress": { "address": "B@x.test" } }, { "type": "optional", "emailAddress": { "address": "c@x.test" } },
        ] });
        apply(&mut members, &body).expect("a change");
        assert_eq!(members["attendees"][0]["status"]["response"], "accepted");
        assert_eq!(members["attendees"][1]["status"]["response"], "none");
        apply(&mut members, &json!({ "attendees": [] })).expect("a change");
        assert_eq!(members["attendees"], json!([]));
    }

    #[test]
    fn body_cannot_be_null_and_unknown_values_are_refused() {
        let mut members = defaults(&book());
        for body in [
            json!({ "body": null }),
            json!({ "showAs": "away" }),
            json!({ "iCalUId": "x" }),
            json!({ "attendees": [{ "emailAddress": { "address": "nobody" } }] }),
            json!({ "reminderMinutesBeforeStart": -5 }),
        ] {
            assert_eq!(apply(&mut members, &body).expect_err("refused").status, 400, "{body}");
        }
    }

    #[test]
    fn location_and_locations_follow_each_other() {
        let mut members = defaults(&book());
        apply(&mut members, &json!({ "location": { "displayName": "Room 1" } })).expect("a change");
        assert_eq!(members["locations"][0]["displayName"], "Room 1");
        apply(&mut members, &json!({ "locations": [] })).expect("a change");
        assert_eq!(members["location"]["displayName"], "");
    }

    #[test]
    fn attendee_changes_reminders_alone() {
        assert!(check_attendee(&json!({ "isReminderOn": false, "showAs": "free" })).is_ok());
        let error = check_attendee(&json!({ "subject": "Mine" })).expect_err("refused");
        assert_eq!(error.code, "ErrorCalendarIsNotOrganizer");
    }
}
