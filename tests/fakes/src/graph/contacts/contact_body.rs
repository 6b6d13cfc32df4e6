//! Bodies of requests that write contacts: Exchange's limits, and the members that follow from others.

use serde_json::{Map, Value};

use crate::graph::contacts::book::ContactItem;
use crate::graph::errors::GraphError;
use crate::graph::facts;
use crate::graph::ids;

/// Members that the display name follows from.
const NAMES: [&str; 3] = ["givenName", "middleName", "surname"];

/// Writes the members of a body into a contact.
///
/// # Errors
/// A list is too long, or the body names another folder: 400.
pub fn write(item: &mut ContactItem, body: &Value, is_new: bool) -> Result<(), GraphError> {
    let Some(given) = body.as_object() else { return Ok(()) };
    check_limits(given)?;
    if given.get("parentFolderId").is_some_and(|id| *id != ids::stable(&item.folder).as_str()) {
        return Err(invalid("A contact cannot be moved to another folder by its parentFolderId."));
    }
    for (name, value) in given {
        if facts::has("contact_members", "writable", name) {
            item.members.insert(name.clone(), stored(name, value)?);
        }
    }
    for one in given.get("singleValueExtendedProperties").and_then(Value::as_array).into_iter().flatten() {
        let id = property_id(one["id"].as_str().unwrap_or_default());
        match one["value"].as_str() {
            Some(value) => item.extended.insert(id, value.to_owned()),
            None => item.extended.remove(&id),
        };
    }
    let lacks = |name: &str| given.get(name).is_none_or(Value::is_null);
    let is_renamed = is_new || NAMES.iter().any(|name| given.contains_key(*name));
    if is_renamed && lacks("displayName") {
        let name = display_name(&item.members);
        item.members.insert("displayName".to_owned(), name.into());
    }
    if is_renamed && lacks("fileAs") {
        let name = file_as(&item.members);
        item.members.insert("fileAs".to_owned(), name.into());
    }
    Ok(())
}

fn invalid(message: &str) -> GraphError {
    GraphError::new(400, "ErrorPropertyValidationFailure", message)
}

/// Checks the lengths of lists.
fn check_limits(given: &Map<String, Value>) -> Result<(), GraphError> {
    for name in ["emailAddresses", "businessPhones", "homePhones", "imAddresses"] {
        let (count, most) = (
            given.get(name).and_then(Value::as_array).map_or(0, Vec::len),
            facts::number("contact_limits", name),
        );
        if count > most {
            let name = capitalized(name);
            return Err(invalid(&format!(
                "The multi value property {name} has {count} entries, that exceeds the max allowed value of {most}."
            )));
        }
    }
    Ok(())
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| format!("{}{}", first.to_ascii_uppercase(), letters.as_str()))
        .unwrap_or_default()
}

/// A member as it is answered.
fn stored(name: &str, value: &Value) -> Result<Value, GraphError> {
    match (name, value) {
        ("birthday", Value::String(text)) => {
            // A day: the time that Exchange answers with it is the same for all.
            let day = text.get(..10).ok_or_else(|| invalid("The birthday is no date."))?;
            Ok(format!("{day}T11:59:00Z").into())
        }
        ("emailAddresses", Value::Array(all)) => Ok(all.iter().map(named_address).collect()),
        (name, Value::Null) if facts::has("contact_members", "lists", name) => Ok(Value::Array(Vec::new())),
        (name, Value::Null) if facts::has("contact_members", "addresses", name) => {
            Ok(Value::Object(Map::new()))
        }
        (_, value) => Ok(value.clone()),
    }
}

/// An address with a name, which is the address itself where none is given.
fn named_address(one: &Value) -> Value {
    let mut one = one.clone();
    if one["name"].as_str().is_none_or(str::is_empty) {
        one["name"] = one["address"].clone();
    }
    one
}

fn text<'m>(members: &'m Map<String, Value>, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn display_name(members: &Map<String, Value>) -> String {
    let names: Vec<&str> =
        NAMES.iter().map(|name| text(members, name)).filter(|name| !name.is_empty()).collect();
    let address = || {
        let first = members.get("emailAddresses").and_then(|all| all.get(0));
        first.and_then(|one| one["address"].as_str()).unwrap_or_default()
    };
    match (names.is_empty(), text(members, "companyName")) {
        (false, _) => names.join(" "),
        (true, "") => address().to_owned(),
        (true, company) => company.to_owned(),
    }
}

fn file_as(members: &Map<String, Value>) -> String {
    match (text(members, "surname"), text(members, "givenName")) {
        ("", _) | (_, "") => text(members, "displayName").to_owned(),
        (surname, given) => format!("{surname}, {given}"),
    }
}

/// The id of an extended property as Exchange answers it: `SystemTime 0x3A41` is `SystemTime 0x3a41`.
pub fn property_id(id: &str) -> String {
    let (kind, tag) = id.trim().split_once(' ').unwrap_or((id, ""));
    let tag = tag.trim().to_ascii_lowercase();
    let number = tag.strip_prefix("0x").and_then(|tag| u32::from_str_radix(tag, 16).ok());
    number.map_or_else(|| id.trim().to_owned(), |number| format!("{kind} {number:#x}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{property_id, write};
    use crate::graph::contacts::book::{ContactItem, DEFAULT_FOLDER};

    fn contact(body: &Value) -> ContactItem {
        let mut item = ContactItem::new(1, DEFAULT_FOLDER, 0);
        write(&mut item, body, true).expect("a contact");
        item
    }

    #[test]
    fn display_name_is_recomputed_unless_it_is_given() {
        let mut item = contact(&json!({ "givenName": "Ada", "surname": "King", "displayName": "Countess" }));
        assert_eq!(item.members["displayName"], "Countess");
        write(&mut item, &json!({ "jobTitle": "Analyst" }), false).expect("a change");
        assert_eq!(item.members["displayName"], "Countess");
        write(&mut item, &json!({ "surname": "Lovelace" }), false).expect("a change");
        assert_eq!(item.members["displayName"], "Ada Lovelace");
        assert_eq!(item.members["fileAs"], "Lovelace, Ada");
        let company = contact(&json!({ "companyName": "Acme" }));
        assert_eq!(company.members["displayName"], "Acme");
        let address = contact(&json!({ "emailAddresses": [{ "address": "a@x.test" }] }));
        assert_eq!(address.members["displayName"], "a@x.test");
        assert_eq!(address.members["emailAddresses"][0]["name"], "a@x.test");
    }

    #[test]
    fn lists_that_are_too_long_are_refused() {
        for (name, most) in [("businessPhones", 2_usize), ("homePhones", 2), ("imAddresses", 3)] {
            let mut item = ContactItem::new(1, DEFAULT_FOLDER, 0);
            let list = |count: usize| json!({ name: vec!["1"; count] });
            write(&mut item, &list(most), true).expect("a contact");
            let error = write(&mut item, &list(most + 1), true).expect_err("too many");
            assert_eq!((error.status, error.message.contains("exceeds the max allowed")), (400, true));
        }
        let addresses: Vec<Value> =
            (0..4).map(|number| json!({ "address": format!("{number}@x.test") })).collect();
        let mut item = ContactItem::new(1, DEFAULT_FOLDER, 0);
        assert!(write(&mut item, &json!({ "emailAddresses": addresses }), true).is_err());
    }

    #[test]
    fn birthday_is_a_day() {
        let item = contact(&json!({ "birthday": "1604-02-29T00:00:00Z" }));
        assert_eq!(item.members["birthday"], "1604-02-29T11:59:00Z");
    }

    #[test]
    fn ids_of_extended_properties_are_in_lower_case() {
        assert_eq!(property_id("SystemTime 0x3A41"), "SystemTime 0x3a41");
        let named = "String {00020329-0000-0000-C000-000000000046} Name x";
        assert_eq!(property_id(named), named);
    }
}
