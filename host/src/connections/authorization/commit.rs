//! How an authorization ends in the store: its outcome, the connection and the log entry in one transaction, or none of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::error::{Error, Result};
use runtime::Loaded;
use storage::Tx;
use storage::authorizations::{self, Outcome, PendingAuthorization};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::token_refresh::{self, Grant};

use crate::app::App;
use crate::connections::authorization::outcome::{AuthorizationOutcome, Failure};
use crate::connections::authorization::{CODE_LIFETIME_MS, random_text};
use crate::connections::check::CheckedAccount;
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::oauth::endpoints::ProviderEndpoints;
use crate::connections::oauth::grant;
use crate::connections::{self, new_tokens, revocation, view};

/// An account that the user let this host into, before it is a connection.
pub struct AuthorizedAccount {
    /// Of the connection: a new id, or that of the connection that is authorized again.
    pub id: String,
    pub connector: Arc<Loaded>,
    pub given: GivenCredentials,
    /// Milliseconds since 1970, where the provider tells.
    pub refresh_token_expires_at: Option<i64>,
    /// Ours.
    pub granted_scopes: Vec<String>,
    pub checked: CheckedAccount,
    /// Of a new connection.
    pub tags: BTreeMap<String, String>,
}

/// Tokens that the provider issued, and what they are part of.
#[derive(Clone)]
pub struct IssuedTokens {
    pub given: GivenCredentials,
    pub grant: Grant,
}

/// Ends an authorization without a connection. `unused`: tokens of an account that was let in; they are revoked. None: it has ended otherwise
/// meanwhile.
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
    let whose = (&pending.tenant, pending.provider.as_str());
    revocation::enqueue(tx, app, whose, &issued.grant, &issued.given).await
}

/// Ends an authorization with a connection: a new one, or the one that it was for. None: it has ended otherwise meanwhile, and nothing is
/// written.
pub async fn connect(
    app: &App,
    pending: &PendingAuthorization,
    account: AuthorizedAccount,
) -> Result<Option<AuthorizationOutcome>> {
    let is_new = pending.connection_id.is_none();
    let refresh_token_expires_at = account.refresh_token_expires_at;
    let (connection, given) = assembled(app, pending, account)?;
    let client_id = given.oauth_client_id.as_deref().unwrap_or_default();
    let token_url = ProviderEndpoints::from_stored(&pending.endpoints)?.token_url;
    let grant = grant::of(&token_url, client_id, Some(&connection.external_account_id));
    let new = NewGrant { connection, issued: IssuedTokens { given, grant }, refresh_token_expires_at };
    let granted = &new.connection.granted_scopes;
    let missing = pending.requested_scopes.iter().filter(|scope| !granted.contains(scope)).cloned();
    let ending = AuthorizationOutcome::Connected {
        connection_id: new.connection.id.clone(),
        missing_scopes: missing.collect(),
        code: pending.code_challenge.as_ref().map(|_| format!("uc_ac_{}", random_text(app))),
    };
    let (app, pending, held) = (app.clone(), pending.clone(), app.clone());
    let ended = held.db.write(move |tx| {
        Box::pin(async move {
            if !is_new {
                return reauthorize(tx, &app, &pending, new, ending).await;
            }
            let ended = finish(tx, &app, &pending, ending).await?;
            if ended.is_some() {
                let body = view::json(&app, &new.connection, &[]).to_string();
                connections::insert(tx, &app, &new.connection, body).await?;
                keep_tokens(tx, &app, &new.connection, &new.issued, new.refresh_token_expires_at).await?;
            }
            Ok::<_, Error>(ended)
        })
    });
    let ended = ended.await?;
    held.opened.clear();
    Ok(ended)
}

/// A connection with its new grant.
#[derive(Clone)]
struct NewGrant {
    connection: Connection,
    issued: IssuedTokens,
    /// Milliseconds since 1970, where the provider tells.
    refresh_token_expires_at: Option<i64>,
}

/// Notes what the tokens of a connection are part of, and sees to it that they are renewed.
async fn keep_tokens(
    tx: &mut Tx,
    app: &App,
    connection: &Connection,
    issued: &IssuedTokens,
    refresh_token_expires_at: Option<i64>,
) -> Result<()> {
    let (tenant, id) = (&connection.tenant, &connection.id);
    token_refresh::set_grant(tx, tenant, id, &issued.grant, refresh_token_expires_at).await?;
    new_tokens::schedule(tx, app, connection, &issued.given).await
}

/// The connection as it is stored if it is a new one.
fn assembled(
    app: &App,
    pending: &PendingAuthorization,
    account: AuthorizedAccount,
) -> Result<(Connection, GivenCredentials)> {
    let AuthorizedAccount { id, connector, given, granted_scopes, checked, tags, .. } = account;
    let asked = (pending.requested_scopes.clone(), None);
    let mut connection =
        connections::assembled(app, &pending.tenant, id, &connector, asked, &given, checked)?;
    connection.granted_scopes.retain(|scope| granted_scopes.contains(scope));
    connection.tags = tags;
    connection.etag = view::etag(&connection);
    Ok((connection, given))
}

/// Gives a connection the new grant. Its id, and the ids of everything in it, stay; another account changes nothing.
async fn reauthorize(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    NewGrant { connection: new, issued, refresh_token_expires_at }: NewGrant,
    ending: AuthorizationOutcome,
) -> Result<Option<AuthorizationOutcome>> {
    let lock = match ConnectionLock::take(tx, &pending.tenant, &new.id).await? {
        Some(lock) => lock,
        // It was disconnected while the user was at the provider.
        None => return refuse(tx, app, pending, Failure::InvalidRequest, &issued).await,
    };
    if lock.external_account_id != new.external_account_id {
        return refuse(tx, app, pending, Failure::AccountMismatch, &issued).await;
    }
    let ended = finish(tx, app, pending, ending).await?;
    if ended.is_some() {
        let given = with_kept_token(credentials::stored(app, &lock)?, issued.given);
        let place = credentials::place(&lock.id, &lock.tenant);
        let fresh = Connection {
            connector_version: new.connector_version,
            display_name: new.display_name.or_else(|| lock.display_name.clone()),
            email: new.email.or_else(|| lock.email.clone()),
            username: new.username,
            addresses: new.addresses,
            surfaces: new.surfaces,
            requested_scopes: new.requested_scopes,
            granted_scopes: new.granted_scopes,
            provider_scopes: new.provider_scopes,
            time_zone: new.time_zone.or_else(|| lock.time_zone.clone()),
            settings: new.settings,
            credentials: app.keyring.seal(&place, serde_json::to_string(&given)?.as_bytes())?,
            credentials_version: lock.credentials_version + 1,
            token_expires_at: new.token_expires_at,
            ..Connection::clone(&lock)
        };
        let issued = IssuedTokens { given, grant: issued.grant };
        connections::update_active(tx, app, &lock, fresh.clone()).await?;
        keep_tokens(tx, app, &fresh, &issued, refresh_token_expires_at).await?;
    }
    Ok(ended)
}

/// Ends an authorization whose account is not the connection's, and has its tokens revoked.
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

/// The new tokens; with the refresh token that was there, where the provider issued no other and it belongs to the same client.
fn with_kept_token(old: GivenCredentials, new: GivenCredentials) -> GivenCredentials {
    let is_same = old.oauth_client_id == new.oauth_client_id;
    let kept = old.refresh_token.filter(|_| is_same);
    GivenCredentials { refresh_token: new.refresh_token.or(kept), ..new }
}

/// Writes the outcome, if the authorization is still this claim's.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(refresh_token: Option<&str>, client: &str) -> GivenCredentials {
        GivenCredentials {
            refresh_token: refresh_token.map(str::to_owned),
            oauth_client_id: Some(client.to_owned()),
            ..GivenCredentials::default()
        }
    }

    #[test]
    fn a_refresh_token_stays_where_no_other_comes() {
        for (old, new, wanted) in [
            (tokens(Some("old"), "c"), tokens(None, "c"), Some("old")),
            (tokens(Some("old"), "c"), tokens(Some("new"), "c"), Some("new")),
            (tokens(Some("old"), "b"), tokens(None, "c"), None),
            (GivenCredentials::default(), tokens(None, "c"), None),
        ] {
            assert_eq!(with_kept_token(old, new).refresh_token.as_deref(), wanted);
        }
    }
}
