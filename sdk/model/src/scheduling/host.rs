//! The hosts of an event type, and how they are chosen for a booking.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::scheduling::Schedule;

/// A person who can be booked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["connectionId"])))]
pub struct Host {
    /// The id of the host's connection. No other host of the event type has it.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The id of the calendar that bookings are written to. Null in a new host: the account's primary calendar, or else the first one
    /// that can be written to.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub calendar_id: Option<String>,
    /// The ids of the calendars whose events make the host busy, at most 50, beside the one that bookings are written to. Empty: all
    /// that count as busy.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::scheduling::MAX_CALENDARS), extend("uniqueItems" = true)))]
    pub conflict_calendar_ids: Vec<String>,
    /// The host's role in meetings.
    pub role: HostRole,
    /// The host's rank in the rotation: with the `assignment` `priority`, and among hosts that are otherwise equal, the smallest number
    /// is chosen first.
    #[cfg_attr(feature = "schema", schemars(range(min = -bounds::scheduling::MAX_PRIORITY, max = bounds::scheduling::MAX_PRIORITY)))]
    pub priority: i64,
    /// The host's share of the bookings if `roundRobinStrategy` is `weighted`; 0: the host is never chosen there.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = bounds::scheduling::MAX_WEIGHT)))]
    pub weight: i64,
    /// The host's own opening hours; null: those of the event type.
    pub schedule: Option<Schedule>,
    /// The name that invitees see. Null in a new host: the account's name, if it has one. Empty: no name is shown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::MAX_LINE)))]
    pub display_name: Option<String>,
    /// The https URL of the picture that invitees see; null for none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::HttpsUrl>"))]
    pub avatar_url: Option<String>,
}

/// The role of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum HostRole {
    /// Attends every meeting.
    #[default]
    Required,
    /// Takes turns with others.
    Rotation,
    /// Invited, but their busy times block no slot.
    Optional,
}

/// The way in which hosts are chosen for a booking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Assignment {
    /// The required hosts.
    #[default]
    Fixed,
    /// The required hosts and one of the rotation, by `roundRobinStrategy`.
    RoundRobin,
    /// The required hosts and all of the rotation.
    Collective,
    /// The required hosts and the one of the rotation with the smallest `priority` who is free.
    Priority,
}

/// The order in which a rotation chooses hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RoundRobinStrategy {
    /// The host with the fewest bookings.
    #[default]
    LeastLoaded,
    /// Hosts in proportion to their `weight`.
    Weighted,
    /// The host whose last assignment is longest ago.
    Soonest,
}
