//! `getSchedule`: when people of an organization are busy.

use chrono::{Duration, NaiveDateTime};
use serde_json::{Value, json};

use crate::graph::calendar::book::CalendarBook;
use crate::graph::calendar::calendar_view::{self, ViewRange};
use crate::graph::calendar::event_body::action_parameter;
use crate::graph::calendar::instances::EventShape;
use crate::graph::calendar::places;
use crate::graph::calendar::show;
use crate::graph::calendar::span::{AskedZone, EventSpan};
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::state::GraphState;

/// The length of a slot of `availabilityView` in minutes, unless the request names one.
const USUAL_SLOT_MINUTES: i64 = 30;

/// A schedule that a request asks for.
struct ScheduleAsk {
    range: ViewRange,
    slot: Duration,
    asked: AskedZone,
    has_items: bool,
}

/// `POST …/getSchedule`
pub fn get_schedule(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    if places::book(state, call)?.is_personal {
        return Err(GraphError::access_denied());
    }
    let has_items = !state.traps.fires("schedule_items_hidden");
    let ask = read_ask(call, has_items)?;
    let schedules =
        action_parameter(&call.body, "schedules").as_array().map(Vec::as_slice).unwrap_or_default();
    if schedules.len() > facts::number("calendar_limits", "schedule_addresses") {
        let message = "The number of mailboxes in the request is more than the limit.";
        return Err(GraphError::new(400, "ErrorTooManyMailboxes", message));
    }
    let addresses = schedules.iter().filter_map(Value::as_str);
    let value = addresses.map(|address| schedule(state, &ask, address)).collect::<Vec<_>>();
    let context = format!("{}/$metadata#Collection(microsoft.graph.scheduleInformation)", call.link_root);
    Ok(json_reply(200, &json!({ "@odata.context": context, "value": value })))
}

fn read_ask(call: &GraphCall, has_items: bool) -> Result<ScheduleAsk, GraphError> {
    let bound = |name: &str| action_parameter(&call.body, name);
    let span = EventSpan::parse(bound("startTime"), bound("endTime"), false)?;
    let range = ViewRange { from: span.start, to: span.end };
    let most = i64::try_from(facts::number("calendar_limits", "schedule_days")).unwrap_or(i64::MAX);
    if range.from >= range.to {
        return Err(GraphError::new(400, "ErrorInvalidTimeInterval", "The time interval is empty."));
    }
    if range.to - range.from >= Duration::days(most) {
        let message = "The requested time interval is longer than the limit.";
        return Err(GraphError::new(400, "ErrorTimeIntervalTooBig", message));
    }
    let minutes = bound("availabilityViewInterval").as_i64().unwrap_or(USUAL_SLOT_MINUTES);
    if !(5..=1440).contains(&minutes) {
        let message = "The availabilityViewInterval is not from 5 to 1440 minutes.";
        return Err(GraphError::new(400, "ErrorInvalidMergedFreeBusyInterval", message));
    }
    let asked = AskedZone::read(call.prefer.time_zone.as_deref())?;
    Ok(ScheduleAsk { range, slot: Duration::minutes(minutes), asked, has_items })
}

/// The schedule of one address; its own error where there is no such mailbox.
fn schedule(state: &GraphState, ask: &ScheduleAsk, address: &str) -> Value {
    let book = state.calendars.values().find(|book| book.address.eq_ignore_ascii_case(address));
    let Some(book) = book.filter(|book| !book.is_personal) else {
        return json!({
            "scheduleId": address,
            "error": {
                "message": format!("Unable to resolve e-mail address {address} to an Active Directory object."),
                "responseCode": "ErrorMailRecipientNotFound",
            },
        });
    };
    let shapes = calendar_view::shapes(book, &book.default_calendar(), ask.range);
    let shapes: Vec<EventShape<'_>> = shapes
        .into_iter()
        .filter(|shape| shape.members.get("isCancelled") != Some(&Value::Bool(true)))
        .collect();
    let items: Vec<Value> = match ask.has_items {
        true => shapes
            .iter()
            .filter(|shape| status(shape) != "free")
            .map(|shape| item(shape, &ask.asked))
            .collect(),
        false => Vec::new(),
    };
    json!({
        "scheduleId": address,
        "availabilityView": availability(&shapes, ask),
        "scheduleItems": items,
        "workingHours": working_hours(book),
    })
}

fn status<'s>(shape: &'s EventShape<'_>) -> &'s str {
    shape.members.get("showAs").and_then(Value::as_str).unwrap_or("busy")
}

fn item(shape: &EventShape<'_>, asked: &AskedZone) -> Value {
    let (start, end) = shape.span.instants();
    let is_private = matches!(
        shape.members.get("sensitivity").and_then(Value::as_str),
        Some("private" | "confidential" | "personal")
    );
    json!({
        "status": status(shape),
        "isPrivate": is_private,
        "start": show::plain_time(start, asked),
        "end": show::plain_time(end, asked),
    })
}

/// A digit for each slot: the highest of the events in it.
fn availability(shapes: &[EventShape<'_>], ask: &ScheduleAsk) -> String {
    let mut text = String::new();
    let mut from: NaiveDateTime = ask.range.from;
    while from < ask.range.to {
        let to = (from + ask.slot).min(ask.range.to);
        let digits =
            shapes.iter().filter(|shape| shape.span.overlaps(from, to)).map(|shape| digit(status(shape)));
        text.push(digits.max().unwrap_or('0'));
        from = to;
    }
    text
}

/// Free and working elsewhere are one.
fn digit(status: &str) -> char {
    match status {
        "free" | "workingElsewhere" => '0',
        "tentative" => '1',
        "oof" => '3',
        _ => '2',
    }
}

fn working_hours(book: &CalendarBook) -> Value {
    json!({
        "daysOfWeek": ["monday", "tuesday", "wednesday", "thursday", "friday"],
        "startTime": "08:00:00.0000000",
        "endTime": "17:00:00.0000000",
        "timeZone": { "name": book.time_zone },
    })
}
