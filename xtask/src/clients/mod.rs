//! `cargo xtask clients`: takes the document for generators of clients from the server's program, and prints from it what `sdk/clients`
//! generates: `clients.json`, the types, and the operations as methods.

mod docstring;
mod document;
mod names;
mod python;
mod python_types;
pub mod tools;
mod tree;
mod typescript;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::clients::document::{ApiDocument, provenance};
use crate::project;
use crate::server::{self, Build};

/// The address of the service in `clients.json`; `tests/api/contract/clients.rs` has the same.
const ADDRESS: &str = "https://api.example.com";

#[derive(clap::Args)]
pub struct ClientsArguments {
    /// Take the document from this program instead of building the server.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also build the packages of both languages into `target/clients/packages`. Nothing is published.
    #[arg(long)]
    pack: bool,
}

/// Writes everything that is generated in `sdk/clients`.
pub fn run(arguments: &ClientsArguments) -> Result<()> {
    let start = Instant::now();
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => server::build(Build::Dev, project::step)?,
    };
    project::step("reading the document of the API");
    let mut command = project::command(&binary.to_string_lossy());
    command.args(["openapi", "--for-clients", "--public-url", ADDRESS]);
    let document = ApiDocument::parse(&project::output(&mut command, "switchboard openapi")?)?;
    let text = document.text()?;
    write(&tools::folder().join("clients.json"), &text)?;
    project::step("printing types and methods");
    print(&document, &provenance(&text))?;
    if arguments.pack {
        project::step("building the packages");
        tools::pack()?;
    }
    eprintln!("==> {} operations ({})", document.operations.len(), project::seconds(start));
    Ok(())
}

fn print(document: &ApiDocument, provenance: &str) -> Result<()> {
    let types = tools::state_dir().join("types.json");
    write(&types, &serde_json::to_string(&document.types())?)?;
    let typescript = tools::folder().join("typescript/src/generated");
    write(&typescript.join("resources.ts"), &typescript::print(document, provenance))?;
    let printed = tools::typescript_types(&types)?;
    write(&typescript.join("types.ts"), &format!("// {provenance}\n{printed}"))?;
    let python = tools::folder().join("python/src/switchboard/generated");
    write(&python.join("resources.py"), &python::print(document, provenance, false))?;
    write(&python.join("async_resources.py"), &python::print(document, provenance, true))?;
    let printed = tools::python_types(&types)?;
    write(&python.join("types.py"), &format!("# {provenance}\n{printed}"))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ApiDocument, python, typescript};

    fn document() -> ApiDocument {
        let id =
            json!({ "name": "calendarId", "in": "path", "required": true, "schema": { "type": "string" } });
        let text = |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string" } });
        let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        let document = json!({
            "openapi": "3.1.0",
            "info": { "title": "An API", "version": "1.2.3" },
            "paths": {
                "/v1/calendars/{calendarId}": { "delete": {
                    "operationId": "calendars.delete",
                    "summary": "Delete a calendar",
                    "parameters": [id],
                    "responses": { "204": { "description": "Done" } },
                    "x-error-codes": ["not_found", "forbidden"],
                } },
                "/v1/calendars/{calendarId}/events": { "get": {
                    "operationId": "calendars.events.list",
                    "summary": "List events",
                    "parameters": [id, text("from"), text("cursor")],
                    "responses": { "200": { "content": { "application/json": { "schema": schema("EventPage") } } } },
                    "x-error-codes": ["not_found"],
                } },
            },
            "components": { "schemas": {
                "EventPage": { "type": "object", "properties": {
                    "data": { "type": "array", "items": schema("Event") },
                    "next_cursor": { "type": ["string", "null"] },
                } },
                "Event": { "type": "object" },
            } },
        });
        ApiDocument::parse(&document.to_string()).expect("a document")
    }

    #[track_caller]
    fn assert_lines(printed: &str, lines: &[&str]) {
        for line in lines {
            assert!(printed.lines().any(|other| other.trim() == *line), "no line {line:?} in\n{printed}");
        }
    }

    #[test]
    fn operations_are_methods_of_typescript() {
        let printed = typescript::print(&document(), "of clients.json sha256:0");
        let lines = [
            "// of clients.json sha256:0",
            "export const API_VERSION = \"1.2.3\";",
            "readonly calendars = new Calendars(this.transport);",
            "readonly events = new CalendarsEvents(this.transport);",
            "delete(calendarId: string, query?: NoQuery, options?: RequestOptions): Promise<void> {",
            "return this.$end(\"DELETE\", path`/v1/calendars/${calendarId}`, query, undefined, options);",
            "list(calendarId: string, query?: T.CalendarsEventsListQuery, options?: RequestOptions): Pages<T.EventPage, T.Event> {",
            "return this.$list(path`/v1/calendars/${calendarId}/events`, query, options);",
        ];
        assert_lines(&printed, &lines);
    }

    #[test]
    fn operations_are_methods_of_python() {
        let lines = [
            "# of clients.json sha256:0",
            "API_VERSION = \"1.2.3\"",
            "class CalendarsEvents(Resource):",
            "from_: str | None = None,",
            "path = f\"/v1/calendars/{segment(calendar_id)}/events\"",
            "query = {\"from\": from_, \"cursor\": cursor}",
            "return self._pages(path, query, options)",
            "self._nothing(\"DELETE\", path, None, None, options)",
        ];
        assert_lines(&python::print(&document(), "of clients.json sha256:0", false), &lines);
        let lines = [
            "class AsyncCalendarsEvents(AsyncResource):",
            "await self._nothing(\"DELETE\", path, None, None, options)",
        ];
        assert_lines(&python::print(&document(), "of clients.json sha256:0", true), &lines);
    }

    #[test]
    fn queries_and_error_codes_are_types() {
        let types = document().types();
        let schemas = &types["components"]["schemas"];
        let query = schemas["CalendarsEventsListQuery"]["properties"].as_object().expect("an object");
        assert_eq!(query.keys().collect::<Vec<_>>(), ["from", "cursor"]);
        assert_eq!(schemas["ErrorCode"]["enum"], json!(["forbidden", "not_found"]));
    }
}
