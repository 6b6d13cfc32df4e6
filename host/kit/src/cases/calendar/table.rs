//! The cases of the calendar surface.

use crate::cases::calendar::events::EVENTS;
use crate::cases::calendar::{busy, exceptions, instances, people, series, times};
use crate::cases::case::{Case, case};
use crate::cases::items::{
    changes, discovery, faults, meanwhile, paging, paths, reading, secrets, sent_fields, walks, writing,
};

/// In the order in which they run.
pub const CALENDAR_CASES: [Case; 46] = [
    case!(
        "calendar.D3",
        "calendar",
        "every calendar is reported once, the same each time",
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
    case!("calendar.P2", "calendar", "a page of events can be requested again", paging::again, EVENTS),
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
    case!("calendar.R1", "calendar", "an event read by its id is the one in the list", reading::get, EVENTS),
    case!("calendar.R2", "calendar", "an unknown id of an event is not found", reading::missing, EVENTS),
    case!("calendar.R3", "calendar", "a deleted event is gone", reading::deleted, EVENTS),
    case!(
        "calendar.C1",
        "calendar",
        "a new event is reported once from the cursor before it",
        changes::created,
        EVENTS
    ),
    case!(
        "calendar.C2",
        "calendar",
        "a changed event is reported once, as it is now",
        changes::updated,
        EVENTS
    ),
    case!(
        "calendar.C3",
        "calendar",
        "a deleted event is reported once, as deleted",
        changes::deleted,
        EVENTS
    ),
    case!(
        "calendar.C4",
        "calendar",
        "several changes of an event end in the last state",
        changes::last_state,
        EVENTS
    ),
    case!(
        "calendar.C6",
        "calendar",
        "where no event has changed, nothing is reported",
        changes::quiet,
        EVENTS
    ),
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
        "a change of an older version of an event is rejected",
        writing::stale_etag,
        EVENTS
    ),
    case!("calendar.W6", "calendar", "an event can be deleted twice", writing::deleted_twice, EVENTS),
    case!(
        "calendar.P6",
        "calendar",
        "an event deleted between two pages hides no other one",
        walks::deleted_meanwhile,
        EVENTS
    ),
    case!(
        "calendar.P7",
        "calendar",
        "a cursor of calendars that is not of this version starts over",
        walks::foreign_list_cursor,
        EVENTS
    ),
    case!(
        "calendar.C7",
        "calendar",
        "all pages of changes of events are of one kind",
        walks::several_pages,
        EVENTS
    ),
    case!(
        "calendar.C8",
        "calendar",
        "changes of a calendar that does not exist are not found",
        walks::unknown_collection,
        EVENTS
    ),
    case!(
        "calendar.C9",
        "calendar",
        "a change of an event is not reported again from the next cursor",
        walks::not_again,
        EVENTS
    ),
    case!(
        "calendar.W5",
        "calendar",
        "a change is rejected if the event changed after the connector read it",
        meanwhile::changed_meanwhile,
        EVENTS
    ),
    case!(
        "calendar.W9",
        "calendar",
        "a change of an event sends the fields that changed, and no others",
        sent_fields::unchanged_fields,
        EVENTS
    ),
    case!(
        "calendar.F2",
        "calendar",
        "a rejected credential is reported, whatever was called of events",
        faults::refused,
        EVENTS
    ),
    case!(
        "calendar.F3",
        "calendar",
        "a rate limit on events is passed on with its wait",
        faults::rate_limited,
        EVENTS
    ),
    case!(
        "calendar.F4",
        "calendar",
        "an overloaded provider of events gets the time it asks for",
        faults::overloaded,
        EVENTS
    ),
    case!(
        "calendar.F5",
        "calendar",
        "a provider's error on events is reported as unavailable",
        faults::broken,
        EVENTS
    ),
    case!(
        "calendar.F6",
        "calendar",
        "an answer about events that does not come is a timeout",
        faults::slow,
        EVENTS
    ),
    case!("calendar.F7", "calendar", "half an answer about events is no answer", faults::cut, EVENTS),
    case!(
        "calendar.F8",
        "calendar",
        "an answer about events that is not the expected JSON is no answer",
        faults::malformed,
        EVENTS
    ),
    case!(
        "calendar.F12",
        "calendar",
        "a redirect of events to another host is not followed",
        faults::redirected,
        EVENTS
    ),
    case!(
        "calendar.F13",
        "calendar",
        "a provider of events that cannot be reached is tried again",
        faults::unreachable,
        EVENTS
    ),
    case!("calendar.S5", "calendar", "no secret leaves the connector with events", secrets::secrets, EVENTS),
    case!("calendar.S6", "calendar", "the log holds nothing of events", secrets::quiet_log, EVENTS),
    case!("calendar.S8", "calendar", "ids of events cannot lead to other URLs", paths::escaped_ids, EVENTS),
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
    case!(
        "K10",
        "calendar",
        "a changed instance that is a source of its own names its series",
        exceptions::own_sources
    ),
];
