//! The resources of subscriptions. Graph posts nothing about the lists themselves: of calendars, folders and task lists.

use connector_sdk::http::Request;
use connector_sdk::rest::url::url;
use connector_sdk::{Context, Failure, Outcome, code};
use serde::Deserialize;

use crate::api::ask;
use crate::odata::root;

/// The address book that is in no list of folders.
const DEFAULT_BOOK: &str = "contacts";

/// A calendar, as far as it is the default one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CalendarKind {
    is_default_calendar: bool,
}

/// Returns the resources with the changes of a surface, or of a collection of it, best first: where Graph refuses one, the next may do.
pub fn resources(context: &Context, surface: &str, scope: Option<&str>) -> Outcome<Vec<String>> {
    match (surface, scope) {
        ("email", None) => Ok(vec!["/me/messages".to_owned()]),
        ("calendar", Some(calendar)) => of_calendar(context, calendar),
        ("contacts", Some(DEFAULT_BOOK)) => Ok(vec!["/me/contacts".to_owned()]),
        ("contacts", Some(book)) => Ok(vec![path(&["me", "contactFolders", book, "contacts"])?]),
        ("tasks", Some(list)) => Ok(vec![path(&["me", "todo", "lists", list, "tasks"])?]),
        (surface, None) => {
            Err(Failure::unsupported(&format!("notifications of the collections of {surface}")))
        }
        (surface, Some(_)) => Err(Failure::unsupported(&format!("notifications of {surface}"))),
    }
}

/// The events of a calendar. Graph describes a subscription for those of the default calendar alone; one for another calendar works too
/// (microsoftgraph/microsoft-graph-docs#6595).
fn of_calendar(context: &Context, calendar: &str) -> Outcome<Vec<String>> {
    let own = path(&["me", "calendars", calendar, "events"])?;
    let address = root::me(&["calendars", calendar], &[("$select", "id,isDefaultCalendar")])?;
    let kind: Outcome<CalendarKind> = ask(context, Request::get(address), "reading the calendar");
    match kind {
        Ok(kind) if kind.is_default_calendar => Ok(vec![own, "/me/events".to_owned()]),
        Err(failure) if failure.code == code::AUTH_EXPIRED => Err(failure),
        _ => Ok(vec![own]),
    }
}

/// The path of a resource, with its ids escaped but for `=`, which is a path's own (RFC 3986, section 3.3): Graph's ids end with it, and its
/// documentation writes them here as they are.
fn path(segments: &[&str]) -> Outcome<String> {
    Ok(url("", segments, &[])?.replace("%3D", "="))
}
