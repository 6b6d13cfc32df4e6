//! The reference as Markdown: for agents, and for people who copy a page.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::docs::reference::{ApiReference, ReferenceOperation, ReferenceTag};
use crate::api::docs::samples::curl;
use crate::api::docs::samples::request::SampleRequest;
use crate::api::docs::schema::{ObjectSchema, SchemaBook};

/// The page of a heading.
pub fn tag(reference: &ApiReference, tag: &ReferenceTag) -> String {
    let mut out = format!("# {}\n\n{}\n", tag.name, tag.description);
    let mut types = TypeList { book: &reference.schemas, names: BTreeSet::new(), text: String::new() };
    for operation in reference.under(&tag.name) {
        add_operation(&mut out, reference, operation, &mut types);
    }
    if !types.text.is_empty() {
        out.push_str("\n## Types\n");
        out.push_str(&types.text);
    }
    out
}

/// The index of all pages for agents (`/llms.txt`).
pub fn index(reference: &ApiReference, guides: &[[String; 2]]) -> String {
    let at = &reference.address;
    let mut out = format!(
        "# Switchboard\n\n> One HTTP/JSON API over mailboxes, calendars, address books and task lists, with scheduling on top.\n\n\
         - [Getting started]({at}/docs.md)\n- [Conventions]({at}/docs/api.md)\n- [Errors]({at}/docs/errors.md)\n\
         - [OpenAPI document]({at}/openapi/clients.json)\n- [Everything in one file]({at}/llms-full.txt)\n\n## Guides\n\n"
    );
    for [name, title] in guides {
        out.push_str(&format!("- [{title}]({at}/docs/guides/{name}.md)\n"));
    }
    out.push_str("\n## API\n\n");
    for tag in &reference.tags {
        out.push_str(&format!("- [{}]({at}/docs/api/{}.md): {}\n", tag.name, tag.slug, tag.description));
    }
    out
}

fn add_operation(
    out: &mut String,
    reference: &ApiReference,
    operation: &ReferenceOperation,
    types: &mut TypeList<'_>,
) {
    out.push_str(&format!(
        "\n## {}\n\n`{} {}` (`{}`)\n\n{}\n",
        operation.summary, operation.method, operation.path, operation.id, operation.description
    ));
    if let Some(scope) = &operation.scope {
        out.push_str(&format!("\nScope: `{scope}`\n"));
    }
    if !operation.parameters.is_empty() {
        out.push_str("\n### Parameters\n\n");
    }
    for parameter in &operation.parameters {
        let kind = reference.schemas.type_name(&parameter.schema);
        let required = if parameter.is_required { ", required" } else { "" };
        out.push_str(&format!(
            "- `{}` ({}, `{kind}`{}{required}): {}\n",
            parameter.name,
            parameter.place,
            bounds(&reference.schemas, &parameter.schema),
            one_line(&parameter.description)
        ));
    }
    if let Some(body) = &operation.body {
        out.push_str(&format!("\n### Body: `{}`\n", reference.schemas.type_name(&body.schema)));
        types.add(&body.schema);
    }
    match &operation.answer {
        Some(answer) => {
            let kind = reference.schemas.type_name(&answer.schema);
            out.push_str(&format!("\n### Answer {}: `{kind}`\n", operation.status));
            types.add(&answer.schema);
        }
        None => out.push_str(&format!("\n### Answer {}, no body\n", operation.status)),
    }
    let codes: Vec<String> = operation.codes.iter().map(|code| format!("`{code}`")).collect();
    out.push_str(&format!("\nErrors: {}\n", codes.join(", ")));
    let sample = curl::print(&SampleRequest::for_operation(reference, operation));
    out.push_str(&format!("\n```sh\n{sample}```\n"));
    if let Some(response) = operation.exchange().and_then(|exchange| exchange.get("response")) {
        out.push_str(&format!("\n```json\n{response:#}\n```\n"));
    }
}

/// The types of a page, each once.
struct TypeList<'b> {
    book: &'b SchemaBook,
    names: BTreeSet<String>,
    text: String,
}

impl TypeList<'_> {
    /// Adds the type that a schema leads to, and the types of its fields.
    fn add(&mut self, schema: &Value) {
        let Some(ObjectSchema { name: Some(name), schema }) = self.book.object(schema) else { return };
        if !self.names.insert(name.clone()) {
            return;
        }
        self.text.push_str(&format!("\n### {name}\n\n"));
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let kind = self.book.type_name(property);
            let is_required = required.contains(&field.as_str()) && required.len() < MAX_REQUIRED;
            let required = if is_required { ", required" } else { "" };
            let about = one_line(property["description"].as_str().unwrap_or_default());
            let bounds = bounds(self.book, property);
            self.text.push_str(&format!("- `{field}` (`{kind}`{bounds}{required}): {about}\n"));
        }
        for property in schema["properties"].as_object().into_iter().flat_map(|fields| fields.values()) {
            self.add(property);
        }
    }
}

/// Required fields of an object from which on they are not marked: an answer has all its fields.
const MAX_REQUIRED: usize = 12;

/// The bounds of a value after a comma; empty if there are none.
fn bounds(book: &SchemaBook, schema: &Value) -> String {
    let bounds = book.bounds(schema);
    if bounds.is_empty() { bounds } else { format!(", {bounds}") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
