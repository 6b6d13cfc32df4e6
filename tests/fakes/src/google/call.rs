//! A call of the API: its user, parameters and body, as the methods read them.

use std::collections::BTreeMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::HeaderMap;
use serde_json::Value;

use crate::door::first_named;
use crate::google::errors::ApiError;
use crate::google::state::{Calendar, State};
use crate::google::times;

/// A call that the document allows, by a user whose token has a scope for it.
pub struct Call {
    pub user: String,
    pub path: BTreeMap<String, String>,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    /// An empty object where there is none.
    pub body: Value,
    /// The message that an upload route was given beside the body.
    pub media: Option<Bytes>,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// The id of the OAuth client.
    pub client: String,
}

/// The answer of a method; none without a body.
pub type MethodResult = Result<Option<Value>, ApiError>;

/// A calendar that a call reaches, with the role of its user.
pub struct CalendarAccess {
    pub id: String,
    pub role: String,
}

impl Call {
    /// A parameter of the path; empty where the method has none of this name.
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        first_named(&self.query, name)
    }

    /// The values of a parameter that may be given several times.
    pub fn all<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> {
        self.query.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether the token has the scope of heads, and no other one of Gmail's.
    pub fn reads_heads_alone(&self) -> bool {
        let mut scopes =
            self.scopes.iter().filter(|scope| scope.contains("gmail") || scope.contains("mail.google"));
        scopes.all(|scope| scope.ends_with("/gmail.metadata"))
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.parameter(name) == Some("true")
    }

    /// A parameter of the query that is an instant; the document has checked its form.
    pub fn instant(&self, name: &str) -> Option<DateTime<Utc>> {
        times::parse_instant(self.parameter(name)?, None)
    }

    /// The size of a page: the parameter `maxResults` up to `most`, else `usual`.
    pub fn page_size(&self, usual: usize, most: usize) -> usize {
        let given = self.parameter("maxResults").and_then(|text| text.parse::<usize>().ok());
        given.unwrap_or(usual).min(most)
    }

    pub fn if_match(&self) -> Option<&str> {
        self.headers.get("if-match").and_then(|value| value.to_str().ok())
    }

    /// The calendar of the path.
    ///
    /// # Errors
    /// It is not in the user's list, or deleted: 404.
    pub fn calendar(&self, state: &State) -> Result<CalendarAccess, ApiError> {
        find_calendar(state, &self.user, self.path("calendarId"))
    }

    /// The same, where the user may change events.
    ///
    /// # Errors
    /// 404, or 403 for a reader.
    pub fn writable_calendar(&self, state: &State) -> Result<CalendarAccess, ApiError> {
        let access = self.calendar(state)?;
        match access.role.as_str() {
            "owner" | "writer" | "writerWithoutPrivateAccess" => Ok(access),
            _ => Err(ApiError::new(
                403,
                "requiredAccessLevel",
                "You need to have writer access to this calendar.",
            )),
        }
    }
}

/// Finds a calendar by its id, or `primary`, among those in a user's list.
///
/// # Errors
/// It is not in the list, or deleted: 404.
pub fn find_calendar(state: &State, user: &str, id: &str) -> Result<CalendarAccess, ApiError> {
    let id = if id == "primary" { user } else { id };
    let is_there = state.calendars.get(id).is_some_and(|calendar| !calendar.is_deleted);
    let entry = state.users.get(user).and_then(|user| user.entries.get(id));
    match entry.filter(|entry| is_there && !entry.is_deleted) {
        Some(entry) => Ok(CalendarAccess { id: id.to_owned(), role: entry.access_role.clone() }),
        None => Err(ApiError::not_found()),
    }
}

/// The calendar with this id.
///
/// # Errors
/// There is none: 404.
pub fn stored<'s>(state: &'s State, id: &str) -> Result<&'s Calendar, ApiError> {
    state.calendars.get(id).ok_or_else(ApiError::not_found)
}

/// The same, to be changed.
///
/// # Errors
/// There is none: 404.
pub fn stored_mut<'s>(state: &'s mut State, id: &str) -> Result<&'s mut Calendar, ApiError> {
    state.calendars.get_mut(id).ok_or_else(ApiError::not_found)
}

/// Puts the members of a patch over those of a resource: objects are merged, arrays replaced, null removes.
pub fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(members) = target.as_object_mut() else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.remove(name);
            }
            Value::Object(_) => merge(members.entry(name.clone()).or_insert(Value::Null), value),
            value => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}
