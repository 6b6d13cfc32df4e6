//! Checks the credentials of a connection again on request.

use base::error::{Code, Error, Refusal, Result, not_found, refuse};
use runtime::{CredentialsError, LoadedConnector};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::scheduling::meeting_events::EVENT_JOB;
use storage::{connections as table, job_claims, sync_states};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::check::{self, CheckedAccount};
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::new_tokens::is_renewable;
use crate::connections::settings::{connector, settings_of};
use crate::connections::token_life::TokenLife;
use crate::connections::token_refresh::{self, RequiredTokens};
use crate::connections::{find, state, view};

/// Age below which tokens are not renewed on request, ms.
const YOUNG_MS: i64 = 30_000;

/// Checks the stored credentials again, OAuth tokens after a renewal; the provider's answer decides the status.
pub async fn refresh(
    app: &App,
    connection: Connection,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("refresh:{}", connection.id)).await;
    let connection = find(app, &connection.tenant, &connection.id).await?;
    let connector = connector(app, &connection.provider)?;
    let given = renew_credentials(app, &connection).await?;
    let settings = settings_of(app, &connection);
    match check::run(app, &connection.tenant, &connector, &connection.id, &settings, &given).await {
        Ok(checked) => store_refreshed(app, &connection, &connector, checked, attempt).await,
        Err(Error::Refused(r)) if matches!(r.code, Code::ProviderRejected | Code::ReauthRequired) => {
            state::mark_reauth_required(app, &connection, &r).await?;
            Err(Refusal { code: Code::ReauthRequired, ..*r }.into())
        }
        Err(e) => {
            if state::is_outage(&e) {
                state::unanswered(app, &connection).await;
            }
            Err(e)
        }
    }
}

/// Returns the credentials to check: the stored ones, or new tokens in their place. Fails with `reauth_required` if they cannot be renewed
/// any more, and with `provider_unavailable` if they cannot be renewed now.
async fn renew_credentials(app: &App, connection: &Connection) -> Result<GivenCredentials> {
    let given = credentials::stored(app, connection)?;
    let is_young = TokenLife::from_credentials(&given).is_some_and(|life| life.age(app.now()) < YOUNG_MS);
    if !is_renewable(&given) || is_young {
        return Ok(given);
    }
    let need = RequiredTokens { after: Some(connection.credentials_version), is_asked_for: true };
    match token_refresh::tokens(app, connection, need).await {
        Ok(tokens) => Ok(tokens.given),
        Err(CredentialsError::Refused(_)) => {
            let message = "the provider no longer renews this connection's access; connect the account again";
            Err(refuse(Code::ReauthRequired, message))
        }
        Err(CredentialsError::Unavailable { message, retry_after_ms }) => {
            let wait_s = retry_after_ms.unwrap_or(1_000).div_ceil(1_000);
            Err(Refusal::new(Code::ProviderUnavailable, message).retry_after_s(wait_s).into())
        }
    }
}

/// Stores that the provider accepted the credentials. Reads the row again: another request may have changed it, or disconnected the
/// account, while the provider was asked.
async fn store_refreshed(
    app: &App,
    connection: &Connection,
    connector: &LoadedConnector,
    checked: CheckedAccount,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let (version, attempt) = (connector.manifest.version.clone(), attempt.clone());
    let (app, held) = (app.clone(), app.clone());
    let answer = held.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &tenant, &id).await?;
            let lock = lock.ok_or_else(|| not_found("connection"))?;
            let mut fresh = Connection::clone(&lock);
            let change = if fresh.status == "active" { "updated" } else { "recovered" };
            fresh.connector_version = version;
            fresh.settings = checked.settings;
            fresh.last_refresh_at = Some(app.now());
            fresh.last_refresh_error = None;
            fresh.failing_since = None;
            state::set_status(&app, &mut fresh, "active", None);
            fresh.updated_at = app.now();
            fresh.etag = view::etag(&fresh);
            table::update(tx, &lock, &fresh).await?;
            sync_states::forget_attempts(tx, &fresh.id).await?;
            let states = sync_states::of_connection(&mut *tx, &fresh.id).await?;
            let body = view::json(&app, &fresh, &states).to_string();
            let answer = StoredResponse::ok(body.clone()).warned(&[]).etag(&fresh.etag);
            let note = NewLogEntry::of_connection(&fresh, change, Some(body));
            event_log::append(tx, &app, &fresh.tenant, vec![note]).await?;
            job_claims::evict_of_connection(tx, &lock, app.now()).await?;
            // Events of bookings that could not be written or deleted while the account was unusable.
            job_claims::hurry_of_connection(tx, &lock, EVENT_JOB, app.now()).await?;
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    held.opened.clear();
    Ok(answer)
}
