//! From the envelope of `wit/types.wit` to a typed method and back. Plain types, so that a native test can go through the
//! same door as the host.

use std::io::{self, Write};

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
    let body = printed(&answer.body).map_err(|error| {
        Failure::new(code::INTERNAL, format!("the answer cannot be written as JSON: {error}"))
    })?;
    Ok(Response { body, cursor: answer.cursor, more: answer.more })
}

/// The JSON of an answer, in memory of its size. A page of records is megabytes: to let a buffer grow to that costs twice the memory,
/// and every page of fresh memory costs more than to count once what will be written.
fn printed<T: Serialize>(body: &T) -> serde_json::Result<String> {
    let mut size = Size(0);
    serde_json::to_writer(&mut size, body)?;
    let mut text = Vec::with_capacity(size.0);
    serde_json::to_writer(&mut text, body)?;
    // As serde_json's own `to_string` does.
    #[expect(unsafe_code, reason = "serde_json writes nothing but UTF-8")]
    Ok(unsafe { String::from_utf8_unchecked(text) })
}

/// Counts what is written to it.
struct Size(usize);

impl Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An operation that this version of the SDK does not know.
pub(crate) fn unknown(op: &str) -> Outcome<Response> {
    Err(Failure::unsupported(&format!("the operation {op:?}")))
}
