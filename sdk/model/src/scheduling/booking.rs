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
    /// The id of the event type.
    pub event_type_id: String,
    /// The slug of the link that was booked.
    pub slug: String,
    /// The state of the booking.
    pub status: BookingStatus,
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
    /// IANA name: the invitee's zone.
    pub time_zone: String,
    /// The title of the meeting.
    pub title: String,
    /// The person who booked.
    pub invitee: Invitee,
    /// Further people who are invited.
    pub guests: Vec<Guest>,
    /// By the questions' keys.
    pub answers: BTreeMap<String, Value>,
    /// The invitee's notes.
    pub notes: Option<String>,
    /// Hosts that were assigned.
    pub host_ids: Vec<String>,
    /// The connection whose calendar has the organizer's event.
    pub organizer_connection_id: Option<String>,
    /// The place of the meeting.
    pub location: Option<BookingPlace>,
    /// The booking's event in each host's calendar.
    pub calendar_events: Vec<BookingEvent>,
    /// Seats that the booking takes.
    pub seats: i64,
    /// RFC 5545 SEQUENCE: goes up with every reschedule.
    pub sequence: i64,
    /// RFC 5545 UID of the meeting.
    pub i_cal_uid: String,
    /// The start before the last reschedule.
    pub previous_start: Option<Instant>,
    /// The number of reschedules.
    pub reschedule_count: i64,
    /// The party that rescheduled it last.
    pub rescheduled_by: Option<Party>,
    /// The party that cancelled it.
    pub cancelled_by: Option<Party>,
    /// The reason that was given for the cancellation.
    pub cancellation_reason: Option<String>,
    /// The reason that was given for the rejection.
    pub rejection_reason: Option<String>,
    /// Pending ones expire then.
    pub confirm_by: Option<Instant>,
    /// The people who did not come.
    pub no_show: NoShow,
    /// Lets the invitee cancel or reschedule the booking; only in the answer to the create.
    pub manage_token: Option<String>,
    /// The way in which it was booked.
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

/// The state of a booking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingStatus {
    /// A host must confirm it.
    Pending,
    /// The meeting takes place.
    #[default]
    Confirmed,
    /// A host rejected it.
    Rejected,
    /// It was cancelled.
    Cancelled,
    /// It was not confirmed in time.
    Expired,
    /// The meeting is over.
    Completed,
}

/// The person who booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Invitee {
    /// The name.
    pub name: Option<String>,
    /// The email address.
    pub email: String,
    /// The phone number.
    pub phone: Option<String>,
    /// BCP 47.
    pub locale: Option<String>,
    /// IANA name.
    pub time_zone: Option<String>,
}

/// A further person who is invited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Guest {
    /// The name.
    pub name: Option<String>,
    /// The email address.
    pub email: String,
}

/// The place of a meeting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingPlace {
    /// The kind of place.
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
    /// The address, the number or the link.
    pub value: Option<String>,
    /// The address to join the meeting at.
    pub join_url: Option<String>,
}

/// The booking in one host's calendar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingEvent {
    /// The host's connection.
    pub connection_id: String,
    /// The calendar's id.
    pub calendar_id: Option<String>,
    /// The event's id; null until it is written.
    pub event_id: Option<String>,
    /// The state of the event.
    pub status: BookingEventStatus,
    /// The reason why the event could not be written, or a note that the host made it an all-day event.
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

/// The party that created, changed or cancelled a booking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Party {
    /// The invitee.
    Invitee,
    /// A host.
    Host,
    /// A caller of the API.
    #[default]
    Api,
    /// This service.
    System,
}

/// The people who did not come to a meeting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NoShow {
    /// Whether the host did not come.
    pub host: bool,
    /// Addresses of invitees and guests who did not come.
    pub invitee_emails: Vec<String>,
}

/// The way in which a slot was booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BookingSource {
    /// Through the API.
    #[default]
    Api,
    /// On a booking page.
    Widget,
}

/// Books a slot. A `start` that the slot search does not offer gives 409 `slot_unavailable`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["eventTypeId", "start", "inviteeEmail"])))]
pub struct NewBooking {
    /// The id of the event type.
    pub event_type_id: String,
    /// The link of the event type that the invitee came by; one that is good for a single booking is used up.
    pub slug: Option<String>,
    /// The start of a slot.
    pub start: Instant,
    /// The invitee's email address.
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
    /// Further people who are invited.
    pub guests: Vec<Guest>,
    /// By the questions' keys.
    pub answers: BTreeMap<String, Value>,
    /// The place, one of the event type's.
    pub location: Option<BookingPlace>,
    /// Notes for the hosts.
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
    /// The start of the new slot.
    pub start: Instant,
    /// One of the event type's options. Null: as long as before, where the event type still has that.
    pub duration_minutes: Option<i64>,
    /// From the slot.
    pub slot_token: Option<String>,
    /// The invitee's token: the event type's `reschedule` rules apply. A key without `scheduling.write` needs it.
    pub manage_token: Option<String>,
}
