//! Calendar, Event, Attendee, Conference, free/busy. Field names and meaning follow JSCalendar (RFC 8984) and RFC 5545 where
//! those have the notion, else the names that Google and Microsoft share.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

pub use crate::attendee::{Attendee, AttendeeKind, AttendeeRole, Person, ResponseStatus};
pub use crate::conference::{Conference, ConferencePhone, ConferenceProvider, ConferenceStatus};
pub use crate::time_zone_rules::{TimeZoneRules, TimeZoneTransition};

/// A calendar, as the provider has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Calendar {
    /// The user's name for the calendar.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LABEL), regex(pattern = r"\S")))]
    pub name: String,
    /// The description as plain text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub description: Option<String>,
    /// The IANA name of the calendar's time zone: the zone of all-day events, and of times without a zone of their own. Null if the
    /// provider names none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The calendar's color, `#rrggbb`; null for the provider's default color.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Color>"))]
    pub color: Option<String>,
    /// Whether the calendar is the account's default calendar.
    pub is_primary: bool,
    /// Whether the account owns the calendar.
    pub is_owned: bool,
    /// Whether the account cannot change events in the calendar.
    pub read_only: bool,
    /// The account's rights in the calendar.
    pub access_role: AccessRole,
    /// The place that the calendar belongs to, as one line of text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub location: Option<String>,
    /// The reminders of events that set `useDefault`.
    pub default_reminders: Vec<Reminder>,
    /// The events that count as busy (RFC 9670 `includeInAvailability`).
    pub include_in_availability: IncludeInAvailability,
    /// The conference services that the provider can create meetings with in this calendar; empty if there are none.
    pub conference_types: Vec<ConferenceProvider>,
}

/// The account's rights in a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AccessRole {
    /// Reads and writes events, and manages the calendar.
    #[default]
    Owner,
    /// Reads and writes events.
    Writer,
    /// Reads events.
    Reader,
    /// Sees only busy times.
    FreeBusyReader,
}

/// The events of a calendar that count as busy (RFC 9670).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum IncludeInAvailability {
    /// All events.
    #[default]
    All,
    /// Events that the account attends.
    Attending,
    /// No events.
    None,
}

/// A calendar event: a single one, a series, or one changed instance of a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = [
    "start and end, or allDay with startDate",
    "end is not before start, and at most 400 days after it",
    "endDate is after startDate",
])))]
pub struct Event {
    /// The iCalendar UID (RFC 5545), which a series and its exceptions share. It can only be set when the event is created; null if the
    /// provider gives none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub i_cal_uid: Option<String>,
    /// The revision of the event (RFC 5545 SEQUENCE), which grows with every important change.
    pub sequence: i64,
    /// The place of the event in a series.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD` for an all-day
    /// series. Null for single events and series.
    pub recurrence_id: Option<String>,
    /// The original start of an exception or occurrence as an instant; null for single events and series.
    pub original_start: Option<Instant>,
    /// Whether the exception also applies to all later instances (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
    /// have its fields, its length, and its distance from the original start. Absent if it does not. Read only.
    #[cfg_attr(feature = "schema", schemars(extend("readOnly" = true)))]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub applies_to_following: bool,
    /// The first instant of the event. For an all-day event it is the midnight of `startDate` in the event's time zone.
    pub start: Instant,
    /// The end of the event (exclusive), at most 400 days after `start`; equal to `start` for an event without a length.
    pub end: Instant,
    /// The length of each instance of a series, as an RFC 5545 DURATION such as `P1DT2H`, if the provider gives it in days: so many days
    /// later by the clock, then so many hours later. Absent if each instance is exactly as long as from `start` to `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The IANA name of the time zone that the start is in. A create without it takes the calendar's zone.
    #[cfg_attr(feature = "schema", schemars(with = "formats::ZoneName"))]
    pub time_zone: String,
    /// The IANA name of the time zone that the end is in; null if that is the zone of the start.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub end_time_zone: Option<String>,
    /// The rules of the start's zone, if the provider's zone has no IANA name: then `timeZone` is `UTC`, and the instances of the series
    /// are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following instances.
    /// Absent otherwise. Read only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone_rules: Option<TimeZoneRules>,
    /// Whether the event lasts whole days.
    pub all_day: bool,
    /// The first day of an all-day event, `YYYY-MM-DD`; null for an event with times.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Date>"))]
    pub start_date: Option<String>,
    /// The day after the last day of an all-day event, `YYYY-MM-DD`; null for an event with times. A create without it makes an event of
    /// one day.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Date>"))]
    pub end_date: Option<String>,
    /// The title (RFC 5545 SUMMARY); null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub title: Option<String>,
    /// The description as plain text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub description: Option<String>,
    /// The description as HTML, as the provider has it: clean it before you show it. Null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub description_html: Option<String>,
    /// The place as one line of text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub location: Option<String>,
    /// The places one by one; null if the provider only has `location`.
    pub locations: Option<Vec<Location>>,
    /// The event's own color, `#rrggbb`; null for the color of the calendar.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Color>"))]
    pub color: Option<String>,
    /// The address of the event in the provider's own web pages; null if it has none.
    pub html_link: Option<String>,
    /// The status (RFC 5545 STATUS).
    pub status: EventStatus,
    /// The state in which the time is shown to others.
    pub show_as: ShowAs,
    /// Whether the event makes its time busy, which follows from `showAs` and `status`.
    pub busy: bool,
    /// The people who can see the details.
    pub visibility: Visibility,
    /// The purpose of the event.
    pub event_kind: EventKind,
    /// Whether the account cannot change the event.
    pub read_only: bool,
    /// The organizer; null for an event without attendees.
    pub organizer: Option<Person>,
    /// The person who created the event; null if the provider names none.
    pub creator: Option<Person>,
    /// The people and resources that are invited, at most 500, each address once. A change replaces the whole list.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::event::MAX_ATTENDEES)))]
    pub attendees: Vec<Attendee>,
    /// Whether attendees cannot see each other.
    pub hide_attendees: bool,
    /// Whether attendees can change the event.
    pub guests_can_modify: bool,
    /// Whether attendees can invite others.
    pub guests_can_invite: bool,
    /// The number of people that can attend; null for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub capacity: Option<i64>,
    /// The response of the attendee who is the account itself; null if the account is not invited.
    pub my_response: Option<ResponseStatus>,
    /// The recurrence rule set as RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only a series has lines.
    /// Lines of other programs are shown unchanged, also several rules and `EXRULE` (RFC 2445).
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::RecurrenceLine>", length(max = bounds::MAX_RECURRENCE)))]
    pub recurrence: Vec<String>,
    /// The online meeting; null if there is none. It can only be set when the event is created; afterwards use the operation that adds a
    /// conference.
    pub conference: Option<Conference>,
    /// The reminders of the account.
    pub reminders: Reminders,
    /// Links to files, at most 50. A change replaces the whole list.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::event::MAX_ATTACHMENTS)))]
    pub attachments: Vec<EventAttachment>,
}

impl Event {
    /// Whether the event makes its time busy: cancelled events, and those that show as `free` or `workingElsewhere`, do not. Outlook
    /// publishes both as free (MS-OXCICAL section 2.1.3.1.1.20.25).
    pub fn derived_busy(&self) -> bool {
        let is_free = matches!(self.show_as, ShowAs::Free | ShowAs::WorkingElsewhere);
        self.status != EventStatus::Cancelled && !is_free
    }
}

/// The place of an event in a series. An `occurrence` is never stored: it is computed from its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventType {
    /// An event that does not recur.
    #[default]
    Single,
    /// An event that recurs.
    Series,
    /// An instance as the series has it.
    Occurrence,
    /// An instance that was changed.
    Exception,
}

/// The status of an event (RFC 5545 STATUS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventStatus {
    /// The event takes place.
    #[default]
    Confirmed,
    /// It is not certain yet that the event takes place.
    Tentative,
    /// The event does not take place.
    Cancelled,
}

/// The state in which an event's time is shown to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ShowAs {
    /// Busy.
    #[default]
    Busy,
    /// Free.
    Free,
    /// Perhaps busy.
    Tentative,
    /// Out of office.
    Oof,
    /// Working at another place; counts as free.
    WorkingElsewhere,
}

/// The people who can see an event's details (RFC 5545 CLASS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Visibility {
    /// As the calendar's setting says.
    #[default]
    Default,
    /// Everyone who can see the calendar.
    Public,
    /// Only people with rights to private events.
    Private,
    /// Confidential (RFC 5545 CLASS:CONFIDENTIAL).
    Confidential,
}

/// The purpose of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    /// An ordinary event.
    #[default]
    Default,
    /// An absence.
    OutOfOffice,
    /// Time without interruptions.
    FocusTime,
    /// The place of work at that time.
    WorkingLocation,
}

/// A place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Location {
    /// The name of the place; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub name: Option<String>,
    /// The postal address as one text; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub address: Option<String>,
    /// The web address of the place; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub uri: Option<String>,
    /// The coordinates as `latitude,longitude` in degrees; null if they are not known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub geo: Option<String>,
}

/// The reminders of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Reminders {
    /// Whether the calendar's default reminders apply.
    pub use_default: bool,
    /// The reminders that apply instead of the calendar's default ones, at most 20.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::event::MAX_REMINDERS)))]
    pub overrides: Vec<Reminder>,
}

impl Default for Reminders {
    fn default() -> Self {
        Reminders { use_default: true, overrides: Vec::new() }
    }
}

/// A reminder before the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reminder {
    /// The way in which the user is reminded.
    #[serde(default)]
    pub method: ReminderMethod,
    /// The minutes from the reminder to the start of the event, 0 to 40,320 (four weeks).
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::event::MAX_REMINDER_MINUTES)))]
    pub minutes_before: i64,
}

/// The way in which a user is reminded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReminderMethod {
    /// On a screen.
    #[default]
    Popup,
    /// By email.
    Email,
}

/// A link to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventAttachment {
    /// The name of the file; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub title: Option<String>,
    /// The URL of the file, http or https. A request needs it.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^([Hh][Tt][Tt][Pp][Ss]?://|[Cc][Ii][Dd]:|[Mm][Ii][Dd]:)"), length(max = bounds::MAX_URL)))]
    pub url: Option<String>,
    /// The media type of the file; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub mime_type: Option<String>,
}

/// A stretch of time that is not free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BusyInterval {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
    /// The state in which the time is shown to others.
    pub show_as: ShowAs,
}
