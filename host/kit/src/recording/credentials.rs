//! The credentials that headers carry, taken apart: each part is a secret by itself.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::recording::names::{NamePlace, is_secret_name};
use crate::recording::scan::split_scheme;

/// A part of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub text: String,
    /// The part names a user, perhaps by an address.
    pub is_user: bool,
}

/// The parts of the credential in a header of this name, in lower case; none of headers that hold no credential. The first part is the
/// whole of it, without its scheme.
pub fn credentials_of(name: &str, value: &str) -> Vec<Credential> {
    match name {
        "authorization" | "proxy-authorization" => of_authorization(value),
        "cookie" | "cookie2" => value.split([';', ',']).filter_map(of_cookie).collect(),
        // Several are one list; attributes stand behind the first pair of each.
        "set-cookie" | "set-cookie2" => {
            value.split(", ").filter_map(|cookie| of_cookie(cookie.split(';').next()?)).collect()
        }
        "idempotency-key" => Vec::new(),
        _ if is_secret_name(name, NamePlace::Parameter) => match split_scheme(value) {
            Some(_) => of_authorization(value),
            None => vec![secret(value.trim())],
        },
        _ => Vec::new(),
    }
}

fn secret(text: &str) -> Credential {
    Credential { text: text.to_owned(), is_user: false }
}

/// `Bearer token` (RFC 6750), `Basic` with user and password (RFC 7617), a scheme with parameters (RFC 7616, AWS), or a bare key.
fn of_authorization(value: &str) -> Vec<Credential> {
    let value = value.trim();
    let (scheme, rest) = value.split_once(' ').map_or(("", value), |(scheme, rest)| (scheme, rest.trim()));
    let mut parts = vec![secret(rest)];
    if scheme.eq_ignore_ascii_case("basic")
        && let Some((user, password)) = pair_of(rest)
    {
        parts.extend([Credential { text: user, is_user: true }, secret(&password)]);
    }
    for parameter in rest.split(',') {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        // These parameters of Digest are derived from the password.
        let is_digest = ["response", "cnonce"].contains(&name.trim());
        if is_digest || is_secret_name(name.trim(), NamePlace::Parameter) {
            parts.push(secret(value.trim().trim_matches('"')));
        }
    }
    parts.retain(|part| !part.text.is_empty());
    parts
}

/// User and password in base64.
fn pair_of(encoded: &str) -> Option<(String, String)> {
    let bytes = STANDARD
        .decode(encoded)
        .or_else(|_| STANDARD_NO_PAD.decode(encoded))
        .or_else(|_| URL_SAFE_NO_PAD.decode(encoded))
        .ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The value of a cookie (RFC 6265).
fn of_cookie(pair: &str) -> Option<Credential> {
    let (_, value) = pair.split_once('=')?;
    let value = value.trim().trim_matches('"');
    (!value.is_empty()).then(|| secret(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str, value: &str) -> Vec<String> {
        credentials_of(name, value).into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn a_credential_is_known_by_each_of_its_parts() {
        assert_eq!(parts("authorization", "Bearer abc"), ["abc"]);
        let pair = STANDARD.encode("ann:p:w");
        assert_eq!(parts("authorization", &format!("Basic {pair}")), [pair.as_str(), "ann", "p:w"]);
        assert_eq!(
            parts("authorization", "AWS4-HMAC-SHA256 Credential=AK/s3, SignedHeaders=host, Signature=ab")
                [1..],
            ["AK/s3", "ab"]
        );
        assert_eq!(parts("cookie", "a=b; c=\"d\""), ["b", "d"]);
        let cookies = "s=x; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/, t=y; Secure";
        assert_eq!(parts("set-cookie", cookies), ["x", "y"]);
        assert_eq!(parts("x-api-key", "key"), ["key"]);
        assert_eq!(parts("dpop", "eyJ.a.b"), ["eyJ.a.b"]);
        for name in ["idempotency-key", "content-type", "etag", "accept"] {
            assert_eq!(parts(name, "value"), [""; 0], "{name}");
        }
    }
}
