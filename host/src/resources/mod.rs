//! Provider-backed resources: what is the same for all of them. A write goes to the provider first and is stored with its log
//! line and its idempotent answer in one transaction.
//!
//! One window cannot be closed by SQL: the provider has accepted the write and we die before the commit. So a claim on the
//! Idempotency-Key is on disk before the call; a retry that finds it is told so (`Attempt::resumed`) and looks at the
//! provider first; and a create gives the provider an id made from the key, so that a repeated one finds the first.

pub mod apply;
mod bind;
pub mod calendars;
pub mod collections;
pub mod commit;
pub mod contacts;
pub mod contents;
pub mod counts;
pub mod differences;
pub mod events;
mod kind;
pub mod mail;
pub mod prepare;
pub mod readable;
pub mod render;
mod settle;
pub mod tasks;
pub mod unique;
pub mod warned;

pub use kind::Kind;

use base::error::{Code, Error, Refusal, Result, not_found};
use base::ids;
use base::tenant::Tenant;
use runtime::{self, Surface, Verb};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::connections::call::{self, Op, Options, Reply, Target};
use crate::connections::{self, refusal};
use crate::freshness::Reading;

/// Which version of a resource a change is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No etag was sent, or `*`: the last write wins.
    // Contract, Cross-cutting rules 3: a mutation "should" carry one.
    Anything,
    OneOf(Vec<String>),
}

impl Expected {
    /// Refuses a stale etag, telling the current one.
    pub fn check(&self, current: &str) -> Result<()> {
        match self {
            Expected::OneOf(etags) if !etags.iter().any(|e| e == current) => Err(stale(current)),
            _ => Ok(()),
        }
    }

    /// The provider's own version to insist on: only where the caller insisted on ours.
    pub fn provider_etag(&self, item: &Item) -> Option<String> {
        match self {
            Expected::Anything => None,
            Expected::OneOf(_) => item.provider_etag.clone(),
        }
    }
}

/// 409 for a change that is based on an old version.
pub fn stale(current: &str) -> Error {
    Refusal::new(
        Code::StaleEtag,
        "the resource has changed since this etag; read it again and repeat the change",
    )
    .param("etag")
    .current_etag(current)
    .into()
}

/// Who asks, for one request.
#[derive(Clone)]
pub struct Asker {
    pub tenant: Tenant,
    /// Empty: all connections of the application.
    pub connection_ids: Vec<String>,
    pub request_id: String,
    /// The caller wants the provider asked first, however fresh the copy is.
    pub no_cache: bool,
    /// What the request is told of the data that it reads.
    pub reading: Reading,
}

impl Asker {
    /// Whether the key is bound to this connection, or to none.
    pub fn may_use(&self, connection_id: &str) -> bool {
        self.connection_ids.is_empty() || self.connection_ids.iter().any(|c| c == connection_id)
    }

    /// A connection by id, usable, with this scope granted.
    pub async fn connection(&self, app: &App, id: &str, scope: &str) -> Result<Connection> {
        if !self.may_use(id) {
            return Err(not_found("connection"));
        }
        usable_for(connections::find(app, &self.tenant, id).await?, scope)
    }

    /// Each connection of a list of different ids, as `connection` finds it, with one statement for all of them.
    ///
    /// # Errors
    /// Only where they cannot be read. What cannot be used is an error in its own place of the list.
    pub async fn connections(
        &self,
        app: &App,
        ids: &[String],
        scope: &str,
    ) -> Result<Vec<Result<Connection>>> {
        let mut found = connections::find_all(app, &self.tenant, ids).await?;
        let of = |id: &String| {
            let connection = found.remove(id).filter(|_| self.may_use(id));
            usable_for(connection.ok_or_else(|| not_found("connection"))?, scope)
        };
        Ok(ids.iter().map(of).collect())
    }

    /// A stored item that the key may see.
    pub async fn item(&self, app: &App, kind: Kind, id: &str) -> Result<Item> {
        let what = kind.noun();
        if !ids::is_plausible(id) {
            return Err(not_found(what));
        }
        let found = items::find(app.db.resources(), &self.tenant, kind.as_str(), id).await?;
        found.filter(|item| self.may_use(&item.connection_id)).ok_or_else(|| not_found(what))
    }
}

/// The connection, if it can be used now and was granted the scope.
fn usable_for(connection: Connection, scope: &str) -> Result<Connection> {
    connections::usable(&connection)?;
    connections::granted(&connection, scope)?;
    Ok(connection)
}

/// Asks the provider, on behalf of somebody who waits.
pub async fn fetch<A, R>(
    app: &App,
    connection: &Connection,
    asker: &Asker,
    (surface, op): (Surface, &'static str),
    args: &A,
) -> Result<R>
where
    A: serde::Serialize + Sync,
    R: serde::de::DeserializeOwned + Send,
{
    let op = Op { surface, verb: Verb::Fetch, name: op };
    let options = Options { request_id: asker.request_id.clone(), ..Options::default() };
    let target = Target::of(app, connection)?;
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
    asker: &Asker,
    attempt: &Attempt,
    (surface, op): (Surface, &'static str),
    args: &A,
) -> Result<R>
where
    A: serde::Serialize + Sync,
    R: serde::de::DeserializeOwned + Send,
{
    let op = Op { surface, verb: Verb::Mutate, name: op };
    let options = Options {
        request_id: asker.request_id.clone(),
        idempotency_key: Some(attempt.connector_key.clone()),
        ..Options::default()
    };
    let target = Target::of(app, connection)?;
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

/// The answer of a write on one resource: its text, its etag, its status.
pub fn answer(status: u16, item: &Item, warnings: &[serde_json::Value]) -> Answer {
    Answer::json(status, render::item(item, warnings, false)).etag(&item.etag)
}
