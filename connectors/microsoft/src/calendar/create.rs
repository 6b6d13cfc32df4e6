//! New events. Each has a transaction id that follows from the idempotency key, so that Graph makes one of repeated attempts.

use connector_sdk::http::Request;
use connector_sdk::rest::id::{IdForm, stable_id};
use connector_sdk::{Context, Outcome, code};
use jiff::SignedDuration;
use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

use crate::api::ask;
use crate::calendar::native::{Event, EventName, EventPage};
use crate::calendar::read::read_event;
use crate::calendar::roots::{CREATED_NAMES, events};
use crate::odata::filter::quoted;

/// Characters of a transaction id.
const ID_LENGTH: usize = 32;
/// Events that are looked through for the one of an earlier attempt.
const PAGE_SIZE: &str = "200";

/// Makes an event. `salt`: what tells apart several events of one call. The event of an earlier attempt is taken where there is one: by
/// Graph itself, else because it is found.
pub fn insert(context: &Context, calendar: &str, mut body: Map<String, Value>, salt: &str) -> Outcome<Event> {
    if context.attempt() > 1
        && let Some(event) = find_earlier(context, calendar, &body, salt)?
    {
        return Ok(event);
    }
    let id = transaction_id(context, calendar, salt);
    body.insert("transactionId".to_owned(), json!(id));
    let request = Request::post(events(calendar, &[], &[])?).json(&body);
    match ask(context, request, "creating the event") {
        Err(failure) if failure.http_status == Some(409) => {
            find_earlier(context, calendar, &body, salt)?.ok_or(failure)
        }
        done => done,
    }
}

/// Returns the event that an earlier attempt has made of this body.
pub fn find_earlier(
    context: &Context,
    calendar: &str,
    body: &Map<String, Value>,
    salt: &str,
) -> Outcome<Option<Event>> {
    let id = transaction_id(context, calendar, salt);
    let found = find_created(context, calendar, &id, body)?;
    found.map(|found| read_event(context, calendar, &found)).transpose()
}

fn transaction_id(context: &Context, calendar: &str, salt: &str) -> String {
    stable_id(context, IdForm::Hex(ID_LENGTH), &format!("event\n{calendar}\n{salt}"))
}

/// Returns the id of the event with this transaction id, among those that begin on the same day or on one beside it.
fn find_created(
    context: &Context,
    calendar: &str,
    id: &str,
    body: &Map<String, Value>,
) -> Outcome<Option<String>> {
    let Some(start) = body.get("start").and_then(|start| start["dateTime"].as_str()) else { return Ok(None) };
    let Some((from, to)) = days_around(start) else { return Ok(None) };
    let filter = format!("start/dateTime ge {} and start/dateTime le {}", quoted(&from), quoted(&to));
    let query = [("$filter", filter.as_str()), ("$select", CREATED_NAMES), ("$top", PAGE_SIZE)];
    let request = Request::get(events(calendar, &[], &query)?);
    let page: EventPage = match ask(context, request, "looking for the event of an earlier attempt") {
        // Then only Graph itself can know it.
        Err(failure) if failure.code == code::INVALID => return Ok(None),
        page => page?,
    };
    let names = page.value.iter().filter_map(|record| serde_json::from_str::<EventName>(record.get()).ok());
    let mut found = names.filter(|name| name.transaction_id.as_deref() == Some(id) && !name.is_instance());
    Ok(found.next().map(|name| name.id))
}

/// The day before and the day after a local time, whose zone may be any.
fn days_around(start: &str) -> Option<(String, String)> {
    let start: DateTime = start.parse().ok()?;
    let day = SignedDuration::from_hours(24);
    let (from, to) = (start.checked_sub(day).ok()?, start.checked_add(day).ok()?);
    let form = "%Y-%m-%dT%H:%M:%S";
    Some((from.strftime(form).to_string(), to.strftime(form).to_string()))
}
