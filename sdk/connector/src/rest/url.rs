//! URLs with escaped ids.

use crate::error::{Failure, Outcome};

/// Returns the URL of these path segments below `root`, with this query. Segments and values are escaped, so that an id of the provider
/// or of a caller cannot lead to another place. Fails with `not-found` for an empty segment, and for `.` and `..`: a step in a path has no
/// escaped form (WHATWG URL, section 4.4).
///
/// ```
/// use connector_sdk::rest::url::url;
///
/// let found = url("https://api.example.com/v1", &["lists", "a/b", "items"], &[("limit", "50")]).unwrap();
/// assert_eq!(found, "https://api.example.com/v1/lists/a%2Fb/items?limit=50");
/// assert!(url("https://api.example.com/v1", &["lists", ".."], &[]).is_err());
/// ```
pub fn url(root: &str, segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    let mut url = root.trim_end_matches('/').to_owned();
    for segment in segments {
        if matches!(*segment, "" | "." | "..") {
            return Err(Failure::not_found("nothing has an id that is empty or a step in a path"));
        }
        url.push('/');
        escape(segment, &mut url);
    }
    for (number, (name, value)) in query.iter().enumerate() {
        url.push(if number == 0 { '?' } else { '&' });
        escape(name, &mut url);
        url.push('=');
        escape(value, &mut url);
    }
    Ok(url)
}

/// Appends the text with every byte escaped that is not unreserved (RFC 3986, section 2.3), `:` or `@`.
fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::url;
    use crate::error::code;

    #[test]
    fn segments_and_values_are_escaped() {
        let found =
            url("https://x.test/v1/", &["en.uk#day@group.test", "é?&"], &[("q", "a b&c=d"), ("n", "1")]);
        assert_eq!(
            found.unwrap(),
            "https://x.test/v1/en.uk%23day@group.test/%C3%A9%3F%26?q=a%20b%26c%3Dd&n=1"
        );
        assert_eq!(url("https://x.test", &[], &[]).unwrap(), "https://x.test");
        assert_eq!(url("https://x.test", &["..."], &[]).unwrap(), "https://x.test/...");
    }

    #[test]
    fn a_step_in_a_path_is_no_id() {
        for id in ["", ".", ".."] {
            assert_eq!(url("https://x.test", &["a", id], &[]).unwrap_err().code, code::NOT_FOUND, "{id:?}");
        }
    }
}
