//! Revocation requests (RFC 7009). Not sent through the crate `oauth2`, which accepts no http URL, not even of this machine.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use runtime::{ClientAuth, DirectRequest, ErrorClass};
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::app::App;
use crate::connections::oauth::OAuthProvider;
use crate::connections::oauth::classify::{self, TokenFailure};
use crate::connections::oauth::http::{MAX_BYTES, TIMEOUT};

impl OAuthProvider {
    /// Asks the provider to revoke a token, and with a refresh token the whole grant. Does nothing if the provider has no revocation
    /// endpoint. A token that the provider does not know counts as revoked.
    pub async fn revoke(&self, app: &App, token: &str, is_refresh_token: bool) -> Result<(), TokenFailure> {
        let Some(url) = &self.endpoints.revoke_url else { return Ok(()) };
        let hint = if is_refresh_token { "refresh_token" } else { "access_token" };
        let mut form = vec![("token", token), ("token_type_hint", hint)];
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let registration = &self.registration;
        match (registration.client_auth, &registration.client_secret) {
            (ClientAuth::Basic, Some(secret)) => {
                headers.insert(AUTHORIZATION, basic(&registration.client_id, secret)?);
            }
            (ClientAuth::Post, Some(secret)) => {
                form.push(("client_id", &registration.client_id));
                form.push(("client_secret", secret));
            }
            _ => form.push(("client_id", &registration.client_id)),
        }
        let request = DirectRequest {
            tenant: self.tenant.application_id.clone(),
            connector: self.connector.manifest.name.clone(),
            method: Method::POST,
            url: url.to_string(),
            headers,
            body: Serializer::new(String::new()).extend_pairs(form).finish().into_bytes(),
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
        };
        let answer = app.runtime.send_direct(request).await.map_err(classify::unanswered)?;
        if answer.status.is_success() {
            return Ok(());
        }
        match classify::token_answer(&self.connector.manifest.auth, &answer, app.now()) {
            Err(failure) if answer.status == StatusCode::BAD_REQUEST && is_over(&failure) => Ok(()),
            Err(failure) => Err(failure),
            Ok(_) => Err(TokenFailure::new(ErrorClass::Retry, true)),
        }
    }
}

/// Whether the token is known to be invalid, or cannot be revoked in another way (RFC 7009, section 2.2.1).
fn is_over(failure: &TokenFailure) -> bool {
    matches!(
        failure.error.as_deref(),
        Some("invalid_token" | "invalid_grant" | "unsupported_token_type" | "unsupported_token")
    )
}

/// Returns the Basic credentials. RFC 6749, section 2.3.1: both parts are form-encoded first.
fn basic(client_id: &str, secret: &str) -> Result<HeaderValue, TokenFailure> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = BASE64_STANDARD.encode(format!("{}:{}", encoded(client_id), encoded(secret)));
    HeaderValue::try_from(format!("Basic {pair}")).map_err(|_| TokenFailure::new(ErrorClass::Operator, false))
}
