//! Converts the request envelope of `wit/types.wit` to a call of a typed method, and its result back. The types are plain, so that native
//! tests use the same code as the host.

use std::io::{self, Write};

use model::wire::Call;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::{Answer, Context, Host};
use crate::error::{Failure, Outcome, code};

/// The request envelope, `types.request` of `wit/types.wit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallRequest {
    /// The operation's name within its surface, such as `events.get`.
    pub op: String,
    /// JSON of `wire::Call`.
    pub body: String,
    /// A cursor that the connector returned earlier for the same operation; none on the first call.
    pub cursor: Option<String>,
    /// The key of the change, equal for repeated attempts; none for reads.
    pub idempotency_key: Option<String>,
    /// Milliseconds of wall-clock time that the call may take.
    pub deadline_ms: u32,
    /// Pairs of a name and a value, see [`Context::request_extra`].
    pub extra: Vec<(String, String)>,
}

/// The response envelope, `types.response` of `wit/types.wit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallResponse {
    /// JSON of the operation's answer.
    pub body: String,
    /// The position of the next page, or of the next change.
    pub cursor: Option<String>,
    /// Whether there are more pages: the host calls again with `cursor` at once. False if caught up.
    pub more: bool,
    /// Pairs of a name and a value, see [`Context::add_response_extra`].
    pub extra: Vec<(String, String)>,
}

/// Parses the arguments, runs one operation, and serializes its answer. Fails with `invalid` and the path of an argument that cannot be
/// parsed, such as one of a newer host.
pub(crate) fn run<A, T>(
    host: &dyn Host,
    request: CallRequest,
    operation: impl FnOnce(&Context, A) -> Outcome<Answer<T>>,
) -> Outcome<CallResponse>
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
    context.extra = request.extra;
    let answer = operation(&context, call.args)?;
    let body = to_json(&answer.body).map_err(|error| {
        Failure::new(code::INTERNAL, format!("the answer cannot be written as JSON: {error}"))
    })?;
    Ok(CallResponse { body, cursor: answer.cursor, more: answer.more, extra: context.response_extra() })
}

/// Serializes an answer into a buffer of exactly its size. A page of records has megabytes: a growing buffer would need twice the memory,
/// and allocating that costs more than counting the bytes first.
fn to_json<T: Serialize>(body: &T) -> serde_json::Result<String> {
    let mut size = Size(0);
    serde_json::to_writer(&mut size, body)?;
    let mut text = Vec::with_capacity(size.0);
    serde_json::to_writer(&mut text, body)?;
    // As serde_json's own `to_string` does.
    #[expect(unsafe_code, reason = "serde_json writes nothing but UTF-8")]
    Ok(unsafe { String::from_utf8_unchecked(text) })
}

/// A writer that only counts bytes.
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

/// Returns the failure for an operation that this version of the SDK does not know.
pub(crate) fn unknown(op: &str) -> Outcome<CallResponse> {
    Err(Failure::unsupported(&format!("the operation {op:?}")))
}

#[cfg(test)]
mod tests {
    use model::wire::Connection;

    use super::*;
    use crate::http::{self, Http, SendError};

    /// A host without a provider.
    struct Nowhere;

    impl Http for Nowhere {
        fn send(&self, _: http::Request) -> Result<http::Response, SendError> {
            Err(SendError::new("unavailable", "there is no provider here"))
        }
    }

    impl Host for Nowhere {
        fn now_ms(&self) -> i64 {
            0
        }

        fn random_bytes(&self, _: u32) -> Vec<u8> {
            Vec::new()
        }

        fn log(&self, _: crate::Level, _: &str, _: &[(&str, String)]) {}
    }

    #[test]
    fn extra_reaches_the_operation_and_its_response() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = CallRequest {
            body: "{}".into(),
            extra: vec![pair("attempt", "3"), pair("unknown", "x"), pair("attempt", "9")],
            ..CallRequest::default()
        };
        let response = run(&Nowhere, request, |context: &Context, (): ()| {
            context.add_response_extra("first", "1");
            context.add_response_extra("second", context.request_extra("attempt").unwrap_or_default());
            Ok(Answer::whole((context.attempt(), context.request_extra("missing").is_none())))
        });
        let response = response.unwrap();
        assert_eq!(response.body, "[3,true]");
        assert_eq!(response.extra, [pair("first", "1"), pair("second", "3")]);
    }

    #[test]
    fn the_longest_wait_that_is_noted_is_in_the_response() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let context = Context::new(&Nowhere, Connection::default());
        context.add_response_extra("else", "1");
        context.note_wait(2_000, None);
        assert_eq!(context.response_extra(), [pair("else", "1"), pair("wait-ms", "2000")]);
        context.note_wait(9_000, Some("mail"));
        context.note_wait(3_000, None);
        let expected = [pair("else", "1"), pair("wait-ms", "9000"), pair("bucket", "mail")];
        assert_eq!(context.response_extra(), expected);
    }

    #[test]
    fn wishes_of_a_request_are_in_its_extra() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = http::Request::get("https://a.test/").units(250).renewed();
        assert_eq!(request.extra, [pair("units", "250"), pair("credentials", "renewed")]);
    }

    #[test]
    fn the_first_attempt_is_1() {
        let attempt = |value: &str| {
            Context::new(&Nowhere, Connection::default()).with_extra("attempt", value).attempt()
        };
        for (value, expected) in [("1", 1), ("2", 2), ("0", 1), ("", 1), ("many", 1), ("-1", 1)] {
            assert_eq!(attempt(value), expected, "{value:?}");
        }
        assert_eq!(Context::new(&Nowhere, Connection::default()).attempt(), 1);
    }

    #[test]
    fn the_time_of_the_first_attempt_is_the_hosts() {
        let context = || Context::new(&Nowhere, Connection::default());
        assert_eq!(context().first_attempt_ms(), None, "an earlier host");
        for (value, expected) in [("1772352000000", Some(1_772_352_000_000)), ("", None), ("soon", None)] {
            let context = context().with_extra("first-attempt-ms", value);
            assert_eq!(context.first_attempt_ms(), expected, "{value:?}");
        }
    }
}
