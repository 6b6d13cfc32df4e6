//! Addresses of Microsoft Graph 1.0. National clouds have other hosts; the operator's registration replaces them.

use connector_sdk::Outcome;
use connector_sdk::rest::url::url;

/// The root of version 1.0.
const ROOT: &str = "https://graph.microsoft.com/v1.0";
/// Many requests in one. Its parts name paths below the version.
pub const BATCH: &str = "https://graph.microsoft.com/v1.0/$batch";

/// The bucket of `[limits]` in the manifest.
pub const BUCKET: &str = "mailbox";

/// Returns an address: `["subscriptions", id]`.
pub fn graph(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(ROOT, segments, query)
}

/// Returns an address of the account: `["events", id]`. Fails with `not-found` for what can be no id.
pub fn me(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    graph(&[&["me"], segments].concat(), query)
}

#[cfg(test)]
mod tests {
    use super::me;

    /// An id has `/`, `+` and `=` in it, and none of them leads to another place.
    #[test]
    fn ids_are_escaped() {
        let address = me(&["messages", "AAk+b/c=="], &[("$select", "id,subject")]).unwrap();
        assert_eq!(
            address,
            "https://graph.microsoft.com/v1.0/me/messages/AAk%2Bb%2Fc%3D%3D?%24select=id%2Csubject"
        );
        assert!(me(&["messages", ".."], &[]).is_err());
    }
}
