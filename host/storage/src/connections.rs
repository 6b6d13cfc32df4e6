//! The accounts that users connected. Table: `migrations/0002_connections.sql`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use base::tenant::Tenant;
use serde::de::DeserializeOwned;

use crate::LockRank;
use crate::Tx;
use crate::dialect::one_of;
use crate::json_text;
use crate::locked::ConnectionLock;
use crate::sql::{Columns, Query, Reader, Row, query};

pub use crate::connection::Connection;

/// A query for whole rows with this condition, whose columns are in the order in which `connection` reads them.
macro_rules! select {
    ($rest:expr) => {
        select!("", $rest)
    };
    ($further:literal, $rest:expr) => {
        concat!(
            "select id, organization_id, application_id, provider, connector_version, status, status_reason, status_changed_at, ",
            "display_name, email, external_account_id, username, addresses, surfaces, requested_scopes, granted_scopes, ",
            "provider_scopes, time_zone, settings, credentials, credentials_version, token_expires_at, last_refresh_at, ",
            "last_refresh_error, failing_since, tags, metadata, etag, created_at, updated_at",
            $further,
            " from connections ",
            $rest
        )
    };
}

/// A whole row. By number, because each request reads one, and looking thirty names up costs as much as reading the row.
fn connection(row: &Row<'_>) -> Result<Connection> {
    next_connection(&mut row.columns())
}

/// The next columns of a row, as a connection.
fn next_connection(column: &mut Columns<'_, '_>) -> Result<Connection> {
    Ok(Connection {
        id: column.next()?,
        tenant: Tenant { organization_id: column.next()?, application_id: column.next()? },
        provider: column.next()?,
        connector_version: column.next()?,
        status: column.next()?,
        status_reason: column.next()?,
        status_changed_at: column.next()?,
        display_name: column.next()?,
        email: column.next()?,
        external_account_id: column.next()?,
        username: column.next()?,
        addresses: next_json(column)?,
        surfaces: next_json(column)?,
        requested_scopes: next_json(column)?,
        granted_scopes: next_json(column)?,
        provider_scopes: next_json(column)?,
        time_zone: column.next()?,
        settings: next_json(column)?,
        credentials: column.next()?,
        credentials_version: column.next()?,
        token_expires_at: column.next()?,
        last_refresh_at: column.next()?,
        last_refresh_error: column.next()?,
        failing_since: column.next()?,
        tags: next_json(column)?,
        metadata: next_json(column)?,
        etag: column.next()?,
        created_at: column.next()?,
        updated_at: column.next()?,
    })
}

/// The next column, which holds JSON. A row that we wrote always parses.
fn next_json<T: DeserializeOwned>(column: &mut Columns<'_, '_>) -> Result<T> {
    let text = column.text()?.unwrap_or_default();
    serde_json::from_str(text).context("a column of a connection does not hold the JSON that it should")
}

/// A query for a live connection of the tenant.
macro_rules! find {
    () => {
        select!("where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null")
    };
}

/// A live connection of the tenant.
pub async fn find(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<Connection>> {
    query(find!())
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, connection)
        .await
}

/// A live connection of the tenant, and the last sequence of the application's log.
pub async fn find_with_sequence(
    reader: &Reader,
    tenant: &Tenant,
    id: &str,
) -> Result<Option<(Connection, i64)>> {
    let sql = select!(
        ", coalesce((select a.last_sequence from applications a where a.id = connections.application_id \
         and a.organization_id = connections.organization_id), 0)",
        "where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, |row| {
            let mut column = row.columns();
            Ok((next_connection(&mut column)?, column.next()?))
        })
        .await
}

/// Live connections of the tenant, in id order, after an id; `provider` and `status` empty: any.
pub async fn list(
    reader: &Reader,
    tenant: &Tenant,
    filter: (&str, &str),
    after_id: &str,
    limit: i64,
) -> Result<Vec<Connection>> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and deleted_at is null \
         and ($3 = '' or provider = $3) and ($4 = '' or status = $4) and id > $5 order by id limit $6"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(filter.0)
        .bind(filter.1)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, connection)
        .await
}

/// Live connections of the tenant in one state, in id order, after an id; `provider` empty: any.
pub async fn list_of_status(
    reader: &Reader,
    tenant: &Tenant,
    status: &str,
    provider: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Connection>> {
    let sql = select!(
        "where application_id = $1 and status = $2 and deleted_at is null and organization_id = $3 \
         and ($4 = '' or provider = $4) and id > $5 order by id limit $6"
    );
    query(sql)
        .bind(&tenant.application_id)
        .bind(status)
        .bind(&tenant.organization_id)
        .bind(provider)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, connection)
        .await
}

/// A search for connections by their addresses, and the position after which it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressSearch<'a> {
    /// How the address begins, in lower case.
    pub prefix: &'a str,
    /// Empty: any.
    pub status: &'a str,
    /// Empty: any.
    pub provider: &'a str,
    /// The address and the id of the last connection of the page before; both empty: from the first one on.
    pub after_email: &'a str,
    pub after_id: &'a str,
}

/// Live connections of the tenant whose address has this prefix, in the order of their addresses.
pub async fn list_of_address(
    reader: &Reader,
    tenant: &Tenant,
    search: &AddressSearch<'_>,
    limit: i64,
) -> Result<Vec<Connection>> {
    let sql = select!(
        "where application_id = $1 and deleted_at is null and email is not null and (email, id) > ($2, $3) \
         and email < case when $5 >= $6 and $5 >= $7 then $5 when $6 >= $7 then $6 else $7 end \
         and substr(email, 1, length($4)) = $4 and organization_id = $8 and ($9 = '' or status = $9) and ($10 = '' or provider = $10) \
         order by email, id limit $11"
    );
    let after_email = if search.after_email.is_empty() { search.prefix } else { search.after_email };
    // The last of these sorts after the addresses that begin with the prefix. The first one does by bytes, as SQLite and "C"
    // compare; locales of the C library ignore it, and sort one of the others last.
    let ends = ["\u{10FFFF}", "\u{9FA5}", "\u{FFFD}"].map(|last| format!("{}{last}", search.prefix));
    query(sql)
        .bind(&tenant.application_id)
        .bind(after_email)
        .bind(search.after_id)
        .bind(search.prefix)
        .bind(&ends[0])
        .bind(&ends[1])
        .bind(&ends[2])
        .bind(&tenant.organization_id)
        .bind(search.status)
        .bind(search.provider)
        .bind(limit)
        .fetch_all(reader, connection)
        .await
}

/// The tenant of a live connection.
pub async fn tenant_of(reader: &Reader, id: &str) -> Result<Option<Tenant>> {
    let tenant = |row: &Row<'_>| {
        let mut column = row.columns();
        Ok(Tenant { organization_id: column.next()?, application_id: column.next()? })
    };
    query("select organization_id, application_id from connections where id = $1 and deleted_at is null")
        .bind(id)
        .fetch_optional(reader, tenant)
        .await
}

/// Returns the ids among these that are live connections of the tenant.
pub async fn existing(reader: &Reader, tenant: &Tenant, ids: &[String]) -> Result<Vec<String>> {
    let sql = one_of!(
        reader,
        "select id from connections where organization_id = $1 and application_id = $2 and deleted_at is null and id",
        "$3"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(json_text(ids))
        .fetch_all(reader, |row| row.get("id"))
        .await
}

/// A query for the ids in `$3` that are live connections of the tenant.
macro_rules! of_ids {
    ($on:expr, $after:literal) => {
        one_of!(
            $on,
            select!("where organization_id = $1 and application_id = $2 and deleted_at is null and id"),
            "$3",
            $after
        )
    };
}

/// The live connections of the tenant among these ids, in no order.
pub async fn of_ids(reader: &Reader, tenant: &Tenant, ids: &[String]) -> Result<Vec<Connection>> {
    let sql = of_ids!(reader, "");
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(json_text(ids))
        .fetch_all(reader, connection)
        .await
}

/// The number of connections by status.
pub async fn count_by_status(reader: &Reader, tenant: &Tenant) -> Result<BTreeMap<String, i64>> {
    let sql = "select status, count(*) as n from connections where organization_id = $1 and application_id = $2 \
               and deleted_at is null group by status";
    let counts = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_all(reader, |row| Ok((row.get("status")?, row.get("n")?)))
        .await?;
    Ok(counts.into_iter().collect())
}

/// The same in a write transaction, which locks the row: see `ConnectionLock`.
async fn find_for_update(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<Connection>> {
    let sql = match tx {
        // Its write transactions run one after the other anyway.
        Tx::Sqlite(_) => find!(),
        Tx::Postgres(_) => concat!(find!(), " for no key update"),
    };
    let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id);
    of.fetch_optional(&mut *tx, connection).await
}

impl ConnectionLock {
    /// Takes the lock. None: there is no such connection, or it was disconnected, and nothing may be written for it any more.
    pub async fn take(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<ConnectionLock>> {
        tx.takes_row(LockRank::Connection, id)?;
        Ok(find_for_update(tx, tenant, id).await?.map(ConnectionLock::new))
    }

    /// Takes the locks on these connections in the order of their ids, with one statement. Returns the existing ones.
    pub async fn take_all(
        tx: &mut Tx,
        tenant: &Tenant,
        ids: &BTreeSet<&String>,
    ) -> Result<Vec<ConnectionLock>> {
        for id in ids {
            tx.takes_row(LockRank::Connection, id)?;
        }
        let sql = match tx {
            Tx::Sqlite(_) => of_ids!(tx, " order by id"),
            // In the order of the bytes, which is that of `ids`.
            Tx::Postgres(_) => of_ids!(tx, " order by id collate \"C\" for no key update"),
        };
        let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(json_text(ids));
        let found = of.fetch_all(&mut *tx, connection).await?;
        Ok(found.into_iter().map(ConnectionLock::new).collect())
    }
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, c: &Connection) -> Result<()> {
    let sql = "insert into connections (connector_version, status, status_reason, status_changed_at, display_name, \
               email, username, addresses, surfaces, granted_scopes, provider_scopes, time_zone, settings, \
               credentials, credentials_version, token_expires_at, last_refresh_at, last_refresh_error, failing_since, \
               tags, metadata, etag, updated_at, requested_scopes, id, organization_id, application_id, provider, \
               external_account_id, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
               $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)";
    changeable(sql, c)
        .bind(&c.id)
        .bind(&c.tenant.organization_id)
        .bind(&c.tenant.application_id)
        .bind(&c.provider)
        .bind(&c.external_account_id)
        .bind(c.created_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Writes all changeable columns of a live connection. There is no other way to write credentials, so that a connection that
/// another request has disconnected does not get them back.
pub async fn update(tx: &mut Tx, lock: &ConnectionLock, c: &Connection) -> Result<()> {
    lock.covers(&c.id)?;
    let sql = "update connections set connector_version = $1, status = $2, status_reason = $3, \
               status_changed_at = $4, display_name = $5, email = $6, username = $7, addresses = $8, surfaces = $9, \
               granted_scopes = $10, provider_scopes = $11, time_zone = $12, settings = $13, credentials = $14, \
               credentials_version = $15, token_expires_at = $16, last_refresh_at = $17, last_refresh_error = $18, \
               failing_since = $19, tags = $20, metadata = $21, etag = $22, updated_at = $23, \
               requested_scopes = $24 where id = $25 and deleted_at is null";
    changeable(sql, c).bind(&lock.id).execute(&mut *tx).await?;
    Ok(())
}

/// The statement with the columns that an update can change, as its first 24 parameters.
fn changeable<'q>(sql: &'static str, c: &'q Connection) -> Query<'q> {
    query(sql)
        .bind(&c.connector_version)
        .bind(&c.status)
        .bind(&c.status_reason)
        .bind(c.status_changed_at)
        .bind(&c.display_name)
        .bind(&c.email)
        .bind(&c.username)
        .bind(json_text(&c.addresses))
        .bind(json_text(&c.surfaces))
        .bind(json_text(&c.granted_scopes))
        .bind(json_text(&c.provider_scopes))
        .bind(&c.time_zone)
        .bind(json_text(&c.settings))
        .bind(&c.credentials)
        .bind(c.credentials_version)
        .bind(c.token_expires_at)
        .bind(c.last_refresh_at)
        .bind(&c.last_refresh_error)
        .bind(c.failing_since)
        .bind(json_text(&c.tags))
        .bind(json_text(&c.metadata))
        .bind(&c.etag)
        .bind(c.updated_at)
        .bind(json_text(&c.requested_scopes))
}

/// Makes a tombstone: secrets and settings go, the id stays taken.
pub async fn delete(tx: &mut Tx, lock: &ConnectionLock, now: i64) -> Result<()> {
    let sql = "update connections set status = 'revoked', deleted_at = $1, updated_at = $1, credentials = '', \
               settings = '{}', addresses = '[]', username = null, email = null, display_name = null, \
               metadata = '{}', tags = '{}', grant_client = null, grant_key = null \
               where organization_id = $2 and application_id = $3 and id = $4 and deleted_at is null";
    query(sql)
        .bind(now)
        .bind(&lock.tenant.organization_id)
        .bind(&lock.tenant.application_id)
        .bind(&lock.id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}
