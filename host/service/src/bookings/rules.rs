//! Converts an event type to the engine's rules. Pure.

use base::error::{Code, Error, Result, invalid};
use model::scheduling::Schedule;
use model::scheduling::event_type::{EventType, FreeBusyFailure};
use scheduling::hours::{Fault, FaultKind, Zone};
use scheduling::rules::{Limits, Rules, Window};
use scheduling::week_plan::WeekPlan;

pub const MINUTE_MS: i64 = 60_000;

/// The rules of an event type for meetings of so many minutes. An error names the field.
pub fn for_event_type(event_type: &EventType, duration_minutes: i64) -> Result<Rules> {
    let step = event_type.slot_interval_minutes.unwrap_or(duration_minutes);
    let seats = event_type.seats_per_slot.and_then(|seats| u32::try_from(seats).ok());
    Ok(Rules {
        duration_ms: duration_minutes * MINUTE_MS,
        step_ms: step * MINUTE_MS,
        offset_ms: event_type.slot_offset_minutes * MINUTE_MS,
        buffer_before_ms: event_type.buffer_before_minutes * MINUTE_MS,
        buffer_after_ms: event_type.buffer_after_minutes * MINUTE_MS,
        notice_ms: event_type.min_notice_minutes * MINUTE_MS,
        window: Window::read(&event_type.booking_window).map_err(|f| within("bookingWindow", &f))?,
        limits: Limits::read(&event_type.limits).map_err(|f| within("limits", &f))?,
        seats: seats.unwrap_or(1),
        assignment: event_type.assignment,
        strategy: event_type.round_robin_strategy,
        zone: zone(event_type),
        plan: plan("schedule", event_type.schedule.as_ref())?,
        unknown_is_free: event_type.free_busy_failure == FreeBusyFailure::Open,
    })
}

/// The hours of a schedule, if there is one; `field` is its position.
pub fn plan(field: &str, schedule: Option<&Schedule>) -> Result<Option<WeekPlan>> {
    schedule.map(WeekPlan::read).transpose().map_err(|fault| within(field, &fault))
}

/// The zone of an event type: that of its schedule, else that of the first host who has one.
pub fn zone(event_type: &EventType) -> Zone {
    let of_hosts = event_type.hosts.iter().filter_map(|host| host.schedule.as_ref());
    let mut schedules = event_type.schedule.iter().chain(of_hosts);
    schedules.find_map(|schedule| Zone::named(&schedule.time_zone)).unwrap_or_else(Zone::utc)
}

/// Normalizes the zone names of an event type's schedules: `asia/kolkata` becomes `Asia/Kolkata`.
pub fn name_zones(event_type: &mut EventType) {
    let of_hosts = event_type.hosts.iter_mut().filter_map(|host| host.schedule.as_mut());
    for schedule in event_type.schedule.iter_mut().chain(of_hosts) {
        if let Some(zone) = Zone::named(&schedule.time_zone) {
            schedule.time_zone = zone.name;
        }
    }
}

/// The length of a booking in minutes: the requested one, if the event type has it.
pub fn duration(event_type: &EventType, asked: Option<i64>) -> Result<i64> {
    let minutes = asked.unwrap_or(event_type.duration_minutes);
    if minutes == event_type.duration_minutes || event_type.duration_options.contains(&minutes) {
        return Ok(minutes);
    }
    let mut all = vec![event_type.duration_minutes.to_string()];
    all.extend(event_type.duration_options.iter().map(i64::to_string));
    let message = format!("durationMinutes must be one of the event type's: {}", all.join(", "));
    Err(invalid(Code::InvalidParameter, "durationMinutes", message))
}

/// An error inside a field.
fn within(field: &str, fault: &Fault) -> Error {
    of_field(format!("{field}.{}", fault.field), fault)
}

/// Converts a fault to an error that names this field.
pub fn of_field(field: String, fault: &Fault) -> Error {
    let code = match fault.kind {
        FaultKind::Missing => Code::MissingField,
        FaultKind::Invalid => Code::InvalidParameter,
        FaultKind::TimeZone => Code::InvalidTimeZone,
    };
    let message = format!("{field}: {}", fault.message);
    invalid(code, field, message)
}
