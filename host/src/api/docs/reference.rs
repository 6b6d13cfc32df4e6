//! The API's OpenAPI document as the documentation pages use it: headings, operations with resolved parameters, bodies and responses, error
//! codes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::api::docs::remedies::OAUTH;
use crate::api::docs::schema::SchemaBook;
use crate::api::openapi::examples;

/// The HTTP methods of an OpenAPI path, in the order of the pages.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The parsed document.
pub struct ApiReference {
    /// The public URL of this service, without a trailing slash.
    pub address: String,
    pub version: String,
    /// The text above the operations, as Markdown.
    pub introduction: String,
    pub tags: Vec<ReferenceTag>,
    pub operations: Vec<ReferenceOperation>,
    /// Error codes by status: those of the introduction's table, then codes of operations that it lacks.
    pub errors: Vec<ErrorRow>,
    pub schemas: SchemaBook,
}

/// A heading of operations.
pub struct ReferenceTag {
    pub name: String,
    /// The last part of its page's address.
    pub slug: String,
    pub description: String,
}

/// An operation of the document.
pub struct ReferenceOperation {
    pub id: String,
    /// In upper case.
    pub method: String,
    pub path: String,
    pub tag: String,
    pub summary: String,
    /// Markdown, without the sentence about the scope.
    pub description: String,
    pub scope: Option<String>,
    pub codes: Vec<String>,
    pub is_built: bool,
    pub needs_key: bool,
    pub parameters: Vec<ReferenceParameter>,
    pub body: Option<ReferenceContent>,
    pub is_body_required: bool,
    /// The statuses of success, such as `201` or `200 or 202`.
    pub status: String,
    pub answer: Option<ReferenceContent>,
}

/// A parameter of an operation.
pub struct ReferenceParameter {
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    pub is_required: bool,
    pub description: String,
    pub schema: Value,
}

/// The schema of a body and its media types.
pub struct ReferenceContent {
    pub schema: Value,
    pub media_types: Vec<String>,
}

/// A row of the table of error codes.
pub struct ErrorRow {
    pub code: String,
    pub status: String,
    /// Markdown, a sentence without its full stop.
    pub meaning: String,
}

impl ApiReference {
    /// Parses a document in the form for clients.
    pub fn read(document: &Value, address: &str) -> ApiReference {
        let schemas = SchemaBook::new(document["components"]["schemas"].as_object().cloned());
        let tags = document["tags"].as_array().into_iter().flatten().map(|tag| ReferenceTag {
            name: text(&tag["name"]),
            slug: slug(&text(&tag["name"])),
            description: text(&tag["description"]),
        });
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                if let Some(operation) = item.get(method) {
                    operations.push(read_operation(document, path, method, operation));
                }
            }
        }
        let introduction = text(&document["info"]["description"]);
        let errors = error_rows(&introduction, &operations);
        ApiReference {
            address: address.to_owned(),
            version: text(&document["info"]["version"]),
            introduction,
            tags: tags.collect(),
            operations,
            errors,
            schemas,
        }
    }

    /// Returns the operations under a heading.
    pub fn under<'r>(&'r self, tag: &'r str) -> impl Iterator<Item = &'r ReferenceOperation> {
        self.operations.iter().filter(move |operation| operation.tag == tag)
    }

    /// Finds the operation with this id.
    pub fn operation(&self, id: &str) -> Option<&ReferenceOperation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// Returns the path of an operation in the documentation.
    pub fn link(operation: &ReferenceOperation) -> String {
        format!("/docs/api/{}#{}", slug(&operation.tag), operation.id)
    }

    /// Returns the scopes with the rights that they give a key, as Markdown.
    pub fn scopes(&self) -> Vec<[String; 2]> {
        let mut rows = Vec::new();
        let mut is_scopes = false;
        for line in self.introduction.lines() {
            if line.starts_with("## ") {
                is_scopes = line == "## Scopes";
            }
            if is_scopes
                && let [name, meaning] = cells(line).as_slice()
                && let Some(name) = quoted(name)
            {
                rows.push([name.to_owned(), meaning.clone()]);
            }
        }
        rows
    }

    /// Returns the path of the list operation whose items have the id that this path parameter takes, if there is one.
    pub fn list_of(&self, operation: &ReferenceOperation, name: &str) -> Option<&str> {
        let lists = |path: &str| {
            self.operations
                .iter()
                .find(|other| other.method == "GET" && other.path == path)
                .filter(|other| other.parameters.iter().any(|parameter| parameter.name == "cursor"))
        };
        if let Some((before, _)) = operation.path.split_once(&format!("/{{{name}}}"))
            && let Some(list) = lists(before)
        {
            return Some(&list.path);
        }
        match name {
            "connectionId" | "connection_id" => Some("/v1/connections"),
            "calendar_id" => Some("/v1/calendars"),
            _ => None,
        }
    }
}

impl ReferenceOperation {
    /// Returns the exchange that a test of the service recorded, if there is one.
    pub fn exchange(&self) -> Option<&'static Value> {
        examples::all().find(|(id, _)| **id == self.id).map(|(_, exchange)| exchange)
    }

    /// Returns the parameters in one location.
    pub fn parameters_in<'r>(&'r self, place: &'r str) -> impl Iterator<Item = &'r ReferenceParameter> {
        self.parameters.iter().filter(move |parameter| parameter.place == place)
    }

    /// Whether the response is a page of a list, which the clients iterate.
    pub fn is_list(&self) -> bool {
        let last = self.id.rsplit('.').next().unwrap_or_default();
        self.method == "GET" && last != "changes" && self.parameters.iter().any(|p| p.name == "cursor")
    }
}

/// Returns a value as text; empty if it is not a text.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// `Task lists` → `task-lists`.
pub fn slug(heading: &str) -> String {
    let mut out = String::new();
    for c in heading.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// Returns the cells of a Markdown table row; empty for another line.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.strip_prefix('|').and_then(|rest| rest.trim_end().strip_suffix('|')) else {
        return Vec::new();
    };
    inner.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the text between two backticks that span the whole cell.
fn quoted(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

/// Returns the rows of the introduction's table of error codes, then codes of operations that it lacks: those of the token endpoint.
fn error_rows(introduction: &str, operations: &[ReferenceOperation]) -> Vec<ErrorRow> {
    let mut rows: Vec<ErrorRow> = introduction.lines().filter_map(error_row).collect();
    let known: BTreeSet<&String> = rows.iter().map(|row| &row.code).collect();
    let used: BTreeSet<&String> = operations.iter().flat_map(|operation| &operation.codes).collect();
    let others: Vec<String> = used.difference(&known).map(|code| (*code).clone()).collect();
    rows.extend(others.into_iter().map(|code| {
        let known = OAUTH.iter().find(|[known, ..]| *known == code);
        let [status, meaning] = known.map_or(["", ""], |[_, status, meaning, _]| [*status, *meaning]);
        ErrorRow { status: status.to_owned(), meaning: meaning.to_owned(), code }
    }));
    rows
}

/// Parses a row of the table of error codes: a code, a status, a meaning.
fn error_row(line: &str) -> Option<ErrorRow> {
    let cells = cells(line);
    let [code, status, meaning] = cells.as_slice() else { return None };
    status.parse::<u16>().ok()?;
    Some(ErrorRow { code: quoted(code)?.to_owned(), status: status.clone(), meaning: meaning.clone() })
}

/// Returns the value to which a reference of the document points; the value itself if it is not a reference.
fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

fn read_operation(document: &Value, path: &str, method: &str, operation: &Value) -> ReferenceOperation {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let scope = operation["x-required-scope"].as_str().map(str::to_owned);
    let sentence = scope.as_ref().map(|scope| format!("Needs the scope `{scope}`."));
    let description = text(&operation["description"]);
    let description = match &sentence {
        Some(sentence) => description.replace(sentence.as_str(), ""),
        None => description,
    };
    let codes = operation["x-error-codes"].as_array().into_iter().flatten();
    let (status, answer) = success(document, &operation["responses"]);
    ReferenceOperation {
        id: text(&operation["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        tag: text(&operation["tags"][0]),
        summary: text(&operation["summary"]),
        description: description.trim().to_owned(),
        scope,
        codes: codes.map(text).collect(),
        is_built: operation.get("x-service-status").is_none(),
        needs_key: operation.get("security").is_none(),
        parameters: parameters.map(|parameter| read_parameter(resolve(document, parameter))).collect(),
        body: operation["requestBody"]["content"].as_object().and_then(read_content),
        is_body_required: operation["requestBody"]["required"] == true,
        status,
        answer,
    }
}

fn read_parameter(parameter: &Value) -> ReferenceParameter {
    ReferenceParameter {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        is_required: parameter["required"] == true,
        description: text(&parameter["description"]),
        schema: parameter["schema"].clone(),
    }
}

/// Returns the statuses of success, and the body of the first one that has a body.
fn success(document: &Value, responses: &Value) -> (String, Option<ReferenceContent>) {
    let mut statuses = Vec::new();
    let mut answer = None;
    for (status, response) in responses.as_object().into_iter().flatten() {
        if status.starts_with('2') {
            statuses.push(status.as_str());
            let content = resolve(document, response)["content"].as_object().and_then(read_content);
            answer = answer.or(content);
        }
    }
    (statuses.join(" or "), answer)
}

/// Returns the JSON schema of a body, or the schema of its first media type.
fn read_content(content: &Map<String, Value>) -> Option<ReferenceContent> {
    let media = content.get("application/json").or_else(|| content.values().next())?;
    Some(ReferenceContent { schema: media["schema"].clone(), media_types: content.keys().cloned().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;
    use crate::api::openapi::{Flavour, print};

    fn reference() -> ApiReference {
        let operations = api::operations();
        let document = print(&operations, "https://api.example.com", Flavour::Clients);
        ApiReference::read(&document, "https://api.example.com")
    }

    #[test]
    fn every_operation_is_read() {
        let reference = reference();
        assert_eq!(reference.operations.len(), api::operations().len());
        let create = reference.operation("calendars.events.create").expect("the operation");
        assert_eq!((create.method.as_str(), create.status.as_str()), ("POST", "201"));
        assert_eq!(create.scope.as_deref(), Some("calendar.write"));
        assert!(create.body.is_some() && create.is_body_required && create.needs_key && create.is_built);
        assert!(!create.description.contains("Needs the scope"), "{}", create.description);
        assert_eq!(reference.list_of(create, "calendarId"), Some("/v1/calendars"));
        assert_eq!(ApiReference::link(create), "/docs/api/events#calendars.events.create");
        assert!(reference.tags.iter().all(|tag| reference.under(&tag.name).next().is_some()));
    }

    #[test]
    fn codes_and_scopes_have_their_meaning() {
        let reference = reference();
        let stale = reference.errors.iter().find(|row| row.code == "stale_etag").expect("the code");
        assert!(stale.status == "409" && !stale.meaning.is_empty());
        let scopes = reference.scopes();
        assert!(scopes.iter().any(|[name, meaning]| name == "calendar.read" && !meaning.is_empty()));
    }

    #[test]
    fn a_heading_is_part_of_an_address() {
        assert_eq!(slug("Free and busy"), "free-and-busy");
        assert_eq!(slug("`switchboard listen`"), "switchboard-listen");
    }
}
