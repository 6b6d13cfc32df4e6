//! Operations of `/__control` that the fake Graph alone has.

use serde_json::{Value, json};

use crate::control::OperationResult;
use crate::graph::state::{AccountKind, GraphState};
use crate::graph::{GraphService, calendar, contacts, mail, todo};

/// Carries out an operation on the store of this service.
pub fn change(
    service: &GraphService,
    state: &mut GraphState,
    method: &str,
    path: &[&str],
    body: &Value,
) -> OperationResult {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    match (method, path) {
        ("POST", ["own-origins"]) => {
            // Fronts with TLS have origins of their own.
            let given = |name: &str| body[name].as_str().map(str::to_owned);
            state.link_origin = given("links").unwrap_or_else(|| service.url.clone());
            state.upload_origin = given("uploads").unwrap_or_else(|| service.upload_url.clone());
            return Ok(json!({ "uploads": service.upload_url }));
        }
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
        ("POST", ["limits"]) => {
            let calls = body["calls"].as_u64().and_then(|calls| usize::try_from(calls).ok());
            state.surface_limits.set(text("user")?, text("surface")?, calls.ok_or("calls is missing")?);
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
