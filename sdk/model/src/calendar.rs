//! Calendar, Event, Attendee, Conference, free/busy. Field names and meaning follow JSCalendar (RFC 8984) and RFC 5545 where
//! those have the notion, else the names that Google and Microsoft share.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// A calendar, as the provider has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Calendar {
    /// The user's name for the calendar.
    pub name: String,
    pub description: Option<String>,
    /// IANA name; the zone of all-day events and of times without one.
    pub time_zone: Option<String>,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// The account's default calendar.
    pub is_primary: bool,
    /// Whether the account owns the calendar.
    pub is_owned: bool,
    pub read_only: bool,
    pub access_role: AccessRole,
    pub location: Option<String>,
    pub default_reminders: Vec<Reminder>,
    /// The events that count as busy (RFC 9670 `includeInAvailability`).
    pub include_in_availability: IncludeInAvailability,
    /// Conference providers that events here can have; empty: none.
    pub conference_types: Vec<ConferenceProvider>,
}

/// The account's rights in a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AccessRole {
    #[default]
    Owner,
    Writer,
    Reader,
    FreeBusyReader,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum IncludeInAvailability {
    #[default]
    All,
    Attending,
    None,
}

/// A calendar event: a single one, a series, or one changed instance of a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// RFC 5545 UID; equal for a series and its exceptions.
    pub i_cal_uid: Option<String>,
    /// RFC 5545 SEQUENCE.
    pub sequence: i64,
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// Original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD`.
    pub recurrence_id: Option<String>,
    /// The same as an instant.
    pub original_start: Option<Instant>,
    /// An exception that is meant for all later instances, too (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
    /// have its fields, its length, and its distance from the original start. Read only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub applies_to_following: bool,
    /// First instant. For all-day events the midnight of `startDate` in the calendar's zone.
    pub start: Instant,
    /// The end (exclusive); equal to `start` for an event without a length.
    pub end: Instant,
    /// How long each instance of a series takes, as an RFC 5545 DURATION such as `P1DT2H`, where the provider gives it in days: so many
    /// days later by the clock, then so many hours later. Absent: exactly as long as from `start` to `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// IANA name of the zone that the start is anchored in.
    pub time_zone: String,
    /// IANA name, where the end is in another zone.
    pub end_time_zone: Option<String>,
    /// The rules of the start's zone, where the provider's zone is none of IANA's: then `timeZone` is `UTC`, and the instances of
    /// the series are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following
    /// instances. Read only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone_rules: Option<TimeZoneRules>,
    pub all_day: bool,
    /// All-day events: first day, `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// All-day events: the day after the last, `YYYY-MM-DD`.
    pub end_date: Option<String>,
    pub title: Option<String>,
    /// Plain text.
    pub description: Option<String>,
    /// HTML as the provider has it: untrusted.
    pub description_html: Option<String>,
    pub location: Option<String>,
    pub locations: Option<Vec<Location>>,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// The event in the provider's own web pages.
    pub html_link: Option<String>,
    pub status: EventStatus,
    pub show_as: ShowAs,
    /// Derived: whether `showAs` and `status` make this time busy.
    pub busy: bool,
    pub visibility: Visibility,
    pub event_kind: EventKind,
    /// The account cannot change it.
    pub read_only: bool,
    pub organizer: Option<Person>,
    pub creator: Option<Person>,
    pub attendees: Vec<Attendee>,
    pub hide_attendees: bool,
    pub guests_can_modify: bool,
    pub guests_can_invite: bool,
    pub capacity: Option<i64>,
    /// The response of the attendee who is the account itself; null where it is not invited.
    pub my_response: Option<ResponseStatus>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only on a series. Lines of other programs are
    /// shown unchanged, also several rules and `EXRULE` (RFC 2445).
    pub recurrence: Vec<String>,
    pub conference: Option<Conference>,
    pub reminders: Reminders,
    pub attachments: Vec<EventAttachment>,
}

impl Event {
    /// Whether the event makes its time busy: cancelled events, and those that show as `free` or `workingElsewhere`, do not. Outlook publishes
    /// both as free (MS-OXCICAL section 2.1.3.1.1.20.25).
    pub fn derived_busy(&self) -> bool {
        let is_free = matches!(self.show_as, ShowAs::Free | ShowAs::WorkingElsewhere);
        self.status != EventStatus::Cancelled && !is_free
    }
}

/// The offsets of a time zone that has no IANA name (RFC 5545 section 3.6.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeZoneRules {
    /// The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null: `offset` and `transitions`
    /// say it.
    pub posix: Option<String>,
    /// Seconds east of UTC before the first transition.
    pub offset: i64,
    /// In order; after the last one its offset stays.
    pub transitions: Vec<TimeZoneTransition>,
}

/// A change of clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimeZoneTransition {
    /// The instant of the change.
    pub at: Instant,
    /// Seconds east of UTC from then on.
    pub offset: i64,
}

/// `occurrence` is never stored: it is computed from a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventType {
    #[default]
    Single,
    Series,
    Occurrence,
    Exception,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventStatus {
    #[default]
    Confirmed,
    Tentative,
    Cancelled,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ShowAs {
    #[default]
    Busy,
    Free,
    Tentative,
    Oof,
    WorkingElsewhere,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Visibility {
    #[default]
    Default,
    Public,
    Private,
    Confidential,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    #[default]
    Default,
    OutOfOffice,
    FocusTime,
    WorkingLocation,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Location {
    pub name: Option<String>,
    pub address: Option<String>,
    pub uri: Option<String>,
    /// `geo:` URI's coordinates as `lat,lon`.
    pub geo: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Person {
    pub email: Option<String>,
    pub name: Option<String>,
    /// The attendee is the connected account.
    #[serde(rename = "self")]
    pub is_self: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Attendee {
    pub email: String,
    pub name: Option<String>,
    pub response_status: ResponseStatus,
    pub role: AttendeeRole,
    pub kind: AttendeeKind,
    pub comment: Option<String>,
    #[serde(rename = "self")]
    pub is_self: bool,
    pub organizer: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ResponseStatus {
    #[default]
    NeedsAction,
    Accepted,
    Declined,
    Tentative,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AttendeeRole {
    #[default]
    Required,
    Optional,
    Chair,
    NonParticipant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AttendeeKind {
    #[default]
    Individual,
    Group,
    Resource,
    Room,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Conference {
    pub provider: ConferenceProvider,
    pub status: ConferenceStatus,
    pub join_url: Option<String>,
    pub meeting_id: Option<String>,
    pub passcode: Option<String>,
    pub phones: Vec<ConferencePhone>,
    pub create_request_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ConferenceProvider {
    GoogleMeet,
    Teams,
    Zoom,
    Webex,
    #[default]
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ConferenceStatus {
    Pending,
    #[default]
    Ready,
    Failed,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ConferencePhone {
    pub number: String,
    pub pin: Option<String>,
    pub region: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Reminders {
    /// The calendar's default reminders apply.
    pub use_default: bool,
    pub overrides: Vec<Reminder>,
}

impl Default for Reminders {
    fn default() -> Self {
        Reminders { use_default: true, overrides: Vec::new() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reminder {
    #[serde(default)]
    pub method: ReminderMethod,
    /// Minutes before the start, 0 to 40,320 (four weeks).
    pub minutes_before: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReminderMethod {
    #[default]
    Popup,
    Email,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventAttachment {
    pub title: Option<String>,
    pub url: Option<String>,
    pub mime_type: Option<String>,
}

/// A stretch of time that is not free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BusyInterval {
    pub start: Instant,
    pub end: Instant,
    pub show_as: ShowAs,
}
