//! Calendars: the list of calendars and their groups, events, series, deltas, answers to invitations and schedules.

mod body_text;
mod book;
mod busy;
mod calendar_delta;
mod calendar_view;
mod calendars;
mod control;
mod edit;
mod event_body;
mod event_files;
mod event_filter;
mod events;
mod groups;
mod instances;
mod patterns;
mod places;
mod respond;
mod seed;
mod show;
mod span;
mod zones;

use crate::graph::call::GraphCall;
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::state::GraphState;

pub use book::{
    CalendarBook, CalendarGroup, EventItem, EventKey, EventRemoval, EventSeries, GraphCalendar,
    GraphCalendarKind, MeetingMail, MeetingMailKind, SeriesException,
};
pub use control::control;
pub use patterns::normalized as normalized_recurrence;
pub use seed::occurrence_id;
pub use span::EventSpan;
pub use zones::{find_zone, parse_bound, to_local, to_utc};

/// Carries out a call of the calendar surface.
///
/// # Errors
/// The path is unknown, or the call is refused.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    let segments = call.segments();
    match (call.method.as_str(), segments.as_slice()) {
        (_, ["calendarGroups", ..]) => groups::answer(state, call, segments.get(1..).unwrap_or_default()),
        ("GET", ["calendars"]) => calendars::list(state, call, None),
        ("POST", ["calendars"]) => calendars::create(state, call, None),
        (_, ["calendars", id, rest @ ..]) => {
            let calendar = places::find_calendar(state, call, id)?;
            in_calendar(state, call, &calendar, rest)
        }
        (_, ["calendar", rest @ ..]) => {
            let calendar = places::book(state, call)?.default_calendar();
            in_calendar(state, call, &calendar, rest)
        }
        (_, ["events" | "calendarView", ..]) => {
            let calendar = places::book(state, call)?.default_calendar();
            in_calendar(state, call, &calendar, &segments)
        }
        (_, [first, ..]) => Err(GraphError::no_route(first)),
        (_, []) => Err(GraphError::no_route("calendar")),
    }
}

/// A call below a calendar.
fn in_calendar(state: &mut GraphState, call: &GraphCall, calendar: &str, rest: &[&str]) -> GraphResult {
    match (call.method.as_str(), rest) {
        ("GET", []) => calendars::get(state, call, calendar),
        ("PATCH", []) => calendars::patch(state, call, calendar),
        ("DELETE", []) => calendars::delete(state, call, calendar),
        ("GET", ["events"]) => events::list(state, call, calendar),
        ("POST", ["events"]) => events::create(state, call, calendar),
        ("GET", ["events", "delta"]) => calendar_delta::events(state, call, calendar),
        (_, ["events", id, rest @ ..]) => with_event(state, call, id, rest),
        ("GET", ["calendarView"]) => calendar_view::list(state, call, calendar),
        ("GET", ["calendarView", "delta"]) => calendar_delta::view(state, call, calendar),
        ("POST", ["getSchedule"]) => busy::get_schedule(state, call),
        (_, rest) => Err(GraphError::no_route(rest.first().copied().unwrap_or("calendar"))),
    }
}

/// A call of an event, or of an occurrence by its own id.
fn with_event(state: &mut GraphState, call: &GraphCall, id: &str, rest: &[&str]) -> GraphResult {
    let key = places::find_event(state, call, id)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => events::get(state, call, key),
        ("PATCH", []) => events::patch(state, call, key),
        ("DELETE", []) | ("POST", ["permanentDelete"]) => events::delete(state, call, key),
        (_, ["attachments", rest @ ..]) => event_files::answer(state, call, key, rest),
        ("GET", ["instances"]) => calendar_view::list_instances(state, call, key),
        ("GET", ["calendar"]) => {
            let calendar = places::calendar_of(state, call, key)?;
            calendars::get(state, call, &calendar)
        }
        ("POST", ["cancel"]) => respond::cancel(state, call, key),
        ("POST", [verb @ ("accept" | "decline" | "tentativelyAccept")]) => {
            respond::respond(state, call, key, verb)
        }
        (_, rest) => Err(GraphError::no_route(rest.first().copied().unwrap_or("events"))),
    }
}

#[cfg(test)]
mod tests;
