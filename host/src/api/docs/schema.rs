//! Schemas of the document as a reader wants them: the name of a type, its words, the object behind a property, an example value.

use serde_json::{Map, Value, json};

use crate::api::docs::bounds::bounds;

/// The place of schemas in the document.
const SCHEMAS: &str = "#/components/schemas/";
/// Levels of objects in an example body.
const MAX_EXAMPLE_DEPTH: usize = 3;

/// Properties that most callers set; an example has them beside the required ones.
const COMMON: &[&str] = &[
    "title",
    "name",
    "subject",
    "to",
    "text",
    "displayName",
    "emails",
    "unread",
    "start",
    "end",
    "timeZone",
    "mode",
    "dueDate",
    "url",
];

/// Example values of properties by name, as JSON.
const KNOWN: &[(&str, &str)] = &[
    ("body", r#"{"text": "See you on Monday."}"#),
    ("calendarId", r#""cal_01J00000000000000000000005""#),
    ("comment", r#""See you there""#),
    ("connectionId", r#""conn_01J00000000000000000000003""#),
    ("credentials", r#"{"username": "alice@sandbox.test", "password": "sandbox"}"#),
    ("displayName", r#""Ada Lovelace""#),
    ("dueDate", r#""2027-03-01""#),
    ("durationMinutes", "30"),
    ("email", r#""ada@example.org""#),
    ("emails", r#"[{"value": "ada@example.org", "type": "work"}]"#),
    ("end", r#""2027-03-01T10:00:00Z""#),
    ("eventTypeId", r#""et_01J00000000000000000000006""#),
    ("eventTypes", r#"["calendar.event.*"]"#),
    ("grant_type", r#""client_credentials""#),
    ("hosts", r#"[{"connectionId": "conn_01J00000000000000000000003"}]"#),
    ("invitee", r#"{"name": "Ada Lovelace", "email": "ada@example.org"}"#),
    ("inviteeEmail", r#""ada@example.org""#),
    ("inviteeName", r#""Ada Lovelace""#),
    ("name", r#""Team""#),
    (
        "participants",
        r#"[{"members": [{"connectionId": "conn_01J00000000000000000000003"}], "required": "all"}]"#,
    ),
    ("provider", r#""sandbox""#),
    ("redirectUri", r#""https://app.example.com/connected""#),
    ("scopes", r#"["calendar.read", "calendar.write"]"#),
    ("slug", r#""intro-call""#),
    ("start", r#""2027-03-01T09:00:00Z""#),
    ("subject", r#""Monday""#),
    ("targets", r#"[{"connectionId": "conn_01J00000000000000000000003"}]"#),
    ("text", r#""See you on Monday.""#),
    ("timeZone", r#""Europe/Berlin""#),
    ("title", r#""Lunch""#),
    ("to", r#"[{"email": "ada@example.org"}]"#),
    ("unread", "false"),
    ("url", r#""https://hooks.example.com/switchboard""#),
    ("userId", r#""user-17""#),
];

/// The schemas of the document by name.
pub struct SchemaBook(Map<String, Value>);

/// A schema without "or null".
pub struct SettledSchema {
    pub schema: Value,
    pub is_nullable: bool,
}

/// An object with named fields, which a property leads to.
pub struct ObjectSchema {
    pub name: Option<String>,
    pub schema: Value,
}

/// A value of a closed list, with what it means as Markdown.
pub struct EnumValue {
    /// As JSON.
    pub word: String,
    pub meaning: String,
}

/// The name of the schema that a reference leads to.
pub fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(SCHEMAS)
}

/// The schema without "or null".
pub fn settle(schema: &Value) -> SettledSchema {
    let forms = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(forms) = forms {
        let rest: Vec<&Value> = forms.iter().filter(|form| form["type"] != "null").collect();
        if let ([only], true) = (rest.as_slice(), rest.len() < forms.len()) {
            return SettledSchema { schema: (*only).clone(), is_nullable: true };
        }
    }
    if let Some(types) = schema["type"].as_array()
        && types.iter().any(|kind| kind == "null")
    {
        let mut settled = schema.clone();
        let rest: Vec<Value> = types.iter().filter(|kind| *kind != "null").cloned().collect();
        settled["type"] = match rest.as_slice() {
            [only] => only.clone(),
            _ => Value::Array(rest),
        };
        if let Some(words) = settled.get_mut("enum").and_then(Value::as_array_mut) {
            words.retain(|word| !word.is_null());
        }
        return SettledSchema { schema: settled, is_nullable: true };
    }
    SettledSchema { schema: schema.clone(), is_nullable: false }
}

impl SchemaBook {
    /// The schemas of a document.
    pub fn new(schemas: Option<Map<String, Value>>) -> SchemaBook {
        SchemaBook(schemas.unwrap_or_default())
    }

    /// All schemas with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }

    /// The schema that a reference leads to; the schema itself if it is none.
    pub fn resolve<'s>(&'s self, schema: &'s Value) -> &'s Value {
        name_of(schema).and_then(|name| self.0.get(name)).unwrap_or(schema)
    }

    /// The values of a closed list, as JSON.
    pub fn words(&self, schema: &Value) -> Option<Vec<String>> {
        let full = self.resolve(schema);
        if let Some(words) = full["enum"].as_array() {
            return Some(words.iter().filter(|word| !word.is_null()).map(Value::to_string).collect());
        }
        if let Some(word) = full.get("const") {
            return Some(vec![word.to_string()]);
        }
        let forms = full["oneOf"].as_array().or_else(|| full["anyOf"].as_array())?;
        let words = forms.iter().map(|form| {
            let several = form["enum"].as_array().map(|words| words.iter().map(Value::to_string).collect());
            several.or_else(|| form.get("const").map(|word| vec![word.to_string()]))
        });
        let words: Vec<Vec<String>> = words.collect::<Option<_>>()?;
        Some(words.concat())
    }

    /// The values of a closed list that have a description.
    pub fn described_values(&self, schema: &Value) -> Vec<EnumValue> {
        let own = settle(schema).schema;
        let forms = self.resolve(&own)["oneOf"].as_array().cloned().unwrap_or_default();
        let values = forms.iter().filter_map(|form| {
            let word = form.get("const")?.to_string();
            Some(EnumValue { word, meaning: form["description"].as_str()?.to_owned() })
        });
        values.collect()
    }

    /// The name of a type as readers know it, such as `CalendarEvent[] | null`.
    pub fn type_name(&self, schema: &Value) -> String {
        let settled = settle(schema);
        let or = if settled.is_nullable { " | null" } else { "" };
        format!("{}{or}", self.plain_type_name(&settled.schema))
    }

    fn plain_type_name(&self, schema: &Value) -> String {
        if let Some(words) = self.words(schema) {
            return words.join(" | ");
        }
        let full = self.resolve(schema);
        if full["type"] == "array" {
            let item = self.type_name(&full["items"]);
            return if item.contains(" | ") { format!("({item})[]") } else { format!("{item}[]") };
        }
        match name_of(schema) {
            Some("Instant") => return "instant".to_owned(),
            Some(name) => return name.to_owned(),
            None => {}
        }
        if let Some(forms) = full["anyOf"].as_array().or_else(|| full["oneOf"].as_array()) {
            let names: Vec<String> = forms.iter().map(|form| self.type_name(form)).collect();
            return names.join(" | ");
        }
        if full["type"] == "object"
            && full["additionalProperties"].is_object()
            && full.get("properties").is_none()
        {
            return format!("{{ [name]: {} }}", self.type_name(&full["additionalProperties"]));
        }
        match (&full["type"], full["format"].as_str()) {
            (Value::String(kind), Some("date" | "date-time" | "email" | "uri")) if kind == "string" => {
                full["format"].as_str().unwrap_or_default().to_owned()
            }
            (Value::String(kind), _) => kind.clone(),
            (Value::Array(kinds), _) => {
                kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
            }
            _ => "any".to_owned(),
        }
    }

    /// The bounds of a value, such as `at most 255 characters`; empty if there are none.
    pub fn bounds(&self, schema: &Value) -> String {
        let own = settle(schema).schema;
        bounds(self.resolve(&own))
    }

    /// The object behind a schema, through lists and "or null"; none if there are no fields to show.
    pub fn object(&self, schema: &Value) -> Option<ObjectSchema> {
        let mut own = settle(schema).schema;
        let mut full = self.resolve(&own).clone();
        while full["type"] == "array" {
            own = settle(&full["items"]).schema;
            full = self.resolve(&own).clone();
        }
        let has_fields = full["properties"].as_object().is_some_and(|properties| !properties.is_empty());
        has_fields.then(|| ObjectSchema { name: name_of(&own).map(str::to_owned), schema: full })
    }

    /// A body to start from: the required fields, and those that most callers set.
    pub fn example(&self, schema: &Value) -> Value {
        self.example_at(schema, 0)
    }

    fn example_at(&self, schema: &Value, depth: usize) -> Value {
        let own = settle(schema).schema;
        let full = self.resolve(&own);
        let required: Vec<&str> =
            full["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut out = Map::new();
        for (name, property) in full["properties"].as_object().into_iter().flatten() {
            let is_common = depth == 0 && COMMON.contains(&name.as_str());
            if (is_common || required.contains(&name.as_str())) && property["readOnly"] != true {
                out.insert(name.clone(), self.value(name, property, depth));
            }
        }
        Value::Object(out)
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let own = settle(schema).schema;
        let full = self.resolve(&own);
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        let known = known.and_then(|(_, text)| serde_json::from_str::<Value>(text).ok());
        if let Some(known) = known.filter(|known| has_type(full, known)) {
            return known;
        }
        if let Some(default) = schema.get("default") {
            return default.clone();
        }
        let word = self.words(&own).and_then(|words| words.into_iter().next());
        if let Some(word) = word {
            return serde_json::from_str(&word).unwrap_or(Value::Null);
        }
        let example = full.get("example").or_else(|| full["examples"].get(0));
        if let Some(example) = example {
            return example.clone();
        }
        match full["type"].as_str() {
            Some("array") => json!([]),
            Some("boolean") => json!(false),
            Some("integer" | "number") => json!(1),
            Some("object") if depth < MAX_EXAMPLE_DEPTH => self.example_at(&own, depth + 1),
            Some("object") => json!({}),
            _ => json!("…"),
        }
    }
}

/// Whether a value has the type of a schema, as far as the schema names one.
fn has_type(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match &schema["type"] {
        Value::String(own) => own == kind,
        Value::Array(kinds) => kinds.iter().any(|own| own == kind),
        _ => schema.get("anyOf").is_none() && schema.get("oneOf").is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> SchemaBook {
        let schemas = json!({
            "Person": {
                "type": "object",
                "properties": {
                    "email": { "type": "string" },
                    "friends": { "type": "array", "items": { "$ref": "#/components/schemas/Person" } },
                    "mood": { "anyOf": [{ "$ref": "#/components/schemas/Mood" }, { "type": "null" }] },
                    "nickname": { "type": ["string", "null"] },
                },
                "required": ["email", "mood"],
            },
            "Mood": { "oneOf": [{ "const": "calm" }, { "const": "busy" }] },
        });
        SchemaBook::new(schemas.as_object().cloned())
    }

    #[test]
    fn types_have_the_names_that_readers_know() {
        let book = book();
        let person = json!({ "$ref": "#/components/schemas/Person" });
        let properties = &book.resolve(&person)["properties"];
        assert_eq!(book.type_name(&person), "Person");
        assert_eq!(book.type_name(&properties["friends"]), "Person[]");
        assert_eq!(book.type_name(&properties["mood"]), r#""calm" | "busy" | null"#);
        assert_eq!(book.type_name(&properties["nickname"]), "string | null");
        let object = book.object(&properties["friends"]).expect("an object");
        assert_eq!(object.name.as_deref(), Some("Person"));
        assert!(book.object(&properties["nickname"]).is_none());
    }

    #[test]
    fn an_example_has_what_is_required() {
        let example = book().example(&json!({ "$ref": "#/components/schemas/Person" }));
        assert_eq!(example, json!({ "email": "ada@example.org", "mood": "calm" }));
    }
}
