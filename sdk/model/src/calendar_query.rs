//! The API's own part of calendars and events, around the provider's: our own fields, RSVP and conference bodies, and the free/busy and
//! availability queries with their answers.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
use crate::calendar::{Calendar, ConferenceProvider, Event, ShowAs};
#[cfg(feature = "schema")]
use crate::formats;
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
    /// The way in which the provider notifies the service of changes in the calendar; null if it does not, and before sync was started. A
    /// change of this field changes no etag, and is in no change feed.
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
    /// The id of the calendar that the event is in.
    pub calendar_id: String,
    /// The id of the series of an occurrence or exception; null for single events and series.
    pub series_id: Option<String>,
}

/// Options for a change of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventOptions {
    /// The attendees that the provider notifies of the change; `all` if absent.
    pub notify: Notify,
    /// The instances to change. If absent or null, `this` with the id of an instance and `all` with the id of a series.
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
    const CREATE_ONLY: &'static [&'static str] = &["conference", "iCalUid"];
    type Extra = EventExtra;
    type Options = EventOptions;
}

/// Body of accept, tentative and decline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Rsvp {
    /// A note to the organizer; null or absent for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::event::MAX_COMMENT)))]
    pub comment: Option<String>,
    /// Whether the organizer is notified; true if absent.
    pub notify_organizer: bool,
    /// The instances to answer for. If absent or null, `this` with the id of an instance and `all` with the id of a series.
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
    /// The conference service. If absent or null, the first of the calendar's `conferenceTypes`.
    pub provider: Option<ConferenceProvider>,
}

/// The calendars of a connection, or the address of a person seen through a connection, whose busy times are requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["exactly one of connectionId and email", "email needs viaConnectionId, and has no calendarIds"])))]
pub struct FreeBusyTarget {
    /// The id of the connection whose calendars are requested; null if `email` names a person.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub connection_id: Option<String>,
    /// The ids of the connection's calendars to look at, 1 to 50. If absent or null, all calendars that count as busy.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(min = 1, max = bounds::free_busy::MAX_CALENDARS)))]
    pub calendar_ids: Option<Vec<String>>,
    /// The address of another person, instead of `connectionId`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Email>"))]
    pub email: Option<String>,
    /// The id of the connection whose account asks for the busy times of `email`; null with `connectionId`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub via_connection_id: Option<String>,
}

/// A query for busy times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start", "end", "targets"])))]
pub struct FreeBusyQuery {
    /// The start of the range, inclusive.
    pub start: Instant,
    /// The end of the range, exclusive: after `start`, by at most 92 days.
    pub end: Instant,
    /// The IANA name of the time zone for all-day events without one; UTC if absent or null.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The calendars and people whose busy times are requested, 1 to 50.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::free_busy::MAX_TARGETS)))]
    pub targets: Vec<FreeBusyTarget>,
    /// Whether tentative events count as busy; true if absent.
    pub tentative_as_busy: bool,
    /// Whether the answer names the event of each busy time; needs the scope `calendar.read`.
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

/// The busy times of all targets. A target that is named twice is answered at its first place, with the warning `duplicate_target`. A
/// target that failed is never reported as free, and never fails the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyAnswer {
    /// One result per target, in the order of the query.
    pub data: Vec<FreeBusyResult>,
    /// Whether every target was answered.
    pub complete: bool,
    /// Warnings about unknown fields of the query, and about series that cannot be expanded (`recurrence_not_expanded`): the time in which
    /// they may take place counts as busy.
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
    /// The busy times, sorted and clipped to the requested range, at most 20,000: the rest of a longer list is one entry, with the warning
    /// `busy_times_joined`. Times that overlap are merged, and the strongest of `oof`, `busy` and `tentative` counts. With `includeDetails`
    /// there is one entry per event instead. An event that shows as `workingElsewhere` leaves its time free.
    pub busy: Vec<BusyTime>,
    /// The reason why the busy times are unknown; null if `status` is `ok`.
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
    /// The id of the event. Only with `includeDetails`, and only if the provider lets the account read the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The title of the event. Only with `includeDetails`, and only if the provider lets the account read the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The outcome for one target.
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
    /// The code of the error. Later versions may add codes.
    pub code: TargetErrorCode,
    /// The description of the error, for people.
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
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["either start and end, or queryPeriods", "the periods have at most 62 days in all"])))]
pub struct AvailabilityQuery {
    /// The length of the meeting in minutes, 1 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::DAY_MINUTES)))]
    pub duration_minutes: i64,
    /// The start of the search, inclusive; absent or null with `queryPeriods`.
    pub start: Option<Instant>,
    /// The end of the search, exclusive, at most 62 days after `start`; absent or null with `queryPeriods`.
    pub end: Option<Instant>,
    /// The periods to search instead of the range from `start` to `end`: at most 50, with at most 62 days in all.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::free_busy::MAX_PERIODS)))]
    pub query_periods: Vec<Period>,
    /// The IANA name of the time zone of the slot grid, and of open hours without one; UTC if absent or null.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The minutes from the start of one slot to the start of the next, 1 to 1,440; `durationMinutes` if absent or null.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = bounds::DAY_MINUTES)))]
    pub slot_interval_minutes: Option<i64>,
    /// The minutes before a slot that must be free as well, 0 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::DAY_MINUTES)))]
    pub buffer_before_minutes: i64,
    /// The minutes after a slot that must be free as well, 0 to 1,440.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::DAY_MINUTES)))]
    pub buffer_after_minutes: i64,
    /// The minutes from now to the first possible start, 0 to 527,040 (a year); 0 does not look at the current time.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::YEAR_MINUTES)))]
    pub min_notice_minutes: i64,
    /// The groups of people, all of which must be satisfied; at most 50 members in all.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::free_busy::MAX_MEMBERS)))]
    pub participants: Vec<ParticipantGroup>,
    /// The open hours of members without hours of their own, at most 50 rows; without any, those members can meet at all times.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::free_busy::MAX_HOURS)))]
    pub open_hours: Vec<OpenHours>,
    /// The ids of events that do not count as busy, at most 500.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::free_busy::MAX_IGNORED)))]
    pub ignore_event_ids: Vec<String>,
    /// The ids of bookings that do not count as busy, at most 500.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::free_busy::MAX_IGNORED)))]
    pub ignore_booking_ids: Vec<String>,
    /// The form of the answer: slots, or stretches of free time.
    pub response_format: AvailabilityFormat,
    /// The number of times in the answer, from 1; more than 1,000 is taken as 1,000, which is also the number if it is absent or null.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: Option<i64>,
}

/// People of whom all, or some number, must be free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["members"])))]
pub struct ParticipantGroup {
    /// The people of the group, each once.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::free_busy::MAX_MEMBERS)))]
    pub members: Vec<Member>,
    /// The number of members who must be free; `all` if absent.
    pub required: RequiredMembers,
}

/// A person whose busy times count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct Member {
    /// The id of the connection whose busy times count.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The ids of the calendars that count, 1 to 50. If absent or null, all calendars that count as busy.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(min = 1, max = bounds::free_busy::MAX_CALENDARS)))]
    pub calendar_ids: Option<Vec<String>>,
    /// The person's own open hours, at most 50 rows; an empty list means at all times. If absent or null, the hours of the query.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::free_busy::MAX_HOURS)))]
    pub open_hours: Option<Vec<OpenHours>>,
    /// The id of a schedule instead of `openHours`. No schedule can be used here yet: leave it out, and send `openHours`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub schedule_id: Option<String>,
}

/// The times at which people can meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AvailabilityAnswer {
    /// The times at which people can meet, in order.
    pub data: Vec<AvailableTime>,
    /// The ids of the connections in their order of rotation, the next one first; null if there is no rotation.
    pub order: Option<Vec<String>>,
    /// The members whose busy times could not be read. They count as busy.
    pub unavailable: Vec<UnavailableMember>,
    /// Whether the busy times of every member were read.
    pub complete: bool,
    /// Warnings about unknown fields of the query, and about series that cannot be expanded (`recurrence_not_expanded`): the time in which
    /// they may take place counts as busy.
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
    /// The ids of the connections that are free at that time.
    pub participants: Vec<String>,
}

/// A member whose busy times could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnavailableMember {
    /// The id of the member's connection.
    pub connection_id: String,
    /// The reason why the busy times are unknown.
    pub code: TargetErrorCode,
}
