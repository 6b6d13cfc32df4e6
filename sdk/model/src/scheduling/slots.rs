//! BookingLink, Slot and the search for slots: the data of a booking page, without private data of hosts.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::calendar_query::TargetErrorCode;
use crate::scheduling::event_type::{BookingWindow, MeetingPlaceKind, Question};

/// The public side of an event type. Never a host's address, calendars or reasons for being busy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BookingLink {
    /// The last part of the booking page's address.
    pub slug: String,
    /// The booking page.
    pub url: String,
    /// The id of the event type.
    pub event_type_id: String,
    /// The title that invitees see.
    pub title: String,
    /// The description that invitees see.
    pub description: Option<String>,
    /// The length, minutes.
    pub duration_minutes: i64,
    /// Lengths that the invitee can choose from, minutes.
    pub duration_options: Vec<i64>,
    /// The places that invitees can choose from.
    pub locations: Vec<PublicPlace>,
    /// The names and pictures of hosts.
    pub hosts: Vec<PublicHost>,
    /// IANA name.
    pub time_zone: String,
    /// Questions to the invitee.
    pub questions: Vec<Question>,
    /// The days that can be booked.
    pub booking_window: BookingWindow,
    /// Whether a booking is pending until a host confirms it.
    pub requires_confirmation: bool,
    /// Bookings that share one meeting; null: one.
    pub seats_per_slot: Option<i64>,
    /// The look of the booking page.
    pub branding: Branding,
    /// Whether it can be booked.
    pub active: bool,
    /// Whether the link is valid for one booking.
    pub single_use: bool,
    /// Bookings that the link is still valid for; null: no limit.
    pub uses_remaining: Option<i64>,
    /// The end of the link's validity; null: it does not expire.
    pub expires_at: Option<Instant>,
}

/// Makes a further link to an event type, with a slug that cannot be guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewBookingLink {
    /// The link is valid for one booking.
    pub single_use: bool,
    /// The end of the link's validity. Null: it does not expire.
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
    /// The host's name; null: none is shown.
    pub name: Option<String>,
    /// The address of the host's picture.
    pub avatar_url: Option<String>,
}

/// The look of a booking page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Branding {
    /// The address of the logo.
    pub logo_url: Option<String>,
    /// `#rrggbb`.
    pub color: Option<String>,
}

/// A search for slots of an event type, by id or by slug.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["start", "end"])))]
pub struct SlotQuery {
    /// The event type; or `slug`.
    pub event_type_id: Option<String>,
    /// The link's slug; or `eventTypeId`.
    pub slug: Option<String>,
    /// The start of the search, inclusive.
    pub start: Instant,
    /// At most 62 days after `start`.
    pub end: Instant,
    /// IANA name: the zone of `localStart`.
    pub time_zone: Option<String>,
    /// One of the event type's options.
    pub duration_minutes: Option<i64>,
    /// This booking's own slot counts as free.
    pub reschedule_booking_id: Option<String>,
    /// Only slots of these hosts.
    pub host_ids: Option<Vec<String>>,
    /// Most slots on a page.
    pub limit: Option<i64>,
    /// The `nextCursor` of the page before; absent: the first page.
    pub cursor: Option<String>,
}

/// A page of slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SlotAnswer {
    /// The slots, in order.
    pub data: Vec<Slot>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
    /// IANA name of the zone of `localStart`.
    pub time_zone: String,
    /// The time of the search.
    pub computed_at: Instant,
    /// Every host's busy times were read.
    pub complete: bool,
    /// Hosts whose busy times could not be read.
    pub unavailable_hosts: Vec<UnavailableHost>,
}

/// A time that can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Slot {
    /// The start, inclusive.
    pub start: Instant,
    /// The end, exclusive.
    pub end: Instant,
    /// `start` with the offset of the requested zone.
    pub local_start: String,
    /// Null if the caller may not see the hosts: see `hostCount`.
    pub host_ids: Option<Vec<String>>,
    /// The number of hosts who are free.
    pub host_count: i64,
    /// Free seats; null without seats, or if they are not shown.
    pub seats_remaining: Option<i64>,
    /// Makes the check of a booking faster; it does not reserve the slot.
    pub slot_token: Option<String>,
}

/// A host whose busy times could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnavailableHost {
    /// The host's id.
    pub host_id: String,
    /// The reason.
    pub code: TargetErrorCode,
}
