//! The file format of recordings: one file per surface, `recordings/<surface>.jsonl`, with one JSON object per line and sorted keys. A case
//! begins with a line that names it, followed by its exchanges in the order of the requests.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use runtime::CarriedBody;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::recording::problem::Problem;

/// The version of the format.
const VERSION: u32 = 1;
/// The extension of recording files.
pub(super) const EXTENSION: &str = "jsonl";
const MAX_BODY_BYTES: usize = 256 << 10;
const MAX_FILE_BYTES: usize = 4 << 20;

/// Everything that was recorded in one run of the kit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The connector and its version, for readers: `notes@0.1.0`.
    pub connector: String,
    pub origin: Origin,
    /// The seed of the run, which a replay uses again.
    pub seed: u64,
    pub cases: Vec<RecordedCase>,
}

/// The provider whose responses were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Paper, the kit's own provider.
    #[default]
    Paper,
    /// A server.
    Server,
}

/// The exchanges of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCase {
    pub id: String,
    /// The surface whose file holds the case.
    pub surface: String,
    /// The time of the kit's clock when the case began, in milliseconds since 1970.
    pub at_ms: i64,
    pub exchanges: Vec<RecordedExchange>,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedExchange {
    /// Its number in the case, for readers.
    pub n: usize,
    pub request: RecordedRequest,
    pub response: RecordedResponse,
}

/// A request. Files do not contain its credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RequestFields", into = "RequestFields")]
pub struct RecordedRequest {
    pub method: String,
    /// The full URL.
    pub url: String,
    /// The headers by name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ResponseFields", into = "ResponseFields")]
pub struct RecordedResponse {
    pub status: u16,
    /// The headers by name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// The line that a case begins with.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFields {
    at: String,
    case: String,
    connector: String,
    provider: Origin,
    seed: u64,
    v: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RequestFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    method: String,
    url: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResponseFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    status: u16,
}

/// Splits a body into text, or base64 if it is not UTF-8; neither if it is empty.
fn split(body: Vec<u8>) -> (Option<String>, Option<String>) {
    match String::from_utf8(body) {
        Ok(text) if text.is_empty() => (None, None),
        Ok(text) => (Some(text), None),
        Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
    }
}

fn join_body(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, String> {
    match (text, base64) {
        (Some(_), Some(_)) => Err("there are body and bodyBase64, and one of them is allowed".to_owned()),
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => STANDARD.decode(base64).map_err(|error| format!("bodyBase64: {error}")),
        (None, None) => Ok(Vec::new()),
    }
}

impl From<RecordedRequest> for RequestFields {
    fn from(RecordedRequest { method, url, headers, body }: RecordedRequest) -> Self {
        let (body, body_base64) = split(body);
        RequestFields { body, body_base64, headers, method, url }
    }
}

impl TryFrom<RequestFields> for RecordedRequest {
    type Error = String;

    fn try_from(fields: RequestFields) -> Result<Self, String> {
        let RequestFields { body, body_base64, headers, method, url } = fields;
        Ok(RecordedRequest { method, url, headers, body: join_body(body, body_base64)? })
    }
}

impl From<RecordedResponse> for ResponseFields {
    fn from(RecordedResponse { status, headers, body }: RecordedResponse) -> Self {
        let (body, body_base64) = split(body);
        ResponseFields { body, body_base64, headers, status }
    }
}

impl TryFrom<ResponseFields> for RecordedResponse {
    type Error = String;

    fn try_from(fields: ResponseFields) -> Result<Self, String> {
        let ResponseFields { body, body_base64, headers, status } = fields;
        Ok(RecordedResponse { status, headers, body: join_body(body, body_base64)? })
    }
}

impl RecordedRequest {
    /// Records a request with its credentials, which the redactor needs to find them elsewhere and then removes.
    pub fn from_request(request: &Request<Bytes>) -> Self {
        RecordedRequest {
            method: request.method().to_string(),
            url: request.uri().to_string(),
            headers: headers_of(request.headers()),
            body: request.body().to_vec(),
        }
    }
}

impl std::fmt::Display for RecordedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url)
    }
}

impl RecordedResponse {
    /// Records a response with its cookies, which the redactor needs to find them elsewhere and then removes.
    pub fn from_response(response: &Response<CarriedBody>) -> Self {
        RecordedResponse {
            status: response.status().as_u16(),
            headers: headers_of(response.headers()),
            body: response.body().bytes(),
        }
    }

    /// Returns the response to replay.
    pub fn carried(&self) -> Response<CarriedBody> {
        let mut response = Response::new(CarriedBody::whole(self.body.clone()));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Headers by name; several values of one name are joined to a list (RFC 9110, section 5.3).
fn headers_of(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        found
            .entry(name.as_str().to_owned())
            .and_modify(|known| {
                known.push_str(", ");
                known.push_str(&value);
            })
            .or_insert_with(|| value.to_string());
    }
    found
}

impl RecordedExchange {
    /// Fails if a body is too large for a file that people review and keep in a repository.
    fn ensure_small(&self, case: &str) -> Result<(), Problem> {
        for (what, body) in [("request", &self.request.body), ("answer", &self.response.body)] {
            if body.len() > MAX_BODY_BYTES {
                return Err(Problem::new(
                    format!(
                        "the body of the {what} of {} in case {case} has {} bytes, and a recording holds {MAX_BODY_BYTES} of a body",
                        self.request,
                        body.len()
                    ),
                    "record an account with less in it, or ask the provider for smaller pages",
                ));
            }
        }
        Ok(())
    }
}

impl Recording {
    /// Finds the case with this id.
    pub fn find_case(&self, id: &str) -> Option<&RecordedCase> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// Renders the files, by name. Fails if one is too large.
    pub fn render(&self) -> Result<BTreeMap<String, String>> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for case in &self.cases {
            let file = files.entry(format!("{}.{EXTENSION}", case.surface)).or_default();
            let first = CaseFields {
                at: jiff::Timestamp::from_millisecond(case.at_ms)?.to_string(),
                case: case.id.clone(),
                connector: self.connector.clone(),
                provider: self.origin,
                seed: self.seed,
                v: VERSION,
            };
            file.push_str(&serde_json::to_string(&first)?);
            file.push('\n');
            for exchange in &case.exchanges {
                exchange.ensure_small(&case.id)?;
                file.push_str(&serde_json::to_string(exchange)?);
                file.push('\n');
            }
        }
        if let Some((name, text)) = files.iter().find(|(_, text)| text.len() > MAX_FILE_BYTES) {
            return Err(Problem::new(
                format!(
                    "recordings/{name} would have {} bytes, and a file of a recording has {MAX_FILE_BYTES} at most",
                    text.len()
                ),
                "record an account with less in it, or ask the provider for smaller pages",
            )
            .into());
        }
        Ok(files)
    }

    /// Parses the files, by name. The error names the file and the line.
    pub fn parse(files: &BTreeMap<String, String>) -> Result<Recording, Problem> {
        let mut recording = Recording::default();
        for (name, text) in files {
            let surface = Path::new(name).with_extension("").to_string_lossy().into_owned();
            let mut has_case = false;
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                recording.add(&surface, line, &mut has_case).map_err(|said| {
                    let said = format!("recordings/{name}, line {}: {said}", at + 1);
                    Problem::new(said, "record again: switchboard connector record")
                })?;
            }
        }
        Ok(recording)
    }

    fn add(&mut self, surface: &str, line: &str, has_case: &mut bool) -> Result<(), String> {
        let told = |error: serde_json::Error| error.to_string();
        let value: Value = serde_json::from_str(line).map_err(told)?;
        if value.get("case").is_none() {
            let exchange: RecordedExchange = serde_json::from_value(value).map_err(told)?;
            let case = self.cases.last_mut().filter(|_| *has_case);
            case.ok_or("no line before it names a case")?.exchanges.push(exchange);
            return Ok(());
        }
        let first: CaseFields = serde_json::from_value(value).map_err(told)?;
        if first.v != VERSION {
            return Err(format!("v is {}, and this program reads version {VERSION}", first.v));
        }
        let at = first.at.parse::<jiff::Timestamp>().map_err(|error| format!("at: {error}"))?;
        if self.cases.is_empty() {
            (self.connector, self.origin, self.seed) = (first.connector, first.provider, first.seed);
        } else if (self.origin, self.seed) != (first.provider, first.seed) {
            return Err("the case comes from another run than the first one".to_owned());
        }
        if self.find_case(&first.case).is_some() {
            return Err(format!("the case {} is there already", first.case));
        }
        let surface = surface.to_owned();
        let case =
            RecordedCase { id: first.case, surface, at_ms: at.as_millisecond(), exchanges: Vec::new() };
        self.cases.push(case);
        *has_case = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let request = RecordedRequest {
            method: "POST".into(),
            url: "https://a.test/x?y=1".into(),
            headers: BTreeMap::from([("accept".into(), "*/*".into())]),
            body: b"{\"a\":1}".to_vec(),
        };
        let response = RecordedResponse { status: 200, headers: BTreeMap::new(), body: vec![0xff, 0] };
        let case = |id: &str, surface: &str, exchanges| RecordedCase {
            id: id.into(),
            surface: surface.into(),
            at_ms: 1_767_225_600_000,
            exchanges,
        };
        Recording {
            connector: "notes@0.1.0".into(),
            origin: Origin::Server,
            seed: 7,
            cases: vec![
                case("D1", "lifecycle", Vec::new()),
                case("W1", "tasks", vec![RecordedExchange { n: 1, request, response }]),
            ],
        }
    }

    #[test]
    fn a_recording_is_lines_with_sorted_keys() {
        let files = recording().render().unwrap();
        assert_eq!(
            files["tasks.jsonl"],
            "{\"at\":\"2026-01-01T00:00:00Z\",\"case\":\"W1\",\"connector\":\"notes@0.1.0\",\"provider\":\"server\",\"seed\":7,\"v\":1}\n\
             {\"n\":1,\"request\":{\"body\":\"{\\\"a\\\":1}\",\"headers\":{\"accept\":\"*/*\"},\"method\":\"POST\",\"url\":\"https://a.test/x?y=1\"},\
             \"response\":{\"bodyBase64\":\"/wA=\",\"headers\":{},\"status\":200}}\n"
        );
        assert_eq!(Recording::parse(&files).unwrap(), recording());
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut large = recording();
        large.cases[1].exchanges[0].response.body = vec![b'a'; MAX_BODY_BYTES + 1];
        let said = large.render().unwrap_err().to_string();
        assert!(
            said.contains("the answer of POST https://a.test/x?y=1 in case W1 has 262145 bytes"),
            "{said}"
        );
        large.cases[1].exchanges[0].response.body.pop();
        let one = large.cases[1].exchanges[0].clone();
        large.cases[1].exchanges = vec![one; 17];
        let said = large.render().unwrap_err().to_string();
        assert!(said.starts_with("recordings/tasks.jsonl would have"), "{said}");
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        let whole = recording().render().unwrap();
        let lines: Vec<&str> = whole["tasks.jsonl"].lines().collect();
        for (text, said) in [
            (lines[1].to_owned(), "line 1: no line before it names a case"),
            (format!("{}\n{{\"n\":1}}", lines[0]), "line 2: missing field `request`"),
            (format!("{}\n{}", lines[0], lines[0]), "line 2: the case W1 is there already"),
            (lines[0].replace("\"v\":1", "\"v\":2"), "line 1: v is 2, and this program reads version 1"),
            ("cut".to_owned(), "line 1: expected value"),
        ] {
            let problem = Recording::parse(&BTreeMap::from([("tasks.jsonl".into(), text)])).unwrap_err();
            assert!(problem.said.starts_with(&format!("recordings/tasks.jsonl, {said}")), "{}", problem.said);
        }
    }
}
