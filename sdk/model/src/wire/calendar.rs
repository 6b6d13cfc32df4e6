//! Operations of the calendar surface.
//!
//! | verb | op | args | answer |
//! |---|---|---|---|
//! | fetch | `calendars.list` | `ChangesRequest` | `Sources` of `Calendar`, `enumeration: true` |
//! | fetch | `events.get` | `SourceRef` | `Sources` (one) |
//! | fetch | `events.batchGet` | `SourcesGet` | `Sources` |
//! | fetch | `freebusy.query` | `FreeBusyRequest` | `FreeBusyAnswer` |
//! | fetch | `capabilities` | `{}` | `CalendarFeatures` |
//! | mutate | `calendars.create` `.update` | `CollectionWrite<Calendar>` | `Mutated` |
//! | mutate | `calendars.delete` | `CollectionDelete` | `Mutated` |
//! | mutate | `events.create` `.update` | `EventWrite` | `Mutated` |
//! | mutate | `events.delete` | `EventDelete` | `Mutated` |
//! | mutate | `events.respond` | `EventRespond` | `Mutated` |
//! | mutate | `events.conference` | `EventConference` | `Mutated` |
//! | changes | `events` | `ChangesRequest` | `Sources` of `Event` |

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::calendar::{BusyInterval, ConferenceProvider, Event, ResponseStatus};

/// The instances of a series that a change is meant for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RecurrenceScope {
    /// One instance.
    #[default]
    This,
    /// An instance and all later ones.
    ThisAndFollowing,
    /// The whole series.
    All,
}

/// The attendees that the provider notifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Notify {
    /// All attendees.
    #[default]
    All,
    /// Attendees outside of the organizer's domain.
    ExternalOnly,
    /// None.
    None,
}

/// The event to change: the source, and inside it the series, an instance, or all from one instance on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventTarget {
    /// External id of the source; none on create.
    pub source: Option<String>,
    /// Original local start of the instance (as `Event.recurrenceId`); none: the single event or the series.
    pub recurrence_id: Option<String>,
    /// The same as an instant.
    pub original_start: Option<Instant>,
    /// `This` with a `recurrenceId`: that instance. `ThisAndFollowing`: from it on. `All`: the whole series.
    pub scope: RecurrenceScope,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// An event to create or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventWrite {
    /// External id of the calendar.
    pub collection: String,
    /// The calendar's zone, for dates without one.
    pub time_zone: Option<String>,
    /// The event, and the part of its series, that the call is about.
    pub target: EventTarget,
    /// The whole event as it shall be (of the target: the instance, or the series). For `thisAndFollowing` the first
    /// event of the new series.
    pub event: Event,
    /// Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
    /// provider's bytes.
    pub changed: Vec<String>,
    /// The attendees that the provider notifies.
    pub notify: Notify,
    /// Refuses the write (failure "unsupported", `notify` as `detail.field`) before anything is written, if the provider cannot notify
    /// exactly those whom `notify` names. Without it the event is written, with a warning `notify_not_supported`.
    pub strict: bool,
}

/// An event to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventDelete {
    /// External id of the calendar.
    pub collection: String,
    /// The calendar's zone, for dates without one.
    pub time_zone: Option<String>,
    /// The event, and the part of its series, that the call is about.
    pub target: EventTarget,
    /// The attendees that the provider notifies.
    pub notify: Notify,
    /// As [`EventWrite::strict`].
    pub strict: bool,
}

/// An answer to an invitation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventRespond {
    /// External id of the calendar.
    pub collection: String,
    /// The calendar's zone, for dates without one.
    pub time_zone: Option<String>,
    /// The event, and the part of its series, that the call is about.
    pub target: EventTarget,
    /// The answer.
    pub response: ResponseStatus,
    /// A note to the organizer.
    pub comment: Option<String>,
    /// Whether the organizer is notified.
    pub notify_organizer: bool,
    /// As [`EventWrite::strict`], of `notifyOrganizer`.
    pub strict: bool,
}

/// A conference to add to an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventConference {
    /// External id of the calendar.
    pub collection: String,
    /// The calendar's zone, for dates without one.
    pub time_zone: Option<String>,
    /// The event, and the part of its series, that the call is about.
    pub target: EventTarget,
    /// The service; none: the connector's choice.
    pub provider: Option<ConferenceProvider>,
}

/// Busy times straight from the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyRequest {
    /// External ids of calendars of this account; empty with an `email`.
    pub collections: Vec<String>,
    /// The address of another person, queried through this account.
    pub email: Option<String>,
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
}

/// Not merged, not clipped: the host does both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyAnswer {
    /// Busy times, not merged and not clipped: the host does both.
    pub busy: Vec<BusyInterval>,
}

/// The features of this account's provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CalendarFeatures {
    /// Calendars can be created.
    pub create_calendar: bool,
    /// Calendars can be changed.
    pub update_calendar: bool,
    /// Calendars can be deleted.
    pub delete_calendar: bool,
    /// Events can recur.
    pub recurrence: bool,
    /// An instance and all later ones can be changed in one call.
    pub this_and_following: bool,
    /// Events can have attendees.
    pub attendees: bool,
    /// The provider sends invitations and answers by itself.
    pub scheduling: bool,
    /// Invitations can be answered.
    pub rsvp: bool,
    /// Services whose conferences can be created.
    pub conference: Vec<ConferenceProvider>,
    /// Events can have reminders.
    pub reminders: bool,
    /// Events can have attachments.
    pub attachments: bool,
    /// Busy times of the account's own calendars by one provider query.
    pub free_busy: bool,
    /// Busy times of other people by address.
    pub free_busy_by_email: bool,
    /// Whether the provider notifies of changes.
    pub push: bool,
    /// How changes are found: "syncToken", "deltaToken", "ctag", "scan".
    pub delta: String,
}
