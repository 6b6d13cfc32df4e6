//! `$batch`: twenty requests in one, of which Graph runs four at a time. Each part has the preference for immutable ids.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{
    self, BatchForm, BatchOutcome, BatchRules, Part, PartOrder, odata, read_odata,
};
use connector_sdk::{Context, Failure, Outcome};

use crate::api::accepted;
use crate::odata::{failures, prefer, root};

/// Parts of one batch at most (Microsoft Graph, "Combine multiple HTTP requests using JSON batching").
pub const MAX_PARTS: usize = 20;
/// The wait after a failure that names none, ms.
const WAIT_MS: u32 = 30_000;

/// Sends requests that only read, in batches of at most `at_most` parts, one batch after the other. Parts that fail temporarily go once
/// more; what is missing then is `PartOutcome::Missing`, and the wait is noted. See `connector_sdk::rest::batch::run`.
pub fn read(context: &Context, parts: Vec<Part>, at_most: usize, doing: &str) -> Outcome<BatchOutcome> {
    let rules = BatchRules {
        form: BatchForm::Odata,
        root: root::BATCH,
        at_most: at_most.min(MAX_PARTS),
        bucket: Some(root::BUCKET),
        failure: failures::of,
        doing,
    };
    batch::run(context, &rules, parts.into_iter().map(with_preferences).collect())
}

/// Notes the wait of a failure that passes, where the call ends well with what it has.
pub fn note_wait(context: &Context, failure: &Failure) {
    context.note_wait(failure.retry_after_ms.unwrap_or(WAIT_MS).max(1), Some(root::BUCKET));
}

/// Sends at most 20 requests that change something in one batch: one after the other, each only where those before it succeeded. Returns
/// an answer for each, none for one that Graph left out. The one after a failure is answered with 424. Only what was refused for an
/// expired token goes once more: all before it had succeeded, and nothing after it was tried.
pub fn change_in_turn(
    context: &Context,
    requests: Vec<Request>,
    doing: &str,
) -> Outcome<Vec<Option<Response>>> {
    let parts: Vec<Part> = requests
        .into_iter()
        .enumerate()
        .map(|(at, one)| with_preferences(Part::new(at.to_string(), one)))
        .collect();
    let mut answers = exchange(context, &parts, false, doing)?;
    let is_refused = |answer: &Option<Response>| answer.as_ref().is_some_and(|answer| answer.status == 401);
    let done = answers.iter().take_while(|answer| answer.as_ref().is_some_and(Response::is_success)).count();
    if answers.get(done).is_some_and(is_refused) {
        let left = parts.get(done..).unwrap_or_default();
        answers.truncate(done);
        answers.extend(exchange(context, left, true, doing)?);
    }
    Ok(answers)
}

/// Returns the answer to the request at this position, where it is a success. Fails with what another answer means, and with `unavailable`
/// for none.
pub fn taken(
    context: &Context,
    answers: &mut [Option<Response>],
    at: usize,
    doing: &str,
) -> Outcome<Response> {
    let answer = answers.get_mut(at).and_then(Option::take);
    let lost = || Failure::unavailable("the provider has left out a part of a batch");
    accepted(context, answer.ok_or_else(lost)?, doing)
}

fn exchange(
    context: &Context,
    parts: &[Part],
    is_renewed: bool,
    doing: &str,
) -> Outcome<Vec<Option<Response>>> {
    let request = odata(root::BATCH, parts, PartOrder::InTurn)?;
    let request = if is_renewed { request.renewed() } else { request };
    let response = accepted(context, context.send(request)?, doing)?;
    let mut read = read_odata(&response)?;
    Ok((0..parts.len()).map(|at| read.remove(&at)).collect())
}

fn with_preferences(part: Part) -> Part {
    Part { request: prefer::ensure(part.request), ..part }
}

#[cfg(test)]
mod tests {
    use connector_sdk::http::{Request, Response};
    use connector_sdk::testing::{Recorded, body, response};
    use connector_sdk::{Context, code};
    use model::wire::Connection;
    use serde_json::{Value, json};

    use super::{change_in_turn, taken};
    use crate::odata::root;

    /// The answer of a batch whose parts have these statuses; no status: the part is left out.
    fn answer(statuses: &[Option<u16>]) -> Response {
        let parts = statuses.iter().enumerate().filter_map(|(at, status)| {
            Some(json!({ "id": at.to_string(), "status": (*status)?, "body": { "number": at } }))
        });
        let parts: Vec<Value> = parts.collect();
        response(200, &[("content-type", "application/json")], &json!({ "responses": parts }).to_string())
    }

    fn run(rounds: &[&[Option<u16>]], count: usize) -> (Vec<Option<u16>>, Vec<Request>) {
        let provider = rounds.iter().fold(Recorded::new(), |provider, statuses| {
            provider.expect("POST", root::BATCH, answer(statuses))
        });
        let context = Context::new(&provider, Connection::default());
        let change =
            |at: usize| Request::post(root::me(&["events", "a"], &[]).unwrap()).json(&json!({ "n": at }));
        let answers = change_in_turn(&context, (0..count).map(change).collect(), "changing").unwrap();
        let statuses = answers.iter().map(|answer| answer.as_ref().map(|answer| answer.status)).collect();
        let requests = provider.requests.borrow().clone();
        (statuses, requests)
    }

    fn parts(request: &Request) -> Vec<Value> {
        let batch: Value = serde_json::from_slice(&body(request)).unwrap();
        batch["requests"].as_array().unwrap().clone()
    }

    #[test]
    fn each_change_waits_for_the_one_before() {
        let (statuses, requests) = run(&[&[Some(201), Some(412), Some(424)]], 3);
        assert_eq!(statuses, [Some(201), Some(412), Some(424)]);
        let parts = parts(&requests[0]);
        let order: Vec<&Value> = parts.iter().map(|part| &part["dependsOn"]).collect();
        assert_eq!(order, [&json!(null), &json!(["0"]), &json!(["1"])]);
        assert!(parts.iter().all(|part| part["headers"]["prefer"] == "IdType=\"ImmutableId\""));
    }

    /// A change that was made is not made once more: only the rest goes with another token. A limit or an error is the caller's to read.
    #[test]
    fn only_an_expired_token_is_tried_again() {
        let (statuses, requests) = run(&[&[Some(201), Some(401), Some(424)], &[Some(200), None]], 3);
        assert_eq!(statuses, [Some(201), Some(200), None]);
        assert!(requests[1].extra.contains(&("credentials".to_owned(), "renewed".to_owned())));
        let numbers: Vec<Value> = parts(&requests[1]).iter().map(|part| part["body"]["n"].clone()).collect();
        assert_eq!(numbers, [json!(1), json!(2)]);
        for status in [429, 503] {
            let (statuses, requests) = run(&[&[Some(status), Some(424)]], 2);
            assert_eq!((statuses, requests.len()), (vec![Some(status), Some(424)], 1));
        }
    }

    #[test]
    fn an_answer_is_taken_or_a_failure() {
        let provider = Recorded::new();
        let context = Context::new(&provider, Connection::default());
        let mut answers = [Some(response(200, &[], "{}")), Some(response(404, &[], "")), None];
        assert_eq!(taken(&context, &mut answers, 0, "changing").unwrap().text(), "{}");
        let codes = [1, 2, 0].map(|at| taken(&context, &mut answers, at, "changing").unwrap_err().code);
        assert_eq!(codes, [code::NOT_FOUND, code::UNAVAILABLE, code::UNAVAILABLE]);
    }
}
