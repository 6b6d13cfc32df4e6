//! Types of Python for schemas of the document, and parts of signatures.

use serde_json::{Value, json};

use crate::clients::docstring::{DocumentedArgument, WIDTH};
use crate::clients::document::{ClientOperation, QueryParameter, SuccessBody, referred};
use crate::clients::names::snake;

/// The query parameters of a method: as arguments, as documentation, and as entries of the dictionary that is sent.
pub struct QueryArguments {
    pub keywords: Vec<String>,
    pub arguments: Vec<DocumentedArgument>,
    pub entries: Vec<String>,
}

/// A method's `def`.
pub struct MethodSignature<'a> {
    pub name: &'a str,
    pub positional: Vec<String>,
    pub keywords: Vec<String>,
    pub options: &'a str,
    pub result: String,
    pub is_async: bool,
}

impl MethodSignature<'_> {
    /// The lines of the `def`.
    pub fn lines(self) -> Vec<String> {
        let keyword = if self.is_async { "async def" } else { "def" };
        let mut lines = vec![format!("    {keyword} {}(", self.name), "        self,".to_owned()];
        lines.extend(self.positional.iter().map(|parameter| format!("        {parameter},")));
        if !self.keywords.is_empty() {
            lines.push("        *,".to_owned());
        }
        lines.extend(self.keywords.iter().map(|keyword| format!("        {keyword},")));
        lines.push(format!("        **options: Unpack[{}],", self.options));
        lines.push(format!("    ) -> {}:", self.result));
        lines
    }
}

/// The name of the type with the options of an operation.
pub fn options(operation: &ClientOperation) -> &'static str {
    match (operation.takes_etag, operation.has_idempotency_key) {
        (true, _) => "ChangeOptions",
        (false, true) => "WriteOptions",
        (false, false) => "ReadOptions",
    }
}

/// The ids of the path as parameters.
pub fn ids(operation: &ClientOperation) -> Vec<String> {
    operation.ids.iter().map(|id| format!("{}: str", snake(id))).collect()
}

/// The variable that holds the query.
pub fn query_name(query: &[QueryParameter]) -> &'static str {
    if query.is_empty() { "None" } else { "query" }
}

/// The arguments of a helper: method, path, query, body, options.
pub fn arguments(operation: &ClientOperation) -> String {
    let body = if operation.body.is_some() { "body" } else { "None" };
    format!("\"{}\", path, {}, {body}, options", operation.method, query_name(&operation.query))
}

/// The lines that set `path`, and `query` where there is one.
pub fn head_of_call(operation: &ClientOperation, entries: &[String]) -> Vec<String> {
    let quote = if operation.ids.is_empty() { "\"" } else { "f\"" };
    let path = operation.ids.iter().fold(operation.path.clone(), |path, id| {
        path.replace(&format!("{{{id}}}"), &format!("{{segment({})}}", snake(id)))
    });
    let mut lines = vec![format!("        path = {quote}{path}\"")];
    let query = format!("        query = {{{}}}", entries.join(", "));
    if query.chars().count() > WIDTH {
        lines.push("        query = {".to_owned());
        lines.extend(entries.iter().map(|entry| format!("            {entry},")));
        lines.push("        }".to_owned());
    } else if !entries.is_empty() {
        lines.push(query);
    }
    lines
}

/// The type of an answer that is JSON.
pub fn answer_type(operation: &ClientOperation) -> String {
    match &operation.answer {
        SuccessBody::Json(schema) => body_type(schema),
        _ => "None".to_owned(),
    }
}

/// The type of a body.
pub fn body_type(schema: &Value) -> String {
    referred(schema).map_or_else(|| "dict[str, Any]".to_owned(), |name| format!("types.{name}"))
}

/// The type of a query parameter, without `None`.
pub fn value_type(schema: &Value) -> String {
    if referred(schema).is_some() {
        return body_type(schema);
    }
    if let Some(value) = schema.get("const") {
        return format!("Literal[{value}]");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().filter(|value| !value.is_null()).map(Value::to_string).collect();
        return format!("Literal[{}]", values.join(", "));
    }
    if let Some(any) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let mut kinds: Vec<String> = Vec::new();
        for kind in any.iter().filter(|one| one["type"] != "null").map(value_type) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        return kinds.join(" | ");
    }
    if let Some(types) = schema["type"].as_array() {
        let kinds = types.iter().filter(|kind| *kind != "null").map(|kind| {
            let mut one = schema.clone();
            one["type"] = json!(kind);
            value_type(&one)
        });
        return kinds.collect::<Vec<String>>().join(" | ");
    }
    match schema["type"].as_str() {
        Some("array") => format!("Sequence[{}]", value_type(&schema["items"])),
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("boolean") => "bool".to_owned(),
        _ => "str".to_owned(),
    }
}
