//! BookingLink, Slot and the search for slots: the data of a booking page, without private data of hosts.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
use crate::calendar_query::TargetErrorCode;
#[cfg(feature = "schema")]
use crate::formats;
use crate::scheduling::event_type::{BookingWindow, MeetingPlaceKind, Question};

/// The public side of an event type, without its hosts' addresses, calendars and reasons for being busy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingLink {
    /// The last part of the booking page's address.
    pub slug: String,
    /// The address of the booking page.
    pub url: String,
    /// The id of the event type.
    pub event_type_id: String,
    /// The title that invitees see.
    pub title: String,
    /// The description that invitees see; null if there is none.
    pub description: Option<String>,
    /// The length of a meeting in minutes.
    pub duration_minutes: i64,
    /// Further lengths in minutes that the invitee can choose from; empty if there is only `durationMinutes`.
    pub duration_options: Vec<i64>,
    /// The places that invitees can choose from.
    pub locations: Vec<PublicPlace>,
    /// The names and pictures of the hosts.
    pub hosts: Vec<PublicHost>,
    /// The time zone of the opening hours, an IANA name such as `Europe/Berlin`.
    pub time_zone: String,
    /// The questions to the invitee.
    pub questions: Vec<Question>,
    /// The days that can be booked.
    pub booking_window: BookingWindow,
    /// Whether a booking is pending until a host confirms it.
    pub requires_confirmation: bool,
    /// The number of bookings that can share one meeting; null if each booking is a meeting of its own.
    pub seats_per_slot: Option<i64>,
    /// The look of the booking page.
    pub branding: Branding,
    /// Whether the link can be booked: the event type is active, and the link is neither expired nor used up.
    pub active: bool,
    /// Whether the link is valid for one booking only.
    pub single_use: bool,
    /// The number of bookings that the link is still valid for; null if there is no limit.
    pub uses_remaining: Option<i64>,
    /// The time at which the link expires; null if it does not expire.
    pub expires_at: Option<Instant>,
}

/// A further link to an event type, with a slug that cannot be guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewBookingLink {
    /// Whether the link is valid for one booking only.
    pub single_use: bool,
    /// The time in the future at which the link expires. Null: it does not expire.
    pub expires_at: Option<Instant>,
}

/// A place without its link or number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PublicPlace {
    /// The kind of place.
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
}

/// The public side of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PublicHost {
    /// The host's name; null if none is shown.
    pub name: Option<String>,
    /// The URL of the host's picture; null if there is none.
    pub avatar_url: Option<String>,
}

/// The look of a booking page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Branding {
    /// The URL of the logo; null if there is none.
    pub logo_url: Option<String>,
    /// The color of the booking page, as `#rrggbb`; null for the default.
    pub color: Option<String>,
}

/// A search for slots of an event type, by id or by slug.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start", "end"])))]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["exactly one of eventTypeId and slug", "end is after start"])))]
pub struct SlotQuery {
    /// The id of the event type. Exactly one of `eventTypeId` and `slug` is required.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub event_type_id: Option<String>,
    /// The slug of a booking link. Exactly one of `eventTypeId` and `slug` is required.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Slug>"))]
    pub slug: Option<String>,
    /// The start of the search, inclusive.
    pub start: Instant,
    /// The end of the search, exclusive, at most 62 days after `start`.
    pub end: Instant,
    /// The time zone of `localStart`, an IANA name such as `Europe/Berlin`. Null: the event type's time zone.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The length of the meeting in minutes, one of the event type's. Null: the event type's `durationMinutes`.
    #[cfg_attr(feature = "schema", schemars(range(min = bounds::scheduling::MIN_DURATION, max = bounds::scheduling::MAX_DURATION)))]
    pub duration_minutes: Option<i64>,
    /// The id of a booking that is being rescheduled, whose own time counts as free. Null: no booking.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub reschedule_booking_id: Option<String>,
    /// The hosts of the rotation who may be chosen, by their connections. Null: all of them.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>"))]
    pub host_ids: Option<Vec<String>>,
    /// The most slots on a page, at least 1; more than 1,000 count as 1,000. Null: 1,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: Option<i64>,
    /// The `next_cursor` of the previous page. Null: the first page.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Cursor>"))]
    pub cursor: Option<String>,
}

/// A page of slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SlotAnswer {
    /// The slots of this page, sorted by their start.
    pub data: Vec<Slot>,
    /// The cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The time zone of `localStart`, an IANA name.
    pub time_zone: String,
    /// The time at which the slots were computed.
    pub computed_at: Instant,
    /// Whether the busy times of every host were read.
    pub complete: bool,
    /// The hosts whose busy times could not be read. Empty for a key without `scheduling.read`.
    pub unavailable_hosts: Vec<UnavailableHost>,
}

/// A time that can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Slot {
    /// The start of the meeting, inclusive.
    pub start: Instant,
    /// The end of the meeting, exclusive.
    pub end: Instant,
    /// The start as a local time with its offset, in the requested time zone.
    pub local_start: String,
    /// The connections of the hosts who are free. Null for a key without `scheduling.read`, which sees only `hostCount`.
    pub host_ids: Option<Vec<String>>,
    /// The number of hosts who are free.
    pub host_count: i64,
    /// The number of free seats. Null if the event type has no seats, or if the caller may not see them.
    pub seats_remaining: Option<i64>,
    /// A token that makes booking this slot faster; pass it as `slotToken`. It does not reserve the slot.
    pub slot_token: Option<String>,
}

/// A host whose busy times could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnavailableHost {
    /// The host's connection.
    pub host_id: String,
    /// The reason why the busy times could not be read.
    pub code: TargetErrorCode,
}
