//! `/sandbox/v1/me` and `/sandbox/reset`.

use axum::extract::State as AxumState;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::sandbox::Caller;
use crate::seed;

/// `GET /sandbox/v1/me`
pub async fn me((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let document = sandbox
        .read(|state| {
            let account =
                state.account(&login.mail).ok_or_else(|| Problem::not_found("account", &login.mail))?;
            Ok(json!({
                "id": format!("acc_{}", account.mail.split('@').next().unwrap_or_default()),
                "mail": account.mail,
                "name": account.name,
                "zone": account.zone,
                "products": ["email", "calendar", "contacts", "tasks"],
                "grants": [
                    "email.read", "email.write", "email.send",
                    "calendar.read", "calendar.write", "contacts.read", "contacts.write", "tasks.read", "tasks.write",
                ],
            }))
        })
        .await?;
    Ok(Json(document))
}

/// `POST /sandbox/reset`: the account as it was in the beginning. Its sync tokens expire.
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
