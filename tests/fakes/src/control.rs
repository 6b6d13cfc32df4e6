//! `/__control`: operations of a test in another process on a fake. Each route takes and answers JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::door::{Ask, Reply};
use crate::fake::{FakeService, lock};

/// The result of an operation, or what is wrong with it.
pub type OperationResult = Result<Value, String>;

/// Answers a control request: 200 with its result, or 400 with an error. `change` carries out an operation that this fake alone has on
/// its store.
pub async fn answer<S: FakeService>(
    service: &S,
    ask: &Ask,
    change: impl FnOnce(&mut S::State, &str, &[&str], &Value) -> OperationResult + Send,
) -> Reply {
    match operate(service, ask, change).await {
        Ok(value) => Reply::json(200, &value),
        Err(error) => Reply::json(400, &json!({ "error": error })),
    }
}

async fn operate<S: FakeService>(
    service: &S,
    ask: &Ask,
    change: impl FnOnce(&mut S::State, &str, &[&str], &Value) -> OperationResult + Send,
) -> OperationResult {
    let body: Value = match ask.body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&ask.body).map_err(|error| error.to_string())?,
    };
    let (method, path) = (ask.method.as_str(), path_of(ask));
    match (method, path.as_slice()) {
        ("POST", ["notify"]) => Ok(json!({ "statuses": service.notify().await })),
        ("GET" | "DELETE", ["requests" | "violations" | "faults" | "traffic"])
        | ("POST", ["faults" | "distance"]) => lock(service.journal()).control(method, &path, body),
        ("POST", ["advance"]) => {
            let seconds = body["seconds"].as_u64().ok_or("seconds is missing")?;
            S::clock(&lock(service.state())).advance(Duration::from_secs(seconds));
            Ok(json!({}))
        }
        ("POST", ["run-clock"]) => {
            S::clock(&lock(service.state())).run();
            Ok(json!({}))
        }
        ("GET", ["flights", user]) => {
            let mut state = lock(service.state());
            let flights = S::flights(&mut state);
            let (open, most) = (flights.open(user), flights.most(user));
            Ok(json!({ "open": open, "most": most, "refused": flights.refused }))
        }
        ("POST", ["traps", name]) => {
            let number = |name: &str| body[name].as_u64().and_then(|number| u32::try_from(number).ok());
            let (skips, times) = (number("skips").unwrap_or(0), number("times").unwrap_or(1));
            S::traps(&mut lock(service.state())).set_later(name, skips, times)?;
            Ok(json!({}))
        }
        ("GET", ["traps"]) => Ok(json!({ "traps": S::traps(&mut lock(service.state())).names() })),
        _ => change(&mut lock(service.state()), method, &path, &body),
    }
}

/// The segments of the path after `/__control`.
fn path_of(ask: &Ask) -> Vec<&str> {
    ask.segments.iter().skip(1).map(String::as_str).collect()
}
