//! Calls of a provider for a request: reads, changes, and the effect of a failed call on the connection.

use base::error::{Code, Error, Result};
use model::wire::{Mutated, Source};
use runtime::{self, Blobs, Surface, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use storage::connections::Connection;

use crate::app::App;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::{WriteAccount, WriteContext};
use crate::connections::{self, refusal};

/// Reads from the provider for a request that waits.
pub async fn fetch<A, R>(
    app: &App,
    connection: &Connection,
    asker: &RequestContext,
    surface: Surface,
    op: &'static str,
    args: &A,
) -> Result<R>
where
    A: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    let op = Op { surface, verb: Verb::Fetch, name: op };
    let options = CallOptions { request_id: asker.request_id.clone(), ..CallOptions::default() };
    Ok(run(app, connection, op, args, options).await?.body)
}

/// Returns the answer of one call, with its cursor and its content. Records the result of the call on the connection.
pub async fn run<A, R>(
    app: &App,
    connection: &Connection,
    op: Op,
    args: &A,
    options: CallOptions,
) -> Result<Reply<R>>
where
    A: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    let target = CallTarget::for_connection(app, connection)?;
    let reply: Result<Reply<R>, runtime::Error> = call::run(app, &target, op, args, options).await;
    match reply {
        Ok(reply) => {
            connections::state::record_outcome(app, connection, Ok(())).await;
            Ok(reply)
        }
        Err(e) => Err(failed(app, connection, &e).await),
    }
}

/// A change to request from a provider.
pub struct ProviderChange<'c, A> {
    pub surface: Surface,
    /// The connector's operation.
    pub op: &'static str,
    pub args: &'c A,
    /// Content that the arguments refer to.
    pub blobs: Blobs,
}

impl<'c, A> ProviderChange<'c, A> {
    pub fn new(surface: Surface, op: &'static str, args: &'c A) -> Self {
        ProviderChange { surface, op, args, blobs: Blobs::default() }
    }

    /// Adds content that the arguments refer to.
    pub fn with_blobs(self, blobs: Blobs) -> Self {
        ProviderChange { blobs, ..self }
    }
}

/// A write that the provider has completed.
#[derive(Debug)]
pub struct ProviderWrite {
    pub mutated: Mutated,
    /// The log's last sequence before the provider was asked: rows stored later may be newer than the provider's answer.
    pub as_of: i64,
}

impl ProviderWrite {
    /// Returns a write that required no change at the provider.
    pub fn nothing() -> ProviderWrite {
        ProviderWrite { mutated: Mutated::default(), as_of: i64::MAX }
    }

    /// Returns the deletion of one record.
    pub fn gone(source_id: &str, as_of: i64) -> ProviderWrite {
        ProviderWrite {
            mutated: Mutated { sources: vec![deleted_source(source_id)], ..Mutated::default() },
            as_of,
        }
    }

    /// Takes the provider's warnings, for the response.
    pub fn take_warnings(&mut self) -> Result<Vec<Value>> {
        let warnings = std::mem::take(&mut self.mutated.warnings).into_iter().map(serde_json::to_value);
        Ok(warnings.collect::<Result<_, _>>()?)
    }
}

/// Returns a connector's report that a record no longer exists.
pub fn deleted_source(source_id: &str) -> Source {
    Source { external_id: source_id.to_owned(), deleted: true, ..Source::default() }
}

/// Requests a change from the provider.
pub async fn call_provider<A: Serialize + Sync>(
    cx: &WriteContext,
    account: &WriteAccount,
    change: ProviderChange<'_, A>,
) -> Result<ProviderWrite> {
    let ProviderChange { surface, op, args, blobs } = change;
    let op = Op { surface, verb: Verb::Mutate, name: op };
    let options = CallOptions {
        request_id: cx.request.request_id.clone(),
        idempotency_key: Some(cx.attempt.connector_key.clone()),
        // The number of repetitions of an earlier attempt is not stored.
        earlier_attempts: i64::from(cx.attempt.resumed),
        first_attempt_at: cx.attempt.first_at,
        blobs,
        ..CallOptions::default()
    };
    cx.attempt.note_call();
    let reply = run(&cx.app, &account.connection, op, args, options).await?;
    Ok(ProviderWrite { mutated: reply.body, as_of: account.as_of })
}

/// Deletes a record at the provider. A record that is already deleted counts as success.
pub async fn call_deletion<A: Serialize + Sync>(
    cx: &WriteContext,
    account: &WriteAccount,
    change: ProviderChange<'_, A>,
    source_id: &str,
) -> Result<ProviderWrite> {
    match call_provider(cx, account, change).await {
        Err(e) if e.code() == Some(Code::NotFound) => Ok(ProviderWrite::gone(source_id, account.as_of)),
        written => written,
    }
}

/// Returns a failed call as the caller's error. A provider that does not answer and refused credentials also change the connection's state.
pub async fn failed(app: &App, connection: &Connection, e: &runtime::Error) -> Error {
    connections::state::record_outcome(app, connection, Err(e)).await;
    let error = refusal::from_runtime_error(&connection.provider, e);
    if let (runtime::Code::AuthExpired, Error::Refused(r)) = (e.code, &error)
        && let Err(e) = connections::state::mark_reauth_required(app, connection, r).await
    {
        tracing::error!(error = %e, connection = %connection.id, "cannot mark a connection");
    }
    error
}
