//! A move of a booking: as it was requested, and as it was decided.

use base::tenant::Tenant;
use model::scheduling::booking::{BookingMove, Party};
use model::scheduling::event_type::EventType;
use scheduling::rules::Rules;
use serde_json::Value;

use crate::bookings::engine_input::HostBusyTimes;

/// A requested move.
#[derive(Clone)]
pub struct RescheduleRequest {
    pub tenant: Tenant,
    pub id: String,
    pub by: Party,
    pub new: BookingMove,
    /// The version in the link that the invitee used.
    pub manage_version: Option<i64>,
    pub sees_hosts: bool,
    pub warnings: Vec<Value>,
}

/// A move to be decided in its transaction.
#[derive(Clone)]
pub struct RescheduleDecision {
    pub request: RescheduleRequest,
    /// The version of the booking that was read.
    pub booking_version: i64,
    /// The event type that was read.
    pub event_type_id: String,
    pub version: i64,
    /// The event type with the hours of its shared schedule, and the etag of that schedule.
    pub event_type: EventType,
    pub schedule_etag: Option<String>,
    pub rules: Rules,
    pub busy: HostBusyTimes,
    pub start_ms: i64,
    pub end_ms: i64,
    /// Whether no other booking has a seat in the meeting.
    pub is_alone: bool,
}

impl RescheduleDecision {
    /// Whether the host has to confirm the booking again: after an invitee's move.
    pub fn needs_confirmation(&self) -> bool {
        self.request.by == Party::Invitee && self.event_type.requires_confirmation
    }

    /// Whether the new time is reserved now. As for a new booking, a seat in a shared meeting is always reserved.
    pub fn takes_time(&self) -> bool {
        !self.needs_confirmation() || self.event_type.pending_blocks_slot || self.rules.seats > 1
    }
}
