//! Operations of `/__control` that the fake of Google alone has.

use serde_json::{Value, json};

use crate::control::OperationResult;
use crate::google::{State, mail, people, task_lists};

/// Carries out an operation on the store.
pub fn change(state: &mut State, method: &str, path: &[&str], body: &Value) -> OperationResult {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let zone = body["timeZone"].as_str().unwrap_or("UTC");
    match (method, path) {
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
        (_, ["mail", rest @ ..]) => return mail::control(state, method, rest, body),
        (_, ["people", rest @ ..]) => return people::control(state, method, rest, body),
        (_, ["tasks", rest @ ..]) => return task_lists::control(state, method, rest, body),
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
