//! Etags of what is stored without a version.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The etag of a resource that is shown as this JSON, with its quotes: it changes with everything that is shown, and with nothing else.
pub fn content_etag(shown: &Value) -> String {
    let digest = Sha256::digest(shown.to_string());
    format!("\"{}\"", hex::encode(&digest[..12]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::content_etag;

    #[test]
    fn an_etag_is_strong_and_changes_with_the_content() {
        let etag = content_etag(&json!({ "name": "Acme" }));
        assert_eq!(etag, content_etag(&json!({ "name": "Acme" })));
        assert_ne!(etag, content_etag(&json!({ "name": "Acme Ltd" })));
        assert!(etag.len() == 26 && etag.starts_with('"') && etag.ends_with('"'));
    }
}
