//! Replaces the credentials of an account that was connected by credentials: the connection, its id and its data stay.

use base::error::{Code, Error, Result, not_found, refuse};
use model::Instant;
use storage::connections::Connection;
use storage::locked::ConnectionLock;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::check::{self, CheckedAccount};
use crate::connections::credentials::{self, GivenCredentials};
use crate::connections::settings::{connector, settings_of};
use crate::connections::update_active;

/// Checks new credentials at the provider, and stores them in place of the connection's if they open the same account.
///
/// # Errors
/// `account_mismatch` for credentials of another account, `invalid_state` for a connection that was made by OAuth, and the errors of
/// connecting an account by credentials.
pub async fn replace_credentials(
    app: &App,
    connection: &Connection,
    given: GivenCredentials,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("refresh:{}", connection.id)).await;
    if credentials::stored(app, connection)?.is_oauth() {
        let message = "this account was connected by OAuth: authorize it again";
        return Err(refuse(Code::InvalidState, message));
    }
    let connector = connector(app, &connection.provider)?;
    given.check(&connector)?;
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let settings = settings_of(app, connection);
    let checked = check::run(app, &tenant, &connector, &id, &settings, &given).await?;
    let (version, attempt) = (connector.manifest.version.clone(), attempt.clone());
    let (app, held) = (app.clone(), app.clone());
    let answer = held.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &tenant, &id).await?;
            let lock = lock.ok_or_else(|| not_found("connection"))?;
            let mut fresh = with_credentials(&app, &lock, &given, checked)?;
            fresh.connector_version = version;
            update_active(tx, &app, &lock, fresh).await?;
            let answer = StoredResponse::no_content();
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    held.opened.clear();
    Ok(answer)
}

/// Returns the locked connection with these credentials.
fn with_credentials(
    app: &App,
    lock: &ConnectionLock,
    given: &GivenCredentials,
    CheckedAccount { account, settings }: CheckedAccount,
) -> Result<Connection> {
    if account.external_account_id != lock.external_account_id {
        let message = "these credentials open another account than the one of this connection";
        return Err(refuse(Code::AccountMismatch, message));
    }
    let place = credentials::place(&lock.id, &lock.tenant);
    Ok(Connection {
        username: given.username.clone(),
        settings,
        credentials: app.keyring.seal(&place, serde_json::to_string(given)?.as_bytes())?,
        credentials_version: lock.credentials_version + 1,
        token_expires_at: given.expires_at.map(Instant::as_millis),
        ..Connection::clone(lock)
    })
}
