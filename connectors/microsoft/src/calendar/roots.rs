//! Addresses of calendars and events, and the members that are read of them.

use connector_sdk::Outcome;
use connector_sdk::http::Request;

use crate::odata::root::me;

/// The members of an event that are read. `cancelledOccurrences` comes only when it is selected, and `exceptionOccurrences` when it is
/// selected and expanded, both only of one series by its id (Microsoft Graph reference, resource type `event`).
pub const EVENT_MEMBERS: &str = "id,changeKey,type,seriesMasterId,iCalUId,subject,body,start,end,originalStart,\
    originalStartTimeZone,originalEndTimeZone,isAllDay,isCancelled,isDraft,isOrganizer,showAs,sensitivity,importance,categories,location,\
    locations,attendees,hideAttendees,organizer,responseStatus,responseRequested,allowNewTimeProposals,recurrence,isOnlineMeeting,\
    onlineMeeting,onlineMeetingProvider,onlineMeetingUrl,isReminderOn,reminderMinutesBeforeStart,hasAttachments,webLink,createdDateTime,\
    lastModifiedDateTime,exceptionOccurrences,cancelledOccurrences";
/// The changed instances of a series.
const EXCEPTIONS: &str = "exceptionOccurrences";
/// The members of an event that name it and its version.
pub const EVENT_NAMES: &str = "id,changeKey,type";
/// The members of an instance by which it is found.
pub const INSTANCE_NAMES: &str = "id,changeKey,type,seriesMasterId,start,originalStart";
/// The members of an event by which the one of an earlier attempt is known.
pub const CREATED_NAMES: &str = "id,changeKey,type,seriesMasterId,transactionId";
/// The members of an event that say whether a change sends mail.
pub const PEOPLE_MEMBERS: &str = "id,changeKey,type,isOrganizer,attendees";

/// Returns the address of the account's calendars, or of something below them.
pub fn calendars(below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    me(&[&["calendars"], below].concat(), query)
}

/// Returns the address of a calendar's events, or of something below them.
pub fn events(calendar: &str, below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    calendars(&[&[calendar, "events"], below].concat(), query)
}

/// Returns the request for an event with all that is read of it: of a series its changed and cancelled instances too.
pub fn event_request(calendar: &str, id: &str) -> Outcome<Request> {
    let query = [("$select", EVENT_MEMBERS), ("$expand", EXCEPTIONS)];
    Ok(Request::get(events(calendar, &[id], &query)?))
}
