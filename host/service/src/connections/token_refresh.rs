//! Renewal of access tokens of OAuth connections (RFC 6749, section 6): on use, when the provider refuses one, and in the background before
//! one expires. One request is made however many callers need new tokens: tasks of this process wait for a lock, other hosts for a claim in
//! the database. The version of the credentials alone protects the stored tokens: a claim only saves requests, and correctness does not
//! depend on it.

use std::fmt::Display;
use std::time::Duration;

use base::error::{Code, Error, Refusal, Result};
use base::tenant::Tenant;
use runtime::{CredentialsError, ErrorClass};
use serde_json::{Value, json};
use storage::connections::Connection;
use storage::jobs::Job;
use storage::lane::Lane;
use storage::locked::ConnectionLock;
use storage::token_refresh::{RefreshClaim, RefreshState};
use storage::wakes::JobClass;
use storage::{connections as table, token_refresh as columns};

use crate::app::App;
use crate::connections::new_tokens::{self, StoreExtent, Tokens, is_renewable, renewal};
use crate::connections::oauth::TokenFailure;
use crate::connections::token_life::TokenLife;
use crate::connections::{credentials, state};
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// Time that a caller waits for new tokens. The request itself continues.
const PATIENCE: Duration = Duration::from_secs(25);
/// Lifetime of a claim, ms: longer than a request and the commit of its result may take.
const CLAIM_MS: i64 = 45_000;
/// Interval between checks whether another host has finished.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Maximum restarts because another host changed the credentials.
const ROUNDS: usize = 5;
/// Delay of a background renewal that got no permit, ms.
const TURN_WAIT_MS: i64 = 1_000;
/// Waits after transient failures, ms: doubled with each one.
const FIRST_WAIT_MS: i64 = 30_000;
const LONGEST_WAIT_MS: i64 = 15 * 60_000;
/// Wait after a failure that only the operator can fix, ms.
const OPERATOR_WAIT_MS: i64 = 5 * 60_000;

/// The tokens that a caller needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequiredTokens {
    /// Requires newer tokens than this version, which the provider refuses or which is due for renewal. None: any valid ones.
    pub after: Option<i64>,
    /// Whether a client who may have fixed the cause requested them: failures that only the operator can fix are then retried at once.
    pub is_asked_for: bool,
}

/// Returns the tokens that a caller needs: the stored ones, or new ones, which are already stored. `connection` may be an older state of
/// the row. Fails with `Refused` if the account has to be connected again, which is also stored in the connection's state, and with
/// `Unavailable` if there are none at the moment.
pub async fn tokens(
    app: &App,
    connection: &Connection,
    need: RequiredTokens,
) -> Result<Tokens, CredentialsError> {
    let (app, tenant, id) = (app.clone(), connection.tenant.clone(), connection.id.clone());
    // A caller that stops waiting does not stop the renewal: at many providers, losing the new tokens ends the grant.
    let work = Lane::current().spawn(async move { alone(&app, &tenant, &id, need).await });
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(e)) => Err(internal(&connection.id, e)),
        Err(_) => Err(unavailable("the provider's authorization server takes long to answer", 1_000)),
    }
}

async fn alone(
    app: &App,
    tenant: &Tenant,
    id: &str,
    need: RequiredTokens,
) -> Result<Tokens, CredentialsError> {
    let _alone = app.locks.lock(&format!("token:{id}")).await;
    for _ in 0..ROUNDS {
        if let Some(tokens) = attempt(app, tenant, id, need).await? {
            return Ok(tokens);
        }
    }
    Err(unavailable("the credentials are being renewed; try again", 1_000))
}

/// Tries once to get the tokens. None: another host was renewing them, so the row must be read again.
async fn attempt(
    app: &App,
    tenant: &Tenant,
    id: &str,
    need: RequiredTokens,
) -> Result<Option<Tokens>, CredentialsError> {
    let failed = |e: anyhow::Error| internal(id, format!("{e:#}"));
    let Some(row) = table::find(app.db.reader(), tenant, id).await.map_err(failed)? else {
        return Err(CredentialsError::Refused("the account was disconnected".to_owned()));
    };
    if row.status == "reauth_required" && !need.is_asked_for {
        return Err(refused_error());
    }
    let given = credentials::stored(app, &row).map_err(|e| internal(id, e))?;
    let tokens = Tokens { given, version: row.credentials_version };
    let is_wanted = need.after.is_none_or(|version| tokens.version > version);
    let life = TokenLife::from_credentials(&tokens.given);
    if is_wanted && life.is_none_or(|life| life.is_fresh(app.now())) {
        return Ok(Some(tokens));
    }
    if !is_renewable(&tokens.given) {
        return if is_wanted { Ok(Some(tokens)) } else { Err(refused_error()) };
    }
    let state = columns::find(app.db.reader(), tenant, id).await.map_err(failed)?;
    let Some(state) = state.filter(|state| state.version == row.credentials_version) else { return Ok(None) };
    let old = Some(tokens.clone()).filter(|_| is_wanted && life.is_some_and(|life| life.is_good(app.now())));
    if let Some(until) = held_until(&row, &state, need, app.now()) {
        let wait = until - app.now();
        return old.map(Some).ok_or_else(|| unavailable(SILENT, wait));
    }
    // Held until the new tokens are stored.
    let Some(under_way) = app.renewals.begin() else {
        return old.map(Some).ok_or_else(|| unavailable(STOPPING, 1_000));
    };
    if app.db.is_shared() && !claim(app, &row).await.map_err(failed)? {
        drop(under_way);
        wait_for_other(app, &row).await.map_err(failed)?;
        return Ok(None);
    }
    match new_tokens::ask(app, &row, &tokens.given).await {
        Ok(new) => {
            let stored = new_tokens::store(app, &row, &state, new, StoreExtent::Whole).await;
            stored.map_err(|e| internal(id, e))
        }
        Err(failure) => {
            // Stored before the failure is handled any further.
            let Some(row) = keep_rotated(app, row, &state, &tokens, &failure).await? else { return Ok(None) };
            if ends_grant(failure.class) {
                app.metrics.count_renewal("reauthorize");
                return end(app, &row, &state, &failure).await;
            }
            let is_operators = failure.class == ErrorClass::Operator;
            app.metrics.count_renewal(if is_operators { "operator" } else { "retry" });
            let wait = block(app, &row, &state, &failure).await;
            let message = if is_operators { MISFIT } else { SILENT };
            old.map(Some).ok_or_else(|| unavailable(message, wait))
        }
    }
}

/// Stores the refresh token that came with unusable tokens: the next renewal has to send it. Returns the updated row; none if it has other
/// credentials by now.
async fn keep_rotated(
    app: &App,
    row: Connection,
    state: &RefreshState,
    tokens: &Tokens,
    failure: &TokenFailure,
) -> Result<Option<Connection>, CredentialsError> {
    let Some(new) = new_tokens::rotated(&tokens.given, failure) else { return Ok(Some(row)) };
    let stored = new_tokens::store(app, &row, state, new, StoreExtent::TokensAlone).await;
    let stored = stored.map_err(|e| internal(&row.id, e))?;
    Ok(stored.map(|stored| Connection { credentials_version: stored.version, ..row }))
}

/// The messages to API clients while there are no tokens.
const SILENT: &str = "the provider's authorization server does not answer; the connection stays as it is";
const STOPPING: &str = "this host is about to stop; try again";
const MISFIT: &str = "the provider refuses this application's registration, which its operator has to correct; the connection stays as it is";

fn refused_error() -> CredentialsError {
    CredentialsError::Refused("the account has to be connected again".to_owned())
}

fn unavailable(message: &str, wait_ms: i64) -> CredentialsError {
    let retry_after_ms = Some(u64::try_from(wait_ms.max(1_000)).unwrap_or(1_000));
    CredentialsError::Unavailable { message: message.to_owned(), retry_after_ms }
}

/// Logs a failure of this host, which says nothing about the account, and returns the error.
fn internal(id: &str, e: impl Display) -> CredentialsError {
    tracing::error!(connection = id, error = %e, "the tokens of a connection cannot be renewed");
    unavailable("the credentials cannot be renewed now; try again", 1_000)
}

/// Returns the time before which the authorization server must not be asked, ms since 1970, if it is in the future.
fn held_until(row: &Connection, state: &RefreshState, need: RequiredTokens, now: i64) -> Option<i64> {
    let until = state.blocked_until.filter(|until| *until > now)?;
    let error = row.last_refresh_error.as_deref().and_then(|e| serde_json::from_str::<Value>(e).ok());
    let is_operators = error.is_some_and(|e| e["code"] == Code::ProviderError.as_str());
    (!(need.is_asked_for && is_operators)).then_some(until)
}

async fn claim(app: &App, row: &Connection) -> anyhow::Result<bool> {
    let (tenant, id, version) = (row.tenant.clone(), row.id.clone(), row.credentials_version);
    let by = RefreshClaim { owner: app.boot.clone(), now: app.now(), until: app.now() + CLAIM_MS };
    app.db
        .write(move |tx| Box::pin(async move { columns::claim(tx, &tenant, &id, version, &by).await }))
        .await
}

/// Waits until the other host has finished, or its claim has expired.
async fn wait_for_other(app: &App, row: &Connection) -> anyhow::Result<()> {
    let mut waited = Duration::ZERO;
    while waited < PATIENCE {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        let state = columns::find(app.db.reader(), &row.tenant, &row.id).await?;
        let is_over = state.is_none_or(|state| {
            state.version != row.credentials_version
                || state.claimed_until.is_none_or(|until| until <= app.now())
        });
        if is_over {
            break;
        }
    }
    Ok(())
}

/// Whether after this failure the user has to authorize the connection again.
fn ends_grant(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Reauthorize
        | ErrorClass::ConsentMissing
        | ErrorClass::AdminBlocked
        | ErrorClass::Denied => true,
        ErrorClass::Operator | ErrorClass::Retry => false,
    }
}

/// Records once in the connection that the grant has ended, unless the credentials were changed since.
async fn end(
    app: &App,
    row: &Connection,
    state: &RefreshState,
    failure: &TokenFailure,
) -> Result<Option<Tokens>, CredentialsError> {
    let is_over = state.refresh_token_expires_at.is_some_and(|at| at <= app.now());
    let reason = match failure.class {
        ErrorClass::ConsentMissing => "consent_missing",
        ErrorClass::AdminBlocked => "admin_blocked",
        _ if is_over => "token_expired",
        _ => "token_revoked",
    };
    let message = "the provider no longer renews this connection's access; connect the account again";
    let why = Refusal::new(Code::ReauthRequired, message);
    state::mark_token_refused(app, row, reason, &why).await.map_err(|e| internal(&row.id, e))?;
    if app.db.is_shared() {
        let (tenant, id, owner) = (row.tenant.clone(), row.id.clone(), app.boot.clone());
        let released: anyhow::Result<()> = app
            .db
            .write(move |tx| Box::pin(async move { columns::release(tx, &tenant, &id, &owner).await }))
            .await;
        released.map_err(|e| internal(&row.id, format!("{e:#}")))?;
    }
    let found = table::find(app.db.reader(), &row.tenant, &row.id).await;
    let found = found.map_err(|e| internal(&row.id, format!("{e:#}")))?;
    match found.is_some_and(|found| found.credentials_version != row.credentials_version) {
        true => Ok(None),
        false => Err(refused_error()),
    }
}

/// Records a failure that says nothing about the account. Returns the wait before the next request to the authorization server, ms.
async fn block(app: &App, row: &Connection, state: &RefreshState, failure: &TokenFailure) -> i64 {
    let wait = wait_ms(failure, state.failures);
    let (code, message) = match failure.class {
        ErrorClass::Operator => (Code::ProviderError, MISFIT),
        _ => (Code::ProviderUnavailable, SILENT),
    };
    match failure.class {
        ErrorClass::Operator => {
            tracing::error!(connection = %row.id, provider = row.provider, error = failure.error, "{MISFIT}");
        }
        _ => tracing::warn!(connection = %row.id, provider = row.provider, error = failure.error, "{SILENT}"),
    }
    let error = json!({ "code": code.as_str(), "message": message, "at": app.clock.now() }).to_string();
    let (row_then, until, failures) = (row.clone(), app.now() + wait, state.failures + 1);
    let written = app.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &row_then.tenant, &row_then.id).await?;
            let of_then = |lock: &ConnectionLock| lock.credentials_version == row_then.credentials_version;
            let Some(lock) = lock.filter(of_then) else { return Ok(()) };
            let fresh = Connection { last_refresh_error: Some(error), ..Connection::clone(&lock) };
            table::update(tx, &lock, &fresh).await?;
            columns::block(tx, &lock, until, failures).await?;
            Ok::<_, Error>(())
        })
    });
    if let Err(e) = written.await {
        tracing::error!(connection = %row.id, error = %e, "the failure of a token renewal cannot be stored");
    }
    if failure.class == ErrorClass::Retry {
        state::unanswered(app, row).await;
    }
    wait
}

/// Returns the wait after a failure, ms. `failures`: the number of earlier failures.
fn wait_ms(failure: &TokenFailure, failures: i64) -> i64 {
    let doubled = FIRST_WAIT_MS.saturating_mul(1 << failures.clamp(0, 20)).min(LONGEST_WAIT_MS);
    match (failure.class, failure.retry_after_ms) {
        (ErrorClass::Operator, _) => OPERATOR_WAIT_MS,
        (_, None) => doubled,
        // The server asked for an immediate retry, or for a time that is past by this host's clock: the waits still grow, starting at a
        // second.
        (_, Some(0)) => doubled / (FIRST_WAIT_MS / 1_000),
        (_, Some(ms)) => ms.max(1_000),
    }
}

/// The job kind that renews the tokens of a connection before they expire. Each OAuth connection has one job, enqueued with its tokens.
pub const REFRESH: JobKind = JobKind {
    name: new_tokens::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(90_000),
    // Only failures of this host count: a failure of the provider ends a run normally.
    max_attempts: None,
    retry: RetryDelay { first_ms: 30_000, longest_ms: 15 * 60_000 },
    run: |turn| Box::pin(renew_ahead(&turn.app, &turn.job)),
};

/// Renews the tokens of the job's connection if a renewal is due.
async fn renew_ahead(app: &App, job: &Job) -> Result<JobEnd> {
    let Some(connection) = table::find(app.db.reader(), &job.tenant, job.key()).await? else {
        return Ok(JobEnd::Done);
    };
    let given = credentials::stored(app, &connection)?;
    let life = TokenLife::from_credentials(&given).filter(|_| is_renewable(&given));
    let Some(life) = life.filter(|_| connection.status != "reauth_required") else {
        return Ok(JobEnd::Done);
    };
    if app.now() < life.earliest_renewal() {
        return Ok(renewal(app, &given).map_or(JobEnd::Done, JobEnd::At));
    }
    // If the authorization server is unknown now, `tokens` detects and stores that.
    let origin = new_tokens::origin(app, &connection).await.unwrap_or_default();
    let Some(_turn) = app.renewals.turn(&origin) else {
        return Ok(JobEnd::PutOff(app.now() + TURN_WAIT_MS));
    };
    let need = RequiredTokens { after: Some(connection.credentials_version), is_asked_for: false };
    Ok(match tokens(app, &connection, need).await {
        Ok(new) => renewal(app, &new.given).map_or(JobEnd::Done, JobEnd::At),
        Err(CredentialsError::Refused(_)) => JobEnd::Done,
        Err(CredentialsError::Unavailable { retry_after_ms, .. }) => {
            let wait = retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(FIRST_WAIT_MS);
            JobEnd::PutOff(app.now() + wait)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_unless_the_provider_names_one() {
        let failure =
            |class, retry_after_ms| TokenFailure { retry_after_ms, ..TokenFailure::new(class, true) };
        for (class, asked, failures, wanted) in [
            (ErrorClass::Retry, None, 0, 30_000),
            (ErrorClass::Retry, None, 3, 240_000),
            (ErrorClass::Retry, None, i64::MAX, 900_000),
            (ErrorClass::Retry, Some(7_000), 3, 7_000),
            (ErrorClass::Retry, Some(0), 0, 1_000),
            (ErrorClass::Retry, Some(0), 3, 8_000),
            (ErrorClass::Retry, Some(0), i64::MAX, 30_000),
            (ErrorClass::Operator, Some(7_000), 0, 300_000),
        ] {
            assert_eq!(wait_ms(&failure(class, asked), failures), wanted, "{class:?} {asked:?} {failures}");
        }
    }
}
