//! Events: list, read, create, patch and delete.

use serde_json::Value;

use crate::door::Reply;
use crate::graph::calendar::book::{CalendarBook, EventKey, GraphCalendarKind, MeetingMail, MeetingMailKind};
use crate::graph::calendar::edit;
use crate::graph::calendar::event_body;
use crate::graph::calendar::event_filter::{self, EventFilter};
use crate::graph::calendar::instances::{self, EventShape};
use crate::graph::calendar::places::{self, EventHome};
use crate::graph::calendar::show::EventReader;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::state::GraphState;

/// `GET …/events`: series and events that stand alone. Those of other people are not among them, and there is no error.
pub fn list(state: &mut GraphState, call: &GraphCall, calendar: &str) -> GraphResult {
    let book = places::book(state, call)?;
    let home = book.calendars.get(calendar).ok_or_else(GraphError::not_found)?;
    let is_foreign = home.kind == GraphCalendarKind::Foreign;
    let items = book.items.values().filter(|item| item.calendar == calendar && !is_foreign);
    let shapes = items.map(instances::whole).collect();
    Ok(json_reply(200, &page(book, call, shapes)?))
}

/// A page of events by the parameters of a list.
///
/// # Errors
/// A parameter is refused: 400.
pub fn page(book: &CalendarBook, call: &GraphCall, shapes: Vec<EventShape<'_>>) -> Result<Value, GraphError> {
    let reader = EventReader::new(book, call)?;
    let filter = EventFilter::parse(call.parameter("$filter"))?;
    let expands = call.parameter("$expand").is_some_and(|text| text.contains("exceptionOccurrences"));
    let mut events: Vec<Value> =
        shapes.iter().map(|shape| reader.show(shape)).filter(|event| filter.fits(event)).collect();
    event_filter::sort(&mut events, call.parameter("$orderby"))?;
    let sizes = PageSizes {
        usual: facts::number("calendar_pages", "events_usual"),
        most: facts::number("calendar_pages", "most"),
    };
    let mut page = call.page("events", events, sizes)?;
    if expands {
        for event in page["value"].as_array_mut().into_iter().flatten() {
            let id = event["id"].as_str().unwrap_or_default().to_owned();
            if let Some(shape) = shapes.iter().find(|shape| reader.id(shape.key()) == id) {
                event["exceptionOccurrences"] = reader.exceptions(shape).into();
            }
        }
    }
    Ok(page)
}

/// `GET …/events/{id}`
pub fn get(state: &mut GraphState, call: &GraphCall, key: EventKey) -> GraphResult {
    entity(state, call, key, 200)
}

/// The answer with one event. A link to join its meeting that is still missing comes closer with each read.
fn entity(state: &mut GraphState, call: &GraphCall, key: EventKey, status: u16) -> GraphResult {
    let book = places::book(state, call)?;
    let shape = instances::find(book, key).ok_or_else(GraphError::not_found)?;
    let mut body = EventReader::new(book, call)?.answer(&shape);
    body["@odata.context"] = call.context("events/$entity").into();
    if let Some(item) = places::book_mut(state, call)?.items.get_mut(&key.number) {
        item.pending_join_reads = item.pending_join_reads.saturating_sub(1);
    }
    Ok(json_reply(status, &body))
}

/// `POST …/events`
pub fn create(state: &mut GraphState, call: &GraphCall, calendar: &str) -> GraphResult {
    let now_ms = state.clock.now_ms();
    let book = places::book_mut(state, call)?;
    places::check_editable(book, calendar)?;
    if let Some(id) = call.body["transactionId"].as_str() {
        let known = book.items.values().find(|item| item.transaction_id.as_deref() == Some(id));
        if let Some(number) = known.map(|item| item.number) {
            return entity(state, call, EventKey::item(number), 201);
        }
    }
    // The preferences are checked before anything is stored.
    EventReader::new(book, call)?;
    let number = edit::create(book, calendar, &call.body, now_ms)?;
    send(book, number, MeetingMailKind::Invitation, "");
    let key = EventKey::item(number);
    if state.traps.fires("join_url_late")
        && let Some(item) = places::book_mut(state, call)?.items.get_mut(&number)
    {
        item.pending_join_reads += 1;
    }
    note(state, call, key, "created");
    entity(state, call, key, 201)
}

/// `PATCH …/events/{id}`
pub fn patch(state: &mut GraphState, call: &GraphCall, key: EventKey) -> GraphResult {
    let now_ms = state.clock.now_ms();
    check_version(state, call, key)?;
    let book = places::book_mut(state, call)?;
    EventReader::new(book, call)?;
    let shape = instances::find(book, key).ok_or_else(GraphError::not_found)?;
    places::check_editable(book, &shape.item.calendar)?;
    let is_organizer = book.is_organizer(shape.item);
    if !is_organizer {
        event_body::check_attendee(&call.body)?;
    }
    let before = shape.item.attendees_but(&book.address);
    let subject = shape.item.text("subject").to_owned();
    edit::patch(book, key, &call.body, now_ms)?;
    if is_organizer && event_body::is_for_attendees(&call.body) {
        send_update(book, key, before, subject);
    }
    note(state, call, key, "updated");
    entity(state, call, key, 200)
}

/// Sends the messages on a change: a cancellation to attendees who are none any more, an invitation or update to the others.
fn send_update(book: &mut CalendarBook, key: EventKey, before: Vec<String>, subject: String) {
    let Some(shape) = instances::find(book, key) else { return };
    let attendees = shape.members.get("attendees").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_there = |address: &str| attendees.iter().any(|one| event_body::is_same(one, address));
    let gone = before.iter().filter(|address| !is_there(address)).cloned().collect();
    let to: Vec<String> = attendees
        .iter()
        .filter_map(|one| one["emailAddress"]["address"].as_str())
        .filter(|address| !address.eq_ignore_ascii_case(&book.address))
        .map(str::to_owned)
        .collect();
    let (new, old): (Vec<String>, Vec<String>) =
        to.into_iter().partition(|address| !before.iter().any(|one| one.eq_ignore_ascii_case(address)));
    let groups = [
        (MeetingMailKind::Cancellation, gone),
        (MeetingMailKind::Invitation, new),
        (MeetingMailKind::Update, old),
    ];
    for (kind, to) in groups {
        let (subject, comment, event) = (subject.clone(), String::new(), key.number);
        book.record_mail(MeetingMail { kind, to, subject, comment, event });
    }
}

/// Checks If-Match. A version may move without a change that anybody made.
fn check_version(state: &mut GraphState, call: &GraphCall, key: EventKey) -> Result<(), GraphError> {
    let now_ms = state.clock.now_ms();
    let is_conditional = call.header("if-match").is_some();
    if is_conditional && state.traps.fires("event_etag_moves") {
        places::book_mut(state, call)?.touch(key.number, now_ms);
    }
    if is_conditional && state.traps.fires("irresolvable_conflict") {
        return Err(GraphError::conflict());
    }
    let item = places::book(state, call)?.items.get(&key.number).ok_or_else(GraphError::not_found)?;
    call.check_if_match(&item.etag())
}

/// `DELETE …/events/{id}`: the organizer's deletion cancels the meeting.
pub fn delete(state: &mut GraphState, call: &GraphCall, key: EventKey) -> GraphResult {
    check_version(state, call, key)?;
    remove(state, call, key, "")?;
    Ok(Reply::new(204))
}

/// Removes an event or an occurrence, with the cancellation that an organizer sends.
///
/// # Errors
/// The calendar can be read alone: 403.
pub fn remove(
    state: &mut GraphState,
    call: &GraphCall,
    key: EventKey,
    comment: &str,
) -> Result<(), GraphError> {
    let now_ms = state.clock.now_ms();
    let book = places::book_mut(state, call)?;
    let item = book.items.get(&key.number).ok_or_else(GraphError::not_found)?;
    let calendar = item.calendar.clone();
    places::check_editable(book, &calendar)?;
    if book.is_organizer(item) {
        send(book, key.number, MeetingMailKind::Cancellation, comment);
    }
    let home = EventHome::find(book, key.number).ok_or_else(GraphError::not_found)?;
    let kind = match key.date {
        Some(date) => {
            book.remove_occurrence(key.number, date, now_ms);
            "updated"
        }
        None => {
            book.remove_item(key.number);
            "deleted"
        }
    };
    places::note(state, &call.user, kind, key, &home);
    Ok(())
}

/// Records a message to all attendees.
fn send(book: &mut CalendarBook, number: u64, kind: MeetingMailKind, comment: &str) {
    let Some(item) = book.items.get(&number) else { return };
    let to = item.attendees_but(&book.address);
    let (subject, comment) = (item.text("subject").to_owned(), comment.to_owned());
    book.record_mail(MeetingMail { kind, to, subject, comment, event: number });
}

fn note(state: &mut GraphState, call: &GraphCall, key: EventKey, kind: &str) {
    let home = state.calendars.get(&call.user).and_then(|book| EventHome::find(book, key.number));
    if let Some(home) = home {
        places::note(state, &call.user, kind, key, &home);
    }
}
