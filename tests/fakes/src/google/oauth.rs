//! Google's authorization server: authorization codes with PKCE, refresh tokens, revocation and user info.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::door::{Ask, Reply, first_named, pairs};
use crate::google::errors::ApiError;
use crate::google::state::State;

/// Seconds that an access token lives.
const ACCESS_TOKEN_S: i64 = 3_599;
/// Milliseconds that an authorization code lives.
const CODE_MS: i64 = 10 * 60 * 1000;
/// Parts of the names of scopes that have a tick box; those of identity have none.
const TICKED_SCOPES: [&str; 5] =
    ["/auth/calendar", "/auth/contacts", "/auth/gmail", "/auth/tasks", "//mail.google.com/"];
/// Scopes that come back under a longer name.
const RENAMED: [(&str, &str); 2] = [
    ("email", "https://www.googleapis.com/auth/userinfo.email"),
    ("profile", "https://www.googleapis.com/auth/userinfo.profile"),
];

/// The authorization server's store, and the next user's choice on the consent page.
#[derive(Default)]
pub struct Authority {
    /// The address of the user who is signed in; the first user where it is none.
    pub signed_in: Option<String>,
    /// The scopes that the user ticks; all that are asked for where it is none.
    pub ticked: Option<Vec<String>>,
    /// The user denies the request.
    pub denies: bool,
    /// The error that the browser comes back with in the place of a code, as in `admin_policy_enforced`.
    pub refusal: Option<String>,
    codes: BTreeMap<String, CodeGrant>,
    refresh_tokens: BTreeMap<String, Grant>,
    access_tokens: BTreeMap<String, AccessToken>,
    /// Access tokens with which a batch is accepted and its parts are not.
    refused_in_parts: BTreeSet<String>,
    /// Pairs of client and user that have a grant with a refresh token.
    known: BTreeSet<(String, String)>,
    numbers: u64,
}

/// Permission of a user for a client.
#[derive(Clone, Debug)]
struct Grant {
    client: String,
    user: String,
    scopes: Vec<String>,
}

struct CodeGrant {
    grant: Grant,
    redirect_uri: String,
    challenge: Option<String>,
    has_refresh_token: bool,
    expires_ms: i64,
}

/// An access token's user and scopes.
#[derive(Clone, Debug)]
pub struct AccessToken {
    pub user: String,
    pub scopes: Vec<String>,
    /// The id of the OAuth client.
    pub client: String,
    expires_ms: i64,
}

impl Authority {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Lets all access tokens expire; refresh tokens stay.
    pub fn expire_access_tokens(&mut self) {
        self.access_tokens.clear();
    }

    /// Lets the parts of batches with the token of this request answer 401 from now on, though the batches themselves are accepted.
    pub fn refuse_parts(&mut self, ask: &Ask) {
        self.refused_in_parts.extend(bearer(ask).map(str::to_owned));
    }

    /// Whether the parts of a batch with the token of this request answer 401.
    pub fn refuses_parts(&self, ask: &Ask) -> bool {
        bearer(ask).is_some_and(|token| self.refused_in_parts.contains(token))
    }

    /// Ends all grants of a user, as the user can in the account's settings.
    pub fn revoke_user(&mut self, user: &str) {
        self.refresh_tokens.retain(|_, grant| grant.user != user);
        self.access_tokens.retain(|_, token| token.user != user);
        self.known.retain(|(_, known)| known != user);
    }

    /// Removes a scope from all grants and tokens of a user, without notice to the client.
    pub fn take_scope(&mut self, user: &str, scope: &str) {
        let grants = self.refresh_tokens.values_mut().filter(|grant| grant.user == user);
        let tokens = self.access_tokens.values_mut().filter(|token| token.user == user);
        let all = grants.map(|grant| &mut grant.scopes).chain(tokens.map(|token| &mut token.scopes));
        all.for_each(|scopes| scopes.retain(|one| one != scope));
    }

    /// The scopes that a user has granted a client, without these.
    fn granted_before(&self, client: &str, user: &str, without: &[String]) -> BTreeSet<String> {
        let grants =
            self.refresh_tokens.values().filter(|grant| grant.client == client && grant.user == user);
        let scopes = grants.flat_map(|grant| &grant.scopes);
        scopes.filter(|scope| !without.contains(scope)).cloned().collect()
    }

    /// Issues an access token without a consent page.
    pub fn issue(&mut self, user: &str, scopes: &[&str], now_ms: i64) -> String {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let grant = Grant { client: "test".to_owned(), user: user.to_owned(), scopes };
        self.access_token(&grant, now_ms)
    }

    fn access_token(&mut self, grant: &Grant, now_ms: i64) -> String {
        let text = format!("ya29.fake-{:06}", self.number());
        let token = AccessToken {
            user: grant.user.clone(),
            scopes: grant.scopes.clone(),
            client: grant.client.clone(),
            expires_ms: now_ms + ACCESS_TOKEN_S * 1000,
        };
        self.access_tokens.insert(text.clone(), token);
        text
    }
}

/// The token of a request.
///
/// # Errors
/// There is none, or it is unknown or expired: 401.
pub fn authenticate(state: &State, ask: &Ask) -> Result<AccessToken, ApiError> {
    let token = bearer(ask).and_then(|text| state.authority.access_tokens.get(text));
    let token = token.filter(|token| state.clock.now_ms() < token.expires_ms);
    token.cloned().ok_or_else(ApiError::unauthenticated)
}

fn bearer(ask: &Ask) -> Option<&str> {
    ask.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
}

/// The consent page: sends the browser back at once.
pub fn authorize(state: &mut State, ask: &Ask) -> Reply {
    let value = |name: &str| ask.parameter(name).filter(|value| !value.is_empty());
    let page =
        |text: &str| Reply::new(400).header("content-type", "text/html; charset=utf-8").body(text.to_owned());
    let (Some(client), Some(redirect_uri)) = (value("client_id"), value("redirect_uri")) else {
        return page("Error 400: invalid_request: client_id and redirect_uri are required");
    };
    if value("response_type") != Some("code") {
        return page("Error 400: unsupported_response_type");
    }
    if value("code_challenge").is_some() && value("code_challenge_method") != Some("S256") {
        return page("Error 400: invalid_request: the fake takes S256 alone");
    }
    let Ok(mut back) = url::Url::parse(redirect_uri) else { return page("Error 400: redirect_uri_mismatch") };
    if let Some(given) = value("state") {
        back.query_pairs_mut().append_pair("state", given);
    }
    let user = user_of(state, value("login_hint"));
    let denial = state.authority.denies.then(|| "access_denied".to_owned());
    let refusal = state.authority.refusal.clone().or(denial);
    let Some(user) = user.filter(|_| refusal.is_none()) else {
        let error = refusal.unwrap_or_else(|| "access_denied".to_owned());
        back.query_pairs_mut().append_pair("error", &error);
        return Reply::new(302).header("location", back.as_str());
    };
    let asked: Vec<String> = value("scope").unwrap_or_default().split_whitespace().map(long_name).collect();
    let mut scopes: Vec<String> = match &state.authority.ticked {
        Some(ticked) => {
            let has_box = |scope: &String| TICKED_SCOPES.iter().any(|part| scope.contains(part));
            let is_ticked = |scope: &String| !has_box(scope) || ticked.contains(scope);
            asked.into_iter().filter(is_ticked).collect()
        }
        None => asked,
    };
    if value("include_granted_scopes") == Some("true") {
        scopes.extend(state.authority.granted_before(client, &user, &scopes));
    }
    let now = state.clock.now_ms();
    let is_offline = value("access_type") == Some("offline");
    let is_first = !state.authority.known.contains(&(client.to_owned(), user.clone()));
    let consents = value("prompt").is_some_and(|prompt| prompt.split(' ').any(|one| one == "consent"));
    let code = format!("4/0Afake-{:06}", state.authority.number());
    let grant = CodeGrant {
        grant: Grant { client: client.to_owned(), user, scopes: scopes.clone() },
        redirect_uri: redirect_uri.to_owned(),
        challenge: value("code_challenge").map(str::to_owned),
        has_refresh_token: is_offline && (is_first || consents),
        expires_ms: now + CODE_MS,
    };
    state.authority.codes.insert(code.clone(), grant);
    let granted = scopes.join(" ");
    let answer =
        [("code", code.as_str()), ("scope", granted.as_str()), ("authuser", "0"), ("prompt", "consent")];
    back.query_pairs_mut().extend_pairs(answer);
    Reply::new(302).header("location", back.as_str())
}

fn user_of(state: &State, hint: Option<&str>) -> Option<String> {
    let hinted = hint.and_then(|hint| {
        state
            .users
            .values()
            .find(|user| user.email == hint || user.sub == hint)
            .map(|user| user.email.clone())
    });
    let signed_in = state.authority.signed_in.clone();
    signed_in.or(hinted).or_else(|| state.users.keys().next().cloned())
}

fn long_name(scope: &str) -> String {
    let renamed = RENAMED.iter().find(|(short, _)| *short == scope);
    renamed.map_or(scope, |(_, long)| long).to_owned()
}

/// The token endpoint.
pub fn token(state: &mut State, ask: &Ask) -> Reply {
    let form = pairs(&ask.body);
    let value = |name: &str| first_named(&form, name).filter(|value| !value.is_empty());
    let basic = ask.header("authorization").and_then(|value| value.strip_prefix("Basic "));
    let basic = basic.and_then(|text| String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok());
    let (client, secret) = match basic.as_deref().and_then(|text| text.split_once(':')) {
        Some((client, secret)) => (Some(client.to_owned()), Some(secret.to_owned())),
        None => (value("client_id").map(str::to_owned), value("client_secret").map(str::to_owned)),
    };
    let (Some(client), Some(_)) = (client, secret) else {
        return refusal(401, "invalid_client", "The OAuth client was not found.");
    };
    match value("grant_type") {
        Some("authorization_code") => exchange_code(state, &form, &client),
        Some("refresh_token") => {
            let given = value("refresh_token").and_then(|text| state.authority.refresh_tokens.get(text));
            let Some(grant) = given.filter(|grant| grant.client == client).cloned() else {
                return refusal(400, "invalid_grant", "Token has been expired or revoked.");
            };
            let now = state.clock.now_ms();
            let access = state.authority.access_token(&grant, now);
            Reply::json(200, &token_body(&access, &grant))
        }
        _ => refusal(400, "unsupported_grant_type", "Invalid grant_type."),
    }
}

fn exchange_code(state: &mut State, form: &[(String, String)], client: &str) -> Reply {
    let value = |name: &str| first_named(form, name);
    // A code serves once, whatever comes of it.
    let code = value("code").and_then(|code| state.authority.codes.remove(code));
    let now = state.clock.now_ms();
    let Some(code) = code.filter(|code| now < code.expires_ms && code.grant.client == client) else {
        return refusal(400, "invalid_grant", "Malformed auth code.");
    };
    if value("redirect_uri") != Some(code.redirect_uri.as_str()) {
        return refusal(400, "redirect_uri_mismatch", "Bad Request");
    }
    let verifier = value("code_verifier").unwrap_or_default();
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    if code.challenge.is_some_and(|expected| expected != challenge) {
        return refusal(400, "invalid_grant", "Invalid code verifier.");
    }
    let authority = &mut state.authority;
    let access = authority.access_token(&code.grant, now);
    let mut body = token_body(&access, &code.grant);
    if code.has_refresh_token {
        let refresh = format!("1//fake-{:06}", authority.number());
        body["refresh_token"] = refresh.clone().into();
        authority.known.insert((code.grant.client.clone(), code.grant.user.clone()));
        authority.refresh_tokens.insert(refresh, code.grant);
    }
    Reply::json(200, &body)
}

fn token_body(access: &str, grant: &Grant) -> Value {
    json!({
        "access_token": access,
        "expires_in": ACCESS_TOKEN_S,
        "scope": grant.scopes.join(" "),
        "token_type": "Bearer",
    })
}

fn refusal(status: u16, error: &str, description: &str) -> Reply {
    Reply::json(status, &json!({ "error": error, "error_description": description }))
}

/// The revocation endpoint: ends the whole grant of the token's client and user.
pub fn revoke(state: &mut State, ask: &Ask) -> Reply {
    let form = pairs(&ask.body);
    let text = first_named(&form, "token").or_else(|| ask.parameter("token")).unwrap_or_default();
    let authority = &mut state.authority;
    let by_refresh =
        authority.refresh_tokens.get(text).map(|grant| (grant.client.clone(), grant.user.clone()));
    let by_access = authority.access_tokens.get(text).map(|token| (token.client.clone(), token.user.clone()));
    let Some((client, user)) = by_refresh.or(by_access) else {
        return refusal(400, "invalid_token", "Token expired or revoked");
    };
    authority.refresh_tokens.retain(|_, grant| grant.client != client || grant.user != user);
    authority.access_tokens.retain(|_, token| token.client != client || token.user != user);
    authority.known.remove(&(client, user));
    Reply::json(200, &json!({}))
}

/// The user info endpoint of OpenID Connect.
pub fn userinfo(state: &State, ask: &Ask) -> Reply {
    let token = match authenticate(state, ask) {
        Ok(token) => token,
        Err(_) => return refusal(401, "invalid_request", "Invalid Credentials"),
    };
    let Some(user) = state.users.get(&token.user) else {
        return refusal(401, "invalid_request", "Invalid Credentials");
    };
    let mut body = json!({ "sub": user.sub });
    let has = |end: &str| token.scopes.iter().any(|scope| scope.ends_with(end));
    if has("userinfo.profile") {
        let given_name = user.name.split(' ').next().unwrap_or_default();
        body["name"] = user.name.clone().into();
        body["given_name"] = given_name.into();
    }
    if has("userinfo.email") {
        body["email"] = user.email.clone().into();
        body["email_verified"] = true.into();
    }
    Reply::json(200, &body)
}
