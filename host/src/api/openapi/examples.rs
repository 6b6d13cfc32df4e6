//! The examples of the document: one exchange of each operation, made by the walks of `tests/api/contract/examples`, which compare them with
//! a server on every run.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};
use url::form_urlencoded;

/// The files of the examples, each an object of exchanges by operation id.
const FILES: [&str; 8] = [
    include_str!("examples/accounts.json"),
    include_str!("examples/admin.json"),
    include_str!("examples/calendars.json"),
    include_str!("examples/contacts.json"),
    include_str!("examples/email.json"),
    include_str!("examples/scheduling.json"),
    include_str!("examples/tasks.json"),
    include_str!("examples/webhooks.json"),
];

/// The exchanges by operation id.
static EXAMPLES: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let read = |text: &&str| serde_json::from_str::<BTreeMap<String, Value>>(text);
    // A file that is no JSON would leave operations without examples, which a test finds.
    FILES.iter().filter_map(|text| read(text).ok()).flatten().collect()
});

/// All exchanges: the operation's id, and an object with `request`, `status` and, for a JSON answer, `response`.
pub fn all() -> impl Iterator<Item = (&'static String, &'static Value)> {
    EXAMPLES.iter()
}

/// The fields of a form, as the document shows them.
fn form_fields(form: &str) -> Value {
    let fields = form_urlencoded::parse(form.as_bytes());
    Value::Object(
        fields.map(|(name, value)| (name.into_owned(), Value::String(value.into_owned()))).collect(),
    )
}

/// Adds the example of the operation `id` to its request body and to its answer.
pub fn add(operation: &mut Value, id: &str) {
    let Some(example) = EXAMPLES.get(id) else { return };
    let body = &example["request"]["body"];
    let content = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
    for (media_type, content) in content.into_iter().flatten() {
        if media_type == "application/json" && body.is_object()
            || media_type != "application/json" && body.is_string()
        {
            let value = body.as_str().map_or_else(|| body.clone(), form_fields);
            content["examples"] = json!({ "default": { "value": value } });
        }
    }
    let status = example["status"].to_string();
    let answer = operation.pointer_mut(&format!("/responses/{status}/content/application~1json"));
    if let (Some(content), Some(response)) = (answer, example.get("response")) {
        content["examples"] = json!({ "default": { "value": response } });
    }
}
