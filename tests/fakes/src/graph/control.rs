//! `/__control` of the fake Graph: operations of a test in another process. Each route takes and answers JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::door::{Ask, Reply};
use crate::faults::Fault;
use crate::graph::state::{AccountKind, GraphState};
use crate::graph::traps::GRAPH_TRAPS;
use crate::graph::{GraphRequest, GraphService, calendar, contacts, lock, mail, todo};

/// The result of an operation, or what is wrong with it.
type OperationResult = Result<Value, String>;

/// Answers a control request: 200 with its result, or 400 with an error.
pub async fn answer(service: &GraphService, ask: &Ask) -> Reply {
    let body: Value = match ask.body.is_empty() {
        true => Value::Null,
        false => match serde_json::from_slice(&ask.body) {
            Ok(body) => body,
            Err(error) => return Reply::json(400, &json!({ "error": error.to_string() })),
        },
    };
    let path: Vec<&str> = ask.segments.iter().skip(1).map(String::as_str).collect();
    let result = match (ask.method.as_str(), path.as_slice()) {
        ("POST", ["notify"]) => Ok(json!({ "statuses": service.notify().await })),
        ("POST", ["own-origins"]) => {
            let mut state = lock(&service.state);
            // Fronts with TLS have origins of their own.
            let given = |name: &str| body[name].as_str().map(str::to_owned);
            state.link_origin = given("links").unwrap_or_else(|| service.url.clone());
            state.upload_origin = given("uploads").unwrap_or_else(|| service.upload_url.clone());
            Ok(json!({ "uploads": service.upload_url }))
        }
        ("GET" | "DELETE", ["requests" | "violations" | "faults" | "traffic"])
        | ("POST", ["faults" | "distance"]) => journal(service, ask.method.as_str(), &path, body),
        _ => change(&mut lock(&service.state), ask.method.as_str(), &path, &body),
    };
    match result {
        Ok(value) => Reply::json(200, &value),
        Err(error) => Reply::json(400, &json!({ "error": error })),
    }
}

fn journal(service: &GraphService, method: &str, path: &[&str], body: Value) -> OperationResult {
    let mut journal = lock(&service.journal);
    match (method, path) {
        ("POST", ["distance"]) => {
            let ms = body["ms"].as_u64().ok_or("ms is missing")?;
            journal.traffic.set_distance(Duration::from_millis(ms));
        }
        ("GET", ["traffic"]) => return Ok(json!({ "accounts": journal.traffic.to_value() })),
        ("DELETE", ["traffic"]) => journal.traffic.clear(),
        ("POST", _) => {
            let fault: Fault = serde_json::from_value(body).map_err(|error| error.to_string())?;
            journal.faults.push(fault);
        }
        ("DELETE", ["faults"]) => journal.faults.clear(),
        ("DELETE", ["requests"]) => journal.requests.clear(),
        ("GET", ["violations"]) => return Ok(json!({ "violations": journal.violations })),
        ("DELETE", ["violations"]) => journal.violations.clear(),
        ("GET", ["requests"]) => {
            let requests: Vec<Value> = journal.requests.iter().map(shown).collect();
            return Ok(json!({ "requests": requests }));
        }
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}

fn shown(request: &GraphRequest) -> Value {
    json!({
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "contentType": request.header("content-type"),
        "prefer": request.header("prefer"),
        "content": String::from_utf8_lossy(&request.content),
        "parts": request.parts.iter().map(shown).collect::<Vec<_>>(),
        "roundTrip": request.round_trip,
        "isUpload": request.is_upload,
    })
}

fn change(state: &mut GraphState, method: &str, path: &[&str], body: &Value) -> OperationResult {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    match (method, path) {
        ("POST", ["advance"]) => {
            let seconds = body["seconds"].as_u64().ok_or("seconds is missing")?;
            state.clock.advance(Duration::from_secs(seconds));
        }
        ("POST", ["run-clock"]) => state.clock.run(),
        ("GET", ["flights", user]) => {
            let (open, most) = (state.flights.open(user), state.flights.most(user));
            return Ok(json!({ "open": open, "most": most, "refused": state.flights.refused }));
        }
        ("POST", ["traps", name]) => {
            let number = |name: &str| body[name].as_u64().and_then(|number| u32::try_from(number).ok());
            state.traps.set_later(name, number("skips").unwrap_or(0), number("times").unwrap_or(1))?;
        }
        ("GET", ["traps"]) => return Ok(json!({ "traps": GRAPH_TRAPS })),
        ("POST", ["accounts"]) => {
            let is_personal = body["personal"] == true;
            let kind = if is_personal { AccountKind::Personal } else { AccountKind::Work };
            let zone = body["timeZone"].as_str().unwrap_or("UTC");
            state.add_account(text("email")?, text("name")?, zone, kind);
        }
        ("POST", ["absent"]) => {
            let account = state.accounts.get_mut(text("user")?).ok_or("no such account")?;
            account.absent.insert(text("surface")?.to_owned());
        }
        ("POST", ["tokens"]) => {
            let scopes: Vec<&str> =
                body["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let now = state.clock.now_ms();
            let token = state.authority.issue(text("user")?, &scopes, now);
            return Ok(json!({ "accessToken": token }));
        }
        ("POST", ["consent"]) => {
            let scopes = body["scopes"].as_array();
            let scopes = scopes.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            state.authority.consented = scopes;
            state.authority.signed_in = body["user"].as_str().map(str::to_owned);
            state.authority.denies = body["denies"] == true;
            state.authority.refusal = body["refusal"].as_str().map(str::to_owned);
            state.authority.admin_wall = body["adminWall"] == true;
        }
        ("POST", ["lifecycle"]) => state.subscriptions.lifecycle(text("id")?, text("event")?),
        (_, ["mail", rest @ ..]) => return mail::control(state, method, rest, body),
        (_, ["calendar", rest @ ..]) => return calendar::control(state, method, rest, body),
        (_, ["contacts", rest @ ..]) => return contacts::control(state, method, rest, body),
        (_, ["todo", rest @ ..]) => return todo::control(state, method, rest, body),
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
