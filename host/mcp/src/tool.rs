//! The parts that all tools share: definition, context, outcome, errors, schemas and the budget of an answer.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::{Answer, Content};
use crate::ask::{PersonAnswer, Question};
use crate::policy::Policy;
use crate::untrusted::{Fence, clean_line, shorten};

/// A JSON object, such as the arguments of a call or a schema.
pub type JsonObject = Map<String, Value>;

/// Bytes of an API error's message that a result shows.
const MAX_MESSAGE: usize = 600;

/// The effect of a tool, which decides the keys that may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes data of the key's owner.
    Write,
    /// Deletes data of the key's owner.
    Destroy,
    /// Reaches other people. Every path of such a tool passes `policy::way_out`.
    Send,
}

/// A tool as clients see it.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The scope that the key needs.
    pub scope: &'static str,
    pub effect: Effect,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether the call reaches people or systems beyond the key's accounts.
    pub open_world: bool,
    /// The largest structured result in bytes of JSON.
    pub budget: usize,
    pub input: fn() -> JsonObject,
    pub output: fn() -> JsonObject,
}

/// The circumstances of a call.
pub struct Context<'a, A> {
    pub api: &'a A,
    pub policy: &'a Policy,
    /// The person's answer to a question of an earlier call with the same arguments.
    pub asked: Option<PersonAnswer>,
    /// Whether the client can show the person a question: it speaks 2026-07-28 and declares `elicitation.form`.
    pub can_ask: bool,
    /// The marks around text of others in this result.
    pub fence: Fence,
}

/// The outcome of a call that did not fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Done(Output),
    Ask(Question),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// An object. Names of fields with text of others begin with `untrusted`.
    pub structured: Value,
}

impl From<Value> for Outcome {
    fn from(structured: Value) -> Self {
        Outcome::Done(Output { structured })
    }
}

/// A call that failed, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    pub code: String,
    /// One sentence: the argument, the value that came, the values that are allowed.
    pub message: String,
    /// The argument at fault.
    pub param: Option<String>,
    /// The next step for the caller; empty if the message says it.
    pub remedy: String,
}

impl ToolError {
    /// Returns an error of this code.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        ToolError { code: code.into(), message: message.into(), param: None, remedy: String::new() }
    }

    /// Returns an error about an argument.
    pub fn invalid(param: &str, message: impl Into<String>) -> Self {
        ToolError::new("invalid_parameter", message).param(param)
    }

    /// Sets the argument at fault.
    #[must_use]
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Sets the next step for the caller.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// The error as JSON, without fields that say nothing.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(param) = &self.param {
            error["param"] = json!(param);
        }
        if !self.remedy.is_empty() {
            error["remedy"] = json!(self.remedy);
        }
        json!({ "error": error })
    }
}

impl From<&Answer> for ToolError {
    fn from(answer: &Answer) -> Self {
        let text = |name: &str| match &answer.body {
            Content::Json(body) => body["error"][name].as_str().map(str::to_owned),
            _ => None,
        };
        let status = answer.status;
        ToolError {
            code: text("code").unwrap_or_else(|| "internal_error".to_owned()),
            // Providers write some of them.
            message: text("message").map_or_else(
                || format!("the server answered with status {status}"),
                |message| shorten(&clean_line(&message, false).text, MAX_MESSAGE),
            ),
            param: text("param"),
            remedy: answer.remedy.clone().unwrap_or_default(),
        }
    }
}

impl From<base::error::Error> for ToolError {
    fn from(error: base::error::Error) -> Self {
        match error {
            base::error::Error::Refused(refusal) => ToolError {
                code: refusal.code.as_str().to_owned(),
                message: refusal.message,
                param: refusal.param,
                remedy: String::new(),
            },
            base::error::Error::Internal(_) => {
                ToolError::new("internal_error", "something failed on the server")
            }
        }
    }
}

/// Returns the JSON body of a successful answer; null if it has none.
///
/// # Errors
/// Fails with the API's error.
pub fn json_of(answer: Answer) -> Result<Value, ToolError> {
    match answer.body {
        _ if !answer.is_success() => Err(ToolError::from(&answer)),
        Content::Json(body) => Ok(body),
        Content::Bytes { .. } | Content::Empty => Ok(Value::Null),
    }
}

/// Reads the arguments of a call.
///
/// # Errors
/// Names the first wrong argument, the value that came and the values that are allowed.
pub fn arguments<T: DeserializeOwned>(tool: &Definition, given: JsonObject) -> Result<T, ToolError> {
    let schema = (tool.input)();
    let known = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        let name: String = name.chars().take(100).collect();
        let names: Vec<&str> = known.into_iter().flat_map(|known| known.keys().map(String::as_str)).collect();
        let message = match names.is_empty() {
            true => format!("{} takes no arguments; got {name}", tool.name),
            false => format!("{} has no argument {name}; it takes {}", tool.name, names.join(", ")),
        };
        return Err(ToolError::new("unknown_parameter", message).param(name));
    }
    Ok(base::input::errors::parse(&Value::Object(given))?)
}

/// Returns the JSON schema of an object that has these properties and no others.
pub fn object(properties: Value, required: &[&str]) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Returns the JSON schema of a result: these properties, and those by which a result says that it is not whole.
pub fn output(properties: Value, required: &[&str]) -> JsonObject {
    let mut properties = properties;
    // The instructions explain both, once for all tools.
    properties["truncated"] = json!({"type": "boolean"});
    properties["howToContinue"] = json!({"type": "string"});
    object(properties, required)
}

/// Returns the first items that together fit into `budget` bytes of JSON, and whether some were left out.
pub fn cut(items: Vec<Value>, budget: usize) -> (Vec<Value>, bool) {
    let all = items.len();
    let mut used = 0;
    let fits = |item: &Value| {
        // With the comma between two items.
        used += json_bytes(item) + 1;
        used <= budget
    };
    let kept: Vec<Value> = items.into_iter().take_while(fits).collect();
    let is_cut = kept.len() < all;
    (kept, is_cut)
}

/// The size of a value in bytes of JSON.
pub fn json_bytes(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct TestArguments {
        query: String,
        limit: Option<u32>,
    }

    const TOOL: Definition = Definition {
        name: "search_things",
        title: "Search things",
        description: "",
        scope: "email.read",
        effect: Effect::Read,
        idempotent: true,
        open_world: false,
        budget: 100,
        input: || object(json!({"query": {"type": "string"}, "limit": {"type": "integer"}}), &["query"]),
        output: || output(json!({}), &[]),
    };

    fn read(given: Value) -> Result<TestArguments, ToolError> {
        arguments(&TOOL, given.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn a_wrong_argument_is_named() {
        let right = read(json!({"query": "x", "limit": 5}));
        assert_eq!(right, Ok(TestArguments { query: "x".to_owned(), limit: Some(5) }));
        let code_and_param = |given| {
            let error = read(given).unwrap_err();
            (error.code, error.param.unwrap_or_default())
        };
        let wrong = |code: &str, param: &str| (code.to_owned(), param.to_owned());
        assert_eq!(code_and_param(json!({})), wrong("missing_field", "query"));
        assert_eq!(code_and_param(json!({"query": 1})), wrong("invalid_parameter", "query"));
        let huge = json!({"query": "x", "limit": 10_000_000_000_u64});
        assert_eq!(code_and_param(huge), wrong("invalid_parameter", "limit"));
        let unknown = read(json!({"query": "x", "bcc": "eve@example.com"})).unwrap_err();
        assert_eq!(unknown.message, "search_things has no argument bcc; it takes query, limit");
    }

    #[test]
    fn items_are_cut_at_the_budget() {
        let items = vec![json!("abcd"), json!("efgh"), json!("ijkl")];
        assert_eq!(cut(items.clone(), 21), (items.clone(), false));
        assert_eq!(cut(items.clone(), 20), (items.get(..2).unwrap_or_default().to_vec(), true));
        assert_eq!(cut(items, 3), (Vec::new(), true));
    }

    #[test]
    fn an_error_of_the_api_keeps_its_code_and_gets_its_remedy() {
        let answer = Answer {
            status: 404,
            etag: None,
            request_id: "req_1".to_owned(),
            remedy: Some("Check the id.".to_owned()),
            body: Content::Json(
                json!({"error": {"code": "not_found", "message": "no such message", "param": null}}),
            ),
        };
        let error = json_of(answer).unwrap_err();
        let expected =
            json!({"error": {"code": "not_found", "message": "no such message", "remedy": "Check the id."}});
        assert_eq!(error.to_json(), expected);
    }
}
