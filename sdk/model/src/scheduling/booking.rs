//! Booking: a slot that an invitee reserved.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::resource::{Body, Metadata, Nothing};
use crate::scheduling::event_type::MeetingPlaceKind;

/// A slot that an invitee reserved. It keeps its id and iCalUid when it is rescheduled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Booking {
    pub event_type_id: String,
    pub slug: String,
    pub status: BookingStatus,
    pub start: Instant,
    pub end: Instant,
    /// IANA name: the invitee's zone.
    pub time_zone: String,
    pub title: String,
    pub invitee: Invitee,
    pub guests: Vec<Guest>,
    /// By the questions' keys.
    pub answers: BTreeMap<String, Value>,
    pub notes: Option<String>,
    /// Hosts that were assigned.
    pub host_ids: Vec<String>,
    pub organizer_connection_id: Option<String>,
    pub location: Option<BookingPlace>,
    pub calendar_events: Vec<BookingEvent>,
    pub seats: i64,
    /// RFC 5545 SEQUENCE: goes up with every reschedule.
    pub sequence: i64,
    pub i_cal_uid: String,
    pub previous_start: Option<Instant>,
    pub reschedule_count: i64,
    pub rescheduled_by: Option<Party>,
    pub cancelled_by: Option<Party>,
    pub cancellation_reason: Option<String>,
    pub rejection_reason: Option<String>,
    /// Pending ones expire then.
    pub confirm_by: Option<Instant>,
    pub no_show: NoShow,
    /// Lets the invitee cancel or reschedule the booking; only in the answer to the create.
    pub manage_token: Option<String>,
    pub source: BookingSource,
}

impl Body for Booking {
    const NAME: &'static str = "Booking";
    /// Everything but `noShow`: a booking is changed by operations of its own.
    const READ_ONLY: &'static [&'static str] = &[
        "eventTypeId",
        "slug",
        "status",
        "start",
        "end",
        "timeZone",
        "title",
        "invitee",
        "guests",
        "answers",
        "notes",
        "hostIds",
        "organizerConnectionId",
        "location",
        "calendarEvents",
        "seats",
        "sequence",
        "iCalUid",
        "previousStart",
        "rescheduleCount",
        "rescheduledBy",
        "cancelledBy",
        "cancellationReason",
        "rejectionReason",
        "confirmBy",
        "manageToken",
        "source",
    ];
    const IN_CONNECTION: bool = false;
    type Extra = Nothing;
    type Options = Nothing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingStatus {
    Pending,
    #[default]
    Confirmed,
    Rejected,
    Cancelled,
    Expired,
    Completed,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Invitee {
    pub name: Option<String>,
    pub email: String,
    pub phone: Option<String>,
    /// BCP 47.
    pub locale: Option<String>,
    /// IANA name.
    pub time_zone: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Guest {
    pub name: Option<String>,
    pub email: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingPlace {
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
    pub value: Option<String>,
    pub join_url: Option<String>,
}

/// The booking in one host's calendar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingEvent {
    pub connection_id: String,
    pub calendar_id: Option<String>,
    pub event_id: Option<String>,
    pub status: BookingEventStatus,
    /// The reason why the event could not be written, or a note that the host made it an all-day event.
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingEventStatus {
    #[default]
    Pending,
    Written,
    Failed,
    Deleted,
}

/// The party that created, changed or cancelled a booking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Party {
    Invitee,
    Host,
    #[default]
    Api,
    System,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NoShow {
    pub host: bool,
    pub invitee_emails: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingSource {
    #[default]
    Api,
    Widget,
}

/// Books a slot. A `start` that the slot search does not offer gives 409 `slot_unavailable`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["eventTypeId", "start", "inviteeEmail"])))]
pub struct NewBooking {
    pub event_type_id: String,
    /// The link of the event type that the invitee came by; one that is good for a single booking is used up.
    pub slug: Option<String>,
    pub start: Instant,
    pub invitee_email: String,
    /// One line of at most 256 characters, without a web address. A name that can be taken for a link, such as `example.org`, is shown to
    /// hosts; titles, subjects and invitations show the email address instead.
    pub invitee_name: Option<String>,
    /// IANA name.
    pub invitee_time_zone: Option<String>,
    /// For hosts only. At most 64 characters, of which at most ten are letters.
    pub invitee_phone: Option<String>,
    /// One of the event type's options.
    pub duration_minutes: Option<i64>,
    pub guests: Vec<Guest>,
    /// By the questions' keys.
    pub answers: BTreeMap<String, Value>,
    pub location: Option<BookingPlace>,
    pub notes: Option<String>,
    /// Only keys with `scheduling.read` can set it.
    pub metadata: Metadata,
    /// From the slot.
    pub slot_token: Option<String>,
    /// BCP 47: the language of messages to the invitee. The booking page knows it; the API has no field for it.
    #[serde(skip)]
    pub invitee_locale: Option<String>,
    /// Hours of the clock that the invitee chose, 12 or 24. The booking page knows it; the API has no field for it.
    #[serde(skip)]
    pub invitee_clock_hours: Option<i64>,
}

/// Rejects a booking that is pending.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingRejection {
    /// At most 2,000 characters; kept as `rejectionReason`.
    pub reason: Option<String>,
}

/// Cancels a booking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingCancellation {
    /// At most 2,000 characters; kept as `cancellationReason`.
    pub reason: Option<String>,
    /// The invitee's token: the event type's `cancellation` rules apply. A key without `scheduling.write` needs it.
    pub manage_token: Option<String>,
}

/// Reschedules a booking. A `start` that the slot search does not offer for it gives 409 `slot_unavailable`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start"])))]
pub struct BookingMove {
    pub start: Instant,
    /// One of the event type's options. Null: as long as before, where the event type still has that.
    pub duration_minutes: Option<i64>,
    /// From the slot.
    pub slot_token: Option<String>,
    /// The invitee's token: the event type's `reschedule` rules apply. A key without `scheduling.write` needs it.
    pub manage_token: Option<String>,
}
