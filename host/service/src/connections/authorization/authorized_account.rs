//! An account that a user authorized: sealed until the client exchanges its code, and written as a connection, or as a connection's new
//! grant.

use std::collections::BTreeMap;

use anyhow::Context;
use base::error::Result;
use serde::{Deserialize, Serialize};
use storage::Tx;
use storage::authorizations::PendingAuthorization;
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::token_refresh::{self, Grant};

use crate::app::App;
use crate::connections::authorization::outcome::Failure;
use crate::connections::authorization::reconnection;
use crate::connections::check::CheckedAccount;
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::oauth::endpoints::ProviderEndpoints;
use crate::connections::oauth::grant;
use crate::connections::settings::connector;
use crate::connections::{self, NewConnection, new_tokens, view};

/// An account that the user authorized, before it is a connection.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizedAccount {
    /// The connection's id: a new one, or that of the connection that is authorized again.
    pub id: String,
    /// Whether the account renews the connection with this id although the authorization named none.
    #[serde(default)]
    pub reconnects: bool,
    pub given: GivenCredentials,
    /// Milliseconds since 1970, if the provider reports it.
    pub refresh_token_expires_at: Option<i64>,
    /// The scopes that the user granted, by our names.
    pub granted_scopes: Vec<String>,
    pub checked: CheckedAccount,
    /// The tags of a new connection.
    pub tags: BTreeMap<String, String>,
}

/// Tokens that the provider issued, and their grant.
#[derive(Clone)]
pub struct IssuedTokens {
    pub given: GivenCredentials,
    pub grant: Grant,
}

/// A connection with its new grant.
#[derive(Clone)]
pub struct NewGrant {
    pub connection: Connection,
    pub issued: IssuedTokens,
    /// Milliseconds since 1970, if the provider reports it.
    refresh_token_expires_at: Option<i64>,
    /// As in `AuthorizedAccount`.
    pub reconnects: bool,
}

impl AuthorizedAccount {
    /// Seals the account, for `authorizations.account`.
    pub fn seal(&self, app: &App, pending: &PendingAuthorization) -> Result<String> {
        Ok(app.keyring.seal(&place(pending), &serde_json::to_vec(self)?)?)
    }

    /// Opens the account that waits for the code of an authorization; none if no account waits.
    pub fn open(app: &App, pending: &PendingAuthorization) -> Result<Option<AuthorizedAccount>> {
        let Some(sealed) = &pending.account else { return Ok(None) };
        let text = app.keyring.open(&place(pending), sealed)?;
        Ok(Some(serde_json::from_slice(&text).context("an account that waits for its code")?))
    }

    /// Returns the tokens of the account, for a revocation if it does not become a connection.
    pub fn issued(&self, pending: &PendingAuthorization) -> Result<IssuedTokens> {
        let client_id = self.given.oauth_client_id.as_deref().unwrap_or_default();
        let token_url = ProviderEndpoints::from_stored(&pending.endpoints)?.token_url;
        let account_id = &self.checked.account.external_account_id;
        let grant = grant::for_account(&token_url, client_id, Some(account_id));
        Ok(IssuedTokens { given: self.given.clone(), grant })
    }
}

/// Returns the context that a sealed account is bound to.
fn place(pending: &PendingAuthorization) -> String {
    format!("authorizations.account:{}:{}", pending.state_hash, pending.tenant.organization_id)
}

impl NewGrant {
    /// Returns the row of a new connection, with its tokens.
    pub fn from_account(
        app: &App,
        pending: &PendingAuthorization,
        account: AuthorizedAccount,
    ) -> Result<NewGrant> {
        let issued = account.issued(pending)?;
        let AuthorizedAccount {
            id,
            reconnects,
            given,
            refresh_token_expires_at,
            granted_scopes,
            checked,
            tags,
        } = account;
        let connector = connector(app, &pending.provider)?;
        let scopes = pending.requested_scopes.clone();
        let new = NewConnection { credentials: given, scopes, tags, ..NewConnection::default() };
        let mut connection = connections::assembled(app, &pending.tenant, id, &connector, new, checked)?;
        connection.granted_scopes.retain(|scope| granted_scopes.contains(scope));
        connection.etag = view::etag(&connection);
        Ok(NewGrant { connection, issued, refresh_token_expires_at, reconnects })
    }
}

/// Locks the connection that is authorized again; none if the authorization is for a new one. Fails if the connection was deleted, or
/// belongs to another account.
pub async fn lock(
    tx: &mut Tx,
    pending: &PendingAuthorization,
    new: &NewGrant,
) -> Result<Result<Option<ConnectionLock>, Failure>> {
    let new_id = Some(&new.connection.id).filter(|_| new.reconnects);
    let Some(id) = pending.connection_id.as_ref().or(new_id) else { return Ok(Ok(None)) };
    Ok(match ConnectionLock::take(tx, &pending.tenant, id).await? {
        // It was disconnected while the user was at the provider.
        None => Err(Failure::InvalidRequest),
        Some(lock) if lock.external_account_id != new.connection.external_account_id => {
            Err(Failure::AccountMismatch)
        }
        Some(lock) => Ok(Some(lock)),
    })
}

/// Writes a new connection, or gives the locked one its new grant. Its id, and the ids of its data, stay. Fails with `already_exists` if
/// another sign-in of the account has just made a connection.
pub async fn write(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    lock: Option<ConnectionLock>,
    new: NewGrant,
) -> Result<()> {
    let Some(lock) = lock else {
        let body = view::json(app, &new.connection, &[]).to_string();
        connections::insert(tx, app, &new.connection, body).await?;
        reconnection::ensure_single(tx, app, pending, &new.connection).await?;
        return keep_tokens(tx, app, &new.connection, &new.issued, new.refresh_token_expires_at).await;
    };
    let NewGrant { connection: new, issued, refresh_token_expires_at, .. } = new;
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
    keep_tokens(tx, app, &fresh, &issued, refresh_token_expires_at).await
}

/// Stores the grant that the tokens of a connection belong to, and schedules their renewal.
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

/// Returns the new tokens, with the previous refresh token if the provider issued no other and it belongs to the same client.
fn with_kept_token(old: GivenCredentials, new: GivenCredentials) -> GivenCredentials {
    let is_same = old.oauth_client_id == new.oauth_client_id;
    let kept = old.refresh_token.filter(|_| is_same);
    GivenCredentials { refresh_token: new.refresh_token.or(kept), ..new }
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

    /// Sealing and opening loses no field of an account.
    #[test]
    fn an_account_survives_its_sealed_form() {
        let account = AuthorizedAccount {
            id: "conn_1".into(),
            reconnects: true,
            given: tokens(Some("refresh"), "client"),
            refresh_token_expires_at: Some(7),
            granted_scopes: vec!["email.read".into()],
            checked: CheckedAccount {
                account: model::wire::Account {
                    external_account_id: "alice".into(),
                    email: Some("alice@example.test".into()),
                    surfaces: vec!["email".into()],
                    ..model::wire::Account::default()
                },
                settings: [("serverUrl".to_owned(), "https://example.test".into())].into_iter().collect(),
            },
            tags: BTreeMap::from([("user".into(), "7".into())]),
        };
        let text = serde_json::to_string(&account).unwrap();
        let again: AuthorizedAccount = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        assert_eq!(again.given.refresh_token.as_deref(), Some("refresh"));
        assert_eq!(again.checked.account.email.as_deref(), Some("alice@example.test"));
    }
}
