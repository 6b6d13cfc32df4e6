//! The author's rules for recordings: `[record]` of `project.toml`.

/// Response headers that a connector may need and that contain nothing private.
const RESPONSE_HEADERS: [&str; 6] =
    ["content-type", "etag", "last-modified", "link", "location", "retry-after"];
const RESPONSE_PREFIX: &str = "x-ratelimit-";
/// Request headers that help a reader. They are not compared.
const REQUEST_HEADERS: [&str; 7] =
    ["accept", "content-type", "depth", "idempotency-key", "if-match", "if-none-match", "prefer"];
/// Headers that are never recorded, whatever the author says.
const CREDENTIALS: [&str; 8] = [
    "authentication-info",
    "authorization",
    "cookie",
    "cookie2",
    "proxy-authenticate",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
];

/// Exceptions from redaction and from matching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Response headers that are recorded beside the usual ones.
    pub keep_headers: Vec<String>,
    /// Texts that are recorded unchanged: a value, an address, `@` and a domain, or the name of a member that holds no secret.
    pub keep: Vec<String>,
    /// JSON pointers of members of request bodies that are not compared.
    pub ignore: Vec<String>,
}

impl Rules {
    /// Whether the author wants this value, or the members of this name, as they are.
    pub(super) fn keeps(&self, text: &str) -> bool {
        self.keep.iter().any(|kept| kept == text)
    }

    /// Whether the author wants this address as it is.
    pub(super) fn keeps_address(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        self.keep.iter().map(|kept| kept.to_lowercase()).any(|kept| {
            let is_of_domain = kept.starts_with('@') && address.ends_with(&kept);
            kept == address || is_of_domain
        })
    }

    /// Whether a response header of this name, in lower case, is recorded.
    pub(super) fn has_response_header(&self, name: &str) -> bool {
        let is_wanted = RESPONSE_HEADERS.contains(&name)
            || name.starts_with(RESPONSE_PREFIX)
            || self.keep_headers.iter().any(|kept| kept.eq_ignore_ascii_case(name));
        is_wanted && !is_credential(name)
    }
}

/// Whether a request header of this name, in lower case, is recorded.
pub(super) fn has_request_header(name: &str) -> bool {
    REQUEST_HEADERS.contains(&name)
}

/// Whether a header of this name, in lower case, holds a credential.
fn is_credential(name: &str) -> bool {
    CREDENTIALS.contains(&name)
}
