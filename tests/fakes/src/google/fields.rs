//! The parameter `fields`: a mask that selects parts of an answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::google::errors::ApiError;

/// Levels of a mask inside each other.
const MAX_DEPTH: usize = 16;

/// A mask: the members that stay, each with what stays of it; an empty mask leaves all.
#[derive(Debug, Default, PartialEq, Eq)]
struct FieldMask(BTreeMap<String, FieldMask>);

/// Checks that the schema `name` among `schemas` has each member that a mask names.
///
/// # Errors
/// The mask has another form, or names a member that is not there: 400.
pub fn check(mask: &str, schemas: &Value, name: &str) -> Result<(), ApiError> {
    match parse(mask)?.misfit(&schemas[name], schemas) {
        None => Ok(()),
        Some(member) => Err(ApiError::invalid(&format!("Invalid field selection {member}"))),
    }
}

fn parse(mask: &str) -> Result<FieldMask, ApiError> {
    let mut rest = mask;
    let parsed = parse_list(&mut rest, 0).filter(|_| rest.is_empty());
    parsed.ok_or_else(|| ApiError::invalid(&format!("Invalid field selection {mask}")))
}

/// Leaves of `value` what the mask names, such as `items(id,etag),nextPageToken` or `items/id`.
///
/// # Errors
/// The mask has no such form: 400.
pub fn apply(mask: &str, value: Value) -> Result<Value, ApiError> {
    Ok(parse(mask)?.cut(value))
}

/// Parses a comma list up to a closing parenthesis or the end.
fn parse_list(rest: &mut &str, depth: usize) -> Option<FieldMask> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut mask = FieldMask::default();
    loop {
        parse_path(rest, depth, &mut mask)?;
        match rest.strip_prefix(',') {
            Some(after) => *rest = after,
            None => return Some(mask),
        }
    }
}

fn parse_path(rest: &mut &str, depth: usize, mask: &mut FieldMask) -> Option<()> {
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '*')).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
    *rest = after;
    let inner = mask.0.entry(name.to_owned()).or_default();
    if let Some(after) = rest.strip_prefix('/') {
        *rest = after;
        return parse_path(rest, depth + 1, inner);
    }
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        *inner = parse_list(rest, depth + 1)?;
        *rest = rest.strip_prefix(')')?;
    }
    Some(())
}

impl FieldMask {
    /// The first member that a schema does not have.
    fn misfit<'m>(&'m self, schema: &Value, schemas: &Value) -> Option<&'m str> {
        self.0.iter().find_map(|(name, inner)| {
            if name == "*" {
                return None;
            }
            let Some(member) = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"))
            else {
                return Some(name.as_str());
            };
            let member = member.get("items").unwrap_or(member);
            let named = member["$ref"].as_str().map_or(member, |reference| &schemas[reference]);
            inner.misfit(named, schemas)
        })
    }

    fn cut(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.cut(item)).collect(),
            Value::Object(members) => {
                let cut = members.into_iter().filter_map(|(name, value)| {
                    let inner = self.0.get(&name).or_else(|| self.0.get("*"))?;
                    Some((name, inner.cut(value)))
                });
                Value::Object(cut.collect::<Map<_, _>>())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{apply, check};

    #[test]
    fn a_mask_names_what_its_schema_has() {
        let schemas = json!({
            "Page": { "properties": { "items": { "items": { "$ref": "Item" } }, "nextPageToken": { "type": "string" } } },
            "Item": { "properties": { "id": { "type": "string" }, "parts": { "items": { "$ref": "Item" } } } },
        });
        for right in ["items(id,parts(id,parts/id)),nextPageToken", "items/*", "*"] {
            check(right, &schemas, "Page").unwrap_or_else(|error| panic!("{right}: {error:?}"));
        }
        for wrong in ["item", "items(name)", "items(parts(parts(name)))", "nextPageToken/id", "items("] {
            assert_eq!(check(wrong, &schemas, "Page").expect_err("no such member").status, 400, "{wrong}");
        }
    }

    #[test]
    fn a_mask_leaves_what_it_names() {
        let page = json!({ "kind": "k", "items": [{ "id": "a", "etag": "1", "start": { "date": "d", "timeZone": "z" } }],
            "nextPageToken": "p" });
        let left = apply("items(id,start/date),nextPageToken", page.clone()).expect("a mask");
        assert_eq!(left, json!({ "items": [{ "id": "a", "start": { "date": "d" } }], "nextPageToken": "p" }));
        assert_eq!(apply("*", page.clone()).expect("a mask"), page);
        for wrong in ["", "items(", "items(id", "items)", "items,,kind"] {
            assert_eq!(apply(wrong, page.clone()).expect_err("no mask").status, 400, "{wrong}");
        }
    }
}
