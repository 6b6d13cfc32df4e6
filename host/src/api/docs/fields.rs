//! The fields of bodies and answers as folded lists. A page has the fields of each named type once; later places link to them.

use std::collections::BTreeSet;

use serde_json::Value;
use service::locale::html::Html;

use crate::api::docs::markup;
use crate::api::docs::schema::{ObjectSchema, SchemaBook, name_of, settle};

/// Levels of unnamed objects that are folded into each other.
const MAX_DEPTH: usize = 8;

/// The field lists of one page.
pub struct FieldLists<'b> {
    book: &'b SchemaBook,
    /// Names of the types whose fields the page has.
    printed: BTreeSet<String>,
}

impl<'b> FieldLists<'b> {
    /// The lists of a page that has none yet.
    pub fn new(book: &'b SchemaBook) -> FieldLists<'b> {
        FieldLists { book, printed: BTreeSet::new() }
    }

    /// The fields of a body or an answer. `is_request`: required fields are marked, and come first.
    pub fn add(&mut self, html: &mut Html, schema: &Value, is_request: bool) {
        let Some(object) = self.book.object(schema) else {
            html.raw("<p><code>").text(&self.book.type_name(schema)).raw("</code></p>\n");
            return;
        };
        if self.add_link(html, &object) {
            return;
        }
        html.raw("<div");
        self.add_id(html, &object);
        html.raw(">\n");
        self.add_rows(html, &object.schema, is_request, 0);
        html.raw("</div>\n");
    }

    /// A link to the fields of a type that the page has already; false if it has not.
    fn add_link(&self, html: &mut Html, object: &ObjectSchema) -> bool {
        let Some(name) = object.name.as_ref().filter(|name| self.printed.contains(*name)) else {
            return false;
        };
        html.raw("<p><a href=\"#schema-").text(name).raw("\">Fields of ").text(name).raw("</a></p>\n");
        true
    }

    fn add_id(&mut self, html: &mut Html, object: &ObjectSchema) {
        if let Some(name) = &object.name {
            html.raw(" id=\"schema-").text(name).raw("\"");
            self.printed.insert(name.clone());
        }
    }

    fn add_rows(&mut self, html: &mut Html, object: &Value, is_request: bool, depth: usize) {
        let required: Vec<&str> =
            object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = object["properties"].as_object();
        let mut properties: Vec<(&String, &Value)> = properties.into_iter().flatten().collect();
        let is_required = |name: &str| required.contains(&name);
        if is_request {
            properties.sort_by_key(|(name, _)| !is_required(name));
        }
        let rules: Vec<&str> =
            object["x-rules"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        html.raw("<ul class=\"fields\">\n");
        for rule in rules {
            html.raw("<li class=\"rule\">");
            markup::add_line(html, rule);
            html.raw("</li>\n");
        }
        for (name, property) in properties {
            html.raw("<li>");
            // An answer has all its fields: a mark at each one says nothing.
            self.add_field(html, name, property, is_request && is_required(name));
            self.add_inner(html, property, is_request, depth);
            html.raw("</li>\n");
        }
        html.raw("</ul>\n");
    }

    fn add_field(&self, html: &mut Html, name: &str, property: &Value, is_required: bool) {
        html.raw("<code class=\"name\">").text(name).raw("</code> <span class=\"type\">");
        html.text(&self.book.type_name(property)).raw("</span>");
        add_bounds(html, self.book, property);
        if is_required {
            html.raw(" <span class=\"must\">required</span>");
        }
        if property["readOnly"] == true {
            html.raw(" <span class=\"type\">read-only</span>");
        }
        if let Some(default) = property.get("default") {
            html.raw(" <span class=\"type\">default ").text(&default.to_string()).raw("</span>");
        }
        let own = settle(property).schema;
        let of_type = match name_of(&own) {
            Some("Instant") => None,
            _ => self.book.resolve(&own)["description"].as_str(),
        };
        if let Some(description) =
            property["description"].as_str().or(of_type).filter(|text| !text.is_empty())
        {
            html.raw("<div class=\"about\">");
            markup::add(html, description);
            html.raw("</div>");
        }
        add_values(html, self.book, property);
    }

    fn add_inner(&mut self, html: &mut Html, property: &Value, is_request: bool, depth: usize) {
        let Some(object) = self.book.object(property).filter(|_| depth < MAX_DEPTH) else { return };
        if self.add_link(html, &object) {
            return;
        }
        html.raw("<details");
        self.add_id(html, &object);
        html.raw("><summary>Fields");
        if let Some(name) = &object.name {
            html.raw(" of ").text(name);
        }
        html.raw("</summary>\n");
        self.add_rows(html, &object.schema, is_request, depth + 1);
        html.raw("</details>");
    }
}

/// Adds the bounds of a field or a parameter, if there are any.
pub fn add_bounds(html: &mut Html, book: &SchemaBook, schema: &Value) {
    let bounds = book.bounds(schema);
    if !bounds.is_empty() {
        html.raw(" <span class=\"type\">").text(&bounds).raw("</span>");
    }
}

/// Adds what the values of a closed list mean, folded, if they have descriptions.
pub fn add_values(html: &mut Html, book: &SchemaBook, schema: &Value) {
    let values = book.described_values(schema);
    if values.is_empty() {
        return;
    }
    html.raw("<details><summary>Values</summary>\n<ul>\n");
    for value in values {
        html.raw("<li><code>").text(&value.word).raw("</code> ");
        markup::add_line(html, &value.meaning);
        html.raw("</li>\n");
    }
    html.raw("</ul></details>");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_is_printed_once_and_then_linked() {
        let schemas = json!({ "Person": { "type": "object", "properties": {
            "name": { "type": "string", "description": "The `name`." },
            "friends": { "type": "array", "items": { "$ref": "#/components/schemas/Person" } },
        }, "required": ["friends"] } });
        let book = SchemaBook::new(schemas.as_object().cloned());
        let mut lists = FieldLists::new(&book);
        let mut html = Html::default();
        let person = json!({ "$ref": "#/components/schemas/Person" });
        lists.add(&mut html, &person, true);
        lists.add(&mut html, &person, false);
        let html = html.as_str();
        assert_eq!(html.matches("id=\"schema-Person\"").count(), 1, "{html}");
        assert_eq!(html.matches("href=\"#schema-Person\"").count(), 2, "{html}");
        let [friends, name] = ["friends", "name"].map(|name| html.find(&format!(">{name}</code>")));
        assert!(friends < name, "required fields come first: {html}");
        assert!(html.contains("<p>The <code>name</code>.</p>"), "{html}");
    }

    #[test]
    fn values_have_their_meaning() {
        let book = SchemaBook::new(None);
        let schema =
            json!({ "oneOf": [{ "const": "busy", "description": "Not `free`." }, { "const": "free" }] });
        let mut html = Html::default();
        add_values(&mut html, &book, &schema);
        assert!(html.as_str().contains("<li><code>&quot;busy&quot;</code> Not <code>free</code>.</li>"));
        assert!(!html.as_str().contains("&quot;free&quot;"), "{}", html.as_str());
    }
}
