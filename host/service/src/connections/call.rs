//! A call to a connector on behalf of a connection: the only code that builds the envelope and reads the answer's.

use std::sync::Arc;

use base::error::Result;
use model::wire::Connection as WireConnection;
use runtime::{self, Answer, Blobs, Call, CallContext, Progress, Surface, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::app::usage::RequestKind;
use crate::connections::call_target::CallTarget;
use crate::connections::operator_values::OperatorValues;
use crate::connections::throttle;

/// The name in `extra` under which a connector reads the number of an attempt at a change (`Context::attempt` of the SDK).
const ATTEMPT: &str = "attempt";
/// The name in `extra` of the time of the first attempt at a change, ms since 1970 (`Context::first_attempt_ms` of the SDK).
const FIRST_ATTEMPT_MS: &str = "first-attempt-ms";

/// The name of a connector operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub surface: Surface,
    pub verb: Verb,
    pub name: &'static str,
}

/// The options of one call.
#[derive(Clone, Default)]
pub struct CallOptions {
    pub cursor: Option<String>,
    pub idempotency_key: Option<String>,
    /// Earlier attempts under this idempotency key that may have reached the provider.
    pub earlier_attempts: i64,
    /// Time at which the first of these attempts began, ms since 1970, if known.
    pub first_attempt_at: Option<i64>,
    pub request_id: String,
    /// A background call: it runs after calls that a request waits for.
    pub background: bool,
    /// It reads records that a page lacks, and the page is lost without them: it is made even while the provider's Retry-After lasts.
    pub completes_page: bool,
    /// Content that the arguments refer to.
    pub blobs: Blobs,
    /// The receiver of progress reports about the call.
    pub progress: Option<Arc<dyn Progress>>,
}

/// A connector's answer.
#[derive(Debug)]
pub struct Reply<T> {
    pub body: T,
    pub cursor: Option<String>,
    pub more: bool,
    /// Content that the body refers to.
    pub blobs: Blobs,
    /// Number of failed requests to the provider: the answer may be incomplete because of them.
    pub failed_requests: u32,
}

#[derive(Serialize)]
struct Envelope<'a, A> {
    connection: &'a WireConnection,
    args: &'a A,
}

/// Runs one operation. An answer of another type than the operation's is reported as the connector's fault.
pub async fn run<A: Serialize + Sync, R: DeserializeOwned + Send>(
    app: &App,
    target: &CallTarget<'_>,
    op: Op,
    args: &A,
    options: CallOptions,
) -> Result<Reply<R>, runtime::Error> {
    let operator = OperatorValues::load(app, target.tenant, target.provider).await;
    let operator = operator.map_err(|e| runtime::Error::new(runtime::Code::Host, format!("{e:#}")))?;
    let wire = operator.apply(&target.wire);
    let envelope = Envelope { connection: &wire, args };
    let body = serde_json::to_string(&envelope)
        .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
    let extra = attempt_extra(&options, app.now());
    let context = CallContext {
        tenant: target.tenant.application_id.clone(),
        connection_id: target.connection_id.to_owned(),
        request_id: options.request_id,
        background: options.background,
        settings: wire.settings.clone(),
        credentials: target.credentials.clone(),
        origins: operator.origins,
        limits: operator.limits,
        progress: options.progress,
        seed: None,
        timeout_ms: None,
    };
    let call = Call {
        connector: target.provider.to_owned(),
        surface: op.surface,
        verb: op.verb,
        op: op.name.to_owned(),
        body,
        cursor: options.cursor,
        idempotency_key: options.idempotency_key,
        extra,
        blobs: options.blobs,
        context,
    };
    if !options.completes_page
        && let Some(e) = throttle::refusal_of(app, target, op.surface).await
    {
        return Err(e);
    }
    let is_repeatable = op.verb != Verb::Mutate;
    let outcome = match (app.runtime.call(call).await, &target.renewed) {
        (Err(e), Some(renewed)) if e.code == runtime::Code::AuthExpired => Err(renewed.refused(e).await),
        (outcome, _) => outcome,
    };
    let outcome = outcome.map_err(|e| throttle::held_by_limits(app, e, is_repeatable));
    throttle::note_outcome(app, target, op.surface, &outcome).await;
    count(app, target, op, &outcome);
    let response = outcome.inspect_err(|e| report(target, op, e))?;
    let parsed =
        app.compute.run(&target.tenant.application_id, response.body.len(), || response.parse()).await;
    let body = parsed.inspect_err(|e| report(target, op, e))?;
    Ok(Reply {
        body,
        cursor: response.cursor,
        more: response.more,
        blobs: response.blobs,
        failed_requests: response.stats.failed_requests,
    })
}

/// Returns the number of the attempt at a change, and the time of the first one. Reads have no attempts.
fn attempt_extra(options: &CallOptions, now: i64) -> Vec<(String, String)> {
    if options.idempotency_key.is_none() {
        return Vec::new();
    }
    let number = options.earlier_attempts.saturating_add(1);
    let first_at = if number <= 1 { Some(now) } else { options.first_attempt_at };
    let first_at = first_at.map(|at| (FIRST_ATTEMPT_MS.to_owned(), at.to_string()));
    [(ATTEMPT.to_owned(), number.to_string())].into_iter().chain(first_at).collect()
}

/// Counts the requests to the provider, and whether it asked to slow down.
fn count(app: &App, target: &CallTarget<'_>, op: Op, outcome: &Result<Answer, runtime::Error>) {
    let (stats, is_limited) = match outcome {
        Ok(answer) => (&answer.stats, false),
        Err(e) => (&e.stats, e.code == runtime::Code::RateLimited && !throttle::is_held(e)),
    };
    let kind = |outcome| RequestKind::at(app.now(), op.surface.as_str(), outcome);
    if stats.http_requests > 0 {
        app.usage.add_provider(target.tenant, kind("providerCall"), i64::from(stats.http_requests));
    }
    if let Some(buckets) = &stats.buckets {
        app.usage.add_units(target.tenant, target.connection_id, app.now(), &buckets.units);
    }
    if is_limited || stats.provider_retry_after_ms.is_some() {
        app.usage.add_provider(target.tenant, kind("providerThrottled"), 1);
    }
}

/// Logs a failed call for the connector's author and the operator; API clients get `Error::message` only. A call that is held back is not
/// logged.
fn report(target: &CallTarget<'_>, op: Op, e: &runtime::Error) {
    if throttle::is_held(e) {
        return;
    }
    let lines: Vec<String> = e.author.log.iter().map(|l| format!("{l:?}")).collect();
    let frames: Vec<String> = e.author.frames.iter().map(ToString::to_string).collect();
    tracing::warn!(
        connector = target.provider,
        connection = target.connection_id,
        surface = op.surface.as_str(),
        op = op.name,
        code = e.code.as_str(),
        blame = ?e.blame,
        provider_status = e.provider_status,
        detail = %e.author.detail,
        frames = ?frames,
        log = ?lines,
        "connector call failed: {}",
        e.message
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_which_attempt_it_is() {
        let extra = |earlier_attempts, first_attempt_at| {
            let idempotency_key = Some("key".to_owned());
            let options =
                CallOptions { idempotency_key, earlier_attempts, first_attempt_at, ..CallOptions::default() };
            attempt_extra(&options, 9)
        };
        let pairs = |number: &str, at: Option<&str>| -> Vec<(String, String)> {
            let all = [("attempt", Some(number)), ("first-attempt-ms", at)];
            all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
        };
        assert_eq!(extra(0, None), pairs("1", Some("9")), "it begins now");
        assert_eq!(extra(1, Some(3)), pairs("2", Some("3")));
        assert_eq!(extra(4, None), pairs("5", None));
        assert_eq!(attempt_extra(&CallOptions::default(), 9), Vec::new(), "a read");
    }
}
