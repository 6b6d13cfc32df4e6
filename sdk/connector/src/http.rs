//! HTTP requests to the provider: plain types over the imported interface `http`, and the trait that native tests implement.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Failure;

/// One request. The host adds the credentials and refuses hosts that the manifest does not name.
///
/// ```
/// use connector_sdk::http::Request;
///
/// let request = Request::patch("https://api.example.com/events/7").if_match(Some("\"3\"")).json(&["title"]);
/// assert_eq!(request.method, "PATCH");
/// assert_eq!(request.headers[0], ("if-match".to_owned(), "\"3\"".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The HTTP method in upper case.
    pub method: String,
    /// The absolute URL, without user information and fragment.
    pub url: String,
    /// Names and values, without credentials.
    pub headers: Vec<(String, String)>,
    /// The segments of the body in order; empty for no body.
    pub body: Vec<Segment>,
    /// The credential slot of the manifest. None means "default"; the name "none" adds no credentials.
    pub auth: Option<String>,
    /// The time limit of the whole exchange, in milliseconds; the host's own limit applies too.
    pub timeout_ms: Option<u32>,
    /// The maximum size of the response body, in bytes; the host's own limit applies too.
    pub max_bytes: Option<u32>,
    /// Pairs of a name and a value for the host. It ignores names that it does not know.
    pub extra: Vec<(String, String)>,
}

/// A piece of a request body.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Literal bytes.
    Bytes(Vec<u8>),
    /// The bytes of a blob that the host holds, as they are.
    Blob(String),
    /// The same in base64 (RFC 4648 section 4).
    BlobBase64(String),
    /// The same in base64url without padding (RFC 4648 section 5).
    BlobBase64Url(String),
}

impl Request {
    /// Returns a request without headers and body. `method` is in upper case.
    pub fn new(method: &str, url: impl Into<String>) -> Self {
        Request { method: method.into(), url: url.into(), ..Request::default() }
    }

    /// Returns a GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Request::new("GET", url)
    }

    /// Returns a POST request without a body.
    pub fn post(url: impl Into<String>) -> Self {
        Request::new("POST", url)
    }

    /// Returns a PUT request without a body.
    pub fn put(url: impl Into<String>) -> Self {
        Request::new("PUT", url)
    }

    /// Returns a PATCH request without a body.
    pub fn patch(url: impl Into<String>) -> Self {
        Request::new("PATCH", url)
    }

    /// Returns a DELETE request.
    pub fn delete(url: impl Into<String>) -> Self {
        Request::new("DELETE", url)
    }

    /// Adds a header and keeps earlier ones of the same name.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a pair to `extra`: at most 32 pairs with 4 KiB in total.
    pub fn extra(mut self, name: &str, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    /// Sets how many units the request uses of its bucket in `[limits]` of the manifest, 1 to 1,000,000. Default 1.
    pub fn units(self, units: u32) -> Self {
        self.extra("units", units.to_string())
    }

    /// Asks the host to renew the token before it sends the request, for a provider that refused the token in a part of a batch instead of
    /// with a 401. The host does not renew a token that has been renewed since, and sends the request anyway if the renewal fails. The
    /// connector gets a 401 of this request as an answer. A second renewal in one call has no effect.
    pub fn renewed(self) -> Self {
        self.extra("credentials", "renewed")
    }

    /// Adds `If-Match` if there is an etag.
    pub fn if_match(self, etag: Option<&str>) -> Self {
        match etag {
            Some(etag) => self.header("if-match", etag),
            None => self,
        }
    }

    /// Replaces the body and adds its `Content-Type`.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = vec![Segment::Bytes(body.into())];
        self.header("content-type", content_type)
    }

    /// Replaces the body with a value as JSON.
    pub fn json(self, body: &impl Serialize) -> Self {
        let text =
            serde_json::to_vec(body).expect("a request body is a plain struct, which always serialises");
        self.body("application/json", text)
    }
}

/// The provider's response with any status, including 3xx, because redirects are not followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The header fields, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body, empty where there is none.
    pub body: Vec<u8>,
    /// Whether the body was cut off at the maximum size.
    pub truncated: bool,
    /// Pairs of a name and a value from the host.
    pub extra: Vec<(String, String)>,
}

impl Response {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the status is a redirect with a `Location`: 301, 302, 303, 307 or 308.
    pub fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }

    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Parses the body as JSON. The error names the path of the invalid value.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            Failure::unavailable(format!("the provider's answer cannot be read at {}", error.path()))
        })
    }
}

/// The reason why there is no response, with a code of `wit/http.wit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendError {
    /// A code of `wit/http.wit`.
    pub code: String,
    /// A sentence about the cause.
    pub message: String,
    /// Milliseconds to wait before the next attempt, if known.
    pub retry_after_ms: Option<u32>,
}

impl SendError {
    /// Returns an error without a time to wait.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        SendError { code: code.into(), message: message.into(), retry_after_ms: None }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// The status, headers and size of a response whose body was stored in a blob.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlobInfo {
    /// The id of the blob, valid in this call. An answer refers to it as `{"$blob": id}`.
    pub id: String,
    /// The size of the blob in bytes; none if the host does not report it.
    pub size: Option<u64>,
    /// The media type that the provider named.
    pub content_type: Option<String>,
    /// The HTTP status.
    pub status: u16,
    /// The response headers; names in lower case.
    pub headers: Vec<(String, String)>,
}

/// Sends HTTP requests to the provider.
pub trait Http {
    /// Sends a request. Fails where there is no answer, not for an error status.
    fn send(&self, request: Request) -> Result<Response, SendError>;

    /// Sends several requests and returns their results in order. One failure does not affect the others.
    fn send_many(&self, requests: Vec<Request>, max_concurrent: u8) -> Vec<Result<Response, SendError>> {
        let _ = max_concurrent;
        requests.into_iter().map(|request| self.send(request)).collect()
    }

    /// Sends a request whose response body is stored in a blob of the host. `decode` and `max_bytes` are those of `wit/http.wit`.
    fn send_to_blob(&self, request: Request, decode: &str, max_bytes: u64) -> Result<BlobInfo, SendError> {
        let _ = (request, decode, max_bytes);
        Err(SendError::new("unavailable", "there is no blob store here"))
    }
}
