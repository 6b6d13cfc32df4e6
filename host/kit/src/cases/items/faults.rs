//! Faults of the provider, in every operation.

use futures::future::join_all;
use runtime::{Code, Error};

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed};
use crate::cases::items::operations::{FaultReply, Operation, Stage};
use crate::line::Fault;
use crate::surface_bench::ItemKind;

/// All operations.
const ALL: &[Operation] = &Operation::ALL;
/// Operations whose answer has a body.
const WITH_BODY: &[Operation] =
    &[Operation::Changes, Operation::Collections, Operation::Get, Operation::Create, Operation::Update];
const CHANGES: &[Operation] = &[Operation::Changes];
/// Requests of one operation while the provider asks to wait; more mean that the connector does not wait.
const MAX_REQUESTS_OF_WAIT: usize = 5;
const JSON: (&str, &str) = ("content-type", "application/json");

/// A fault, and the operations that meet it.
struct Trial {
    /// The fault in a finding: `a 429`.
    what: String,
    fault: Fault,
    operations: &'static [Operation],
}

impl Trial {
    fn status(status: u16, headers: Vec<(&'static str, String)>, operations: &'static [Operation]) -> Trial {
        Trial { what: format!("a {status}"), fault: Fault::Answer(status, headers, "{}"), operations }
    }
}

/// Runs the trials, and judges each answer. A case in which no operation sends a request does not apply.
async fn each(
    bench: &mut Bench,
    stage: &Stage,
    trials: &[Trial],
    judge: impl Fn(&Trial, &FaultReply) -> Outcome,
) -> Outcome {
    let mut is_tested = false;
    for (number, trial) in trials.iter().enumerate() {
        for operation in trial.operations {
            let reply = bench.under(stage, *operation, &trial.fault, &number.to_string()).await;
            if let Some(reply) = reply {
                is_tested = true;
                judge(trial, &reply)?;
            }
        }
    }
    if is_tested { Ok(()) } else { Err(not_by_http(stage)) }
}

fn not_by_http(stage: &Stage) -> Verdict {
    Verdict::NotApplicable(format!("the connector sends no HTTP requests for {}s", stage.kind.item))
}

/// Ends the case unless an operation failed as it has to.
fn expect(
    stage: &Stage,
    what: &str,
    reply: &FaultReply,
    is_right: impl Fn(&Error) -> bool,
    help: &'static str,
) -> Outcome {
    let operation = reply.operation.name(stage.kind);
    match &reply.result {
        Err(error) if is_right(error) => Ok(()),
        Err(error) => failed(format!("{operation} fails after {what} with {}", describe_error(error)), help),
        Ok(sources) => {
            let count = sources.len();
            let gone = sources.iter().filter(|source| source.deleted).count();
            failed(format!("{operation} succeeds after {what}, with {count} sources ({gone} deleted)"), help)
        }
    }
}

/// Ends the case unless an operation failed with this code, and with a wait of 30 seconds.
fn expect_wait(stage: &Stage, trial: &Trial, reply: &FaultReply, code: Code, help: &'static str) -> Outcome {
    expect(stage, &trial.what, reply, |error| error.code == code, help)?;
    let (operation, wait) = (reply.operation.name(stage.kind), reply.result.as_ref().err());
    let wait = wait.and_then(|error| error.retry_after_ms);
    ensure(
        wait.is_some_and(|ms| (29_000..=31_000).contains(&ms)),
        || {
            let wait = wait.map_or_else(|| "missing".to_owned(), |ms| ms.to_string());
            format!("{operation}: {} asks to wait 30 seconds, and retryAfterMs is {wait}", trial.what)
        },
        help,
    )?;
    let requests = reply.exchanges.len();
    ensure(
        requests <= MAX_REQUESTS_OF_WAIT,
        || format!("{operation} sends {requests} requests in one call after {}", trial.what),
        "never repeat a request in the connector: the host waits, and calls again",
    )
}

/// Ends the case unless everything works as before.
async fn walk(bench: &mut Bench, stage: &Stage) -> Outcome {
    bench.items(stage.kind, &stage.collection, 0, None).await.map(drop)
}

/// `F2`: a rejected credential is reported.
pub async fn refused(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "a 401 is failure auth-expired: the host has already tried to renew the credential";
    let stage = bench.stage(kind, "F2").await?;
    let trials = [Trial::status(401, Vec::new(), ALL)];
    let is_right = |error: &Error| error.code == Code::AuthExpired;
    each(bench, &stage, &trials, |trial, reply| expect(&stage, &trial.what, reply, is_right, HELP)).await
}

/// `F3`: a rate limit is passed on with its wait.
pub async fn rate_limited(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "a 429 is failure rate-limited with retryAfterMs, from Retry-After in seconds or as a date (RFC 9110, section 10.2.3); Context::send_ok does it";
    let stage = bench.stage(kind, "F3").await?;
    let date = jiff::Timestamp::from_millisecond(bench.now_ms() + 30_000).ok();
    let date =
        date.and_then(|at| jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok());
    let trials = [
        Trial::status(429, vec![("retry-after", "30".to_owned())], ALL),
        Trial::status(429, vec![("retry-after", date.unwrap_or_default())], CHANGES),
    ];
    each(bench, &stage, &trials, |trial, reply| expect_wait(&stage, trial, reply, Code::RateLimited, HELP))
        .await
}

/// `F4`: an overloaded provider is given the time that it asks for.
pub async fn overloaded(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str =
        "a 503 is failure unavailable, with retryAfterMs from Retry-After; Context::send_ok does it";
    let stage = bench.stage(kind, "F4").await?;
    let trials = [Trial::status(503, vec![("retry-after", "30".to_owned())], ALL)];
    each(bench, &stage, &trials, |trial, reply| expect_wait(&stage, trial, reply, Code::Unavailable, HELP))
        .await
}

/// `F5`: a provider's error is `unavailable`.
pub async fn broken(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "an error of the provider is failure unavailable: the host tries again later. Never answer with an empty list or a deleted item where a request failed";
    let stage = bench.stage(kind, "F5").await?;
    let trials = [Trial::status(500, Vec::new(), ALL), Trial::status(502, Vec::new(), CHANGES)];
    let is_right = |error: &Error| error.code == Code::Unavailable;
    each(bench, &stage, &trials, |trial, reply| expect(&stage, &trial.what, reply, is_right, HELP)).await
}

/// `F6`: an answer that does not come is a timeout. All operations run in parallel, so the slow fault costs its time once.
pub async fn slow(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "failure timeout or unavailable: pass on the error of Context::send as it is";
    let stage = bench.stage(kind, "F6").await?;
    let mut asking = Vec::new();
    for operation in ALL {
        // An operation that answers without a request has no timeout.
        if bench.under(&stage, *operation, &Fault::DropBefore, "asks").await.is_some() {
            asking.push(*operation);
        }
    }
    if asking.is_empty() {
        return Err(not_by_http(&stage));
    }
    let mut forks: Vec<_> = (0..).zip(&asking).map(|(number, _)| bench.calls.fork(number)).collect();
    bench.line.spoil_all(Fault::Slow);
    let mut calls = Vec::new();
    for (fork, operation) in forks.iter_mut().zip(&asking) {
        calls.push(stage.call(fork, *operation, "slow"));
    }
    let results = join_all(calls).await;
    bench.line.mend();
    let exchanges = bench.line.take_exchanges();
    for (operation, result) in asking.into_iter().zip(results) {
        let Some(result) = result else { continue };
        let reply = FaultReply { operation, result, label: String::new(), exchanges: exchanges.clone() };
        expect(&stage, "an answer that does not come", &reply, Error::is_transient, HELP)?;
    }
    walk(bench, &stage).await
}

/// `F7`: a truncated answer is rejected.
pub async fn cut(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "a body that breaks off is no answer: pass on the error of Context::send, and use nothing of the body";
    let stage = bench.stage(kind, "F7").await?;
    let trial =
        Trial { what: "an answer that breaks off".to_owned(), fault: Fault::Cut, operations: WITH_BODY };
    each(bench, &stage, &[trial], |trial, reply| {
        expect(&stage, &trial.what, reply, Error::is_transient, HELP)
    })
    .await?;
    walk(bench, &stage).await
}

/// `F8`: an answer that cannot be read is the provider's fault.
pub async fn malformed(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "an answer that is not the JSON you expect is failure unavailable: read it with Response::json, and #[serde(default)] on single fields, never on the whole struct, which would accept []";
    let stage = bench.stage(kind, "F8").await?;
    let trials = [
        ("", CHANGES),
        ("{\"items\": [", WITH_BODY),
        ("<html>", CHANGES),
        ("[]", WITH_BODY),
        ("null", CHANGES),
    ];
    let trials = trials.map(|(body, operations)| Trial {
        what: format!("the answer {body:?}"),
        fault: Fault::Answer(200, vec![(JSON.0, JSON.1.to_owned())], body),
        operations,
    });
    each(bench, &stage, &trials, |trial, reply| {
        let is_write = [Operation::Create, Operation::Update].contains(&reply.operation);
        match &reply.result {
            // A provider's answer to a write may have no body: the connector then returns what it has written.
            Ok(sources) if is_write && is_as_written(kind, sources, &reply.label) => Ok(()),
            _ => expect(&stage, &trial.what, reply, |error| error.code == Code::Unavailable, HELP),
        }
    })
    .await
}

/// Returns whether the answer of a write contains the written values.
fn is_as_written(kind: &ItemKind, sources: &[model::wire::Source], label: &str) -> bool {
    let is_it = |source: &model::wire::Source| {
        !source.external_id.is_empty() && kind.name_of(source).as_deref() == Some(label)
    };
    sources.iter().any(is_it)
}

/// `F12`: a redirect to another host is not followed.
pub async fn redirected(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "a redirect to another host is not followed, and is no answer: failure unavailable";
    const ELSEWHERE: &str = "https://swkit-elsewhere.test/items";
    let stage = bench.stage(kind, "F12").await?;
    let trials = [Trial::status(302, vec![("location", ELSEWHERE.to_owned())], ALL)];
    each(bench, &stage, &trials, |trial, reply| {
        let followed =
            reply.exchanges.iter().any(|exchange| exchange.url.starts_with("https://swkit-elsewhere"));
        let operation = reply.operation.name(kind);
        ensure(!followed, || format!("{operation} follows a redirect to another host"), HELP)?;
        expect(&stage, &trial.what, reply, Error::is_transient, HELP)
    })
    .await
}

/// `F13`: requests to a provider that cannot be reached are retried.
pub async fn unreachable(bench: &mut Bench, kind: &'static ItemKind) -> Outcome {
    const HELP: &str = "a provider that cannot be reached is failure unavailable: pass on the error of Context::send as it is";
    let stage = bench.stage(kind, "F13").await?;
    let trial =
        Trial { what: "a connection that is reset".to_owned(), fault: Fault::DropBefore, operations: ALL };
    each(bench, &stage, &[trial], |trial, reply| {
        expect(&stage, &trial.what, reply, Error::is_transient, HELP)
    })
    .await?;
    walk(bench, &stage).await
}
