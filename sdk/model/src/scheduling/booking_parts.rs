//! The parts of a booking: people, place and calendar events.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::scheduling::event_type::MeetingPlaceKind;

/// The person who booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Invitee {
    /// The invitee's name; null if none was given.
    pub name: Option<String>,
    /// The invitee's email address.
    pub email: String,
    /// The invitee's phone number, which is shown to hosts only; null if none was given.
    pub phone: Option<String>,
    /// The language of messages to the invitee, a BCP 47 tag such as `de`. Null if the booking page did not set one.
    pub locale: Option<String>,
    /// The invitee's time zone, an IANA name such as `Europe/Berlin`; null if none was given.
    pub time_zone: Option<String>,
}

/// A further person who is invited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["email"])))]
pub struct Guest {
    /// The guest's name, one line without a web address; null if none was given.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::scheduling::MAX_NAME)))]
    pub name: Option<String>,
    /// The guest's email address.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub email: String,
}

/// The place of a meeting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingPlace {
    /// The kind of place. In a booking to create, it must be one that the event type offers.
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
    /// The address, phone number or link of the place. Null if the kind needs none; in a booking to create, null chooses the first
    /// place of this kind.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub value: Option<String>,
    /// The URL at which the meeting is joined, set by the service. Null for places without one, and until the conference is created.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_URL)))]
    pub join_url: Option<String>,
}

/// The event of a booking in one host's calendar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingEvent {
    /// The host's connection.
    pub connection_id: String,
    /// The id of the calendar that has the event; null if it is unknown.
    pub calendar_id: Option<String>,
    /// The id of the event; null until it is written.
    pub event_id: Option<String>,
    /// The state of the event.
    pub status: BookingEventStatus,
    /// The reason why the event could not be written, or a note that the host made it an all-day event. Null if all is well.
    pub error: Option<String>,
}

/// The state of a booking's event in a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingEventStatus {
    /// It is not written yet.
    #[default]
    Pending,
    /// It is in the calendar.
    Written,
    /// It could not be written.
    Failed,
    /// It was deleted.
    Deleted,
}

/// The people who did not come to a meeting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NoShow {
    /// Whether the host did not come.
    pub host: bool,
    /// The email addresses of the invitee and guests who did not come; empty if everyone came.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Email>"))]
    pub invitee_emails: Vec<String>,
}
