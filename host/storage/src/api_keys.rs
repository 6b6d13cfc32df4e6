//! Organizations, applications and their API keys. Tables: `migrations/0001_tenants_and_keys.sql`, `0044_access_tokens.sql`. What changes
//! whether a key works changes `api_key_domains` in the same transaction.

use std::collections::HashMap;

use crate::sql::{On, Reader, Row, query};
use anyhow::Result;
use model::Instant;
use model::agent::AgentPolicy;
use serde_json::Value;

use base::keyring::{NewApiKey, TEST_KEY_PREFIX};
use base::tenant::Tenant;

use crate::Tx;
use crate::api_key_domains;
use crate::installation::of_tenants;
use crate::json;
use crate::json_or_none;
use crate::json_text;
pub use crate::key_kind::KeyKind;
use crate::request_log::{self, RequestLogMode};

/// A text that sorts after the ids of all keys, whatever the collation: no id has so late a time.
const AFTER_ALL_KEYS: &str = "key_ZZZZZZZZZZZZZZZZZZZZZZZZZZ";

/// A stored API key; the key itself is not in it.
#[derive(Clone, Debug)]
pub struct ApiKey {
    pub id: String,
    pub tenant: Tenant,
    pub name: String,
    pub prefix: String,
    pub last4: String,
    pub scopes: Vec<String>,
    pub allowed_domains: Vec<String>,
    pub allowed_ips: Vec<String>,
    pub connection_ids: Vec<String>,
    pub rate_limit_per_minute: i64,
    pub expires_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub last_used_ip: Option<String>,
    pub created_by: Option<String>,
    pub revoked_at: Option<i64>,
    pub created_at: i64,
    pub kind: KeyKind,
    /// The grant that an access token came of; none for one of the key alone.
    pub grant_id: Option<String>,
    /// The policy for assistants; none if they only read.
    pub agent: Option<AgentPolicy>,
}

impl ApiKey {
    pub fn is_token(&self) -> bool {
        self.kind == KeyKind::AccessToken
    }

    /// Whether it is a key of a test application; access tokens do not show it.
    pub fn is_test(&self) -> bool {
        self.prefix.starts_with(TEST_KEY_PREFIX)
    }

    /// The key whose budget and usage this one's requests count in: a token's is the key that it was given to.
    pub fn budget_id(&self) -> &str {
        match &self.created_by {
            Some(parent) if self.is_token() => parent,
            _ => &self.id,
        }
    }

    /// Returns the id that owns the key's idempotency keys: tokens of one grant share it, tokens of one API key do not.
    pub fn idempotency_scope(&self) -> &str {
        self.grant_id.as_deref().unwrap_or(&self.id)
    }

    /// The key as the API and the `switchboard keys` command print it; the key itself is not in it.
    pub fn json(&self) -> Value {
        let at = |ms: Option<i64>| ms.map(Instant::from_millis);
        let mut shown = serde_json::json!({
            "id": self.id,
            "kind": self.kind.as_str(),
            "name": self.name,
            "prefix": self.prefix,
            "last4": self.last4,
            "scopes": self.scopes,
            "applicationId": self.tenant.application_id,
            "organizationId": self.tenant.organization_id,
            "allowedDomains": self.allowed_domains,
            "allowedIps": self.allowed_ips,
            "rateLimitPerMinute": self.rate_limit_per_minute,
            "connectionIds": self.connection_ids,
            "expiresAt": at(self.expires_at),
            "lastUsedAt": at(self.last_used_at),
            "lastUsedIp": self.last_used_ip,
            "createdBy": self.created_by,
            "revokedAt": at(self.revoked_at),
            "createdAt": Instant::from_millis(self.created_at),
        });
        if let Some(agent) = &self.agent {
            shown["agent"] = serde_json::json!(agent);
        }
        shown
    }
}

pub(crate) fn api_key(row: &Row<'_>) -> Result<ApiKey> {
    let kind: String = row.get("kind")?;
    Ok(ApiKey {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        last4: row.get("last4")?,
        scopes: json(row, "scopes")?,
        allowed_domains: json(row, "allowed_domains")?,
        allowed_ips: json(row, "allowed_ips")?,
        connection_ids: json(row, "connection_ids")?,
        rate_limit_per_minute: row.get("rate_limit_per_minute")?,
        expires_at: row.get("expires_at")?,
        last_used_at: row.get("last_used_at")?,
        last_used_ip: row.get("last_used_ip")?,
        created_by: row.get("created_by")?,
        revoked_at: row.get("revoked_at")?,
        created_at: row.get("created_at")?,
        kind: if kind == "access_token" { KeyKind::AccessToken } else { KeyKind::Key },
        grant_id: row.get("grant_id")?,
        agent: json_or_none(row, "agent_policy")?,
    })
}

/// The key whose present secret has this hash, of whatever tenant: this is how a tenant is found. `old_secrets::find_key` looks among the
/// secrets before it too.
pub async fn by_hash(reader: &Reader, hash: &str) -> Result<Option<ApiKey>> {
    query("select * from api_keys where hash = $1").bind(hash).fetch_optional(reader, api_key).await
}

/// A key of the application; if `family` is a key, of those that descend from it, and itself.
pub async fn find(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    family: Option<&str>,
    id: &str,
) -> Result<Option<ApiKey>> {
    let sql = "with recursive ancestors (id, created_by) as ( \
                   select id, created_by from api_keys \
                   where organization_id = $1 and application_id = $2 and id = $3 \
                   union select k.id, k.created_by from api_keys k join ancestors a on k.id = a.created_by) \
               select * from api_keys where organization_id = $1 and application_id = $2 and id = $3 \
               and ($4 = '' or exists (select 1 from ancestors a where a.id = $4))";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .bind(family.unwrap_or_default())
        .fetch_optional(on, api_key)
        .await
}

/// The names of all keys of the application, by id; not those of access tokens.
pub async fn names(reader: &Reader, tenant: &Tenant) -> Result<HashMap<String, String>> {
    let sql =
        "select id, name from api_keys where organization_id = $1 and application_id = $2 and kind = 'key'";
    let found = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_all(reader, |row| Ok((row.get("id")?, row.get("name")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// Keys of a kind of the application, newest last, after an id; if `family` is a key, those that descend from it, and itself.
pub async fn list(
    reader: &Reader,
    tenant: &Tenant,
    family: Option<&str>,
    kind: KeyKind,
    (after_id, limit): (&str, i64),
) -> Result<Vec<ApiKey>> {
    let all = "select * from api_keys where organization_id = $1 and application_id = $2 and id > $3 \
               and kind = $5 order by id limit $4";
    let descendants = "with recursive family (id) as ( \
                           select id from api_keys where organization_id = $1 and application_id = $2 and id = $6 \
                           union select k.id from family f cross join api_keys k \
                           where k.application_id = $2 and k.created_by = f.id) \
                       select k.* from family f cross join api_keys k where k.id = f.id and k.id > $3 and k.kind = $5 \
                       order by k.id limit $4";
    let page = query(if family.is_some() { descendants } else { all })
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(after_id)
        .bind(limit)
        .bind(kind.as_str());
    let page = match family {
        Some(id) => page.bind(id),
        None => page,
    };
    page.fetch_all(reader, api_key).await
}

/// Keys of a kind of the application, the newest one first, before an id; from the newest one on without it.
pub async fn list_newest(
    reader: &Reader,
    tenant: &Tenant,
    kind: KeyKind,
    before_id: Option<&str>,
    limit: i64,
) -> Result<Vec<ApiKey>> {
    let sql = "select * from api_keys where organization_id = $1 and application_id = $2 and kind = $3 and id < $4 \
               order by id desc limit $5";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(kind.as_str())
        .bind(before_id.unwrap_or(AFTER_ALL_KEYS))
        .bind(limit)
        .fetch_all(reader, api_key)
        .await
}

/// Every key of every application, without access tokens, for the operator's command.
pub async fn list_all(reader: &Reader) -> Result<Vec<ApiKey>> {
    query("select * from api_keys where kind = 'key' order by id").fetch_all(reader, api_key).await
}

pub async fn insert(tx: &mut Tx, key: &ApiKey, hash: &str) -> Result<()> {
    let sql = "insert into api_keys (id, organization_id, application_id, name, prefix, last4, hash, scopes, \
               allowed_domains, allowed_ips, connection_ids, rate_limit_per_minute, expires_at, created_by, created_at, \
               kind, grant_id, agent_policy) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    let agent = key.agent.as_ref().map(json_text);
    query(sql)
        .bind(&key.id)
        .bind(&key.tenant.organization_id)
        .bind(&key.tenant.application_id)
        .bind(&key.name)
        .bind(&key.prefix)
        .bind(&key.last4)
        .bind(hash)
        .bind(json_text(&key.scopes))
        .bind(json_text(&key.allowed_domains))
        .bind(json_text(&key.allowed_ips))
        .bind(json_text(&key.connection_ids))
        .bind(key.rate_limit_per_minute)
        .bind(key.expires_at)
        .bind(&key.created_by)
        .bind(key.created_at)
        .bind(key.kind.as_str())
        .bind(&key.grant_id)
        .bind(&agent)
        .execute(&mut *tx)
        .await?;
    let parent = key.created_by.as_deref().filter(|_| key.is_token());
    api_key_domains::insert(tx, (&key.id, parent), &key.allowed_domains, key.expires_at).await
}

/// Locks a key of the tenant until the transaction ends; returns false when it is revoked or does not exist. A revocation waits, and then
/// finds what this transaction gave to the key.
pub async fn hold(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<bool> {
    let sql = "update api_keys set revoked_at = null where organization_id = $1 and application_id = $2 and id = $3 \
               and revoked_at is null";
    let held = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id);
    Ok(held.execute(&mut *tx).await? > 0)
}

/// Gives a key another secret.
pub async fn set_secret(tx: &mut Tx, id: &str, new: &NewApiKey) -> Result<()> {
    query("update api_keys set hash = $1, prefix = $2, last4 = $3 where id = $4")
        .bind(&new.hash)
        .bind(&new.prefix)
        .bind(&new.last4)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// The key with this id, of whatever tenant, for the operator's command.
pub async fn find_any(on: impl Into<On<'_>>, id: &str) -> Result<Option<ApiKey>> {
    query("select * from api_keys where id = $1").bind(id).fetch_optional(on, api_key).await
}

/// Removes at most `limit` access tokens that expired before then, and when there are none left at most as many domains of keys that did; how
/// many rows it removed.
pub async fn expire_tokens(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from api_keys where id in (select id from api_keys where kind = 'access_token' and expires_at < $1 \
               order by expires_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(&mut *tx).await?;
    match i64::try_from(done).unwrap_or(i64::MAX) {
        0 => api_key_domains::remove_expired(tx, before, limit).await,
        tokens => Ok(tokens),
    }
}

/// Notes when and from where a key was last used.
pub async fn note_use(tx: &mut Tx, id: &str, at: i64, ip: &str) -> Result<()> {
    query("update api_keys set last_used_at = $1, last_used_ip = $2 where id = $3")
        .bind(at)
        .bind(ip)
        .bind(id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The application with this name in an organization with this name, both made if they are missing.
/// `ids` are used for what has to be made: organization, application.
pub async fn ensure_application(
    tx: &mut Tx,
    names: (&str, &str),
    ids: (&str, &str),
    now: i64,
) -> Result<Tenant> {
    let by_name = concat!(
        "select id from organizations where name = $1 and ",
        of_tenants!("id"),
        " order by id limit 1"
    );
    let found = query(by_name).bind(names.0).fetch_optional(&mut *tx, |row| row.get("id")).await?;
    let organization_id: String = match found {
        Some(id) => id,
        None => {
            query("insert into organizations (id, name, created_at) values ($1, $2, $3)")
                .bind(ids.0)
                .bind(names.0)
                .bind(now)
                .execute(&mut *tx)
                .await?;
            ids.0.to_owned()
        }
    };
    let insert = "insert into applications (id, organization_id, name, created_at) values ($1, $2, $3, $4) \
                  on conflict (organization_id, name) do nothing";
    query(insert).bind(ids.1).bind(&organization_id).bind(names.1).bind(now).execute(&mut *tx).await?;
    let application_id = query("select id from applications where organization_id = $1 and name = $2")
        .bind(&organization_id)
        .bind(names.1)
        .fetch_one(&mut *tx, |row| row.get("id"))
        .await?;
    Ok(Tenant { organization_id, application_id })
}

/// Every application's tenant.
pub async fn tenants(reader: &Reader) -> Result<Vec<Tenant>> {
    let tenant = |row: &Row<'_>| {
        Ok(Tenant { organization_id: row.get("organization_id")?, application_id: row.get("id")? })
    };
    query("select id, organization_id from applications order by id").fetch_all(reader, tenant).await
}

/// An application, with its own name and its organization's.
#[derive(Clone, Debug)]
pub struct Application {
    pub tenant: Tenant,
    pub name: String,
    pub organization: String,
    /// The name that it was given for the addresses of its booking pages.
    pub handle: Option<String>,
    /// The parts of requests that the application's request log stores.
    pub request_log: RequestLogMode,
    /// The end of the time in which its request log keeps full bodies, milliseconds since 1970.
    pub full_bodies_until: Option<i64>,
    /// It is for tests: its keys reach the sandbox alone.
    pub is_test: bool,
}

/// Every application, in the order in which they were made, for the operator's command.
pub async fn applications(reader: &Reader) -> Result<Vec<Application>> {
    let application = |row: &Row<'_>| {
        let (request_log, full_bodies_until) = request_log::mode_and_window(row)?;
        Ok(Application {
            tenant: Tenant { organization_id: row.get("organization_id")?, application_id: row.get("id")? },
            name: row.get("name")?,
            organization: row.get("organization")?,
            handle: row.get("handle")?,
            request_log,
            full_bodies_until,
            is_test: row.get::<i64>("is_test")? != 0,
        })
    };
    let sql = "select a.id, a.organization_id, a.name, o.name as organization, a.handle, a.request_log, a.full_bodies_until, a.is_test from applications a \
               join organizations o on o.id = a.organization_id order by a.id";
    query(sql).fetch_all(reader, application).await
}
