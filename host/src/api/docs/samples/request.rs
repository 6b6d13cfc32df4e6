//! A request as samples print it: recorded by a test of the service or, without a recording, made from the schemas.

use serde_json::Value;
use url::form_urlencoded;

use crate::api::docs::reference::{ApiReference, ReferenceOperation};

/// Query parameters that the clients have as options of every call.
const OPTIONS: [&str; 2] = ["fresh", "strict"];

/// A request as samples print it.
pub struct SampleRequest<'r> {
    pub operation: &'r ReferenceOperation,
    /// The public address of the service.
    pub address: &'r str,
    /// Without the query.
    pub path: String,
    /// Values of the path's parameters, in order.
    pub path_values: Vec<String>,
    pub query: Vec<NamedValue>,
    /// Headers beside the key and the content type.
    pub headers: Vec<NamedValue>,
    pub body: Option<Value>,
}

/// A parameter of the query, or a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValue {
    pub name: String,
    pub value: String,
}

impl SampleRequest<'_> {
    /// The request of an operation.
    pub fn for_operation<'r>(
        reference: &'r ApiReference,
        operation: &'r ReferenceOperation,
    ) -> SampleRequest<'r> {
        match operation.exchange() {
            Some(exchange) => SampleRequest::recorded(reference, operation, exchange),
            None => SampleRequest::invented(reference, operation),
        }
    }

    /// The request of an exchange.
    pub fn recorded<'r>(
        reference: &'r ApiReference,
        operation: &'r ReferenceOperation,
        exchange: &Value,
    ) -> SampleRequest<'r> {
        let request = &exchange["request"];
        let target = request["path"].as_str().unwrap_or(&operation.path);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let names = operation.path.split('/').zip(path.split('/'));
        let values = names.filter(|(name, _)| name.starts_with('{')).map(|(_, value)| value.to_owned());
        let query = form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| NamedValue { name: name.into_owned(), value: value.into_owned() });
        let headers = request["headers"].as_object().into_iter().flatten();
        let headers = headers.filter_map(|(name, value)| {
            let is_usual =
                name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("authorization");
            let value = value.as_str().filter(|_| !is_usual)?;
            Some(NamedValue { name: name.clone(), value: value.to_owned() })
        });
        SampleRequest {
            operation,
            address: &reference.address,
            path: path.to_owned(),
            path_values: values.collect(),
            query: query.collect(),
            headers: headers.collect(),
            body: request.get("body").filter(|body| !body.is_null()).cloned(),
        }
    }

    fn invented<'r>(reference: &'r ApiReference, operation: &'r ReferenceOperation) -> SampleRequest<'r> {
        let mut path = operation.path.clone();
        let mut path_values = Vec::new();
        for parameter in operation.parameters_in("path") {
            let value = invented_id(&parameter.name);
            path = path.replace(&format!("{{{}}}", parameter.name), &value);
            path_values.push(value);
        }
        let required = operation.parameters_in("query").filter(|parameter| parameter.is_required);
        let query = required.map(|parameter| NamedValue {
            name: parameter.name.clone(),
            value: parameter.schema["enum"][0]
                .as_str()
                .map_or_else(|| invented_id(&parameter.name), str::to_owned),
        });
        let body = operation.body.as_ref().map(|body| reference.schemas.example(&body.schema));
        SampleRequest {
            operation,
            address: &reference.address,
            path,
            path_values,
            query: query.collect(),
            headers: Vec::new(),
            body,
        }
    }

    /// Path and query.
    pub fn target(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        for NamedValue { name, value } in &self.query {
            query.append_pair(name, value);
        }
        format!("{}?{}", self.path, query.finish())
    }

    /// The body as JSON; a form becomes an object of texts.
    pub fn json_body(&self) -> Option<Value> {
        let Value::String(form) = self.body.as_ref()? else { return self.body.clone() };
        let fields = form_urlencoded::parse(form.as_bytes());
        Some(fields.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect())
    }

    /// Parameters of the query that the clients' methods take.
    pub fn arguments(&self) -> impl Iterator<Item = &NamedValue> {
        self.query.iter().filter(|parameter| !OPTIONS.contains(&parameter.name.as_str()))
    }

    /// The value of a header, which the clients have as an option.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| header.value.as_str())
    }

    /// Whether a parameter of the query is a number or a Boolean, and is printed without quotes.
    pub fn is_bare(&self, name: &str) -> bool {
        matches!(self.query_type(name), Some("integer" | "number" | "boolean"))
    }

    /// The items of a parameter of the query that is a list; none if it is a single value.
    pub fn items<'v>(&self, parameter: &'v NamedValue) -> Option<Vec<&'v str>> {
        let is_list = self.query_type(&parameter.name) == Some("array");
        is_list.then(|| parameter.value.split(',').collect())
    }

    /// The JSON type of a parameter of the query, if its schema names one.
    fn query_type(&self, name: &str) -> Option<&str> {
        let parameter = self.operation.parameters_in("query").find(|parameter| parameter.name == name);
        parameter.and_then(|parameter| parameter.schema["type"].as_str())
    }

    /// The name of the clients' method with its namespaces, each word changed by `word`.
    pub fn method(&self, word: fn(&str) -> String) -> String {
        let words: Vec<String> = self.operation.id.split('.').map(word).collect();
        words.join(".")
    }

    /// Whether the answer is bytes alone.
    pub fn is_raw(&self) -> bool {
        let answer = self.operation.answer.as_ref();
        answer.is_some_and(|answer| answer.media_types.iter().all(|kind| kind == "application/octet-stream"))
    }

    /// Whether the answer is a stream of events.
    pub fn is_stream(&self) -> bool {
        let answer = self.operation.answer.as_ref();
        answer.is_some_and(|answer| answer.media_types.iter().any(|kind| kind == "text/event-stream"))
    }
}

/// `task_list_id` → `taskListId`.
pub fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut is_start = false;
    for c in name.chars() {
        if c == '_' || c == '-' {
            is_start = !out.is_empty();
        } else if is_start {
            out.extend(c.to_uppercase());
            is_start = false;
        } else {
            out.push(c);
        }
    }
    out
}

/// `taskListId` → `task_list_id`; a keyword of Python gets an underscore.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            out.push('_');
            out.extend(c.to_lowercase());
        } else {
            out.push(if c == '-' { '_' } else { c });
        }
    }
    if matches!(out.as_str(), "from" | "import" | "class" | "global" | "pass" | "in" | "is" | "not") {
        out.push('_');
    }
    out
}

/// A value for a parameter that no exchange has.
fn invented_id(name: &str) -> String {
    let prefix = match camel(name).as_str() {
        "provider" => return "sandbox".to_owned(),
        "slug" => return "intro-call".to_owned(),
        "connectionId" => "conn",
        "calendarId" => "cal",
        "eventId" => "evt",
        _ => "id",
    };
    format!("{prefix}_01J00000000000000000000001")
}

#[cfg(test)]
mod tests {
    use super::{camel, snake};

    #[test]
    fn names_follow_the_language() {
        assert_eq!((camel("time_zone").as_str(), snake("taskLists").as_str()), ("timeZone", "task_lists"));
        assert_eq!(snake("from"), "from_");
    }
}
