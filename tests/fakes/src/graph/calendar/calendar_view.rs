//! `calendarView` and `instances`: a range of time with each occurrence as an event of its own.

use chrono::{Duration, NaiveDateTime};

use crate::graph::calendar::book::{CalendarBook, EventKey, GraphCalendarKind};
use crate::graph::calendar::events;
use crate::graph::calendar::instances::{self, EventShape};
use crate::graph::calendar::places;
use crate::graph::calendar::zones;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::state::GraphState;

/// A range of time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewRange {
    pub from: NaiveDateTime,
    pub to: NaiveDateTime,
}

impl ViewRange {
    /// The range of a query; the names of its parameters have no case. None where it has neither bound.
    ///
    /// # Errors
    /// A bound is missing or no time, or the range is empty or too long: 400.
    pub fn read(call: &GraphCall) -> Result<Option<ViewRange>, GraphError> {
        let bound = |name: &str| {
            let found = call.query.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            let parse = |text: &str| {
                let message = format!("The value '{text}' of parameter '{name}' is invalid.");
                zones::parse_bound(text)
                    .ok_or_else(|| GraphError::new(400, "ErrorInvalidParameter", &message))
            };
            found.map(|(_, text)| parse(text)).transpose()
        };
        match (bound("startDateTime")?, bound("endDateTime")?) {
            (None, None) => Ok(None),
            (Some(from), Some(to)) => checked(ViewRange { from, to }).map(Some),
            _ => Err(missing()),
        }
    }
}

fn missing() -> GraphError {
    let message = "This request requires a time window specified by the query string parameters StartDateTime and EndDateTime.";
    GraphError::new(400, "ErrorInvalidParameter", message)
}

fn checked(range: ViewRange) -> Result<ViewRange, GraphError> {
    let days = i64::try_from(facts::number("calendar_limits", "view_days")).unwrap_or(i64::MAX);
    if range.to < range.from {
        let message = "The end date is earlier than the start date.";
        return Err(GraphError::new(400, "ErrorCalendarEndDateIsEarlierThanStartDate", message));
    }
    match (range.to - range.from) > Duration::days(days) {
        true => {
            let message = "The requested time duration specified for calendar view is too long.";
            Err(GraphError::new(400, "ErrorCalendarViewRangeTooBig", message))
        }
        false => Ok(range),
    }
}

/// The range that a request has to name.
///
/// # Errors
/// It names none, or one that is refused: 400.
pub fn needed_range(call: &GraphCall) -> Result<ViewRange, GraphError> {
    ViewRange::read(call)?.ok_or_else(missing)
}

/// The events of a calendar in a range, by their start; none of another person's calendar.
pub fn shapes<'b>(book: &'b CalendarBook, calendar: &str, range: ViewRange) -> Vec<EventShape<'b>> {
    let home = book.calendars.get(calendar);
    let is_readable = home.is_some_and(|home| home.kind != GraphCalendarKind::Foreign);
    let items = book.items.values().filter(|item| item.calendar == calendar && is_readable);
    let mut shapes: Vec<EventShape<'b>> =
        items.flat_map(|item| instances::in_range(item, range.from, range.to)).collect();
    shapes.sort_by_key(|shape| shape.span.instants());
    shapes
}

/// `GET …/calendarView`
pub fn list(state: &mut GraphState, call: &GraphCall, calendar: &str) -> GraphResult {
    let range = needed_range(call)?;
    let book = places::book(state, call)?;
    let shapes = shapes(book, calendar, range);
    Ok(json_reply(200, &events::page(book, call, shapes)?))
}

/// `GET …/events/{id}/instances`
pub fn list_instances(state: &mut GraphState, call: &GraphCall, key: EventKey) -> GraphResult {
    let range = needed_range(call)?;
    let book = places::book(state, call)?;
    let item = book.items.get(&key.number).filter(|item| item.series.is_some() && key.date.is_none());
    let item = item.ok_or_else(|| {
        let message = "Your request can't be completed. You need to specify the series master.";
        GraphError::new(400, "ErrorInvalidRequest", message)
    })?;
    let shapes = instances::in_range(item, range.from, range.to);
    Ok(json_reply(200, &events::page(book, call, shapes)?))
}
