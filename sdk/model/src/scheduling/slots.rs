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
    pub slug: String,
    /// The booking page.
    pub url: String,
    pub event_type_id: String,
    pub title: String,
    pub description: Option<String>,
    pub duration_minutes: i64,
    pub duration_options: Vec<i64>,
    pub locations: Vec<PublicPlace>,
    pub hosts: Vec<PublicHost>,
    /// IANA name.
    pub time_zone: String,
    pub questions: Vec<Question>,
    pub booking_window: BookingWindow,
    pub requires_confirmation: bool,
    pub seats_per_slot: Option<i64>,
    pub branding: Branding,
    pub active: bool,
    pub single_use: bool,
    pub uses_remaining: Option<i64>,
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
    #[serde(rename = "type")]
    pub kind: MeetingPlaceKind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PublicHost {
    pub name: Option<String>,
    pub avatar_url: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Branding {
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
    pub event_type_id: Option<String>,
    pub slug: Option<String>,
    pub start: Instant,
    /// At most 62 days after `start`.
    pub end: Instant,
    /// IANA name: the zone of `localStart`.
    pub time_zone: Option<String>,
    /// One of the event type's options.
    pub duration_minutes: Option<i64>,
    /// This booking's own slot counts as free.
    pub reschedule_booking_id: Option<String>,
    pub host_ids: Option<Vec<String>>,
    pub limit: Option<i64>,
    pub cursor: Option<String>,
}

/// A page of slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SlotAnswer {
    pub data: Vec<Slot>,
    pub next_cursor: Option<String>,
    pub time_zone: String,
    pub computed_at: Instant,
    /// Every host's busy times were read.
    pub complete: bool,
    pub unavailable_hosts: Vec<UnavailableHost>,
}

/// A time that can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Slot {
    pub start: Instant,
    pub end: Instant,
    /// `start` with the offset of the requested zone.
    pub local_start: String,
    /// Null if the caller may not see the hosts: see `hostCount`.
    pub host_ids: Option<Vec<String>>,
    pub host_count: i64,
    pub seats_remaining: Option<i64>,
    /// Makes the check of a booking faster; it does not reserve the slot.
    pub slot_token: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct UnavailableHost {
    pub host_id: String,
    pub code: TargetErrorCode,
}
