//! `/__control`: operations of a test in another process on the fake. Each route takes and answers JSON.

use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use crate::door::{Ask, Reply};
use crate::faults::Fault;
use crate::google::{
    GoogleService, RequestRecord, State, TRAPS, control_mail, control_people, control_tasks,
};

type ControlResult = Result<Value, String>;

/// Answers a control request: 200 with its result, or 400 with an error.
pub async fn answer(service: &GoogleService, ask: &Ask) -> Reply {
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
        ("GET" | "DELETE", ["requests" | "violations" | "faults" | "traffic"])
        | ("POST", ["faults" | "distance"]) => journal(service, ask.method.as_str(), &path, body),
        _ => {
            let mut state = service.state.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut state, ask.method.as_str(), &path, &body)
        }
    };
    match result {
        Ok(value) => Reply::json(200, &value),
        Err(error) => Reply::json(400, &json!({ "error": error })),
    }
}

fn journal(service: &GoogleService, method: &str, path: &[&str], body: Value) -> ControlResult {
    let mut journal = service.journal.lock().unwrap_or_else(PoisonError::into_inner);
    match (method, path) {
        ("POST", ["distance"]) => {
            let ms = body["ms"].as_u64().ok_or("ms is missing")?;
            journal.traffic.set_distance(Duration::from_millis(ms));
            Ok(json!({}))
        }
        ("GET", ["traffic"]) => Ok(json!({ "accounts": journal.traffic.to_value() })),
        ("DELETE", ["traffic"]) => {
            journal.traffic.clear();
            Ok(json!({}))
        }
        ("POST", _) => {
            let fault: Fault = serde_json::from_value(body).map_err(|error| error.to_string())?;
            journal.faults.push(fault);
            Ok(json!({}))
        }
        ("DELETE", ["faults"]) => {
            journal.faults.clear();
            Ok(json!({}))
        }
        ("DELETE", ["requests"]) => {
            journal.requests.clear();
            Ok(json!({}))
        }
        ("GET", ["violations"]) => Ok(json!({ "violations": journal.violations })),
        ("GET", ["requests"]) => {
            let requests: Vec<Value> = journal.requests.iter().map(shown).collect();
            Ok(json!({ "requests": requests }))
        }
        _ => Err("no such route".to_owned()),
    }
}

fn shown(request: &RequestRecord) -> Value {
    let kind = request.headers.iter().find(|(name, _)| name == "content-type");
    json!({
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "contentType": kind.map(|(_, kind)| kind),
        "content": String::from_utf8_lossy(&request.content),
        "roundTrip": request.round_trip,
    })
}

fn change(state: &mut State, method: &str, path: &[&str], body: &Value) -> ControlResult {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let zone = body["timeZone"].as_str().unwrap_or("UTC");
    match (method, path) {
        ("POST", ["advance"]) => {
            let seconds = body["seconds"].as_u64().ok_or("seconds is missing")?;
            state.clock.advance(Duration::from_secs(seconds));
        }
        ("POST", ["run-clock"]) => state.clock.run(),
        ("GET", ["flights", user]) => {
            return Ok(json!({ "most": state.flights.most(user), "refused": state.flights.refused }));
        }
        ("POST", ["traps", name]) => {
            let number = |name: &str| body[name].as_u64().and_then(|number| u32::try_from(number).ok());
            state.traps.set_later(name, number("skips").unwrap_or(0), number("times").unwrap_or(1))?;
        }
        ("GET", ["traps"]) => return Ok(json!({ "traps": TRAPS })),
        ("POST", ["users"]) => state.add_user(text("email")?, text("name")?, zone),
        ("POST", ["calendars"]) => state.add_calendar(text("owner")?, text("id")?, text("summary")?, zone),
        ("POST", ["holidays"]) => state.add_holidays(text("user")?, text("id")?, text("summary")?, zone),
        ("POST", ["birthdays"]) => state.add_birthdays(text("user")?, text("id")?, text("summary")?, zone),
        ("POST", ["subscriptions"]) => state.subscribe(text("user")?, text("calendar")?, text("role")?),
        ("POST", ["events", calendar]) => {
            return Ok(json!({ "id": state.put_event(calendar, body.clone()) }));
        }
        ("PATCH", ["events", calendar, id]) => state.change_event(calendar, id, body.clone()),
        ("POST", ["odd-events", calendar]) => {
            return Ok(json!({ "ids": state.add_odd_events(calendar) }));
        }
        ("POST", ["expire-sync-tokens", calendar]) => state.expire_sync_tokens(calendar),
        ("POST", ["tokens"]) => {
            let scopes: Vec<&str> =
                body["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let now = state.clock.now_ms();
            let token = state.authority.issue(text("user")?, &scopes, now);
            return Ok(json!({ "accessToken": token }));
        }
        ("POST", ["consent"]) => {
            let ticked = body["scopes"].as_array();
            let ticked = ticked.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
            state.authority.ticked = ticked;
            state.authority.signed_in = body["user"].as_str().map(str::to_owned);
            state.authority.denies = body["denies"] == true;
            state.authority.refusal = body["refusal"].as_str().map(str::to_owned);
        }
        (_, ["mail", rest @ ..]) => return control_mail(state, method, rest, body),
        (_, ["people", rest @ ..]) => return control_people(state, method, rest, body),
        (_, ["tasks", rest @ ..]) => return control_tasks(state, method, rest, body),
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
