//! `resources.ts`: the operations as methods of TypeScript.

use serde_json::Value;

use crate::clients::document::{ApiDocument, ClientOperation, SuccessBody, referred};
use crate::clients::tree::Namespace;

/// The classes that every file has, and the types of their signatures.
const IMPORTS: &str = r#"import { type FollowOptions, type StreamOptions, followChanges, followEvents } from "../core/feeds.js";
import { type Change, type ModifyOptions, modify } from "../core/modify.js";
import type { NoQuery, RequestOptions } from "../core/options.js";
import type { Pages } from "../core/pages.js";
import { path } from "../core/path.js";
import { Resource } from "../core/resource.js";
import type * as T from "./types.js";
"#;

/// Prints the classes; `provenance` is the first line without its comment sign.
pub fn print(document: &ApiDocument, provenance: &str) -> String {
    let root = Namespace::root(&document.operations);
    let mut out = format!(
        "// {provenance}\n/** The operations of the API as methods: one class for each part of the paths. */\n{IMPORTS}"
    );
    out += &format!(
        "\n/** The version of the API that the methods are of. */\nexport const API_VERSION = \"{}\";\n",
        document.version()
    );
    out += "\n/** All parts of the API. */\nexport class Resources extends Resource {\n";
    out += &fields(&root);
    out += "}\n";
    for namespace in root.descendants() {
        out += &class(namespace);
    }
    out
}

fn class(namespace: &Namespace<'_>) -> String {
    let mut members: Vec<String> =
        namespace.operations.iter().flat_map(|operation| methods(operation)).collect();
    if let Some((get, update)) = namespace.versioned() {
        members.push(modify(get, update));
    }
    let fields = fields(namespace);
    let mut out = format!("\nexport class {} extends Resource {{\n{fields}", namespace.class());
    if !fields.is_empty() && !members.is_empty() {
        out.push('\n');
    }
    out += &members.join("\n");
    out + "}\n"
}

fn fields(namespace: &Namespace<'_>) -> String {
    let children = namespace.children.iter();
    children
        .map(|child| format!("  readonly {} = new {}(this.transport);\n", child.field(), child.class()))
        .collect()
}

/// The methods of an operation: mostly one.
fn methods(operation: &ClientOperation) -> Vec<String> {
    let mut printed = Vec::new();
    match &operation.answer {
        SuccessBody::Events => printed.push(events(operation)),
        SuccessBody::Bytes => {}
        SuccessBody::Changes(schema, change) => {
            printed.push(json(operation, schema));
            printed.push(follow(operation, change));
        }
        SuccessBody::Page(page, item) => printed.push(list(operation, page, item)),
        SuccessBody::Json(schema) => printed.push(json(operation, schema)),
        SuccessBody::Nothing => printed.push(nothing(operation)),
    }
    if operation.is_raw {
        printed.push(raw(operation));
    }
    printed
}

fn json(operation: &ClientOperation, schema: &Value) -> String {
    let helper = if operation.is_write() { "$write" } else { "$read" };
    let answer = type_name(schema);
    let call = format!("this.{helper}(\"{}\", {}, {})", operation.method, path(operation), values(operation));
    method(operation, operation.name(), &format!("Promise<{answer}>"), &call)
}

fn nothing(operation: &ClientOperation) -> String {
    let call = format!("this.$end(\"{}\", {}, {})", operation.method, path(operation), values(operation));
    method(operation, operation.name(), "Promise<void>", &call)
}

fn list(operation: &ClientOperation, page: &Value, item: &Value) -> String {
    let (page, item) = (type_name(page), type_name(item));
    let call = format!("this.$list({}, query, options)", path(operation));
    method(operation, operation.name(), &format!("Pages<{page}, {item}>"), &call)
}

fn raw(operation: &ClientOperation) -> String {
    let call = format!("this.$bytes({}, \"application/octet-stream\", query, options)", path(operation));
    method(operation, &format!("{}Raw", operation.name()), "Promise<Response>", &call)
}

fn events(operation: &ClientOperation) -> String {
    let comment = comment(&operation.summary, &operation.description);
    format!(
        "{comment}  follow(options?: StreamOptions): AsyncGenerator<T.Notification, void, undefined> {{\n    return followEvents(this.transport, {}, options);\n  }}\n",
        path(operation)
    )
}

fn follow(operation: &ClientOperation, change: &Value) -> String {
    let about = "Yields changes as they come, from the stored cursor on. The cursor of a page is stored when its last change was \
                 processed and the next one is asked for, so a change can come twice after a crash and is never lost.";
    let mut parameters: Vec<String> = operation.ids.iter().map(|id| format!("{id}: string")).collect();
    let optional = if operation.needs_query() { "" } else { "?" };
    let query = format!("Omit<T.{}, \"cursor\">", operation.query_type());
    parameters.push(format!("options{optional}: FollowOptions & {query}"));
    format!(
        "{}  follow({}): AsyncGenerator<{}, void, undefined> {{\n    return followChanges(this.transport, {}, options);\n  }}\n",
        comment(&format!("{}, and follow what comes", operation.summary), about),
        parameters.join(", "),
        type_name(change),
        path(operation)
    )
}

/// `modify`: a change that depends on the version that was read.
fn modify(get: &ClientOperation, update: &ClientOperation) -> String {
    let ids: String = get.ids.iter().map(|id| format!("{id}: string, ")).collect();
    let names: String = get.ids.iter().map(|id| format!("{id}, ")).collect();
    let body = update.body.as_ref().map_or_else(|| "unknown".to_owned(), |body| type_name(&body.schema));
    let (current, result) = (answer_type(get), answer_type(update));
    let both = if current == result { current.clone() } else { format!("{current} | {result}") };
    let (query_type, query, rest) = match update.query.is_empty() {
        true => (String::new(), "undefined", "options"),
        false => (format!(" & {{ query?: T.{} }}", update.query_type()), "query", "rest"),
    };
    let unpacked = if rest == "rest" { "    const { query, ...rest } = options;\n" } else { "" };
    format!(
        "{}  modify({ids}change: Change<{current}, {body}>, options: ModifyOptions{query_type} = {{}}): Promise<{both}> {{\n{unpacked}    return modify((o) => this.get({names}undefined, o), (patch: {body}, o) => this.update({names}patch, {query}, o), change, {rest});\n  }}\n",
        comment(
            "Change the newest version",
            "Reads the resource, calls `change`, and writes the patch that it returns; starts again if the resource was changed in between.",
        ),
    )
}

fn answer_type(operation: &ClientOperation) -> String {
    match &operation.answer {
        SuccessBody::Json(schema) => type_name(schema),
        _ => "void".to_owned(),
    }
}

/// A method with its comment and its one line.
fn method(operation: &ClientOperation, name: &str, result: &str, call: &str) -> String {
    let comment = comment(&operation.summary, &operation.description);
    format!("{comment}  {name}({}): {result} {{\n    return {call};\n  }}\n", parameters(operation))
}

/// The parameters in their order: ids, body, query, options. An operation without query parameters has a place for them too, so that a later
/// version can add some. Required parameters never follow optional ones: the types do not allow it.
fn parameters(operation: &ClientOperation) -> String {
    let mut printed: Vec<String> = operation.ids.iter().map(|id| format!("{id}: string")).collect();
    if let Some(body) = &operation.body {
        let kind = type_name(&body.schema);
        printed.push(match (body.is_required, operation.needs_query()) {
            (true, _) => format!("body: {kind}"),
            (false, true) => format!("body: {kind} | undefined"),
            (false, false) => format!("body?: {kind}"),
        });
    }
    let optional = if operation.needs_query() { "" } else { "?" };
    let query = if operation.query.is_empty() {
        "NoQuery".to_owned()
    } else {
        format!("T.{}", operation.query_type())
    };
    printed.push(format!("query{optional}: {query}"));
    printed.push("options?: RequestOptions".to_owned());
    printed.join(", ")
}

/// The arguments for query, body and options of a helper.
fn values(operation: &ClientOperation) -> &'static str {
    if operation.body.is_some() { "query, body, options" } else { "query, undefined, options" }
}

/// The path as a template: `` path`/v1/calendars/${calendarId}` ``.
fn path(operation: &ClientOperation) -> String {
    if operation.ids.is_empty() {
        return format!("\"{}\"", operation.path);
    }
    let template = operation
        .ids
        .iter()
        .fold(operation.path.clone(), |path, id| path.replace(&format!("{{{id}}}"), &format!("${{{id}}}")));
    format!("path`{template}`")
}

fn type_name(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return format!("T.{name}");
    }
    match schema["type"].as_str() {
        Some("array") => format!("Array<{}>", type_name(&schema["items"])),
        Some("string") => "string".to_owned(),
        Some("integer" | "number") => "number".to_owned(),
        Some("boolean") => "boolean".to_owned(),
        Some("object") => "Record<string, unknown>".to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// A comment in front of a method.
fn comment(summary: &str, description: &str) -> String {
    let text = format!("{summary}.\n\n{description}").replace("*/", "*\u{200b}/");
    let lines: Vec<&str> = text.trim_end().lines().collect();
    if let [line] = lines.as_slice() {
        return format!("  /** {line} */\n");
    }
    let lines: String =
        lines.iter().map(|line| format!("   * {line}").trim_end().to_owned() + "\n").collect();
    format!("  /**\n{lines}   */\n")
}
