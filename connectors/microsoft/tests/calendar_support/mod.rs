//! A Graph in a function: it gets the requests one by one, those of a batch too.

use std::cell::RefCell;
use std::rc::Rc;

use connector_sdk::testing::{Recorded, body, response};
use serde_json::{Value, json};

const ROOT: &str = "https://graph.microsoft.com/v1.0";

/// A request, by itself or in a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    pub method: String,
    /// The path behind `/v1.0`, with its query, without escapes.
    pub path: String,
    /// `If-Match`.
    pub if_match: Option<String>,
    pub prefer: String,
    pub body: Value,
}

/// The requests that were made.
pub type Calls = Rc<RefCell<Vec<Call>>>;

/// Returns a provider that answers each request with the status and the body that `route` gives.
pub fn graph(route: impl Fn(&Call) -> (u16, Value) + 'static) -> (Recorded, Calls) {
    let calls = Calls::default();
    let log = Rc::clone(&calls);
    let provider = Recorded::answering(move |request| {
        let content: Value = serde_json::from_slice(&body(request)).unwrap_or_default();
        let header = |name: &str| {
            let found = request.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        let path = unescaped(request.url.strip_prefix(ROOT).expect("an address of Graph"));
        let answer = |call: Call| {
            let answer = route(&call);
            log.borrow_mut().push(call);
            answer
        };
        if path != "/$batch" {
            let (if_match, prefer) = (header("if-match"), header("prefer").unwrap_or_default());
            let call = Call { method: request.method.clone(), path, if_match, prefer, body: content };
            let (status, content) = answer(call);
            let text = if content.is_null() { String::new() } else { content.to_string() };
            return Ok(response(status, &[("content-type", "application/json")], &text));
        }
        let parts = content["requests"].as_array().expect("parts");
        assert!(parts.len() <= 20, "a batch has at most 20 parts");
        let answers = parts.iter().map(|part| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let call = Call {
                method: text(&part["method"]),
                path: unescaped(&text(&part["url"])),
                if_match: part["headers"]["if-match"].as_str().map(str::to_owned),
                prefer: text(&part["headers"]["prefer"]),
                body: part["body"].clone(),
            };
            let (status, content) = answer(call);
            json!({ "id": part["id"], "status": status, "headers": {}, "body": content })
        });
        let mut answers: Vec<Value> = answers.collect();
        // They come in any order.
        answers.reverse();
        Ok(response(200, &[], &json!({ "responses": answers }).to_string()))
    });
    (provider, calls)
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).expect("a text")
}
