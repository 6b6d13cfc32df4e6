//! The form of a fault of the sandbox provider: a field for each of the fault's own, as the provider names it.

use serde_json::{Map, Value};
use service::locale::html::Html;

use crate::admin::parts::field::{FormFaults, InputField, SelectField, fault_line};
use crate::admin::sandbox_calls::SANDBOX_ACCOUNTS;
use crate::admin::texts::SandboxTexts;
use crate::admin::visit::Visit;

/// The field of the account whose requests are to fail.
pub const FAULT_ACCOUNT: &str = "fault_account";
/// Prefix of all other fields' names; the provider's name of the field follows.
const PREFIX: &str = "fault_";
/// The field at which refusals stand that name none.
const FIRST_FIELD: &str = "fault_status";

/// The kind of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultValue {
    Number,
    Switch,
    Text,
    /// Words between spaces or commas.
    List,
}

/// A field of the form.
struct FaultField {
    id: &'static str,
    value: FaultValue,
    label: &'static str,
    hint: &'static str,
}

const fn field(id: &'static str, value: FaultValue, label: &'static str, hint: &'static str) -> FaultField {
    FaultField { id, value, label, hint }
}

/// The fields for what goes wrong.
fn outcome_fields(t: &SandboxTexts) -> [FaultField; 16] {
    use FaultValue::{List, Number, Switch, Text};
    [
        field(FIRST_FIELD, Number, t.status, t.status_hint),
        field("fault_retryAfterS", Number, t.retry_after_s, ""),
        field("fault_retryAfter", Text, t.retry_after, t.retry_after_hint),
        field("fault_delayMs", Number, t.delay_ms, t.delay_hint),
        field("fault_answerDelayMs", Number, t.answer_delay_ms, t.delay_hint),
        field("fault_heldAnswer", Switch, t.held_answer, t.held_answer_hint),
        field("fault_lostAnswer", Switch, t.lost_answer, t.lost_answer_hint),
        field("fault_garbled", Switch, t.garbled, t.garbled_hint),
        field("fault_missing", Text, t.missing, t.missing_hint),
        field("fault_pendingVideo", Switch, t.pending_video, t.pending_video_hint),
        field("fault_oauthError", Text, t.oauth_error, t.oauth_error_hint),
        field("fault_omit", List, t.omit, t.omit_hint),
        field("fault_scopes", List, t.scopes, t.scopes_hint),
        field("fault_pushLost", Switch, t.push_lost, ""),
        field("fault_pushTwice", Switch, t.push_twice, ""),
        field("fault_pushLateMs", Number, t.push_late_ms, t.delay_hint),
    ]
}

/// The fields for which requests it meets.
fn scope_fields(t: &SandboxTexts) -> [FaultField; 5] {
    use FaultValue::{Number, Switch, Text};
    [
        field("fault_syncTokenOnly", Switch, t.sync_token_only, ""),
        field("fault_method", Text, t.method, t.method_hint),
        field("fault_pathPrefix", Text, t.path_prefix, t.path_prefix_hint),
        field("fault_after", Number, t.after, ""),
        field("fault_times", Number, t.times, t.times_hint),
    ]
}

/// Adds the form.
pub fn add_fault_form(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let t = visit.texts.sandbox;
    let is_open = !visit.fields.first(FAULT_ACCOUNT).is_empty();
    html.raw(if is_open { "<details open><summary>" } else { "<details><summary>" });
    html.text(t.new_fault).raw("</summary>\n");
    visit.open_form(html, "sandbox/faults");
    add_account_field(visit, [FAULT_ACCOUNT, t.account], faults, html);
    html.element("h3", t.outcome);
    for field in outcome_fields(t) {
        add_field(visit, &field, faults, html);
    }
    html.element("h3", t.scope);
    for field in scope_fields(t) {
        add_field(visit, &field, faults, html);
    }
    html.raw("<button class=\"plain\">").text(t.add_fault).raw("</button></form></details>\n");
}

fn add_field(visit: &Visit, field: &FaultField, faults: &FormFaults, html: &mut Html) {
    let given = visit.fields.first(field.id);
    if field.value != FaultValue::Switch {
        let input = InputField::text(field.id, field.label, given).optional().ltr();
        let input = if field.hint.is_empty() { input } else { input.with_hint(field.hint) };
        input.add_to(html, visit.texts.frame, faults);
        return;
    }
    html.raw("<div class=\"field\">");
    fault_line(html, field.id, faults.text(field.id));
    html.raw("<label class=\"check\"><input type=\"checkbox\" id=\"").raw(field.id);
    html.raw("\" name=\"").raw(field.id).raw("\" value=\"1\"");
    html.raw(if given.is_empty() { ">" } else { " checked>" }).raw("<span>").text(field.label);
    if !field.hint.is_empty() {
        html.raw(" <small>").text(field.hint).raw("</small>");
    }
    html.raw("</span></label></div>\n");
}

/// The fault of the form, as the provider takes it.
///
/// # Errors
/// The faults of the form: numbers that are none.
pub fn read_fault(visit: &Visit) -> Result<Value, FormFaults> {
    let t = visit.texts.sandbox;
    let (mut fault, mut wrong) = (Map::new(), FormFaults::default());
    for field in outcome_fields(t).into_iter().chain(scope_fields(t)) {
        let Some(text) = visit.fields.filled(field.id) else { continue };
        let value = match field.value {
            FaultValue::Number => match text.parse::<u32>() {
                Ok(number) => Value::from(number),
                Err(_) => {
                    wrong.add(field.id, t.bad_number);
                    continue;
                }
            },
            FaultValue::Switch => Value::from(true),
            FaultValue::Text => Value::from(text),
            FaultValue::List => {
                let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
                words.map(Value::from).collect()
            }
        };
        fault.insert(provider_name(field.id).to_owned(), value);
    }
    if wrong.is_empty() { Ok(Value::Object(fault)) } else { Err(wrong) }
}

/// The provider's name of a field.
fn provider_name(id: &str) -> &str {
    id.strip_prefix(PREFIX).unwrap_or(id)
}

/// The field of the form that the provider's name stands for; the first one for a name that none has.
pub fn field_named(t: &SandboxTexts, name: &str) -> &'static str {
    let mut fields = outcome_fields(t).into_iter().chain(scope_fields(t));
    fields.find(|field| provider_name(field.id) == name).map_or(FIRST_FIELD, |field| field.id)
}

/// A fault in one line: the fields that say something, with their values. How many requests it still meets is left out.
pub fn described(fault: &Value) -> String {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let fields = fault.as_object().into_iter().flatten();
    let shown = fields.filter(|(name, value)| *name != "times" && !says_nothing(value));
    let words: Vec<String> = shown
        .map(|(name, value)| match value {
            Value::Bool(_) => name.clone(),
            Value::String(text) => format!("{name} {text}"),
            other => format!("{name} {other}"),
        })
        .collect();
    words.join(", ")
}

/// Adds a choice among the accounts.
pub fn add_account_field(
    visit: &Visit,
    [id, label]: [&'static str; 2],
    faults: &FormFaults,
    html: &mut Html,
) {
    let options = SANDBOX_ACCOUNTS.map(|account| (account, account));
    let chosen = visit.fields.first(id);
    SelectField { id, label, options: &options, chosen }.add_to(html, visit.texts.frame, faults);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_is_described_in_one_line() {
        let fault = json!({
            "status": 429, "retryAfterS": 7, "retryAfter": null, "delayMs": 0, "heldAnswer": false, "garbled": true,
            "omit": [], "scopes": ["mail.read"], "pathPrefix": "/sandbox/v1", "after": 0, "times": 3,
        });
        let mut parts: Vec<_> = described(&fault).split(", ").map(str::to_owned).collect();
        parts.sort();
        let expected =
            ["garbled", "pathPrefix /sandbox/v1", "retryAfterS 7", "scopes [\"mail.read\"]", "status 429"];
        assert_eq!(parts, expected);
        assert_eq!(described(&Value::Null), "");
    }

    #[test]
    fn every_field_is_found_by_the_providers_name() {
        let t = &crate::admin::texts::sandbox::ENGLISH;
        for field in outcome_fields(t).into_iter().chain(scope_fields(t)) {
            assert_eq!(field_named(t, provider_name(field.id)), field.id);
        }
        assert_eq!(field_named(t, "other"), FIRST_FIELD);
    }
}
