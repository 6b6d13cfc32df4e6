//! Samples for Go's `net/http`.

use serde_json::Value;

use crate::api::docs::samples::request::SampleRequest;

/// The request as a program.
pub fn print(request: &SampleRequest<'_>) -> String {
    let body = request.body.as_ref().map(|body| match body {
        Value::String(form) => form.clone(),
        body => format!("{body:#}"),
    });
    let mut imports = vec!["fmt", "io", "net/http"];
    if request.operation.needs_key {
        imports.push("os");
    }
    if body.is_some() {
        imports.push("strings");
    }
    let imports: String = imports.iter().map(|name| format!("\t\"{name}\"\n")).collect();
    let reader =
        body.as_ref().map_or("nil".to_owned(), |body| format!("strings.NewReader({})", raw_literal(body)));
    let url = quoted(&format!("{}{}", request.address, request.target()));
    let mut code = format!(
        "package main\n\nimport (\n{imports})\n\nfunc main() {{\n\
         \treq, err := http.NewRequest(\"{}\", {url}, {reader})\n\
         \tif err != nil {{\n\t\tpanic(err)\n\t}}\n",
        request.operation.method
    );
    if request.operation.needs_key {
        code.push_str(
            "\treq.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"SWITCHBOARD_API_KEY\"))\n",
        );
    }
    for header in &request.headers {
        code.push_str(&format!("\treq.Header.Set({}, {})\n", quoted(&header.name), quoted(&header.value)));
    }
    if body.is_some() {
        let is_form = request.body.as_ref().is_some_and(Value::is_string);
        let kind = if is_form { "application/x-www-form-urlencoded" } else { "application/json" };
        code.push_str(&format!("\treq.Header.Set(\"Content-Type\", \"{kind}\")\n"));
    }
    code.push_str(
        "\tres, err := http.DefaultClient.Do(req)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer res.Body.Close()\n",
    );
    code.push_str(
        "\tanswer, err := io.ReadAll(res.Body)\n\tfmt.Println(res.Status, string(answer), err)\n}\n",
    );
    code
}

/// A text of several lines as a literal.
fn raw_literal(text: &str) -> String {
    if text.contains('`') { quoted(text) } else { format!("`{text}`") }
}

/// A text of one line as a literal: JSON's escapes are Go's too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
