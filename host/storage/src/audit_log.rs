//! The audit log: what operators, admin keys and commands have done. Table: `migrations/0095_audit_log.sql`. An entry is written in the
//! transaction of its act.

use anyhow::Result;
use serde_json::Value;

use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{Reader, Row, query};

/// Most bytes of the details of an entry.
const MAX_DETAILS_BYTES: usize = 2 << 10;

/// The organization of entries that are about the installation itself.
pub const INSTALLATION: &str = "";

/// An id after those of all entries, whatever the collation of the database: pages of newest entries begin before it.
pub const NEWEST: &str = "b";

/// The actor of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActor {
    /// The kind of the actor: `operator`, `key` or `command`.
    pub kind: String,
    pub id: String,
    /// The actor's name at that time.
    pub name: String,
    pub ip: Option<String>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    pub id: String,
    /// Milliseconds since 1970.
    pub at: i64,
    pub actor: AuditActor,
    /// `INSTALLATION` for the installation itself.
    pub organization_id: String,
    pub application_id: Option<String>,
    /// A word such as `key_created`.
    pub act: String,
    /// The id of the object that was changed.
    pub target: String,
    /// An object with names of changed fields and no secret. One that is too long is left out.
    pub details: Value,
}

/// Writes an entry. An existing one is not changed.
pub async fn insert(tx: &mut Tx, e: &AuditEntry) -> Result<()> {
    let mut details = json_text(&e.details);
    if details.len() > MAX_DETAILS_BYTES {
        details = r#"{"isTooLong":true}"#.to_owned();
    }
    let sql = "insert into audit_log (organization_id, id, at, application_id, actor_kind, actor_id, actor_name, ip, act, target, details) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (organization_id, id) do nothing";
    query(sql)
        .bind(&e.organization_id)
        .bind(&e.id)
        .bind(e.at)
        .bind(&e.application_id)
        .bind(&e.actor.kind)
        .bind(&e.actor.id)
        .bind(&e.actor.name)
        .bind(&e.actor.ip)
        .bind(&e.act)
        .bind(&e.target)
        .bind(details)
        .execute(tx)
        .await?;
    Ok(())
}

fn entry(row: &Row<'_>) -> Result<AuditEntry> {
    Ok(AuditEntry {
        id: row.get("id")?,
        at: row.get("at")?,
        actor: AuditActor {
            kind: row.get("actor_kind")?,
            id: row.get("actor_id")?,
            name: row.get("actor_name")?,
            ip: row.get("ip")?,
        },
        organization_id: row.get("organization_id")?,
        application_id: row.get("application_id")?,
        act: row.get("act")?,
        target: row.get("target")?,
        details: json(row, "details")?,
    })
}

/// Entries of an organization, newest first, before an id.
pub async fn list(
    reader: &Reader,
    organization_id: &str,
    before_id: &str,
    limit: i64,
) -> Result<Vec<AuditEntry>> {
    let sql = "select * from audit_log where organization_id = $1 and id < $2 order by id desc limit $3";
    query(sql).bind(organization_id).bind(before_id).bind(limit).fetch_all(reader, entry).await
}

/// Entries of the whole installation, newest first, before one of this time and id.
pub async fn list_all(reader: &Reader, before: i64, before_id: &str, limit: i64) -> Result<Vec<AuditEntry>> {
    let sql = "select * from audit_log where (at, id) < ($1, $2) order by at desc, id desc limit $3";
    query(sql).bind(before).bind(before_id).bind(limit).fetch_all(reader, entry).await
}

/// Entries of one actor, newest first, before an id.
pub async fn list_of_actor(
    reader: &Reader,
    actor_id: &str,
    before_id: &str,
    limit: i64,
) -> Result<Vec<AuditEntry>> {
    let sql = "select * from audit_log where actor_id = $1 and id < $2 order by id desc limit $3";
    query(sql).bind(actor_id).bind(before_id).bind(limit).fetch_all(reader, entry).await
}

/// Removes at most `limit` entries that are older. Returns how many it removed.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from audit_log where (organization_id, id) in \
               (select organization_id, id from audit_log where at < $1 order by at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
