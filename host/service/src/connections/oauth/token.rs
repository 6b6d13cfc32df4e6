//! Token requests (RFC 6749, sections 4.1.3 and 5) and their responses.

use std::fmt;

use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, EndpointNotSet, EndpointSet,
    ExtraTokenFields, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    StandardRevocableToken, StandardTokenResponse, TokenResponse, TokenUrl,
};
use runtime::{Auth, ClientAuth, ErrorClass, Pkce};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::app::App;
use crate::connections::oauth::OAuthProvider;
use crate::connections::oauth::classify::TokenFailure;
use crate::connections::oauth::http::TokenEndpoint;

/// Upper bound of a token's reported lifetime, seconds: ten years.
const MAX_LIFETIME_S: u64 = 10 * 365 * 24 * 3_600;

/// The crate's client, with or without the two URLs.
type ClientWith<Authorize, Token> = oauth2::Client<
    BasicErrorResponse,
    Response,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    Authorize,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    Token,
>;

pub type Client = ClientWith<EndpointSet, EndpointSet>;

type Response = StandardTokenResponse<ExtraFields, BasicTokenType>;

/// Fields beyond RFC 6749.
#[derive(Clone, Deserialize, Serialize)]
pub struct ExtraFields {
    /// OpenID Connect Core, section 3.1.3.3.
    #[serde(default)]
    id_token: Option<String>,
    /// Seconds; sent by Microsoft and Google.
    #[serde(default)]
    refresh_token_expires_in: Option<u64>,
}

impl fmt::Debug for ExtraFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtraFields(..)")
    }
}

impl ExtraTokenFields for ExtraFields {}

/// Tokens as a provider issued them.
pub struct TokenAnswer {
    pub access_token: Zeroizing<String>,
    /// None: the provider issued none, and an earlier one stays valid.
    pub refresh_token: Option<Zeroizing<String>>,
    /// Lifetime of the access token from now on, seconds.
    pub expires_in_s: u64,
    /// Lifetime of the refresh token from now on, seconds, if the provider reports it.
    pub refresh_token_expires_in_s: Option<u64>,
    /// The provider's scopes that were granted; none: as requested (RFC 6749, section 5.1).
    pub scopes: Option<Vec<String>>,
    pub id_token: Option<Zeroizing<String>>,
}

impl fmt::Debug for TokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenAnswer(..)")
    }
}

impl OAuthProvider {
    /// Exchanges a code for tokens, once. `verifier` is that of the authorization request (RFC 7636, section 4.5), and `callback_uri` its
    /// redirect URI.
    pub async fn exchange_code(
        &self,
        app: &App,
        code: &str,
        verifier: &str,
        callback_uri: &str,
    ) -> Result<TokenAnswer, TokenFailure> {
        let auth = &self.connector.manifest.auth;
        let client = self.client(callback_uri).map_err(|_| TokenFailure::new(ErrorClass::Operator, false))?;
        let mut request = client.exchange_code(AuthorizationCode::new(code.to_owned()));
        if auth.pkce == Pkce::S256 {
            request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
        }
        for (name, value) in &auth.token_params {
            request = request.add_extra_param(name.as_str(), value.as_str());
        }
        let endpoint = TokenEndpoint { app, provider: self };
        let response = request.request_async(&endpoint).await.map_err(failure)?;
        Ok(answer(auth, &response))
    }

    /// Requests new tokens with a refresh token (RFC 6749, section 6). `scopes` are the provider's, as they were granted: the request
    /// contains them if the manifest requires it.
    pub async fn refresh(
        &self,
        app: &App,
        refresh_token: &str,
        scopes: &[String],
    ) -> Result<TokenAnswer, TokenFailure> {
        let auth = &self.connector.manifest.auth;
        let (client, token) = (self.client_of_tokens(), RefreshToken::new(refresh_token.to_owned()));
        let mut request = client.exchange_refresh_token(&token);
        if auth.scopes_on_refresh {
            request = request.add_scopes(scopes.iter().cloned().map(Scope::new));
        }
        for (name, value) in &auth.token_params {
            request = request.add_extra_param(name.as_str(), value.as_str());
        }
        let endpoint = TokenEndpoint { app, provider: self };
        let response = request.request_async(&endpoint).await.map_err(failure)?;
        Ok(answer(auth, &response))
    }

    /// Returns the crate's client for this registration. Fails if `callback_uri` is no URL.
    pub(crate) fn client(&self, callback_uri: &str) -> Result<Client, url::ParseError> {
        Ok(self.client_of_tokens().set_redirect_uri(RedirectUrl::new(callback_uri.to_owned())?))
    }

    /// Same as `client` for requests that need no redirect URI.
    fn client_of_tokens(&self) -> Client {
        let registration = &self.registration;
        let auth_type = match registration.client_auth {
            ClientAuth::Basic => AuthType::BasicAuth,
            ClientAuth::Post | ClientAuth::None => AuthType::RequestBody,
        };
        let client =
            ClientWith::<EndpointNotSet, EndpointNotSet>::new(ClientId::new(registration.client_id.clone()))
                .set_auth_uri(AuthUrl::from_url(self.endpoints.authorize_url.clone()))
                .set_token_uri(TokenUrl::from_url(self.endpoints.token_url.clone()))
                .set_auth_type(auth_type);
        match (registration.client_auth, &registration.client_secret) {
            (ClientAuth::None, _) | (_, None) => client,
            (_, Some(secret)) => client.set_client_secret(ClientSecret::new(secret.to_string())),
        }
    }
}

/// Returns the failure of a request. The crate's own errors are never shown: they contain the body with the tokens, or the provider's text.
fn failure(error: RequestTokenError<TokenFailure, BasicErrorResponse>) -> TokenFailure {
    match error {
        RequestTokenError::Request(failure) => failure,
        RequestTokenError::ServerResponse(_) | RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            TokenFailure::new(ErrorClass::Retry, true)
        }
    }
}

/// Returns the tokens of a response, which `TokenEndpoint` has checked.
fn answer(auth: &Auth, response: &Response) -> TokenAnswer {
    let scopes = response.scopes().map(|scopes| {
        let words = scopes.iter().map(|scope| scope.to_string()).filter(|scope| !scope.is_empty());
        words.collect::<Vec<String>>()
    });
    let lifetime_s = response.expires_in().map_or(auth.token_lifetime_s, |lifetime| lifetime.as_secs());
    let extra = response.extra_fields();
    TokenAnswer {
        access_token: Zeroizing::new(response.access_token().secret().clone()),
        refresh_token: response.refresh_token().map(|token| Zeroizing::new(token.secret().clone())),
        expires_in_s: lifetime_s.min(MAX_LIFETIME_S),
        refresh_token_expires_in_s: extra.refresh_token_expires_in.map(|s| s.min(MAX_LIFETIME_S)),
        scopes,
        id_token: extra.id_token.clone().map(Zeroizing::new),
    }
}
