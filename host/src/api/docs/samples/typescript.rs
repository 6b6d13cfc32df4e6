//! Samples for the TypeScript client.

use serde_json::Value;

use crate::api::docs::samples::request::{SampleRequest, camel};

/// The request as a call of the client.
pub fn print(request: &SampleRequest<'_>) -> String {
    let mut code = format!(
        "import {{ Switchboard }} from \"switchboard-client\";\n\n\
         const sb = new Switchboard({{ apiKey: process.env.SWITCHBOARD_API_KEY ?? \"\", baseUrl: {} }});\n",
        json(request.address)
    );
    let call = format!("sb.{}({})", method(request), arguments(request).join(", "));
    let is_empty = request.operation.answer.is_none();
    code.push_str(&match request.operation.is_list() || request.is_stream() {
        true => format!("for await (const item of {call}) console.log(item);\n"),
        false if is_empty => format!("await {call};\n"),
        false => format!("const answer = await {call};\n"),
    });
    code
}

fn method(request: &SampleRequest<'_>) -> String {
    let method = request.method(camel);
    if request.is_stream() {
        return method.replace("stream", "follow");
    }
    if request.is_raw() { format!("{method}Raw") } else { method }
}

/// Path, body, query, options; empty ones at the end are left out.
fn arguments(request: &SampleRequest<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = request.path_values.iter().map(|value| json(value)).collect();
    match request.json_body() {
        Some(body) => arguments.push(literal(&body, 0)),
        None if request.operation.body.is_some() => arguments.push("undefined".to_owned()),
        None => {}
    }
    let query: Vec<String> = request
        .arguments()
        .map(|parameter| {
            let value = match request.items(parameter) {
                Some(items) => format!("[{}]", items.into_iter().map(json).collect::<Vec<_>>().join(", ")),
                None if request.is_bare(&parameter.name) => parameter.value.clone(),
                None => json(&parameter.value),
            };
            format!("{}: {value}", camel(&parameter.name))
        })
        .collect();
    arguments.push(match query.is_empty() {
        true => "undefined".to_owned(),
        false => format!("{{ {} }}", query.join(", ")),
    });
    if let Some(etag) = request.header("if-match") {
        arguments.push(format!("{{ ifMatch: {} }}", json(etag)));
    }
    while arguments.last().is_some_and(|last| last == "undefined") {
        arguments.pop();
    }
    arguments
}

/// A value as a literal, with an indentation of two spaces a level.
fn literal(value: &Value, level: usize) -> String {
    let indent = "  ".repeat(level + 1);
    let end = "  ".repeat(level);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let lines = members.iter().map(|(name, value)| {
                let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !name.starts_with(|c: char| c.is_ascii_digit());
                let name = if is_word { name.clone() } else { json(name) };
                format!("{indent}{name}: {},\n", literal(value, level + 1))
            });
            format!("{{\n{}{end}}}", lines.collect::<String>())
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let lines = items.iter().map(|item| format!("{indent}{},\n", literal(item, level + 1)));
            format!("[\n{}{end}]", lines.collect::<String>())
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| literal(item, level)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// A text as a literal.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}
