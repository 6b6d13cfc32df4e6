//! The line to the provider: every request of the connector is written down, answered by the provider or from a recording, and spoilt where
//! a case wants it. What reaches the provider can be recorded.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use runtime::{Carried, Network, Transport, TransportError};

use crate::provider::paper::Paper;
use crate::recording::{Problem, RecordedCase, Recorder, Replay, Unmatched};

/// What happens to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider does not see it, and this is the answer: status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, &'static str),
    /// The provider acts, and its answer is lost. A replay takes the recorded answer, and loses it.
    DropAfter,
    /// The provider does not see it: the connection is reset.
    DropBefore,
    /// The provider does not see it, and an answer comes later than anybody waits.
    Slow,
    /// The provider acts, half of its answer comes, then the connection breaks. A replay cuts the recorded answer.
    Cut,
}

/// One exchange, without credentials.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: String,
    /// The whole URL.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// None: there was no answer.
    pub status: Option<u16>,
}

impl std::fmt::Display for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} → ", self.method, self.url)?;
        match self.status {
            Some(status) => write!(f, "{status}"),
            None => f.write_str("no answer"),
        }
    }
}

/// Who answers.
pub enum Responder {
    /// The kit itself.
    Paper(Paper),
    /// A server, over the network.
    Network,
    /// A recording.
    Recorded(Replay),
}

/// The line. All calls of a run go over one.
pub struct Line {
    responder: Responder,
    /// Notes what the responder answers.
    recorder: Option<Recorder>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    exchanges: Vec<Exchange>,
    /// For the next request that writes.
    of_next_write: Option<Fault>,
    of_all: Option<Fault>,
}

impl Line {
    /// A line to this responder.
    pub fn new(responder: Responder) -> Arc<Self> {
        Arc::new(Line { responder, recorder: None, state: Mutex::default() })
    }

    /// The same, and what is answered is recorded.
    pub fn recording(responder: Responder) -> Arc<Self> {
        Arc::new(Line { responder, recorder: Some(Recorder::default()), state: Mutex::default() })
    }

    /// Whether answers of a server are recorded: then they may take their time.
    pub fn records_network(&self) -> bool {
        self.recorder.is_some() && matches!(self.responder, Responder::Network)
    }

    /// A case begins with no faults and no exchanges, at `at_ms` of the kit's clock, or at the time when it was recorded. Returns the time.
    pub fn begin_case(&self, id: &'static str, at_ms: i64) -> i64 {
        *self.state() = State::default();
        let recorded_at_ms = match &self.responder {
            Responder::Recorded(replay) => replay.begin_case(id),
            Responder::Paper(_) | Responder::Network => None,
        };
        let at_ms = recorded_at_ms.unwrap_or(at_ms);
        if let Some(recorder) = &self.recorder {
            recorder.begin_case(id, at_ms);
        }
        at_ms
    }

    /// The case has ended; it belongs to this surface. Returns how it differs from its recording, if there is one.
    pub fn end_case(&self, surface: &str) -> Unmatched {
        if let Some(recorder) = &self.recorder {
            recorder.end_case(surface);
        }
        match &self.responder {
            Responder::Recorded(replay) => replay.end_case(),
            Responder::Paper(_) | Responder::Network => Unmatched::default(),
        }
    }

    /// Takes what was recorded, as it was exchanged.
    pub fn take_recorded(&self) -> Result<Vec<RecordedCase>, Problem> {
        self.recorder.as_ref().map_or_else(|| Ok(Vec::new()), Recorder::take)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no panic while carrying a request")
    }

    /// The next request that changes something gets this fault.
    pub fn spoil_next_write(&self, fault: Fault) {
        self.state().of_next_write = Some(fault);
    }

    /// All requests get this fault, until [`Line::mend`].
    pub fn spoil_all(&self, fault: Fault) {
        self.state().of_all = Some(fault);
    }

    /// No more faults.
    pub fn mend(&self) {
        let mut state = self.state();
        (state.of_next_write, state.of_all) = (None, None);
    }

    /// What was exchanged since the last time, oldest first.
    pub fn take_exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.state().exchanges)
    }

    async fn provided(
        &self,
        request: &Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<Carried>, TransportError> {
        let place = self.recorder.as_ref().and_then(|recorder| recorder.note_request(request));
        let answer = match &self.responder {
            Responder::Paper(paper) => Ok(paper.answer(request).map(Carried::whole)),
            Responder::Network => network.send().await,
            Responder::Recorded(replay) => replay.answer(request).ok_or_else(TransportError::unreachable),
        };
        if let (Some(recorder), Some(place), Ok(answer)) = (&self.recorder, place, &answer) {
            recorder.note_response(place, answer);
        }
        answer
    }

    async fn spoilt(
        &self,
        fault: Option<Fault>,
        request: &Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<Carried>, TransportError> {
        match fault {
            None => self.provided(request, network).await,
            Some(Fault::DropAfter) => {
                self.provided(request, network).await?;
                Err(TransportError::broken())
            }
            Some(Fault::DropBefore) => Err(TransportError::unreachable()),
            Some(Fault::Slow) => {
                Ok(Response::new(Carried { pieces: vec![(LATE, Bytes::new())], is_cut: false }))
            }
            Some(Fault::Cut) => {
                let answer = self.provided(request, network).await?;
                Ok(answer.map(|body| {
                    let mut bytes = body.bytes();
                    bytes.truncate(bytes.len() / 2);
                    Carried { pieces: vec![(Duration::ZERO, bytes.into())], is_cut: true }
                }))
            }
            Some(Fault::Answer(status, headers, body)) => {
                let mut answer = Response::new(Carried::whole(body));
                *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                for (name, value) in headers {
                    if let Ok(value) = HeaderValue::from_str(&value) {
                        answer.headers_mut().insert(HeaderName::from_static(name), value);
                    }
                }
                Ok(answer)
            }
        }
    }
}

#[async_trait]
impl Transport for Line {
    async fn send(
        &self,
        request: Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<Carried>, TransportError> {
        let fault = {
            let mut state = self.state();
            let of_write = if reads(request.method().as_str()) { None } else { state.of_next_write.take() };
            of_write.or_else(|| state.of_all.clone())
        };
        let answer = self.spoilt(fault, &request, network).await;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = request.headers().iter().filter(|(name, _)| *name != AUTHORIZATION);
        let exchange = Exchange {
            method: request.method().to_string(),
            url: request.uri().to_string(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: request.body().to_vec(),
            status: answer.as_ref().ok().map(|answer| answer.status().as_u16()),
        };
        self.state().exchanges.push(exchange);
        answer
    }
}

/// Methods that change nothing (RFC 9110, section 9.2.1; WebDAV's in RFC 4918 and RFC 3253).
fn reads(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].contains(&method)
}

/// Later than a request may take.
const LATE: Duration = Duration::from_secs(30);

/// How long a request may take in a run: a fault that is slow costs no more than this.
pub const HTTP_TIMEOUT: Duration = Duration::from_millis(400);

/// How long a request may take while a server's answers are recorded; shorter than [`LATE`].
pub const RECORDING_TIMEOUT: Duration = Duration::from_secs(5);
