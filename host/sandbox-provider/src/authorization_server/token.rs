//! `POST /sandbox/oauth/token` (RFC 6749, sections 4.1.3, 5 and 6): exchanges codes and refresh tokens for tokens.

use std::collections::VecDeque;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::auth::DOMAIN;
use crate::authorization_server::clients;
use crate::authorization_server::grants::{AccessToken, Client, Family, GrantChange, Grants, hashed};
use crate::authorization_server::oauth_error::{OAuthError, unstored};
use crate::authorization_server::params::Params;
use crate::fault_routes;
use crate::faults::{Fault, TokenField};
use crate::ops::Op;
use crate::problem::Problem;
use crate::sandbox::Sandbox;
use crate::state::State;

/// The path of the token endpoint.
pub const PATH: &str = "/sandbox/oauth/token";

/// Lifetime of an access token, seconds; the second constant is for the account `short@`.
const LIFE_S: i64 = 3_600;
const SHORT_LIFE_S: i64 = 5;

/// A token request.
struct TokenRequest {
    client: Client,
    grant: PresentedGrant,
}

/// A grant that a client presents for tokens.
enum PresentedGrant {
    Code { code: String, redirect_uri: String, verifier: String },
    Refresh { token: String, scope: Option<String> },
}

/// Random values for new tokens, generated before the state is locked.
struct NewSecrets {
    family: String,
    access: String,
    refresh: String,
}

/// The issued tokens.
struct IssuedTokens {
    access: String,
    /// The new refresh token; none: the used one stays valid.
    refresh: Option<String>,
    scopes: Vec<String>,
    life_s: i64,
}

/// Answers a token request, with the account's pending fault applied.
pub async fn token(AxumState(sandbox): AxumState<Sandbox>, headers: HeaderMap, body: Bytes) -> Response {
    let request = match read(&sandbox.store().state.grants, &headers, &body) {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    let mail = account(&sandbox.store().state.grants, &request.grant);
    let fault = mail.as_deref().and_then(|mail| sandbox.faults().take(mail, &Method::POST, PATH, ""));
    let answer = answer(&sandbox, request, fault.as_ref());
    fault_routes::under(&sandbox, mail.as_deref(), fault.as_ref(), answer).await
}

fn read(grants: &Grants, headers: &HeaderMap, body: &[u8]) -> Result<TokenRequest, OAuthError> {
    let params = Params::of_form(headers, body).map_err(OAuthError::invalid_request)?;
    if let Some(name) = params.repeated() {
        return Err(OAuthError::invalid_request(format!("{name} is there more than once")));
    }
    let client = clients::authenticate(grants, headers, &params)?;
    let needed = |name: &str| match params.get(name) {
        Some(value) => Ok(value.to_owned()),
        None => Err(OAuthError::invalid_request(format!("{name} is required"))),
    };
    let grant = match needed("grant_type")?.as_str() {
        "authorization_code" => PresentedGrant::Code {
            code: needed("code")?,
            redirect_uri: needed("redirect_uri")?,
            verifier: verifier(needed("code_verifier")?)?,
        },
        "refresh_token" => PresentedGrant::Refresh {
            token: needed("refresh_token")?,
            scope: params.get("scope").map(str::to_owned),
        },
        _ => {
            let message = "grant_type must be authorization_code or refresh_token";
            return Err(OAuthError::new("unsupported_grant_type", message));
        }
    };
    Ok(TokenRequest { client, grant })
}

/// Validates a code verifier (RFC 7636, section 4.1).
fn verifier(text: String) -> Result<String, OAuthError> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    match (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved) {
        true => Ok(text),
        false => Err(OAuthError::invalid_request("code_verifier must be 43 to 128 unreserved characters")),
    }
}

/// The account that a code or a refresh token belongs to.
fn account(grants: &Grants, presented: &PresentedGrant) -> Option<String> {
    match presented {
        PresentedGrant::Code { code, .. } => grants.code(code).map(|code| code.mail.clone()),
        PresentedGrant::Refresh { token, .. } => {
            grants.of_refresh_token(token).map(|(family, _)| family.mail.clone())
        }
    }
}

async fn answer(sandbox: &Sandbox, request: TokenRequest, fault: Option<&Fault>) -> Response {
    match issue(sandbox, request, fault).await {
        Ok(issued) => unstored(Json(body(&issued, fault)).into_response()),
        Err(error) => error.into_response(),
    }
}

async fn issue(
    sandbox: &Sandbox,
    request: TokenRequest,
    fault: Option<&Fault>,
) -> Result<IssuedTokens, OAuthError> {
    if let Some(error) = fault.and_then(|fault| fault.oauth_error.clone()) {
        return Err(OAuthError::new(error, "this error was asked for with a sandbox fault"));
    }
    let new = NewSecrets::make(sandbox)?;
    let now_ms = sandbox.now_ms();
    let TokenRequest { client, grant } = request;
    let issued = sandbox.write(|state| {
        // A refusal can change the state, too: the second use of a grant revokes the tokens of the first.
        Ok(match &grant {
            PresentedGrant::Code { code, redirect_uri, verifier } => {
                let presented = (code.as_str(), redirect_uri.as_str(), verifier.as_str());
                exchange(state, now_ms, &client, presented, new, fault)
            }
            PresentedGrant::Refresh { token, scope } => {
                refresh(state, now_ms, &client, (token.as_str(), scope.as_deref()), new, fault)
            }
        })
    });
    issued.await?
}

impl NewSecrets {
    fn make(sandbox: &Sandbox) -> Result<NewSecrets, Problem> {
        Ok(NewSecrets {
            family: sandbox.new_secret()?,
            access: format!("sbx_at_{}", sandbox.new_secret()?),
            refresh: format!("sbx_rt_{}", sandbox.new_secret()?),
        })
    }
}

/// Issues tokens for a code: once, to its client, for the same redirect URI, and with the verifier of its challenge. A second use revokes
/// the tokens of the first (RFC 6749, section 4.1.2); a wrong redirect URI or verifier uses up the code.
fn exchange(
    state: &mut State,
    now_ms: i64,
    client: &Client,
    (code, redirect_uri, verifier): (&str, &str, &str),
    new: NewSecrets,
    fault: Option<&Fault>,
) -> Result<IssuedTokens, OAuthError> {
    let Some(code) = state.grants.code(code).filter(|code| code.client == client.id).cloned() else {
        return Err(OAuthError::invalid_grant("the code is not one of this client"));
    };
    if code.is_used {
        if let Some(id) = code.family {
            state.commit(Op::Grant(GrantChange::FamilyEnded { id }));
        }
        return Err(OAuthError::invalid_grant(
            "the code was used before; the tokens that it gave are revoked",
        ));
    }
    if now_ms >= code.expires_at_ms {
        return Err(OAuthError::invalid_grant("the code has expired: it lasts a minute"));
    }
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    if code.redirect_uri != redirect_uri || code.challenge != challenge {
        state.commit(Op::Grant(GrantChange::CodeUsed { hash: code.hash, family: None }));
        let message =
            "redirect_uri or code_verifier is another than that of the authorization; the code is used up";
        return Err(OAuthError::invalid_grant(message));
    }
    let mut scopes = remaining_scopes(code.scopes, fault);
    // The account `fewer@` grants one scope fewer than the user allowed.
    if code.mail.strip_suffix(DOMAIN) == Some("fewer") && scopes.len() > 1 {
        scopes.pop();
    }
    let life_s = life_s(&code.mail);
    let token = access_token(&new, &scopes, now_ms, life_s);
    state.commit(Op::Grant(GrantChange::CodeUsed { hash: code.hash, family: Some(new.family.clone()) }));
    state.commit(Op::Grant(GrantChange::Family(Family {
        id: new.family,
        client: client.id.clone(),
        mail: code.mail,
        scopes: scopes.clone(),
        began_at_ms: now_ms,
        refresh_hash: hashed(&new.refresh),
        spent: VecDeque::new(),
        tokens: vec![token],
    })));
    Ok(IssuedTokens { access: new.access, refresh: Some(new.refresh), scopes, life_s })
}

/// Issues tokens for a refresh token, which is then used up. A second use revokes all tokens of its code (RFC 9700, section 4.14.2).
fn refresh(
    state: &mut State,
    now_ms: i64,
    client: &Client,
    (token, scope): (&str, Option<&str>),
    new: NewSecrets,
    fault: Option<&Fault>,
) -> Result<IssuedTokens, OAuthError> {
    let found = state.grants.of_refresh_token(token).filter(|(family, _)| family.client == client.id);
    let Some((family, is_good)) = found.map(|(family, is_good)| (family.clone(), is_good)) else {
        return Err(OAuthError::invalid_grant("the refresh token is not known, or was revoked"));
    };
    if !is_good {
        state.commit(Op::Grant(GrantChange::FamilyEnded { id: family.id }));
        let message = "the refresh token was used before; all tokens that came of it are revoked";
        return Err(OAuthError::invalid_grant(message));
    }
    let scopes = match scope {
        None => family.scopes,
        Some(text) => narrow_scopes(&family.scopes, text)?,
    };
    let scopes = remaining_scopes(scopes, fault);
    let life_s = life_s(&family.mail);
    // A client that gets no new refresh token keeps the old one.
    let keeps = fault.is_some_and(|fault| fault.omit.contains(&TokenField::RefreshToken));
    let refresh = Some(new.refresh.clone()).filter(|_| !keeps);
    state.commit(Op::Grant(GrantChange::Refreshed {
        family: family.id,
        refresh_hash: refresh.as_deref().map(hashed),
        token: access_token(&new, &scopes, now_ms, life_s),
        at_ms: now_ms,
    }));
    Ok(IssuedTokens { access: new.access, refresh, scopes, life_s })
}

/// The scopes of a refresh request, which must be among the granted ones (RFC 6749, section 6).
fn narrow_scopes(granted: &[String], text: &str) -> Result<Vec<String>, OAuthError> {
    let asked: Vec<String> = text.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
    match asked.iter().all(|scope| granted.contains(scope)) {
        true => Ok(asked),
        false => Err(OAuthError::new("invalid_scope", "scope has one that was not granted")),
    }
}

/// Returns the scopes that remain after a fault.
fn remaining_scopes(scopes: Vec<String>, fault: Option<&Fault>) -> Vec<String> {
    match fault.and_then(|fault| fault.scopes.as_ref()) {
        None => scopes,
        Some(kept) => scopes.into_iter().filter(|scope| kept.contains(scope)).collect(),
    }
}

fn life_s(mail: &str) -> i64 {
    if mail.strip_suffix(DOMAIN) == Some("short") { SHORT_LIFE_S } else { LIFE_S }
}

fn access_token(new: &NewSecrets, scopes: &[String], now_ms: i64, life_s: i64) -> AccessToken {
    let expires_at_ms = now_ms.saturating_add(life_s * 1_000);
    AccessToken { hash: hashed(&new.access), scopes: scopes.to_vec(), expires_at_ms }
}

/// The response of RFC 6749, section 5.1, without the fields that a fault omits.
fn body(issued: &IssuedTokens, fault: Option<&Fault>) -> Value {
    let mut body = json!({
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": issued.life_s,
        "scope": issued.scopes.join(" "),
    });
    if let Some(refresh) = &issued.refresh {
        body["refresh_token"] = json!(refresh);
    }
    if let (Some(fields), Some(fault)) = (body.as_object_mut(), fault) {
        for field in &fault.omit {
            fields.remove(field.name());
        }
    }
    body
}
