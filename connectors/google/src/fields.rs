//! Field masks: the members that an answer shall have.

/// Names and versions of a page of events, without their content.
pub const EVENT_NAMES: &str = "nextPageToken,nextSyncToken,timeZone,items(id,etag,status,recurringEventId)";

/// The version of one event.
pub const EVENT_VERSION: &str = "id,etag,status";
