//! The parameter `fields`: a mask that leaves of an answer what it names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::google::errors::ApiError;

/// Levels of a mask inside each other.
const MAX_DEPTH: usize = 16;

/// A mask: the members that stay, each with what stays of it; an empty mask leaves all.
#[derive(Debug, Default, PartialEq, Eq)]
struct FieldMask(BTreeMap<String, FieldMask>);

/// Leaves of `value` what the mask names, such as `items(id,etag),nextPageToken` or `items/id`.
///
/// # Errors
/// The mask has no such form: 400.
pub fn apply(mask: &str, value: Value) -> Result<Value, ApiError> {
    let mut rest = mask;
    let parsed = parse_list(&mut rest, 0).filter(|_| rest.is_empty());
    let parsed = parsed.ok_or_else(|| ApiError::invalid(&format!("Invalid field selection {mask}")))?;
    Ok(parsed.cut(value))
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

    use super::apply;

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
