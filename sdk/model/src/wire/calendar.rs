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

/// The instances of a series that a change applies to.
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

/// The attendees that the provider notifies of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Notify {
    /// All attendees.
    #[default]
    All,
    /// Only attendees outside of the organizer's domain.
    ExternalOnly,
    /// No attendee.
    None,
}

/// The event to change: the source, and within it the series, one instance, or all instances from one on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventTarget {
    /// The external id of the source; null on a create.
    pub source: Option<String>,
    /// The original local start of the instance, as in the event's `recurrenceId`; null: the single event or the series.
    pub recurrence_id: Option<String>,
    /// The original start of the instance as an instant; null where `recurrenceId` is null.
    pub original_start: Option<Instant>,
    /// The instances to change. `this` with a `recurrenceId`: that instance. `thisAndFollowing`: that instance and all later ones. `all`:
    /// the whole series.
    pub scope: RecurrenceScope,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// An event to create or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventWrite {
    /// The external id of the calendar.
    pub collection: String,
    /// The calendar's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The event to write, and the part of its series; without a source on a create.
    pub target: EventTarget,
    /// The whole event after the change: the instance or the series that `target` names. With `thisAndFollowing` it is the first event of
    /// the new series.
    pub event: Event,
    /// The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
    /// provider's bytes.
    pub changed: Vec<String>,
    /// The attendees that the provider notifies.
    pub notify: Notify,
    /// Whether the connector refuses the write (failure `unsupported`, with `notify` as `detail.field`) before it writes anything if the
    /// provider cannot notify exactly the attendees that `notify` names. False: the event is written, with the warning
    /// `notify_not_supported`.
    pub strict: bool,
}

/// An event to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventDelete {
    /// The external id of the calendar.
    pub collection: String,
    /// The calendar's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The event to delete, and the part of its series.
    pub target: EventTarget,
    /// The attendees that the provider notifies.
    pub notify: Notify,
    /// Whether the connector refuses the call (failure `unsupported`, with `notify` as `detail.field`) before it deletes anything if the
    /// provider cannot notify exactly the attendees that `notify` names. False: the event is deleted, with the warning
    /// `notify_not_supported`.
    pub strict: bool,
}

/// The account's answer to an invitation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventRespond {
    /// The external id of the calendar.
    pub collection: String,
    /// The calendar's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The event to answer, and the part of its series.
    pub target: EventTarget,
    /// The answer.
    pub response: ResponseStatus,
    /// A comment to the organizer, plain text; null if there is none.
    pub comment: Option<String>,
    /// Whether the provider notifies the organizer.
    pub notify_organizer: bool,
    /// Whether the connector refuses the call (failure `unsupported`, with `notifyOrganizer` as `detail.field`) before it writes anything
    /// if the provider cannot do as `notifyOrganizer` says. False: the answer is stored, with the warning `notify_not_supported`.
    pub strict: bool,
}

/// A conference to add to an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventConference {
    /// The external id of the calendar.
    pub collection: String,
    /// The calendar's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The event that gets the conference, and the part of its series.
    pub target: EventTarget,
    /// The conference service; null: the connector chooses one.
    pub provider: Option<ConferenceProvider>,
}

/// A query of busy times that the provider answers itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyRequest {
    /// The external ids of calendars of this account; empty if `email` is given.
    pub collections: Vec<String>,
    /// The email address of another person whose busy times are queried through this account; null: the account's own.
    pub email: Option<String>,
    /// The start of the period, inclusive.
    pub start: Instant,
    /// The end of the period, exclusive.
    pub end: Instant,
}

/// The provider's busy times. The connector neither merges nor clips them: the host does both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FreeBusyAnswer {
    /// The busy times, in any order; they may overlap each other and the ends of the period.
    pub busy: Vec<BusyInterval>,
}

/// The calendar features of this account at its provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CalendarFeatures {
    /// Whether calendars can be created.
    pub create_calendar: bool,
    /// Whether calendars can be changed.
    pub update_calendar: bool,
    /// Whether calendars can be deleted.
    pub delete_calendar: bool,
    /// Whether events can recur.
    pub recurrence: bool,
    /// Whether an instance and all later ones can be changed in one call.
    pub this_and_following: bool,
    /// Whether events can have attendees.
    pub attendees: bool,
    /// Whether the provider itself sends invitations and answers.
    pub scheduling: bool,
    /// Whether invitations can be answered.
    pub rsvp: bool,
    /// The conference services whose conferences can be created.
    pub conference: Vec<ConferenceProvider>,
    /// Whether events can have reminders.
    pub reminders: bool,
    /// Whether events can have attachments.
    pub attachments: bool,
    /// Whether the provider answers queries of busy times of the account's own calendars.
    pub free_busy: bool,
    /// Whether the provider answers queries of busy times of other people by email address.
    pub free_busy_by_email: bool,
    /// Whether the provider notifies the service of changes.
    pub push: bool,
    /// The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`.
    pub delta: String,
}
