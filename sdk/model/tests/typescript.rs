//! The types of connectors in TypeScript are those of this crate: `sdk/js/given.ts` what the host gives a connector, in which every field
//! is there, and `sdk/js/model.ts` what a connector answers, in which all fields but a few may be left out.
//!
//! `UPDATE_TYPES=1 cargo test --test typescript` writes them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use model::calendar::{Calendar, Event};
use model::contacts::{Contact, ContactBook, ContactGroup};
use model::email::EmailMessage;
use model::email::folders::{Folder, Label};
use model::tasks::{ChecklistItem, Task, TaskLink, TaskList};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::contacts::{ContactWrite, ContactsFeatures, Picture};
use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use model::wire::{
    Account, ChangesRequest, CollectionDelete, CollectionWrite, Connection, ItemDelete, ItemWrite, Mutated,
    SourceRef, Sources, SourcesGet,
};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

macro_rules! ask_for {
    ($generator:ident: $($t:ty),* $(,)?) => { $($generator.subschema_for::<$t>();)* };
}

#[test]
fn the_types_of_typescript_are_current() {
    let mut given = SchemaSettings::draft2020_12().for_serialize().into_generator();
    ask_for!(given: Connection, ChangesRequest, SourceRef, SourcesGet, CollectionDelete, ItemDelete);
    ask_for!(given: CollectionWrite<TaskList>, ItemWrite<Task>, PartWrite<ChecklistItem>, PartWrite<TaskLink>);
    ask_for!(given: CollectionWrite<Calendar>, EventWrite, EventDelete, EventRespond, EventConference, FreeBusyRequest);
    ask_for!(given: CollectionWrite<ContactBook>, ContactWrite, ItemWrite<ContactGroup>);
    ask_for!(given: MessagesGet, MessageSearch, MessageFind, MessageRef, AttachmentRef, MessageUpdate, MessageDelete);
    ask_for!(given: MessageAppend, DraftSave, MessageSend);
    ask_for!(given: WatchStart, WatchRenew, WatchStop);
    check("given.ts", "What the host gives a connector: arguments, in which every field is there.", given);

    let mut answers = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    ask_for!(answers: Account, Sources, Mutated, Sent, Content, Picture, FreeBusyAnswer);
    ask_for!(answers: TasksFeatures, CalendarFeatures, ContactsFeatures, MailFeatures);
    ask_for!(answers: TaskList, Task, ChecklistItem, TaskLink, Calendar, Event, ContactBook, Contact, ContactGroup);
    ask_for!(answers: EmailMessage, Folder, Label);
    ask_for!(answers: Watching);
    check(
        "model.ts",
        "What a connector answers: resources, of which all fields but a few may be left out.",
        answers,
    );
}

fn check(file: &str, about: &str, mut generator: SchemaGenerator) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../js").join(file);
    let definitions: BTreeMap<String, Value> = generator.take_definitions(true).into_iter().collect();
    let mut text = format!("/** {about} Generated from the model of Switchboard: do not change it. */\n");
    for (name, schema) in &definitions {
        text.push('\n');
        declare(&mut text, &declared_name(name, schema), schema);
    }
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(&path, &text).expect("the folder is there");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "sdk/js/{file} is not current: UPDATE_TYPES=1 cargo test --test typescript writes it"
    );
}

/// The name of a definition. Generic ones are distinguished by their type argument: `ItemWriteOfTask`. Nothing refers to them.
fn declared_name(name: &str, schema: &Value) -> String {
    let generic =
        ["CollectionWrite", "ItemWrite", "PartWrite"].into_iter().find(|generic| name.starts_with(generic));
    let held = schema["properties"]["body"]["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    match (generic, held) {
        (Some(generic), Some(held)) => format!("{generic}Of{held}"),
        _ => name.to_owned(),
    }
}

fn declare(text: &mut String, name: &str, schema: &Value) {
    comment(text, "", schema);
    match properties(schema) {
        Some(fields) => {
            let _ = writeln!(text, "export interface {name} {{");
            members(text, "  ", schema, fields);
            text.push_str("}\n");
        }
        None => drop(writeln!(text, "export type {name} = {};", of(schema, ""))),
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"]
        .as_object()
        .filter(|_| schema.get("oneOf").is_none() && schema.get("anyOf").is_none())
}

fn members(text: &mut String, indent: &str, schema: &Value, fields: &Map<String, Value>) {
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name));
    for (name, field) in fields {
        comment(text, indent, field);
        let mark = if required(name) { "" } else { "?" };
        let _ = writeln!(text, "{indent}{}{mark}: {};", key(name), of(field, indent));
    }
    if schema["additionalProperties"].is_object() || schema["additionalProperties"] == true {
        let _ = writeln!(text, "{indent}[name: string]: unknown;");
    }
}

/// A name of a field, in quotes where it must be.
fn key(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

fn comment(text: &mut String, indent: &str, schema: &Value) {
    let Some(said) = schema["description"].as_str() else { return };
    let said = said.replace("*/", "* /");
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [one] => drop(writeln!(text, "{indent}/** {one} */")),
        many => {
            let _ = writeln!(text, "{indent}/**");
            for line in many {
                let _ = writeln!(text, "{indent} *{}{line}", if line.is_empty() { "" } else { " " });
            }
            let _ = writeln!(text, "{indent} */");
        }
    }
}

/// The type of a schema, as TypeScript writes it.
fn of(schema: &Value, indent: &str) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return name.to_owned();
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(cases) = schema[several].as_array() {
            return alternatives(cases.iter().map(|case| of(case, indent)));
        }
    }
    if let Some(one) = schema.get("const") {
        return one.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return alternatives(values.iter().map(Value::to_string));
    }
    match &schema["type"] {
        Value::String(kind) => of_kind(kind, schema, indent),
        Value::Array(kinds) => {
            alternatives(kinds.iter().filter_map(Value::as_str).map(|kind| of_kind(kind, schema, indent)))
        }
        _ => "unknown".to_owned(),
    }
}

fn of_kind(kind: &str, schema: &Value, indent: &str) -> String {
    match kind {
        "integer" => "number".to_owned(),
        "array" => {
            let item = of(&schema["items"], indent);
            if item.contains(' ') { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" => match properties(schema) {
            Some(fields) => {
                let mut text = "{\n".to_owned();
                members(&mut text, &format!("{indent}  "), schema, fields);
                text + indent + "}"
            }
            None => match schema.get("additionalProperties").filter(|values| values.is_object()) {
                Some(values) => format!("{{ [name: string]: {} }}", of(values, indent)),
                None => "{ [name: string]: unknown }".to_owned(),
            },
        },
        // string, number, boolean, null
        other => other.to_owned(),
    }
}

fn alternatives(types: impl Iterator<Item = String>) -> String {
    let mut found: Vec<String> = Vec::new();
    for kind in types {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    if found.iter().any(|kind| kind == "unknown") { "unknown".to_owned() } else { found.join(" | ") }
}
