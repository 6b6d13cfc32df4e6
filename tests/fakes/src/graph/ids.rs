//! Ids of items. Each item has two: one that stays, and one that changes with each move, which requests without
//! `Prefer: IdType="ImmutableId"` get. Folders, calendars and lists have one.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

use crate::graph::errors::GraphError;

/// Beginnings of ids, as Exchange has them.
const IMMUTABLE: &str = "AAkALgAAAAAAHYQDEapmEc2byACqAC-EWg0A";
const MUTABLE: &str = "AAMkAGUyZTcwMDQwLTU4NGEtNGVlMC1iNWRj_";
const STABLE: &str = "AQMkADAwATM0MDAAMS0yMWUwLTAwAi0wMAoA";
/// The end of mutable and stable ids: callers have to percent-encode it.
const END: &str = "=";

/// An item that an id names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemId {
    /// The key of the store, such as `msg-12`.
    pub key: String,
    /// The item's place when the id was given; none in an immutable id. The id is good for nothing once the item has another place.
    pub place: Option<u64>,
}

impl ItemId {
    /// Whether the id still names an item that is at this place now.
    pub fn is_at(&self, place: u64) -> bool {
        self.place.is_none_or(|given| given == place)
    }
}

/// The id that never changes.
pub fn immutable(key: &str) -> String {
    format!("{IMMUTABLE}{}", BASE64_URL_SAFE_NO_PAD.encode(key))
}

/// The id that the next move makes invalid. `place` grows with each move of the item.
pub fn mutable(key: &str, place: u64) -> String {
    format!("{MUTABLE}{}{END}", BASE64_URL_SAFE_NO_PAD.encode(format!("{place}:{key}")))
}

/// The id of a folder, calendar or list.
pub fn stable(key: &str) -> String {
    format!("{STABLE}{}{END}", BASE64_URL_SAFE_NO_PAD.encode(key))
}

/// The item that an id of either form names.
///
/// # Errors
/// It is no id of an item: 400.
pub fn parse_item(text: &str) -> Result<ItemId, GraphError> {
    if let Some(key) = text.strip_prefix(IMMUTABLE).and_then(decoded) {
        return Ok(ItemId { key, place: None });
    }
    let inside = text.strip_prefix(MUTABLE).and_then(|rest| decoded(rest.strip_suffix(END)?));
    let (place, key) =
        inside.as_deref().and_then(|inside| inside.split_once(':')).ok_or_else(GraphError::malformed_id)?;
    let place = place.parse().map_err(|_| GraphError::malformed_id())?;
    Ok(ItemId { key: key.to_owned(), place: Some(place) })
}

/// The key of a folder, calendar or list.
///
/// # Errors
/// It is no such id: 400.
pub fn parse_stable(text: &str) -> Result<String, GraphError> {
    let inside = text.strip_prefix(STABLE).and_then(|rest| decoded(rest.strip_suffix(END)?));
    inside.ok_or_else(GraphError::malformed_id)
}

/// The change key of an item that changed last with this number.
pub fn change_key(changed: u64) -> String {
    BASE64_STANDARD.encode(format!("\0\u{13}\0\0\0\u{16}fake{changed:012}"))
}

/// The etag of an item that changed last with this number.
pub fn etag(changed: u64) -> String {
    format!("W/\"{}\"", change_key(changed))
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{immutable, mutable, parse_item, parse_stable, stable};

    #[test]
    fn an_item_has_an_id_that_stays_and_one_that_changes_with_its_place() {
        let (stays, first, second) = (immutable("msg-1"), mutable("msg-1", 3), mutable("msg-1", 4));
        assert_ne!(first, second);
        for (id, place) in [(&stays, None), (&first, Some(3)), (&second, Some(4))] {
            let read = parse_item(id).expect("an id");
            assert_eq!((read.key.as_str(), read.place), ("msg-1", place));
            assert_eq!(read.is_at(4), place != Some(3));
        }
        assert_eq!(parse_stable(&stable("folder-1")).expect("an id"), "folder-1");
    }

    #[test]
    fn ids_are_case_sensitive_and_of_one_kind() {
        for wrong in [immutable("msg-1").to_lowercase(), stable("msg-1"), "inbox".to_owned(), String::new()] {
            assert_eq!(parse_item(&wrong).expect_err("no id of an item").code, "ErrorInvalidIdMalformed");
        }
        parse_stable(&immutable("msg-1")).expect_err("no id of a folder");
    }
}
