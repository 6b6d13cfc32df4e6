//! The OpenAPI 3.1 document, printed from the operations' rows and the model's types. Nothing in it is written twice: what all
//! operations share stands under `components`.

pub mod components;
pub mod error_codes;
pub mod examples;
pub mod parameters;
pub mod published;
pub mod schemas;
pub mod tags;

use base::error::Code;
use http::Method;
use model::connection::OAuthError;
use model::error::ErrorEnvelope;
use model::webhook::Notification;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::api::openapi::components::{
    common_headers, components, further_fields, listed_response, other_answers, shared_response, webhook,
};
use crate::api::openapi::parameters::{header_parameter, path_parameter, query_parameters};
use crate::api::openapi::schemas::{
    SCHEMAS, differing, drop_unused, family, is_telling, join_single_choices, referred, rename, strip_bounds,
    strip_defaults,
};
use crate::api::operation::Operation;

/// Version of the interface description, not of the program.
pub const VERSION: &str = "1.0.0";

/// The licence of the interface description, as an SPDX expression.
const LICENCE: &str = "MIT OR Apache-2.0";

/// The responses that the contract declares on every operation.
const DECLARED: [u16; 8] = [200, 201, 202, 204, 400, 401, 409, 429];

/// The readers that a document is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// The contract: its eight statuses are declared on every operation, also those that the operation does not answer.
    Contract,
    /// Generators of clients: an operation has only the statuses that it answers, so that its result has one type.
    Clients,
}

/// The contract's document of these operations.
pub fn document<'a>(operations: impl IntoIterator<Item = &'a Operation>, server_url: &str) -> Value {
    print(operations, server_url, Flavour::Contract)
}

/// The document of these operations for some readers. `server_url` is the service's own public address.
pub fn print<'a>(
    operations: impl IntoIterator<Item = &'a Operation>,
    server_url: &str,
    flavour: Flavour,
) -> Value {
    let settings = || SchemaSettings::draft2020_12().with(|s| s.definitions_path = SCHEMAS.into());
    let mut printer = Printer {
        flavour,
        answers: settings().for_serialize().into_generator(),
        requests: settings().for_deserialize().into_generator(),
        lists: Map::new(),
    };
    let mut operations: Vec<&Operation> = operations.into_iter().collect();
    operations.sort_by_key(|o| rank(o.path));
    let (mut paths, mut tags) = (Map::new(), Vec::<&str>::new());
    for operation in operations {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[operation.method.as_str().to_lowercase()] = printer.operation(operation);
        if !tags.contains(&operation.tag) {
            tags.push(operation.tag);
        }
    }
    let notification = printer.answers.subschema_for::<Notification>().to_value();
    printer.answers.subschema_for::<ErrorEnvelope>();
    printer.answers.subschema_for::<OAuthError>();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard",
            "version": VERSION,
            "description": INTRODUCTION,
            "contact": { "name": "The operator of this installation", "url": server_url },
            "license": { "name": LICENCE, "identifier": LICENCE },
        },
        "servers": [{ "url": server_url }],
        "security": [{ "ServiceApiKey": [] }],
        "tags": tags.iter().map(|t| json!({ "name": t, "description": tags::description(t) })).collect::<Vec<_>>(),
        "paths": paths,
        "webhooks": { "notification": webhook(&notification) },
    });
    document["components"] = components(printer.schemas(&mut document));
    if flavour == Flavour::Clients
        && let Some(responses) = document["components"]["responses"].as_object_mut()
    {
        responses.remove("NotUsed");
    }
    drop_unused(&mut document);
    document
}

/// Families of paths in the order in which they are shown.
const ORDER: &str = "auth connections api-keys oauth usage webhooks events email calendars contacts contact-books \
                     contact-groups task-lists scheduling providers test admin";

fn rank(path: &str) -> usize {
    let family = path.split('/').nth(2).unwrap_or_default();
    ORDER.split_whitespace().position(|f| f == family).unwrap_or(usize::MAX)
}

/// The text above the operations: conventions, scopes, error codes.
const INTRODUCTION: &str = include_str!("introduction.md");

/// Schemas of answers and of requests differ: an answer has all fields, a request few.
struct Printer {
    flavour: Flavour,
    answers: SchemaGenerator,
    requests: SchemaGenerator,
    /// Pages, by name.
    lists: Map<String, Value>,
}

impl Printer {
    fn operation(&mut self, o: &Operation) -> Value {
        let mut printed = json!({
            "operationId": o.id(),
            "tags": [o.tag],
            "summary": o.docs.summary,
            "description": description(o),
            "parameters": self.parameters(o),
            "responses": self.responses(o),
            "x-error-codes": error_codes::names(o),
        });
        if let Some(label) = o.priority.label() {
            printed["x-service-priority"] = json!(label);
        }
        if !o.scope.is_empty() {
            printed["x-required-scope"] = json!(o.scope);
        }
        if !o.built {
            printed["x-service-status"] = json!("not_implemented");
        }
        if o.public {
            printed["security"] = json!([{}, { "ServiceApiKey": [] }]);
        }
        if let Some(request) = o.docs.request {
            let schema = request(&mut self.requests).to_value();
            printed["requestBody"] = json!({
                "required": !o.docs.is_body_optional
                    && (o.method == Method::PATCH || o.status() == 201 || self.has_required(&schema)),
                "content": content(&schema, &schema, &o.docs.request_types),
            });
        }
        examples::add(&mut printed, &o.id());
        printed
    }

    fn has_required(&self, schema: &Value) -> bool {
        let known = referred(schema).and_then(|name| self.requests.definitions().get(name));
        known.and_then(|s| s.get("required")?.as_array()).is_some_and(|r| !r.is_empty())
    }

    fn parameters(&mut self, o: &Operation) -> Vec<Value> {
        let mut printed: Vec<Value> = o.path_parameters().map(path_parameter).collect();
        for query in &o.docs.queries {
            printed.extend(query_parameters(&query(&mut self.requests).to_value()));
        }
        printed.extend(o.docs.headers.iter().map(header_parameter));
        let named = |name: &str| printed.iter().any(|p| p["name"] == name);
        let shared = [
            (o.paged && !named("limit"), "Limit"),
            (o.paged && !named("cursor"), "Cursor"),
            (o.is_write(), "IdempotencyKey"),
            (o.takes_etag(), "IfMatch"),
            (o.reads_copy(), "Fresh"),
        ];
        let shared = shared.iter().filter(|(wanted, _)| *wanted);
        printed.extend(shared.map(|(_, name)| json!({ "$ref": format!("#/components/parameters/{name}") })));
        printed
    }

    fn responses(&mut self, o: &Operation) -> Value {
        let (id, codes) = (o.id(), error_codes::codes(o));
        let mut printed: Map<String, Value> = other_answers(&id).collect();
        for status in DECLARED {
            let response = match status {
                _ if status == o.status() => self.success(o),
                _ if printed.contains_key(&status.to_string()) => continue,
                401 if o.oauth_errors => shared_response("OAuthUnknownClient"),
                400 | 409 | 429 if o.oauth_errors => shared_response("OAuthError"),
                400 => listed_response("BadRequest", &with_status(&codes, 400)),
                401 => shared_response("Unauthorized"),
                409 => listed_response("Conflict", &with_status(&codes, 409)),
                429 => shared_response("RateLimited"),
                _ if self.flavour == Flavour::Clients => continue,
                _ => shared_response("NotUsed"),
            };
            printed.insert(status.to_string(), response);
        }
        let default = match o.oauth_errors {
            true => shared_response("OAuthError"),
            false => listed_response("Error", &others(&codes)),
        };
        printed.insert("default".into(), default);
        Value::Object(printed)
    }

    fn success(&mut self, o: &Operation) -> Value {
        let mut headers = common_headers();
        if o.is_write() {
            headers["idempotent-replayed"] = json!({ "$ref": "#/components/headers/IdempotentReplayed" });
        }
        if o.reads_copy() {
            headers["x-data-source"] = json!({ "$ref": "#/components/headers/DataSource" });
            headers["x-data-age"] = json!({ "$ref": "#/components/headers/DataAge" });
        }
        if o.docs.streams {
            let content = json!({ "text/event-stream": { "schema": { "type": "string" } } });
            return json!({ "description": "Server-sent events", "headers": headers, "content": content });
        }
        let Some(response) = o.docs.response.filter(|_| o.status() != 204) else {
            return json!({ "description": "Done; no body", "headers": headers });
        };
        let mut schema = response(&mut self.answers).to_value();
        if o.list {
            schema = self.page(schema, o.reads_copy());
        } else if o.docs.request.is_none() || o.is_write() {
            headers["ETag"] = json!({ "$ref": "#/components/headers/ETag" });
        }
        let binary = json!({});
        json!({
            "description": "Success",
            "headers": headers,
            "content": content(&schema, &binary, &o.docs.response_types),
        })
    }

    /// A page of these, as a schema of its own where the items have a name. `may_lack`: some of what is listed may not be readable.
    fn page(&mut self, item: Value, may_lack: bool) -> Value {
        let mut page = json!({
            "type": "object",
            "properties": {
                "data": { "type": "array", "items": item, "description": "The items of the page, in the order of the list." },
                "next_cursor": {
                    "type": ["string", "null"],
                    "description": "The value to send as `cursor` for the next page; `null` at the end of the list.",
                },
                "warnings": {
                    "type": "array",
                    "items": { "type": "object" },
                    "description": "One warning for each parameter that the operation does not have, with its name as `target`, and one for each connection that could not be read, with its id as `target`. Each has a `code` and a `message`. Absent if there are none.",
                },
            },
            "required": ["data", "next_cursor"],
        });
        if may_lack {
            page["properties"]["complete"] = json!({
                "type": "boolean",
                "description": "`false` if the list covers several connections and one of them could not be read; absent otherwise.",
            });
        }
        let Some(name) = referred(&page["properties"]["data"]["items"]) else { return page };
        // Not "List": a page of tasks is no task list.
        let name = format!("{name}Page");
        let reference = json!({ "$ref": format!("#{SCHEMAS}/{name}") });
        self.lists.insert(name, page);
        reference
    }

    /// All schemas. A type that is in requests and in answers and looks different there gets a second name in requests,
    /// which the operations printed so far are changed to.
    fn schemas(mut self, document: &mut Value) -> Map<String, Value> {
        let mut answers = self.answers.take_definitions(true);
        let mut requests = self.requests.take_definitions(true);
        for schema in answers.values_mut() {
            strip_defaults(schema, |_| false);
            strip_bounds(schema);
        }
        for (name, schema) in &mut requests {
            let is_patch = name.ends_with("Patch");
            strip_defaults(schema, |value| !is_patch && is_telling(value));
        }
        let renamed = differing(&answers, &requests);
        for schema in requests.values_mut() {
            rename(schema, &renamed);
        }
        for operation in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            for (_, operation) in operation.as_object_mut().into_iter().flatten() {
                for part in ["requestBody", "parameters"] {
                    operation.get_mut(part).into_iter().for_each(|p| rename(p, &renamed));
                }
            }
        }
        for (name, schema) in requests {
            let name = if renamed.contains(&name) { format!("{name}Input") } else { name };
            answers.insert(name, schema);
        }
        answers.extend(self.lists);
        for (schema, field, form) in further_fields() {
            if let Some(schema) = answers.get_mut(schema) {
                schema["properties"][field] = form;
            }
        }
        answers.values_mut().for_each(join_single_choices);
        let mut schemas: Vec<(String, Value)> = answers.into_iter().collect();
        schemas.sort_by(|(one, _), (other, _)| (family(one), one).cmp(&(family(other), other)));
        schemas.into_iter().collect()
    }
}

/// The codes of a status.
fn with_status(codes: &[Code], status: u16) -> Vec<Code> {
    codes.iter().copied().filter(|code| error_codes::status(*code) == status).collect()
}

/// The codes of statuses that have no response of their own.
fn others(codes: &[Code]) -> Vec<Code> {
    codes.iter().copied().filter(|code| !DECLARED.contains(&error_codes::status(*code))).collect()
}

/// The summary's continuation, the scope, and whether it is there yet.
fn description(o: &Operation) -> String {
    let mut parts = Vec::new();
    if !o.docs.description.is_empty() {
        parts.push(o.docs.description.to_owned());
    }
    if !o.scope.is_empty() {
        parts.push(format!("Needs the scope `{}`.", o.scope));
    }
    if !o.built {
        parts.push("Not built yet: answers 501 `not_implemented`.".into());
    }
    parts.join("\n\n")
}

fn content(json: &Value, other: &Value, other_types: &[&'static str]) -> Value {
    let mut content = Map::new();
    content.insert("application/json".into(), json!({ "schema": json }));
    for media_type in other_types {
        content.insert((*media_type).into(), json!({ "schema": other }));
    }
    Value::Object(content)
}

#[cfg(test)]
mod tests;
