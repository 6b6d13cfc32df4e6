//! `RequestContext`: the rights that a request acts with, and the connections and items that it may see.

use std::collections::HashMap;
use std::slice;
use std::sync::Arc;

use base::error::{Code, Result, not_found, refuse};
use base::tenant::Tenant;
use base::{ids, scopes};
use storage::api_keys::ApiKey;
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::freshness::ReadTrace;
use crate::app::resource_kind::ResourceKind;
use crate::connections;

/// The only scope that an event type acts with before a booking is written.
const BUSY_TIMES: &str = "calendar.freebusy";

/// The rights that a request acts with. A context is always created for one of these variants, so that no request gets all rights by
/// omission.
#[derive(Clone)]
enum Authority {
    /// An API key's rights: its scopes, on the connections that it is bound to. A key without bound connections may use its whole
    /// application.
    Key(Arc<ApiKey>),
    /// A visitor's rights on a booking page: may see whatever can be booked, and has no scope.
    Visitor,
    /// An event type's rights, given by the key that saved it: the busy times of these hosts.
    EventType(Vec<String>),
    /// The service's own rights: every scope, on this connection alone.
    Service(String),
}

/// The rights of one request, and its options for the response.
#[derive(Clone)]
pub struct RequestContext {
    pub tenant: Tenant,
    authority: Authority,
    pub request_id: String,
    /// The provider must be asked first, however fresh the copy is.
    pub no_cache: bool,
    /// Collects the age of the data that the request reads.
    pub reading: ReadTrace,
}

impl RequestContext {
    /// The context of a request with an API key.
    pub fn for_key(key: Arc<ApiKey>, request_id: String) -> RequestContext {
        RequestContext::with(key.tenant.clone(), Authority::Key(key), request_id)
    }

    /// The context of a visitor to a booking page.
    pub fn for_visitor(tenant: Tenant, request_id: String) -> RequestContext {
        RequestContext::with(tenant, Authority::Visitor, request_id)
    }

    /// Returns the context of a job, which carries out an earlier authorized request on one connection.
    pub fn for_service(tenant: &Tenant, connection_id: &str, request_id: String) -> RequestContext {
        RequestContext::with(tenant.clone(), Authority::Service(connection_id.to_owned()), request_id)
    }

    /// Returns the same request with the rights of an event type that has these hosts: clients that book need no access to their calendars.
    pub fn for_event_type(&self, host_ids: Vec<String>) -> RequestContext {
        RequestContext { authority: Authority::EventType(host_ids), ..self.clone() }
    }

    fn with(tenant: Tenant, authority: Authority, request_id: String) -> RequestContext {
        RequestContext { tenant, authority, request_id, no_cache: false, reading: ReadTrace::default() }
    }

    /// Returns the connections that the request is limited to. None: the whole application.
    pub fn bound_to(&self) -> Option<&[String]> {
        match &self.authority {
            Authority::Key(key) => Some(key.connection_ids.as_slice()).filter(|ids| !ids.is_empty()),
            Authority::Visitor => None,
            Authority::EventType(host_ids) => Some(host_ids.as_slice()),
            Authority::Service(connection_id) => Some(slice::from_ref(connection_id)),
        }
    }

    /// Whether the request may use this connection.
    pub fn may_use(&self, connection_id: &str) -> bool {
        self.bound_to().is_none_or(|ids| ids.iter().any(|id| id == connection_id))
    }

    /// Whether the request may see a resource of these accounts, such as a booking with several hosts. A request that is limited to
    /// connections may see it only if all accounts are among them: it learns of no other account, and resources without an account are
    /// hidden.
    pub fn sees<'a>(&self, account_ids: impl IntoIterator<Item = &'a String>) -> bool {
        let Some(own) = self.bound_to() else { return true };
        let mut account_ids = account_ids.into_iter().peekable();
        account_ids.peek().is_some() && account_ids.all(|id| own.contains(id))
    }

    /// Whether the request holds this scope.
    pub fn holds(&self, scope: &str) -> bool {
        match &self.authority {
            Authority::Key(key) => scopes::holds(&key.scopes, scope),
            Authority::Visitor => false,
            Authority::EventType(_) => scope == BUSY_TIMES,
            Authority::Service(_) => true,
        }
    }

    /// Refuses a request that does not hold this scope.
    ///
    /// # Errors
    /// 403 `insufficient_scope`.
    pub fn ensure_scope(&self, scope: &str) -> Result<()> {
        match self.holds(scope) {
            true => Ok(()),
            false => Err(refuse(Code::InsufficientScope, format!("this API key lacks the scope {scope}"))),
        }
    }

    /// Returns a usable connection by id. The request must hold the scope and the account must have granted it.
    pub async fn connection(&self, app: &App, id: &str, scope: &str) -> Result<Connection> {
        if !self.may_use(id) {
            return Err(not_found("connection"));
        }
        self.usable_for(connections::find(app, &self.tenant, id).await?, scope)
    }

    /// Same as `connection`, with the last sequence of the application's log.
    pub async fn connection_with_sequence(
        &self,
        app: &App,
        id: &str,
        scope: &str,
    ) -> Result<(Connection, i64)> {
        if !self.may_use(id) {
            return Err(not_found("connection"));
        }
        let (connection, sequence) = connections::find_with_sequence(app, &self.tenant, id).await?;
        Ok((self.usable_for(connection, scope)?, sequence))
    }

    /// Returns each connection of a list of distinct ids, as `connection` does, with one statement for all of them.
    ///
    /// # Errors
    /// Only if the connections cannot be read. An unusable connection is an error in its own position of the list.
    pub async fn connections(
        &self,
        app: &App,
        ids: &[String],
        scope: &str,
    ) -> Result<Vec<Result<Connection>>> {
        let mut found = connections::find_all(app, &self.tenant, ids).await?;
        let of = |id: &String| {
            let connection = found.remove(id).filter(|_| self.may_use(id));
            self.usable_for(connection.ok_or_else(|| not_found("connection"))?, scope)
        };
        Ok(ids.iter().map(of).collect())
    }

    /// Returns a stored item that the request may read.
    pub async fn item(&self, app: &App, kind: ResourceKind, id: &str) -> Result<Item> {
        let what = kind.noun();
        if !ids::is_plausible(id) {
            return Err(not_found(what));
        }
        self.ensure_scope(kind.read_scope())?;
        let found = items::find(app.db.resources(), &self.tenant, kind.as_str(), id).await?;
        found.filter(|item| self.may_use(&item.connection_id)).ok_or_else(|| not_found(what))
    }

    /// Returns the stored items of a kind among these ids that the request may read, by id, with one statement for all of them.
    pub async fn items(
        &self,
        app: &App,
        kind: ResourceKind,
        ids: &[String],
    ) -> Result<HashMap<String, Item>> {
        self.ensure_scope(kind.read_scope())?;
        let plausible: Vec<&str> =
            ids.iter().map(String::as_str).filter(|id| ids::is_plausible(id)).collect();
        if plausible.is_empty() {
            return Ok(HashMap::new());
        }
        let found = items::find_all(app.db.resources(), &self.tenant, &plausible).await?;
        let readable = found.into_iter().filter(|item| self.is_readable(item, kind));
        Ok(readable.map(|item| (item.id.clone(), item)).collect())
    }

    /// Whether a stored item is of this kind and of a connection that the request may use.
    pub fn is_readable(&self, item: &Item, kind: ResourceKind) -> bool {
        item.kind == kind.as_str() && self.may_use(&item.connection_id)
    }

    /// Returns the connection if the request holds the scope, the account is usable and has granted the scope.
    fn usable_for(&self, connection: Connection, scope: &str) -> Result<Connection> {
        self.ensure_scope(scope)?;
        connections::usable(&connection)?;
        connections::granted(&connection, scope)?;
        Ok(connection)
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;
    use storage::api_keys::KeyKind;

    use super::*;

    /// Returns a key with these scopes that is bound to these connections.
    pub fn key(scopes: &[&str], connection_ids: &[&str]) -> Arc<ApiKey> {
        Arc::new(ApiKey {
            id: "key_1".to_owned(),
            tenant: tenant(),
            name: "test".to_owned(),
            prefix: String::new(),
            last4: String::new(),
            scopes: texts(scopes),
            allowed_domains: Vec::new(),
            allowed_ips: Vec::new(),
            connection_ids: texts(connection_ids),
            rate_limit_per_minute: 1,
            expires_at: None,
            last_used_at: None,
            last_used_ip: None,
            created_by: None,
            revoked_at: None,
            created_at: 0,
            kind: KeyKind::Key,
            grant_id: None,
            agent: None,
        })
    }

    fn tenant() -> Tenant {
        Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() }
    }

    fn context(scopes: &[&str], connection_ids: &[&str]) -> RequestContext {
        RequestContext::for_key(key(scopes, connection_ids), String::new())
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Returns the scopes that a context holds.
    fn held(context: &RequestContext) -> Vec<&'static str> {
        scopes::ALL.into_iter().filter(|scope| context.holds(scope)).collect()
    }

    #[test]
    fn a_context_has_the_rights_that_it_was_made_with_and_no_others() {
        let weak = context(&["scheduling.write"], &[]);
        assert_eq!(held(&weak), ["scheduling.read", "scheduling.write", "scheduling.book"]);
        assert_eq!(weak.bound_to(), None);
        let refused = weak.ensure_scope("calendar.freebusy").err().and_then(|e| e.code());
        assert_eq!(refused, Some(Code::InsufficientScope));
        let visitor = RequestContext::for_visitor(tenant(), String::new());
        assert!(held(&visitor).is_empty() && visitor.sees(&texts(&["conn_1"])));
        let hosts = weak.for_event_type(texts(&["conn_1", "conn_2"]));
        assert_eq!(held(&hosts), ["calendar.freebusy"]);
        assert!(hosts.may_use("conn_2") && !hosts.may_use("conn_3"));
        let service = RequestContext::for_service(&tenant(), "conn_1", String::new());
        assert_eq!(held(&service), scopes::ALL);
        assert!(service.may_use("conn_1") && !service.may_use("conn_2"));
    }

    #[test]
    fn a_resource_of_several_accounts_is_shown_to_who_may_use_all_of_them() {
        let bound = context(&["scheduling.read"], &["conn_1", "conn_2"]);
        assert!(bound.sees(&texts(&["conn_1"])) && bound.sees(&texts(&["conn_2", "conn_1", "conn_2"])));
        assert!(!bound.sees(&texts(&["conn_1", "conn_3"])) && !bound.sees(&texts(&[])));
        let free = context(&["scheduling.read"], &[]);
        assert!(free.sees(&texts(&["conn_1", "conn_3"])) && free.sees(&texts(&[])));
    }

    proptest! {
        /// Binding a key to connections never shows it more, and it may use everything that it sees.
        #[test]
        fn a_bound_key_sees_no_more_than_a_free_one(
            own in prop::collection::vec("[a-d]", 1..4),
            accounts in prop::collection::vec("[a-f]", 0..5),
        ) {
            let names: Vec<&str> = own.iter().map(String::as_str).collect();
            let (bound, free) = (context(&[], &names), context(&[], &[]));
            prop_assert!(free.sees(&accounts));
            let all_are_own = accounts.iter().all(|id| bound.may_use(id));
            prop_assert_eq!(bound.sees(&accounts), all_are_own && !accounts.is_empty());
        }
    }
}
