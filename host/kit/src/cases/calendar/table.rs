//! The cases of the calendar surface.

use crate::cases::calendar::events::EVENTS;
use crate::cases::calendar::{busy, instances, people, series, times};
use crate::cases::case::{Case, case};
use crate::cases::items::{changes, discovery, paging, reading, writing};

/// In the order in which they run.
pub const CALENDAR_CASES: [Case; 26] = [
    case!(
        "calendar.D3",
        "calendar",
        "every calendar is told once, the same each time",
        discovery::collections,
        EVENTS
    ),
    case!(
        "calendar.P1",
        "calendar",
        "the pages together are every event, and nothing twice",
        paging::pages,
        EVENTS
    ),
    case!("calendar.P2", "calendar", "a page of events can be asked for again", paging::again, EVENTS),
    case!("calendar.P3", "calendar", "any limit works for events", paging::any_limit, EVENTS),
    case!(
        "calendar.P4",
        "calendar",
        "changes of events begin at the last page's cursor",
        paging::end,
        EVENTS
    ),
    case!(
        "calendar.P5",
        "calendar",
        "a cursor of events that is not of this version starts over",
        paging::foreign_cursor,
        EVENTS
    ),
    case!("calendar.R1", "calendar", "an event read by its id is what the list said", reading::get, EVENTS),
    case!(
        "calendar.R2",
        "calendar",
        "an event's id that is not there is not found",
        reading::missing,
        EVENTS
    ),
    case!("calendar.R3", "calendar", "a deleted event is gone", reading::deleted, EVENTS),
    case!(
        "calendar.C1",
        "calendar",
        "a new event is told once from the cursor before it",
        changes::created,
        EVENTS
    ),
    case!("calendar.C2", "calendar", "a changed event is told once, as it is now", changes::updated, EVENTS),
    case!("calendar.C3", "calendar", "a deleted event is told as gone", changes::deleted, EVENTS),
    case!(
        "calendar.C4",
        "calendar",
        "several changes of an event end in the last state",
        changes::last_state,
        EVENTS
    ),
    case!("calendar.C6", "calendar", "where no event has changed, nothing is told", changes::quiet, EVENTS),
    case!("calendar.W1", "calendar", "the same creation twice makes one event", writing::idempotent, EVENTS),
    case!(
        "calendar.W2",
        "calendar",
        "a creation whose answer is lost makes one event",
        writing::lost_answer,
        EVENTS
    ),
    case!(
        "calendar.W3",
        "calendar",
        "a change of an event keeps what it does not name",
        writing::keeps_the_rest,
        EVENTS
    ),
    case!(
        "calendar.W4",
        "calendar",
        "a change of an older version of an event is refused",
        writing::stale_etag,
        EVENTS
    ),
    case!("calendar.W6", "calendar", "an event can be deleted twice", writing::deleted_twice, EVENTS),
    case!("K1", "calendar", "all-day, zoned and UTC events come back as they went", times::round_trip),
    case!(
        "K2",
        "calendar",
        "a series comes back with its rule, its excluded and its changed instances",
        series::rules
    ),
    case!(
        "K3",
        "calendar",
        "one instance, all from one on, and the whole series can be changed",
        instances::scopes
    ),
    case!("K4", "calendar", "with notify none no request makes the provider send mail", people::quiet),
    case!("K6", "calendar", "busy times are those of the window", busy::window),
    case!(
        "K7",
        "calendar",
        "an event over a change of clocks keeps its local time",
        times::over_clock_change
    ),
    case!("K9", "calendar", "a series of 400 instances stays within the budgets", series::budgets),
];
