//! Takes credentials out of what comes back: a provider that echoes a request must not show the connector a token. The bytes
//! of the secret itself are found, and their base64 at every alignment, in both alphabets.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

/// Secrets shorter than this are not looked for: they would be found in text that means something else.
const SHORTEST: usize = 8;

/// Finds and overwrites credentials.
#[derive(Default)]
pub(crate) struct Redactor {
    needles: Vec<Vec<u8>>,
}

impl Redactor {
    /// Adds the secrets of an `Authorization` header value: the token, or for Basic the encoded and the decoded pair. A bare
    /// password is not looked for: people choose words, and words appear in calendars.
    pub(crate) fn add(&mut self, authorization: &str) {
        let (scheme, token) = authorization.split_once(' ').unwrap_or(("", authorization));
        let token = token.trim();
        let mut secrets = vec![token.as_bytes().to_vec()];
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(pair) = STANDARD.decode(token)
        {
            secrets.push(pair);
        }
        for secret in secrets.into_iter().filter(|s| s.len() >= SHORTEST) {
            for offset in 0..3 {
                self.needles.extend(base64_cores(&secret, offset));
            }
            let escaped: String = url::form_urlencoded::byte_serialize(&secret).collect();
            self.needles.push(escaped.into_bytes());
            self.needles.push(secret);
        }
        self.needles.sort_unstable_by_key(|n| std::cmp::Reverse(n.len()));
        self.needles.dedup();
    }

    /// Whether a credential is in `bytes`.
    #[cfg(test)]
    pub(crate) fn finds(&self, bytes: &[u8]) -> bool {
        self.needles.iter().any(|needle| memmem::find(bytes, needle).is_some())
    }

    /// Overwrites every credential in `bytes` with asterisks; the length stays.
    pub(crate) fn redact(&self, bytes: &mut [u8]) -> bool {
        let mut found = false;
        for needle in &self.needles {
            let mut from = 0;
            while let Some(at) = memmem::find(&bytes[from..], needle) {
                bytes[from + at..from + at + needle.len()].fill(b'*');
                from += at + needle.len();
                found = true;
            }
        }
        found
    }

    /// How many bytes at the end of a piece may be the beginning of a credential.
    pub(crate) fn overlap(&self) -> usize {
        self.needles.first().map_or(0, |longest| longest.len() - 1)
    }
}

/// What base64 makes of `secret` when it begins `offset` bytes into a group: the part that does not depend on its neighbours.
fn base64_cores(secret: &[u8], offset: usize) -> Vec<Vec<u8>> {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(secret);
    let from = (offset * 8).div_ceil(6);
    let to = padded.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
        .into_iter()
        .map(|text| text.as_bytes()[from..to.min(text.len())].to_vec())
        .filter(|core| core.len() >= SHORTEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echoed_token_is_overwritten() {
        let mut r = Redactor::default();
        r.add("Bearer tok-123/45+678~9");
        for prefix in ["", "a", "ab", "abc"] {
            let plain = format!("{prefix}tok-123/45+678~9 end");
            for text in [plain.clone(), STANDARD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let mut bytes = text.clone().into_bytes();
                assert!(r.finds(&bytes) && r.redact(&mut bytes), "{text}");
                assert!(!r.finds(&bytes));
                assert_eq!(bytes.len(), text.len());
            }
        }
        assert!(r.finds(b"tok-123%2F45%2B678%7E9") || r.finds(b"tok-123%2F45%2B678~9"));
    }

    #[test]
    fn a_password_that_is_a_word_does_not_spoil_the_text() {
        let mut r = Redactor::default();
        r.add(&format!("Basic {}", STANDARD.encode("alice:secret")));
        let mut text = b"a secret meeting".to_vec();
        assert!(!r.redact(&mut text));
        let mut pair = b"credentials alice:secret here".to_vec();
        assert!(r.redact(&mut pair));
        assert_eq!(pair, b"credentials ************ here");
    }
}
