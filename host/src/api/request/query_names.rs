//! Names of query parameters that an operation does not have: refused under `Prefer: handling=strict`, else named in the answer's `warnings`.

use axum::body::{Body, to_bytes};
use axum::response::Response;
use base::error::{Code, Detail, Refusal, Result};
use http::{HeaderMap, Uri, header};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::api::operation::Operation;
use crate::api::request::extractors::snake;
use crate::api::request::json::is_strict;

/// Unknown parameters that an answer names.
const MAX_NAMED_PARAMETERS: usize = 20;
/// Characters of a name that are repeated to the client.
const MAX_SHOWN_CHARS: usize = 100;

/// The names in the query string that the operation does not have, each once, as the client may write them (snake_case). None for operations
/// that other programs call, such as the callback of an OAuth provider, which adds what it likes.
pub fn unknown_names(operation: &Operation, uri: &Uri) -> Vec<String> {
    let query = uri.query().unwrap_or_default();
    if query.is_empty() || operation.public {
        return Vec::new();
    }
    let mut unknown: Vec<String> = Vec::new();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        let name: String = snake(&name).chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect();
        let is_new = !name.is_empty() && !unknown.contains(&name);
        if is_new && unknown.len() < MAX_NAMED_PARAMETERS && !has_parameter(operation, &name) {
            unknown.push(name);
        }
    }
    unknown
}

/// Whether the operation has this parameter: one of its row, or one that comes with its kind.
fn has_parameter(operation: &Operation, name: &str) -> bool {
    let of_kind = match name {
        "limit" | "cursor" => operation.paged,
        "fresh" => operation.method.is_safe(),
        "include" => operation.reads_copy(),
        "strict" => operation.is_write(),
        _ => false,
    };
    of_kind || operation.docs.query_fields.iter().any(|fields| fields().iter().any(|one| one.name == name))
}

fn message(name: &str) -> String {
    format!("{name} is not a parameter of this operation")
}

/// Refuses unknown parameters of a strict caller.
///
/// # Errors
/// `unknown_parameter`, with all of them in `details`.
pub fn refuse_if_strict(unknown: &[String], headers: &HeaderMap) -> Result<()> {
    let Some(first) = unknown.first().filter(|_| is_strict(headers)) else { return Ok(()) };
    let detail =
        |name: &String| Detail { field: name.clone(), code: Code::UnknownParameter, message: message(name) };
    let refusal = Refusal::new(Code::UnknownParameter, message(first)).param(first.clone());
    Err(Refusal { details: unknown.iter().map(detail).collect(), ..refusal }.into())
}

/// Adds a warning for each unknown parameter to an answer whose body is a JSON object. Files are left as they are, of whatever type.
pub async fn with_warnings(response: Response, unknown: &[String]) -> Response {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_json = content_type.is_some_and(|value| value == "application/json");
    let is_file = response.headers().contains_key(header::CONTENT_DISPOSITION);
    if unknown.is_empty() || !is_json || is_file || !response.status().is_success() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The body was made in this process and lies in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let Ok(Value::Object(mut answer)) = serde_json::from_slice::<Value>(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    let warning = |name: &String| {
        json!({ "code": Code::UnknownParameter.as_str(), "message": format!("{}; it was ignored", message(name)),
            "target": name, "field": name })
    };
    let own = answer.remove("warnings");
    let own = own.as_ref().and_then(Value::as_array).into_iter().flatten().cloned();
    let warnings: Vec<Value> = unknown.iter().map(warning).chain(own).collect();
    answer.insert("warnings".to_owned(), Value::Array(warnings));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(Value::Object(answer).to_string()))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use http::StatusCode;

    use super::*;
    use crate::api::operation::{Priority, Routes};

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct DueQuery {
        due_after: Option<String>,
    }

    fn names(query: &str) -> Vec<String> {
        async fn handler() {}
        let listed = Routes::<()>::new("").get("/v1/tasks", "", Priority::Mvp, handler);
        let operation = listed.query::<DueQuery>().lists::<String>().operations().remove(0);
        unknown_names(&operation, &format!("/v1/tasks?{query}").parse().expect("a URI"))
    }

    #[test]
    fn names_are_compared_in_either_spelling() {
        assert_eq!(names("due_after=x&dueAfter=x&limit=1&cursor=a&fresh=true"), [""; 0]);
        assert_eq!(names("dueAftr=x&limt=1&dueAftr=y&strict=true"), ["due_aftr", "limt", "strict"]);
        assert_eq!(names("%00=1&=2&%00x=3"), ["x"]);
        let many: String = (0..50).map(|n| format!("p{n}=1&")).collect();
        assert_eq!(names(&many).len(), MAX_NAMED_PARAMETERS);
    }

    #[tokio::test]
    async fn warnings_come_before_those_of_the_answer() {
        let unknown = ["limt".to_owned()];
        let json = [(header::CONTENT_TYPE, "application/json")];
        let answer = (json.clone(), r#"{"data":[],"warnings":[{"code":"a"}]}"#).into_response();
        let bytes =
            to_bytes(with_warnings(answer, &unknown).await.into_body(), 10_000).await.expect("a body");
        let answer: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(
            (&answer["warnings"][0]["field"], &answer["warnings"][1]["code"]),
            (&json!("limt"), &json!("a"))
        );
        let failed = (StatusCode::BAD_REQUEST, json, "{}").into_response();
        let bytes =
            to_bytes(with_warnings(failed, &unknown).await.into_body(), 10_000).await.expect("a body");
        assert_eq!(&bytes[..], b"{}");
        let file = (
            [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_DISPOSITION, "attachment")],
            "{ }",
        );
        let bytes = to_bytes(with_warnings(file.into_response(), &unknown).await.into_body(), 10_000)
            .await
            .expect("a body");
        assert_eq!(&bytes[..], b"{ }", "a file is not changed");
    }
}
