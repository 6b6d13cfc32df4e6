//! A move of a booking: as it was requested, and as it was decided.

use base::tenant::Tenant;
use model::scheduling::booking::{BookingMove, Party};
use model::scheduling::event_type::EventType;
use scheduling::rules::Rules;
use serde_json::Value;

use crate::bookings::engine_input::HostBusyTimes;

/// Who moves which booking to which time.
#[derive(Clone)]
pub struct RescheduleRequest {
    pub tenant: Tenant,
    pub id: String,
    pub by: Party,
    pub new: BookingMove,
    /// Of the link that the invitee came by.
    pub manage_version: Option<i64>,
    pub sees_hosts: bool,
    pub warnings: Vec<Value>,
}

/// A move that is decided in its transaction.
#[derive(Clone)]
pub struct RescheduleDecision {
    pub request: RescheduleRequest,
    /// Of the booking as it was read.
    pub booking_version: i64,
    /// The event type as it was read.
    pub event_type_id: String,
    pub version: i64,
    /// With the hours of the shared schedule that it names; the etag of that.
    pub event_type: EventType,
    pub schedule_etag: Option<String>,
    pub rules: Rules,
    pub busy: HostBusyTimes,
    pub start_ms: i64,
    pub end_ms: i64,
    /// Nobody else has a seat in the meeting.
    pub is_alone: bool,
}

impl RescheduleDecision {
    /// Whether the host has to confirm the booking again: after an invitee's move.
    pub fn needs_confirmation(&self) -> bool {
        self.request.by == Party::Invitee && self.event_type.requires_confirmation
    }

    /// Whether the new time is the booking's from now on. As for a new booking, a seat beside others is held in any case.
    pub fn takes_time(&self) -> bool {
        !self.needs_confirmation() || self.event_type.pending_blocks_slot || self.rules.seats > 1
    }
}
