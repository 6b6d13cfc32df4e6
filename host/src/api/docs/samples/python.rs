//! Samples for the Python client.

use serde_json::Value;

use crate::api::docs::samples::request::{SampleRequest, snake};

/// Longest call on one line, in characters.
const MAX_LINE: usize = 96;

/// The request as a call of the client.
pub fn print(request: &SampleRequest<'_>) -> String {
    let mut code = format!(
        "from switchboard import Switchboard\n\nsb = Switchboard(base_url={})  # the key: SWITCHBOARD_API_KEY\n",
        text(request.address)
    );
    let name = format!("sb.{}", method(request));
    let iterates = request.operation.is_list() || request.is_stream();
    let start = match (iterates, request.is_raw(), request.operation.answer.is_some()) {
        (true, _, _) => "for item in ",
        (_, true, _) => "with ",
        (_, _, true) => "answer = ",
        _ => "",
    };
    code.push_str(start);
    code.push_str(&call(&name, &arguments(request), start.len()));
    code.push_str(match (iterates, request.is_raw()) {
        (true, _) => ":\n    print(item)\n",
        (_, true) => " as answer:\n    data = answer.read()\n",
        _ => "\n",
    });
    code
}

fn method(request: &SampleRequest<'_>) -> String {
    let method = request.method(snake);
    if request.is_stream() {
        return method.replace("stream", "follow");
    }
    if request.is_raw() { format!("{method}_raw") } else { method }
}

/// A call on one line, or on a line for each argument.
fn call(name: &str, arguments: &[String], before: usize) -> String {
    let line = format!("{name}({})", arguments.join(", "));
    if !line.contains('\n') && before + line.len() <= MAX_LINE {
        return line;
    }
    let lines = arguments.iter().map(|argument| format!("    {},\n", argument.replace('\n', "\n    ")));
    format!("{name}(\n{})", lines.collect::<String>())
}

fn arguments(request: &SampleRequest<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = request.path_values.iter().map(|value| text(value)).collect();
    arguments.extend(request.json_body().map(|body| literal(&body, 0)));
    arguments.extend(request.arguments().map(|parameter| {
        let is_bare = request.is_bare(&parameter.name);
        let value = match (request.items(parameter), parameter.value.as_str()) {
            (Some(items), _) => format!("[{}]", items.into_iter().map(text).collect::<Vec<_>>().join(", ")),
            (None, "true") if is_bare => "True".to_owned(),
            (None, "false") if is_bare => "False".to_owned(),
            (None, value) if is_bare => value.to_owned(),
            (None, value) => text(value),
        };
        format!("{}={value}", snake(&parameter.name))
    }));
    arguments.extend(request.header("if-match").map(|etag| format!("if_match={}", text(etag))));
    arguments
}

/// A value as a literal, with an indentation of four spaces a level.
fn literal(value: &Value, level: usize) -> String {
    let indent = "    ".repeat(level + 1);
    let end = "    ".repeat(level);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let lines = members
                .iter()
                .map(|(name, value)| format!("{indent}{}: {},\n", text(name), literal(value, level + 1)));
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
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

/// A text as a literal: JSON's escapes are Python's too.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}
