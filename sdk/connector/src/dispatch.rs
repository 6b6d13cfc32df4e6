//! From the envelope of `wit/types.wit` to a typed method and back. Plain types, so that a native test can go through the
//! same door as the host.

use model::wire::Call;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::{Answer, Context, Host};
use crate::error::{Failure, Outcome, code};

/// `types.request`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub op: String,
    /// JSON of `wire::Call`.
    pub body: String,
    pub cursor: Option<String>,
    pub idempotency_key: Option<String>,
    pub deadline_ms: u32,
}

/// `types.response`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// JSON of the operation's answer.
    pub body: String,
    pub cursor: Option<String>,
    pub more: bool,
}

/// Parses the arguments, runs one operation, prints its answer. An argument that cannot be read is the host's mistake or a
/// newer host's meaning: "invalid", with the place.
pub(crate) fn run<A, T>(
    host: &dyn Host,
    request: Request,
    operation: impl FnOnce(&Context, A) -> Outcome<Answer<T>>,
) -> Outcome<Response>
where
    A: DeserializeOwned + Default,
    T: Serialize,
{
    let mut reader = serde_json::Deserializer::from_str(&request.body);
    let call: Call<A> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Failure::invalid(format!("the call's body cannot be read at {}", error.path())))?;
    let mut context = Context::new(host, call.connection);
    context.cursor = request.cursor;
    context.idempotency_key = request.idempotency_key;
    context.deadline_ms = request.deadline_ms;
    let answer = operation(&context, call.args)?;
    let body = serde_json::to_string(&answer.body).map_err(|error| {
        Failure::new(code::INTERNAL, format!("the answer cannot be written as JSON: {error}"))
    })?;
    Ok(Response { body, cursor: answer.cursor, more: answer.more })
}

/// An operation that this version of the SDK does not know.
pub(crate) fn unknown(op: &str) -> Outcome<Response> {
    Err(Failure::unsupported(&format!("the operation {op:?}")))
}
