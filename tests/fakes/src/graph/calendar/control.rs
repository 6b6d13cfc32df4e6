//! `/__control/calendar/…`: the other side of calendars for programs that drive the fake over HTTP.

use serde_json::{Value, json};

use crate::graph::calendar::book::GraphCalendarKind;
use crate::graph::state::GraphState;

/// Carries out a control request; `path` is what is behind `calendar`.
///
/// # Errors
/// There is no such route, or a member of the body is missing.
pub fn control(state: &mut GraphState, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("the member {name} is missing"));
    let user = text("user")?;
    if !state.calendars.contains_key(user) {
        return Err(format!("no account {user}"));
    }
    match (method, path) {
        ("POST", ["calendars"]) => {
            let name = text("name")?;
            let id = match body["kind"].as_str() {
                Some("holidays") => state.add_read_only_calendar(user, name, GraphCalendarKind::Holidays),
                Some("birthdays") => state.add_read_only_calendar(user, name, GraphCalendarKind::Birthdays),
                Some("foreign") => state.add_foreign_calendar(user, text("owner")?, name),
                _ => state.add_calendar(user, name),
            };
            Ok(json!({ "id": id }))
        }
        ("POST", ["events"]) => {
            let calendar = body["calendar"].as_str().unwrap_or_default();
            Ok(json!({ "id": state.put_event(user, calendar, body["event"].clone()) }))
        }
        ("POST", ["events", "edit"]) => {
            state.edit_event(user, text("id")?, body["change"].clone());
            Ok(json!({}))
        }
        ("POST", ["events", "delete"]) => {
            state.delete_event(user, text("id")?);
            Ok(json!({}))
        }
        ("POST", ["events", "answer"]) => {
            state.answer_invitation(user, text("id")?, text("attendee")?, text("response")?);
            Ok(json!({}))
        }
        ("POST", ["invitations"]) => {
            Ok(json!({ "id": state.invite(user, text("organizer")?, body["event"].clone()) }))
        }
        ("POST", ["mails"]) => {
            let mails = state.meeting_mails(user).into_iter().map(
                |mail| json!({ "kind": format!("{:?}", mail.kind), "to": mail.to, "subject": mail.subject }),
            );
            Ok(json!({ "mails": mails.collect::<Vec<_>>() }))
        }
        _ => Err(format!("no route {method} {}", path.join("/"))),
    }
}
