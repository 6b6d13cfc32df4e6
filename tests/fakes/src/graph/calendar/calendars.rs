//! The list of calendars, and calendars one by one.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::calendar::book::{CalendarBook, GraphCalendar, GraphCalendarKind};
use crate::graph::calendar::places;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;

/// A calendar as it is answered.
fn shown(book: &CalendarBook, calendar: &GraphCalendar) -> Value {
    let can_edit = calendar.can_edit();
    let is_default = calendar.kind == GraphCalendarKind::Default;
    // Personal accounts have no Teams for business: Graph says `unknown`.
    let (allowed, provider) = match book.is_personal {
        true => (json!(["unknown"]), "unknown"),
        false => (json!(["teamsForBusiness"]), "teamsForBusiness"),
    };
    let (address, name) = match &calendar.foreign_owner {
        Some((address, name)) => (address.as_str(), name.as_str()),
        None => (book.address.as_str(), book.name.as_str()),
    };
    json!({
        "@odata.etag": ids::etag(calendar.changed),
        "id": calendar.id,
        "name": calendar.name,
        "color": calendar.color,
        "hexColor": calendar.hex_color,
        "groupClassId": "0006f0b7-0000-0000-c000-000000000046",
        "changeKey": ids::change_key(calendar.changed),
        "canShare": can_edit && !book.is_personal,
        "canViewPrivateItems": can_edit,
        "canEdit": can_edit,
        "isDefaultCalendar": is_default,
        "isTallyingResponses": is_default,
        // Birthdays and holidays can be removed from the list, and not be changed.
        "isRemovable": !is_default,
        "allowedOnlineMeetingProviders": allowed,
        "defaultOnlineMeetingProvider": provider,
        "owner": { "name": name, "address": address },
    })
}

/// `GET /me/calendars`; of a group, where one is given.
pub fn list(state: &mut GraphState, call: &GraphCall, group: Option<&str>) -> GraphResult {
    let book = places::book(state, call)?;
    let wanted = call.parameter("$filter").map(filtered_name).transpose()?;
    let calendars = book.calendars.values().filter(|calendar| {
        group.is_none_or(|group| calendar.group == group)
            && wanted.as_ref().is_none_or(|name| calendar.name.eq_ignore_ascii_case(name))
    });
    let mut calendars: Vec<&GraphCalendar> = calendars.collect();
    calendars.sort_by_key(|calendar| calendar.number);
    let items = calendars.into_iter().map(|calendar| shown(book, calendar)).collect();
    let sizes = PageSizes {
        usual: facts::number("calendar_pages", "calendars_usual"),
        most: facts::number("calendar_pages", "most"),
    };
    Ok(json_reply(200, &call.page("calendars", items, sizes)?))
}

/// The name of `$filter=name eq 'Work'`.
fn filtered_name(filter: &str) -> Result<String, GraphError> {
    let text = filter.trim().strip_prefix("name eq '").and_then(|rest| rest.strip_suffix('\''));
    let text =
        text.ok_or_else(|| GraphError::bad_request("The fake filters calendars by their name alone."))?;
    Ok(text.replace("''", "'"))
}

/// `GET /me/calendars/{id}`
pub fn get(state: &mut GraphState, call: &GraphCall, id: &str) -> GraphResult {
    let book = places::book(state, call)?;
    let calendar = book.calendars.get(id).ok_or_else(GraphError::not_found)?;
    answer(call, 200, shown(book, calendar))
}

fn answer(call: &GraphCall, status: u16, calendar: Value) -> GraphResult {
    let mut body = call.select(calendar);
    body["@odata.context"] = call.context("calendars/$entity").into();
    Ok(json_reply(status, &body))
}

/// `POST /me/calendars`; into a group, where one is given.
pub fn create(state: &mut GraphState, call: &GraphCall, group: Option<&str>) -> GraphResult {
    let book = places::book_mut(state, call)?;
    let name = checked_name(book, &call.body, None)?
        .ok_or_else(|| GraphError::new(400, "ErrorPropertyValidationFailure", "The calendar has no name."))?;
    check_color(&call.body)?;
    let id = book.add_calendar(&name, GraphCalendarKind::Secondary);
    if let (Some(group), Some(calendar)) = (group, book.calendars.get_mut(&id)) {
        calendar.group = group.to_owned();
    }
    write_color(book, &id, &call.body);
    let calendar = book.calendars.get(&id).ok_or_else(GraphError::not_found)?;
    answer(call, 201, shown(book, calendar))
}

/// The name of a body, which no other calendar has.
fn checked_name(book: &CalendarBook, body: &Value, own: Option<&str>) -> Result<Option<String>, GraphError> {
    let Some(name) = body["name"].as_str() else { return Ok(None) };
    if name.trim().is_empty() {
        return Err(GraphError::new(400, "ErrorPropertyValidationFailure", "The calendar has no name."));
    }
    let mut others = book.calendars.values().filter(|calendar| Some(calendar.id.as_str()) != own);
    match others.any(|calendar| calendar.name.eq_ignore_ascii_case(name)) {
        true => {
            Err(GraphError::new(409, "ErrorFolderExists", "A folder with the specified name already exists."))
        }
        false => Ok(Some(name.to_owned())),
    }
}

fn check_color(body: &Value) -> Result<(), GraphError> {
    let refused = |message: String| Err(GraphError::new(400, "ErrorPropertyValidationFailure", &message));
    if let Some(color) = body["color"].as_str()
        && !facts::has("calendar_values", "color", color)
    {
        return refused(format!("'{color}' is no CalendarColor."));
    }
    if let Some(hex) = body["hexColor"].as_str()
        && !hex.is_empty()
        && !(hex.len() == 7 && hex.starts_with('#') && hex.chars().skip(1).all(|c| c.is_ascii_hexdigit()))
    {
        return refused(format!("'{hex}' is no colour of six hexadecimal digits."));
    }
    Ok(())
}

fn write_color(book: &mut CalendarBook, id: &str, body: &Value) {
    let Some(calendar) = book.calendars.get_mut(id) else { return };
    if let Some(color) = body["color"].as_str() {
        calendar.color = color.to_owned();
        calendar.hex_color = String::new();
    }
    if let Some(hex) = body["hexColor"].as_str() {
        calendar.hex_color = hex.to_owned();
        calendar.color = "auto".to_owned();
    }
}

/// `PATCH /me/calendars/{id}`
pub fn patch(state: &mut GraphState, call: &GraphCall, id: &str) -> GraphResult {
    let book = places::book_mut(state, call)?;
    let calendar = book.calendars.get(id).ok_or_else(GraphError::not_found)?;
    call.check_if_match(&ids::etag(calendar.changed))?;
    if !calendar.can_edit() && call.body.get("name").is_some() {
        return Err(GraphError::access_denied());
    }
    let name = checked_name(book, &call.body, Some(id))?;
    check_color(&call.body)?;
    write_color(book, id, &call.body);
    if call.body["isDefaultCalendar"] == true {
        make_default(book, id);
    }
    let changed = book.next_change();
    let calendar = book.calendars.get_mut(id).ok_or_else(GraphError::not_found)?;
    calendar.name = name.unwrap_or_else(|| calendar.name.clone());
    calendar.changed = changed;
    let calendar = calendar.clone();
    answer(call, 200, shown(book, &calendar))
}

fn make_default(book: &mut CalendarBook, id: &str) {
    for calendar in book.calendars.values_mut() {
        match calendar.kind {
            GraphCalendarKind::Default => calendar.kind = GraphCalendarKind::Secondary,
            GraphCalendarKind::Secondary if calendar.id == id => calendar.kind = GraphCalendarKind::Default,
            _ => {}
        }
    }
}

/// `DELETE /me/calendars/{id}`
pub fn delete(state: &mut GraphState, call: &GraphCall, id: &str) -> GraphResult {
    let book = places::book_mut(state, call)?;
    let calendar = book.calendars.get(id).ok_or_else(GraphError::not_found)?;
    if calendar.kind == GraphCalendarKind::Default {
        let message = "Distinguished folders cannot be deleted.";
        return Err(GraphError::new(403, "ErrorDeleteDistinguishedFolder", message));
    }
    let numbers: Vec<u64> =
        book.items.values().filter(|item| item.calendar == id).map(|item| item.number).collect();
    for number in numbers {
        book.remove_item(number);
    }
    book.calendars.remove(id);
    Ok(Reply::new(204))
}
