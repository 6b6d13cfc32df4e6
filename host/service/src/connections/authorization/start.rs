//! The start of an authorization (RFC 6749, section 4.1.1): checks the client's request and builds the URL to send the user to.

use base::error::{Code, Result, invalid, not_found, refuse};
use base::input::metadata;
use base::tenant::Tenant;
use model::Instant;
use model::bounds::connection::{MAX_HINT, MAX_STATE};
use model::connection::{Authorization, NewAuthorization};
use runtime::{Auth, IdentitySource};
use serde_json::{Map, Value};
use storage::authorizations::{self, PendingAuthorization};
use storage::oauth_clients;

use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::connections::authorization::{AuthorizationOptions, LIFETIME_MS, Secrets, random_text};
use crate::connections::oauth::scopes::{self, ScopeMap};
use crate::connections::oauth::{self, AuthorizationRequest, OAuthProvider};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::connections::{self, credentials};

/// Length of a PKCE challenge by S256, characters: 32 bytes in base64url (RFC 7636, section 4.2).
const CHALLENGE: usize = 43;

/// The address to which the user returns from the provider.
#[derive(Clone, Debug)]
pub enum ReturnTo {
    /// An address of the client, which must be registered for the application.
    Registered(String),
    /// A page of the administration panel of this service.
    Panel(String),
}

/// The parts of a start that are not in the body of its request.
#[derive(Clone, Debug)]
pub struct StartOptions {
    pub return_to: ReturnTo,
    /// Whether the application may get a second connection of an account.
    pub allow_duplicate: bool,
}

/// Stores an authorization request and returns the response: 201 with `authorizationUrl`, `state` and `expiresAt`, ten minutes from now.
/// `key_id` is the requesting key. The user returns to `options.return_to`, whatever `redirectUri` of the request is. Fails with a field's name if
/// the request is wrong, and as `oauth::provider` if the provider cannot be used.
pub async fn start(
    cx: &WriteContext,
    key_id: &str,
    provider: &str,
    new: NewAuthorization,
    options: StartOptions,
    warnings: &[Value],
) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    let tenant = &asker.tenant;
    connections::ensure_provider_allowed(app, tenant, provider).await?;
    let registered = oauth::registered(app, tenant, provider).await?;
    let auth = &registered.connector.manifest.auth;
    check_scopes(provider, &registered.registration.scopes, &new.scopes)?;
    let redirect_uri = match options.return_to {
        ReturnTo::Registered(uri) => {
            check_redirect(app, tenant, &uri).await?;
            uri
        }
        ReturnTo::Panel(url) => url,
    };
    let new = NewAuthorization { redirect_uri, ..new };
    check_texts(auth, &new)?;
    check_challenge(&new)?;
    metadata::check("tags", &new.tags)?;
    check_connection(app, asker, provider, new.connection_id.as_deref()).await?;
    // Faults of the registration are reported now, and not after the user has agreed.
    registered.settings(app).await?;
    let callback_uri = registered.callback_uri(app);
    let provider = registered.resolve(app).await?;
    let (pending, state, url) =
        prepare_authorization(app, &provider, key_id, new, callback_uri, !options.allow_duplicate)?;
    let body = serde_json::to_string(&Authorization {
        authorization_url: url,
        state,
        expires_at: Instant::from_millis(pending.expires_at),
    })?;
    let answer = StoredResponse::created(body).warned(warnings);
    let (app, kept, attempt) = (app.clone(), answer.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            authorizations::insert(tx, &pending).await?;
            attempt.store(tx, &app.keyring, &kept, app.now()).await
        })
    })
    .await?;
    Ok(answer)
}

/// Returns the row, our `state`, and the URL.
fn prepare_authorization(
    app: &App,
    provider: &OAuthProvider,
    key_id: &str,
    new: NewAuthorization,
    callback_uri: String,
    reconnects: bool,
) -> Result<(PendingAuthorization, String, String)> {
    let (registration, tenant, now) = (&provider.registration, &provider.tenant, app.now());
    let auth = &provider.connector.manifest.auth;
    let state = format!("st_{}", random_text(app));
    let nonce = (provider.identity_source() == IdentitySource::IdToken).then(|| random_text(app));
    let secrets = Secrets { verifier: random_text(app), nonce, client_state: new.state };
    let provider_scopes = scopes::to_request(auth, &registration.scopes, &new.scopes);
    let url = provider.authorization_url(&AuthorizationRequest {
        callback_uri: &callback_uri,
        state: &state,
        verifier: &secrets.verifier,
        nonce: secrets.nonce.as_deref(),
        scopes: &provider_scopes,
        login_hint: new.login_hint.as_deref(),
        prompt: new.prompt.as_deref(),
        is_reauthorization: new.connection_id.is_some(),
    })?;
    let state_hash = app.keyring.api_key_hash(&state);
    let options =
        AuthorizationOptions { tags: new.tags, client_id: registration.client_id.clone(), reconnects };
    let pending = PendingAuthorization {
        secrets: secrets.seal(app, &state_hash, &tenant.organization_id)?,
        state_hash,
        tenant: tenant.clone(),
        api_key_id: key_id.to_owned(),
        provider: provider.connector.manifest.name.clone(),
        oauth_client_id: registration.id.clone(),
        oauth_client_version: registration.version,
        redirect_uri: new.redirect_uri,
        callback_uri,
        issuer: provider.endpoints.issuer.clone(),
        requires_iss: provider.endpoints.requires_iss,
        endpoints: provider.endpoints.stored()?,
        requested_scopes: new.scopes,
        provider_scopes,
        connection_id: new.connection_id,
        options: object(serde_json::to_value(&options)?),
        code_challenge: new.code_challenge,
        created_at: now,
        expires_at: now + LIFETIME_MS,
        claimed_by: None,
        claimed_at: None,
        fence: 0,
        finished_at: None,
        outcome: None,
        code_expires_at: None,
        code_used_at: None,
        grant_id: None,
        account: None,
    };
    Ok((pending, state, url.into()))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Refuses scopes that the provider does not have.
fn check_scopes(provider: &str, map: &ScopeMap, requested: &[String]) -> Result<()> {
    connections::check_scopes(requested)?;
    match requested.iter().position(|scope| !map.contains_key(scope)) {
        None => Ok(()),
        Some(at) => {
            let has: Vec<&str> = map.keys().map(String::as_str).collect();
            let message = format!("{provider} has nothing for {}; it has: {}", requested[at], has.join(", "));
            Err(invalid(Code::InvalidParameter, format!("scopes[{at}]"), message))
        }
    }
}

/// Refuses an address that is not registered, byte for byte (RFC 9700, section 2.1).
async fn check_redirect(app: &App, tenant: &Tenant, uri: &str) -> Result<()> {
    if uri.is_empty() {
        let message = "redirectUri is required: one of the application's registered addresses";
        return Err(invalid(Code::MissingField, "redirectUri", message));
    }
    let registered = oauth_clients::redirects(app.db.reader(), tenant).await?;
    if registered.iter().any(|one| one == uri) {
        return Ok(());
    }
    let message = match registered.is_empty() {
        true => format!(
            "redirectUri is not registered, and no other is for this application; the operator registers it: `switchboard apps redirects {} --add …`",
            tenant.application_id
        ),
        false => format!(
            "redirectUri must be a registered address, byte for byte; registered: {}",
            registered.join(", ")
        ),
    };
    Err(invalid(Code::InvalidParameter, "redirectUri", message))
}

fn check_texts(auth: &Auth, new: &NewAuthorization) -> Result<()> {
    let is_shown = |text: &str| text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    if new.state.as_deref().is_some_and(|state| state.len() > MAX_STATE || !is_shown(state)) {
        let message = format!("state must be printable ASCII of at most {MAX_STATE} characters");
        return Err(invalid(Code::InvalidParameter, "state", message));
    }
    let hint = new.login_hint.as_deref().unwrap_or_default();
    if hint.len() > MAX_HINT || hint.chars().any(char::is_control) {
        let message = format!("loginHint must have at most {MAX_HINT} bytes and no control characters");
        return Err(invalid(Code::InvalidParameter, "loginHint", message));
    }
    let known = oauth::prompts(auth);
    let prompt = new.prompt.as_deref().unwrap_or_default();
    if let Some(word) = prompt.split_ascii_whitespace().find(|word| !known.contains(word)) {
        let message = match known.is_empty() {
            true => "prompt is not taken by this provider; leave it out".to_owned(),
            false => format!("prompt: {word:?} is none of this provider's: {}", known.join(", ")),
        };
        return Err(invalid(Code::InvalidParameter, "prompt", message));
    }
    Ok(())
}

/// Checks the client's PKCE parameters (RFC 7636). Without a method a challenge would mean `plain`, which protects nothing (section 4.3).
fn check_challenge(new: &NewAuthorization) -> Result<()> {
    let (challenge, method) = match (&new.code_challenge, &new.code_challenge_method) {
        (None, None) => return Ok(()),
        (Some(challenge), Some(method)) => (challenge, method),
        (Some(_), None) => {
            let message = "codeChallengeMethod is required with codeChallenge: \"S256\"";
            return Err(invalid(Code::MissingField, "codeChallengeMethod", message));
        }
        (None, Some(_)) => {
            let message = "codeChallenge is required with codeChallengeMethod";
            return Err(invalid(Code::MissingField, "codeChallenge", message));
        }
    };
    if method != "S256" {
        let message = "codeChallengeMethod must be \"S256\"";
        return Err(invalid(Code::InvalidParameter, "codeChallengeMethod", message));
    }
    let is_base64url = challenge.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if challenge.len() != CHALLENGE || !is_base64url {
        let message =
            "codeChallenge must be the SHA-256 of the verifier in base64url without padding: 43 characters";
        return Err(invalid(Code::InvalidParameter, "codeChallenge", message));
    }
    Ok(())
}

/// Checks the connection to authorize again: the key may use it, it is of this provider, and it was made by OAuth.
async fn check_connection(app: &App, asker: &RequestContext, provider: &str, id: Option<&str>) -> Result<()> {
    let Some(id) = id else {
        if asker.bound_to().is_none() {
            return Ok(());
        }
        let message =
            "this API key is bound to connections and makes no new ones: name one of its own as connectionId";
        return Err(refuse(Code::Forbidden, message));
    };
    if !asker.may_use(id) {
        return Err(not_found("connection"));
    }
    let connection = connections::find(app, &asker.tenant, id).await?;
    if connection.provider != provider {
        let message = format!("connectionId is a connection of {}, not of {provider}", connection.provider);
        return Err(invalid(Code::InvalidParameter, "connectionId", message));
    }
    match credentials::stored(app, &connection)?.is_oauth() {
        true => Ok(()),
        false => Err(not_found("connection")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn param(checked: Result<()>) -> Option<String> {
        match checked {
            Ok(()) => None,
            Err(base::error::Error::Refused(r)) => r.param,
            Err(e) => panic!("{e}"),
        }
    }

    #[test]
    fn a_challenge_is_a_digest_and_says_so() {
        let padded = format!("{DIGEST}=");
        for (challenge, method, wanted) in [
            (None, None, None),
            (Some(DIGEST), Some("S256"), None),
            (Some(DIGEST), Some("plain"), Some("codeChallengeMethod")),
            (Some(DIGEST), Some("s256"), Some("codeChallengeMethod")),
            (Some(DIGEST), None, Some("codeChallengeMethod")),
            (None, Some("S256"), Some("codeChallenge")),
            (Some(padded.as_str()), Some("S256"), Some("codeChallenge")),
            (Some("short"), Some("S256"), Some("codeChallenge")),
            (Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"), Some("S256"), Some("codeChallenge")),
        ] {
            let new = NewAuthorization {
                code_challenge: challenge.map(str::to_owned),
                code_challenge_method: method.map(str::to_owned),
                ..NewAuthorization::default()
            };
            assert_eq!(param(check_challenge(&new)).as_deref(), wanted, "{challenge:?} {method:?}");
        }
    }

    #[test]
    fn texts_break_out_of_nothing() {
        let auth = Auth { prompts: vec!["login".into()], ..Auth::default() };
        let new = NewAuthorization::default;
        for (new, wanted) in [
            (NewAuthorization { state: Some("a b~".into()), ..new() }, None),
            (NewAuthorization { state: Some("x".repeat(1_024)), ..new() }, None),
            (NewAuthorization { state: Some("x".repeat(1_025)), ..new() }, Some("state")),
            (NewAuthorization { state: Some("a\r\nSet-Cookie: b".into()), ..new() }, Some("state")),
            (NewAuthorization { state: Some("ä".into()), ..new() }, Some("state")),
            (NewAuthorization { login_hint: Some("a&b=c".into()), ..new() }, None),
            (NewAuthorization { login_hint: Some("a\0".into()), ..new() }, Some("loginHint")),
            (NewAuthorization { prompt: Some("login".into()), ..new() }, None),
            (NewAuthorization { prompt: Some("login none".into()), ..new() }, Some("prompt")),
        ] {
            assert_eq!(param(check_texts(&auth, &new)).as_deref(), wanted, "{new:?}");
        }
    }

    #[test]
    fn a_scope_without_a_mapping_is_named_by_its_place() {
        let map = ScopeMap::from([("email.read".to_owned(), vec!["mail.read".to_owned()])]);
        let scopes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (requested, wanted) in [
            (scopes(&["email.read"]), None),
            (scopes(&[]), Some("scopes")),
            (scopes(&["email.read", "tasks.write"]), Some("scopes[1]")),
            (scopes(&["api_keys.write"]), Some("scopes[0]")),
        ] {
            let checked = check_scopes("x", &map, &requested);
            assert_eq!(param(checked).as_deref(), wanted, "{requested:?}");
        }
    }
}
