//! `/__control/mail/{user}/…`: operations of a test in another process on a mailbox.

use serde_json::{Value, json};

use crate::google::state::State;

/// Answers a control request; `path` is what follows `mail`.
pub fn control(state: &mut State, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let texts = |name: &str| {
        let all = body[name].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect::<Vec<&str>>()
    };
    let [user, rest @ ..] = path else { return Err("no user".to_owned()) };
    if !state.mail.contains_key(*user) {
        return Err(format!("{user} has no mailbox"));
    }
    match (method, rest) {
        ("POST", ["messages"]) => {
            let is_labelled = body["labels"].is_array();
            let labels = if is_labelled { texts("labels") } else { vec!["INBOX", "UNREAD"] };
            let at = body["at"].as_i64().unwrap_or_else(|| state.clock.now_ms());
            Ok(json!({ "id": state.put_mail_at(user, text("raw")?.as_bytes(), &labels, at) }))
        }
        ("DELETE", ["messages", id]) => Ok(json!({ "deleted": state.mailbox(user).remove(id) })),
        ("POST", ["messages", id, "labels"]) => {
            let is_changed = state.mailbox(user).relabel(id, &texts("add"), &texts("remove"));
            Ok(json!({ "changed": is_changed }))
        }
        ("POST", ["odd-messages"]) => Ok(json!({ "ids": state.add_odd_mail(user) })),
        ("POST", ["drafts"]) => Ok(json!({ "id": state.put_draft(user, text("raw")?.as_bytes()) })),
        ("PUT", ["drafts", id]) => {
            state.change_draft(user, id, text("raw")?.as_bytes());
            Ok(json!({}))
        }
        ("POST", ["aliases"]) => {
            state.add_alias(user, text("email")?, text("name")?, body["pending"] != true);
            Ok(json!({}))
        }
        ("POST", ["forget-history"]) => {
            state.mailbox(user).forget_history();
            Ok(json!({}))
        }
        ("POST", ["units"]) => {
            let limit = body["limit"].as_u64().and_then(|limit| u32::try_from(limit).ok());
            state.mailbox(user).units.limit = limit.ok_or("limit is missing")?;
            Ok(json!({}))
        }
        ("GET", ["units"]) => {
            let units = &state.mailbox(user).units;
            Ok(json!({ "spent": units.spent, "refused": units.refused, "limit": units.limit }))
        }
        ("GET", ["sent"]) => {
            let sent = state.sent.iter().filter(|sent| sent.user == *user);
            let sent: Vec<Value> = sent
                .map(|sent| json!({ "recipients": sent.recipients, "raw": String::from_utf8_lossy(&sent.raw) }))
                .collect();
            Ok(json!({ "sent": sent }))
        }
        _ => Err("no such route".to_owned()),
    }
}
