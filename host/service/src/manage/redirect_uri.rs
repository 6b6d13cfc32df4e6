//! Redirect URIs that an application may register (RFC 9700 §4.1, RFC 8252 §7). They are stored and compared byte for byte, so that two
//! spellings of a URL are two URIs.

use url::{Host, Url};

/// Longest address in bytes.
pub const MAX_BYTES: usize = 2048;

/// Returns the address as it is. The error is a sentence that says what is wrong with it.
pub fn parse(text: &str) -> Result<String, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("a redirect URI has at most {MAX_BYTES} bytes, this one has {}", text.len()));
    }
    if text.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b'\\') {
        return Err(
            "a redirect URI has printable ASCII characters only, without spaces and backslashes".into()
        );
    }
    if text.contains('#') {
        return Err("a redirect URI has no fragment (RFC 6749 §3.1.2): leave out # and what follows".into());
    }
    let url = Url::parse(text).map_err(|e| format!("this is no absolute URI: {e}"))?;
    let (_, rest) = text.split_once(':').unwrap_or_default();
    let path = rest.split('?').next().unwrap_or_default();
    let authority = path.strip_prefix("//").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if authority.contains('@') {
        return Err("a redirect URI names no user: leave out what stands before @".into());
    }
    if path.split('/').any(is_dot_segment) {
        return Err("a redirect URI has no `.` or `..` in its path: write where it leads to".into());
    }
    match url.scheme() {
        "https" if url.has_host() => {}
        "http" if is_loopback(&url) => {}
        "http" => return Err("http is for localhost, 127.0.0.1 and [::1] only: use https".into()),
        // RFC 8252 §7.1: a domain of the application's own, reversed, such as com.example.app.
        scheme if scheme.contains('.') && rest.starts_with('/') => {}
        scheme => {
            return Err(format!(
                "\"{scheme}\" is not a scheme that users can return by: use https, http on localhost, or a domain of your own reversed, such as com.example.app"
            ));
        }
    }
    Ok(text.to_owned())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.octets() == [127, 0, 0, 1],
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// `.` or `..`, however the dots are written.
fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_a_user_may_return_to_is_kept_byte_for_byte() {
        for good in [
            "https://app.example.test/cb",
            "https://app.example.test:8443/cb?next=1",
            "https://APP.example.test",
            "http://localhost:4000/cb",
            "http://127.0.0.1/cb",
            "http://[::1]:4000/cb",
            "com.example.app:/cb",
            "com.example.app://cb",
        ] {
            assert_eq!(parse(good).as_deref(), Ok(good));
        }
    }

    #[test]
    fn an_address_that_could_lead_elsewhere_is_refused() {
        for bad in [
            "",
            "/cb",
            "app.example.test/cb",
            "app.example.test:443/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "myapp:/cb",
            "http://app.example.test/cb",
            "http://127.0.0.2/cb",
            "http://localhost.evil.test/cb",
            "https://app.example.test@evil.test/cb",
            "https://@evil.test/cb",
            "https://app.example.test/cb#x",
            "https://app.example.test/x/../cb",
            "https://app.example.test/x/%2E%2e/cb",
            "https://app.example.test\\@evil.test/cb",
            "https://app.example.test/c b",
            "https://app.example.test/cb\r\nX: y",
            "https://äpp.example.test/cb",
            "https://",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(parse(&format!("https://app.example.test/{}", "x".repeat(MAX_BYTES))).is_err());
    }
}
