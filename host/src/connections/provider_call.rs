//! Calls of a provider for a request: fetch, mutate, and what a failed call does to the connection.

use base::error::{Error, Result};
use runtime::{self, Surface, Verb};
use storage::connections::Connection;

use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::request_context::RequestContext;
use crate::connections::{self, refusal};

/// Asks the provider, on behalf of somebody who waits.
pub async fn fetch<A, R>(
    app: &App,
    connection: &Connection,
    asker: &RequestContext,
    (surface, op): (Surface, &'static str),
    args: &A,
) -> Result<R>
where
    A: serde::Serialize + Sync,
    R: serde::de::DeserializeOwned + Send,
{
    let op = Op { surface, verb: Verb::Fetch, name: op };
    let options = CallOptions { request_id: asker.request_id.clone(), ..CallOptions::default() };
    let target = CallTarget::of(app, connection)?;
    let reply: Result<Reply<R>, runtime::Error> = call::run(app, &target, op, args, options).await;
    match reply {
        Ok(reply) => {
            connections::state::note(app, connection, Ok(())).await;
            Ok(reply.body)
        }
        Err(e) => Err(failed(app, connection, &e).await),
    }
}

/// Changes something at the provider.
pub async fn mutate<A, R>(
    app: &App,
    connection: &Connection,
    asker: &RequestContext,
    attempt: &IdempotentAttempt,
    (surface, op): (Surface, &'static str),
    args: &A,
) -> Result<R>
where
    A: serde::Serialize + Sync,
    R: serde::de::DeserializeOwned + Send,
{
    let op = Op { surface, verb: Verb::Mutate, name: op };
    let options = CallOptions {
        request_id: asker.request_id.clone(),
        idempotency_key: Some(attempt.connector_key.clone()),
        ..CallOptions::default()
    };
    let target = CallTarget::of(app, connection)?;
    let reply: Result<Reply<R>, runtime::Error> = call::run(app, &target, op, args, options).await;
    match reply {
        Ok(reply) => {
            connections::state::note(app, connection, Ok(())).await;
            Ok(reply.body)
        }
        Err(e) => Err(failed(app, connection, &e).await),
    }
}

/// A failed call as the caller's error; a silent provider and refused credentials also change the connection's state.
pub async fn failed(app: &App, connection: &Connection, e: &runtime::Error) -> Error {
    connections::state::note(app, connection, Err(e)).await;
    let error = refusal::of(&connection.provider, e);
    if let (runtime::Code::AuthExpired, Error::Refused(r)) = (e.code, &error)
        && let Err(e) = connections::state::mark_reauth_required(app, connection, r).await
    {
        tracing::error!(error = %e, connection = %connection.id, "cannot mark a connection");
    }
    error
}
