//! Calendar, Event, Attendee, Conference, free/busy. Field names and meaning follow JSCalendar (RFC 8984) and RFC 5545 where
//! those have the notion, else the names that Google and Microsoft share.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

pub use crate::attendee::{Attendee, AttendeeKind, AttendeeRole, Person, ResponseStatus};
pub use crate::conference::{Conference, ConferencePhone, ConferenceProvider, ConferenceStatus};

/// A calendar, as the provider has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Calendar {
    /// The user's name for the calendar.
    pub name: String,
    /// The description, plain text.
    pub description: Option<String>,
    /// IANA name; the zone of all-day events and of times without one.
    pub time_zone: Option<String>,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// The account's default calendar.
    pub is_primary: bool,
    /// Whether the account owns the calendar.
    pub is_owned: bool,
    /// Whether the account cannot change events in it.
    pub read_only: bool,
    /// The account's rights in the calendar.
    pub access_role: AccessRole,
    /// The place that the calendar belongs to.
    pub location: Option<String>,
    /// Reminders of events that set `useDefault`.
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
pub struct Event {
    /// RFC 5545 UID; equal for a series and its exceptions.
    pub i_cal_uid: Option<String>,
    /// RFC 5545 SEQUENCE.
    pub sequence: i64,
    /// The place of the event in a series.
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
    /// Whether the event lasts whole days.
    pub all_day: bool,
    /// All-day events: first day, `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// All-day events: the day after the last, `YYYY-MM-DD`.
    pub end_date: Option<String>,
    /// The title (RFC 5545 SUMMARY).
    pub title: Option<String>,
    /// Plain text.
    pub description: Option<String>,
    /// HTML as the provider has it: untrusted.
    pub description_html: Option<String>,
    /// The place, as one line of text.
    pub location: Option<String>,
    /// The places, one by one; null if the provider has only `location`.
    pub locations: Option<Vec<Location>>,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// The event in the provider's own web pages.
    pub html_link: Option<String>,
    /// The status (RFC 5545 STATUS).
    pub status: EventStatus,
    /// The state in which the time is shown to others.
    pub show_as: ShowAs,
    /// Derived: whether `showAs` and `status` make this time busy.
    pub busy: bool,
    /// The people who can see the details.
    pub visibility: Visibility,
    /// The purpose of the event.
    pub event_kind: EventKind,
    /// The account cannot change it.
    pub read_only: bool,
    /// The organizer; null for an event without attendees.
    pub organizer: Option<Person>,
    /// The person who created the event, if the provider names one.
    pub creator: Option<Person>,
    /// The people and resources that are invited.
    pub attendees: Vec<Attendee>,
    /// Whether attendees cannot see each other.
    pub hide_attendees: bool,
    /// Whether attendees can change the event.
    pub guests_can_modify: bool,
    /// Whether attendees can invite others.
    pub guests_can_invite: bool,
    /// The number of people that can attend; null: no limit.
    pub capacity: Option<i64>,
    /// The response of the attendee who is the account itself; null where it is not invited.
    pub my_response: Option<ResponseStatus>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only on a series. Lines of other programs are
    /// shown unchanged, also several rules and `EXRULE` (RFC 2445).
    pub recurrence: Vec<String>,
    /// The online meeting.
    pub conference: Option<Conference>,
    /// The reminders of the account.
    pub reminders: Reminders,
    /// Links to files.
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
    /// The name of the place.
    pub name: Option<String>,
    /// The postal address, as one text.
    pub address: Option<String>,
    /// A web address.
    pub uri: Option<String>,
    /// `geo:` URI's coordinates as `lat,lon`.
    pub geo: Option<String>,
}

/// The reminders of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Reminders {
    /// The calendar's default reminders apply.
    pub use_default: bool,
    /// Reminders instead of the calendar's default ones.
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
    /// Minutes before the start, 0 to 40,320 (four weeks).
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
    /// The file's name.
    pub title: Option<String>,
    /// The file's address.
    pub url: Option<String>,
    /// The media type.
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
