//! Batch requests: sends many requests as the parts of a few batches, reads each part's response, and retries parts that failed
//! temporarily, once.

mod json;
mod mixed;
mod part;

use std::collections::BTreeMap;

use crate::context::Context;
use crate::error::{Failure, Outcome, code};
use crate::http::{Request, Response};

pub use json::{odata, read_odata};
pub use mixed::{mixed, read_mixed};
pub use part::{Part, PartOrder, PartOutcome};

/// The maximum number of parts in one batch, even if the connector asks for more.
const MAX_PARTS: usize = 100;
/// The wait in milliseconds after an answer that leaves parts out without a reason.
const LOST_WAIT_MS: u32 = 30_000;

/// The form of a provider's batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchForm {
    /// `multipart/mixed` of `application/http`, see [`mixed()`].
    Mixed,
    /// JSON as OData has it, see [`odata()`].
    Odata,
}

impl BatchForm {
    fn write(self, root: &str, parts: &[Part]) -> Outcome<Request> {
        match self {
            BatchForm::Mixed => mixed(root, parts),
            BatchForm::Odata => odata(root, parts, PartOrder::Any),
        }
    }

    fn read(self, response: &Response) -> Outcome<BTreeMap<usize, Response>> {
        match self {
            BatchForm::Mixed => read_mixed(response),
            BatchForm::Odata => read_odata(response),
        }
    }
}

/// The rules of a provider for batches.
#[derive(Clone, Copy, Debug)]
pub struct BatchRules<'a> {
    /// The form of a batch and of its answer.
    pub form: BatchForm,
    /// The URL that batches are sent to.
    pub root: &'a str,
    /// The maximum number of parts in one batch, 1 to 100.
    pub at_most: usize,
    /// The bucket of `[limits]` in the manifest that a wait applies to; none for the whole account.
    pub bucket: Option<&'a str>,
    /// Converts an unsuccessful response, of the batch or of a part, to a failure. The last argument completes "the provider rejected …".
    pub failure: fn(&Context, &Response, &str) -> Failure,
    /// The last argument of `failure`, such as "reading events".
    pub doing: &'a str,
}

/// The outcomes of all parts, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchOutcome {
    /// The name and the outcome of each part.
    pub parts: Vec<(String, PartOutcome)>,
    /// The index of the first missing part; none if all were answered.
    pub first_missing: Option<usize>,
    /// The reason why parts are missing. Its wait is already noted with the host.
    pub wait: Option<Failure>,
}

impl BatchOutcome {
    /// The answers before the first part that is missing, for lists whose order counts.
    pub fn leading(&self) -> impl Iterator<Item = (&str, &Response)> {
        let end = self.first_missing.unwrap_or(self.parts.len());
        self.parts.iter().take(end).filter_map(|(id, outcome)| match outcome {
            PartOutcome::Answered(response) => Some((id.as_str(), response)),
            PartOutcome::Missing => None,
        })
    }

    /// Whether there are parts and none of them was answered.
    fn is_empty_handed(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|(_, outcome)| *outcome == PartOutcome::Missing)
    }
}

/// Sends the parts in batches, one after the other, and returns the result of each.
///
/// Parts that failed temporarily (rate limit, status 5xx, no answer) and parts whose token was refused are retried once, in a batch of
/// their own, with a new token in the latter case. A part that is rate-limited or unanswered again is missing: the wait is noted
/// (`Context::note_wait`), and no later batch is sent. Any other answer to the retry is final, whatever its status.
///
/// Fails with `auth-expired` if a part's token is refused twice, and with the provider's failure if no part was answered.
///
/// ```
/// # use connector_sdk::http::Request;
/// # use connector_sdk::rest::batch::{BatchForm, BatchRules, Part, run};
/// # use connector_sdk::{Context, Outcome};
/// # fn read(context: &Context) -> Outcome<usize> {
/// let parts = vec![Part::new("a", Request::get("https://api.example.com/v1/things/a").units(5))];
/// let rules = BatchRules {
///     form: BatchForm::Mixed,
///     root: "https://api.example.com/batch",
///     at_most: 25,
///     bucket: Some("things"),
///     failure: |context, response, doing| context.failure(response, doing),
///     doing: "reading the things",
/// };
/// let outcome = run(context, &rules, parts)?;
/// let first_to_read_again = outcome.first_missing;
/// # Ok(outcome.leading().count() + first_to_read_again.unwrap_or(0))
/// # }
/// ```
pub fn run(context: &Context, rules: &BatchRules, parts: Vec<Part>) -> Outcome<BatchOutcome> {
    let mut outcome = BatchOutcome::default();
    let mut stop: Option<Failure> = None;
    for chunk in parts.chunks(rules.at_most.clamp(1, MAX_PARTS)) {
        let answers = if stop.is_some() {
            vec![PartOutcome::Missing; chunk.len()]
        } else {
            let sent = Chunk { context, rules, parts: chunk }.send()?;
            stop = sent.stop;
            sent.answers
        };
        outcome.parts.extend(chunk.iter().map(|part| part.id.clone()).zip(answers));
    }
    let Some(failure) = stop else { return Ok(outcome) };
    if outcome.is_empty_handed() {
        return Err(failure);
    }
    context.note_wait(failure.retry_after_ms.unwrap_or(LOST_WAIT_MS).max(1), rules.bucket);
    outcome.first_missing = outcome.parts.iter().position(|(_, outcome)| *outcome == PartOutcome::Missing);
    outcome.wait = Some(failure);
    Ok(outcome)
}

/// The parts of one batch.
struct Chunk<'a> {
    context: &'a Context<'a>,
    rules: &'a BatchRules<'a>,
    parts: &'a [Part],
}

/// The outcomes of a chunk.
struct ChunkOutcome {
    answers: Vec<PartOutcome>,
    /// The reason why parts are missing; none if all were answered.
    stop: Option<Failure>,
}

/// The reason why a part is retried.
enum Repeat {
    /// A rate limit, a temporary error, or a part without an answer.
    Passing(Failure),
    TokenRefused(Failure),
}

impl Chunk<'_> {
    fn send(&self) -> Outcome<ChunkOutcome> {
        let all: Vec<usize> = (0..self.parts.len()).collect();
        let mut answers = vec![PartOutcome::Missing; self.parts.len()];
        let failure = self.exchange(&all, &mut answers, false)?;
        let repeats: Vec<(usize, Repeat)> =
            answers.iter().enumerate().filter_map(|(at, answer)| Some((at, self.repeat(answer)?))).collect();
        let is_renewed = repeats.iter().any(|(_, repeat)| matches!(repeat, Repeat::TokenRefused(_)));
        let again: Vec<usize> = repeats.iter().map(|(at, _)| *at).collect();
        for at in &again {
            if let Some(answer) = answers.get_mut(*at) {
                *answer = PartOutcome::Missing;
            }
        }
        // A batch without an answer is not retried.
        if failure.is_some() || again.is_empty() {
            return Ok(ChunkOutcome { answers, stop: failure });
        }
        let mut stop = self.exchange(&again, &mut answers, is_renewed)?;
        for at in again {
            let Some(answer) = answers.get_mut(at) else { continue };
            match self.repeat(answer) {
                Some(Repeat::TokenRefused(failure)) => return Err(failure),
                Some(Repeat::Passing(failure)) if is_wait(answer, &failure) => {
                    *answer = PartOutcome::Missing;
                    stop = Some(longer(stop, failure));
                }
                _ => {}
            }
        }
        Ok(ChunkOutcome { answers, stop })
    }

    /// Sends some of the parts and stores their answers. Parts that a truncated answer leaves out are sent in another batch, of half the
    /// size if none fitted. Returns a temporary failure of a batch; any other failure ends the call.
    fn exchange(
        &self,
        some: &[usize],
        answers: &mut [PartOutcome],
        is_renewed: bool,
    ) -> Outcome<Option<Failure>> {
        let mut left = some.to_vec();
        let mut width = left.len();
        while !left.is_empty() {
            let asked: Vec<usize> = left.drain(..width.clamp(1, left.len())).collect();
            let parts: Vec<Part> = asked.iter().filter_map(|at| self.parts.get(*at)).cloned().collect();
            let request = self.rules.form.write(self.rules.root, &parts)?;
            let request = if is_renewed { request.renewed() } else { request };
            let response = match self.context.send(request) {
                Ok(response) if response.is_success() => response,
                Ok(response) => {
                    let failure = (self.rules.failure)(self.context, &response, self.rules.doing);
                    return passing(failure).map(Some);
                }
                Err(failure) => return passing(failure).map(Some),
            };
            let mut read = self.rules.form.read(&response)?;
            // If even the first part is truncated, it is too long for any answer and is kept as it is.
            if read.values().any(|answer| !answer.truncated) {
                read.retain(|_, answer| !answer.truncated);
            }
            let mut unread = Vec::new();
            for (number, at) in asked.iter().enumerate() {
                match (answers.get_mut(*at), read.remove(&number)) {
                    (Some(place), Some(answer)) => *place = PartOutcome::Answered(answer),
                    _ => unread.push(*at),
                }
            }
            if !response.truncated || unread.is_empty() {
                continue;
            }
            if asked.len() == 1 {
                // The part does not fit even alone: keep the truncated answer.
                if let Some(place) = asked.first().and_then(|at| answers.get_mut(*at)) {
                    *place = PartOutcome::Answered(response);
                }
                continue;
            }
            if unread.len() == asked.len() {
                width = asked.len() / 2;
            }
            left.splice(0..0, unread);
        }
        Ok(None)
    }

    /// The reason why this part is retried; none if its answer is final.
    fn repeat(&self, answer: &PartOutcome) -> Option<Repeat> {
        let PartOutcome::Answered(response) = answer else {
            let failure = Failure::unavailable("the provider has left out a part of a batch");
            return Some(Repeat::Passing(failure));
        };
        if response.is_success() {
            return None;
        }
        let failure = (self.rules.failure)(self.context, response, self.rules.doing);
        match failure.code.as_str() {
            code::AUTH_EXPIRED => Some(Repeat::TokenRefused(failure)),
            code::RATE_LIMITED | code::UNAVAILABLE | code::TIMEOUT => Some(Repeat::Passing(failure)),
            _ => None,
        }
    }
}

/// Whether the part has to wait: it has no answer, or was rate-limited. A 5xx of the provider counts as an answer.
fn is_wait(answer: &PartOutcome, failure: &Failure) -> bool {
    *answer == PartOutcome::Missing || failure.code == code::RATE_LIMITED
}

/// Returns the failure if it is temporary; fails with it otherwise.
fn passing(failure: Failure) -> Outcome<Failure> {
    match failure.code.as_str() {
        code::RATE_LIMITED | code::UNAVAILABLE | code::TIMEOUT => Ok(failure),
        _ => Err(failure),
    }
}

/// The failure with the longer wait.
fn longer(one: Option<Failure>, other: Failure) -> Failure {
    match one {
        Some(one) if one.retry_after_ms >= other.retry_after_ms => one,
        _ => other,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use model::wire::Connection;
    use serde_json::{Value, json};

    use super::{BatchForm, BatchOutcome, BatchRules, Part, PartOutcome, run};
    use crate::context::Context;
    use crate::error::{Failure, Outcome, code};
    use crate::http::{Request, Response, SendError};
    use crate::testing::{Answerer, Recorded, body, response};

    const ROOT: &str = "https://x.test/batch";
    /// The status that stands for a part without an answer.
    const LOST: u16 = 0;

    fn rules(at_most: usize) -> BatchRules<'static> {
        BatchRules {
            form: BatchForm::Mixed,
            root: ROOT,
            at_most,
            bucket: Some("things"),
            failure: |context, response, doing| context.failure(response, doing),
            doing: "reading the things",
        }
    }

    fn parts(count: usize) -> Vec<Part> {
        let part =
            |at: usize| Part::new(format!("p{at}"), Request::get(format!("https://x.test/{at}")).units(20));
        (0..count).map(part).collect()
    }

    /// The numbers of the things that a batch requests, in order.
    fn requested_numbers(request: &Request) -> Vec<usize> {
        let text = String::from_utf8(body(request)).unwrap();
        let lines =
            text.lines().filter_map(|line| line.strip_prefix("GET /")?.split(' ').next()?.parse().ok());
        lines.collect()
    }

    /// A batch in which each part has the status that `status` gives, listed in reverse.
    fn answer(request: &Request, status: impl Fn(usize) -> u16) -> Response {
        let mut text = String::new();
        for (at, thing) in requested_numbers(request).into_iter().enumerate().rev() {
            match status(thing) {
                LOST => {}
                status => text.push_str(&format!(
                    "--b\r\nContent-Type: application/http\r\nContent-ID: <response-{at}>\r\n\r\n\
                     HTTP/1.1 {status} Some\r\nRetry-After: 7\r\n\r\n{{\"id\":{thing}}}\r\n"
                )),
            }
        }
        response(200, &[("content-type", "multipart/mixed; boundary=b")], &format!("{text}--b--"))
    }

    fn round(answer: impl Fn(&Request) -> Result<Response, SendError> + 'static) -> Answerer {
        Box::new(answer)
    }

    fn all_with(status: impl Fn(usize) -> u16 + 'static) -> Answerer {
        round(move |request| Ok(answer(request, &status)))
    }

    type Waits = Vec<(String, String)>;

    /// Runs this many parts with a provider whose n-th batch is answered by the n-th round.
    fn run_with(
        rounds: Vec<Answerer>,
        count: usize,
        at_most: usize,
    ) -> (Outcome<BatchOutcome>, Vec<Request>, Waits) {
        let expected = rounds.len();
        let number = Cell::new(0);
        let provider = Recorded::answering(move |request| {
            number.set(number.get() + 1);
            rounds[number.get() - 1](request)
        });
        let context = Context::new(&provider, Connection::default());
        let outcome = run(&context, &rules(at_most), parts(count));
        let requests = provider.requests.borrow().clone();
        assert_eq!(requests.len(), expected);
        (outcome, requests, context.response_extra())
    }

    fn statuses(outcome: &BatchOutcome) -> Vec<Option<u16>> {
        let status = |outcome: &PartOutcome| match outcome {
            PartOutcome::Answered(response) => Some(response.status),
            PartOutcome::Missing => None,
        };
        outcome.parts.iter().map(|(_, outcome)| status(outcome)).collect()
    }

    fn wait(ms: &str) -> Waits {
        vec![("wait-ms".into(), ms.into()), ("bucket".into(), "things".into())]
    }

    #[test]
    fn parts_go_in_batches_in_turn() {
        let rounds = vec![all_with(|_| 200), all_with(|thing| if thing == 4 { 404 } else { 200 })];
        let (outcome, requests, waits) = run_with(rounds, 5, 3);
        let outcome = outcome.unwrap();
        assert_eq!(statuses(&outcome), [Some(200), Some(200), Some(200), Some(200), Some(404)]);
        let ids: Vec<(&str, String)> =
            outcome.leading().map(|(id, response)| (id, response.text().into_owned())).collect();
        assert_eq!(ids[3], ("p3", "{\"id\":3}".to_owned()));
        assert_eq!((outcome.first_missing, waits.len()), (None, 0));
        assert_eq!(
            (requested_numbers(&requests[0]), requested_numbers(&requests[1])),
            (vec![0, 1, 2], vec![3, 4])
        );
        let units: Vec<&str> = requests.iter().map(|request| request.extra[0].1.as_str()).collect();
        assert_eq!(units, ["60", "40"]);
    }

    #[test]
    fn what_failed_for_a_while_goes_once_more() {
        let first = all_with(|thing| [200, 429, LOST, 503, 200][thing]);
        let (outcome, requests, waits) = run_with(vec![first, all_with(|_| 200)], 5, 25);
        assert_eq!(statuses(&outcome.unwrap()), [Some(200); 5]);
        assert_eq!((requested_numbers(&requests[1]), waits.len()), (vec![1, 2, 3], 0));
        assert!(requests.iter().all(|request| request.extra.len() == 1));
    }

    /// A part that is still without an answer after the retry is missing, and no later batch is sent: the provider has asked for a wait.
    #[test]
    fn what_fails_again_is_missing_with_the_wait() {
        let status = |thing: usize| [200, 429, 404, LOST][thing];
        let (outcome, _, waits) = run_with(vec![all_with(status), all_with(status)], 7, 4);
        let outcome = outcome.unwrap();
        assert_eq!(statuses(&outcome), [Some(200), None, Some(404), None, None, None, None]);
        assert_eq!((outcome.first_missing, outcome.leading().count()), (Some(1), 1));
        assert_eq!(waits, wait("7000"));
        // Lost parts have no wait of their own.
        let lost = |thing: usize| [200, LOST][thing];
        let (outcome, _, waits) = run_with(vec![all_with(lost), all_with(lost)], 2, 4);
        assert_eq!((outcome.unwrap().first_missing, waits), (Some(1), wait("30000")));
    }

    /// Answers are limited: parts that did not fit are requested again, at least one at a time.
    #[test]
    fn an_answer_that_is_cut_off_is_gone_on_with() {
        let cut = |end: &'static str| {
            round(move |request| {
                let whole = answer(request, |_| 200);
                let at = whole.text().find(end).unwrap();
                Ok(Response { body: whole.body[..at].to_vec(), truncated: true, ..whole })
            })
        };
        // The provider answers in reverse: 2 and 1 fit, then no more than the beginning of 0.
        let (outcome, requests, waits) = run_with(vec![cut("0}"), cut("0}")], 3, 4);
        let outcome = outcome.unwrap();
        assert_eq!((statuses(&outcome), waits.len()), (vec![Some(200); 3], 0));
        assert_eq!(requested_numbers(&requests[1]), [0]);
        let PartOutcome::Answered(long) = &outcome.parts[0].1 else { panic!("it has an answer") };
        assert!(long.truncated && long.text().starts_with("{\"id\":"));
    }

    #[test]
    fn an_error_of_the_provider_is_an_answer_at_last() {
        let status = |thing: usize| [200, 500][thing];
        let (outcome, _, waits) = run_with(vec![all_with(status), all_with(status)], 2, 4);
        assert_eq!((statuses(&outcome.unwrap()), waits.len()), (vec![Some(200), Some(500)], 0));
    }

    #[test]
    fn a_part_that_is_refused_has_the_token_renewed() {
        let first = all_with(|thing| [200, 401][thing]);
        let (outcome, requests, _) = run_with(vec![first, all_with(|_| 200)], 2, 4);
        assert_eq!(statuses(&outcome.unwrap()), [Some(200), Some(200)]);
        assert_eq!(requested_numbers(&requests[1]), [1]);
        assert!(requests[1].extra.contains(&("credentials".to_owned(), "renewed".to_owned())));
        let refused = |thing: usize| [200, 401][thing];
        let (outcome, _, _) = run_with(vec![all_with(refused), all_with(refused)], 2, 4);
        assert_eq!(outcome.unwrap_err().code, code::AUTH_EXPIRED);
    }

    #[test]
    fn a_batch_that_is_not_answered_leaves_what_was_answered() {
        let limited = || round(|_| Ok(response(429, &[("retry-after", "9")], "")));
        let (outcome, _, waits) = run_with(vec![all_with(|_| 200), limited()], 3, 2);
        let outcome = outcome.unwrap();
        assert_eq!((statuses(&outcome), outcome.first_missing), (vec![Some(200), Some(200), None], Some(2)));
        assert_eq!(waits, wait("9000"));
        // If no part was answered, the call fails.
        let (outcome, _, waits) = run_with(vec![limited()], 3, 2);
        let failure = outcome.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(9_000)));
        assert!(waits.is_empty());
        // The host does not send a request when the account has no units left.
        let held = || {
            let error = SendError { retry_after_ms: Some(4_000), ..SendError::new("unavailable", "held") };
            round(move |_| Err(error.clone()))
        };
        let (outcome, _, waits) = run_with(vec![all_with(|_| 200), held()], 3, 2);
        assert_eq!((outcome.unwrap().first_missing, waits), (Some(2), wait("4000")));
        // Any other failure does not pass by waiting.
        let denied = round(|_| Ok(response(403, &[], "")));
        let (outcome, _, _) = run_with(vec![all_with(|_| 200), denied], 3, 2);
        assert_eq!(outcome.unwrap_err().code, code::FORBIDDEN);
    }

    #[test]
    fn parts_that_all_wait_are_a_failure() {
        let limited = |_: usize| 429;
        let (outcome, _, _) = run_with(vec![all_with(limited), all_with(limited)], 3, 2);
        let failure: Failure = outcome.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(7_000)));
        let (outcome, requests, _) = run_with(Vec::new(), 0, 2);
        assert_eq!((outcome.unwrap(), requests.len()), (BatchOutcome::default(), 0));
    }

    /// The form of the batches is the provider's, and the rules are the same.
    #[test]
    fn batches_of_json_go_once_more_too() {
        const FOLDER: &str = "https://x.test";
        /// Answers each part with the status of its thing: a JSON object of the thing's number.
        fn answer(request: &Request, status: impl Fn(u64) -> u16) -> Response {
            let batch: Value = serde_json::from_slice(&body(request)).unwrap();
            let parts = batch["requests"].as_array().unwrap().iter().map(|part| {
                let thing: u64 = part["url"].as_str().unwrap().trim_start_matches('/').parse().unwrap();
                json!({ "id": part["id"], "status": status(thing), "headers": { "Retry-After": "7" }, "body": { "id": thing } })
            });
            let parts: Vec<Value> = parts.collect();
            response(200, &[("content-type", "application/json")], &json!({ "responses": parts }).to_string())
        }
        let number = Cell::new(0);
        let provider = Recorded::answering(move |request| {
            number.set(number.get() + 1);
            let is_first = number.get() == 1;
            Ok(answer(request, |thing| if is_first && thing == 1 { 429 } else { 200 }))
        });
        let context = Context::new(&provider, Connection::default());
        let rules = BatchRules { form: BatchForm::Odata, root: "https://x.test/$batch", ..rules(20) };
        let outcome = run(&context, &rules, parts(3)).unwrap();
        assert_eq!((statuses(&outcome), context.response_extra().len()), (vec![Some(200); 3], 0));
        let requests = provider.requests.borrow();
        assert_eq!((requests.len(), requests[0].url.starts_with(FOLDER)), (2, true));
        assert_eq!(requests[1].extra, [("units".to_owned(), "20".to_owned())]);
    }

    /// A part that is cut off cannot be read at all: fewer go in one batch, and one that does not fit alone is too long for any answer.
    #[test]
    fn parts_of_json_that_do_not_fit_go_in_smaller_batches() {
        let provider = Recorded::answering(|request| {
            let batch: Value = serde_json::from_slice(&body(request)).unwrap();
            let parts = batch["requests"].as_array().unwrap();
            let is_long = parts.len() > 1 || parts[0]["url"] == "/2";
            let part = |part: &Value| json!({ "id": part["id"], "status": 200, "body": {} });
            let whole = json!({ "responses": parts.iter().map(part).collect::<Vec<_>>() }).to_string();
            let text = if is_long { whole.split("status").next().unwrap() } else { whole.as_str() };
            let answer = response(200, &[("content-type", "application/json")], text);
            Ok(Response { truncated: is_long, ..answer })
        });
        let context = Context::new(&provider, Connection::default());
        let rules = BatchRules { form: BatchForm::Odata, root: "https://x.test/$batch", ..rules(20) };
        let outcome = run(&context, &rules, parts(4)).unwrap();
        let is_whole =
            |outcome: &PartOutcome| matches!(outcome, PartOutcome::Answered(answer) if !answer.truncated);
        let whole: Vec<bool> = outcome.parts.iter().map(|(_, outcome)| is_whole(outcome)).collect();
        assert_eq!((whole, outcome.first_missing), (vec![true, true, false, true], None));
        // Four, two, and then one by one.
        assert_eq!(provider.requests.borrow().len(), 6);
    }
}
