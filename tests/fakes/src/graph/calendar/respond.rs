//! Answers to invitations, and the cancellation by the organizer.

use serde_json::{Map, Value, json};

use crate::door::Reply;
use crate::graph::calendar::book::{CalendarBook, EventKey, MeetingMail, MeetingMailKind, SeriesException};
use crate::graph::calendar::event_body::{self, action_parameter};
use crate::graph::calendar::events;
use crate::graph::calendar::instances::{self, EventShape};
use crate::graph::calendar::places::{self, EventHome};
use crate::graph::calendar::zones;
use crate::graph::call::GraphCall;
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::state::GraphState;

fn refused(message: &str) -> GraphError {
    GraphError::new(400, "ErrorInvalidRequest", message)
}

/// `POST …/events/{id}/accept`, `decline` and `tentativelyAccept`: 202 without a body. A declined event is deleted.
pub fn respond(state: &mut GraphState, call: &GraphCall, key: EventKey, verb: &str) -> GraphResult {
    let now_ms = state.clock.now_ms();
    let book = places::book_mut(state, call)?;
    let shape = instances::find(book, key).ok_or_else(GraphError::not_found)?;
    places::check_editable(book, &shape.item.calendar)?;
    if book.is_organizer(shape.item) {
        return Err(refused(
            "Your request can't be completed. You can't respond to this meeting because you're the organizer.",
        ));
    }
    check(&call.body, &shape, verb)?;
    if *action_parameter(&call.body, "sendResponse") != false {
        let comment = action_parameter(&call.body, "comment").as_str().unwrap_or_default();
        let mail = response_mail(&shape, verb, comment);
        book.record_mail(mail);
    }
    if verb == "decline" {
        events::remove(state, call, key, "")?;
        return Ok(Reply::new(202));
    }
    let response = if verb == "accept" { "accepted" } else { "tentativelyAccepted" };
    let show_as = if verb == "accept" { "busy" } else { "tentative" };
    write_response(book, key, response, now_ms);
    write_member(book, key, "showAs", show_as.into());
    book.touch(key.number, now_ms);
    let home = EventHome::find(book, key.number).ok_or_else(GraphError::not_found)?;
    places::note(state, &call.user, "updated", key, &home);
    Ok(Reply::new(202))
}

fn check(body: &Value, shape: &EventShape<'_>, verb: &str) -> Result<(), GraphError> {
    let is_false = |name: &str| shape.members.get(name) == Some(&Value::Bool(false));
    let sends = *action_parameter(body, "sendResponse") != false;
    if sends && is_false("responseRequested") {
        return Err(refused("The meeting organizer hasn't requested a response."));
    }
    if action_parameter(body, "proposedNewTime").is_null() {
        return Ok(());
    }
    match verb == "accept" || !sends || is_false("allowNewTimeProposals") {
        true => {
            Err(refused("The meeting organizer doesn't allow new time proposals, or no response is sent."))
        }
        false => Ok(()),
    }
}

fn response_mail(shape: &EventShape<'_>, verb: &str, comment: &str) -> MeetingMail {
    let prefix = match verb {
        "accept" => "Accepted",
        "decline" => "Declined",
        _ => "Tentative",
    };
    let organizer = shape.members.get("organizer").unwrap_or(&Value::Null);
    let subject = shape.members.get("subject").and_then(Value::as_str).unwrap_or_default();
    MeetingMail {
        kind: MeetingMailKind::Response,
        to: organizer["emailAddress"]["address"].as_str().map(str::to_owned).into_iter().collect(),
        subject: format!("{prefix}: {subject}"),
        comment: comment.to_owned(),
        event: shape.item.number,
    }
}

/// Writes the owner's answer into the event and into its list of attendees.
fn write_response(book: &mut CalendarBook, key: EventKey, response: &str, now_ms: i64) {
    let status = json!({ "response": response, "time": zones::stamp(now_ms, 0) });
    let address = book.address.clone();
    write_attendee(book, key, &address, &status);
    write_member(book, key, "responseStatus", status);
}

/// Writes an attendee's answer into the list of attendees.
pub fn write_attendee(book: &mut CalendarBook, key: EventKey, address: &str, status: &Value) {
    let Some(shape) = instances::find(book, key) else { return };
    let mut attendees = shape.members.get("attendees").cloned().unwrap_or_else(|| json!([]));
    for one in attendees.as_array_mut().into_iter().flatten() {
        if event_body::is_same(one, address) {
            one["status"] = status.clone();
        }
    }
    write_member(book, key, "attendees", attendees);
}

/// Writes a member of an event, or of an occurrence, which becomes an exception.
pub fn write_member(book: &mut CalendarBook, key: EventKey, name: &str, value: Value) {
    let span = instances::find(book, key).map(|shape| shape.span.clone());
    let (Some(item), Some(span)) = (book.items.get_mut(&key.number), span) else { return };
    match (key.date, item.series.as_mut()) {
        (Some(date), Some(series)) => {
            let members = Map::new();
            let exception = series.exceptions.entry(date).or_insert(SeriesException { members, span });
            exception.members.insert(name.to_owned(), value);
        }
        _ => {
            item.members.insert(name.to_owned(), value);
        }
    }
}

/// `POST …/events/{id}/cancel`: the organizer's deletion, with a comment.
pub fn cancel(state: &mut GraphState, call: &GraphCall, key: EventKey) -> GraphResult {
    let book = places::book(state, call)?;
    let item = book.items.get(&key.number).ok_or_else(GraphError::not_found)?;
    if !book.is_organizer(item) {
        return Err(refused(
            "Your request can't be completed. You need to be an organizer to cancel a meeting.",
        ));
    }
    let comment = action_parameter(&call.body, "comment").as_str().unwrap_or_default();
    events::remove(state, call, key, comment)?;
    Ok(Reply::new(202))
}
