//! The API's representation of event types and bookings.

use base::error::Result;
use base::input::validate::fault;
use base::keyring::Keyring;
use model::Instant;
use model::resource::Resource;
use model::scheduling::booking::{Booking, BookingEvent};
use model::scheduling::event_type::EventType;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::event_types::EventTypeRow;
use storage::scheduling::meeting_events::MeetingEventRow;

/// The etag of a resource's visible fields.
pub fn etag(seen: &impl Serialize) -> Result<String> {
    let hash = Sha256::digest(serde_json::to_vec(seen)?);
    Ok(format!("\"{}\"", hex::encode(&hash[..8])))
}

/// An event type with all its fields.
pub fn event_type(row: &EventTypeRow, body: &EventType) -> Result<Value> {
    Ok(serde_json::to_value(Resource {
        id: row.id.clone(),
        etag: row.etag.clone(),
        created_at: Instant::from_millis(row.created_at),
        updated_at: Instant::from_millis(row.updated_at),
        metadata: serde_json::from_str(&row.metadata)?,
        body: body.clone(),
        ..Resource::default()
    })?)
}

/// A booking with the state of its events; without fields that identify its hosts if the caller may not see them.
pub fn booking(
    row: &BookingRow,
    body: &Booking,
    events: &[MeetingEventRow],
    sees_hosts: bool,
) -> Result<Value> {
    let mut body = body.clone();
    body.status = serde_json::from_value(row.status.as_str().into())?;
    body.start = Instant::from_millis(row.start_at);
    body.end = Instant::from_millis(row.end_at);
    body.confirm_by = row.confirm_by.map(Instant::from_millis);
    if sees_hosts {
        body.calendar_events = events.iter().map(event).collect::<Result<_>>()?;
    } else {
        body.host_ids.clear();
        body.organizer_connection_id = None;
    }
    Ok(serde_json::to_value(Resource {
        id: row.id.clone(),
        etag: row.etag.clone(),
        created_at: Instant::from_millis(row.created_at),
        updated_at: Instant::from_millis(row.updated_at),
        metadata: serde_json::from_str(&row.metadata)?,
        body,
        ..Resource::default()
    })?)
}

fn event(row: &MeetingEventRow) -> Result<BookingEvent> {
    Ok(BookingEvent {
        connection_id: row.connection_id.clone(),
        calendar_id: Some(row.calendar_id.clone()),
        event_id: row.event_id.clone(),
        status: serde_json::from_value(row.status.as_str().into())?,
        error: row.error.clone(),
    })
}

/// The ids of all connections in a booking's representation: its hosts', its organizer's, and those with its event. May contain duplicates.
pub fn accounts_of_booking<'a>(
    body: &'a Booking,
    events: &'a [MeetingEventRow],
) -> impl Iterator<Item = &'a String> {
    let events = events.iter().map(|event| &event.connection_id);
    body.host_ids.iter().chain(&body.organizer_connection_id).chain(events)
}

/// The ids of all connections that an event type uses: its hosts', and the one that sends its mail.
pub fn accounts_of_event_type(body: &EventType) -> impl Iterator<Item = &String> {
    let hosts = body.hosts.iter().map(|host| &host.connection_id);
    hosts.chain(&body.notifications.connection_id)
}

/// A token for a slot of the current version of an event type, by which a booking can be checked before anything is read. It does not
/// reserve the slot.
pub fn slot_token(keyring: &Keyring, row: &EventTypeRow, start_ms: i64, minutes: i64) -> String {
    let slot = ("slot", &row.id, row.version, start_ms, minutes);
    keyring.signed(storage::json_text(&slot).as_bytes())
}

/// Whether the token of this slot is of the current version of the event type. Fails for a token of another slot.
pub fn is_slot_current(
    keyring: &Keyring,
    token: &str,
    row: &EventTypeRow,
    start_ms: i64,
    minutes: i64,
) -> Result<bool> {
    let text = keyring.verified(token);
    let read: Option<(String, String, i64, i64, i64)> =
        text.and_then(|text| serde_json::from_slice(&text).ok());
    match read {
        Some((kind, id, version, start, long))
            if kind == "slot" && id == row.id && (start, long) == (start_ms, minutes) =>
        {
            Ok(version == row.version)
        }
        _ => Err(fault(
            "slotToken",
            "must be the token of the slot that is booked; leave it out if there is none",
        )),
    }
}
