//! Names of members, parameters and headers that hold secrets: those of OAuth, OpenID Connect and HTTP authentication, those of the large
//! clouds, and common words for secrets. Names are compared without separators and case: `clientSecret`, `client_secret` and
//! `Client-Secret` are the same name.

/// The context of a name: `code` in a URL is an authorization code, `code` in JSON an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePlace {
    /// A member of JSON, an element or an attribute of XML, a line of text.
    Member,
    /// A URL's query or fragment, a form, a cookie, a header, JSON of an OAuth exchange.
    Parameter,
}

/// Secrets in any place: OAuth (RFC 6749, 7521, 7523, 7636, 8628, 9449, RFC 5849), OpenID Connect and CIBA, SAML, sessions (RFC 6265),
/// HTTP authentication (RFC 7617, 6750), one-time codes, AWS, Azure and Google.
const ANYWHERE: [&str; 50] = [
    "accesscode",
    "apisid",
    "aspnetsessionid",
    "assertion",
    "authcode",
    "authorization",
    "authorizationcode",
    "authreqid",
    "basicauth",
    "clientassertion",
    "codeverifier",
    "connectionstring",
    "connectsid",
    "cookie",
    "csrf",
    "cvc",
    "cvv",
    "devicecode",
    "dpop",
    "dpopnonce",
    "googleaccessid",
    "jsessionid",
    "jwt",
    "mfacode",
    "oauthsignature",
    "oauthverifier",
    "onetimecode",
    "otp",
    "pass",
    "passcode",
    "phpsessid",
    "pin",
    "proxyauthorization",
    "pw",
    "pwd",
    "samlart",
    "samlrequest",
    "samlresponse",
    "securitycode",
    "sessid",
    "sessionid",
    "sessionstate",
    "setcookie",
    "sharedaccesssignature",
    "totp",
    "usercode",
    "verificationcode",
    "xamzsignature",
    "xgoogsignature",
    "xsrf",
];
/// Secrets of a URL, a form, a cookie or a header.
const PARAMETERS: [&str; 17] = [
    "apisig",
    "appid",
    "auth",
    "code",
    "hmac",
    "nonce",
    "otc",
    "policy",
    "relaystate",
    "requesturi",
    "session",
    "sid",
    "sig",
    "signature",
    "ticket",
    "verifier",
    "wresult",
];
/// Parts of names that hold secrets.
const PARTS: [&str; 18] = [
    "accesskey",
    "accountkey",
    "apikey",
    "contrasena",
    "credential",
    "kennwort",
    "motdepasse",
    "passphrase",
    "passwd",
    "password",
    "passwort",
    "privatekey",
    "secret",
    "sharedkey",
    "signingkey",
    "subscriptionkey",
    "sessionkey",
    "wachtwoord",
];
/// Ambiguous names: the value is a secret if it looks random.
const IF_RANDOM: [&str; 11] =
    ["auth", "bearer", "hmac", "pat", "refresh", "sas", "session", "sid", "sig", "signature", "ticket"];
/// Names of secrets with other meanings too: a value that is a word is replaced only where it has this name, not in other texts.
const ORDINARY: [&str; 6] = ["cookie", "jwt", "key", "keys", "pass", "pin"];
/// Members and elements that name the value beside them, and those that hold it.
const NAMING: [&str; 9] =
    ["attribute", "field", "header", "headername", "id", "key", "name", "parameter", "property"];
const VALUES: [&str; 11] = [
    "array",
    "content",
    "data",
    "dict",
    "headervalue",
    "integer",
    "string",
    "text",
    "val",
    "value",
    "values",
];
/// Suffixes that make a name that of a property of a secret: `token_type`, `passwordExpiresAt`.
const ABOUT: [&str; 17] = [
    "alg",
    "count",
    "enabled",
    "endpoint",
    "endpoints",
    "expiration",
    "expires",
    "expiresat",
    "expiresin",
    "expiry",
    "length",
    "limit",
    "method",
    "policy",
    "required",
    "supported",
    "type",
];
/// Words in the names of tokens that are positions in a paged list.
const PAGING: [&str; 7] = ["page", "sync", "next", "delta", "continu", "cursor", "skip"];
/// Words in the names of tokens that are credentials nevertheless, such as a page's access token.
const NO_PAGING: [&str; 4] = ["access", "auth", "idtoken", "refresh"];
/// Names of secrets whose values may be numbers.
const NUMERIC: [&str; 11] = [
    "accesscode",
    "cvc",
    "cvv",
    "mfacode",
    "onetimecode",
    "otp",
    "passcode",
    "pin",
    "securitycode",
    "totp",
    "verificationcode",
];
/// Members that identify a JSON object as an OAuth message.
const OF_OAUTH: [&str; 9] = [
    "accesstoken",
    "clientassertion",
    "clientid",
    "clientsecret",
    "codeverifier",
    "devicecode",
    "granttype",
    "redirecturi",
    "refreshtoken",
];

/// The likelihood that a value is secret, judged by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    Open,
    /// Secret under this name; elsewhere the value is replaced only if it looks random.
    Here,
    Everywhere,
}

impl Secrecy {
    /// Returns the secrecy of a value under the name of a secret.
    pub fn of_secret(name: &str) -> Secrecy {
        if ORDINARY.contains(&squeeze(name).as_str()) { Secrecy::Here } else { Secrecy::Everywhere }
    }
}

/// Returns a name without separators and case. An `&amp;` of HTML before it is dropped.
fn squeeze(name: &str) -> String {
    let name = name.strip_prefix("amp;").unwrap_or(name);
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a value of this name in such a place is a secret.
pub fn is_secret_name(name: &str, place: NamePlace) -> bool {
    let squeezed = squeeze(name);
    if ANYWHERE.contains(&squeezed.as_str()) {
        return true;
    }
    if place == NamePlace::Parameter && PARAMETERS.contains(&squeezed.as_str()) {
        return true;
    }
    let has_one_of = |parts: &[&str]| parts.iter().any(|part| squeezed.contains(part));
    let is_about = is_about(name);
    if is_about || squeezed.contains("idempotency") {
        return squeezed.contains("secret") && !is_about;
    }
    let is_paging = has_one_of(&PAGING) && !has_one_of(&NO_PAGING);
    let is_token = squeezed.contains("token") && !squeezed.contains("typehint") && !is_paging;
    let is_session = squeezed.ends_with("sessionid") || squeezed.ends_with("sessid");
    is_token || is_session || has_one_of(&PARTS) || has_key(name)
}

/// Returns whether a name is that of a property of a secret: `passwordType`, but not `secretAccount`.
pub fn is_about(name: &str) -> bool {
    let squeezed = squeeze(name);
    !squeezed.ends_with("account") && ABOUT.iter().any(|end| squeezed.ends_with(end))
}

/// Whether a member of this name holds a secret if its value looks random.
pub fn is_secret_if_random(name: &str) -> bool {
    IF_RANDOM.contains(&squeeze(name).as_str())
}

/// Whether a text is itself the name of a secret, as `password` of `{"kind": "password"}`.
pub fn is_name_of_secret(text: &str) -> bool {
    let squeezed = squeeze(text);
    let bare = squeezed.strip_prefix('x').unwrap_or(&squeezed);
    let lists: [&[&str]; 4] = [&ANYWHERE, &PARAMETERS, &PARTS, &OF_OAUTH];
    lists.iter().any(|names| names.contains(&bare) || names.contains(&squeezed.as_str()))
}

/// Returns whether a member or an element of this name names the value beside it.
pub fn is_naming(name: &str) -> bool {
    NAMING.contains(&squeeze(name).as_str())
}

/// Returns whether a member or an element of this name holds the value that its sibling names.
pub fn is_value_name(name: &str) -> bool {
    VALUES.contains(&squeeze(name).as_str())
}

/// Whether a name has `key` as a separate word: `apiKey`, `api_keys` and `key`, but not `keywords`.
fn has_key(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.match_indices("key").any(|(at, key)| {
        let rest = name.get(at + key.len()..).unwrap_or_default();
        !rest.strip_prefix('s').unwrap_or(rest).starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// Whether a number of this name is a secret.
pub fn is_numeric_secret(name: &str) -> bool {
    NUMERIC.contains(&squeeze(name).as_str())
}

/// Returns whether a line of text such as `name: value` holds a secret. A short name alone is too ambiguous there.
pub fn is_secret_of_prose(name: &str) -> bool {
    is_secret_name(name, NamePlace::Member) && !ORDINARY.contains(&squeeze(name).as_str())
}

/// Whether an object with these members is an OAuth message, in which `code` and `state` are secrets.
pub fn is_oauth_message<'n>(names: impl IntoIterator<Item = &'n str>) -> bool {
    names.into_iter().any(|name| OF_OAUTH.contains(&squeeze(name).as_str()))
}

/// Whether the value of this name is a secret in an OAuth message.
pub fn is_oauth_secret(name: &str) -> bool {
    squeeze(name) == "state" || is_secret_name(name, NamePlace::Parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_in_every_spelling() {
        for names in [
            ["client_assertion", "clientAssertion", "Client-Assertion", "CLIENT.ASSERTION"],
            ["session_id", "sessionId", "SessionID", "session-id"],
            ["x_amz_security_token", "xAmzSecurityToken", "X-Amz-Security-Token", "amp;X-Amz-Security-Token"],
            ["api_key", "apiKey", "X-API-Key", "apikey"],
            ["aws_access_key_id", "AWSAccessKeyId", "awsaccesskeyid", "AWS-ACCESS-KEY-ID"],
        ] {
            for name in names {
                assert!(is_secret_name(name, NamePlace::Member), "{name}");
            }
        }
    }

    #[test]
    fn names_about_secrets_and_names_of_cursors_are_none() {
        for name in [
            "token_type",
            "tokenEndpoint",
            "password_expires_at",
            "pageToken",
            "syncToken",
            "sync-token",
            "nextPageToken",
            "skiptoken",
            "keywords",
            "grant_type",
            "code",
            "state",
            "sig",
            "title",
            "Idempotency-Key",
            "token_type_hint",
            "passwordType",
            "secretCount",
            "nextSyncToken",
        ] {
            assert!(!is_secret_name(name, NamePlace::Member), "{name}");
        }
        for name in ["page_access_token", "nextRefreshToken", "secretAccount", "pw", "pass", "Mot-de-passe"] {
            assert!(is_secret_name(name, NamePlace::Member), "{name}");
        }
        for text in ["password", "client_secret", "X-Api-Key", "accessToken"] {
            assert!(is_name_of_secret(text), "{text}");
        }
        assert!(!is_name_of_secret("open-sesame") && !is_name_of_secret("my-password-1"));
        for name in ["code", "sig", "ticket", "nonce", "id_token_hint", "X-Amz-Credential", "Signature"] {
            assert!(is_secret_name(name, NamePlace::Parameter), "{name}");
        }
        assert!(!is_secret_name("state", NamePlace::Parameter) && is_oauth_secret("state"));
        assert!(is_oauth_message(["grant_type", "code"]) && !is_oauth_message(["code", "message"]));
    }
}
