//! Booking: a slot that an invitee reserved.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Metadata, Nothing};

pub use crate::scheduling::booking_parts::{
    BookingEvent, BookingEventStatus, BookingPlace, Guest, Invitee, NoShow,
};

/// A slot that an invitee reserved. It keeps its id and iCalUid when it is rescheduled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Booking {
    /// The id of the event type that was booked.
    pub event_type_id: String,
    /// The slug of the event type at the time of the booking.
    pub slug: String,
    /// The state of the booking.
    pub status: BookingStatus,
    /// The start of the meeting, inclusive.
    pub start: Instant,
    /// The end of the meeting, exclusive.
    pub end: Instant,
    /// The invitee's time zone, an IANA name such as `Europe/Berlin`; the event type's time zone if the invitee gave none.
    pub time_zone: String,
    /// The title of the calendar event, made from the event type's `titleTemplate`.
    pub title: String,
    /// The person who booked.
    pub invitee: Invitee,
    /// Further people whom the invitee asked to invite.
    pub guests: Vec<Guest>,
    /// The invitee's answers to the event type's questions, by the questions' keys.
    pub answers: BTreeMap<String, Value>,
    /// The invitee's notes for the hosts; null if there are none.
    pub notes: Option<String>,
    /// The connections of the hosts who were assigned. Empty for a key without `scheduling.read`.
    pub host_ids: Vec<String>,
    /// The connection in whose calendar the organizer's event is. Null for a key without `scheduling.read`.
    pub organizer_connection_id: Option<String>,
    /// The place of the meeting; null if the event type has no places.
    pub location: Option<BookingPlace>,
    /// The meeting's event in each host's calendar. Empty for a key without `scheduling.read`.
    pub calendar_events: Vec<BookingEvent>,
    /// The number of seats that the booking takes.
    pub seats: i64,
    /// The revision of the invitation (SEQUENCE of RFC 5545), which goes up with every reschedule.
    pub sequence: i64,
    /// The UID of the meeting (RFC 5545). It stays the same when the booking is rescheduled, as long as the organizer is the same.
    pub i_cal_uid: String,
    /// The start before the last reschedule; null if the booking was never rescheduled.
    pub previous_start: Option<Instant>,
    /// The number of times that the booking was rescheduled.
    pub reschedule_count: i64,
    /// The party that rescheduled the booking last; null if it was never rescheduled.
    pub rescheduled_by: Option<Party>,
    /// The party that cancelled the booking; null if it is not cancelled.
    pub cancelled_by: Option<Party>,
    /// The reason that was given for the cancellation; null if there is none.
    pub cancellation_reason: Option<String>,
    /// The reason that a host gave for the rejection; null if there is none.
    pub rejection_reason: Option<String>,
    /// The time at which a pending booking expires unless a host confirms it; null in every other state.
    pub confirm_by: Option<Instant>,
    /// The people who did not come, which you can set once the booking has begun.
    pub no_show: NoShow,
    /// A secret by which the invitee can cancel or reschedule the booking. Only in the answer to the create; null in every other
    /// answer.
    pub manage_token: Option<String>,
    /// The way in which the slot was booked.
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
    /// The id of the event type to book.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub event_type_id: String,
    /// The link of the event type that the invitee came by, which is used up if it is valid for a single booking. Null: no link is
    /// used.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Slug>"))]
    pub slug: Option<String>,
    /// The start of a slot, as the slot search returned it.
    pub start: Instant,
    /// The invitee's email address, to which messages about the booking are sent.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Email"))]
    pub invitee_email: String,
    /// The invitee's name, one line of at most 256 characters without a web address. A name that can be taken for a link, such as
    /// `example.org`, is shown to hosts; titles, subjects and invitations show the email address instead. Null: the email address is
    /// used.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::scheduling::MAX_NAME)))]
    pub invitee_name: Option<String>,
    /// The invitee's time zone, an IANA name such as `Europe/Berlin`. Null: the event type's time zone.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub invitee_time_zone: Option<String>,
    /// The invitee's phone number, which is shown to hosts only: at most 64 characters, of which at most ten are letters. Required
    /// if the host calls the invitee.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_PHONE), regex(pattern = r"^[A-Za-z0-9+().#*/;=:, -]*[0-9][A-Za-z0-9+().#*/;=:, -]*$")))]
    pub invitee_phone: Option<String>,
    /// The length of the meeting in minutes, one of the event type's. Null: the event type's `durationMinutes`.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION)))]
    pub duration_minutes: Option<i64>,
    /// Further people to invite, at most 50.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_GUESTS)))]
    pub guests: Vec<Guest>,
    /// Answers to the event type's questions by the questions' keys, at most 32 KiB together: a text, number, true or false, an option,
    /// or a list of options, as the question asks. Questions that are `required` need an answer.
    pub answers: BTreeMap<String, Value>,
    /// The place of the meeting, one of the event type's. Null: the first of them.
    pub location: Option<BookingPlace>,
    /// Notes for the hosts, at most 10,000 characters.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_NOTES)))]
    pub notes: Option<String>,
    /// Your own notes on the booking, by keys of your choice. Only keys with `scheduling.read` can set them.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub metadata: Metadata,
    /// The `slotToken` of the slot, which makes the booking faster. Null: the slot is searched for.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::SignedToken>"))]
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
    /// The reason, at most 2,000 characters, which the invitee is sent and which is stored as `rejectionReason`. Null: no reason.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_REASON)))]
    pub reason: Option<String>,
}

/// Cancels a booking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingCancellation {
    /// The reason, at most 2,000 characters, which is stored as `cancellationReason`. Null: no reason.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_REASON)))]
    pub reason: Option<String>,
    /// The invitee's token, for which the event type's `cancellation` rules apply. Required for a key without `scheduling.write`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::SignedToken>"))]
    pub manage_token: Option<String>,
}

/// Reschedules a booking. A `start` that the slot search does not offer for it gives 409 `slot_unavailable`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start"])))]
pub struct BookingMove {
    /// The start of the new slot, as the slot search returned it for this `rescheduleBookingId`.
    pub start: Instant,
    /// The new length in minutes, one of the event type's. Null: the length stays as it is, if the event type still has it.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION)))]
    pub duration_minutes: Option<i64>,
    /// The `slotToken` of the new slot, which makes the call faster. Null: the slot is searched for.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::SignedToken>"))]
    pub slot_token: Option<String>,
    /// The invitee's token, for which the event type's `reschedule` rules apply. Required for a key without `scheduling.write`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::SignedToken>"))]
    pub manage_token: Option<String>,
}
