//! Requests to the sandbox provider that this process plays. Its router answers them here, without a connection.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use base::error::{Result, not_found};
use http::{Method, Request, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::app::stored_response::StoredResponse;
use service::manage::acting::{self, Target};
use tower::ServiceExt;

use crate::admin::claim::{self, once};
use crate::admin::visit::Visit;

/// Names of the accounts that have data from the beginning.
pub const SANDBOX_ACCOUNTS: [&str; 3] = ["alice", "bob", "carol"];
/// The domain of all accounts of the provider.
pub const SANDBOX_DOMAIN: &str = "@sandbox.test";
/// Largest answer that is read, bytes.
const MAX_ANSWER: usize = 1 << 20;
/// Longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A request to the provider.
pub struct SandboxRequest {
    /// The name of the account before `@`, which logs in.
    pub account: String,
    pub method: Method,
    pub path: &'static str,
    pub body: Option<Value>,
}

/// The outcome of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxOutcome {
    pub is_done: bool,
    /// The field that a refusal names; empty for none.
    pub field: String,
    /// The reason of a refusal, in the provider's words; empty where no answer came.
    pub message: String,
}

impl SandboxOutcome {
    fn of(status: StatusCode, body: &Value) -> SandboxOutcome {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let refused =
            body["recipients"].as_array().into_iter().flatten().find(|one| one["accepted"] == false);
        match refused {
            Some(recipient) => SandboxOutcome {
                is_done: false,
                field: "recipients".to_owned(),
                message: text(&recipient["reply"]),
            },
            None => SandboxOutcome {
                is_done: status.is_success(),
                field: text(&body["error"]["field"]),
                message: text(&body["error"]["message"]),
            },
        }
    }
}

/// The router of the provider that this process plays.
///
/// # Errors
/// `not_found` where it plays none.
pub fn sandbox_router(visit: &Visit) -> Result<Router> {
    visit.sandbox.clone().ok_or_else(|| not_found("page"))
}

/// Refuses a form where this process plays no provider.
///
/// # Errors
/// As `sandbox_router`.
pub fn ensure_sandbox(visit: &Visit) -> Result<()> {
    sandbox_router(visit).map(drop)
}

/// Sends a request. Returns the status and the JSON of the answer; none where no whole answer came in time.
pub async fn call_sandbox(router: Router, request: SandboxRequest) -> Option<(StatusCode, Value)> {
    let body = request.body.map(|body| body.to_string()).unwrap_or_default();
    let built = Request::builder()
        .method(request.method)
        .uri(request.path)
        .header(header::AUTHORIZATION, format!("Bearer sandbox-{}", request.account))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body));
    let exchange = async {
        let response = router.oneshot(built.ok()?).await.ok()?;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), MAX_ANSWER).await.ok()?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        Some((status, body))
    };
    tokio::time::timeout(TIMEOUT, exchange).await.ok().flatten()
}

/// Sends requests, one after the other, once for the form that came, up to the first that is not done. The audit log has the act with its
/// account where all were done: it is written after the effect, because the provider has no part in transactions of the database.
///
/// # Errors
/// `not_found` where this process plays no provider; those of the form's claim and of the database.
pub async fn run_once(
    visit: &Visit,
    act: &'static str,
    account: &str,
    requests: Vec<SandboxRequest>,
) -> Result<SandboxOutcome> {
    let (router, app, actor) = (sandbox_router(visit)?, visit.app.clone(), visit.actor()?.clone());
    let target = Target::installation(account);
    let answer = once(visit, |claimed| async move {
        let mut outcome = SandboxOutcome { is_done: true, ..SandboxOutcome::default() };
        for request in requests {
            outcome = match call_sandbox(router.clone(), request).await {
                Some((status, body)) => SandboxOutcome::of(status, &body),
                None => SandboxOutcome::default(),
            };
            if !outcome.is_done {
                break;
            }
        }
        let stored = StoredResponse::ok(serde_json::to_string(&outcome)?);
        if outcome.is_done {
            let attempt = acting::attempt(&app, &actor, act, &target, Some(&claimed));
            acting::record(&app, &attempt, &stored).await?;
        }
        Ok(stored)
    });
    Ok(serde_json::from_value(claim::json(&answer.await?)?)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_names_its_field_and_reason() {
        let refused =
            json!({ "error": { "code": "invalidField", "message": "too long", "field": "subject" } });
        let outcome = SandboxOutcome::of(StatusCode::UNPROCESSABLE_ENTITY, &refused);
        let said = (outcome.is_done, outcome.field.as_str(), outcome.message.as_str());
        assert_eq!(said, (false, "subject", "too long"));
        let bounced = json!({ "recipients": [{ "email": "reject@sandbox.test", "accepted": false, "reply": "550 no" }] });
        let outcome = SandboxOutcome::of(StatusCode::OK, &bounced);
        let said = (outcome.is_done, outcome.field.as_str(), outcome.message.as_str());
        assert_eq!(said, (false, "recipients", "550 no"));
        let sent =
            json!({ "recipients": [{ "email": "alice@sandbox.test", "accepted": true, "reply": "250 ok" }] });
        assert!(SandboxOutcome::of(StatusCode::OK, &sent).is_done);
        assert!(SandboxOutcome::of(StatusCode::NO_CONTENT, &Value::Null).is_done);
    }
}
