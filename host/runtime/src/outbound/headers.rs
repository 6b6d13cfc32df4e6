//! Header fields between guest and provider: those that a guest may not set, and those that it may not see.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::bindings::http::Header;
use crate::outbound::redact::Redactor;

/// Whether the header is owned by the host or the connection, or could turn a permitted request into another one.
pub(crate) fn forbidden(name: &str) -> bool {
    const EXACT: [&str; 23] = [
        "authorization",
        "cookie",
        "cookie2",
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "keep-alive",
        "expect",
        "via",
        "forwarded",
        "accept-encoding",
        "http2-settings",
        "x-real-ip",
        "x-original-url",
        "x-rewrite-url",
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
        "x-goog-authenticated-user-email",
    ];
    const PREFIXES: [&str; 3] = ["proxy-", "x-forwarded-", "sec-"];
    EXACT.contains(&name)
        || PREFIXES.iter().any(|p| name.starts_with(p))
        || (name.starts_with("x-goog-") && name.contains("auth"))
        || (name.starts_with("x-ms-") && name.contains("token"))
}

/// Converts the guest's fields for the client. The error is a sentence for the guest.
pub(crate) fn outgoing(headers: &[Header], max_bytes: usize) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    let mut bytes = 0;
    for h in headers {
        bytes += h.name.len() + h.value.len() + 4;
        if bytes > max_bytes || map.len() >= 100 {
            return Err(format!("headers: more than {max_bytes} bytes or 100 fields"));
        }
        let name =
            HeaderName::from_bytes(h.name.as_bytes()).map_err(|_| "headers: not a field name".to_owned())?;
        if forbidden(name.as_str()) {
            return Err(format!("headers: {name} is set by the host alone"));
        }
        let value = HeaderValue::from_bytes(&h.value)
            .map_err(|_| format!("headers: the value of {name} contains control characters"))?;
        map.append(name, value);
    }
    Ok(map)
}

/// Converts the provider's fields for the guest; none if they are larger than `max_bytes`.
pub(crate) fn incoming(headers: &HeaderMap, redactor: &Redactor, max_bytes: usize) -> Option<Vec<Header>> {
    let mut out = Vec::with_capacity(headers.len());
    let mut bytes = 0;
    for (name, value) in headers {
        let mut value = match *name {
            header::SET_COOKIE | header::PROXY_AUTHENTICATE => continue,
            // The scheme's name is enough; the rest may contain a challenge or an echo.
            header::WWW_AUTHENTICATE => {
                let scheme = value.as_bytes().split(|b| b.is_ascii_whitespace()).next();
                scheme.unwrap_or_default().to_vec()
            }
            _ if matches!(
                name.as_str(),
                "set-cookie2" | "authentication-info" | "proxy-authentication-info"
            ) =>
            {
                continue;
            }
            _ => value.as_bytes().to_vec(),
        };
        redactor.redact(&mut value);
        bytes += name.as_str().len() + value.len() + 4;
        if bytes > max_bytes {
            return None;
        }
        out.push(Header { name: name.as_str().to_owned(), value });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &[u8]) -> Result<HeaderMap, String> {
        outgoing(&[Header { name: name.into(), value: value.into() }], 1_000)
    }

    #[test]
    fn a_guest_cannot_smuggle_fields() {
        for name in [
            "Authorization",
            "cookie",
            "HOST",
            "Transfer-Encoding",
            "content-length",
            "proxy-authorization",
            "X-Forwarded-For",
            "forwarded",
            "X-HTTP-Method-Override",
            "connection",
            "te",
            "x y",
            "x\r\ny",
            "",
            "x:",
        ] {
            assert!(one(name, b"v").is_err(), "{name:?}");
        }
        for value in [&b"a\r\nhost: b"[..], b"a\nb", b"a\0"] {
            assert!(one("depth", value).is_err());
        }
        assert!(one("Depth", b"1").is_ok());
        assert!(one("depth", &[b'x'; 2_000]).is_err());
    }

    #[test]
    fn a_guest_does_not_see_credentials() {
        let mut redactor = Redactor::default();
        redactor.add("Bearer 0123456789abcdef");
        let mut headers = HeaderMap::new();
        headers.insert("x-echo", HeaderValue::from_static("Bearer 0123456789abcdef"));
        headers.insert("set-cookie", HeaderValue::from_static("a=b"));
        headers.insert("www-authenticate", HeaderValue::from_static("Digest realm=\"x\", nonce=\"y\""));
        let seen = incoming(&headers, &redactor, 1_000).unwrap();
        let seen: Vec<_> = seen.iter().map(|h| (&*h.name, std::str::from_utf8(&h.value).unwrap())).collect();
        assert_eq!(seen, [("x-echo", "Bearer ****************"), ("www-authenticate", "Digest")]);
    }
}
