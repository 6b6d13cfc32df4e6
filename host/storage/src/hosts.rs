//! The processes that work on this database, and their leases. Table: `migrations/0050_jobs.sql`.

use anyhow::Result;

use crate::Tx;
use crate::sql::{On, Reader, Row, query};

/// How long a lease is valid after it was taken or renewed, ms.
pub const LEASE_MS: i64 = 8_000;

/// The row of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// New at each start.
    pub id: String,
    /// For the operator: the machine and the process.
    pub name: String,
    pub version: String,
    /// Milliseconds since 1970.
    pub started_at: i64,
    /// Milliseconds since 1970; from then on others take over the host's jobs.
    pub lease_until: i64,
}

/// Inserts a host. Returns false when its id is taken already.
pub async fn insert(tx: &mut Tx, host: &Host) -> Result<bool> {
    let sql = "insert into hosts (id, name, version, started_at, lease_until) values ($1, $2, $3, $4, $5) \
               on conflict (id) do nothing";
    let written = query(sql)
        .bind(&host.id)
        .bind(&host.name)
        .bind(&host.version)
        .bind(host.started_at)
        .bind(host.lease_until)
        .execute(tx)
        .await?;
    Ok(written == 1)
}

/// Extends a lease to `until`. Returns false when the lease was over at `now`: another host may have taken over the jobs by now,
/// so a late renewal must not bring the lease back.
pub async fn renew(tx: &mut Tx, id: &str, now: i64, until: i64) -> Result<bool> {
    let sql = "update hosts set lease_until = $3 where id = $1 and lease_until > $2";
    Ok(query(sql).bind(id).bind(now).bind(until).execute(tx).await? == 1)
}

/// All hosts, in the order in which they were started.
pub async fn list(reader: &Reader) -> Result<Vec<Host>> {
    query("select id, name, version, started_at, lease_until from hosts order by started_at, id")
        .fetch_all(reader, host)
        .await
}

fn host(row: &Row<'_>) -> Result<Host> {
    Ok(Host {
        id: row.get("id")?,
        name: row.get("name")?,
        version: row.get("version")?,
        started_at: row.get("started_at")?,
        lease_until: row.get("lease_until")?,
    })
}

/// The ids of hosts whose lease was over before `now`.
pub async fn expired(on: impl Into<On<'_>>, now: i64) -> Result<Vec<String>> {
    query("select id from hosts where lease_until < $1 order by id")
        .bind(now)
        .fetch_all(on, |row| row.get("id"))
        .await
}

/// Removes a host whose lease was over before `now`. Returns false when it has renewed the lease since, or another host removed it.
pub async fn remove_expired(tx: &mut Tx, id: &str, now: i64) -> Result<bool> {
    let sql = "delete from hosts where id = $1 and lease_until < $2";
    Ok(query(sql).bind(id).bind(now).execute(tx).await? == 1)
}

/// Removes a host that has stopped, or that cannot be running any more.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<()> {
    query("delete from hosts where id = $1").bind(id).execute(tx).await?;
    Ok(())
}

/// The time of the database's clock, in milliseconds since 1970. None on SQLite, which has no clock but the host's.
pub async fn database_now(reader: &Reader) -> Result<Option<i64>> {
    let Some(sql) = reader.dialect().now_ms() else { return Ok(None) };
    query(sql).fetch_one(reader, |row| row.get("now")).await.map(Some)
}
