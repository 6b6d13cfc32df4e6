//! The API's OpenAPI document as the client generators use it: its operations with resolved references, `clients.json`, and the document
//! that has only types.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::clients::names::{camel, pascal};

/// The location of schemas in the document.
const SCHEMAS: &str = "#/components/schemas/";
/// The HTTP methods of the API.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// Query parameters that the clients offer as options of every call instead.
const OPTIONS: [&str; 2] = ["fresh", "strict"];
/// The media type of a response that clients return unchanged.
const BYTES: &str = "application/octet-stream";

/// The document for generators of clients.
pub struct ApiDocument {
    value: Value,
    pub operations: Vec<ClientOperation>,
}

/// An operation as the clients have it.
#[derive(Clone, Debug)]
pub struct ClientOperation {
    /// The words of its `operationId`; the last one is the method's name.
    pub words: Vec<String>,
    pub method: String,
    pub path: String,
    pub summary: String,
    pub description: String,
    /// Names of the values in the path, in order.
    pub ids: Vec<String>,
    pub query: Vec<QueryParameter>,
    /// Names of header parameters that are not options of every call.
    pub headers: Vec<String>,
    pub has_idempotency_key: bool,
    pub takes_etag: bool,
    pub body: Option<RequestBody>,
    pub answer: SuccessBody,
    /// Whether the response can be bytes.
    pub is_raw: bool,
}

/// A query parameter; `name` is its name on the wire.
#[derive(Clone, Debug)]
pub struct QueryParameter {
    pub name: String,
    pub description: String,
    pub schema: Value,
    pub is_required: bool,
}

/// The body of a request.
#[derive(Clone, Debug)]
pub struct RequestBody {
    pub schema: Value,
    pub is_required: bool,
}

/// The body of a successful response.
#[derive(Clone, Debug)]
pub enum SuccessBody {
    Nothing,
    Json(Value),
    /// A list in pages: the schema of a page, and that of an item.
    Page(Value, Value),
    /// A page of a change feed, which clients follow by its cursor: the schema of a page, and that of a change.
    Changes(Value, Value),
    /// Server-sent events.
    Events,
    /// Only bytes.
    Bytes,
}

impl ApiDocument {
    /// Parses the output of `switchboard openapi --for-clients`.
    pub fn parse(text: &str) -> Result<ApiDocument> {
        let value: Value = serde_json::from_str(text).context("the document of the API is not JSON")?;
        let mut operations = Vec::new();
        for (path, item) in value["paths"].as_object().context("the document has no paths")? {
            let members = item.as_object().into_iter().flatten();
            for (method, operation) in members.filter(|(name, _)| METHODS.contains(&name.as_str())) {
                let read = read_operation(&value, path, method, operation);
                operations.push(read.with_context(|| format!("{method} {path}"))?);
            }
        }
        Ok(ApiDocument { value, operations })
    }

    /// Renders `clients.json`: sorted keys, one line per value.
    pub fn text(&self) -> Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(&sorted(&self.value))?))
    }

    /// The version of the API.
    pub fn version(&self) -> &str {
        self.value["info"]["version"].as_str().unwrap_or_default()
    }

    /// Returns a document that has only types: the schemas, one for the query of each operation, and all error codes.
    pub fn types(&self) -> Value {
        let mut schemas = self.value["components"]["schemas"].as_object().cloned().unwrap_or_default();
        for operation in self.operations.iter().filter(|operation| !operation.query.is_empty()) {
            schemas.insert(operation.query_type(), operation.query_schema());
        }
        schemas.insert("ErrorCode".to_owned(), self.error_codes());
        schemas.sort_keys();
        json!({
            "openapi": self.value["openapi"],
            "info": { "title": self.value["info"]["title"], "version": self.value["info"]["version"] },
            "paths": {},
            "components": { "schemas": schemas },
        })
    }

    fn error_codes(&self) -> Value {
        let items = self.value["paths"].as_object().into_iter().flat_map(Map::values);
        let operations = items.filter_map(Value::as_object).flat_map(Map::values);
        let lists = operations.filter_map(|operation| operation["x-error-codes"].as_array());
        let codes: BTreeSet<&str> = lists.flatten().filter_map(Value::as_str).collect();
        json!({
            "type": "string",
            "description": "The codes of errors. A newer server may have more.",
            "enum": codes,
        })
    }
}

impl ClientOperation {
    /// The name of the method, without the words of its namespaces.
    pub fn name(&self) -> &str {
        self.words.last().map_or("", String::as_str)
    }

    /// Returns the words of its namespace.
    pub fn namespace(&self) -> &[String] {
        self.words.split_last().map_or(&[][..], |(_, namespace)| namespace)
    }

    /// Returns the name of the schema of its query parameters.
    pub fn query_type(&self) -> String {
        format!("{}Query", pascal(&self.words))
    }

    /// Whether a query parameter must be given.
    pub fn needs_query(&self) -> bool {
        self.query.iter().any(|parameter| parameter.is_required)
    }

    /// Whether it changes something, and is therefore sent with an idempotency key.
    pub fn is_write(&self) -> bool {
        self.method != "GET" && !self.path.ends_with("/query")
    }

    fn query_schema(&self) -> Value {
        let mut properties = Map::new();
        for parameter in &self.query {
            let mut schema = parameter.schema.clone();
            if let Some(schema) = schema.as_object_mut() {
                schema.remove("default");
                schema.insert("description".to_owned(), json!(parameter.description));
            }
            properties.insert(camel(&parameter.name), schema);
        }
        let required = self.query.iter().filter(|parameter| parameter.is_required);
        let required: Vec<String> = required.map(|parameter| camel(&parameter.name)).collect();
        let mut schema = json!({
            "type": "object",
            "description": format!("Query parameters of `{} {}`.", self.method, self.path),
            "properties": properties,
        });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }
}

/// Returns the first line of a generated file: the hash of the `clients.json` that it was generated from.
pub fn provenance(clients_json: &str) -> String {
    let hash: String =
        Sha256::digest(clients_json.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("of clients.json sha256:{hash}")
}

/// Returns the name of the schema that a reference names.
pub fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(SCHEMAS)
}

fn read_operation(document: &Value, path: &str, method: &str, operation: &Value) -> Result<ClientOperation> {
    let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
    let id = text("operationId");
    let words: Vec<String> = id.split('.').map(str::to_owned).collect();
    if words.len() < 2 || words.iter().any(String::is_empty) {
        bail!("the operationId {id:?} has no namespace");
    }
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&Value> = parameters.map(|parameter| resolve(document, parameter)).collect();
    let headers = names(&parameters, "header");
    let mut query = read_query(&parameters);
    let takes_cursor = method == "get" && query.iter().any(|parameter| parameter.name == "cursor");
    let (answer, is_raw) = read_answer(document, &operation["responses"], takes_cursor)?;
    if is_raw {
        // The generated methods differ instead: one returns JSON, the other bytes.
        query.retain(|parameter| parameter.name != "format");
    }
    let has_idempotency_key = headers.iter().any(|name| name == "Idempotency-Key");
    let takes_etag = headers.iter().any(|name| name == "If-Match");
    let is_option = |name: &String| ["Idempotency-Key", "If-Match", "Last-Event-ID"].contains(&name.as_str());
    Ok(ClientOperation {
        words,
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text("summary"),
        description: text("description"),
        ids: names(&parameters, "path"),
        query,
        headers: headers.into_iter().filter(|name| !is_option(name)).collect(),
        has_idempotency_key,
        takes_etag,
        body: read_body(&operation["requestBody"]),
        answer,
        is_raw,
    })
}

fn names(parameters: &[&Value], place: &str) -> Vec<String> {
    let here = parameters.iter().filter(|parameter| parameter["in"] == place);
    here.filter_map(|parameter| parameter["name"].as_str()).map(str::to_owned).collect()
}

fn read_query(parameters: &[&Value]) -> Vec<QueryParameter> {
    let here = parameters.iter().filter(|parameter| parameter["in"] == "query");
    let read = here.map(|parameter| QueryParameter {
        name: parameter["name"].as_str().unwrap_or_default().to_owned(),
        description: parameter["description"].as_str().unwrap_or_default().to_owned(),
        schema: parameter["schema"].clone(),
        is_required: parameter["required"] == true,
    });
    read.filter(|parameter| !OPTIONS.contains(&parameter.name.as_str())).collect()
}

fn read_body(body: &Value) -> Option<RequestBody> {
    let content = body["content"].as_object()?;
    let media = content.get("application/json").or_else(|| content.values().next())?;
    Some(RequestBody { schema: media["schema"].clone(), is_required: body["required"] == true })
}

/// The body of the operation's success, and whether it can be bytes. `takes_cursor`: a page of it leads to the next one.
fn read_answer(document: &Value, responses: &Value, takes_cursor: bool) -> Result<(SuccessBody, bool)> {
    let responses = responses.as_object().context("the operation has no responses")?;
    let successes =
        responses.iter().filter(|(status, _)| status.starts_with('2')).map(|(_, response)| response);
    let contents: Vec<&Value> = successes.filter_map(|response| response.get("content")).collect();
    let find = |media: &str| contents.iter().find_map(|content| content.get(media));
    let is_raw = find(BYTES).is_some();
    if find("text/event-stream").is_some() {
        return Ok((SuccessBody::Events, false));
    }
    let Some(media) = find("application/json") else {
        return Ok((if is_raw { SuccessBody::Bytes } else { SuccessBody::Nothing }, is_raw));
    };
    let schema = media["schema"].clone();
    let properties = &resolve(document, &schema)["properties"];
    let has = |name: &str| properties.get(name).is_some();
    let item = properties["data"]["items"].clone();
    let answer = match (has("data") && has("next_cursor"), has("sync_cursor")) {
        (true, true) => SuccessBody::Changes(schema, item),
        (true, false) if takes_cursor => SuccessBody::Page(schema, item),
        _ => SuccessBody::Json(schema),
    };
    Ok((answer, is_raw))
}

/// Returns the value itself, or the one in the document that it refers to.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

/// Returns the value with the keys of all objects sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            entries.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
