//! Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7). Follows RFC 8725: the key determines the algorithm, issuer and audience match
//! exactly, and times are compared with the service's clock.

use std::sync::Arc;

use base::error::Result;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::app::App;
use crate::app::jwks::{Key, KeyError, KeyRef, KeySet};
use crate::app::oidc_client::OidcMetadata;
use crate::manage::operators::oidc::{LEEWAY_MS, OidcFault, OidcProvider, discovery, provider};

/// Longest ID token, bytes.
const MAX_TOKEN_BYTES: usize = 16 << 10;
/// Longest name of a person at the provider, characters (section 2).
const MAX_SUBJECT: usize = 255;
/// The algorithms that are taken: with a private and a public key each.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The claims of an ID token.
#[derive(Clone, Debug, Deserialize)]
pub struct IdClaims {
    iss: String,
    aud: IdAudience,
    azp: Option<String>,
    /// The provider's own name for the person.
    pub sub: String,
    nonce: Option<String>,
    exp: i64,
    iat: i64,
    nbf: Option<i64>,
    auth_time: Option<i64>,
    // Of any type: they decide nothing where they are not as they should be.
    email: Option<Value>,
    email_verified: Option<Value>,
    name: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum IdAudience {
    One(String),
    Several(Vec<String>),
}

impl IdClaims {
    /// The person's address, if the provider has verified it.
    pub fn verified_email(&self) -> Option<&str> {
        let email = self.email.as_ref()?.as_str()?;
        (self.email_verified == Some(Value::Bool(true))).then_some(email)
    }

    /// Whether the token says nothing of an address: providers may leave that to `/userinfo` (section 5.4).
    fn lacks_email(&self) -> bool {
        self.email.is_none() || self.email_verified.is_none()
    }

    /// The name as people say it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref()?.as_str()
    }

    /// When the person proved to the provider who they are, milliseconds since 1970.
    pub fn proved_at(&self) -> Option<i64> {
        self.auth_time.map(ms)
    }
}

/// The answer of the provider's endpoint `/userinfo` (section 5.3.2).
#[derive(Debug, Deserialize)]
struct ProfileClaims {
    sub: String,
    email: Option<Value>,
    email_verified: Option<Value>,
    name: Option<Value>,
}

/// The values that an ID token has to have.
pub struct ExpectedClaims<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    /// When the browser left for the provider, milliseconds since 1970.
    pub left_at: i64,
}

/// Verifies an ID token.
///
/// # Errors
/// `Token` where it is not one that the provider issued for this authorization; the reason goes to the log. `Unavailable` while the provider's keys
/// cannot be fetched.
pub async fn verify(
    app: &App,
    metadata: &OidcMetadata,
    token: &str,
    expected: &ExpectedClaims<'_>,
) -> Result<IdClaims, OidcFault> {
    let (id, algorithm) = parse_header(token).map_err(|why| invalid(expected, why))?;
    let key = find_key(app, &metadata.jwks_url, KeyRef { id: &id, algorithm }).await;
    let key = key.map_err(|e| match e {
        KeyError::NotFound => invalid(expected, "the provider has no such key"),
        KeyError::Unavailable => OidcFault::Unavailable,
    })?;
    let claims = decode_claims(token, &key);
    let claims = claims.ok_or_else(|| invalid(expected, "wrong signature, or missing claims"))?;
    validate_claims(&claims, expected, app.now()).map_err(|why| invalid(expected, why))?;
    Ok(claims)
}

/// The same claims with the person's address, which the provider is asked for where the ID token does not have it.
///
/// # Errors
/// `Unavailable` without an answer, `Token` where it is about another person.
pub async fn with_email(
    provider: OidcProvider<'_>,
    metadata: &OidcMetadata,
    claims: IdClaims,
    access_token: &str,
) -> Result<IdClaims, OidcFault> {
    let Some(url) = metadata.userinfo_url.as_ref().filter(|_| claims.lacks_email()) else {
        return Ok(claims);
    };
    let asked = discovery::get(provider, url, Some(access_token)).await;
    let profile = asked.and_then(|(_, body)| {
        serde_json::from_slice::<ProfileClaims>(&body).map_err(|_| "it is no profile".to_owned())
    });
    match profile {
        // Section 5.3.2: what is about another person is not to be used.
        Ok(profile) if profile.sub != claims.sub => Err(OidcFault::Token),
        Ok(ProfileClaims { email, email_verified, name, .. }) => {
            Ok(IdClaims { email, email_verified, name: claims.name.or(name), ..claims })
        }
        Err(why) => {
            tracing::warn!(
                url = url.as_str(),
                why,
                "the panel's OpenID provider does not tell a person's address"
            );
            Err(OidcFault::Unavailable)
        }
    }
}

fn invalid(expected: &ExpectedClaims<'_>, why: &'static str) -> OidcFault {
    tracing::warn!(issuer = expected.issuer, why, "an ID token of the panel's OpenID provider is not good");
    OidcFault::Token
}

/// The key of the provider. A key that is not in the cached set is looked for in a new one, once a minute at most.
async fn find_key(app: &App, url: &Url, key: KeyRef<'_>) -> Result<Arc<Key>, KeyError> {
    // Connectors have entries of their own, because they may not reach the same addresses.
    let set = format!("panel {url}");
    let fetch = || fetch_key_set(app.clone(), url.clone());
    app.jwks.find_key(&set, key, app.now(), fetch).await
}

/// Downloads the provider's key set. Logs failures.
async fn fetch_key_set(app: App, url: Url) -> Option<KeySet> {
    let asked = discovery::get(provider(&app)?, &url, None).await;
    let set = asked.and_then(|(headers, body)| KeySet::parse(&headers, &body).map_err(str::to_owned));
    match set {
        Ok(set) => Some(set),
        Err(why) => {
            tracing::warn!(
                url = url.as_str(),
                why,
                "the keys of the panel's OpenID provider cannot be fetched"
            );
            None
        }
    }
}

/// Returns `kid` and `alg` of the header. They are not authenticated yet: the key that is found must be for this algorithm.
fn parse_header(token: &str) -> Result<(String, Algorithm), &'static str> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err("longer than 16 KiB");
    }
    let header = decode_header(token).map_err(|_| "malformed, or of an unknown algorithm")?;
    let is_jwt = header.typ.as_deref().is_none_or(|typ| typ.eq_ignore_ascii_case("jwt"));
    if !is_jwt || header.crit.is_some() {
        return Err("a typ other than JWT, or critical extensions");
    }
    if !ALGORITHMS.contains(&header.alg) {
        return Err("an algorithm without a public key");
    }
    // Contract silent: a token that names no key is refused, also of a provider that has one alone.
    Ok((header.kid.ok_or("no kid")?, header.alg))
}

/// Returns the claims of a token if its signature is valid for this key and its algorithm.
fn decode_claims(token: &str, key: &Key) -> Option<IdClaims> {
    let mut validation = Validation::new(key.algorithm);
    // The library compares times with the system clock. `validate_claims` checks all claims.
    validation.required_spec_claims.clear();
    (validation.validate_exp, validation.validate_nbf, validation.validate_aud) = (false, false, false);
    decode::<IdClaims>(token, &key.decoding_key, &validation).ok().map(|data| data.claims)
}

/// Seconds as milliseconds.
fn ms(seconds: i64) -> i64 {
    seconds.saturating_mul(1_000)
}

/// Checks the claims of a token at `now`, ms since 1970. The error is what is wrong.
fn validate_claims(claims: &IdClaims, expected: &ExpectedClaims<'_>, now: i64) -> Result<(), &'static str> {
    let is_future = |seconds: i64| now.saturating_add(LEEWAY_MS) < ms(seconds);
    let names_others = match &claims.aud {
        IdAudience::One(one) if one == expected.client_id => false,
        IdAudience::Several(all) if all.iter().any(|one| one == expected.client_id) => all.len() > 1,
        IdAudience::One(_) | IdAudience::Several(_) => return Err("another audience"),
    };
    match claims.azp.as_deref() {
        Some(azp) if azp != expected.client_id => return Err("another authorized party"),
        None if names_others => return Err("several audiences without an authorized party"),
        Some(_) | None => {}
    }
    if claims.iss != expected.issuer {
        return Err("another issuer");
    }
    if claims.nonce.as_deref() != Some(expected.nonce) {
        return Err("another nonce");
    }
    if now >= ms(claims.exp).saturating_add(LEEWAY_MS) {
        return Err("expired");
    }
    if is_future(claims.iat) || claims.nbf.is_some_and(is_future) || claims.auth_time.is_some_and(is_future) {
        return Err("not valid yet");
    }
    if ms(claims.iat).saturating_add(LEEWAY_MS) < expected.left_at {
        return Err("issued before it was asked for");
    }
    let is_subject = (1..=MAX_SUBJECT).contains(&claims.sub.len())
        && claims.sub.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_subject { Ok(()) } else { Err("a sub that is none") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_000_000_000_000;
    const NOW_S: i64 = NOW / 1_000;
    const EXPECTED: ExpectedClaims<'_> = ExpectedClaims {
        issuer: "https://id.example.com",
        client_id: "panel",
        nonce: "n-0S6_WzA2Mj",
        left_at: NOW - 5_000,
    };

    /// The claims of a good token with some of them replaced, or removed by null.
    fn claims(changes: &Value) -> Option<IdClaims> {
        let mut all = json!({ "iss": "https://id.example.com", "aud": "panel", "sub": "248289761001",
            "nonce": "n-0S6_WzA2Mj", "iat": NOW_S, "exp": NOW_S + 300, "auth_time": NOW_S - 3_600,
            "email": "ada@example.com", "email_verified": true, "name": "Ada" });
        for (name, value) in changes.as_object().unwrap() {
            all[name] = value.clone();
        }
        all.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        serde_json::from_value(all).ok()
    }

    #[test]
    fn claims_are_those_of_this_authorization() {
        let passes = |changes: &Value| {
            claims(changes).is_some_and(|claims| validate_claims(&claims, &EXPECTED, NOW).is_ok())
        };
        for good in [
            json!({}),
            json!({ "aud": ["panel"] }),
            json!({ "aud": ["panel", "other"], "azp": "panel" }),
            json!({ "exp": NOW_S - 59, "iat": NOW_S - 64 }),
            json!({ "iat": NOW_S + 60, "nbf": NOW_S + 60 }),
            json!({ "auth_time": null, "email": null, "email_verified": "yes", "name": 7 }),
        ] {
            assert!(passes(&good), "{good}");
        }
        for wrong in [
            json!({ "iss": "https://id.example.com/" }),
            json!({ "iss": null }),
            json!({ "aud": "other" }),
            json!({ "aud": [] }),
            json!({ "aud": ["other"], "azp": "panel" }),
            json!({ "aud": ["panel", "other"] }),
            json!({ "azp": "other" }),
            json!({ "nonce": "other" }),
            json!({ "nonce": null }),
            json!({ "exp": NOW_S - 60 }),
            json!({ "exp": null }),
            json!({ "exp": "later" }),
            json!({ "iat": NOW_S + 61 }),
            json!({ "iat": NOW_S - 66 }),
            json!({ "iat": null }),
            json!({ "nbf": NOW_S + 61 }),
            json!({ "auth_time": NOW_S + 61 }),
            json!({ "exp": i64::MIN }),
            json!({ "sub": "" }),
            json!({ "sub": "a\u{0}b" }),
            json!({ "sub": "x".repeat(256) }),
            json!({ "sub": null }),
        ] {
            assert!(!passes(&wrong), "{wrong}");
        }
    }

    #[test]
    fn an_address_counts_when_the_provider_verified_it() {
        let email = |changes: Value| claims(&changes).unwrap().verified_email().map(str::to_owned);
        assert_eq!(email(json!({})).as_deref(), Some("ada@example.com"));
        for changes in [
            json!({ "email_verified": false }),
            json!({ "email_verified": "true" }),
            json!({ "email_verified": null }),
            json!({ "email": null }),
            json!({ "email": ["ada@example.com"] }),
        ] {
            assert_eq!(email(changes.clone()), None, "{changes}");
        }
    }

    #[test]
    fn a_header_names_a_key_and_an_algorithm_with_a_public_key() {
        use base64::Engine;
        use base64::prelude::BASE64_URL_SAFE_NO_PAD;
        let parse = |header: Value| {
            let coded = BASE64_URL_SAFE_NO_PAD.encode(header.to_string());
            parse_header(&format!("{coded}.e30.AA")).ok()
        };
        let good = parse(json!({ "alg": "ES256", "kid": "1", "typ": "JWT" }));
        assert_eq!(good, Some(("1".to_owned(), Algorithm::ES256)));
        for wrong in [
            json!({ "alg": "none", "kid": "1" }),
            json!({ "alg": "HS256", "kid": "1" }),
            json!({ "alg": "RS256" }),
            json!({ "alg": "RS256", "kid": "1", "typ": "at+jwt" }),
            json!({ "kid": "1" }),
        ] {
            assert_eq!(parse(wrong.clone()), None, "{wrong}");
        }
    }
}
