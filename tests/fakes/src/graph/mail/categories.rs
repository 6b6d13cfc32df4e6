//! The master list of categories: names with colours.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::mail::store::MailStore;
use crate::graph::mail::store_mut;
use crate::graph::state::GraphState;

/// Answers a call below `outlook/masterCategories`.
pub fn answer(state: &mut GraphState, call: &GraphCall, rest: &[&str]) -> GraphResult {
    let store = store_mut(state, call)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let most = facts::number("mail_pages", "list_most");
            let sizes = PageSizes { usual: most, most };
            Ok(json_reply(200, &call.page("outlook/masterCategories", store.categories.clone(), sizes)?))
        }
        ("POST", []) => {
            let name = call.body["displayName"].as_str().filter(|name| !name.is_empty());
            let name =
                name.ok_or_else(|| GraphError::bad_request("The property 'displayName' is required."))?;
            let color = call.body["color"].as_str().unwrap_or("none");
            let category = add(store, name, color)?;
            Ok(json_reply(201, &entity(call, &category)))
        }
        (method, [id]) => {
            let at = store.categories.iter().position(|category| category["id"] == *id);
            let at = at.ok_or_else(GraphError::not_found)?;
            match method {
                "GET" => {}
                "PATCH" => {
                    if !call.body["displayName"].is_null() {
                        let message = "The name of a category cannot be changed.";
                        return Err(GraphError::new(400, "ErrorInvalidRequest", message));
                    }
                    let color = call.body["color"].as_str().unwrap_or_default();
                    check_color(color)?;
                    store.categories[at]["color"] = color.into();
                }
                "DELETE" => {
                    // Messages keep the name.
                    store.categories.remove(at);
                    return Ok(Reply::new(204));
                }
                _ => return Err(GraphError::no_route(id)),
            }
            Ok(json_reply(200, &entity(call, &store.categories[at])))
        }
        _ => Err(GraphError::no_route("masterCategories")),
    }
}

fn entity(call: &GraphCall, category: &Value) -> Value {
    let mut value = call.select(category.clone());
    value["@odata.context"] = call.context("outlook/masterCategories/$entity").into();
    value
}

/// Adds a category; as it is answered.
///
/// # Errors
/// The name is taken, or the colour is none: 409, 400.
pub fn add(store: &mut MailStore, name: &str, color: &str) -> Result<Value, GraphError> {
    check_color(color)?;
    let is_taken =
        |category: &Value| category["displayName"].as_str().is_some_and(|one| one.eq_ignore_ascii_case(name));
    if store.categories.iter().any(is_taken) {
        return Err(GraphError::new(409, "nameAlreadyExists", "A category with this name already exists."));
    }
    let id = format!("de912e4d-c790-4da9-949c-{:012x}", store.number());
    let category = json!({ "id": id, "displayName": name, "color": color });
    store.categories.push(category.clone());
    Ok(category)
}

fn check_color(color: &str) -> Result<(), GraphError> {
    let number = color.strip_prefix("preset").and_then(|text| text.parse::<usize>().ok());
    match color == "none"
        || number.is_some_and(|number| number < facts::number("mail_limits", "category_colors"))
    {
        true => Ok(()),
        false => Err(GraphError::bad_request(&format!("The color '{color}' is none, preset0 to preset24."))),
    }
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::graph::mail::store::MailStore;

    #[test]
    fn names_are_unique_and_colours_are_presets() {
        let mut store = MailStore::new("a@x.test", false);
        assert_eq!(add(&mut store, "Red", "preset0").expect("new")["displayName"], "Red");
        assert_eq!(add(&mut store, "red", "none").expect_err("taken").status, 409);
        assert_eq!(add(&mut store, "Blue", "preset25").expect_err("no colour").status, 400);
        assert_eq!(store.categories.len(), 1);
    }
}
