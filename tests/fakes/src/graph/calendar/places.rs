//! Finds a call's mailbox, calendar and event by the ids of its path, and tells subscriptions of changes.

use crate::graph::calendar::book::{CalendarBook, EventKey, GraphCalendarKind};
use crate::graph::calendar::instances;
use crate::graph::call::GraphCall;
use crate::graph::errors::GraphError;
use crate::graph::ids;
use crate::graph::state::{GraphState, ItemChange};

/// The calendars of a call's account.
///
/// # Errors
/// The account has no mailbox: 404.
pub fn book<'s>(state: &'s GraphState, call: &GraphCall) -> Result<&'s CalendarBook, GraphError> {
    state.calendars.get(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The same, to be changed.
///
/// # Errors
/// The account has no mailbox: 404.
pub fn book_mut<'s>(state: &'s mut GraphState, call: &GraphCall) -> Result<&'s mut CalendarBook, GraphError> {
    state.calendars.get_mut(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The id of a calendar as the list has it; the short folder id of links finds it too.
///
/// # Errors
/// There is none: 400 or 404.
pub fn find_calendar(state: &GraphState, call: &GraphCall, id: &str) -> Result<String, GraphError> {
    let book = book(state, call)?;
    if book.calendars.contains_key(id) {
        return Ok(id.to_owned());
    }
    let by_folder = book.calendars.values().find(|calendar| calendar.folder_id == id);
    if let Some(calendar) = by_folder {
        return Ok(calendar.id.clone());
    }
    ids::parse_stable(id)?;
    Err(GraphError::not_found())
}

/// The event that an id names. Events of other people's calendars are not found.
///
/// # Errors
/// There is none: 400 or 404.
pub fn find_event(state: &GraphState, call: &GraphCall, id: &str) -> Result<EventKey, GraphError> {
    let book = book(state, call)?;
    let parsed = ids::parse_item(id)?;
    let key = EventKey::parse(&parsed.key).ok_or_else(GraphError::malformed_id)?;
    let shape = instances::find(book, key).ok_or_else(GraphError::not_found)?;
    let home = book.calendars.get(&shape.item.calendar);
    let is_foreign = home.is_none_or(|home| home.kind == GraphCalendarKind::Foreign);
    match is_foreign || !parsed.is_at(shape.item.place) {
        true => Err(GraphError::not_found()),
        false => Ok(key),
    }
}

/// The id of the calendar of an event.
///
/// # Errors
/// There is no such event: 404.
pub fn calendar_of(state: &GraphState, call: &GraphCall, key: EventKey) -> Result<String, GraphError> {
    let item = book(state, call)?.items.get(&key.number);
    item.map(|item| item.calendar.clone()).ok_or_else(GraphError::not_found)
}

/// Checks that events of a calendar may be changed.
///
/// # Errors
/// The calendar can be read alone, or is another person's: 403.
pub fn check_editable(book: &CalendarBook, calendar: &str) -> Result<(), GraphError> {
    match book.calendars.get(calendar).is_some_and(|calendar| calendar.can_edit()) {
        true => Ok(()),
        false => Err(GraphError::access_denied()),
    }
}

/// Tells subscriptions of a change of an event: `created`, `updated` or `deleted`.
pub fn note(state: &mut GraphState, user: &str, kind: &str, key: EventKey, home: &EventHome) {
    let mut collections = vec![format!("calendars/{}/events", home.calendar)];
    if home.is_default {
        collections.push("events".to_owned());
    }
    let text = EventKey::item(key.number).to_string();
    let change = ItemChange {
        kind,
        collections: &collections,
        data_type: "#Microsoft.Graph.Event",
        key: &text,
        place: home.place,
    };
    state.note_change(user, &change);
}

/// The place of an event: its calendar, and the number of its moves.
#[derive(Clone, Debug)]
pub struct EventHome {
    pub calendar: String,
    pub is_default: bool,
    pub place: u64,
}

impl EventHome {
    /// The place of an event that is there.
    pub fn find(book: &CalendarBook, number: u64) -> Option<EventHome> {
        let item = book.items.get(&number)?;
        let is_default = item.calendar == book.default_calendar();
        Some(EventHome { calendar: item.calendar.clone(), is_default, place: item.place })
    }
}
