//! Revokes grants at providers that support it (RFC 7009): for accounts that were disconnected, and for accounts that were authorized and
//! not connected. A job does it after the commit, so that no request waits for the provider. It does nothing while a live connection has
//! the same grant, since most providers revoke all of a grant's tokens together.

use anyhow::Context;
use base::error::{Code, Error, Refusal, Result};
use base::ids::Kind;
use base::tenant::Tenant;
use serde::{Deserialize, Serialize};
use storage::jobs::{self, Job, NewJob};
use storage::locked::ConnectionLock;
use storage::token_refresh::Grant;
use storage::token_revocations::Revocation;
use storage::wakes::JobClass;
use storage::{Tx, token_refresh as columns, token_revocations as table};

use crate::app::App;
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::oauth;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key of a job is the id of a revocation. All attempts together take about an hour.
pub const REVOKE: JobKind = JobKind {
    name: "revoke",
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: Some(8),
    retry: RetryDelay { first_ms: 30_000, longest_ms: 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

/// The content of `token_revocations.token`, before sealing.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SealedToken {
    token: String,
    is_refresh_token: bool,
    /// The client id that the token was issued to.
    client_id: String,
}

/// Returns the context that a sealed token is bound to.
fn place(id: &str, tenant: &Tenant) -> String {
    format!("token_revocations.token:{id}:{}", tenant.organization_id)
}

/// Returns the grant and tokens to revoke of a connection that is disconnected in this transaction; none for one without OAuth.
pub async fn find_grant(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
) -> Result<Option<(Grant, GivenCredentials)>> {
    let state = columns::find(&mut *tx, &lock.tenant, &lock.id).await?;
    let Some(grant) = state.and_then(|state| state.grant) else { return Ok(None) };
    match credentials::stored(app, lock) {
        Ok(given) => Ok(Some((grant, given))),
        Err(e) => {
            // An account whose credentials are damaged can still be disconnected.
            tracing::warn!(connection = %lock.id, error = %e, "the tokens of a connection cannot be revoked");
            Ok(None)
        }
    }
}

/// Enqueues the revocation of tokens that are unused after this transaction.
pub async fn enqueue(
    tx: &mut Tx,
    app: &App,
    tenant: &Tenant,
    provider: &str,
    grant: &Grant,
    given: &GivenCredentials,
) -> Result<()> {
    let token = given.refresh_token.as_ref().or(given.access_token.as_ref());
    let (Some(client_id), Some(token)) = (&given.oauth_client_id, token) else { return Ok(()) };
    let content = SealedToken {
        token: token.clone(),
        is_refresh_token: given.refresh_token.is_some(),
        client_id: client_id.clone(),
    };
    let id = app.new_id(Kind::TokenRevocation);
    let new = Revocation {
        token: app.keyring.seal(&place(&id, tenant), &serde_json::to_vec(&content)?)?,
        tenant: tenant.clone(),
        provider: provider.to_owned(),
        grant: grant.clone(),
        created_at: app.now(),
        id,
    };
    table::insert(tx, &new).await?;
    let job = NewJob {
        kind: REVOKE.name,
        key: &new.id,
        class: REVOKE.class,
        tenant,
        // The connection is deleted, and its jobs with it.
        connection_id: None,
        target: "",
        due_at: Some(app.now()),
        args: None,
    };
    Ok(jobs::enqueue(tx, &job, app.now()).await?)
}

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    match revoke(app, job.key()).await {
        Ok(()) => {
            commit(app, job).await?;
            Ok(JobEnd::Committed)
        }
        Err(e) => {
            if turn.is_last {
                give_up(app, job.key().to_owned()).await?;
            }
            Err(e)
        }
    }
}

/// Deletes the token and ends the job, in one transaction.
async fn commit(app: &App, job: &Job) -> Result<()> {
    let (now, job) = (app.now(), job.clone());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                table::remove(tx, job.key()).await?;
                jobs::complete(tx, &job, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}

/// Deletes a token whose provider could not be reached: it will expire. The job stays, as failed, and can be retried without this row.
async fn give_up(app: &App, id: String) -> Result<()> {
    app.db.write(move |tx| Box::pin(async move { Ok::<_, Error>(table::remove(tx, &id).await?) })).await
}

/// Revokes the grant of a token at the provider, unless a live connection has it. An error means that it should be retried; otherwise
/// nothing is left to do.
async fn revoke(app: &App, id: &str) -> Result<()> {
    let Some(found) = table::find(app.db.reader(), id).await? else { return Ok(()) };
    if columns::is_in_use(app.db.reader(), &found.grant).await? {
        return Ok(());
    }
    let text = app.keyring.open(&place(id, &found.tenant), &found.token)?;
    let revoked: SealedToken = serde_json::from_slice(&text).context("a token to revoke")?;
    let provider = match oauth::provider(app, &found.tenant, &found.provider).await {
        Ok(provider) => provider,
        // The client is not registered any more.
        Err(Error::Refused(r)) if is_gone(r.code) => return Ok(()),
        Err(e) => return Err(e),
    };
    if provider.registration.client_id != revoked.client_id {
        return Ok(());
    }
    let done = provider.revoke(app, &revoked.token, revoked.is_refresh_token).await;
    done.map_err(|failure| {
        let mut refusal = Refusal::new(Code::ProviderUnavailable, failure.to_string());
        let wait_ms = failure.retry_after_ms.and_then(|ms| u64::try_from(ms).ok());
        refusal.retry_after_s = wait_ms.map(|ms| ms.div_ceil(1_000));
        refusal.into()
    })
}

fn is_gone(code: Code) -> bool {
    matches!(code, Code::NotFound | Code::CapabilityNotSupported | Code::ProviderNotRegistered)
}
