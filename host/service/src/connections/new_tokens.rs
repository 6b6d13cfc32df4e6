//! One request for new tokens and the storing of the result: the new refresh token is on disk before the access token beside it is used.

use std::time::Duration;

use base::error::{Code, Error, Result};
use model::Instant;
use runtime::{ErrorClass, Rotation};
use storage::connections::Connection;
use storage::jobs::{self, NewJob};
use storage::locked::ConnectionLock;
use storage::token_refresh::{Grant, RefreshState};
use storage::wakes::JobClass;
use storage::{Tx, connections as table, sync_states, token_refresh as columns};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::oauth::scopes::{self, GrantedScopes};
use crate::connections::oauth::{self, OAuthProvider, TokenAnswer, TokenFailure};
use crate::connections::token_life::TokenLife;
use crate::connections::{revocation, view};

/// The kind of the jobs that renew tokens before they expire; their keys are ids of connections.
pub const JOB: &str = "refresh";

/// Waits between attempts to store new tokens.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Attempts between two log entries: about a minute.
const TOLD_EVERY: u32 = 12;

/// Credentials of a connection as they are stored.
#[derive(Clone)]
pub struct Tokens {
    pub given: GivenCredentials,
    /// Incremented with each change.
    pub version: i64,
}

/// Whether these are tokens that can be renewed.
pub fn is_renewable(given: &GivenCredentials) -> bool {
    given.is_oauth() && given.refresh_token.is_some()
}

/// Tokens that a provider has just issued.
#[derive(Clone)]
pub struct NewTokens {
    given: GivenCredentials,
    /// None: unchanged.
    granted: Option<GrantedScopes>,
    /// Milliseconds since 1970, if the provider reports it.
    refresh_token_expires_at: Option<i64>,
}

/// Asks the authorization server for tokens to replace those of `row`, which are `given`.
pub async fn ask(app: &App, row: &Connection, given: &GivenCredentials) -> Result<NewTokens, TokenFailure> {
    let provider = oauth::provider(app, &row.tenant, &row.provider).await;
    let provider = provider.map_err(|e| unresolved_failure(row, &e))?;
    let (auth, registration) = (&provider.connector.manifest.auth, &provider.registration);
    if given.oauth_client_id.as_ref() != Some(&registration.client_id) {
        // Tokens belong to the client that they were issued to (RFC 6749, section 6).
        return Err(TokenFailure::new(ErrorClass::Operator, false));
    }
    let answer = request_tokens(app, &provider, given, &row.provider_scopes).await?;
    let granted = answer.scopes.as_deref().map(|answered| {
        let (before, asked) = (&row.granted_scopes, &row.provider_scopes);
        scopes::granted(auth, &registration.scopes, before, asked, Some(answered))
    });
    let now = app.now();
    let refresh_token_expires_at = answer.refresh_token_expires_in_s.map(|s| after(now, s));
    Ok(NewTokens { given: with_tokens(given, &answer, now), granted, refresh_token_expires_at })
}

/// Returns the refresh token of an otherwise unusable answer for storing: together with the present access token. None if the answer has
/// none.
pub fn rotated(given: &GivenCredentials, failure: &TokenFailure) -> Option<NewTokens> {
    let refresh_token = Some(failure.rotated.as_ref()?.secret().to_owned());
    let given = GivenCredentials { refresh_token, ..given.clone() };
    Some(NewTokens { given, granted: None, refresh_token_expires_at: None })
}

/// Returns the origin of the authorization server that renews a connection's tokens.
pub async fn origin(app: &App, connection: &Connection) -> Result<String> {
    let provider = oauth::provider(app, &connection.tenant, &connection.provider).await?;
    Ok(provider.endpoints.token_url.origin().ascii_serialization())
}

async fn request_tokens(
    app: &App,
    provider: &OAuthProvider,
    given: &GivenCredentials,
    scopes: &[String],
) -> Result<TokenAnswer, TokenFailure> {
    let token = given.refresh_token.as_deref().unwrap_or_default();
    match provider.refresh(app, token, scopes).await {
        // If the answer was lost, the token is used up, but many providers accept it again for some seconds.
        Err(failure) if failure.lost && provider.connector.manifest.auth.rotation == Rotation::Rotating => {
            provider.refresh(app, token, scopes).await
        }
        answer => answer,
    }
}

/// Returns the failure of a renewal whose provider cannot be resolved.
fn unresolved_failure(row: &Connection, e: &Error) -> TokenFailure {
    tracing::warn!(connection = %row.id, provider = row.provider, error = %e, "no authorization server can be asked");
    let passes = matches!(
        e.code(),
        None | Some(
            Code::ProviderUnavailable
                | Code::ProviderTimeout
                | Code::ProviderRateLimited
                | Code::Overloaded
                | Code::DatabaseUnavailable
                | Code::StorageFull
        )
    );
    TokenFailure::new(if passes { ErrorClass::Retry } else { ErrorClass::Operator }, false)
}

/// Returns the time `seconds` after `now`, ms.
fn after(now: i64, seconds: u64) -> i64 {
    now.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000))
}

/// Returns the credentials with new tokens. The refresh token is kept if the answer has none (RFC 6749, section 6).
fn with_tokens(old: &GivenCredentials, answer: &TokenAnswer, now: i64) -> GivenCredentials {
    let refresh_token = answer.refresh_token.as_ref().map(|token| token.to_string());
    GivenCredentials {
        access_token: Some(answer.access_token.to_string()),
        issued_at: Some(Instant::from_millis(now)),
        expires_at: Some(Instant::from_millis(after(now, answer.expires_in_s))),
        refresh_token: refresh_token.or_else(|| old.refresh_token.clone()),
        ..old.clone()
    }
}

/// The rows that are written together with new tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreExtent {
    /// The tokens, their entry in the log, and the job of the next renewal.
    Whole,
    /// The tokens.
    TokensAlone,
}

/// Stores new tokens in place of those of `row`, and returns them. None: the row has other tokens by now, or was deleted, and these are
/// dropped. While the database fails, the write is retried for as long as the process lives: tokens that are not stored are lost. If only
/// the log or the job fails, the tokens are stored without them, and the next renewal happens on use.
pub async fn store(
    app: &App,
    row: &Connection,
    state: &RefreshState,
    new: NewTokens,
    extent: StoreExtent,
) -> Result<Option<Tokens>> {
    let place = credentials::place(&row.id, &row.tenant);
    let sealed = app.keyring.seal(&place, serde_json::to_string(&new.given)?.as_bytes())?;
    let (mut wait, mut failures) = (FIRST_WAIT, 0_u32);
    loop {
        // The first failure may be transient. After it every other attempt writes the tokens alone.
        let is_pressing = failures > 1 && failures.is_multiple_of(2);
        let extent = if is_pressing { StoreExtent::TokensAlone } else { extent };
        let e = match write(app, row, state.grant.clone(), new.clone(), sealed.clone(), extent).await {
            Ok(is_stored) => {
                app.opened.clear();
                app.metrics.count_renewal("stored");
                let version = row.credentials_version + 1;
                return Ok(is_stored.then_some(Tokens { given: new.given, version }));
            }
            Err(e) => e,
        };
        app.metrics.count_renewal("not_stored");
        if failures.is_multiple_of(TOLD_EVERY) {
            tracing::error!(connection = %row.id, error = %e, "new tokens cannot be stored; it is tried again");
        }
        failures += 1;
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Returns whether the tokens were written.
async fn write(
    app: &App,
    row: &Connection,
    grant: Option<Grant>,
    new: NewTokens,
    sealed: String,
    extent: StoreExtent,
) -> Result<bool> {
    let (app, held, row) = (app.clone(), app.clone(), row.clone());
    held.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(lock) = ConnectionLock::take(tx, &row.tenant, &row.id).await? else {
                    // The account was disconnected: the tokens are unused.
                    if let Some(grant) = &grant {
                        revocation::enqueue(tx, &app, &row.tenant, &row.provider, grant, &new.given).await?;
                    }
                    return Ok(false);
                };
                if lock.credentials_version != row.credentials_version {
                    return Ok(false);
                }
                update(tx, &app, &lock, &new, sealed, extent).await?;
                Ok::<_, Error>(true)
            })
        })
        .await
}

async fn update(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    new: &NewTokens,
    sealed: String,
    extent: StoreExtent,
) -> Result<()> {
    let mut fresh = Connection::clone(lock);
    fresh.credentials = sealed;
    fresh.credentials_version += 1;
    fresh.token_expires_at = new.given.expires_at.map(Instant::as_millis);
    // If only the refresh token is new, the access token keeps its age.
    fresh.last_refresh_at = Some(new.given.issued_at.map_or_else(|| app.now(), Instant::as_millis));
    fresh.last_refresh_error = None;
    if let Some(granted) = &new.granted {
        fresh.granted_scopes = granted.granted.clone();
        fresh.provider_scopes = granted.provider.clone();
    }
    fresh.updated_at = app.now();
    fresh.etag = view::etag(&fresh);
    table::update(tx, lock, &fresh).await?;
    columns::renewed(tx, lock, new.refresh_token_expires_at).await?;
    if extent == StoreExtent::TokensAlone {
        return Ok(());
    }
    let states = sync_states::of_connection(&mut *tx, &fresh.id).await?;
    let body = view::json(app, &fresh, &states).to_string();
    let note = NewLogEntry::of_connection(&fresh, "token_refreshed", Some(body));
    event_log::append(tx, app, &fresh.tenant, vec![note]).await?;
    schedule(tx, app, &fresh, &new.given).await
}

/// Enqueues the renewal of tokens that are stored in this transaction, before they expire.
pub async fn schedule(
    tx: &mut Tx,
    app: &App,
    connection: &Connection,
    given: &GivenCredentials,
) -> Result<()> {
    let Some(due_at) = renewal(app, given) else { return Ok(()) };
    let new = NewJob {
        kind: JOB,
        key: &connection.id,
        class: JobClass::Upkeep,
        tenant: &connection.tenant,
        connection_id: Some(&connection.id),
        target: "",
        due_at: Some(due_at),
        args: None,
    };
    Ok(jobs::enqueue(tx, &new, app.now()).await?)
}

/// Returns the time of the tokens' background renewal, ms since 1970.
pub fn renewal(app: &App, given: &GivenCredentials) -> Option<i64> {
    let life = TokenLife::from_credentials(given).filter(|_| is_renewable(given))?;
    let [random] = app.entropy.bytes::<1>();
    Some(life.renewal(random))
}
