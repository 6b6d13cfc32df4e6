//! `limit`, `cursor` and `next_cursor`, and the JSON of a page. `web::cursor` creates and verifies the cursors.

use std::num::IntErrorKind;

use base::error::{Code, Result, invalid};
use model::bounds::list::{DEFAULT_LIMIT, MAX_LIMIT};
use service::app::page_cache;

/// The requested page size: default 50, at most 200 (more is clamped), less than 1 is an error.
pub fn limit(text: Option<&str>) -> Result<i64> {
    let Some(text) = text else { return Ok(DEFAULT_LIMIT) };
    match text.parse::<i64>() {
        Ok(n) if n >= 1 => Ok(n.min(MAX_LIMIT)),
        // More than the type can hold is more than a page may have.
        Err(e) if *e.kind() == IntErrorKind::PosOverflow => Ok(MAX_LIMIT),
        _ => Err(invalid(Code::InvalidParameter, "limit", "limit must be an integer from 1 to 200")),
    }
}

/// A position in the application's log: the `sequence` of an event, or 0 for its beginning.
pub fn sequence(name: &str, text: Option<&str>) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    match text.parse::<i64>() {
        Ok(sequence) if sequence >= 0 => Ok(Some(sequence)),
        Err(e) if *e.kind() == IntErrorKind::PosOverflow => Ok(Some(i64::MAX)),
        _ => {
            let message = format!("{name} must be the sequence of an event: an integer from 0");
            Err(invalid(Code::InvalidParameter, name, message))
        }
    }
}

/// The parameter `after_sequence`, which stands in for a cursor.
pub fn after_sequence(text: Option<&str>, cursor: Option<&str>) -> Result<Option<i64>> {
    if text.is_some() && cursor.is_some() {
        let message = "cursor and after_sequence both say where to begin: send one of them";
        return Err(invalid(Code::ConflictingFields, "after_sequence", message));
    }
    sequence("after_sequence", text)
}

/// A page of rendered items, cut at its byte limit. `has_more`: the list continues after them. `cursor` returns the cursor after the item
/// with this number.
pub fn cut(items: &[String], has_more: bool, cursor: impl FnOnce(usize) -> String) -> String {
    let count = page_cache::fitting(items);
    let has_more = has_more || count < items.len();
    let next = count.checked_sub(1).filter(|_| has_more).map(cursor);
    page(items.get(..count).unwrap_or(items), next.as_deref())
}

/// A page of already rendered items.
pub fn page(items: &[String], next_cursor: Option<&str>) -> String {
    let bytes = items.iter().map(String::len).sum::<usize>() + items.len() + 64;
    let mut out = String::with_capacity(bytes);
    out.push_str("{\"data\":[");
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(item);
    }
    out.push_str("],\"next_cursor\":");
    match next_cursor {
        Some(cursor) => {
            out.push('"');
            out.push_str(cursor);
            out.push('"');
        }
        None => out.push_str("null"),
    }
    out.push('}');
    out
}
