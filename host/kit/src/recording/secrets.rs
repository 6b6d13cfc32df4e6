//! The known secrets, and every encoding in which one may occur in a text. All secrets of a text are replaced in one pass, so a
//! placeholder is never taken for a secret.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use url::form_urlencoded;

/// Secrets shorter than this, in bytes, are replaced only under their name, and not in other text, where they would match unrelated
/// words.
const MIN_IN_TEXT: usize = 8;
/// Bytes by which an encoding is looked up.
const PREFIX: usize = 4;

/// The beginning of every placeholder.
const PLACEHOLDER: &str = "REDACTED-";

/// Returns the placeholder of the secret with this number. No placeholder is a prefix of another.
pub fn placeholder(number: usize) -> String {
    format!("{PLACEHOLDER}{number:03}")
}

/// Replaces numbered placeholders by ones without numbers.
pub fn without_numbers(text: &str) -> String {
    let mut parts = text.split(PLACEHOLDER);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str(PLACEHOLDER);
        clean.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    clean
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    pub range: Range<usize>,
    pub number: usize,
}

/// The secrets of a recording.
#[derive(Default)]
pub struct KnownSecrets {
    numbers: HashMap<String, usize>,
    /// By their first bytes, the longest first.
    forms: HashMap<[u8; PREFIX], Vec<(Vec<u8>, usize)>>,
}

impl KnownSecrets {
    /// Returns the number of a secret, a new one for a new secret. `is_sought`: the secret is replaced in all other texts too.
    pub fn learn(&mut self, secret: &str, is_sought: bool) -> usize {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.to_owned()).or_insert(next);
        if is_sought && secret.len() >= MIN_IN_TEXT && !self.has_form(secret.as_bytes()) {
            for form in forms(secret) {
                self.add_form(form, number);
            }
        }
        number
    }

    fn has_form(&self, form: &[u8]) -> bool {
        let known = form.first_chunk::<PREFIX>().and_then(|prefix| self.forms.get(prefix));
        known.is_some_and(|known| known.iter().any(|(known, _)| known == form))
    }

    fn add_form(&mut self, form: Vec<u8>, number: usize) {
        if self.has_form(&form) {
            return;
        }
        let Some(prefix) = form.first_chunk::<PREFIX>().copied() else { return };
        let forms = self.forms.entry(prefix).or_default();
        forms.push((form, number));
        forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    /// The secrets in these bytes, each by its longest form, from left to right.
    pub fn matches(&self, bytes: &[u8]) -> Vec<SecretMatch> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= PREFIX) {
            let forms = rest.first_chunk::<PREFIX>().and_then(|prefix| self.forms.get(prefix));
            let form = forms.and_then(|forms| forms.iter().find(|(form, _)| rest.starts_with(form)));
            match form {
                Some((form, number)) => {
                    found.push(SecretMatch { range: at..at + form.len(), number: *number });
                    at += form.len();
                }
                None => at += 1,
            }
        }
        found
    }

    /// The bytes with placeholders in place of secrets.
    pub fn replaced(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut clean, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for SecretMatch { range, number } in self.matches(bytes) {
            clean.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
            clean.extend_from_slice(placeholder(number).as_bytes());
            at = range.end;
        }
        clean.extend_from_slice(bytes.get(at..).unwrap_or_default());
        clean
    }
}

/// Returns the encodings of a secret that are long enough to search for: as it is, escaped for URLs, forms, JSON and XML, in
/// hexadecimal digits, and in base64 at every alignment.
fn forms(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut texts = vec![secret.to_owned(), form_urlencoded::byte_serialize(secret.as_bytes()).collect()];
    // The unreserved characters of RFC 3986; those that encodeURIComponent leaves; those that encodeURI leaves.
    for kept in ["-._~", "-._~!*'()", "-._~!*'();,/?:@&=+$#"] {
        let escaped = percent(secret, kept.as_bytes());
        texts.extend([lower_escapes(&escaped), percent(&escaped, b"-._~"), escaped]);
    }
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(secret).to_owned();
    texts.extend([json.replace('/', "\\/"), in_ascii(&json), json]);
    let xml = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for (quote, apostrophe) in
        [("&quot;", "'"), ("\"", "&apos;"), ("\"", "&#39;"), ("&quot;", "&apos;"), ("&quot;", "&#39;")]
    {
        texts.push(xml.replace('"', quote).replace('\'', apostrophe));
    }
    texts.extend([xml, hex::encode(secret), hex::encode_upper(secret)]);
    texts.extend([STANDARD.encode(secret), URL_SAFE.encode(secret)]);
    texts.extend([STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)]);
    for offset in 0..3 {
        texts.extend(base64_cores(secret.as_bytes(), offset));
    }
    texts.into_iter().map(String::into_bytes).filter(|form| form.len() >= MIN_IN_TEXT).collect()
}

/// Returns the base64 characters that depend on the secret only if it begins this many bytes after a group of three, in both alphabets.
fn base64_cores(secret: &[u8], offset: usize) -> [String; 2] {
    let shifted = [vec![0; offset], secret.to_vec()].concat();
    // A character has six bits. Those at the edges have bits of the neighbours.
    let (from, to) = ((offset * 8).div_ceil(6), shifted.len() * 8 / 6);
    [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)]
        .map(|text| text.get(from..to).unwrap_or_default().to_owned())
}

/// A text with percent escapes in place of all but letters, digits and these bytes.
fn percent(text: &str, kept: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// The same with escapes in lower case: `%2f`.
fn lower_escapes(escaped: &str) -> String {
    let mut parts = escaped.split('%');
    let mut lower = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        lower.push('%');
        lower.push_str(&digits.to_ascii_lowercase());
        lower.push_str(rest);
    }
    lower
}

/// The content of a JSON string with `\u` escapes in place of all that is not ASCII.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}")));
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(secrets: &[&str], text: &str) -> String {
        let mut known = KnownSecrets::default();
        for secret in secrets {
            known.learn(secret, true);
        }
        String::from_utf8(known.replaced(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_secret_that_is_part_of_its_placeholder_is_replaced_once() {
        for secret in ["REDACTED", "REDACTED-", "ACTED-001", "REDACTED-001"] {
            assert_eq!(replaced(&[secret], &format!("a {secret} b")), "a REDACTED-001 b");
        }
        assert_eq!(replaced(&["abcdefgh", "REDACTED"], "abcdefgh REDACTED"), "REDACTED-001 REDACTED-002");
    }

    #[test]
    fn the_longest_secret_counts() {
        assert_eq!(
            replaced(&["abcdefgh", "abcdefgh-ijkl"], "abcdefgh-ijkl abcdefgh-i"),
            "REDACTED-002 REDACTED-001-i"
        );
        assert_eq!(replaced(&["short"], "short"), "short");
    }

    #[test]
    fn every_encoding_of_a_secret_is_one_of_its_forms() {
        let secret = "pä\"ss/w+ör d<&>'";
        let known = forms(secret);
        for form in [
            "p%C3%A4%22ss%2Fw%2B%C3%B6r%20d%3C%26%3E%27",
            "p%c3%a4%22ss%2fw%2b%c3%b6r%20d%3c%26%3e%27",
            "p%C3%A4%22ss%2Fw%2B%C3%B6r+d%3C%26%3E%27",
            "pä\\\"ss/w+ör d<&>'",
            "p\\u00e4\\\"ss/w+\\u00f6r d<&>'",
            "pä&quot;ss/w+ör d&lt;&amp;&gt;&#39;",
        ] {
            assert!(known.contains(form.as_bytes()), "{form}");
        }
        for before in ["", "a", "ab", "user:"] {
            for after in ["", "x", "xy", " and more"] {
                let text = STANDARD.encode(format!("{before}{secret}{after}"));
                let clean = replaced(&[secret], &text);
                assert!(clean.contains("REDACTED-001"), "{before} {after}: {clean}");
            }
        }
    }

    #[test]
    fn numbers_are_left_out() {
        assert_eq!(without_numbers("a REDACTED-001&REDACTED-1234x 5"), "a REDACTED-&REDACTED-x 5");
    }
}
