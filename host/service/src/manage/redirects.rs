//! Addresses to which users of an application may return after they connected an account.

use base::error::{Code, Error, Result, invalid};
use base::tenant::Tenant;
use model::bounds::access::MAX_REDIRECTS;
use serde_json::json;
use storage::{Tx, oauth_clients};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::redirect_uri;

/// Addresses to register, and addresses to take out.
#[derive(Clone, Debug, Default)]
pub struct RedirectChange {
    pub add: Vec<String>,
    pub remove: Vec<String>,
}

/// The addresses that an application has registered.
pub async fn list(app: &App, tenant: &Tenant) -> Result<Vec<String>> {
    Ok(oauth_clients::redirects(app.db.reader(), tenant).await?)
}

/// Makes a change as a whole. The answer's JSON has all addresses in `redirectUris`.
///
/// # Errors
/// `invalid_url` of `redirectUris[i]`; `invalid_parameter` of `remove[i]` for an address that is not registered, and of `redirectUris` where
/// there would be more than `MAX_REDIRECTS`.
pub async fn change(
    app: &App,
    tenant: &Tenant,
    change: RedirectChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for (i, uri) in change.add.iter().enumerate() {
        let checked = redirect_uri::parse(uri);
        checked.map_err(|message| invalid(Code::InvalidUrl, format!("redirectUris[{i}]"), message))?;
    }
    let (tenant, keyed, attempt, at) = (tenant.clone(), app.clone(), attempt.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let before = oauth_clients::redirects(&mut *tx, &tenant).await?;
                let all = change_in(tx, &tenant, &change, at).await?;
                let attempt = if all == before { attempt.without_entry() } else { attempt };
                let answer = StoredResponse::ok(json!({ "redirectUris": all }).to_string());
                attempt.store(tx, &keyed.keyring, &answer, at).await?;
                Ok::<_, Error>(answer)
            })
        })
        .await
}

/// Removes and adds addresses, which the caller has checked, and returns those that are registered then.
///
/// # Errors
/// `invalid_parameter` of `remove[i]` for an address that is not registered, and of `redirectUris` where there would be too many.
pub async fn change_in(
    tx: &mut Tx,
    tenant: &Tenant,
    change: &RedirectChange,
    now: i64,
) -> Result<Vec<String>> {
    for (i, uri) in change.remove.iter().enumerate() {
        if !oauth_clients::remove_redirect(tx, tenant, uri).await? {
            let message = format!("{uri}: this application has no such redirect URI");
            return Err(invalid(Code::InvalidParameter, format!("remove[{i}]"), message));
        }
    }
    for uri in &change.add {
        oauth_clients::add_redirect(tx, tenant, uri, now).await?;
    }
    let all = oauth_clients::redirects(&mut *tx, tenant).await?;
    if !change.add.is_empty() && all.len() > MAX_REDIRECTS {
        let message = format!("an application has at most {MAX_REDIRECTS} redirect URIs: remove one first");
        return Err(invalid(Code::InvalidParameter, "redirectUris", message));
    }
    Ok(all)
}
