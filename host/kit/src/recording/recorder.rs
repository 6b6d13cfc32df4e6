//! Records the exchanges of each case as they happen.

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use http::{Request, Response};
use runtime::CarriedBody;

use crate::recording::format::{RecordedCase, RecordedExchange, RecordedRequest, RecordedResponse};
use crate::recording::problem::Problem;

/// The unredacted exchanges of the run so far.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<PendingCase>>);

/// A case with requests that may have no answer yet.
struct PendingCase {
    id: &'static str,
    surface: String,
    at_ms: i64,
    exchanges: Vec<(RecordedRequest, Option<RecordedResponse>)>,
}

/// The place of a request: its case, and its number there.
#[derive(Clone, Copy)]
pub struct Place(usize, usize);

impl Recorder {
    fn cases(&self) -> MutexGuard<'_, Vec<PendingCase>> {
        self.0.lock().expect("no panic while noting an exchange")
    }

    /// Begins a case at this time of the kit's clock.
    pub fn begin_case(&self, id: &'static str, at_ms: i64) {
        let surface = String::new();
        self.cases().push(PendingCase { id, surface, at_ms, exchanges: Vec::new() });
    }

    /// Ends the current case, which belongs to this surface.
    pub fn end_case(&self, surface: &str) {
        if let Some(case) = self.cases().last_mut() {
            surface.clone_into(&mut case.surface);
        }
    }

    /// Notes a request; none before the first case.
    pub fn note_request(&self, request: &Request<Bytes>) -> Option<Place> {
        let mut cases = self.cases();
        let last = cases.len().checked_sub(1)?;
        let exchanges = &mut cases[last].exchanges;
        exchanges.push((RecordedRequest::from_request(request), None));
        Some(Place(last, exchanges.len() - 1))
    }

    /// Notes the answer of a request.
    pub fn note_response(&self, Place(case, exchange): Place, response: &Response<CarriedBody>) {
        let mut cases = self.cases();
        // A request of a cancelled call may end after `take`.
        if let Some(noted) = cases.get_mut(case).and_then(|case| case.exchanges.get_mut(exchange)) {
            noted.1 = Some(RecordedResponse::from_response(response));
        }
    }

    /// Takes all recorded cases. Fails if a request got no answer: a replay could not repeat that.
    pub fn take(&self) -> Result<Vec<RecordedCase>, Problem> {
        std::mem::take(&mut *self.cases()).into_iter().map(PendingCase::finish).collect()
    }
}

impl PendingCase {
    fn finish(self) -> Result<RecordedCase, Problem> {
        let mut exchanges = Vec::new();
        for (at, (request, response)) in self.exchanges.into_iter().enumerate() {
            let Some(response) = response else {
                return Err(Problem::new(
                    format!("the provider has not answered {request} in case {}; nothing is saved", self.id),
                    "see that the provider can be reached and answers in time, then record again",
                ));
            };
            exchanges.push(RecordedExchange { n: at + 1, request, response });
        }
        Ok(RecordedCase { id: self.id.to_owned(), surface: self.surface, at_ms: self.at_ms, exchanges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_an_answer_is_no_recording() {
        let recorder = Recorder::default();
        let request = Request::get("https://a.test/1").header("authorization", "Bearer t").body(Bytes::new());
        let request = request.unwrap();
        assert!(recorder.note_request(&request).is_none());
        recorder.begin_case("D1", 5);
        let first = recorder.note_request(&request).unwrap();
        let mut answer = Response::new(CarriedBody::whole("x"));
        answer.headers_mut().insert("set-cookie", http::HeaderValue::from_static("s=1"));
        recorder.note_response(first, &answer);
        recorder.end_case("lifecycle");
        let cases = recorder.take().unwrap();
        assert_eq!((cases[0].id.as_str(), cases[0].surface.as_str(), cases[0].at_ms), ("D1", "lifecycle", 5));
        let exchange = &cases[0].exchanges[0];
        assert_eq!((exchange.request.headers.len(), exchange.response.headers.len()), (1, 1));
        assert_eq!(exchange.response.body, b"x");
        recorder.begin_case("D2", 5);
        recorder.note_request(&request);
        let problem = recorder.take().unwrap_err();
        assert!(
            problem.said.contains("has not answered GET https://a.test/1 in case D2"),
            "{}",
            problem.said
        );
    }
}
