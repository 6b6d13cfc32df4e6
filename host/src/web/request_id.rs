//! x-request-id: in every response, and in every log line of the request.

use base::clock::{Clock, Entropy};
use base::ids::{self, Kind};
use http::{HeaderMap, HeaderName};

/// The header.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the request being served, for log lines and connector calls.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// The request's id: always generated here, so that it is unique and contains no foreign data. A client's id, if it sends one, is only
/// logged beside it.
// Contract silent: whether a client's x-request-id is taken over. It is not: an id that others can choose identifies nothing.
pub fn new(clock: &Clock, entropy: &Entropy) -> String {
    ids::new(Kind::Request, clock, entropy)
}

/// The client's own id, cut to a form that is safe to log.
pub fn of_client(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(X_REQUEST_ID)?.to_str().ok()?;
    Some(text.chars().filter(|c| c.is_ascii_graphic()).take(128).collect())
}
