//! The people of an event: organizer, creator and attendees.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The organizer or the creator of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Person {
    /// The email address.
    pub email: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The attendee is the connected account.
    #[serde(rename = "self")]
    pub is_self: bool,
}

/// A person or resource that is invited (RFC 5545 ATTENDEE).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Attendee {
    /// The email address.
    pub email: String,
    /// The name.
    pub name: Option<String>,
    /// The answer to the invitation (PARTSTAT).
    pub response_status: ResponseStatus,
    /// The attendee's role (ROLE).
    pub role: AttendeeRole,
    /// The kind of attendee (CUTYPE).
    pub kind: AttendeeKind,
    /// A note with the response.
    pub comment: Option<String>,
    /// The attendee is the connected account.
    #[serde(rename = "self")]
    pub is_self: bool,
    /// Whether the attendee is the organizer.
    pub organizer: bool,
}

/// An answer to an invitation (RFC 5545 PARTSTAT).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ResponseStatus {
    /// No answer yet.
    #[default]
    NeedsAction,
    /// Accepted.
    Accepted,
    /// Declined.
    Declined,
    /// Tentatively accepted.
    Tentative,
}

/// The role of an attendee (RFC 5545 ROLE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AttendeeRole {
    /// Must attend.
    #[default]
    Required,
    /// May attend.
    Optional,
    /// Leads the meeting.
    Chair,
    /// Gets a copy for information only.
    NonParticipant,
}

/// The kind of an attendee (RFC 5545 CUTYPE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AttendeeKind {
    /// A person.
    #[default]
    Individual,
    /// A group of people.
    Group,
    /// A resource, such as a projector.
    Resource,
    /// A room.
    Room,
}
