//! `/sandbox/faults`, the API for faults, and the layer that applies them to requests.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State as AxumState};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::applications::HostApplication;
use crate::auth::Login;
use crate::faults::{Fault, LoseAnswer, PendingVideo};
use crate::problem::Problem;
use crate::sandbox::Sandbox;

/// Pending faults of one account.
const MAX_FAULTS: usize = 50;
/// Accounts with pending faults, each once for every application that planned some.
const MAX_FAULTED: usize = 2_000;

/// The layer round every request of `/sandbox/v1`.
pub async fn layer(AxumState(sandbox): AxumState<Sandbox>, mut request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let mail = extensions.get::<Login>().map(|login| login.mail.clone());
    let application = extensions.get::<HostApplication>();
    // Faults of the application first, then those that hit every request of the account.
    let own = mail.as_ref().zip(application).map(|(mail, application)| application.fault_key(mail));
    let hit = [own, mail].into_iter().flatten().find_map(|key| {
        let uri = request.uri();
        let query = uri.query().unwrap_or_default();
        Some((sandbox.faults().take(&key, request.method(), uri.path(), query)?, key))
    });
    let (fault, key) = hit.unzip();
    if fault.as_ref().is_some_and(|fault| fault.pending_video) {
        request.extensions_mut().insert(PendingVideo);
    }
    under(&sandbox, key.as_deref(), fault.as_ref(), next.run(request)).await
}

/// Executes a request of the account `mail` under the fault that matches it. `mail` is the key under which the fault was planned.
pub async fn under(
    sandbox: &Sandbox,
    mail: Option<&str>,
    fault: Option<&Fault>,
    act: impl Future<Output = Response>,
) -> Response {
    if let Some(fault) = fault {
        if fault.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(fault.delay_ms)).await;
        }
        if let Some(problem) = fault.problem() {
            return problem.into_response();
        }
    }
    let answer = act.await;
    if let Some(fault) = fault.filter(|f| f.answer_delay_ms > 0) {
        tokio::time::sleep(Duration::from_millis(fault.answer_delay_ms)).await;
    }
    if let Some(mail) = mail.filter(|_| fault.is_some_and(|f| f.held_answer)) {
        sandbox.faults().hold(mail).await;
    }
    if fault.is_some_and(|f| f.garbled) {
        return garble_fields(answer).await;
    }
    if let Some(missing) = fault.and_then(|f| f.missing.as_deref()) {
        return without(missing, answer).await;
    }
    if fault.is_some_and(|f| f.lost_answer) || answer.extensions().get::<LoseAnswer>().is_some() {
        return lost();
    }
    answer
}

/// A body that fails at once makes the server close the connection.
fn lost() -> Response {
    let broken =
        futures::stream::once(async { Err::<Bytes, _>(std::io::Error::other("the answer is lost")) });
    Response::new(Body::from_stream(broken))
}

/// The answer with nonsense in a required field of every event, card, todo and message, so that they cannot be parsed.
async fn garble_fields(answer: Response) -> Response {
    fn garble(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(garble),
            Value::Object(fields) => {
                for needed in ["emails", "contactIds", "recurrence", "folderIds"] {
                    if let Some(list) = fields.get_mut(needed) {
                        *list = json!(42);
                    }
                }
                fields.values_mut().for_each(garble);
            }
            _ => {}
        }
    }
    with_changed_body(answer, garble).await
}

/// The answer, a list, without the entry that has this id.
async fn without(missing: &str, answer: Response) -> Response {
    with_changed_body(answer, |body| {
        for entries in body.as_object_mut().into_iter().flat_map(|lists| lists.values_mut()) {
            if let Some(entries) = entries.as_array_mut() {
                entries.retain(|entry| entry["id"] != missing);
            }
        }
    })
    .await
}

/// The answer with another body.
async fn with_changed_body(answer: Response, change: impl FnOnce(&mut Value)) -> Response {
    let (status, body) = (answer.status(), axum::body::to_bytes(answer.into_body(), usize::MAX).await);
    let body = body.ok().and_then(|b| serde_json::from_slice::<Value>(&b).ok());
    let Some(mut body) = body else { return lost() };
    change(&mut body);
    (status, Json(body)).into_response()
}

/// `POST /sandbox/faults`
pub async fn create(
    AxumState(sandbox): AxumState<Sandbox>,
    Extension(login): Extension<Login>,
    application: Option<Extension<HostApplication>>,
    body: Bytes,
) -> Result<Response, Problem> {
    let fault: Fault = serde_json::from_slice(&body).map_err(|e| Problem::bad_request(e.to_string()))?;
    fault.check()?;
    sandbox.faults().with(|all| {
        let key = key(login, application);
        if all.len() >= MAX_FAULTED && !all.contains_key(&key) {
            return Err(Problem::full(format!("at most {MAX_FAULTED} accounts can have faults at a time")));
        }
        let faults = all.entry(key).or_default();
        if faults.len() >= MAX_FAULTS {
            return Err(Problem::full(format!(
                "an account has at most {MAX_FAULTS} faults: delete some, or make the calls that they hit"
            )));
        }
        faults.push(fault.clone());
        Ok(())
    })?;
    Ok((StatusCode::CREATED, Json(fault)).into_response())
}

/// `GET /sandbox/faults`
pub async fn list(
    AxumState(sandbox): AxumState<Sandbox>,
    Extension(login): Extension<Login>,
    application: Option<Extension<HostApplication>>,
) -> Json<Value> {
    let key = key(login, application);
    let faults = sandbox.faults().with(|all| all.get(&key).cloned().unwrap_or_default());
    Json(json!({ "faults": faults, "held": sandbox.faults().held(&key) }))
}

/// `DELETE /sandbox/faults`
pub async fn clear(
    AxumState(sandbox): AxumState<Sandbox>,
    Extension(login): Extension<Login>,
    application: Option<Extension<HostApplication>>,
) -> StatusCode {
    let key = key(login, application);
    sandbox.faults().with(|all| all.remove(&key));
    sandbox.faults().let_go(&key);
    StatusCode::NO_CONTENT
}

/// The key of the faults of an account: for all its requests, or for those of an application.
fn key(login: Login, application: Option<Extension<HostApplication>>) -> String {
    match application {
        Some(Extension(application)) => application.fault_key(&login.mail),
        None => login.mail,
    }
}
