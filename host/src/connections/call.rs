//! A call to a connector on behalf of a connection: the one place that puts the envelope together and takes it apart.

use std::sync::Arc;

use base::error::Result;
use model::wire::Connection as WireConnection;
use runtime::{self, Answer, Blobs, Call, CallContext, Progress, Surface, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::app::usage::RequestKind;
use crate::connections::call_target::CallTarget;
use crate::connections::throttle;

/// Which operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub surface: Surface,
    pub verb: Verb,
    pub name: &'static str,
}

/// What is particular to one call.
#[derive(Clone, Default)]
pub struct CallOptions {
    pub cursor: Option<String>,
    pub idempotency_key: Option<String>,
    pub request_id: String,
    /// Nobody waits for it: it goes behind calls that somebody waits for.
    pub background: bool,
    /// Content that the arguments name.
    pub blobs: Blobs,
    /// Who wants to know how far the call gets.
    pub progress: Option<Arc<dyn Progress>>,
}

/// A connector's answer.
#[derive(Debug)]
pub struct Reply<T> {
    pub body: T,
    pub cursor: Option<String>,
    pub more: bool,
    /// Content that the body names.
    pub blobs: Blobs,
}

#[derive(Serialize)]
struct Envelope<'a, A> {
    connection: &'a WireConnection,
    args: &'a A,
}

/// Runs one operation. An answer that is not of the operation's type counts as the connector's fault.
pub async fn run<A: Serialize + Sync, R: DeserializeOwned + Send>(
    app: &App,
    target: &CallTarget<'_>,
    op: Op,
    args: &A,
    options: CallOptions,
) -> Result<Reply<R>, runtime::Error> {
    let envelope = Envelope { connection: &target.wire, args };
    let body = serde_json::to_string(&envelope)
        .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
    let context = CallContext {
        tenant: target.tenant.application_id.clone(),
        connection_id: target.connection_id.to_owned(),
        request_id: options.request_id,
        background: options.background,
        settings: target.wire.settings.clone(),
        credentials: target.credentials.clone(),
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
        extra: Vec::new(),
        blobs: options.blobs,
        context,
    };
    if let Some(e) = throttle::refusal_of(app, target).await {
        return Err(e);
    }
    let outcome = match (app.runtime.call(call).await, &target.renewed) {
        (Err(e), Some(renewed)) if e.code == runtime::Code::AuthExpired => Err(renewed.refused(e).await),
        (outcome, _) => outcome,
    };
    throttle::note(app, target, &outcome).await;
    count(app, target, op, &outcome);
    let response = outcome.inspect_err(|e| report(target, op, e))?;
    let parsed =
        app.compute.run(&target.tenant.application_id, response.body.len(), || response.parse()).await;
    let body = parsed.inspect_err(|e| report(target, op, e))?;
    Ok(Reply { body, cursor: response.cursor, more: response.more, blobs: response.blobs })
}

/// What was asked of the provider, and whether it asked to slow down.
fn count(app: &App, target: &CallTarget<'_>, op: Op, outcome: &Result<Answer, runtime::Error>) {
    let (stats, is_limited) = match outcome {
        Ok(answer) => (&answer.stats, false),
        Err(e) => (&e.stats, e.code == runtime::Code::RateLimited),
    };
    let kind = |outcome| RequestKind::at(app.now(), op.surface.as_str(), outcome);
    if stats.http_requests > 0 {
        app.usage.add_provider(target.tenant, kind("providerCall"), i64::from(stats.http_requests));
    }
    if is_limited || stats.provider_retry_after_ms.is_some() {
        app.usage.add_provider(target.tenant, kind("providerThrottled"), 1);
    }
}

/// For the connector's author and the operator; the API's user gets `Error::message` only.
fn report(target: &CallTarget<'_>, op: Op, e: &runtime::Error) {
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
