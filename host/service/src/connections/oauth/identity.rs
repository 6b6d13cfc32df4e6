//! Identifies an account: by the provider's userinfo (OpenID Connect Core, section 5.3), by the `id_token` of the token response (section
//! 2), or by the connector's `check`, which is called elsewhere.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use runtime::{DirectRequest, ErrorClass, IdentitySource, UserinfoPointers};
use serde_json::Value;
use subtle::ConstantTimeEq;
use url::Url;

use crate::app::App;
use crate::connections::account;
use crate::connections::oauth::answer_body;
use crate::connections::oauth::classify::{self, TokenFailure};
use crate::connections::oauth::{OAuthProvider, TokenAnswer};

/// Most requests for userinfo, and the timeout of each.
const ATTEMPTS: u32 = 3;
const TIMEOUT: Duration = Duration::from_secs(5);

/// Pause between two of these requests.
const PAUSE: Duration = Duration::from_millis(200);

/// Most bytes of userinfo.
const MAX_BYTES: usize = 64 << 10;

/// Longest id of an account, bytes.
const MAX_ID: usize = 2_048;

/// Time that a provider's clock may be behind, seconds.
const CLOCK_SKEW_S: i64 = 60;

/// The identity of an account as the authorization server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountIdentity {
    /// The provider's permanent id.
    pub id: String,
    pub email: Option<String>,
    pub name: Option<String>,
}

/// Returns the account that these tokens belong to; none if the connector's `check` identifies it. `nonce` is that of the authorization
/// request.
pub async fn load(
    app: &App,
    provider: &OAuthProvider,
    tokens: &TokenAnswer,
    nonce: Option<&str>,
) -> Result<Option<AccountIdentity>, TokenFailure> {
    let pointers = &provider.connector.manifest.auth.userinfo;
    let document = match provider.identity_source() {
        IdentitySource::Check => return Ok(None),
        IdentitySource::Userinfo => {
            let url = provider.endpoints.userinfo_url.as_ref().ok_or_else(operator)?;
            userinfo(app, provider, tokens, url).await?
        }
        IdentitySource::IdToken => {
            let claims = tokens.id_token.as_deref().and_then(|token| claims(token)).ok_or_else(operator)?;
            let expected = ExpectedIdToken {
                issuer: provider.endpoints.issuer.as_deref(),
                client_id: &provider.registration.client_id,
                nonce,
                now_s: app.now() / 1_000,
            };
            if !expected.fits(&claims) {
                return Err(operator());
            }
            claims
        }
    };
    read(pointers, &document).map(Some).ok_or_else(operator)
}

/// Returns the failure for a manifest or registration that does not fit the provider.
fn operator() -> TokenFailure {
    TokenFailure::new(ErrorClass::Operator, true)
}

async fn userinfo(
    app: &App,
    provider: &OAuthProvider,
    tokens: &TokenAnswer,
    url: &Url,
) -> Result<Value, TokenFailure> {
    let mut attempt = 1;
    loop {
        match ask(app, provider, tokens, url).await {
            Err(failure) if failure.class == ErrorClass::Retry && attempt < ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(PAUSE).await;
            }
            done => return done,
        }
    }
}

async fn ask(
    app: &App,
    provider: &OAuthProvider,
    tokens: &TokenAnswer,
    url: &Url,
) -> Result<Value, TokenFailure> {
    let token = HeaderValue::try_from(format!("Bearer {}", *tokens.access_token));
    let token = token.map_err(|_| operator())?;
    let request = DirectRequest {
        tenant: provider.tenant.application_id.clone(),
        connector: provider.connector.manifest.name.clone(),
        method: Method::GET,
        url: url.to_string(),
        headers: HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json")),
            (AUTHORIZATION, token),
        ]),
        body: Vec::new(),
        timeout: TIMEOUT,
        max_bytes: MAX_BYTES,
    };
    let answer = app.runtime.send_direct(request).await.map_err(classify::unanswered)?;
    let retry = || TokenFailure::new(ErrorClass::Retry, true);
    match answer.status {
        status if status.is_success() => {
            serde_json::from_str(&answer_body::decoded(&answer.body)).map_err(|_| retry())
        }
        status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => Err(operator()),
        _ => Err(retry()),
    }
}

/// Returns the account's fields from userinfo or claims. None: there is no id of 1 to 2,048 bytes.
fn read(pointers: &UserinfoPointers, document: &Value) -> Option<AccountIdentity> {
    let text = |pointer: &String| match document.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let is_id = |id: &String| (1..=MAX_ID).contains(&id.len()) && !id.chars().any(char::is_control);
    let email = pointers.email.iter().filter_map(text).find(|email| account::is_address(email));
    let name = text(&pointers.name).map(|name| account::printable(&name)).filter(|name| !name.is_empty());
    Some(AccountIdentity { id: text(&pointers.id).filter(is_id)?, email, name })
}

/// Returns the claims of an `id_token`. It came from the token endpoint over TLS, so that its signature need not be checked (OpenID Connect
/// Core, section 3.1.3.7, item 6).
fn claims(id_token: &str) -> Option<Value> {
    let mut parts = id_token.split('.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&bytes).ok().filter(Value::is_object)
}

/// The required values of an `id_token` (OpenID Connect Core, section 3.1.3.7).
struct ExpectedIdToken<'a> {
    /// None: the provider has an issuer for each of its own tenants, and it is not compared.
    issuer: Option<&'a str>,
    client_id: &'a str,
    nonce: Option<&'a str>,
    /// Seconds since 1970.
    now_s: i64,
}

impl ExpectedIdToken<'_> {
    fn fits(&self, claims: &Value) -> bool {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let is_issuers = self.issuer.is_none_or(|issuer| text("iss") == Some(issuer));
        let is_ours = match claims.get("aud") {
            Some(Value::String(aud)) => aud == self.client_id,
            Some(Value::Array(all)) => {
                // With several audiences, `azp` names the client that it was issued to.
                all.iter().any(|aud| aud.as_str() == Some(self.client_id))
                    && (all.len() == 1 || text("azp") == Some(self.client_id))
            }
            _ => false,
        };
        let is_alive = claims
            .get("exp")
            .and_then(Value::as_f64)
            .is_some_and(|exp| (exp as i64).saturating_add(CLOCK_SKEW_S) > self.now_s);
        let is_of_request = self.nonce.is_none_or(|nonce| {
            text("nonce").is_some_and(|found| bool::from(found.as_bytes().ct_eq(nonce.as_bytes())))
        });
        is_issuers && is_ours && is_alive && is_of_request
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_stand_where_the_manifest_says() {
        let pointers = UserinfoPointers {
            id: "/id".into(),
            email: vec!["/mail".into(), "/userPrincipalName".into()],
            name: "/displayName".into(),
        };
        let document =
            json!({ "id": 7, "mail": null, "userPrincipalName": "a@b.test", "displayName": "A\u{202e}" });
        let found = read(&pointers, &document).unwrap();
        assert_eq!((found.id.as_str(), found.email.as_deref()), ("7", Some("a@b.test")));
        assert_eq!(found.name.as_deref(), Some("A"));
        for bad in [json!({}), json!({ "id": "" }), json!({ "id": "a\nb" }), json!({ "id": {} }), json!([])] {
            assert_eq!(read(&pointers, &bad), None, "{bad}");
        }
        let claims = json!({ "sub": "s", "email": "no address", "name": "" });
        let found = read(&UserinfoPointers::default(), &claims).unwrap();
        assert_eq!((found.id.as_str(), found.email, found.name), ("s", None, None));
    }

    #[test]
    fn an_id_token_is_for_this_client_and_this_request() {
        let expected = ExpectedIdToken {
            issuer: Some("https://id.test"),
            client_id: "me",
            nonce: Some("n"),
            now_s: 1_000_000,
        };
        let good =
            json!({ "iss": "https://id.test", "aud": "me", "exp": 1_000_001, "nonce": "n", "sub": "s" });
        assert!(expected.fits(&good));
        for (claim, value) in [
            ("iss", json!("https://id.test/")),
            ("aud", json!("other")),
            ("aud", json!(["me", "other"])),
            ("aud", json!([])),
            ("exp", json!(999_000)),
            ("exp", json!("1000001")),
            ("nonce", json!("m")),
            ("nonce", Value::Null),
        ] {
            let mut bad = good.clone();
            bad[claim] = value;
            assert!(!expected.fits(&bad), "{bad}");
        }
        let mut several = good.clone();
        several["aud"] = json!(["me", "other"]);
        several["azp"] = json!("me");
        assert!(expected.fits(&several));
        let token = format!("e30.{}.x", BASE64_URL_SAFE_NO_PAD.encode(good.to_string()));
        assert_eq!(claims(&token), Some(good));
        for bad in ["", "a.b", "e30.e30", "e30.!.x", "e30.W10.x"] {
            assert_eq!(claims(bad), None, "{bad}");
        }
    }
}
