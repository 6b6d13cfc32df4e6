//! Metadata: the caller's own small map of strings on a resource, never sent to a provider.

use std::collections::BTreeMap;

use model::bounds::metadata::{MAX_KEY, MAX_KEYS, MAX_VALUE};

use crate::error::{Code, Result, invalid};

/// Refuses a map that is too large; the error names the entry.
pub fn check(field: &str, map: &BTreeMap<String, String>) -> Result<()> {
    if map.len() > MAX_KEYS {
        let message = format!("{field} may have at most {MAX_KEYS} keys");
        return Err(invalid(Code::InvalidParameter, field, message));
    }
    for (key, value) in map {
        if key.is_empty() || key.chars().count() > MAX_KEY || value.chars().count() > MAX_VALUE {
            let message = format!("{field}: keys have 1 to {MAX_KEY} characters, values at most {MAX_VALUE}");
            return Err(invalid(Code::InvalidParameter, format!("{field}.{key}"), message));
        }
    }
    Ok(())
}
