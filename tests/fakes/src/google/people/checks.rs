//! Rules by which the People API refuses a person that is written.

use serde_json::{Map, Value, json};

use crate::google::errors::ApiError;
use crate::google::people::book::{self, AddressBook};
use crate::google::people::errors;
use crate::google::people::facts::PEOPLE;

type PersonCheck = Result<(), ApiError>;

/// Checks the fields of a person in a request.
///
/// # Errors
/// A field that has one value has several, or a value that cannot be: 400.
pub fn check_person(body: &Value) -> PersonCheck {
    for field in PEOPLE.list("fields", "single") {
        if body[field].as_array().is_some_and(|values| values.len() > 1) {
            let message = format!("Cannot have more than one person.{field} per source.");
            return Err(errors::invalid(&message));
        }
    }
    for field in ["birthdays", "events"] {
        body[field]
            .as_array()
            .into_iter()
            .flatten()
            .try_for_each(|value| check_date(field, &value["date"]))?;
    }
    Ok(())
}

/// Checks a date, parts of which may be unknown: 0 or missing.
fn check_date(field: &str, date: &Value) -> PersonCheck {
    let part = |name: &str| date[name].as_i64().unwrap_or_default();
    let (year, month, day) = (part("year"), part("month"), part("day"));
    let days = match month {
        0 => 0,
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let fits = (0..=9999).contains(&year) && (0..=12).contains(&month) && (0..=days).contains(&day);
    match fits && (year > 0 || month > 0 || date.is_null()) {
        true => Ok(()),
        false => Err(errors::invalid(&format!("Invalid date in person.{field}."))),
    }
}

/// The values of a field as they are stored: without what Google computes.
pub fn stored_values(field: &str, given: &Value) -> Vec<Value> {
    let values = given.as_array().into_iter().flatten().filter(|value| value.is_object());
    let stored = values.map(|value| {
        let mut members: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
        let is_primary = value["metadata"]["sourcePrimary"] == true;
        members.retain(|name, value| !value.is_null() && !PEOPLE.has("fields", "computed", name));
        if field == "names" {
            split_name(&mut members);
        }
        if is_primary {
            members.insert("metadata".to_owned(), json!({ "sourcePrimary": true }));
        }
        Value::Object(members)
    });
    // A value without a member is none.
    stored
        .filter(|value| value.as_object().is_some_and(|members| members.keys().any(|key| key != "metadata")))
        .collect()
}

/// Splits a name that is given as one text alone. Beside parts the text stays: it is the name that is shown.
fn split_name(members: &mut Map<String, Value>) {
    members.retain(|name, _| name != "displayName" && name != "displayNameLastFirst");
    if members.contains_key("givenName") || members.contains_key("familyName") {
        return;
    }
    let Some(Value::String(text)) = members.get("unstructuredName").cloned() else { return };
    match text.trim().rsplit_once(' ') {
        Some((given, family)) => {
            members.insert("givenName".to_owned(), given.into());
            members.insert("familyName".to_owned(), family.into());
        }
        None => {
            members.insert("givenName".to_owned(), text.trim().into());
        }
    }
}

/// The memberships that a request gives a person, of whose groups it has now `before`.
///
/// # Errors
/// There is none, a group is unknown, or one that cannot be joined: 400.
pub fn memberships(book: &AddressBook, given: &Value, before: &[&str]) -> Result<Vec<Value>, ApiError> {
    let groups: Vec<&str> = given.as_array().into_iter().flatten().filter_map(book::group_of).collect();
    if groups.is_empty() {
        let message = "person.memberships must have at least one contact group membership.";
        return Err(errors::invalid(message));
    }
    for group in &groups {
        let found = book.groups.get(*group).filter(|group| !group.latest().is_deleted);
        let Some(found) = found else {
            return Err(errors::invalid(&format!("Contact group contactGroups/{group} does not exist.")));
        };
        let can_join = !found.latest().content.is_system || PEOPLE.has("groups", "joinable", group);
        if !can_join && !before.contains(group) {
            return Err(errors::invalid(&format!("Contacts cannot be added to contactGroups/{group}.")));
        }
    }
    let mut known: Vec<&str> = Vec::new();
    for group in groups {
        if !known.contains(&group) {
            known.push(group);
        }
    }
    Ok(known.into_iter().map(book::membership).collect())
}
