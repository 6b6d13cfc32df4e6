//! Removes credentials from answers: a provider that echoes a request must not show the connector a token. Finds the bytes of the
//! secret itself, and their base64 at every alignment, in both alphabets.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;
use sha2::{Digest, Sha256};

/// Secrets shorter than this are not searched for: they would be found in unrelated text.
const SHORTEST: usize = 8;

/// Maximum number of credentials in one call. Each is searched for separately, which bounds the work. A long sync with access
/// tokens of seconds needs several.
const MAX_SECRETS: usize = 16;

/// Finds and overwrites credentials.
#[derive(Default)]
pub(crate) struct Redactor {
    /// Hashes of the secrets that were added.
    known: Vec<[u8; 32]>,
    /// The longest first, each once.
    needles: Vec<memmem::Finder<'static>>,
}

impl Redactor {
    /// Adds the secrets of an `Authorization` header value: the token, or for Basic the encoded and the decoded pair. A bare
    /// password is not searched for: people choose words, and words appear in calendars. False where there are too many; a secret
    /// that was added before does not count again.
    pub(crate) fn add(&mut self, authorization: &str) -> bool {
        let hash: [u8; 32] = Sha256::digest(authorization).into();
        if self.known.contains(&hash) {
            return true;
        }
        if self.known.len() == MAX_SECRETS {
            return false;
        }
        self.known.push(hash);
        let (scheme, token) = authorization.split_once(' ').unwrap_or(("", authorization));
        let token = token.trim();
        let mut secrets = vec![token.as_bytes().to_vec()];
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(pair) = STANDARD.decode(token)
        {
            secrets.push(pair);
        }
        let mut needles: BTreeSet<Vec<u8>> = self.needles.iter().map(|n| n.needle().to_vec()).collect();
        for secret in secrets.into_iter().filter(|s| s.len() >= SHORTEST) {
            for offset in 0..3 {
                needles.extend(base64_cores(&secret, offset));
            }
            let escaped: String = url::form_urlencoded::byte_serialize(&secret).collect();
            needles.insert(escaped.into_bytes());
            needles.insert(secret);
        }
        self.needles = needles.iter().map(|needle| memmem::Finder::new(needle).into_owned()).collect();
        self.needles.sort_by_key(|finder| std::cmp::Reverse(finder.needle().len()));
        true
    }

    /// Whether a credential is in `bytes`.
    #[cfg(test)]
    pub(crate) fn finds(&self, bytes: &[u8]) -> bool {
        self.needles.iter().any(|finder| finder.find(bytes).is_some())
    }

    /// Overwrites every credential in `bytes` with asterisks, without changing the length.
    pub(crate) fn redact(&self, bytes: &mut [u8]) -> bool {
        let mut found = false;
        for finder in &self.needles {
            let mut from = 0;
            while let Some(at) = finder.find(&bytes[from..]) {
                let end = from + at + finder.needle().len();
                bytes[from + at..end].fill(b'*');
                from = end;
                found = true;
            }
        }
        found
    }

    /// `text` with every credential overwritten.
    pub(crate) fn redact_text(&self, text: String) -> String {
        let mut bytes = text.into_bytes();
        self.redact(&mut bytes);
        // Overwriting whole credentials with ASCII leaves UTF-8 intact unless a credential is cut out of a character.
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// How many bytes at the end of a piece may be the beginning of a credential.
    pub(crate) fn overlap(&self) -> usize {
        self.needles.first().map_or(0, |longest| longest.needle().len() - 1)
    }
}

/// The base64 encodings of `secret` when it begins `offset` bytes into a group: the part that does not depend on its neighbours.
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
    fn what_is_looked_for_is_a_set_with_an_end() {
        let mut r = Redactor::default();
        let token = |n: usize| format!("Bearer tok-{n}-0123456789");
        assert!(r.add(&token(0)) && r.add(&token(1)));
        let each = r.needles.len() / 2;
        // A call sends hundreds of requests with the same two.
        for n in 0..1_000 {
            assert!(r.add(&token(n % 2)));
        }
        assert_eq!(r.needles.len(), 2 * each);
        let added = (2..1_000).filter(|n| r.add(&token(*n))).count();
        assert_eq!((added, r.needles.len()), (MAX_SECRETS - 2, MAX_SECRETS * each));
        assert!(r.finds(b"tok-0-0123456789") && r.finds(b"tok-7-0123456789"));
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
