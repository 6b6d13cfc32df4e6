//! `RequestContext`: whose request it is, and which connections and items it may see.

use base::error::{Result, not_found};
use base::ids;
use base::tenant::Tenant;
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::freshness::ReadTrace;
use crate::app::resource_kind::ResourceKind;
use crate::connections;

/// Who asks, for one request.
#[derive(Clone)]
pub struct RequestContext {
    pub tenant: Tenant,
    /// Empty: all connections of the application.
    pub connection_ids: Vec<String>,
    pub request_id: String,
    /// The caller wants the provider asked first, however fresh the copy is.
    pub no_cache: bool,
    /// What the request is told of the data that it reads.
    pub reading: ReadTrace,
}

impl RequestContext {
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
    pub async fn item(&self, app: &App, kind: ResourceKind, id: &str) -> Result<Item> {
        let what = kind.noun();
        if !ids::is_plausible(id) {
            return Err(not_found(what));
        }
        let found = items::find(app.db.resources(), &self.tenant, kind.as_str(), id).await?;
        found.filter(|item| self.may_use(&item.connection_id)).ok_or_else(|| not_found(what))
    }
}

/// The connection, if it can be used now and was granted the scope.
pub(crate) fn usable_for(connection: Connection, scope: &str) -> Result<Connection> {
    connections::usable(&connection)?;
    connections::granted(&connection, scope)?;
    Ok(connection)
}
