//! The connection that a sign-in renews although its authorization names none: the application's own of the same account at the same server.
//! A second connection of one account would read everything twice and report each change twice.

use base::error::{Code, Error, Result, refuse};
use runtime::Manifest;
use serde_json::{Map, Value};
use storage::Tx;
use storage::authorizations::PendingAuthorization;
use storage::connection_accounts::{self, AccountConnection};
use storage::connections::Connection;

use crate::app::App;
use crate::connections::authorization::AuthorizationOptions;
use crate::connections::check::CheckedAccount;
use crate::connections::duplicates;
use crate::connections::settings::connector;

/// Returns the id of the connection that a sign-in renews; none if there is no such connection, or if the client asked for a second one. A
/// connection that needs new credentials is preferred, and then the oldest. `granted` are the scopes that the user granted.
///
/// Call it in the transaction that writes the connection: `ensure_single` finds what another host has written since.
// Contract silent: it does not say what a second sign-in of an account does. Connections by credentials answer 409 then, which a user who
// is on the way back from a provider could do nothing about.
pub async fn find(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    checked: &CheckedAccount,
    granted: &[String],
) -> Result<Option<String>> {
    if !is_wanted(pending)? {
        return Ok(None);
    }
    let connector = connector(app, &pending.provider)?;
    let account_id = &checked.account.external_account_id;
    let found =
        connection_accounts::all_of_account(&mut *tx, &pending.tenant, &pending.provider, account_id).await?;
    Ok(renewed(app, &connector.manifest, found, &checked.settings, granted))
}

/// Fails with `already_exists` if another connection is one that the grant of this new one should renew: two sign-ins of one account have
/// returned at once.
///
/// Call it in the transaction that writes `new`, after the application's row was locked (`event_log::append`), as `duplicates::refuse`.
pub async fn ensure_single(
    tx: &mut Tx,
    app: &App,
    pending: &PendingAuthorization,
    new: &Connection,
) -> Result<()> {
    if !is_wanted(pending)? {
        return Ok(());
    }
    let connector = connector(app, &pending.provider)?;
    let account_id = &new.external_account_id;
    let mut found =
        connection_accounts::all_of_account(&mut *tx, &pending.tenant, &pending.provider, account_id).await?;
    found.retain(|one| one.id != new.id);
    match renewed(app, &connector.manifest, found, &new.settings, &new.granted_scopes) {
        None => Ok(()),
        Some(_) => Err(connected_meanwhile()),
    }
}

/// Returns the reason to roll a sign-in back: the connections of its account have changed since they were read.
pub fn connected_meanwhile() -> Error {
    refuse(Code::AlreadyExists, "the connections of this account have just changed; try again")
}

/// Whether a sign-in renews a connection that its authorization does not name.
fn is_wanted(pending: &PendingAuthorization) -> Result<bool> {
    let options = serde_json::from_value::<AuthorizationOptions>(Value::Object(pending.options.clone()))?;
    Ok(pending.connection_id.is_none() && options.reconnects)
}

/// Returns the id of the connection that a grant of these scopes renews. Connections by password stay as they are, and so does one that
/// works and has more scopes: what the application reads with them would end without a word.
fn renewed(
    app: &App,
    manifest: &Manifest,
    mut found: Vec<AccountConnection>,
    settings: &Map<String, Value>,
    granted: &[String],
) -> Option<String> {
    found.sort_by_key(|one| !one.is_refused);
    let fits = |one: &AccountConnection| {
        is_replaceable(one, granted) && duplicates::is_same_server(app, manifest, &one.settings, settings)
    };
    found.into_iter().find(fits).map(|one| one.id)
}

/// Whether nothing is lost when a grant of these scopes replaces the connection's.
fn is_replaceable(one: &AccountConnection, granted: &[String]) -> bool {
    one.is_by_oauth && (one.is_refused || one.granted_scopes.iter().all(|scope| granted.contains(scope)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_replaces_no_larger_one() {
        let scopes = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (has, is_refused, is_by_oauth, granted, is_good) in [
            ("email.read", false, true, "email.read", true),
            ("email.read", false, true, "tasks.read email.read", true),
            ("email.read tasks.read", false, true, "email.read", false),
            ("email.read tasks.read", true, true, "email.read", true),
            ("email.read", true, false, "email.read", false),
        ] {
            let one = AccountConnection {
                id: "conn_1".into(),
                settings: Map::new(),
                is_refused,
                is_by_oauth,
                granted_scopes: scopes(has),
            };
            assert_eq!(is_replaceable(&one, &scopes(granted)), is_good, "{has} {granted}");
        }
    }
}
