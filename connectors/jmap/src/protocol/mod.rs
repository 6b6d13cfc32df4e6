//! JMAP requests and responses (RFC 8620): batches of method calls, their results, and the meaning of their errors.

pub mod answers;
pub mod email;
pub mod failures;

use connector_sdk::{Failure, Outcome, code};
use io_jmap::rfc8620::JMAP_CORE_CAPABILITY;
use io_jmap::rfc8620::request::{JmapBatch, JmapRequest, JmapResultReference};
use io_jmap::rfc8621::email_submission::JMAP_SUBMISSION_CAPABILITY;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::protocol::answers::MethodError;

/// The capability for mail (RFC 8621 section 1.3.1).
pub const MAIL: &str = "urn:ietf:params:jmap:mail";

/// The capability for submission (RFC 8621 section 1.3.2).
pub const SUBMISSION: &str = JMAP_SUBMISSION_CAPABILITY;

/// Method calls in one HTTP request, which the server runs in order.
pub struct Batch {
    account_id: String,
    calls: JmapBatch,
    using: Vec<String>,
}

/// A call of a batch, to find its result and to refer to it in later calls.
#[derive(Clone, Debug)]
pub struct Call {
    id: String,
    method: &'static str,
}

impl Batch {
    /// Creates a batch for this account.
    pub fn new(account_id: &str) -> Self {
        let using = [JMAP_CORE_CAPABILITY, MAIL].map(str::to_owned).to_vec();
        Batch { account_id: account_id.to_owned(), calls: JmapBatch::new(), using }
    }

    /// Adds the capability for the methods of RFC 8621 sections 6 and 7.
    pub fn with_submission(mut self) -> Self {
        self.using.push(SUBMISSION.to_owned());
        self
    }

    /// Adds a call; `accountId` is added to its arguments, which are a JSON object.
    pub fn call(&mut self, method: &'static str, mut args: Value) -> Call {
        if let Value::Object(members) = &mut args {
            members.insert("accountId".to_owned(), json!(self.account_id));
        }
        Call { id: self.calls.add(method, args), method }
    }

    /// The body of the HTTP request.
    pub fn into_request(self) -> JmapRequest {
        self.calls.into_request(self.using)
    }
}

impl Call {
    /// The value at `path` in this call's answer, as an argument of a later call of the batch (RFC 8620 section 3.7).
    pub fn at(&self, path: &'static str) -> Value {
        let reference = JmapResultReference { result_of: &self.id, name: self.method, path };
        serde_json::to_value(reference).expect("a struct of three texts always serialises")
    }
}

/// The answers of a batch. io-jmap's `JmapResponse` would first build a tree of each answer, which for a page of messages takes several
/// times its size.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    method_responses: Vec<(String, Box<RawValue>, String)>,
}

impl Answers {
    /// Reads the body of an HTTP answer.
    pub fn read(body: &[u8]) -> Outcome<Self> {
        serde_json::from_slice(body).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            Failure::unavailable(format!("the provider's answer is no JMAP response, at {place}"))
        })
    }

    /// Returns the result of this call; a method's error is a failure.
    pub fn get<T: DeserializeOwned>(&self, call: &Call) -> Outcome<T> {
        self.attempt(call)?.map_err(|error| failures::of_method(&error))
    }

    /// Returns the result of this call, or the method's error.
    pub fn attempt<T: DeserializeOwned>(&self, call: &Call) -> Outcome<Result<T, MethodError>> {
        let found = self.find(call, call.method).or_else(|| self.find(call, "error"));
        let Some((name, answer)) = found else {
            return Err(Failure::unavailable(format!("the provider did not answer {}", call.method)));
        };
        if name == "error" { read(answer, "error").map(Err) } else { read(answer, call.method).map(Ok) }
    }

    /// The result of another method that the server ran implicitly for this call (RFC 8621 section 7.5).
    pub fn implied<T: DeserializeOwned>(&self, call: &Call, method: &str) -> Option<T> {
        self.find(call, method).and_then(|(_, answer)| read(answer, method).ok())
    }

    fn find(&self, call: &Call, method: &str) -> Option<(&str, &RawValue)> {
        let mut all = self.method_responses.iter();
        let found = all.find(|(name, _, id)| *id == call.id && name == method);
        found.map(|(name, answer, _)| (name.as_str(), answer.as_ref()))
    }
}

fn read<T: DeserializeOwned>(answer: &RawValue, method: &str) -> Outcome<T> {
    serde_json::from_str(answer.get()).map_err(|error| {
        // The error quotes values of the provider, which may only be logged.
        Failure::new(code::UNAVAILABLE, format!("the provider's answer to {method} cannot be read"))
            .with_detail(json!({ "reason": "unreadable answer", "at": error.column() }))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Answers, Batch};

    #[test]
    fn calls_name_the_account_and_earlier_answers() {
        let mut batch = Batch::new("a1");
        let query = batch.call("Email/query", json!({ "limit": 1 }));
        batch.call("Email/get", json!({ "#ids": query.at("/ids") }));
        let request = serde_json::to_value(batch.into_request()).unwrap();
        let expected = json!({
            "using": ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"],
            "methodCalls": [
                ["Email/query", { "accountId": "a1", "limit": 1 }, "c0"],
                ["Email/get", { "accountId": "a1",
                    "#ids": { "resultOf": "c0", "name": "Email/query", "path": "/ids" } }, "c1"],
            ],
        });
        assert_eq!(request, expected);
    }

    #[test]
    fn an_answer_is_found_by_call_and_method() {
        let mut batch = Batch::new("a1");
        let (first, second) = (batch.call("A/set", json!({})), batch.call("B/get", json!({})));
        let body = json!({ "sessionState": "0", "methodResponses": [
            ["A/set", { "x": 1 }, "c0"], ["Email/set", { "x": 2 }, "c0"], ["error", { "type": "forbidden" }, "c1"],
        ] });
        let answers = Answers::read(body.to_string().as_bytes()).unwrap();
        assert_eq!(answers.get::<Value>(&first).unwrap(), json!({ "x": 1 }));
        assert_eq!(answers.implied::<Value>(&first, "Email/set").unwrap(), json!({ "x": 2 }));
        assert_eq!(answers.get::<Value>(&second).unwrap_err().code, "forbidden");
        let missing = batch.call("C/get", json!({}));
        assert_eq!(answers.get::<Value>(&missing).unwrap_err().code, "unavailable");
    }
}
