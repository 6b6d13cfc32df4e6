//! The connection between connector and provider: logs every request of the connector, gets its answer from the provider or from a
//! recording, and injects the faults of a case. The exchanges can be recorded.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use runtime::{CarriedBody, Network, Transport, TransportError};

use crate::pace::{Pace, PaceLimits};
use crate::provider::paper::Paper;
use crate::recording::{Problem, RecordedCase, Recorder, RecordingDifferences, Replay};

/// A fault injected into one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider does not get the request. The connector gets this answer: status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, &'static str),
    /// The provider processes the request, and its answer is lost. In a replay the recorded answer is used up and lost.
    DropAfter,
    /// The provider does not get the request, because the connection is reset.
    DropBefore,
    /// The provider does not get the request, and no answer comes in time.
    Slow,
    /// The provider processes the request, and the connection breaks after half of its answer. A replay truncates the recorded answer.
    Cut,
}

/// A request and the status of its answer, without credentials.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: String,
    /// The full URL.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The status; none if there was no answer.
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

/// The source of the responses.
pub enum Responder {
    /// Paper, the kit's own provider.
    Paper(Paper),
    /// A server, over the network.
    Network,
    /// A recording.
    Recorded(Replay),
}

/// The connection that all calls of a run use.
pub struct Line {
    responder: Responder,
    /// The recorder of the responder's answers, if they are recorded.
    recorder: Option<Recorder>,
    /// The time limits of the responder.
    pub pace: Pace,
    state: Mutex<LineState>,
}

#[derive(Default)]
struct LineState {
    exchanges: Vec<Exchange>,
    /// For a request that writes, after this number of others.
    of_write: Option<(usize, Fault)>,
    of_all: Option<Fault>,
}

impl LineState {
    /// Returns the fault of the present request, which writes.
    fn take_fault_of_write(&mut self) -> Option<Fault> {
        match self.of_write.take()? {
            (0, fault) => Some(fault),
            (skipped, fault) => {
                self.of_write = Some((skipped - 1, fault));
                None
            }
        }
    }
}

impl Line {
    /// Creates a line to this responder.
    pub fn new(responder: Responder) -> Arc<Self> {
        Line::with_limits(responder, None, PaceLimits::default())
    }

    /// Creates a line to this responder that records its answers.
    pub fn recording(responder: Responder) -> Arc<Self> {
        Line::with_limits(responder, Some(Recorder::default()), PaceLimits::default())
    }

    fn with_limits(responder: Responder, recorder: Option<Recorder>, limits: PaceLimits) -> Arc<Self> {
        let pace = match responder {
            Responder::Network => Pace::of_server(limits, recorder.is_some()),
            Responder::Paper(_) | Responder::Recorded(_) => Pace::none(),
        };
        Arc::new(Line { responder, recorder, pace, state: Mutex::default() })
    }

    /// Begins a case without faults and exchanges. Returns its start by the kit's clock: the recorded time, else `at_ms`.
    pub fn begin_case(&self, id: &'static str, at_ms: i64) -> i64 {
        *self.state() = LineState::default();
        self.pace.begin_case();
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

    /// Ends the case, which belongs to this surface. Returns the differences from its recording, if there is one.
    pub fn end_case(&self, surface: &str) -> RecordingDifferences {
        if let Some(recorder) = &self.recorder {
            recorder.end_case(surface);
        }
        match &self.responder {
            Responder::Recorded(replay) => replay.end_case(),
            Responder::Paper(_) | Responder::Network => RecordingDifferences::default(),
        }
    }

    /// Takes the recorded cases, unredacted.
    pub fn take_recorded(&self) -> Result<Vec<RecordedCase>, Problem> {
        self.recorder.as_ref().map_or_else(|| Ok(Vec::new()), Recorder::take)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, LineState> {
        self.state.lock().expect("no panic while carrying a request")
    }

    /// Injects this fault into the next request that changes something.
    pub fn spoil_next_write(&self, fault: Fault) {
        self.spoil_write(0, fault);
    }

    /// Injects this fault into the request that changes something after `skipped` others.
    pub fn spoil_write(&self, skipped: usize, fault: Fault) {
        self.state().of_write = Some((skipped, fault));
    }

    /// Injects this fault into all requests until [`Line::mend`].
    pub fn spoil_all(&self, fault: Fault) {
        self.state().of_all = Some(fault);
    }

    /// Ends all faults. Returns whether a fault for a write was not reached.
    pub fn mend(&self) -> bool {
        let mut state = self.state();
        state.of_all = None;
        state.of_write.take().is_some()
    }

    /// Takes the exchanges since the last call, oldest first.
    pub fn take_exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.state().exchanges)
    }

    async fn provided(
        &self,
        request: &Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<CarriedBody>, TransportError> {
        let place = self.recorder.as_ref().and_then(|recorder| recorder.note_request(request));
        let answer = match &self.responder {
            Responder::Paper(paper) => Ok(paper.answer(request).map(CarriedBody::whole)),
            Responder::Network => self.pace.send(network).await,
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
    ) -> Result<Response<CarriedBody>, TransportError> {
        match fault {
            None => self.provided(request, network).await,
            Some(Fault::DropAfter) => {
                self.provided(request, network).await?;
                Err(TransportError::broken())
            }
            Some(Fault::DropBefore) => Err(TransportError::unreachable()),
            Some(Fault::Slow) => {
                tokio::time::sleep(self.pace.silence()).await;
                Err(TransportError::timed_out())
            }
            Some(Fault::Cut) => {
                let answer = self.provided(request, network).await?;
                Ok(answer.map(|body| {
                    let mut bytes = body.bytes();
                    bytes.truncate(bytes.len() / 2);
                    CarriedBody { pieces: vec![(Duration::ZERO, bytes.into())], is_cut: true }
                }))
            }
            Some(Fault::Answer(status, headers, body)) => {
                let mut answer = Response::new(CarriedBody::whole(body));
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
    ) -> Result<Response<CarriedBody>, TransportError> {
        let fault = {
            let mut state = self.state();
            let of_write = if reads(request.method().as_str()) { None } else { state.take_fault_of_write() };
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

/// Whether a method is safe, that is, changes nothing (RFC 9110, section 9.2.1; for WebDAV RFC 4918 and RFC 3253).
fn reads(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].contains(&method)
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;

    use super::*;
    use crate::pace::ProviderTrouble;

    const LIMITS: PaceLimits = PaceLimits {
        least_answer: Duration::from_millis(40),
        most_answer: Duration::from_millis(2_000),
        least_wait: Duration::from_millis(5),
        most_wait: Duration::from_millis(60),
    };

    /// A provider that answers after this number of milliseconds, first with 429.
    struct SlowProvider(u64, Mutex<u32>);

    #[async_trait]
    impl Network for SlowProvider {
        async fn send(&self) -> Result<Response<CarriedBody>, TransportError> {
            tokio::time::sleep(Duration::from_millis(self.0)).await;
            let mut asked = self.1.lock().expect("one request at a time");
            *asked += 1;
            let mut answer = Response::new(CarriedBody::whole("done"));
            if *asked == 1 {
                *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
                answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("0"));
            }
            Ok(answer)
        }
    }

    async fn get(line: &Line, provider: &SlowProvider) -> Result<u16, TransportError> {
        let request = Request::get("https://a.test/1").body(Bytes::new()).expect("a request");
        Ok(line.send(request, provider).await?.status().as_u16())
    }

    /// A wait that the provider asks for is not logged as an exchange, and injected waits take no time.
    #[tokio::test]
    async fn a_case_sees_the_answer_behind_a_wait() {
        let line = Line::with_limits(Responder::Network, Some(Recorder::default()), LIMITS);
        line.begin_case("D1", 0);
        let provider = SlowProvider(1, Mutex::default());
        assert_eq!(get(&line, &provider).await.expect("an answer"), 200);
        line.spoil_all(Fault::Answer(429, vec![("retry-after", "3600".to_owned())], "{}"));
        assert_eq!(get(&line, &provider).await.expect("the fault"), 429);
        line.mend();
        let seen: Vec<_> = line.take_exchanges().iter().map(|exchange| exchange.status).collect();
        assert_eq!((seen, *provider.1.lock().expect("no panic")), (vec![Some(200), Some(429)], 2));
        line.end_case("lifecycle");
        let recorded = line.take_recorded().expect("each request has its answer");
        let statuses: Vec<_> =
            recorded[0].exchanges.iter().map(|exchange| exchange.response.status).collect();
        assert_eq!((statuses, line.pace.trouble()), (vec![200], None));
    }

    #[tokio::test]
    async fn an_injected_silence_grows_with_the_pace_of_the_provider() {
        let line = Line::with_limits(Responder::Network, None, LIMITS);
        line.begin_case("F6", 0);
        let provider = SlowProvider(60, Mutex::new(1));
        assert_eq!(get(&line, &provider).await.expect("an answer"), 200);
        line.spoil_all(Fault::Slow);
        let start = tokio::time::Instant::now();
        let error = get(&line, &provider).await.expect_err("no answer comes");
        assert!(error.is_late() && start.elapsed() >= Duration::from_millis(600), "{:?}", start.elapsed());
        assert_eq!(line.pace.trouble(), None, "the silence was the kit's own");
        line.mend();
        line.begin_case("D1", 0);
        let silent = SlowProvider(60_000, Mutex::default());
        get(&line, &silent).await.expect_err("the provider is silent");
        assert_eq!(line.pace.trouble(), Some(ProviderTrouble::Late));
    }

    #[tokio::test]
    async fn a_fault_meets_the_write_after_others() {
        let line = Line::with_limits(Responder::Network, None, LIMITS);
        let provider = SlowProvider(1, Mutex::new(1));
        let post = || Request::post("https://a.test/1").body(Bytes::new()).expect("a request");
        line.spoil_write(1, Fault::DropBefore);
        line.send(post(), &provider).await.expect("the first write is skipped");
        get(&line, &provider).await.expect("reads do not count");
        assert!(line.send(post(), &provider).await.is_err(), "the second write");
        assert!(!line.mend(), "the fault was reached");
        line.spoil_write(1, Fault::DropBefore);
        line.send(post(), &provider).await.expect("an answer");
        assert!(line.mend(), "there was no second write");
    }
}
