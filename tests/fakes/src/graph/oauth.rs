//! Microsoft Entra's authorization server: authorization codes with PKCE, refresh tokens that change with each use, and the
//! administrator's consent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::door::{Ask, Reply, first_named, pairs};
use crate::graph::errors::GraphError;
use crate::graph::state::{AccountKind, GraphState, WORK_TENANT};

/// Seconds that an access token of Entra lives.
const TOKEN_LIFE_S: i64 = 3_599;
/// Milliseconds that an authorization code of Entra lives.
const ENTRA_CODE_MS: i64 = 10 * 60 * 1000;
/// The prefix of Graph's scopes, which a request may have or leave out.
const SCOPE_PREFIX: &str = "https://graph.microsoft.com/";
/// Scopes that every user can consent to, whatever the tenant's policy is.
const FREE_SCOPES: [&str; 5] = ["openid", "profile", "email", "offline_access", "User.Read"];

/// The authorization server's store, and the next user's choice on the consent page.
#[derive(Default)]
pub struct EntraAuthority {
    /// The address of the user who is signed in; the first account where it is none.
    pub signed_in: Option<String>,
    /// The scopes of Graph that the user gets; all that are asked for where it is none.
    pub consented: Option<Vec<String>>,
    /// The user denies the request.
    pub denies: bool,
    /// The error that the browser comes back with in the place of a code.
    pub refusal: Option<String>,
    /// The tenant blocks users' consent to more than `User.Read` until its administrator has consented.
    pub admin_wall: bool,
    /// Errors of the next requests to the token endpoint.
    pub token_errors: VecDeque<TokenError>,
    codes: BTreeMap<String, EntraCode>,
    refresh_tokens: BTreeMap<String, EntraGrant>,
    access_tokens: BTreeMap<String, GraphToken>,
    /// Access tokens with which a batch is accepted and its parts are not.
    refused_in_parts: BTreeSet<String>,
    numbers: u64,
}

/// An error of the token endpoint.
#[derive(Clone, Debug)]
pub struct TokenError {
    /// As in `invalid_grant`.
    pub error: String,
    /// The number of an AADSTS code, as in 50173.
    pub code: u32,
    pub status: u16,
}

/// Permission of a user for a client.
#[derive(Clone, Debug)]
struct EntraGrant {
    client: String,
    user: String,
    scopes: Vec<String>,
}

struct EntraCode {
    grant: EntraGrant,
    redirect_uri: String,
    challenge: Option<String>,
    expires_ms: i64,
}

/// An access token's user and scopes.
#[derive(Clone, Debug)]
pub struct GraphToken {
    pub user: String,
    /// Without the prefix of Graph's address.
    pub scopes: Vec<String>,
    expires_ms: i64,
}

impl EntraAuthority {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Lets all access tokens expire; refresh tokens stay.
    pub fn expire_access_tokens(&mut self) {
        self.access_tokens.clear();
    }

    /// Ends all grants of a user, as a new password does.
    pub fn revoke_user(&mut self, user: &str) {
        self.refresh_tokens.retain(|_, grant| grant.user != user);
        self.access_tokens.retain(|_, token| token.user != user);
    }

    /// Lets the parts of batches with the token of this request answer 401 from now on, though the batches themselves are accepted.
    pub fn refuse_parts(&mut self, ask: &Ask) {
        self.refused_in_parts.extend(bearer(ask).map(str::to_owned));
    }

    /// Whether the parts of a batch with the token of this request answer 401.
    pub fn refuses_parts(&self, ask: &Ask) -> bool {
        bearer(ask).is_some_and(|token| self.refused_in_parts.contains(token))
    }

    /// Issues an access token without a consent page.
    pub fn issue(&mut self, user: &str, scopes: &[&str], now_ms: i64) -> String {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let grant = EntraGrant { client: "test".to_owned(), user: user.to_owned(), scopes };
        self.access_token(&grant, now_ms)
    }

    fn access_token(&mut self, grant: &EntraGrant, now_ms: i64) -> String {
        let text = format!("EwBfake{:06}", self.number());
        let token = GraphToken {
            user: grant.user.clone(),
            scopes: grant.scopes.clone(),
            expires_ms: now_ms + TOKEN_LIFE_S * 1000,
        };
        self.access_tokens.insert(text.clone(), token);
        text
    }

    /// The scopes that a user has granted a client before: consent is cumulative.
    fn granted_before(&self, client: &str, user: &str) -> BTreeSet<String> {
        let grants =
            self.refresh_tokens.values().filter(|grant| grant.client == client && grant.user == user);
        grants.flat_map(|grant| grant.scopes.iter().cloned()).collect()
    }
}

/// The token of a request.
///
/// # Errors
/// There is none, or it is unknown or expired: 401.
pub fn authenticate(state: &GraphState, ask: &Ask) -> Result<GraphToken, GraphError> {
    let token = bearer(ask).and_then(|text| state.authority.access_tokens.get(text));
    let token = token.filter(|token| state.clock.now_ms() < token.expires_ms);
    token.cloned().ok_or_else(GraphError::unauthenticated)
}

fn bearer(ask: &Ask) -> Option<&str> {
    ask.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
}

/// Answers a request for a path of the authorization server; none where this is none.
pub fn answer(state: &mut GraphState, ask: &Ask) -> Option<Reply> {
    let segments: Vec<&str> = ask.segments.iter().map(String::as_str).collect();
    match (ask.method.as_str(), segments.as_slice()) {
        ("GET", [tenant, "oauth2", "v2.0", "authorize"]) => Some(authorize(state, ask, tenant)),
        ("POST", [_, "oauth2", "v2.0", "token"]) => Some(token(state, ask)),
        ("GET", [tenant, "v2.0", "adminconsent"]) => Some(consent_as_administrator(state, ask, tenant)),
        _ => None,
    }
}

/// The sign-in and consent pages: they send the browser back at once.
fn authorize(state: &mut GraphState, ask: &Ask, tenant: &str) -> Reply {
    let value = |name: &str| ask.parameter(name).filter(|value| !value.is_empty());
    let (Some(client), Some(redirect_uri)) = (value("client_id"), value("redirect_uri")) else {
        return error_page(
            "AADSTS900144: The request must contain the parameters 'client_id' and 'redirect_uri'.",
        );
    };
    if value("response_type") != Some("code") {
        return error_page("AADSTS70016: Unsupported value for 'response_type'.");
    }
    if value("code_challenge").is_some() && value("code_challenge_method") != Some("S256") {
        return error_page("AADSTS9002329: The fake takes S256 alone.");
    }
    let Ok(mut back) = url::Url::parse(redirect_uri) else {
        return error_page("AADSTS50011: The redirect URI specified in the request does not match.");
    };
    if let Some(given) = value("state") {
        back.query_pairs_mut().append_pair("state", given);
    }
    let user = user_of(state, value("login_hint"), tenant);
    let denial = state.authority.denies.then(|| "access_denied".to_owned());
    let asked: Vec<String> = value("scope").unwrap_or_default().split_whitespace().map(short).collect();
    let needs_more = asked.iter().any(|scope| !is_free(scope));
    let wall = (state.authority.admin_wall && needs_more).then(|| "consent_required".to_owned());
    let refusal = state.authority.refusal.clone().or(denial).or(wall);
    let Some(user) = user.filter(|_| refusal.is_none()) else {
        let error = refusal.unwrap_or_else(|| "access_denied".to_owned());
        let text = match error.as_str() {
            "consent_required" => "AADSTS90094: An administrator must consent to this application.",
            _ => "AADSTS65004: User declined to consent to access the app.",
        };
        back.query_pairs_mut().append_pair("error", &error).append_pair("error_description", text);
        return Reply::new(302).header("location", back.as_str());
    };
    let authority = &mut state.authority;
    let consented = authority.consented.clone();
    let is_granted =
        |scope: &String| is_free(scope) || consented.as_ref().is_none_or(|all| all.contains(scope));
    let mut scopes: Vec<String> = asked.into_iter().filter(is_granted).collect();
    let before = authority.granted_before(client, &user);
    scopes.extend(before.into_iter().filter(|scope| scope != "offline_access"));
    scopes.sort();
    scopes.dedup();
    let code = format!("M.C5_BAY.2.U.fake-{:06}", authority.number());
    let grant = EntraCode {
        grant: EntraGrant { client: client.to_owned(), user, scopes },
        redirect_uri: redirect_uri.to_owned(),
        challenge: value("code_challenge").map(str::to_owned),
        expires_ms: state.clock.now_ms() + ENTRA_CODE_MS,
    };
    state.authority.codes.insert(code.clone(), grant);
    back.query_pairs_mut().append_pair("code", &code).append_pair("session_state", "fake");
    Reply::new(302).header("location", back.as_str())
}

fn error_page(text: &str) -> Reply {
    Reply::new(400).header("content-type", "text/html; charset=utf-8").body(text.to_owned())
}

/// The account that signs in; `organizations` and `consumers` have one kind alone.
fn user_of(state: &GraphState, hint: Option<&str>, tenant: &str) -> Option<String> {
    let fits = |email: &String| {
        let kind = state.accounts.get(email).map(|account| account.kind);
        match tenant {
            "organizations" => kind == Some(AccountKind::Work),
            "consumers" => kind == Some(AccountKind::Personal),
            _ => kind.is_some(),
        }
    };
    let hinted = hint.filter(|hint| state.accounts.contains_key(*hint)).map(str::to_owned);
    let user = state.authority.signed_in.clone().or(hinted);
    user.or_else(|| state.accounts.keys().find(|email| fits(email)).cloned()).filter(fits)
}

/// A scope without the prefix of Graph's address.
fn short(scope: &str) -> String {
    scope.strip_prefix(SCOPE_PREFIX).unwrap_or(scope).to_owned()
}

fn is_free(scope: &str) -> bool {
    FREE_SCOPES.iter().any(|free| free.eq_ignore_ascii_case(scope))
}

/// The administrator's consent page, which lifts the wall for all users. It is one of an organization, or of all of them.
fn consent_as_administrator(state: &mut GraphState, ask: &Ask, tenant: &str) -> Reply {
    if ["common", "consumers"].contains(&tenant) {
        return error_page("The tenant must be the domain or the id of an organization, or 'organizations'.");
    }
    let value = |name: &str| ask.parameter(name).filter(|value| !value.is_empty());
    let given = (value("client_id"), value("redirect_uri"), value("scope"));
    let (Some(_), Some(redirect_uri), Some(_)) = given else {
        return error_page(
            "AADSTS900144: The request must contain the parameters 'client_id', 'redirect_uri' and 'scope'.",
        );
    };
    let Ok(mut back) = url::Url::parse(redirect_uri) else {
        return error_page("AADSTS50011: The redirect URI specified in the request does not match.");
    };
    state.authority.admin_wall = false;
    let answer = [("admin_consent", "True"), ("tenant", WORK_TENANT)];
    back.query_pairs_mut().extend_pairs(answer);
    for name in ["scope", "state"] {
        if let Some(given) = value(name) {
            back.query_pairs_mut().append_pair(name, given);
        }
    }
    Reply::new(302).header("location", back.as_str())
}

fn token(state: &mut GraphState, ask: &Ask) -> Reply {
    let form = pairs(&ask.body);
    let value = |name: &str| first_named(&form, name).filter(|value| !value.is_empty());
    if let Some(error) = state.authority.token_errors.pop_front() {
        return refusal(error.status, &error.error, error.code);
    }
    let Some(client) = value("client_id").map(str::to_owned) else {
        return refusal(400, "invalid_request", 900_144);
    };
    if value("client_secret").is_none() {
        return refusal(401, "invalid_client", 7_000_218);
    }
    let now = state.clock.now_ms();
    let authority = &mut state.authority;
    match value("grant_type") {
        Some("authorization_code") => {
            // A code serves once, whatever comes of it.
            let code = value("code").and_then(|code| authority.codes.remove(code));
            let Some(code) = code.filter(|code| code.grant.client == client) else {
                return refusal(400, "invalid_grant", 9_002_313);
            };
            if now >= code.expires_ms {
                return refusal(400, "invalid_grant", 70_008);
            }
            if value("redirect_uri") != Some(code.redirect_uri.as_str()) {
                return refusal(400, "invalid_client", 50_011);
            }
            let verifier = value("code_verifier").unwrap_or_default();
            let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
            if code.challenge.is_some_and(|expected| expected != challenge) {
                return refusal(400, "invalid_grant", 501_481);
            }
            Reply::json(200, &answer_token(authority, code.grant, now))
        }
        Some("refresh_token") => {
            let given = value("refresh_token").and_then(|text| authority.refresh_tokens.get(text));
            let Some(grant) = given.filter(|grant| grant.client == client).cloned() else {
                return refusal(400, "invalid_grant", 50_173);
            };
            if let Some(asked) = value("scope") {
                let asked: Vec<String> = asked.split_whitespace().map(short).collect();
                let is_new = |scope: &String| !is_free(scope) && !grant.scopes.contains(scope);
                if asked.iter().any(is_new) {
                    return refusal(400, "invalid_grant", 65_001);
                }
            }
            Reply::json(200, &answer_token(authority, grant, now))
        }
        _ => refusal(400, "unsupported_grant_type", 70_003),
    }
}

/// The answer with an access token and, for `offline_access`, a new refresh token; older ones stay good.
fn answer_token(authority: &mut EntraAuthority, grant: EntraGrant, now_ms: i64) -> Value {
    let access = authority.access_token(&grant, now_ms);
    let named = grant.scopes.iter().filter(|scope| *scope != "offline_access");
    let named = named.map(|scope| match is_free(scope) && scope != "User.Read" {
        true => scope.clone(),
        false => format!("{SCOPE_PREFIX}{scope}"),
    });
    let mut body = json!({
        "token_type": "Bearer",
        "scope": named.collect::<Vec<_>>().join(" "),
        "expires_in": TOKEN_LIFE_S,
        "ext_expires_in": TOKEN_LIFE_S,
        "access_token": access,
    });
    if grant.scopes.iter().any(|scope| scope == "offline_access") {
        let refresh = format!("M.C5_BAY.0.U.-fake-{:06}", authority.number());
        body["refresh_token"] = refresh.as_str().into();
        authority.refresh_tokens.insert(refresh, grant);
    }
    body
}

/// An error of the token endpoint, with the number of its AADSTS code.
fn refusal(status: u16, error: &str, code: u32) -> Reply {
    let body = json!({
        "error": error,
        "error_description": format!("AADSTS{code}: The request was refused. Trace ID: 0 Correlation ID: 0"),
        "error_codes": [code],
        "timestamp": "2026-03-01 08:00:00Z",
        "trace_id": "8a5f0e5c-0000-4000-8000-00000000fa4e",
        "correlation_id": "8a5f0e5c-0000-4000-8000-00000000fa4e",
    });
    Reply::json(status, &body)
}
