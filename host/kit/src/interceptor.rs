//! The interceptor between the connector and the line: holds a write back until another event has happened, and keeps the provider's
//! answers of the current case.

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use runtime::{CarriedBody, Network, Transport, TransportError};
use tokio::sync::oneshot;

use crate::line::Line;

/// Methods that change nothing (RFC 9110, section 9.2.1; WebDAV's in RFC 4918 and RFC 3253).
const READING: [&str; 5] = ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"];
/// Answers that are kept of one case.
const MAX_ANSWERS: usize = 10_000;

/// Whether a request of this method changes nothing.
pub fn is_read(method: &str) -> bool {
    READING.contains(&method)
}

/// Carries each request to the line, and its answer back.
pub struct Interceptor {
    line: Arc<Line>,
    state: Mutex<InterceptorState>,
}

#[derive(Default)]
struct InterceptorState {
    /// The hold for the next write.
    hold: Option<WriteHold>,
    answers: Vec<Vec<u8>>,
}

/// The connector's side of a held write.
struct WriteHold {
    arrived: oneshot::Sender<()>,
    released: oneshot::Receiver<()>,
}

/// Ends when the connector has sent the write that is held.
pub type WriteArrival = oneshot::Receiver<()>;

/// A held write. It goes on to the provider when this is released or dropped.
pub struct HeldWrite(oneshot::Sender<()>);

impl HeldWrite {
    /// Lets the write go on to the provider.
    pub fn release(self) {
        // The call of a write that waited too long has ended.
        let _ = self.0.send(());
    }
}

impl Interceptor {
    /// An interceptor before this line.
    pub fn new(line: Arc<Line>) -> Arc<Self> {
        Arc::new(Interceptor { line, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, InterceptorState> {
        self.state.lock().expect("no panic while carrying a request")
    }

    /// Begins a case: no write is held, and no answers are kept.
    pub fn begin_case(&self) {
        *self.state() = InterceptorState::default();
    }

    /// Holds the next write from its arrival on.
    pub fn hold_next_write(&self) -> (WriteArrival, HeldWrite) {
        let (arrived, has_arrived) = oneshot::channel();
        let (release, released) = oneshot::channel();
        self.state().hold = Some(WriteHold { arrived, released });
        (has_arrived, HeldWrite(release))
    }

    /// Takes the bodies of the provider's answers since the last time, oldest first.
    pub fn take_answers(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.state().answers)
    }
}

#[async_trait]
impl Transport for Interceptor {
    async fn send(
        &self,
        request: Request<Bytes>,
        network: &dyn Network,
    ) -> Result<Response<CarriedBody>, TransportError> {
        let hold = match is_read(request.method().as_str()) {
            true => None,
            false => self.state().hold.take(),
        };
        if let Some(WriteHold { arrived, released }) = hold {
            // Both are gone where the case has ended.
            let _ = arrived.send(());
            let _ = released.await;
        }
        let answer = self.line.send(request, network).await;
        if let Ok(answer) = &answer {
            let body = answer.body().bytes();
            let mut state = self.state();
            if state.answers.len() < MAX_ANSWERS {
                state.answers.push(body);
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Fault, Responder};
    use crate::provider::paper::Paper;

    /// No network.
    struct Nowhere;

    #[async_trait]
    impl Network for Nowhere {
        async fn send(&self) -> Result<Response<CarriedBody>, TransportError> {
            Err(TransportError::unreachable())
        }
    }

    fn request(method: &str) -> Request<Bytes> {
        Request::builder().method(method).uri("https://paper.test/v1/me").body(Bytes::new()).unwrap()
    }

    #[tokio::test]
    async fn a_write_waits_until_it_is_released_and_reads_go_on() {
        let line = Line::new(Responder::Paper(Paper::default()));
        line.spoil_all(Fault::Answer(200, Vec::new(), "{}"));
        let interceptor = Interceptor::new(line.clone());
        let (arrived, held) = interceptor.hold_next_write();
        let write = interceptor.send(request("PATCH"), &Nowhere);
        tokio::pin!(write);
        tokio::select! {
            biased;
            _ = &mut write => panic!("the write has not waited"),
            arrived = arrived => arrived.unwrap(),
        }
        interceptor.send(request("GET"), &Nowhere).await.unwrap();
        // Only one write is held.
        interceptor.send(request("POST"), &Nowhere).await.unwrap();
        held.release();
        write.await.unwrap();
        let methods: Vec<String> =
            line.take_exchanges().into_iter().map(|exchange| exchange.method).collect();
        assert_eq!(methods, ["GET", "POST", "PATCH"]);
        assert_eq!(interceptor.take_answers(), vec![b"{}".to_vec(); 3]);
        assert!(interceptor.take_answers().is_empty());
    }
}
