//! `/sandbox/v1/me` and `/sandbox/reset`.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State as AxumState;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::sandbox::Caller;
use crate::seed;
use crate::state::State;

/// The scopes of a login by password.
const EVERYTHING: [&str; 9] = [
    "email.read",
    "email.write",
    "email.send",
    "calendar.read",
    "calendar.write",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];

/// `GET /sandbox/v1/me`. `grants`: the scopes of this login; `clients`: those of OAuth clients.
pub async fn me((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let document = sandbox
        .read(|state| {
            let grants = login.scopes.clone().unwrap_or_else(|| EVERYTHING.map(str::to_owned).into());
            let account =
                state.account(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
            Ok(json!({
                "id": format!("acc_{}", account.mail.split('@').next().unwrap_or_default()),
                "mail": account.mail,
                "name": account.name,
                "zone": account.zone,
                "products": ["email", "calendar", "contacts", "tasks"],
                "grants": grants,
                "clients": clients(state, &login.mail),
            }))
        })
        .await?;
    Ok(Json(document))
}

/// The clients that the account has granted scopes to, each with all its scopes.
fn clients(state: &State, mail: &str) -> Value {
    let mut clients: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for family in state.grants.of_account(mail) {
        let scopes = family.scopes.iter().map(String::as_str);
        clients.entry(&family.client).or_default().extend(scopes);
    }
    let clients = clients.into_iter().map(|(client, scopes)| json!({ "clientId": client, "scopes": scopes }));
    clients.collect()
}

/// `POST /sandbox/reset`: resets the account to its initial data. Its sync tokens expire.
pub async fn reset((AxumState(sandbox), Extension(login)): Caller) -> Result<StatusCode, Problem> {
    let now_ms = sandbox.now_ms();
    sandbox
        .write(|state| {
            state.accounts.get(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
            seed::reset(state, &login.mail, now_ms);
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
