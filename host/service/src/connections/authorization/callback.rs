//! The user's return (RFC 6749, section 4.1.2): finds its authorization, claims it against other hosts, and checks that the return can be
//! trusted. Only then is the code exchanged, once.

use std::time::Duration;

use anyhow::Context;
use base::error::{Code, Error, Result, refuse};
use base::ids::Kind;
use model::Instant;
use runtime::LoginName;
use serde_json::Value;
use storage::authorizations::{self, PendingAuthorization};
use storage::lane::Lane;

use crate::app::App;
use crate::connections::authorization::authorized_account::{AuthorizedAccount, IssuedTokens};
use crate::connections::authorization::commit;
use crate::connections::authorization::outcome::{AuthorizationOutcome, Failure};
use crate::connections::authorization::unmatched_return::{administrators_return, already_used, elsewhere};
use crate::connections::authorization::{
    AuthorizationOptions, CallbackOutcome, CallbackParams, PageReason, Secrets,
};
use crate::connections::check::CheckedAccount;
use crate::connections::credentials::GivenCredentials;
use crate::connections::oauth::endpoints::ProviderEndpoints;
use crate::connections::oauth::identity::{self, AccountIdentity};
use crate::connections::oauth::scopes::{self, GrantedScopes};
use crate::connections::oauth::{self, OAuthProvider, TokenAnswer, TokenFailure, classify, grant};
use crate::connections::request_context::RequestContext;
use crate::connections::settings::settings_of;
use crate::connections::{self, account, check};

/// Age at which a claim of another host counts as given up, in milliseconds: longer than all requests of a return together.
const STALE_MS: i64 = 60_000;

/// Time that a return waits for another one of the same authorization, and the interval of its checks.
const WAIT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Handles a user's return to `provider`'s callback URL. `caller` is the client with an API key that has the scope `connections.write`: a
/// backend that forwards the return. A return without an authorization, or with one of another path or application, uses nothing up.
pub async fn callback(
    app: &App,
    provider: &str,
    params: CallbackParams,
    caller: Option<&RequestContext>,
) -> Result<CallbackOutcome> {
    let wants_json = params.wants_json || caller.is_some();
    let params = CallbackParams { wants_json, ..params };
    if let Some(reason) = administrators_return(&params) {
        return Ok(elsewhere(reason, wants_json));
    }
    let Some(state) = params.state.as_deref().filter(|state| !state.is_empty()) else {
        return Ok(elsewhere(PageReason::Malformed, wants_json));
    };
    let hash = app.keyring.api_key_hash(state);
    let Some(pending) = authorizations::find(app.db.reader(), &hash).await? else {
        return Ok(elsewhere(PageReason::UnknownLink, wants_json));
    };
    if pending.provider != provider {
        return Ok(elsewhere(PageReason::WrongProvider, wants_json));
    }
    if let Some(caller) = caller {
        if caller.tenant != pending.tenant {
            return Ok(elsewhere(PageReason::UnknownLink, wants_json));
        }
        let is_bound = caller.bound_to().is_some();
        if is_bound && !pending.connection_id.as_deref().is_some_and(|id| caller.may_use(id)) {
            let message = "this API key is bound to other connections than the one of this authorization";
            return Err(refuse(Code::Forbidden, message));
        }
    }
    // A browser that disconnects does not stop what has begun at the provider.
    let (app, lane) = (app.clone(), Lane::requests().for_application(&pending.tenant.application_id));
    let work = lane.spawn(async move { process_claimed(&app, pending, &params).await });
    work.await.context("the task of a user's return")?
}

/// Processes the return under its lock in this process and its claim in the database.
async fn process_claimed(
    app: &App,
    pending: PendingAuthorization,
    params: &CallbackParams,
) -> Result<CallbackOutcome> {
    let hash = pending.state_hash;
    let _alone = app.locks.lock(&format!("authorization:{hash}")).await;
    let Some(mut pending) = authorizations::find(app.db.reader(), &hash).await? else {
        return Ok(elsewhere(PageReason::UnknownLink, params.wants_json));
    };
    if pending.finished_at.is_some() {
        return Ok(already_used(params.wants_json));
    }
    let secrets = Secrets::open(app, &pending)?;
    let (redirect_uri, state) = (pending.redirect_uri.clone(), secrets.client_state.clone());
    if app.now() > pending.expires_at {
        return Ok(AuthorizationOutcome::from(Failure::ExpiredState).into_callback(
            &redirect_uri,
            state,
            params.wants_json,
        ));
    }
    if app.db.is_shared() {
        match claim(app, &pending).await? {
            Some(fence) => pending.fence = fence,
            None => {
                wait_for_other(app, &pending.state_hash).await?;
                return Ok(already_used(params.wants_json));
            }
        }
    }
    let ended = match exchange_grant(app, &pending, &secrets, params).await {
        Ok(exchanged) => {
            let (provider, tokens) = (&exchanged.provider, &exchanged.tokens);
            let identity = identity::load(app, provider, tokens, secrets.nonce.as_deref()).await;
            let unused = unused_tokens(provider, tokens, identity.as_ref().ok().and_then(Option::as_ref));
            match account(app, &pending, exchanged, identity).await {
                Ok(account) => commit::connect(app, &pending, account).await?,
                Err(ending) => commit::end(app, &pending, ending, Some(unused)).await?,
            }
        }
        Err(ending) => commit::end(app, &pending, ending, None).await?,
    };
    Ok(match ended {
        Some(ending) => ending.into_callback(&redirect_uri, state, params.wants_json),
        // Another host took the claim over, and its outcome counts.
        None => already_used(params.wants_json),
    })
}

/// Returns the claim's fence; none if another host processes the return or has ended it.
async fn claim(app: &App, pending: &PendingAuthorization) -> Result<Option<i64>> {
    let (hash, owner, now) = (pending.state_hash.clone(), app.boot.clone(), app.now());
    let claim = app.db.write(move |tx| {
        Box::pin(async move { authorizations::claim(tx, &hash, &owner, now, now - STALE_MS).await })
    });
    let claim: anyhow::Result<Option<i64>> = claim.await;
    Ok(claim?)
}

/// Waits until the other host has ended the authorization, at most two seconds.
async fn wait_for_other(app: &App, hash: &str) -> Result<()> {
    let mut waited = Duration::ZERO;
    while waited < WAIT {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        let found = authorizations::find(app.db.reader(), hash).await?;
        if found.is_none_or(|pending| pending.finished_at.is_some()) {
            break;
        }
    }
    Ok(())
}

/// The provider's response to the exchange of a code.
struct TokenExchange {
    provider: OAuthProvider,
    tokens: TokenAnswer,
    options: AuthorizationOptions,
}

/// Returns the tokens of an account that the user has authorized, or the outcome without them.
async fn exchange_grant(
    app: &App,
    pending: &PendingAuthorization,
    secrets: &Secrets,
    params: &CallbackParams,
) -> Result<TokenExchange, AuthorizationOutcome> {
    check_issuer(pending, params.iss.as_deref())?;
    let answer = one_of(params)?;
    let endpoints = ProviderEndpoints::from_stored(&pending.endpoints).map_err(|e| fault(pending, e))?;
    let provider = oauth::pinned(app, &pending.tenant, &pending.provider, endpoints).await;
    let provider = provider.map_err(|e| fault(pending, e))?;
    let code = match answer {
        CallbackAnswer::Code(code) => code,
        CallbackAnswer::Error(error) => return Err(refused_outcome(pending, &provider, error)),
    };
    let options = serde_json::from_value::<AuthorizationOptions>(Value::Object(pending.options.clone()));
    let options = options.map_err(|e| fault(pending, e.into()))?;
    if provider.registration.client_id != options.client_id {
        tracing::error!(
            provider = pending.provider,
            "the registration has another client id than when the user was sent to the provider"
        );
        return Err(Failure::ServerError.into());
    }
    let tokens = provider.exchange_code(app, code, &secrets.verifier, &pending.callback_uri).await;
    let tokens = tokens.map_err(|failure| unusable(pending, &provider, &failure))?;
    Ok(TokenExchange { provider, tokens, options })
}

/// Returns the tokens for a revocation if they do not become a connection's.
fn unused_tokens(
    provider: &OAuthProvider,
    tokens: &TokenAnswer,
    identity: Option<&AccountIdentity>,
) -> IssuedTokens {
    let client_id = &provider.registration.client_id;
    let account = identity.map(|identity| identity.id.as_str());
    IssuedTokens {
        given: GivenCredentials {
            access_token: Some(tokens.access_token.to_string()),
            refresh_token: tokens.refresh_token.as_ref().map(|token| token.to_string()),
            oauth_client_id: Some(client_id.clone()),
            ..GivenCredentials::default()
        },
        grant: grant::for_account(&provider.endpoints.token_url, client_id, account),
    }
}

/// Returns the account, checked at its provider, or the outcome without it.
async fn account(
    app: &App,
    pending: &PendingAuthorization,
    TokenExchange { provider, tokens, options }: TokenExchange,
    identity: Result<Option<AccountIdentity>, TokenFailure>,
) -> Result<AuthorizedAccount, AuthorizationOutcome> {
    let granted = granted(pending, &provider, &tokens);
    if granted.granted.is_empty() {
        return Err(Failure::ScopeMissing.into());
    }
    let identity = identity.map_err(|failure| unusable(pending, &provider, &failure))?;
    let given = credentials_from_tokens(app, pending, &provider, &tokens, identity.as_ref())?;
    let (id, checked) = check_account(app, pending, &provider, &given, granted.provider, identity).await?;
    Ok(AuthorizedAccount {
        id,
        reconnects: false,
        given,
        refresh_token_expires_at: tokens.refresh_token_expires_in_s.map(|s| after(app, s)),
        granted_scopes: granted.granted,
        checked,
        tags: options.tags,
    })
}

/// Returns the time `seconds` from now, ms since 1970.
fn after(app: &App, seconds: u64) -> i64 {
    app.now().saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000))
}

/// The result in a user's return.
enum CallbackAnswer<'a> {
    Code(&'a str),
    Error(&'a str),
}

/// Refuses a return from another server, whatever it says (RFC 9207, section 2.4; RFC 9700, section 4.4).
fn check_issuer(pending: &PendingAuthorization, iss: Option<&str>) -> Result<(), Failure> {
    match (iss, pending.issuer.as_deref()) {
        (None, _) if pending.requires_iss => Err(Failure::InvalidRequest),
        (Some(iss), Some(issuer)) if iss != issuer => Err(Failure::InvalidRequest),
        _ => Ok(()),
    }
}

/// Returns the code or the error of a return, which must have exactly one of them (RFC 6749, section 4.1.2).
fn one_of(params: &CallbackParams) -> Result<CallbackAnswer<'_>, Failure> {
    let (code, error) = (params.code.as_deref(), params.error.as_deref());
    match (code.filter(|code| !code.is_empty()), error.filter(|error| !error.is_empty())) {
        (Some(code), None) => Ok(CallbackAnswer::Code(code)),
        (None, Some(error)) => Ok(CallbackAnswer::Error(error)),
        _ => Err(Failure::InvalidRequest),
    }
}

/// Returns the outcome for an error in the return. Its description is neither shown nor logged.
fn refused_outcome(
    pending: &PendingAuthorization,
    provider: &OAuthProvider,
    error: &str,
) -> AuthorizationOutcome {
    let class = classify::of_return(&provider.connector.manifest.auth, error);
    let word = classify::clean(error).unwrap_or_default();
    tracing::info!(provider = pending.provider, error = word, class = ?class, "an authorization was refused");
    ending(pending, provider, Failure::of_class(class))
}

/// Returns the outcome for an authorization server that refused, did not respond, or sent an unusable response.
fn unusable(
    pending: &PendingAuthorization,
    provider: &OAuthProvider,
    failure: &TokenFailure,
) -> AuthorizationOutcome {
    tracing::warn!(
        provider = pending.provider,
        class = ?failure.class,
        error = failure.error,
        "an authorization failed at the authorization server"
    );
    ending(pending, provider, Failure::of_class(failure.class))
}

fn ending(
    pending: &PendingAuthorization,
    provider: &OAuthProvider,
    failure: Failure,
) -> AuthorizationOutcome {
    let url = match failure {
        Failure::AdminBlocked => provider.admin_consent_url(&pending.callback_uri, &pending.provider_scopes),
        _ => None,
    };
    AuthorizationOutcome::Failed { failure, admin_consent_url: url.map(String::from) }
}

/// Returns the outcome after a failure of this host or of a connector.
fn fault(pending: &PendingAuthorization, error: Error) -> AuthorizationOutcome {
    use Code::{Overloaded, ProviderRateLimited, ProviderTimeout, ProviderUnavailable};
    tracing::error!(provider = pending.provider, error = %error, "an authorization failed");
    let passing = [ProviderUnavailable, ProviderTimeout, ProviderRateLimited, Overloaded];
    let passes = error.is_outage() || error.code().is_some_and(|code| passing.contains(&code));
    match passes {
        true => Failure::TemporarilyUnavailable.into(),
        false => Failure::ServerError.into(),
    }
}

fn granted(pending: &PendingAuthorization, provider: &OAuthProvider, tokens: &TokenAnswer) -> GrantedScopes {
    scopes::granted(
        &provider.connector.manifest.auth,
        &provider.registration.scopes,
        &pending.requested_scopes,
        &pending.provider_scopes,
        tokens.scopes.as_deref(),
    )
}

/// Returns the tokens for sealing, with the user name for logins if the manifest defines it.
fn credentials_from_tokens(
    app: &App,
    pending: &PendingAuthorization,
    provider: &OAuthProvider,
    tokens: &TokenAnswer,
    identity: Option<&AccountIdentity>,
) -> Result<GivenCredentials, AuthorizationOutcome> {
    let username = match provider.connector.manifest.auth.login {
        None => None,
        Some(LoginName::Email) => {
            let email = identity.and_then(|identity| identity.email.clone());
            let missing = || fault(pending, anyhow::anyhow!("the account has no email to log in by").into());
            Some(email.ok_or_else(missing)?)
        }
    };
    Ok(GivenCredentials {
        username,
        access_token: Some(tokens.access_token.to_string()),
        issued_at: Some(Instant::from_millis(app.now())),
        expires_at: Some(Instant::from_millis(after(app, tokens.expires_in_s))),
        refresh_token: tokens.refresh_token.as_ref().map(|token| token.to_string()),
        token_type: Some("Bearer".to_owned()),
        oauth_client_id: Some(provider.registration.client_id.clone()),
        ..GivenCredentials::default()
    })
}

/// Returns the id of the connection, and its account as the connector reports it, as for a connection by credentials.
async fn check_account(
    app: &App,
    pending: &PendingAuthorization,
    provider: &OAuthProvider,
    given: &GivenCredentials,
    provider_scopes: Vec<String>,
    identity: Option<AccountIdentity>,
) -> Result<(String, CheckedAccount), AuthorizationOutcome> {
    let mut settings = provider.settings(app).await.map_err(|e| fault(pending, e))?;
    let id = match &pending.connection_id {
        None => app.new_id(Kind::Connection),
        Some(id) => {
            let found = connections::find(app, &pending.tenant, id).await.map_err(|e| match e.code() {
                Some(Code::NotFound) => Failure::InvalidRequest.into(),
                _ => fault(pending, e),
            })?;
            // The settings that its connector found before, and the operator's present values.
            let mut known = settings_of(app, &found);
            known.append(&mut settings);
            settings = known;
            id.clone()
        }
    };
    let looked = check::run(app, &pending.tenant, &provider.connector, &id, &settings, given).await;
    let mut checked = looked.map_err(|e| fault(pending, e))?;
    if let Some(identity) = identity {
        checked.account.external_account_id = identity.id;
        checked.account.email = checked.account.email.or(identity.email);
        checked.account.display_name = checked.account.display_name.or(identity.name);
    }
    checked.account.provider_scopes = provider_scopes;
    checked.account = account::bounded(checked.account).map_err(|e| fault(pending, e))?;
    Ok((id, checked))
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;
    use serde_json::Map;

    use super::*;

    fn pending(issuer: Option<&str>, requires_iss: bool) -> PendingAuthorization {
        PendingAuthorization {
            state_hash: String::new(),
            tenant: Tenant { organization_id: "org_1".into(), application_id: "app_1".into() },
            api_key_id: String::new(),
            provider: "sandbox".into(),
            oauth_client_id: String::new(),
            oauth_client_version: 1,
            redirect_uri: String::new(),
            callback_uri: String::new(),
            issuer: issuer.map(str::to_owned),
            requires_iss,
            endpoints: Map::new(),
            requested_scopes: Vec::new(),
            provider_scopes: Vec::new(),
            connection_id: None,
            options: Map::new(),
            secrets: String::new(),
            code_challenge: None,
            created_at: 0,
            expires_at: 0,
            claimed_by: None,
            claimed_at: None,
            fence: 0,
            finished_at: None,
            outcome: None,
            code_expires_at: None,
            code_used_at: None,
            grant_id: None,
            account: None,
        }
    }

    #[test]
    fn an_issuer_is_compared_byte_for_byte() {
        let known = Some("https://id.test");
        for (issuer, requires, iss, is_good) in [
            (known, true, Some("https://id.test"), true),
            (known, true, Some("https://id.test/"), false),
            (known, true, Some("https://ID.test"), false),
            (known, true, Some(""), false),
            (known, true, None, false),
            (known, false, None, true),
            (known, false, Some("https://evil.test"), false),
            (None, false, Some("https://any.test"), true),
            (None, true, None, false),
        ] {
            let checked = check_issuer(&pending(issuer, requires), iss);
            assert_eq!(checked.is_ok(), is_good, "{issuer:?} {requires} {iss:?}");
        }
    }

    #[test]
    fn a_return_has_a_code_or_an_error() {
        for (code, error, is_good) in [
            (Some("c"), None, true),
            (None, Some("access_denied"), true),
            (Some("c"), Some("x"), false),
            (None, None, false),
            (Some(""), None, false),
            (Some("c"), Some(""), true),
        ] {
            let (code, error) = (code.map(str::to_owned), error.map(str::to_owned));
            let params = CallbackParams { code, error, ..CallbackParams::default() };
            assert_eq!(one_of(&params).is_ok(), is_good, "{:?} {:?}", params.code, params.error);
        }
    }
}
