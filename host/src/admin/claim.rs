//! Forms that act once. The random part of a form's token is the claim: a form that is sent twice, by a double click or a reload, has the answer
//! of the first time.

use axum::body::Body;
use axum::response::Response;
use base::error::{Code, Error, Result, refuse};
use http::StatusCode;
use serde_json::Value;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use storage::idempotency as table;
use storage::lane::Lane;

use crate::admin::visit::Visit;
use crate::web::error::{FailedCode, status};
use crate::web::fingerprint::of_parts;
use crate::web::idempotency::{self, ClaimResult};

/// The name that claims of forms have in place of an application.
const APPLICATION: &str = "panel";
/// Time for which a form that is sent again shows its answer once more, ms.
const SHOWN_AGAIN_MS: i64 = 10 * 60_000;
/// The message of the refusal of a form whose time to be shown again is over.
pub const FORM_USED: &str = "this form was used";

/// Runs what a form does, once for its token, and returns its answer. The work goes on when the browser hangs up. It returns what it stored with
/// its effect, or what is to be stored.
///
/// # Errors
/// Those of the work; `idempotency_key_reused` for another form with the same token, and when a form is sent again after 10 minutes.
pub async fn once<W, F>(visit: &Visit, work: W) -> Result<StoredResponse>
where
    W: FnOnce(IdempotentAttempt) -> F,
    F: Future<Output = Result<StoredResponse>> + Send + 'static,
{
    let form = visit.form()?;
    let session = visit.signed.as_ref().map_or("", |signed| signed.session.id.as_str());
    let scope = of_parts(&["/admin", &visit.path, session, &form.nonce]);
    let attempt =
        match idempotency::claim_scope(&visit.app, APPLICATION, scope.clone(), form.fingerprint.clone())
            .await?
        {
            ClaimResult::Run(attempt) => attempt,
            ClaimResult::Replay(answer) => {
                ensure_recent(visit, &scope).await?;
                return Ok(answer);
            }
        };
    let (app, running) = (visit.app.clone(), work(attempt.clone()));
    let task = Lane::current().spawn(async move {
        let result = running.await;
        settle(&app, &attempt, result).await
    });
    task.await.unwrap_or_else(|_| Err(anyhow::anyhow!("the work of a form panicked").into()))
}

/// Ends the claim of an attempt that did not store its answer.
async fn settle(
    app: &App,
    attempt: &IdempotentAttempt,
    result: Result<StoredResponse>,
) -> Result<StoredResponse> {
    match result {
        Ok(answer) => {
            let mut response = Response::new(Body::from(answer.body.clone()));
            *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
            idempotency::finish(app, attempt, response).await;
            Ok(answer)
        }
        Err(e) => {
            let code = e.code().unwrap_or(Code::InternalError);
            let mut response = Response::new(Body::empty());
            // A form that was refused can be corrected and sent again: a conflict is not its final answer.
            *response.status_mut() = match status(code) {
                StatusCode::CONFLICT => StatusCode::BAD_REQUEST,
                status => status,
            };
            response.extensions_mut().insert(FailedCode(code));
            idempotency::finish(app, attempt, response).await;
            Err(e)
        }
    }
}

/// Refuses to show an answer again after a time: it may hold a secret.
async fn ensure_recent(visit: &Visit, scope: &str) -> Result<()> {
    let claim = table::find(visit.app.db.reader(), APPLICATION, scope).await?;
    let sent_at = claim.and_then(|claim| claim.first_claimed_at).unwrap_or_default();
    match visit.app.now() - sent_at {
        ..SHOWN_AGAIN_MS => Ok(()),
        _ => Err(refuse(Code::IdempotencyKeyReused, FORM_USED)),
    }
}

/// The JSON of an answer.
pub fn json(answer: &StoredResponse) -> Result<Value, Error> {
    Ok(serde_json::from_slice(&answer.body)?)
}
