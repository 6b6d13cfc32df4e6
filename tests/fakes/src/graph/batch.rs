//! JSON batches: their parts, the order in which they are answered, and their answer.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use crate::door::{Ask, Reply};
use crate::graph::errors::GraphError;
use crate::graph::facts;

/// A part of a batch.
#[derive(Clone, Debug)]
pub struct GraphPart {
    pub id: String,
    pub ask: Ask,
    /// Parts that have to succeed before.
    pub after: Vec<String>,
}

/// Whether this is the address of batches.
pub fn is_batch(path: &str) -> bool {
    path.eq_ignore_ascii_case("/v1.0/$batch")
}

/// Reads a batch.
///
/// # Errors
/// It is no JSON, has no parts or too many, an id twice, or parts that depend on each other in another way than all in a row or none: 400.
pub fn read(ask: &Ask) -> Result<Vec<GraphPart>, GraphError> {
    let body: Value = serde_json::from_slice(&ask.body)
        .map_err(|_| GraphError::bad_request("Invalid batch payload format."))?;
    let requests = body["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
    let most = facts::number("batch", "parts");
    if requests.is_empty() {
        return Err(GraphError::bad_request("Invalid batch payload format."));
    }
    if requests.len() > most {
        let message = format!("Number of batch request steps exceeds the maximum value of {most}.");
        return Err(GraphError::bad_request(&message).inner("MaximumValueExceeded"));
    }
    let unknown = body.as_object().into_iter().flatten().find(|(name, _)| name.as_str() != "requests");
    if let Some((name, _)) = unknown {
        return Err(GraphError::bad_request(&format!("Invalid batch payload format: {name}.")));
    }
    let authorization = ask.headers.get(http::header::AUTHORIZATION);
    let mut parts: Vec<GraphPart> = Vec::new();
    for request in requests {
        let part = read_part(request, authorization)?;
        let is_known = |id: &String| parts.iter().any(|before| before.id == *id);
        if is_known(&part.id) {
            return Err(GraphError::bad_request(&format!("Request Id '{}' is not unique.", part.id)));
        }
        if let Some(missing) = part.after.iter().find(|id| !is_known(id)) {
            let message = format!("Request '{}' depends on '{missing}', which is not before it.", part.id);
            return Err(GraphError::bad_request(&message));
        }
        parts.push(part);
    }
    check_order(&parts)?;
    Ok(parts)
}

/// Checks that the parts are all parallel, all in a row, or all after the same one.
fn check_order(parts: &[GraphPart]) -> Result<(), GraphError> {
    let first = parts.first().map(|part| &part.id);
    let is_parallel = parts.iter().all(|part| part.after.is_empty());
    let mut rows = parts.iter().zip(parts.iter().skip(1));
    let is_serial = rows.all(|(before, part)| part.after.len() == 1 && part.after.contains(&before.id));
    let is_after_first =
        parts.iter().skip(1).all(|part| part.after.len() == 1 && part.after.first() == first);
    match is_parallel || is_serial || is_after_first {
        true => Ok(()),
        false => Err(GraphError::bad_request(
            "Batch dependencies must be fully parallel, fully serial, or all on the same request.",
        )),
    }
}

fn read_part(request: &Value, authorization: Option<&HeaderValue>) -> Result<GraphPart, GraphError> {
    let invalid = |what: &str| GraphError::bad_request(&format!("Invalid batch request: {what}."));
    let members = request.as_object().ok_or_else(|| invalid("object expected"))?;
    // Microsoft's Python client writes `depends_on`, which Graph ignores (msgraph-core 1.5.2, `BatchRequestItem.serialize`).
    let known = ["id", "method", "url", "headers", "body", "dependsOn", "depends_on"];
    if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(invalid(&format!("unknown property '{name}'")));
    }
    let text = |name: &str| request[name].as_str().filter(|text| !text.is_empty());
    let id = text("id").ok_or_else(|| invalid("id is missing"))?;
    let method = text("method").ok_or_else(|| invalid("method is missing"))?;
    let url = text("url").ok_or_else(|| invalid("url is missing"))?;
    if url.contains("://") {
        return Err(invalid("url must be relative"));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in request["headers"].as_object().into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| invalid("a header is no text"))?;
        let name = HeaderName::try_from(name.as_str()).map_err(|_| invalid("the name of a header"))?;
        headers.append(name, HeaderValue::try_from(value).map_err(|_| invalid("a header"))?);
    }
    let body =
        read_content(request.get("body"), &headers).ok_or_else(|| invalid("body without Content-Type"))?;
    if let Some(value) = authorization {
        headers.entry(http::header::AUTHORIZATION).or_insert_with(|| value.clone());
    }
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let path = format!("/v1.0/{}", path.trim_start_matches('/'));
    let after = request["dependsOn"].as_array().into_iter().flatten();
    Ok(GraphPart {
        id: id.to_owned(),
        ask: Ask::new(&method.to_ascii_uppercase(), &path, query, headers, body),
        after: after.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The content of a part: JSON as it stands, anything else as base64. None where a body has no content type.
fn read_content(body: Option<&Value>, headers: &HeaderMap) -> Option<Bytes> {
    let Some(body) = body.filter(|body| !body.is_null()) else { return Some(Bytes::new()) };
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok())?;
    if kind.to_ascii_lowercase().starts_with("application/json") {
        return Some(body.to_string().into());
    }
    let text = body.as_str()?;
    let decoded =
        BASE64_STANDARD.decode(text).map_or_else(|_| Bytes::copy_from_slice(text.as_bytes()), Bytes::from);
    Some(decoded)
}

/// The answer of a part whose predecessor failed.
pub fn failed_dependency() -> Reply {
    GraphError::new(424, "FailedDependency", "The request depends on one that failed.").reply()
}

/// Whether a part's answer lets those after it run.
pub fn succeeded(reply: &Reply) -> bool {
    reply.status < 400
}

/// The answer of a batch. Order says nothing: the last part comes first, then the others, or all in the opposite order.
pub fn reply(mut answers: Vec<(String, Reply)>, is_reversed: bool) -> Reply {
    match is_reversed {
        true => answers.reverse(),
        false if answers.len() > 2 => answers.rotate_right(1),
        false => {}
    }
    let responses: Vec<Value> = answers.iter().map(|(id, reply)| part_value(id, reply)).collect();
    Reply::json(200, &json!({ "responses": responses }))
}

fn part_value(id: &str, reply: &Reply) -> Value {
    let mut headers: BTreeMap<String, Value> = BTreeMap::new();
    for (name, value) in &reply.headers {
        headers.insert(header_case(name), value.as_str().into());
    }
    let mut part =
        json!({ "id": id, "status": reply.status, "headers": headers.into_iter().collect::<Map<_, _>>() });
    if !reply.body.is_empty() {
        let is_json = reply.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type") && value.starts_with("application/json")
        });
        let json = is_json.then(|| serde_json::from_slice(&reply.body).ok()).flatten();
        part["body"] = json.unwrap_or_else(|| BASE64_STANDARD.encode(&reply.body).into());
    }
    part
}

/// The name of a header as batches spell it, as in `Retry-After`.
fn header_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<String>>().join("-")
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::{failed_dependency, read, reply};
    use crate::door::{Ask, Reply};

    fn batch(requests: Value) -> Ask {
        let body = json!({ "requests": requests }).to_string();
        Ask::new("POST", "/v1.0/$batch", "", HeaderMap::new(), body.into())
    }

    #[test]
    fn parts_are_requests_with_headers_and_bodies_of_their_own() {
        let parts = read(&batch(json!([
            { "id": "1", "method": "GET", "url": "/me/messages?$top=1", "headers": { "Prefer": "IdType=\"ImmutableId\"" } },
            { "id": "2", "method": "POST", "url": "me/sendMail", "headers": { "Content-Type": "text/plain" }, "body": "YQ==" },
        ])));
        let parts = parts.expect("two parts");
        let first = &parts[0].ask;
        assert_eq!((first.path.as_str(), first.parameter("$top")), ("/v1.0/me/messages", Some("1")));
        assert_eq!(first.header("prefer"), Some("IdType=\"ImmutableId\""));
        assert_eq!(
            (parts[1].ask.path.as_str(), parts[1].ask.body.as_ref()),
            ("/v1.0/me/sendMail", &b"a"[..])
        );
    }

    #[test]
    fn a_wrong_batch_is_refused() {
        let part =
            |id: &str, after: &[&str]| json!({ "id": id, "method": "GET", "url": "/me", "dependsOn": after });
        let many: Vec<Value> = (0..21).map(|id| part(&id.to_string(), &[])).collect();
        let wrong = [
            Value::from(many),
            json!([]),
            json!([part("1", &[]), part("1", &[])]),
            json!([part("1", &["2"]), part("2", &[])]),
            json!([part("1", &[]), part("2", &["1"]), part("3", &[])]),
            json!([{ "id": "1", "method": "GET", "url": "https://graph.microsoft.com/v1.0/me" }]),
            json!([{ "id": "1", "method": "POST", "url": "/me/events", "body": {} }]),
        ];
        for requests in wrong {
            assert_eq!(read(&batch(requests.clone())).expect_err("no batch").status, 400, "{requests}");
        }
        read(&batch(json!([part("1", &[]), part("2", &["1"]), part("3", &["2"])]))).expect("all in a row");
        read(&batch(json!([part("1", &[]), part("2", &["1"]), part("3", &["1"])]))).expect("all after one");
    }

    #[test]
    fn answers_come_in_another_order_and_bytes_as_base64() {
        let bytes = Reply::new(200).header("content-type", "image/jpeg").body(&b"a"[..]);
        let answers = [("1", Reply::new(204)), ("2", bytes), ("3", failed_dependency())];
        let answers = answers.map(|(id, reply)| (id.to_owned(), reply)).to_vec();
        let body: Value = serde_json::from_slice(&reply(answers, false).body).expect("JSON");
        let responses = body["responses"].as_array().expect("responses");
        let ids: Vec<&str> = responses.iter().filter_map(|part| part["id"].as_str()).collect();
        assert_eq!(ids, ["3", "1", "2"]);
        assert_eq!(responses[0]["body"]["error"]["code"], "FailedDependency");
        assert_eq!(
            (&responses[2]["body"], &responses[2]["headers"]["Content-Type"]),
            (&json!("YQ=="), &json!("image/jpeg"))
        );
    }
}
