//! The request log: requests of applications that were errors, writes, or a sample of the reads, for their developers; and the bodies of some
//! of them. Tables: `migrations/0098_request_log.sql`. Entries are written in batches, and each application has a bounded number of them.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::sql::{On, Reader, Row, query};
use crate::statement_rows::{self, RowValues};

/// An id behind those of all requests, whatever the order of texts in the database: pages of newest requests begin before it.
pub const NEWEST: &str = "s";

/// The beginning that ids of requests share; the index for searches has the rest.
const ID_PREFIX: &str = "req_";

/// The amount that the request log of an application keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestLogMode {
    Off,
    /// Requests without bodies.
    #[default]
    On,
    /// Requests, and the shapes of their bodies.
    Shapes,
}

impl RequestLogMode {
    /// All modes, from nothing to most.
    pub const ALL: [RequestLogMode; 3] = [RequestLogMode::Off, RequestLogMode::On, RequestLogMode::Shapes];

    /// The mode as it is stored and sent.
    pub fn as_str(self) -> &'static str {
        match self {
            RequestLogMode::Off => "off",
            RequestLogMode::On => "on",
            RequestLogMode::Shapes => "shapes",
        }
    }

    /// The mode of a word.
    pub fn parse(word: &str) -> Option<RequestLogMode> {
        RequestLogMode::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// Reads the two columns of `applications` that say what its request log keeps.
pub(crate) fn mode_and_window(row: &Row<'_>) -> Result<(RequestLogMode, Option<i64>)> {
    let word: String = row.get("request_log")?;
    // A later version may know more modes: without bodies is the safe one.
    Ok((RequestLogMode::parse(&word).unwrap_or_default(), row.get("full_bodies_until")?))
}

/// A class of statuses to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// Below 400.
    Success,
    /// 400 and above.
    Error,
    ClientError,
    /// 500 and above.
    ServerError,
}

impl StatusClass {
    /// All classes.
    pub const ALL: [StatusClass; 4] =
        [StatusClass::Success, StatusClass::Error, StatusClass::ClientError, StatusClass::ServerError];

    /// The class as addresses of pages have it.
    pub fn as_str(self) -> &'static str {
        match self {
            StatusClass::Success => "2xx",
            StatusClass::Error => "error",
            StatusClass::ClientError => "4xx",
            StatusClass::ServerError => "5xx",
        }
    }

    /// The class of a word.
    pub fn parse(word: &str) -> Option<StatusClass> {
        StatusClass::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// The requests to list; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub status: Option<StatusClass>,
    pub key_id: Option<String>,
}

/// A logged request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEntry {
    pub application_id: String,
    /// The `x-request-id`.
    pub id: String,
    /// The key; of an access token the key that it was given to.
    pub key_id: String,
    /// Milliseconds since 1970.
    pub at: i64,
    pub method: String,
    /// The template of the path; empty where there is no such operation.
    pub route: String,
    /// The path without its query.
    pub path: String,
    pub status: i64,
    /// Milliseconds until the answer was ready.
    pub ms: i64,
    pub ip: String,
    pub error_code: Option<String>,
    pub error_param: Option<String>,
    pub bytes_in: i64,
    pub bytes_out: i64,
    /// Bodies were kept, which may be gone by now.
    pub has_bodies: bool,
}

/// The sealed bodies of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedBodies {
    pub application_id: String,
    pub id: String,
    /// Milliseconds since 1970.
    pub at: i64,
    pub sealed: String,
}

fn entry(row: &Row<'_>) -> Result<RequestEntry> {
    Ok(RequestEntry {
        application_id: row.get("application_id")?,
        id: row.get("id")?,
        key_id: row.get("key_id")?,
        at: row.get("at")?,
        method: row.get("method")?,
        route: row.get("route")?,
        path: row.get("path")?,
        status: row.get("status")?,
        ms: row.get("ms")?,
        ip: row.get("ip")?,
        error_code: row.get("error_code")?,
        error_param: row.get("error_param")?,
        bytes_in: row.get("bytes_in")?,
        bytes_out: row.get("bytes_out")?,
        has_bodies: row.get::<i64>("has_bodies")? == 1,
    })
}

/// Writes entries. Those that are there already are left as they are.
pub async fn insert(tx: &mut Tx, entries: &[RequestEntry]) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "request_log",
        [
            application_id "$1" "text", id "$2" "text", key_id "$3" "text", at "$4" "bigint", method "$5" "text",
            route "$6" "text", path "$7" "text", status "$8" "bigint", ms "$9" "bigint", ip "$10" "text",
            error_code "$11" "text", error_param "$12" "text", bytes_in "$13" "bigint", bytes_out "$14" "bigint",
            has_bodies "$15" "bigint"
        ],
        " on conflict (application_id, id) do nothing"
    );
    let rows = entries.iter().map(|e| {
        RowValues::new()
            .bind(&e.application_id)
            .bind(&e.id)
            .bind(&e.key_id)
            .bind(e.at)
            .bind(&e.method)
            .bind(&e.route)
            .bind(&e.path)
            .bind(e.status)
            .bind(e.ms)
            .bind(&e.ip)
            .bind(&e.error_code)
            .bind(&e.error_param)
            .bind(e.bytes_in)
            .bind(e.bytes_out)
            .bind(i64::from(e.has_bodies))
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// Writes sealed bodies. Those that are there already are left as they are.
pub async fn insert_bodies(tx: &mut Tx, bodies: &[SealedBodies]) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "request_bodies",
        [application_id "$1" "text", id "$2" "text", at "$3" "bigint", sealed "$4" "text"],
        " on conflict (application_id, id) do nothing"
    );
    let rows = bodies
        .iter()
        .map(|b| RowValues::new().bind(&b.application_id).bind(&b.id).bind(b.at).bind(&b.sealed));
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The statement that lists requests of an application before an id, newest first, at most so many: `$1` to `$3`. With the conditions, the
/// first of which an index has.
macro_rules! newest {
    ($conditions:literal) => {
        concat!(
            "select * from request_log where application_id = $1 and id < $2",
            $conditions,
            " order by id desc limit $3"
        )
    };
}

/// Requests of an application, newest first, before an id; at most `limit`.
pub async fn list(
    reader: &Reader,
    tenant: &Tenant,
    filter: &RequestFilter,
    before_id: &str,
    limit: i64,
) -> Result<Vec<RequestEntry>> {
    let sql = match (filter.key_id.is_some(), filter.status) {
        (false, None) => newest!(""),
        (false, Some(StatusClass::Success)) => newest!(" and status < 400"),
        (false, Some(StatusClass::Error)) => newest!(" and status >= 400"),
        (false, Some(StatusClass::ClientError)) => newest!(" and status >= 400 and status < 500"),
        (false, Some(StatusClass::ServerError)) => newest!(" and status >= 500"),
        (true, None) => newest!(" and key_id = $4"),
        (true, Some(StatusClass::Success)) => newest!(" and key_id = $4 and status < 400"),
        (true, Some(StatusClass::Error)) => newest!(" and key_id = $4 and status >= 400"),
        (true, Some(StatusClass::ClientError)) => {
            newest!(" and key_id = $4 and status >= 400 and status < 500")
        }
        (true, Some(StatusClass::ServerError)) => {
            newest!(" and key_id = $4 and status >= 400 and status >= 500")
        }
    };
    let asked = query(sql).bind(&tenant.application_id).bind(before_id).bind(limit);
    let asked = match &filter.key_id {
        Some(key_id) => asked.bind(key_id),
        None => asked,
    };
    asked.fetch_all(reader, entry).await
}

/// A request of an application.
pub async fn find(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<RequestEntry>> {
    let sql = "select * from request_log where application_id = $1 and id = $2";
    query(sql).bind(&tenant.application_id).bind(id).fetch_optional(reader, entry).await
}

/// The tenant whose request has this id, of whatever tenant.
pub async fn tenant_of(reader: &Reader, id: &str) -> Result<Option<Tenant>> {
    let Some(rest) = id.strip_prefix(ID_PREFIX) else { return Ok(None) };
    let sql = "select a.id, a.organization_id from request_log r cross join applications a \
               where substr(r.id, 5) = $1 and r.id = $2 and a.id = r.application_id limit 1";
    let tenant = |row: &Row<'_>| {
        Ok(Tenant { organization_id: row.get("organization_id")?, application_id: row.get("id")? })
    };
    query(sql).bind(rest).bind(id).fetch_optional(reader, tenant).await
}

/// The sealed bodies of a request of an application.
pub async fn sealed_bodies(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<String>> {
    let sql = "select sealed from request_bodies where application_id = $1 and id = $2";
    let sealed = |row: &Row<'_>| row.get("sealed");
    query(sql).bind(&tenant.application_id).bind(id).fetch_optional(reader, sealed).await
}

/// The modes of these applications by their ids, each with the end of the time in which full bodies are kept (ms since 1970).
pub async fn modes(
    on: impl Into<On<'_>>,
    application_ids: &[String],
) -> Result<BTreeMap<String, (RequestLogMode, Option<i64>)>> {
    let on = on.into();
    let sql = one_of!(on, "select id, request_log, full_bodies_until from applications where id", "$1");
    let mode = |row: &Row<'_>| Ok((row.get("id")?, mode_and_window(row)?));
    let found: Vec<_> = query(sql).bind(json_text(application_ids)).fetch_all(on, mode).await?;
    Ok(found.into_iter().collect())
}

/// Sets what the request log of an application keeps; false where there is no such application.
pub async fn set_mode(
    tx: &mut Tx,
    tenant: &Tenant,
    mode: RequestLogMode,
    full_bodies_until: Option<i64>,
) -> Result<bool> {
    tx.takes(LockRank::Application)?;
    let sql = "update applications set request_log = $3, full_bodies_until = $4 where id = $1 and organization_id = $2";
    let done = query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(mode.as_str())
        .bind(full_bodies_until);
    Ok(done.execute(tx).await? == 1)
}

/// Removes at most `limit` entries that are older; how many it removed.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from request_log where (application_id, id) in \
               (select application_id, id from request_log where at < $1 order by at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Removes at most `limit` bodies that are older; how many it removed.
pub async fn expire_bodies(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from request_bodies where (application_id, id) in \
               (select application_id, id from request_bodies where at < $1 order by at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Removes at most `limit` entries of an application that has more than `kept`, the oldest first; how many it removed.
pub async fn trim(tx: &mut Tx, application_id: &str, kept: i64, limit: i64) -> Result<i64> {
    let sql = "delete from request_log where application_id = $1 and id in \
               (select id from request_log where application_id = $1 and id <= \
               (select id from request_log where application_id = $1 order by id desc limit 1 offset $2) \
               order by id limit $3)";
    let done = query(sql).bind(application_id).bind(kept).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Removes at most `limit` bodies of an application that has more than `kept`, the oldest first; how many it removed.
pub async fn trim_bodies(tx: &mut Tx, application_id: &str, kept: i64, limit: i64) -> Result<i64> {
    let sql = "delete from request_bodies where application_id = $1 and id in \
               (select id from request_bodies where application_id = $1 and id <= \
               (select id from request_bodies where application_id = $1 order by id desc limit 1 offset $2) \
               order by id limit $3)";
    let done = query(sql).bind(application_id).bind(kept).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
