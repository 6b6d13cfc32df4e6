//! The job kind `authorization`: drops a waiting account once its client's code has expired, and has its tokens revoked at the provider.
//! Each waiting account has one job, enqueued with the code.

use base::error::{Error, Result};
use storage::authorizations::{self, PendingAuthorization};
use storage::jobs::{self, NewJob};
use storage::wakes::JobClass;
use storage::{Tx, token_refresh::Grant};

use crate::app::App;
use crate::connections::authorization::CODE_LIFETIME_MS;
use crate::connections::authorization::authorized_account::AuthorizedAccount;
use crate::connections::revocation;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key of a job is the hash of the authorization's `state`.
pub const EXPIRE_CODE: JobKind = JobKind {
    name: "authorization",
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 15 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (turn.app.clone(), turn.job.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let now = app.now();
            let pending = authorizations::lock(tx, job.key()).await?;
            if let Some(pending) = pending.filter(|pending| pending.account.is_some()) {
                match pending.code_expires_at.filter(|at| *at > now) {
                    Some(at) => return Ok(JobEnd::At(at)),
                    None => drop_account(tx, &app, &pending).await?,
                }
            }
            jobs::complete(tx, &job, now).await?;
            Ok::<_, Error>(JobEnd::Committed)
        })
    })
    .await
}

/// Stores a sealed account until the code of its authorization is exchanged or expires, in the transaction that creates the code.
pub async fn hold_account(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    sealed: &str,
    grant: &Grant,
) -> Result<()> {
    authorizations::hold_account(tx, &pending.state_hash, sealed, grant).await?;
    let now = app.now();
    let job = NewJob {
        kind: EXPIRE_CODE.name,
        key: &pending.state_hash,
        class: EXPIRE_CODE.class,
        tenant: &pending.tenant,
        // The account is also dropped when its connection is deleted.
        connection_id: None,
        target: "",
        due_at: Some(now + CODE_LIFETIME_MS),
        args: None,
    };
    Ok(jobs::enqueue(tx, &job, now).await?)
}

/// Drops the account that waits for a code, if there is one, and has its tokens revoked, unless a connection has the same grant.
pub async fn drop_account(tx: &mut Tx, app: &App, pending: &PendingAuthorization) -> Result<()> {
    if pending.account.is_none() {
        return Ok(());
    }
    authorizations::release_account(tx, &pending.state_hash).await?;
    tracing::info!(provider = pending.provider, "an account is dropped: its code was not exchanged");
    let issued = AuthorizedAccount::open(app, pending)
        .and_then(|account| account.map(|account| account.issued(pending)).transpose());
    match issued {
        Ok(Some(issued)) => {
            revocation::enqueue(tx, app, &pending.tenant, &pending.provider, &issued.grant, &issued.given)
                .await
        }
        Ok(None) => Ok(()),
        // An account that cannot be opened can still be dropped.
        Err(e) => {
            tracing::warn!(provider = pending.provider, error = %e, "the tokens of an account cannot be revoked");
            Ok(())
        }
    }
}
