//! `/v1/oauth/token`: the token endpoint of this service (RFC 6749, section 3.2).

use axum::extract::State;
use axum::response::Response;
use base::error::{Code, Error};
use http::{HeaderMap, Uri};
use model::Instant;
use model::application::NewApiKey;
use model::bounds::access::{
    MAX_CONNECTIONS, MAX_DOMAINS, MAX_SCOPES, MAX_TOKEN_LIFE_S, MAX_TOKEN_PARAMETER, MIN_TOKEN_LIFE_S,
};
use model::connection::{Token, TokenRequest};
use serde_json::{Map, Value};
use service::access_tokens::refresh::{self, RefreshRequest};
use service::access_tokens::{LIFE_S, TokenError, TokenResult, client_credentials};
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::connections;
use service::connections::authorization::{self, CodeRequest};
use service::manage::keys::restrictions::restrict;

use crate::api::access::api_key::Caller;
use crate::api::access::client_auth;
use crate::api::operation::Priority::Common;
use crate::api::operation::{ANY_KEY, Routes};
use crate::api::request::extractors::Extract;
use crate::api::request::form::FormOrJson;
use crate::api::response::error::ApiError;
use crate::api::response::{oauth_error, reply};

/// A scope that no token gets: the keys that it could create would outlive the token.
const NOT_FOR_TOKENS: &str = "api_keys.write";

pub fn routes() -> Routes<App> {
    Routes::new("Authorization")
        .post("/v1/oauth/token", ANY_KEY, Common, token)
        .summary("Get a token (RFC 6749)")
        .description("Answers and errors have the shapes of RFC 6749, not the envelope. The API key authenticates the client: in `X-Api-Key`, as a `Bearer` token, or as the password of `Basic`. `authorization_code` exchanges the `code` of an authorization, once and within a minute, for tokens of its connection, and connects the account; a code that is not exchanged, or that a wrong request uses up, connects no account. `refresh_token` renews them, and each refresh token works once: if it is used again, all tokens of its grant end, so repeat a request whose answer was lost with the same `Idempotency-Key`. `client_credentials` issues a token of the key itself, with fewer scopes, connections and domains, for at most an hour. A token works wherever a key does, within the key's rate limit, and ends with the key.")
        .body::<TokenRequest>()
        .body_type("application/x-www-form-urlencoded")
        .returns::<Token>()
        .oauth_errors()
}

async fn token(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    uri: Uri,
    FormOrJson(body): FormOrJson,
) -> Result<Response, ApiError> {
    let outcome = match client_auth::check(&headers, &caller) {
        Ok(()) if uri.query().is_some_and(|query| !query.is_empty()) => {
            Err(TokenError::invalid_request("send parameters in the body; a URL is no place for secrets"))
        }
        Ok(()) => grant_token(&app, &caller, &TokenParameters(body), &attempt).await?,
        Err(e) => Err(e),
    };
    Ok(match outcome {
        Ok(answer) => reply::response(answer),
        Err(e) => oauth_error::response(&e),
    })
}

async fn grant_token(
    app: &App,
    caller: &Caller,
    body: &TokenParameters,
    attempt: &IdempotentAttempt,
) -> Result<TokenResult, Error> {
    let request = match request(app, caller, body) {
        Ok(request) => request,
        Err(e) => return Ok(Err(e)),
    };
    match request {
        WellFormedRequest::Code(request) => authorization::exchange(app, &caller.key, request, attempt).await,
        WellFormedRequest::Refresh(request) => refresh::refresh(app, &caller.key, request, attempt).await,
        WellFormedRequest::ClientCredentials(new) => {
            if let Some(id) = unknown_connection(app, caller, body).await? {
                let message = format!("connection_ids: there is no connection {id:?}");
                return Ok(Err(TokenError::invalid_request(message)));
            }
            client_credentials::issue(app, &caller.key, *new, attempt).await
        }
    }
}

/// Returns the first requested connection that the application does not have.
async fn unknown_connection(
    app: &App,
    caller: &Caller,
    body: &TokenParameters,
) -> Result<Option<String>, Error> {
    for id in body.words("connection_ids", MAX_CONNECTIONS).unwrap_or_default() {
        match connections::find(app, caller.tenant(), &id).await {
            Ok(_) => {}
            Err(e) if e.code() == Some(Code::NotFound) => return Ok(Some(id)),
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// A well-formed token request.
enum WellFormedRequest {
    Code(CodeRequest),
    Refresh(RefreshRequest),
    ClientCredentials(Box<NewApiKey>),
}

fn request(app: &App, caller: &Caller, body: &TokenParameters) -> Result<WellFormedRequest, TokenError> {
    if body.text("client_secret")?.is_some() {
        let message = "authenticate by an API key in the header; client_secret is not taken";
        return Err(TokenError::invalid_request(message));
    }
    match body.needed("grant_type")? {
        "authorization_code" => Ok(WellFormedRequest::Code(CodeRequest {
            code: body.needed("code")?.to_owned(),
            redirect_uri: body.needed("redirect_uri")?.to_owned(),
            verifier: verifier(body.needed("code_verifier")?)?,
        })),
        "refresh_token" => Ok(WellFormedRequest::Refresh(RefreshRequest {
            token: body.needed("refresh_token")?.to_owned(),
            scopes: body.words("scope", MAX_SCOPES)?,
        })),
        "client_credentials" => {
            narrow_rights(app, caller, body).map(|new| WellFormedRequest::ClientCredentials(Box::new(new)))
        }
        _ => {
            let message = "grant_type must be authorization_code, refresh_token or client_credentials";
            Err(TokenError::new("unsupported_grant_type", message))
        }
    }
}

/// Validates a code verifier (RFC 7636, section 4.1).
fn verifier(text: &str) -> Result<String, TokenError> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    match (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved) {
        true => Ok(text.to_owned()),
        false => Err(TokenError::invalid_request(
            "code_verifier must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~",
        )),
    }
}

/// The rights of a token that is derived from the key alone: at most those of the key.
fn narrow_rights(app: &App, caller: &Caller, body: &TokenParameters) -> Result<NewApiKey, TokenError> {
    let (key, now) = (&caller.key, app.now());
    let mut scopes = body.words("scope", MAX_SCOPES)?;
    if scopes.is_empty() {
        scopes = key.scopes.iter().filter(|scope| *scope != NOT_FOR_TOKENS).cloned().collect();
    }
    if scopes.iter().any(|scope| scope == NOT_FOR_TOKENS) {
        let message = format!("a token cannot have the scope {NOT_FOR_TOKENS}");
        return Err(TokenError::invalid_scope(message));
    }
    let last = now + body.life_s()? * 1_000;
    let mut new = NewApiKey {
        name: "access token".to_owned(),
        scopes,
        allowed_domains: body.words("allowed_domains", MAX_DOMAINS)?,
        connection_ids: body.words("connection_ids", MAX_CONNECTIONS)?,
        rate_limit_per_minute: Some(key.rate_limit_per_minute),
        expires_at: Some(Instant::from_millis(key.expires_at.map_or(last, |at| at.min(last)))),
        ..NewApiKey::default()
    };
    restrict(&mut new, key, now).map_err(scope_error)?;
    Ok(new)
}

/// Converts the error of an invalid restriction to the form of RFC 6749.
fn scope_error(error: Error) -> TokenError {
    let Error::Refused(refusal) = error else {
        return TokenError::new("server_error", "something went wrong on our side");
    };
    let param = refusal.param.clone().unwrap_or_default();
    if param.starts_with("scopes") {
        return TokenError::invalid_scope(refusal.message);
    }
    let param = param.replace("allowedDomains", "allowed_domains").replace("connectionIds", "connection_ids");
    TokenError::invalid_request(format!("{param}: {}", refusal.message))
}

/// The parameters, by the names that RFC 6749 gives them.
struct TokenParameters(Map<String, Value>);

impl TokenParameters {
    /// The value, under its name as JSON and form are read.
    fn value(&self, name: &str) -> Option<&Value> {
        let camel: &str = match name {
            "grant_type" => "grantType",
            "redirect_uri" => "redirectUri",
            "code_verifier" => "codeVerifier",
            "refresh_token" => "refreshToken",
            "client_secret" => "clientSecret",
            "connection_ids" => "connectionIds",
            "allowed_domains" => "allowedDomains",
            "expires_in" => "expiresIn",
            other => other,
        };
        self.0.get(camel).filter(|value| !value.is_null())
    }

    /// Returns a text; an empty one counts as absent (RFC 6749, section 3.2).
    fn text(&self, name: &str) -> Result<Option<&str>, TokenError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match value.as_str() {
            Some(text) if text.len() <= MAX_TOKEN_PARAMETER && !text.contains('\0') => {
                Ok(Some(text).filter(|text| !text.is_empty()))
            }
            _ => {
                let message = format!("{name} must be a text of at most {MAX_TOKEN_PARAMETER} bytes");
                Err(TokenError::invalid_request(message))
            }
        }
    }

    fn needed(&self, name: &str) -> Result<&str, TokenError> {
        self.text(name)?.ok_or_else(|| TokenError::invalid_request(format!("{name} is required")))
    }

    /// Returns words separated by spaces; in JSON also a list of them.
    fn words(&self, name: &str, most: usize) -> Result<Vec<String>, TokenError> {
        let words: Option<Vec<String>> = match self.value(name) {
            Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => self.text(name)?.map_or(Some(Vec::new()), |text| {
                Some(text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
            }),
        };
        let fits = |words: &Vec<String>| {
            words.len() <= most && !words.iter().any(|word| word.len() > MAX_TOKEN_PARAMETER)
        };
        words.filter(fits).ok_or_else(|| {
            TokenError::invalid_request(format!(
                "{name} must be at most {most} words with spaces between them"
            ))
        })
    }

    fn life_s(&self) -> Result<i64, TokenError> {
        let life = match self.value("expires_in") {
            None => Some(LIFE_S),
            Some(Value::String(text)) if text.is_empty() => Some(LIFE_S),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_i64(),
        };
        life.filter(|life| (MIN_TOKEN_LIFE_S..=MAX_TOKEN_LIFE_S).contains(life)).ok_or_else(|| {
            TokenError::invalid_request(format!(
                "expires_in must be from {MIN_TOKEN_LIFE_S} to {MAX_TOKEN_LIFE_S} seconds"
            ))
        })
    }
}
