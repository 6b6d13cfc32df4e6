//! The people of an event: organizer, creator and attendees.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// The organizer or the creator of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Person {
    /// The email address; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Email>"))]
    pub email: Option<String>,
    /// The name; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub name: Option<String>,
    /// Whether the person is the connected account.
    #[serde(rename = "self")]
    pub is_self: bool,
}

/// A person or resource that is invited (RFC 5545 ATTENDEE).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["email"])))]
pub struct Attendee {
    /// The email address. Events of other programs may have another URI here, such as `urn:uuid:…`.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub email: String,
    /// The name; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub name: Option<String>,
    /// The answer to the invitation (PARTSTAT).
    pub response_status: ResponseStatus,
    /// The attendee's role (ROLE).
    pub role: AttendeeRole,
    /// The kind of attendee (CUTYPE).
    pub kind: AttendeeKind,
    /// The note that the attendee sent with the response; null if there is none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_BODY)))]
    pub comment: Option<String>,
    /// Whether the attendee is the connected account.
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
