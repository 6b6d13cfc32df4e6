//! Requests that have to succeed. Each has the preference for immutable ids: an id that was read without it is another one.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome};
use serde::de::DeserializeOwned;

use crate::odata::{failures, prefer};

/// Sends a request and insists on success. `doing` completes "the provider rejected …".
pub fn send(context: &Context, request: Request, doing: &str) -> Outcome<Response> {
    accepted(context, exchange(context, request)?, doing)
}

/// Sends a request; an answer of any status.
pub fn exchange(context: &Context, request: Request) -> Outcome<Response> {
    context.send(prefer::ensure(request))
}

/// Returns an answer that is a success, and the failure that another one means.
pub fn accepted(context: &Context, response: Response, doing: &str) -> Outcome<Response> {
    if response.is_success() { Ok(response) } else { Err(failures::of(context, &response, doing)) }
}

/// Sends a request whose success has no content, such as a deletion. Fails with `unavailable` where a page comes instead: what answers so
/// is no Graph, and the request has done nothing.
pub fn execute(context: &Context, request: Request, doing: &str) -> Outcome<()> {
    let response = send(context, request, doing)?;
    match response.body.trim_ascii_start().first() {
        None | Some(b'{') => Ok(()),
        Some(_) => Err(Failure::unavailable("the provider's answer is neither empty nor a JSON object")),
    }
}

/// Sends a request whose answer is a JSON object.
pub fn ask<T: DeserializeOwned>(context: &Context, request: Request, doing: &str) -> Outcome<T> {
    object(&send(context, request, doing)?)
}

/// Reads the JSON object of an answer. Fails with `unavailable` for anything else: most types here take a missing member for its
/// default, and so a list for an object.
pub fn object<T: DeserializeOwned>(response: &Response) -> Outcome<T> {
    match response.body.trim_ascii_start().first() {
        Some(b'{') if !response.truncated => response.json(),
        Some(b'{') => Err(Failure::unavailable("the provider's answer is cut off")),
        _ => Err(Failure::unavailable("the provider's answer is no JSON object")),
    }
}
