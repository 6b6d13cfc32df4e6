//! If-Match: a mutation should carry the etag that it is based on; stale gives 409 (Contract, Cross-cutting rules 3).

use base::error::{Code, Result, invalid};
use http::{HeaderMap, header};
use serde_json::{Map, Value};
use service::writes::etag::ExpectedEtag;

/// The etag that the caller expects, from `If-Match` or from the body's `etag` (taken out of it). Both only if they agree.
pub fn expected(headers: &HeaderMap, body: Option<&mut Map<String, Value>>) -> Result<ExpectedEtag> {
    let header =
        headers.get(header::IF_MATCH).map(|v| v.to_str().map(str::trim).unwrap_or_default().to_owned());
    let body = match body.and_then(|b| b.remove("etag")) {
        None | Some(Value::Null) => None,
        Some(Value::String(etag)) => Some(etag),
        Some(_) => return Err(invalid(Code::InvalidParameter, "etag", "etag must be a string")),
    };
    match (header, body) {
        (Some(h), Some(b)) if !same(&h, &b) => Err(invalid(
            Code::ConflictingFields,
            "etag",
            "If-Match and the body's etag differ; send one of them",
        )),
        (Some(text), _) | (None, Some(text)) => parse(&text),
        (None, None) => Ok(ExpectedEtag::Anything),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim_matches('"') == b.trim_matches('"')
}

/// `*`, or a list of strong etags (RFC 9110, 13.1.1). A weak one never matches, so it is a mistake.
fn parse(text: &str) -> Result<ExpectedEtag> {
    if text == "*" {
        return Ok(ExpectedEtag::Anything);
    }
    let etags: Vec<String> =
        text.split(',').map(|t| t.trim().trim_matches('"').to_owned()).filter(|t| !t.is_empty()).collect();
    if etags.is_empty() || text.contains("W/") {
        return Err(invalid(
            Code::InvalidParameter,
            "etag",
            "the etag must be a strong etag such as \"1a2b\", or *",
        ));
    }
    Ok(ExpectedEtag::OneOf(etags.into_iter().map(|t| format!("\"{t}\"")).collect()))
}
