//! Hosts for native tests of a connector: one with recorded answers, and (feature `live`) one that talks to a real server.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Value, json};

use crate::context::{Host, Level};
use crate::http::{Http, Request, Response, Segment, SendError};

/// The clock, randomness and log of a test. The clock moves only when the test sets it, and the random numbers are the same in every run.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// The time that the connector reads, Unix milliseconds; 0 at first.
    pub now_ms: Cell<i64>,
    seed: Cell<u64>,
    /// Every line that was logged.
    pub lines: RefCell<Vec<String>>,
}

impl Surroundings {
    fn random_bytes(&self, len: u32) -> Vec<u8> {
        let next = || {
            // SplitMix64: deterministic, which is all that a test needs.
            self.seed.set(self.seed.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
            let z = self.seed.get();
            let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (z ^ (z >> 27)).to_le_bytes()[3]
        };
        (0..len).map(|_| next()).collect()
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        let fields: String = fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        self.lines.borrow_mut().push(format!("{} {message}{fields}", level.as_str()));
    }
}

/// Returns the JSON without null, false, empty strings and empty lists, so that a snapshot shows only the fields that were read.
pub fn told(sources: impl Serialize) -> Value {
    let mut shown = json!(sources);
    prune(&mut shown);
    shown
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(prune);
            members.retain(|_, value| {
                *value != json!(null) && *value != json!([]) && *value != json!(false) && *value != json!("")
            });
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}

/// The literal bytes of a request's body, without the content of blobs.
pub fn body(request: &Request) -> Vec<u8> {
    let bytes = |segment: &Segment| match segment {
        Segment::Bytes(bytes) => bytes.clone(),
        Segment::Blob(id) | Segment::BlobBase64(id) | Segment::BlobBase64Url(id) => {
            format!("<blob {id}>").into_bytes()
        }
    };
    request.body.iter().flat_map(bytes).collect()
}

/// A function that answers a request of a connector under test.
pub type Answerer = Box<dyn Fn(&Request) -> Result<Response, SendError>>;

/// A provider with recorded answers, given in order, each for one method and URL. An unexpected request and an unused answer fail the test.
#[derive(Default)]
pub struct Recorded {
    /// The clock, randomness and log of the test.
    pub surroundings: Surroundings,
    queue: RefCell<VecDeque<(String, String, Response)>>,
    /// Every request that was made.
    pub requests: RefCell<Vec<Request>>,
    answerer: Option<Answerer>,
}

impl Recorded {
    /// Returns a provider without recorded answers: every request fails the test.
    pub fn new() -> Self {
        Recorded::default()
    }

    /// Returns a provider whose answers a function computes, as a fake server does.
    pub fn answering(answerer: impl Fn(&Request) -> Result<Response, SendError> + 'static) -> Self {
        let mut recorded = Recorded::default();
        recorded.answerer = Some(Box::new(answerer));
        recorded
    }

    /// Adds the next expected request and its answer.
    pub fn expect(self, method: &str, url: &str, response: Response) -> Self {
        self.queue.borrow_mut().push_back((method.into(), url.into(), response));
        self
    }
}

/// A response for [`Recorded::expect`].
pub fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Response { status, headers, body: body.into(), ..Response::default() }
}

impl Http for Recorded {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        self.requests.borrow_mut().push(request.clone());
        if let Some(answerer) = &self.answerer {
            return answerer(&request);
        }
        let next = self.queue.borrow_mut().pop_front();
        let (method, url, response) =
            next.unwrap_or_else(|| panic!("unexpected request: {} {}", request.method, request.url));
        assert_eq!(
            (request.method, request.url),
            (method, url),
            "the request is not the one that was recorded"
        );
        Ok(response)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(
                self.queue.borrow().is_empty(),
                "recorded answers that no request used: {:?}",
                self.queue.borrow()
            );
        }
    }
}

macro_rules! surroundings_host {
    ($host:ty) => {
        impl Host for $host {
            fn now_ms(&self) -> i64 {
                self.surroundings.now_ms.get()
            }

            fn random_bytes(&self, len: u32) -> Vec<u8> {
                self.surroundings.random_bytes(len)
            }

            fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
                self.surroundings.log(level, message, fields);
            }
        }
    };
}

surroundings_host!(Recorded);

#[cfg(feature = "live")]
pub use live::{Credentials, Live};

#[cfg(feature = "live")]
mod live {
    //! A blocking HTTP client for a real server. Like the host, it follows no redirects.

    use std::time::Duration;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use crate::context::{Host, Level};
    use crate::http::{Http, Request, Response, SendError};
    use crate::testing::{Surroundings, body};

    /// The credentials that the host would inject.
    #[derive(Clone, Debug)]
    pub enum Credentials {
        /// No credentials.
        None,
        /// A user name and a password (RFC 7617).
        Basic {
            /// The user name.
            username: String,
            /// The password.
            password: String,
        },
        /// A token (RFC 6750).
        Bearer(String),
    }

    /// A host that sends requests to a real server.
    pub struct Live {
        /// The clock, randomness and log of the test.
        pub surroundings: Surroundings,
        credentials: Credentials,
        agent: ureq::Agent,
    }

    impl Live {
        /// Returns a client with these credentials and a timeout of 30 seconds per request.
        pub fn new(credentials: Credentials) -> Self {
            let agent = ureq::Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .allow_non_standard_methods(true)
                .timeout_global(Some(Duration::from_secs(30)))
                .build()
                .into();
            Live { surroundings: Surroundings::default(), credentials, agent }
        }

        fn authorization(&self) -> Option<String> {
            match &self.credentials {
                Credentials::None => None,
                Credentials::Basic { username, password } => {
                    Some(format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
                }
                Credentials::Bearer(token) => Some(format!("Bearer {token}")),
            }
        }
    }

    impl Http for Live {
        fn send(&self, request: Request) -> Result<Response, SendError> {
            let mut builder =
                ureq::http::Request::builder().method(request.method.as_str()).uri(&request.url);
            for (name, value) in &request.headers {
                builder = builder.header(name, value);
            }
            if request.auth.as_deref() != Some("none")
                && let Some(value) = self.authorization()
            {
                builder = builder.header("authorization", value);
            }
            let invalid = |error: ureq::http::Error| SendError::new("invalid", error.to_string());
            let sent = if request.body.is_empty() {
                self.agent.run(builder.body(()).map_err(invalid)?)
            } else {
                self.agent.run(builder.body(body(&request)).map_err(invalid)?)
            };
            let mut answer = sent.map_err(|error| SendError::new("connect", error.to_string()))?;
            let text = |(name, value): (&ureq::http::HeaderName, &ureq::http::HeaderValue)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
            Ok(Response {
                status: answer.status().as_u16(),
                headers: answer.headers().iter().map(text).collect(),
                body: answer
                    .body_mut()
                    .with_config()
                    .limit(64 << 20)
                    .read_to_vec()
                    .map_err(|error| SendError::new("connect", error.to_string()))?,
                ..Response::default()
            })
        }
    }

    surroundings_host!(Live);
}
