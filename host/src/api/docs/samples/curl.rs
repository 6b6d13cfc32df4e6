//! Samples for curl.

use serde_json::Value;

use crate::api::docs::samples::request::SampleRequest;

/// The request as a command of a shell.
pub fn print(request: &SampleRequest<'_>) -> String {
    let method = request.operation.method.as_str();
    let url = quote(&format!("{}{}", request.address, request.target()));
    let first = if method == "GET" { format!("curl {url}") } else { format!("curl -X {method} {url}") };
    let mut parts = vec![first];
    if request.is_stream() {
        parts.push("--no-buffer".to_owned());
    }
    if request.operation.needs_key {
        parts.push("-H \"Authorization: Bearer $SWITCHBOARD_API_KEY\"".to_owned());
    }
    for header in &request.headers {
        parts.push(format!("-H {}", quote(&format!("{}: {}", header.name, header.value))));
    }
    match &request.body {
        Some(Value::String(form)) => parts.push(format!("-d {}", quote(form))),
        Some(body) => {
            parts.push("-H 'Content-Type: application/json'".to_owned());
            parts.push(format!("-d {}", quote(&format!("{body:#}"))));
        }
        None => {}
    }
    format!("{}\n", parts.join(" \\\n  "))
}

/// A text as one word of a shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
