//! Conferences that an event is to have: requested with a write, there some reads later.

use serde_json::{Value, json};

use crate::google::call::{Call, stored, stored_mut};
use crate::google::errors::ApiError;
use crate::google::state::{CalendarKind, EventRecord, State};

/// Reads after which a requested conference exists.
const READS: u32 = 1;

/// Takes a request for a conference into an event as it is to be stored. A request whose id the event already has changes nothing.
///
/// # Errors
/// The calendar does not allow this kind of conference, or the request is incomplete: 400.
pub fn request(state: &State, call: &Call, calendar: &str, record: &mut EventRecord) -> Result<(), ApiError> {
    if call.parameter("conferenceDataVersion") != Some("1") {
        return Ok(());
    }
    let request = &call.body["conferenceData"]["createRequest"];
    if call.body.get("conferenceData").is_some_and(Value::is_null) {
        record.members.remove("hangoutLink");
        record.pending_reads = None;
    }
    if !request.is_object() {
        return Ok(());
    }
    let Some(id) = request["requestId"].as_str().filter(|id| !id.is_empty()) else {
        return Err(ApiError::required("Missing conference request id."));
    };
    let home = stored(state, calendar)?;
    let kind = request["conferenceSolutionKey"]["type"].as_str().unwrap_or("hangoutsMeet");
    let has_none = matches!(home.kind, CalendarKind::Holidays | CalendarKind::Birthdays);
    if kind != "hangoutsMeet" || has_none {
        return Err(ApiError::invalid("Invalid conference type value."));
    }
    let before = record.text("id").and_then(|id| home.events.get(id));
    let before = before.and_then(|record| record.members.get("conferenceData"));
    if let Some(before) = before.filter(|before| before["createRequest"]["requestId"] == id) {
        record.members.insert("conferenceData".to_owned(), before.clone());
        return Ok(());
    }
    let pending = json!({ "createRequest": {
        "requestId": id, "conferenceSolutionKey": { "type": kind }, "status": { "statusCode": "pending" } } });
    record.members.insert("conferenceData".to_owned(), pending);
    record.pending_reads = Some(0);
    Ok(())
}

/// Counts a read of an event whose conference is not there yet; makes the conference when it is time.
///
/// # Errors
/// The calendar is gone: 404.
pub fn count_read(state: &mut State, calendar: &str, id: &str) -> Result<(), ApiError> {
    let (waits, fails) = (state.traps.is_on("conference_pending"), state.traps.is_on("conference_failure"));
    let number = state.latest() + 1;
    let Some(record) = stored_mut(state, calendar)?.events.get_mut(id) else { return Ok(()) };
    let Some(reads) = record.pending_reads else { return Ok(()) };
    record.pending_reads = Some(reads + 1);
    if waits || reads < READS {
        return Ok(());
    }
    record.pending_reads = None;
    record.changed = number;
    let code = format!("fak-{number:04}-ev");
    let link = format!("https://meet.google.com/{code}");
    if let Some(conference) = record.members.get_mut("conferenceData") {
        let status = if fails { "failure" } else { "success" };
        conference["createRequest"]["status"]["statusCode"] = status.into();
        if !fails {
            conference["conferenceId"] = code.into();
            conference["conferenceSolution"] =
                json!({ "key": { "type": "hangoutsMeet" }, "name": "Google Meet" });
            conference["entryPoints"] = json!([{ "entryPointType": "video", "uri": link, "label": link }]);
        }
    }
    if !fails {
        record.members.insert("hangoutLink".to_owned(), link.into());
    }
    state.next_change();
    state.channels.events_changed(calendar);
    Ok(())
}
