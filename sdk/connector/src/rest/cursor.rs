//! Cursors with a version: `VERSION;JSON`. A connector changes the version when cursors of its earlier releases cannot be continued.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Failure, Outcome, code};

/// Returns the cursor as text for the host. Fails with `internal` for a type without JSON, such as a map without text keys.
///
/// ```
/// use connector_sdk::rest::cursor;
///
/// let text = cursor::write("v1", &("page", 7)).unwrap();
/// assert_eq!(cursor::read::<(String, u32)>("v1", &text).unwrap(), ("page".to_owned(), 7));
/// assert!(cursor::read::<(String, u32)>("v2", &text).is_err());
/// ```
pub fn write(version: &str, cursor: &impl Serialize) -> Outcome<String> {
    let json = serde_json::to_string(cursor).map_err(|error| {
        Failure::new(code::INTERNAL, format!("the cursor cannot be written as JSON: {error}"))
    })?;
    Ok(format!("{version};{json}"))
}

/// Reads a cursor that `write` returned. Fails with `cursor-expired` for any other text and for another version: the host starts over.
pub fn read<T: DeserializeOwned>(version: &str, text: &str) -> Outcome<T> {
    let json = text.strip_prefix(version).and_then(|rest| rest.strip_prefix(';'));
    json.and_then(|json| serde_json::from_str(json).ok()).ok_or_else(|| {
        Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this version of the connector")
    })
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::error::code;

    #[test]
    fn a_cursor_of_another_version_or_shape_is_expired() {
        let text = write("g1", &"token").unwrap();
        assert_eq!(read::<String>("g1", &text).unwrap(), "token");
        for other in ["", "g1", "g1;", "g1;{", "g1;7", "g2;\"token\"", "g11;\"token\"", "\"token\""] {
            assert_eq!(read::<String>("g1", other).unwrap_err().code, code::CURSOR_EXPIRED, "{other}");
        }
    }
}
