//! Verifies the JSON Web Token (RFC 7519) by which a provider authenticates a whole request with notifications, as Google's Pub/Sub does.
//! Follows RFC 8725: the key determines the algorithm, issuer and audience must match the manifest exactly, and times are compared with the
//! service's clock.

use std::time::Duration;

use base::error::{Code, Refusal, Result};
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use runtime::{DirectRequest, Push, PushJwt, PushPlace};
use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::app::jwks::{Key, KeyError, KeyRef, KeySet};
use crate::connections::watch_reach;
use crate::push::recipients::{self, Recipients};

/// Longest token, bytes. Google's have about 1,000.
const MAX_TOKEN_BYTES: usize = 8 << 10;
/// Tolerated difference between the issuer's clock and the service's, ms.
const LEEWAY_MS: i64 = 60_000;
/// Deadline of a request for a key set, and the longest response, bytes.
const JWKS_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_JWKS_BYTES: usize = 64 << 10;
/// `Retry-After` of a 503, seconds.
const RETRY_AFTER_S: u64 = 10;

/// The reason why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JwtError {
    /// The provider did not issue it for this service. The reason goes to the debug log only: anybody can send an invalid token.
    Invalid(&'static str),
    /// The provider's keys cannot be fetched now.
    KeysUnavailable,
}

/// The claims that are checked.
#[derive(Debug, Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    exp: i64,
    nbf: Option<i64>,
    iat: Option<i64>,
    // Of any type: these are only checked if the manifest has `email` or `email_setting`.
    email: Option<Value>,
    email_verified: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Claims {
    /// Returns the email address of the account that the token is for, if the issuer has verified it.
    fn verified_email(&self) -> Option<&str> {
        let email = self.email.as_ref()?.as_str()?;
        (self.email_verified == Some(Value::Bool(true))).then_some(email)
    }
}

/// Verifies the token of a request with `count` notifications. Returns the applications that it is for.
///
/// # Errors
/// `missing_api_key` if there is no token, `invalid_api_key` if the provider did not issue it for this service, and `overloaded` while the
/// provider's keys cannot be fetched.
pub async fn ensure_authentic(
    app: &App,
    provider: &str,
    push: &Push,
    headers: &HeaderMap,
    count: usize,
) -> Result<Recipients> {
    let Some(token) = find_token(push.secret.as_ref(), headers) else {
        let message = "the request has no token of the provider";
        return Err(Refusal::new(Code::MissingApiKey, message).into());
    };
    let recipients = match verify(app, provider, push, token).await {
        Ok(claims) => {
            let found = find_recipients(app, provider, push, &claims).await?;
            found.ok_or(JwtError::Invalid("the email of no application, or not verified"))
        }
        Err(e) => Err(e),
    };
    match recipients {
        Ok(recipients) => Ok(recipients),
        Err(JwtError::Invalid(why)) => {
            tracing::debug!(connector = provider, why, "the token of a notification is invalid");
            app.metrics.count_notifications(provider, "wrong_secret", count);
            let message = "the provider did not issue this token for this service";
            Err(Refusal::new(Code::InvalidApiKey, message).into())
        }
        Err(JwtError::KeysUnavailable) => {
            app.metrics.count_notifications(provider, "no_keys", count);
            let message = "the keys of the provider cannot be fetched now; send the notifications again";
            Err(Refusal::new(Code::Overloaded, message).retry_after_s(RETRY_AFTER_S).into())
        }
    }
}

/// Returns the token of a request. Its header must occur once. `Authorization` must have the scheme `Bearer` (RFC 6750).
fn find_token<'h>(place: Option<&PushPlace>, headers: &'h HeaderMap) -> Option<&'h str> {
    let default_name = AUTHORIZATION;
    let name = match place {
        None => &default_name,
        Some(PushPlace::Header(name)) => name,
        Some(PushPlace::Query(_) | PushPlace::Pointer(_)) => return None,
    };
    let mut values = headers.get_all(name).iter();
    let (text, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        None if *name != AUTHORIZATION => text,
        Some(_) | None => return None,
    };
    (1..=MAX_TOKEN_BYTES).contains(&token.len()).then_some(token)
}

/// Returns the applications that a verified token is for; none: the operator named its account for no application.
async fn find_recipients(
    app: &App,
    provider: &str,
    push: &Push,
    claims: &Claims,
) -> Result<Option<Recipients>> {
    let setting = push.jwt.as_ref().and_then(|jwt| jwt.email_setting.as_deref());
    match (setting, claims.verified_email()) {
        (None, _) => Ok(Some(Recipients::All)),
        (Some(_), None) => Ok(None),
        (Some(setting), Some(email)) => recipients::find(app, provider, setting, email).await,
    }
}

async fn verify(app: &App, provider: &str, push: &Push, token: &str) -> Result<Claims, JwtError> {
    let Some(jwt) = &push.jwt else { return Err(JwtError::Invalid("the manifest has no [push.jwt]")) };
    let audience = jwt.audience.clone().or_else(|| watch_reach::address_of(app, provider, push));
    let audience = audience.ok_or(JwtError::Invalid("this service has no public URL"))?;
    let (id, algorithm) = parse_header(token)?;
    let now = app.now();
    // Connectors do not share an entry, because they may not reach the same addresses.
    let set = format!("{provider} {}", jwt.jwks_url);
    let fetch = || fetch_key_set(app.clone(), provider.to_owned(), jwt.jwks_url.clone());
    let found = app.jwks.find_key(&set, KeyRef { id: &id, algorithm }, now, fetch).await;
    let key = found.map_err(|e| match e {
        KeyError::NotFound => JwtError::Invalid("the provider has no such key"),
        KeyError::Unavailable => JwtError::KeysUnavailable,
    })?;
    let claims = decode_claims(token, &key).ok_or(JwtError::Invalid("wrong signature, or missing claims"))?;
    validate_claims(&claims, jwt, &audience, app.now()).map_err(JwtError::Invalid)?;
    Ok(claims)
}

/// Returns `kid` and `alg` of the header. They are not authenticated yet: the key that is found must be for this algorithm.
fn parse_header(token: &str) -> Result<(String, Algorithm), JwtError> {
    let malformed = JwtError::Invalid("malformed token, or unknown algorithm");
    let header = decode_header(token).map_err(|_| malformed)?;
    let is_jwt = header.typ.as_deref().is_none_or(|typ| typ.eq_ignore_ascii_case("jwt"));
    if !is_jwt || header.crit.is_some() {
        return Err(JwtError::Invalid("a typ other than JWT, or critical extensions"));
    }
    let id = header.kid.ok_or(JwtError::Invalid("no kid"))?;
    Ok((id, header.alg))
}

/// Returns the claims of a token if its signature is valid for this key and its algorithm.
fn decode_claims(token: &str, key: &Key) -> Option<Claims> {
    let mut validation = Validation::new(key.algorithm);
    // The library compares times with the system clock. `validate_claims` checks all claims.
    validation.required_spec_claims.clear();
    (validation.validate_exp, validation.validate_nbf, validation.validate_aud) = (false, false, false);
    decode::<Claims>(token, &key.decoding_key, &validation).ok().map(|data| data.claims)
}

/// Checks the claims of a token at `now`, ms since 1970. The error says what is wrong.
fn validate_claims(claims: &Claims, jwt: &PushJwt, audience: &str, now: i64) -> Result<(), &'static str> {
    let has_audience = match &claims.aud {
        Audience::One(one) => one == audience,
        Audience::Several(all) => all.iter().any(|one| one == audience),
    };
    let ms = |seconds: i64| seconds.saturating_mul(1_000);
    let is_future = |seconds: Option<i64>| seconds.is_some_and(|at| now.saturating_add(LEEWAY_MS) < ms(at));
    if !jwt.issuers.contains(&claims.iss) {
        return Err("another issuer");
    }
    if !has_audience {
        return Err("another audience");
    }
    if now >= ms(claims.exp).saturating_add(LEEWAY_MS) {
        return Err("expired");
    }
    if is_future(claims.nbf) || is_future(claims.iat) {
        return Err("not valid yet");
    }
    match jwt.email.as_deref() {
        Some(email) if claims.verified_email() != Some(email) => Err("another email, or not verified"),
        Some(_) | None => Ok(()),
    }
}

/// Downloads the provider's key set. Logs failures.
async fn fetch_key_set(app: App, provider: String, url: String) -> Option<KeySet> {
    match request_key_set(&app, &provider, &url).await {
        Ok(set) => Some(set),
        Err(why) => {
            tracing::warn!(connector = provider, url, why, "the keys of a provider cannot be fetched");
            None
        }
    }
}

async fn request_key_set(app: &App, provider: &str, url: &str) -> Result<KeySet, String> {
    let request = DirectRequest {
        tenant: "push".to_owned(),
        connector: provider.to_owned(),
        method: Method::GET,
        url: url.to_owned(),
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
        body: Vec::new(),
        timeout: JWKS_TIMEOUT,
        max_bytes: MAX_JWKS_BYTES,
    };
    let answer = app.runtime.send_direct(request).await.map_err(|e| e.to_string())?;
    if answer.status != StatusCode::OK {
        return Err(format!("the server responded with status {}", answer.status.as_u16()));
    }
    KeySet::parse(&answer.headers, &answer.body).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_000_000_000_000;
    const NOW_S: i64 = NOW / 1_000;
    const OURS: &str = "https://sw.example.com/v1/providers/gmail/notifications";

    fn jwt(email: Option<&str>) -> PushJwt {
        PushJwt {
            issuers: vec!["https://accounts.google.com".to_owned(), "accounts.google.com".to_owned()],
            jwks_url: "https://www.googleapis.com/oauth2/v3/certs".to_owned(),
            audience: None,
            email: email.map(str::to_owned),
            email_setting: None,
        }
    }

    /// The claims of a Pub/Sub token with some of them replaced, or removed by null.
    fn claims(changes: &Value) -> Option<Claims> {
        let mut all = json!({ "iss": "https://accounts.google.com", "aud": OURS, "azp": "1", "sub": "1",
            "email": "push@p.iam.gserviceaccount.com", "email_verified": true,
            "iat": NOW_S, "exp": NOW_S + 3_600 });
        for (name, value) in changes.as_object().unwrap() {
            all[name] = value.clone();
        }
        all.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        serde_json::from_value(all).ok()
    }

    #[test]
    fn claims_must_match_exactly() {
        let service = Some("push@p.iam.gserviceaccount.com");
        let passes = |changes: &Value, email: Option<&str>| {
            claims(changes).is_some_and(|claims| validate_claims(&claims, &jwt(email), OURS, NOW).is_ok())
        };
        for fine in [
            json!({}),
            json!({ "iss": "accounts.google.com" }),
            json!({ "aud": ["https://other.example.com", OURS] }),
            json!({ "exp": NOW_S - 59, "nbf": NOW_S + 60, "iat": NOW_S + 60 }),
            json!({ "iat": null, "exp": i64::MAX, "nbf": i64::MIN }),
        ] {
            assert!(passes(&fine, service), "{fine}");
        }
        for wrong in [
            json!({ "iss": "https://accounts.google.com/" }),
            json!({ "iss": ["https://accounts.google.com"] }),
            json!({ "iss": null }),
            json!({ "aud": format!("{OURS}/") }),
            json!({ "aud": [] }),
            json!({ "aud": null }),
            json!({ "exp": NOW_S - 60 }),
            json!({ "exp": i64::MIN }),
            json!({ "exp": null }),
            json!({ "exp": format!("{NOW_S}") }),
            json!({ "nbf": NOW_S + 61 }),
            json!({ "iat": NOW_S + 61 }),
            json!({ "email": "push@q.iam.gserviceaccount.com" }),
            json!({ "email": null }),
            json!({ "email_verified": false }),
            json!({ "email_verified": "true" }),
            json!({ "email_verified": null }),
        ] {
            assert!(!passes(&wrong, service), "{wrong}");
        }
        let without = json!({ "email": null, "email_verified": "true" });
        assert!(passes(&without, None), "the manifest has no email");
    }

    #[test]
    fn the_token_is_in_exactly_one_header() {
        let of = |name: &'static str, value: &str, place: Option<&PushPlace>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::try_from(value).unwrap());
            find_token(place, &headers).map(str::to_owned)
        };
        let own = PushPlace::try_from("header:x-token".to_owned()).unwrap();
        for text in ["Bearer a.b.c", "bearer  a.b.c"] {
            assert_eq!(of("authorization", text, None).as_deref(), Some("a.b.c"));
        }
        for text in ["a.b.c", "Basic a.b.c", "Bearer", "Bearer ", ""] {
            assert_eq!(of("authorization", text, None), None, "{text}");
        }
        assert_eq!(of("authorization", &format!("Bearer {}", "x".repeat(MAX_TOKEN_BYTES + 1)), None), None);
        assert_eq!(of("x-token", "a.b.c", Some(&own)).as_deref(), Some("a.b.c"));
        assert_eq!(of("x-token", "Bearer a.b.c", Some(&own)).as_deref(), Some("a.b.c"));
        assert_eq!(of("authorization", "Bearer a.b.c", Some(&own)), None);
        let mut twice = HeaderMap::new();
        twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer a.b.c"));
        twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer d.e.f"));
        assert_eq!(find_token(None, &twice), None);
    }
}
