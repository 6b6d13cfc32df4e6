//! An operation as a section of its page: what it does and takes on one side, samples and the sample answer on the other one.

use serde_json::Value;
use service::locale::html::Html;

use crate::api::docs::fields::{FieldLists, add_bounds, add_values};
use crate::api::docs::markup;
use crate::api::docs::reference::{ApiReference, ReferenceOperation, ReferenceParameter};
use crate::api::docs::samples;
use crate::api::docs::samples::request::SampleRequest;

/// Parameters that stand before the fold, beside the required ones.
const MOST_USED: [&str; 12] = [
    "connection_id",
    "start",
    "end",
    "q",
    "limit",
    "cursor",
    "expand",
    "folder_id",
    "unread",
    "status",
    "type",
    "notify",
];
/// Fewest parameters that are folded: a fold for less costs more room than it saves.
const MIN_FOLDED: usize = 3;

/// Adds the section of an operation.
pub fn add(
    html: &mut Html,
    reference: &ApiReference,
    operation: &ReferenceOperation,
    lists: &mut FieldLists<'_>,
) {
    let request = SampleRequest::for_operation(reference, operation);
    html.raw("<section class=\"op\" id=\"")
        .text(&operation.id)
        .raw("\" data-method=\"")
        .text(&operation.method);
    html.raw("\" data-path=\"").text(&operation.path).raw("\"");
    if let Some(body) = request.json_body() {
        html.raw(" data-body=\"").text(&format!("{body:#}")).raw("\"");
    }
    html.raw(">\n<h2>").text(&operation.summary).raw("</h2>\n<p class=\"line\"><span class=\"m ");
    html.text(&operation.method.to_lowercase())
        .raw("\">")
        .text(&operation.method)
        .raw("</span> <code class=\"path\">");
    html.text(&operation.path).raw("</code> <a class=\"here\" href=\"#").text(&operation.id).raw("\">");
    html.text(&operation.id).raw("</a></p>\n<div class=\"sides\">\n<div class=\"about\">\n");
    markup::add(html, &operation.description);
    add_facts(html, operation);
    add_parameters(html, reference, operation);
    add_bodies(html, operation, lists);
    add_codes(html, reference, operation);
    html.raw("</div>\n<div class=\"code\">\n");
    add_samples(html, &request);
    add_answer(html, operation);
    html.raw("</div>\n</div>\n</section>\n");
}

fn add_facts(html: &mut Html, operation: &ReferenceOperation) {
    if !operation.is_built {
        html.raw("<p class=\"warn\">Not built yet: answers 501 <code>not_implemented</code>.</p>\n");
    }
    match &operation.scope {
        Some(scope) => {
            html.raw("<p>Scope: <a href=\"/docs/api#scopes\"><code>").text(scope).raw("</code></a></p>\n");
        }
        None if operation.needs_key => {
            html.raw("<p>Scope: none; any valid key may call it.</p>\n");
        }
        None => {
            html.raw("<p>Needs no API key.</p>\n");
        }
    }
}

fn add_parameters(html: &mut Html, reference: &ApiReference, operation: &ReferenceOperation) {
    let is_first = |parameter: &&ReferenceParameter| {
        parameter.is_required || MOST_USED.contains(&parameter.name.as_str())
    };
    let (mut first, mut rest): (Vec<_>, Vec<_>) = operation.parameters.iter().partition(is_first);
    first.sort_by_key(|parameter| !parameter.is_required);
    if first.is_empty() && rest.is_empty() {
        return;
    }
    if rest.len() < MIN_FOLDED {
        first.append(&mut rest);
    }
    html.raw("<h3>Parameters</h3>\n");
    add_parameter_list(html, reference, operation, &first);
    if !rest.is_empty() {
        html.raw("<details><summary>").text(&rest.len().to_string()).raw(" more parameters</summary>\n");
        add_parameter_list(html, reference, operation, &rest);
        html.raw("</details>\n");
    }
}

fn add_parameter_list(
    html: &mut Html,
    reference: &ApiReference,
    operation: &ReferenceOperation,
    parameters: &[&ReferenceParameter],
) {
    if parameters.is_empty() {
        return;
    }
    html.raw("<ul class=\"fields\">\n");
    for parameter in parameters {
        html.raw("<li data-parameter=\"")
            .text(&parameter.name)
            .raw("\" data-in=\"")
            .text(&parameter.place)
            .raw("\"");
        if parameter.is_required {
            html.raw(" data-required");
        }
        if let Some(words) = choices(reference, &parameter.schema) {
            html.raw(" data-words=\"").text(&words.join(" ")).raw("\"");
        }
        if let Some(list) = reference.list_of(operation, &parameter.name) {
            html.raw(" data-list=\"").text(list).raw("\"");
        }
        html.raw("><code class=\"name\">").text(&parameter.name).raw("</code> <span class=\"type\">");
        html.text(&reference.schemas.type_name(&parameter.schema)).raw("</span> <span class=\"type\">");
        html.text(&parameter.place).raw("</span>");
        add_bounds(html, &reference.schemas, &parameter.schema);
        if parameter.is_required {
            html.raw(" <span class=\"must\">required</span>");
        }
        if let Some(default) = parameter.schema.get("default") {
            html.raw(" <span class=\"type\">default ").text(&default.to_string()).raw("</span>");
        }
        html.raw("<div class=\"about\">");
        markup::add(html, &parameter.description);
        html.raw("</div>");
        add_values(html, &reference.schemas, &parameter.schema);
        html.raw("</li>\n");
    }
    html.raw("</ul>\n");
}

/// The values of a parameter that has a closed list of words without spaces.
fn choices(reference: &ApiReference, schema: &Value) -> Option<Vec<String>> {
    if schema["type"] == "boolean" {
        return Some(vec!["true".to_owned(), "false".to_owned()]);
    }
    let words = reference.schemas.words(schema)?;
    Some(words.into_iter().map(|word| word.trim_matches('"').to_owned()).collect())
}

fn add_bodies(html: &mut Html, operation: &ReferenceOperation, lists: &mut FieldLists<'_>) {
    if let Some(body) = &operation.body {
        html.raw("<h3>Body");
        html.raw(if operation.is_body_required { "" } else { " (optional)" }).raw("</h3>\n");
        add_media_types(html, &body.media_types);
        lists.add(html, &body.schema, true);
    }
    html.raw("<h3>Answer ").text(&operation.status).raw("</h3>\n");
    match &operation.answer {
        Some(answer) => {
            add_media_types(html, &answer.media_types);
            html.raw("<details class=\"all\"><summary>Fields</summary>\n");
            lists.add(html, &answer.schema, false);
            html.raw("</details>\n");
        }
        None => {
            html.raw("<p>No body.</p>\n");
        }
    }
}

/// The media types, unless JSON is the only one.
fn add_media_types(html: &mut Html, media_types: &[String]) {
    if media_types == ["application/json"] {
        return;
    }
    html.raw("<p>As ");
    for (at, media_type) in media_types.iter().enumerate() {
        html.raw(if at == 0 { "<code>" } else { " or <code>" }).text(media_type).raw("</code>");
    }
    html.raw("</p>\n");
}

/// The error codes: first those that fewer than half of the operations have.
fn add_codes(html: &mut Html, reference: &ApiReference, operation: &ReferenceOperation) {
    let is_rare = |code: &&String| {
        let count = reference.operations.iter().filter(|other| other.codes.contains(*code)).count();
        count * 2 < reference.operations.len()
    };
    let (rare, common): (Vec<&String>, Vec<&String>) = operation.codes.iter().partition(is_rare);
    html.raw("<h3>Errors</h3>\n");
    add_code_list(html, &rare);
    if !common.is_empty() {
        html.raw("<details><summary>").text(&common.len().to_string());
        html.raw(" codes that most operations have</summary>\n");
        add_code_list(html, &common);
        html.raw("</details>\n");
    }
}

fn add_code_list(html: &mut Html, codes: &[&String]) {
    if codes.is_empty() {
        return;
    }
    html.raw("<ul class=\"codes\">\n");
    for code in codes {
        html.raw("<li><a href=\"/docs/errors/")
            .text(code)
            .raw("\"><code>")
            .text(code)
            .raw("</code></a></li>\n");
    }
    html.raw("</ul>\n");
}

/// The samples of a request: disclosures of which one is open at a time, the first at the beginning.
pub fn add_samples(html: &mut Html, request: &SampleRequest<'_>) {
    html.raw("<div class=\"samples\">\n");
    for (at, sample) in samples::all(request).iter().enumerate() {
        html.raw("<details class=\"sample\" data-language=\"").text(sample.language).raw("\" name=\"sample-");
        html.text(&request.operation.id).raw(if at == 0 { "\" open>" } else { "\">" });
        html.raw("<summary>").text(sample.label).raw("</summary>\n<pre tabindex=\"0\"><code>");
        html.text(&sample.code).raw("</code></pre></details>\n");
    }
    html.raw("</div>\n");
}

fn add_answer(html: &mut Html, operation: &ReferenceOperation) {
    let Some(exchange) = operation.exchange() else { return };
    let Some(response) = exchange.get("response") else { return };
    html.raw("<p class=\"status\">")
        .text(&exchange["status"].to_string())
        .raw("</p>\n<pre tabindex=\"0\"><code>");
    html.text(&format!("{response:#}")).raw("</code></pre>\n");
}
