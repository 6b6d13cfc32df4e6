//! The API's own part of calendars and events, around the provider's: our own fields, RSVP and conference bodies, and the free/busy and
//! availability queries with their answers.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::calendar::{Calendar, ConferenceProvider, Event, ShowAs};
use crate::resource::{Body, Nothing};
use crate::sync::Watch;
use crate::wire::Warning;
use crate::wire::calendar::{Notify, RecurrenceScope};

pub use crate::availability::{AllMembers, AvailabilityFormat, OpenHours, Period, RequiredMembers};

/// Our own fields of a calendar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CalendarExtra {
    /// How the provider notifies of changes in the calendar; null where it does not, and before sync was started. A change of this
    /// field changes no etag, and is in no change feed.
    pub watch: Option<Watch>,
}

impl Body for Calendar {
    const NAME: &'static str = "Calendar";
    const REQUIRED: &'static [&'static str] = &["connectionId", "name"];
    const READ_ONLY: &'static [&'static str] =
        &["isPrimary", "isOwned", "readOnly", "accessRole", "conferenceTypes", "watch"];
    type Extra = CalendarExtra;
    type Options = Nothing;
}

/// Our own fields of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventExtra {
    /// The id of the calendar.
    pub calendar_id: String,
    /// The series of an occurrence or exception.
    pub series_id: Option<String>,
}

/// Options for a change of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventOptions {
    /// The attendees that the provider notifies; `all` if absent.
    pub notify: Notify,
    /// The instances to change. If absent, `this` with the id of an instance, `all` with that of a series.
    pub recurrence_scope: Option<RecurrenceScope>,
}

// Start and end are not in REQUIRED: an all-day event may have `startDate` and `endDate` instead.
impl Body for Event {
    const NAME: &'static str = "CalendarEvent";
    const READ_ONLY: &'static [&'static str] = &[
        "busy",
        "calendarId",
        "creator",
        "duration",
        "htmlLink",
        "myResponse",
        "originalStart",
        "readOnly",
        "recurrenceId",
        "sequence",
        "seriesId",
        "timeZoneRules",
        "type",
    ];
    type Extra = EventExtra;
    type Options = EventOptions;
}

/// Body of accept, tentative and decline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Rsvp {
    /// A note to the organizer.
    pub comment: Option<String>,
    /// Whether the organizer is notified; true if absent.
    pub notify_organizer: bool,
    /// The instances to answer for. If absent, `this` with the id of an instance, `all` with that of a series.
    pub recurrence_scope: Option<RecurrenceScope>,
}

impl Default for Rsvp {
    fn default() -> Self {
        Rsvp { comment: None, notify_organizer: true, recurrence_scope: None }
    }
}

/// Body of a request for a conference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewConference {
    /// The calendar's first where it is absent.
    pub provider: Option<ConferenceProvider>,
}

/// The calendars of a connection, or the address of a person seen through a connection, whose busy times are requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyTarget {
    /// The connection whose calendars are requested.
    pub connection_id: Option<String>,
    /// All calendars that count as busy where it is absent.
    pub calendar_ids: Option<Vec<String>>,
    /// The address of another person, instead of `connectionId`.
    pub email: Option<String>,
    /// The connection that asks for `email`.
    pub via_connection_id: Option<String>,
}

/// A query for busy times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start", "end", "targets"])))]
pub struct FreeBusyQuery {
    /// The start, inclusive.
    pub start: Instant,
    /// At most 92 days after `start`.
    pub end: Instant,
    /// IANA name: the zone of all-day events without one.
    pub time_zone: Option<String>,
    /// 1 to 50.
    pub targets: Vec<FreeBusyTarget>,
    /// Whether tentative events count as busy; true if absent.
    pub tentative_as_busy: bool,
    /// Adds the events; needs the scope `calendar.read`.
    pub include_details: bool,
}

impl Default for FreeBusyQuery {
    fn default() -> Self {
        FreeBusyQuery {
            start: Instant::default(),
            end: Instant::default(),
            time_zone: None,
            targets: Vec::new(),
            tentative_as_busy: true,
            include_details: false,
        }
    }
}

/// One answer per target; one that is named twice has it where it stands first, and a warning `duplicate_target`. A target that failed is never reported as free, and never fails the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyAnswer {
    /// One result per target, in the order of the query.
    pub data: Vec<FreeBusyResult>,
    /// Every target was answered.
    pub complete: bool,
    /// Unknown fields of the query; series that cannot be expanded (`recurrence_not_expanded`): the time in which they may
    /// take place counts as if they did.
    pub warnings: Vec<Warning>,
}

/// The busy times of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyResult {
    /// The target, as in the query.
    pub target: FreeBusyTarget,
    /// Whether the target was answered.
    pub status: TargetStatus,
    /// Sorted and clipped to the range that was asked for, at most 20,000: the rest of a longer list is one entry, with the warning
    /// `busy_times_joined`. Merged: where times overlap, the strongest of `oof`, `busy`,
    /// `tentative` counts. With `includeDetails` not merged: one per event. An event that shows as `workingElsewhere` leaves its time free.
    pub busy: Vec<BusyTime>,
    /// The reason, if `status` is `error`.
    pub error: Option<TargetError>,
}

/// A stretch of time that is not free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BusyTime {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
    /// The state in which the time is shown to others.
    pub show_as: ShowAs,
    /// Only with `includeDetails`, and only where the provider lets the account read the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The result for one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TargetStatus {
    /// The busy times were read.
    #[default]
    Ok,
    /// The busy times are unknown.
    Error,
}

/// The reason why busy times are unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TargetError {
    /// A stable code: branch on this.
    pub code: TargetErrorCode,
    /// A sentence for people.
    pub message: String,
}

/// The reason why busy times are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetErrorCode {
    /// The connection, calendar or person does not exist.
    NotFound,
    /// The account may not see the busy times.
    NoAccess,
    /// The provider did not answer.
    #[default]
    ProviderUnavailable,
    /// The user must authorize the connection again.
    ReauthRequired,
}

/// A query for times at which people can meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["durationMinutes", "participants"])))]
pub struct AvailabilityQuery {
    /// 1 to 1,440.
    pub duration_minutes: i64,
    /// The start of the search, inclusive.
    pub start: Option<Instant>,
    /// The end of the search, exclusive.
    pub end: Option<Instant>,
    /// Instead of `start` and `end`.
    pub query_periods: Vec<Period>,
    /// IANA name: the zone of the slot grid and of open hours without one.
    pub time_zone: Option<String>,
    /// `durationMinutes` where it is absent.
    pub slot_interval_minutes: Option<i64>,
    /// Minutes before a slot that must be free as well.
    pub buffer_before_minutes: i64,
    /// Minutes after a slot that must be free as well.
    pub buffer_after_minutes: i64,
    /// Minutes that must lie between now and the start.
    pub min_notice_minutes: i64,
    /// Every group must be satisfied.
    pub participants: Vec<ParticipantGroup>,
    /// For members without their own.
    pub open_hours: Vec<OpenHours>,
    /// Events that do not count as busy.
    pub ignore_event_ids: Vec<String>,
    /// Bookings that do not count as busy.
    pub ignore_booking_ids: Vec<String>,
    /// The form of the answer.
    pub response_format: AvailabilityFormat,
    /// At most 1,000.
    pub limit: Option<i64>,
}

/// People of whom all, or some number, must be free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ParticipantGroup {
    /// The people of the group.
    pub members: Vec<Member>,
    /// The number of members who must be free; `all` if absent.
    pub required: RequiredMembers,
}

/// A person whose busy times count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Member {
    /// The connection's id.
    pub connection_id: String,
    /// The calendars that count; absent: all that count as busy.
    pub calendar_ids: Option<Vec<String>>,
    /// The person's own hours; absent: those of the query.
    pub open_hours: Option<Vec<OpenHours>>,
    /// Instead of `openHours`.
    pub schedule_id: Option<String>,
}

/// The times at which people can meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AvailabilityAnswer {
    /// The times, in order.
    pub data: Vec<AvailableTime>,
    /// Connections, the next in rotation first; null without rotation.
    pub order: Option<Vec<String>>,
    /// Members whose busy times could not be read: they count as busy.
    pub unavailable: Vec<UnavailableMember>,
    /// The busy times of every member were read.
    pub complete: bool,
    /// Unknown fields of the query; series that cannot be expanded (`recurrence_not_expanded`): the time in which they may
    /// take place counts as if they did.
    pub warnings: Vec<Warning>,
}

/// A time at which people can meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AvailableTime {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
    /// Connections that are free then.
    pub participants: Vec<String>,
}

/// A member whose busy times could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnavailableMember {
    /// The connection's id.
    pub connection_id: String,
    /// The reason.
    pub code: TargetErrorCode,
}
