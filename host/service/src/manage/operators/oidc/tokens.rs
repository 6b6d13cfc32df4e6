//! The address that a browser is sent to, and the exchange of a code for an ID token (OpenID Connect Core 1.0, section 3.1).

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use base::error::Result;
use bytes::Bytes;
use http::StatusCode;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AsyncHttpClient, AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet,
    EndpointSet, ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, StandardRevocableToken, StandardTokenResponse, TokenResponse,
    TokenUrl,
};
use runtime::PostError;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use crate::app::oidc_client::OidcMetadata;
use crate::manage::operators::oidc::discovery::{MAX_BYTES, post_error_text};
use crate::manage::operators::oidc::{OidcFault, OidcProvider};

/// Longest authorization code that is sent on, bytes.
const MAX_CODE: usize = 4 << 10;

/// The crate's client, with or without the two URLs that are used.
type OidcClientWith<Authorize, Token> = oauth2::Client<
    BasicErrorResponse,
    StandardTokenResponse<IdTokenField, BasicTokenType>,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    Authorize,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    Token,
>;

/// The field that OpenID Connect adds to an answer with tokens.
#[derive(Clone, Deserialize, Serialize)]
struct IdTokenField {
    #[serde(default)]
    id_token: Option<String>,
}

impl fmt::Debug for IdTokenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdTokenField(..)")
    }
}

impl ExtraTokenFields for IdTokenField {}

/// The random values of an authorization, which bind its steps to each other.
pub struct AuthorizationSecrets {
    pub state: String,
    pub nonce: String,
    /// The verifier of PKCE: 43 characters.
    pub verifier: Zeroizing<String>,
}

/// The tokens of an authorization.
pub struct OidcTokens {
    pub id_token: Zeroizing<String>,
    pub access_token: Zeroizing<String>,
}

/// The crate's client for the provider. Fails where the panel's own address is no URL.
fn client(
    provider: OidcProvider<'_>,
    metadata: &OidcMetadata,
    return_url: &str,
) -> Result<OidcClientWith<EndpointSet, EndpointSet>, OidcFault> {
    let auth_type = match metadata.has_secret_in_body {
        true => AuthType::RequestBody,
        false => AuthType::BasicAuth,
    };
    let redirect = RedirectUrl::new(return_url.to_owned()).map_err(|_| OidcFault::Refused)?;
    let id = ClientId::new(provider.settings.client_id.clone());
    let client = OidcClientWith::<EndpointNotSet, EndpointNotSet>::new(id)
        .set_auth_uri(AuthUrl::from_url(metadata.authorize_url.clone()))
        .set_token_uri(TokenUrl::from_url(metadata.token_url.clone()))
        .set_redirect_uri(redirect)
        .set_auth_type(auth_type);
    Ok(match &provider.settings.client_secret {
        Some(secret) => client.set_client_secret(ClientSecret::new(secret.expose_secret().to_owned())),
        None => client,
    })
}

/// The address to send a browser to. With `asks_again` the provider has to ask who the person is, and says when it did.
///
/// # Errors
/// `Refused` where the panel's own address is no URL.
pub fn authorization_url(
    provider: OidcProvider<'_>,
    metadata: &OidcMetadata,
    return_url: &str,
    secrets: &AuthorizationSecrets,
    asks_again: bool,
) -> Result<Url, OidcFault> {
    let client = client(provider, metadata, return_url)?;
    let state = CsrfToken::new(secrets.state.clone());
    let verifier = PkceCodeVerifier::new(secrets.verifier.to_string());
    let mut request = client
        .authorize_url(|| state)
        .add_scopes(["openid", "email", "profile"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
        .add_extra_param("nonce", secrets.nonce.as_str());
    if asks_again {
        request = request.add_extra_param("max_age", "0").add_extra_param("prompt", "login");
    }
    Ok(request.url().0)
}

/// Exchanges a code for tokens, once.
///
/// # Errors
/// `Unavailable` without an answer of the provider, `Refused` where it refuses, `Token` where it gives no ID token. The log says why.
pub async fn exchange(
    provider: OidcProvider<'_>,
    metadata: &OidcMetadata,
    return_url: &str,
    verifier: &str,
    code: &str,
) -> Result<OidcTokens, OidcFault> {
    if code.is_empty() || code.len() > MAX_CODE {
        return Err(OidcFault::Refused);
    }
    let client = client(provider, metadata, return_url)?;
    let request = client
        .exchange_code(AuthorizationCode::new(code.to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
    let endpoint = OidcTokenEndpoint { provider, url: &metadata.token_url };
    let (fault, why) = match request.request_async(&endpoint).await {
        Ok(response) => match &response.extra_fields().id_token {
            Some(token) => {
                return Ok(OidcTokens {
                    id_token: Zeroizing::new(token.clone()),
                    access_token: Zeroizing::new(response.access_token().secret().clone()),
                });
            }
            None => (OidcFault::Token, "its answer has no ID token".to_owned()),
        },
        Err(RequestTokenError::Request(e)) => (OidcFault::Unavailable, e.0),
        Err(RequestTokenError::ServerResponse(refusal)) => {
            (OidcFault::Refused, format!("it answered {:?}", refusal.error()))
        }
        // Their texts hold the body with the tokens.
        Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => {
            (OidcFault::Unavailable, "its answer is none to a token request".to_owned())
        }
    };
    tracing::warn!(
        issuer = provider.settings.issuer.as_str(),
        why,
        "the panel's OpenID provider gave no ID token"
    );
    Err(fault)
}

/// The provider's token endpoint. One request is one try: nothing is sent again, and no redirect is followed.
struct OidcTokenEndpoint<'a> {
    provider: OidcProvider<'a>,
    url: &'a Url,
}

/// Why a token request has no answer.
#[derive(Debug)]
struct OidcRequestError(String);

impl fmt::Display for OidcRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OidcRequestError {}

impl<'c> AsyncHttpClient<'c> for OidcTokenEndpoint<'_> {
    type Error = OidcRequestError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, OidcRequestError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl OidcTokenEndpoint<'_> {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, OidcRequestError> {
        let (parts, form) = request.into_parts();
        let (http, deadline) = (&self.provider.client.http, self.provider.settings.deadline);
        let asking = async {
            let answer = http.post_form(self.url, parts.headers, Bytes::from(form), deadline).await?;
            let status = answer.status;
            Ok::<_, PostError>((status, answer.whole(MAX_BYTES, deadline).await?))
        };
        let answered = match tokio::time::timeout(deadline, asking).await {
            Ok(answered) => answered,
            Err(_) => Err(PostError::Timeout),
        };
        let (status, body) = answered.map_err(|e| OidcRequestError(post_error_text(e)))?;
        let mut response = HttpResponse::new(body);
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        Ok(response)
    }
}
