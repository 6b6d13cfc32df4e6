//! Writes the end of an authorization: its outcome, and the connection with its log entry, or the account that waits for its code, in one
//! transaction.

use base::error::{Code, Error, Result};
use storage::Tx;
use storage::authorizations::{self, Outcome, PendingAuthorization};

use crate::app::App;
use crate::connections::authorization::authorized_account::{
    self, AuthorizedAccount, IssuedTokens, NewGrant,
};
use crate::connections::authorization::outcome::{AuthorizationOutcome, Failure};
use crate::connections::authorization::{CODE_LIFETIME_MS, random_text, reconnection, unredeemed};
use crate::connections::revocation;

/// Attempts to write a connection whose account others sign in with at the same time.
const MAX_ATTEMPTS: usize = 3;

/// Ends an authorization without a connection. `unused`: tokens to revoke. None: it has already ended otherwise.
pub async fn end(
    app: &App,
    pending: &PendingAuthorization,
    ending: AuthorizationOutcome,
    unused: Option<IssuedTokens>,
) -> Result<Option<AuthorizationOutcome>> {
    let (app, pending) = (app.clone(), pending.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let ended = finish(tx, &app, &pending, ending).await?;
            if let Some(unused) = unused.filter(|_| ended.is_some()) {
                drop_tokens(tx, &app, &pending, &unused).await?;
            }
            Ok::<_, Error>(ended)
        })
    })
    .await
}

async fn drop_tokens(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    issued: &IssuedTokens,
) -> Result<()> {
    revocation::enqueue(tx, app, &pending.tenant, &pending.provider, &issued.grant, &issued.given).await
}

/// Ends an authorization with a connection: a new one, the one that it was for, or that of the same account (`reconnection`). If the client
/// has to exchange a code, the account waits for that, and nothing else changes. None: it has already ended otherwise, and nothing is written.
// Contract silent: with `codeChallenge` nobody but the client that began the authorization may end it. Until it has shown its verifier there is
// no connection, no event, and a connection that is authorized again has its old grant.
pub async fn connect(
    app: &App,
    pending: &PendingAuthorization,
    account: AuthorizedAccount,
) -> Result<Option<AuthorizationOutcome>> {
    for _ in 0..MAX_ATTEMPTS {
        match connect_once(app, pending, account.clone()).await {
            Err(e) if e.code() == Some(Code::AlreadyExists) => {}
            ended => return ended,
        }
    }
    let unused = account.issued(pending)?;
    end(app, pending, Failure::TemporarilyUnavailable.into(), Some(unused)).await
}

/// Same as `connect`, but fails with `already_exists`, and writes nothing, if the connections of the account change meanwhile.
async fn connect_once(
    app: &App,
    pending: &PendingAuthorization,
    account: AuthorizedAccount,
) -> Result<Option<AuthorizationOutcome>> {
    let (app, pending, held) = (app.clone(), pending.clone(), app.clone());
    let ended = held.db.write(move |tx| {
        Box::pin(async move {
            let (checked, granted) = (&account.checked, &account.granted_scopes);
            let renewed = reconnection::find(tx, &app, &pending, checked, granted).await?;
            let account = match renewed {
                Some(id) => AuthorizedAccount { id, reconnects: true, ..account },
                None => account,
            };
            let sealed = match &pending.code_challenge {
                Some(_) => Some(account.seal(&app, &pending)?),
                None => None,
            };
            let new = NewGrant::from_account(&app, &pending, account)?;
            let lock = match authorized_account::lock(tx, &pending, &new).await? {
                Ok(lock) => lock,
                // It was disconnected since it was found.
                Err(Failure::InvalidRequest) if new.reconnects => {
                    return Err(reconnection::connected_meanwhile());
                }
                Err(failure) => return refuse(tx, &app, &pending, failure, &new.issued).await,
            };
            let ended = finish(tx, &app, &pending, ending(&app, &pending, &new, sealed.is_some())).await?;
            match sealed {
                _ if ended.is_none() => {}
                Some(sealed) => {
                    unredeemed::hold_account(tx, &app, &pending, &sealed, &new.issued.grant).await?;
                }
                None => authorized_account::write(tx, &app, &pending, lock, new).await?,
            }
            Ok::<_, Error>(ended)
        })
    });
    let ended = ended.await?;
    held.opened.clear();
    Ok(ended)
}

/// Returns the outcome of an authorization with a connection. `waits`: it has a code that the client exchanges.
fn ending(app: &App, pending: &PendingAuthorization, new: &NewGrant, waits: bool) -> AuthorizationOutcome {
    let granted = &new.connection.granted_scopes;
    let missing = pending.requested_scopes.iter().filter(|scope| !granted.contains(scope)).cloned();
    AuthorizationOutcome::Connected {
        connection_id: new.connection.id.clone(),
        missing_scopes: missing.collect(),
        code: waits.then(|| format!("uc_ac_{}", random_text(app))),
    }
}

/// Ends an authorization for another account than the connection's, and has its tokens revoked.
async fn refuse(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    failure: Failure,
    issued: &IssuedTokens,
) -> Result<Option<AuthorizationOutcome>> {
    let ended = finish(tx, app, pending, failure.into()).await?;
    if ended.is_some() {
        drop_tokens(tx, app, pending, issued).await?;
    }
    Ok(ended)
}

/// Writes the outcome if this claim still holds the authorization.
async fn finish(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    ending: AuthorizationOutcome,
) -> Result<Option<AuthorizationOutcome>> {
    let at = app.now();
    let code = match &ending {
        AuthorizationOutcome::Connected { code: Some(code), .. } => {
            Some((app.keyring.api_key_hash(code), at + CODE_LIFETIME_MS))
        }
        _ => None,
    };
    let outcome = Outcome { at, result: ending.stored(), code };
    let is_ours = authorizations::finish(tx, &pending.state_hash, pending.fence, &outcome).await?;
    Ok(is_ours.then_some(ending))
}
