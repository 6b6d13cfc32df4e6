//! The end of a grant at the provider (RFC 7009), as far as it takes part: for accounts that were disconnected, and for those that were let in
//! and not connected. A job does it after the commit, so that nobody waits for the provider; and it does nothing while a connection lives
//! that has the same grant, since most providers end all of a grant's tokens with one.

use anyhow::Context;
use base::error::{Code, Error, Refusal, Result};
use base::ids::Kind;
use base::tenant::Tenant;
use serde::{Deserialize, Serialize};
use storage::jobs::{self, NewJob};
use storage::locked::ConnectionLock;
use storage::token_refresh::Grant;
use storage::token_revocations::Revocation;
use storage::wakes::JobClass;
use storage::{Tx, token_refresh as columns, token_revocations as table};

use crate::app::App;
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::oauth;

/// The kind of the jobs; their keys are ids of revocations.
pub const JOB: &str = "revoke";

/// What is sealed in `token_revocations.token`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SealedToken {
    token: String,
    is_refresh_token: bool,
    /// Whom it was issued to.
    client_id: String,
}

/// Where a sealed token belongs.
fn place(id: &str, tenant: &Tenant) -> String {
    format!("token_revocations.token:{id}:{}", tenant.organization_id)
}

/// What is to be revoked of a connection that is disconnected in this transaction; none where it has nothing of OAuth.
pub async fn of(tx: &mut Tx, app: &App, lock: &ConnectionLock) -> Result<Option<(Grant, GivenCredentials)>> {
    let state = columns::find(&mut *tx, &lock.tenant, &lock.id).await?;
    let Some(grant) = state.and_then(|state| state.grant) else { return Ok(None) };
    match credentials::stored(app, lock) {
        Ok(given) => Ok(Some((grant, given))),
        Err(e) => {
            // An account whose credentials are damaged can be disconnected all the same.
            tracing::warn!(connection = %lock.id, error = %e, "the tokens of a connection cannot be revoked");
            Ok(None)
        }
    }
}

/// Has tokens revoked that nobody needs after this transaction.
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
        kind: JOB,
        key: &new.id,
        class: JobClass::Upkeep,
        tenant,
        // The connection is gone, and its jobs go with it.
        connection_id: None,
        target: "",
        due_at: Some(app.now()),
        args: None,
    };
    Ok(jobs::enqueue(tx, &job, app.now()).await?)
}

/// Asks the provider to end the grant of a token, unless a connection lives that has it. An error: it is to be tried again; else there is
/// nothing left to do.
pub async fn revoke(app: &App, id: &str) -> Result<()> {
    let Some(found) = table::find(app.db.reader(), id).await? else { return Ok(()) };
    if columns::is_in_use(app.db.reader(), &found.grant).await? {
        return Ok(());
    }
    let text = app.keyring.open(&place(id, &found.tenant), &found.token)?;
    let revoked: SealedToken = serde_json::from_slice(&text).context("a token to revoke")?;
    let provider = match oauth::provider(app, &found.tenant, &found.provider).await {
        Ok(provider) => provider,
        // Nobody knows the client any more.
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

/// Forgets a token: it is revoked, or given up.
pub async fn forget(tx: &mut Tx, id: &str) -> Result<()> {
    Ok(table::remove(tx, id).await?)
}
