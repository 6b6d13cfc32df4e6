//! Bodies of logged requests: redacted, sealed, and opened for those who may see them.

use anyhow::{Result, ensure};
use base::keyring::Keyring;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use storage::request_log::{RequestEntry, RequestLogMode};

use crate::app::request_log::redaction::{self, KnownWords};

/// Largest body that is kept, in bytes.
pub const MAX_BODY_BYTES: usize = 16 << 10;

/// Largest JSON of both bodies when they are redacted, in bytes: names and words that are put in may be longer than what they replace.
const MAX_REDACTED_BYTES: usize = 48 << 10;

/// Levels of a body that is kept: with few enough of them it can be read again from within what is sealed.
const MAX_LEVELS: usize = 64;

/// The bodies of a request as they were sent, until they are written.
#[derive(Clone, Debug, Default)]
pub struct CapturedBodies {
    pub request: Option<Bytes>,
    pub response: Option<Bytes>,
}

impl CapturedBodies {
    /// Bytes of both.
    pub fn bytes(&self) -> usize {
        self.request.iter().chain(&self.response).map(Bytes::len).sum()
    }
}

/// The bodies of a request, redacted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestBodies {
    /// The bodies have values; false: they are shapes.
    pub is_full: bool,
    /// None: there was none, or it was no JSON, too large or too deep.
    pub request: Option<Value>,
    pub response: Option<Value>,
}

/// Redacts the bodies of a request for an application with this mode, which keeps full bodies until then (ms since 1970). None: nothing of them
/// is kept.
pub fn redact(
    entry: &RequestEntry,
    sent: &CapturedBodies,
    mode: RequestLogMode,
    full_until: Option<i64>,
    known: &KnownWords,
) -> Option<RequestBodies> {
    let is_full = full_until.is_some_and(|until| entry.at < until);
    let is_kept = is_full || mode == RequestLogMode::Shapes;
    if mode == RequestLogMode::Off || !is_kept || !redaction::is_kept_of(&entry.route) {
        return None;
    }
    let (request, response) =
        (sent.request.as_ref().and_then(parse_body), sent.response.as_ref().and_then(parse_body));
    let hidden: Vec<String> =
        request.iter().chain(&response).filter(|_| is_full).flat_map(redaction::hidden_texts).collect();
    let redacted = |value: Value| match is_full {
        true => redaction::without_secrets(&value, &hidden),
        false => redaction::shape(&value, known),
    };
    let (request, response) = (request.map(redacted), response.map(redacted));
    let bodies = RequestBodies { is_full, request, response };
    (bodies.request.is_some() || bodies.response.is_some()).then_some(bodies)
}

/// The JSON that a small body is.
fn parse_body(body: &Bytes) -> Option<Value> {
    if body.len() > MAX_BODY_BYTES {
        return None;
    }
    serde_json::from_slice(body).ok().filter(|value| is_within(value, MAX_LEVELS))
}

/// Whether a value has no more levels than these.
fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(object) => levels > 0 && object.values().all(|item| is_within(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn place(application_id: &str, id: &str) -> String {
    format!("request_bodies.sealed:{id}:{application_id}")
}

/// Seals the bodies of a request of an application.
///
/// # Errors
/// Of bodies that became too large.
pub fn seal(keyring: &Keyring, application_id: &str, id: &str, bodies: &RequestBodies) -> Result<String> {
    let json = serde_json::to_vec(bodies)?;
    ensure!(json.len() <= MAX_REDACTED_BYTES, "the redacted bodies of {id} have {} bytes", json.len());
    keyring.seal(&place(application_id, id), &json)
}

/// Opens what `seal` made for the same request.
pub fn open(keyring: &Keyring, application_id: &str, id: &str, sealed: &str) -> Result<RequestBodies> {
    Ok(serde_json::from_slice(&keyring.open(&place(application_id, id), sealed)?)?)
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;
    use serde_json::json;

    use super::*;
    use crate::app::request_log::tests::entry;

    fn sent(request: &'static str) -> CapturedBodies {
        CapturedBodies { request: Some(Bytes::from_static(request.as_bytes())), response: None }
    }

    fn kept(mode: RequestLogMode, full_until: Option<i64>, sent: &CapturedBodies) -> Option<Value> {
        let entry = RequestEntry { at: 100, route: "/v1/webhooks".into(), ..entry("app_1", 1) };
        redact(&entry, sent, mode, full_until, &KnownWords::default())?.request
    }

    #[test]
    fn bodies_are_kept_as_the_application_wants_it_at_that_time() {
        let sent = sent(r#"{"name":"Ada"}"#);
        let (shape, full) = (json!({ "‹name›": "‹3 characters›" }), json!({ "name": "Ada" }));
        assert_eq!(kept(RequestLogMode::On, None, &sent), None);
        assert_eq!(kept(RequestLogMode::Shapes, None, &sent), Some(shape.clone()));
        assert_eq!(kept(RequestLogMode::On, Some(101), &sent), Some(full));
        assert_eq!(kept(RequestLogMode::On, Some(100), &sent), None, "the time is over");
        assert_eq!(kept(RequestLogMode::Shapes, Some(100), &sent), Some(shape));
        assert_eq!(kept(RequestLogMode::Off, Some(101), &sent), None);
    }

    #[test]
    fn what_is_no_json_is_not_kept() {
        for text in ["", "{", "client_secret=x", "a: b"] {
            assert_eq!(kept(RequestLogMode::On, Some(101), &sent(text)), None, "{text}");
        }
        let long = format!("\"{}\"", "a".repeat(MAX_BODY_BYTES));
        let long = CapturedBodies { request: Some(long.into()), response: None };
        assert_eq!(kept(RequestLogMode::On, Some(101), &long), None);
    }

    #[test]
    fn what_is_kept_can_be_opened_again() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        for (levels, is_kept) in [(MAX_LEVELS, true), (MAX_LEVELS + 1, false), (127, false)] {
            let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let deep = CapturedBodies { request: Some(deep.into()), response: None };
            let found = kept(RequestLogMode::On, Some(101), &deep);
            assert_eq!(found.is_some(), is_kept, "{levels}");
            if found.is_some() {
                let bodies = RequestBodies { is_full: true, request: found, response: None };
                let sealed = seal(&keyring, "app_1", "req_1", &bodies).unwrap();
                assert_eq!(open(&keyring, "app_1", "req_1", &sealed).unwrap(), bodies);
            }
        }
    }

    #[test]
    fn sealed_bodies_open_for_their_request_alone() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let bodies = RequestBodies { is_full: true, request: Some(json!([1])), response: None };
        let sealed = seal(&keyring, "app_1", "req_1", &bodies).unwrap();
        assert_eq!(open(&keyring, "app_1", "req_1", &sealed).unwrap(), bodies);
        assert!(open(&keyring, "app_2", "req_1", &sealed).is_err());
        assert!(open(&keyring, "app_1", "req_2", &sealed).is_err());
        let large = RequestBodies { response: Some(json!("a".repeat(MAX_REDACTED_BYTES))), ..bodies };
        assert!(seal(&keyring, "app_1", "req_1", &large).is_err());
    }
}
