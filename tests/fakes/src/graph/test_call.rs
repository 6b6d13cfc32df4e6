//! Calls of tests, as the router hands them to a surface.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::door::{Reply, pairs};
use crate::graph::call::{GraphCall, normalized};
use crate::graph::prefer::Preferences;

/// A call with these headers: `GET contacts?$top=5`.
pub fn call(user: &str, line: &str, body: Value, headers: &[(&'static str, &str)]) -> GraphCall {
    let (method, target) = line.split_once(' ').expect("a method and a target");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_str(value).expect("a header"));
    }
    let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    GraphCall {
        user: user.to_owned(),
        account_id: "1".to_owned(),
        method: method.to_owned(),
        path: normalized(&segments),
        query: pairs(query.as_bytes()),
        prefer: Preferences::read(&map),
        headers: map,
        content: Bytes::new(),
        body,
        scopes: Vec::new(),
        link_root: "https://graph.microsoft.com/v1.0".to_owned(),
    }
}

/// The body of an answer; null where it is no JSON.
pub fn json_of(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or(Value::Null)
}

/// The members of this name of the items of a page.
pub fn texts(page: &Value, name: &str) -> Vec<String> {
    let items = page["value"].as_array().into_iter().flatten();
    items.map(|item| item[name].as_str().unwrap_or_default().to_owned()).collect()
}

/// The query of a link in an answer.
pub fn query_of(page: &Value, name: &str) -> String {
    let link = page[name].as_str().unwrap_or_else(|| panic!("no {name}"));
    link.split_once('?').expect("a query").1.to_owned()
}
