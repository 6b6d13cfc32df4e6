//! Requests that have to succeed.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome};
use serde::de::DeserializeOwned;

use crate::failures;

/// Sends a request and insists on success. `doing` completes "the provider rejected …".
pub fn send(context: &Context, request: Request, doing: &str) -> Outcome<Response> {
    accepted(context, context.send(request)?, doing)
}

/// Returns an answer that is a success, and the failure that another one means.
pub fn accepted(context: &Context, response: Response, doing: &str) -> Outcome<Response> {
    if response.is_success() { Ok(response) } else { Err(failures::from_response(context, &response, doing)) }
}

/// Sends a request whose success has no content, such as a deletion.
pub fn execute(context: &Context, request: Request, doing: &str) -> Outcome<()> {
    ensure_done(&send(context, request, doing)?)
}

/// Checks the successful answer of such a request: some of Google's APIs answer nothing, others an empty object. Fails with `unavailable` for
/// anything else. A page that a front end answers with 200 says nothing of the request, and an event that is taken for deleted while Google
/// keeps it is in no later changes.
pub fn ensure_done(response: &Response) -> Outcome<()> {
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
