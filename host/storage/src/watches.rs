//! Subscriptions to providers' notifications. Table: `migrations/0061_watches.sql`.

use anyhow::{Context, Result};
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::dialect::{one_of, unlocked_among};
use crate::json_text;
use crate::locked::ConnectionLock;
use crate::sql::{On, Query, Reader, Row, query};
use crate::transaction;
use crate::wakes::JobClass;

/// The status of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The request to the provider is in progress, or its result is unknown.
    Starting,
    Active,
    /// It is active, but expires soon.
    Expiring,
    Expired,
    /// The provider still has to end the watch. Until then its notifications count.
    Stopping,
}

impl Status {
    const ALL: [Status; 5] =
        [Status::Starting, Status::Active, Status::Expiring, Status::Expired, Status::Stopping];

    /// Its name in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Starting => "starting",
            Status::Active => "active",
            Status::Expiring => "expiring",
            Status::Expired => "expired",
            Status::Stopping => "stopping",
        }
    }

    fn named(word: &str) -> Result<Status> {
        let found = Status::ALL.into_iter().find(|status| status.as_str() == word);
        found.with_context(|| format!("a watch has the unknown status {word:?}"))
    }
}

/// A row of the table. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    pub id: String,
    pub tenant: Tenant,
    pub connection_id: String,
    pub provider: String,
    pub surface: String,
    /// The collection's canonical id; empty for the mailbox, or for the account's collections themselves.
    pub scope_id: String,
    /// The provider's id of the watch, as its notifications name it.
    pub external_id: Option<String>,
    /// The provider's resource id, which it requires to stop the watch.
    pub resource: Option<String>,
    /// The account's address in lower case, where notifications name only that.
    pub account: Option<String>,
    pub token_hash: String,
    pub status: Status,
    /// When the provider ends it.
    pub expires_at: Option<i64>,
    /// When it was last started or renewed.
    pub renewed_at: Option<i64>,
    /// When the host next has to renew or stop it.
    pub due_at: Option<i64>,
    pub last_notified_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Watch {
    /// Whether the provider sends notifications of changes now.
    pub fn is_active(&self, now: i64) -> bool {
        let is_on = matches!(self.status, Status::Active | Status::Expiring);
        is_on && self.expires_at.is_some_and(|at| at > now)
    }
}

fn watch(row: &Row<'_>) -> Result<Watch> {
    Ok(Watch {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        connection_id: row.get("connection_id")?,
        provider: row.get("provider")?,
        surface: row.get("surface")?,
        scope_id: row.get("scope_id")?,
        external_id: row.get("external_id")?,
        resource: row.get("resource")?,
        account: row.get("account")?,
        token_hash: row.get("token_hash")?,
        status: Status::named(&row.get::<String>("status")?)?,
        expires_at: row.get("expires_at")?,
        renewed_at: row.get("renewed_at")?,
        due_at: row.get("due_at")?,
        last_notified_at: row.get("last_notified_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// The watches of a scope, the oldest first.
pub async fn of_scope(
    on: impl Into<On<'_>>,
    connection_id: &str,
    (surface, scope_id): (&str, &str),
) -> Result<Vec<Watch>> {
    let sql = "select * from watches where connection_id = $1 and surface = $2 and scope_id = $3 order by id";
    query(sql).bind(connection_id).bind(surface).bind(scope_id).fetch_all(on, watch).await
}

/// The watches of a connection, the oldest first.
pub async fn of_connection(on: impl Into<On<'_>>, connection_id: &str) -> Result<Vec<Watch>> {
    let sql = "select * from watches where connection_id = $1 order by id";
    query(sql).bind(connection_id).fetch_all(on, watch).await
}

/// The watches of these collections, by their ids, the oldest first.
pub async fn of_collections(on: impl Into<On<'_>>, surface: &str, ids: &[String]) -> Result<Vec<Watch>> {
    let on = on.into();
    // `cross join`: SQLite then looks up the collections first, because the index of the watches begins with their connections.
    let sql = one_of!(
        on,
        "select w.* from items p cross join watches w where w.connection_id = p.connection_id and w.surface = $1 \
         and w.scope_id = p.id and p.id",
        "$2",
        " order by w.id"
    );
    query(sql).bind(surface).bind(json_text(ids)).fetch_all(on, watch).await
}

/// The most watches that the notifications of one request are matched with.
const MAX_FOUND: i64 = 2_000;

/// The watches with these ids in a provider's notifications.
pub async fn by_external_ids(reader: &Reader, provider: &str, ids: &[String]) -> Result<Vec<Watch>> {
    let sql = one_of!(
        reader,
        "select * from watches where provider = $1 and external_id",
        "$2",
        " order by id limit $3"
    );
    query(sql).bind(provider).bind(json_text(ids)).bind(MAX_FOUND).fetch_all(reader, watch).await
}

/// The watches of accounts with these addresses, in lower case.
pub async fn by_accounts(reader: &Reader, provider: &str, accounts: &[String]) -> Result<Vec<Watch>> {
    let sql = one_of!(
        reader,
        "select * from watches where provider = $1 and account is not null and account",
        "$2",
        " order by id limit $3"
    );
    query(sql).bind(provider).bind(json_text(accounts)).bind(MAX_FOUND).fetch_all(reader, watch).await
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, w: &Watch) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    let sql = "insert into watches (external_id, resource, account, status, expires_at, renewed_at, due_at, updated_at, id, \
               organization_id, application_id, connection_id, provider, surface, scope_id, token_hash, created_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    changeable(sql, w)
        .bind(&w.tenant.organization_id)
        .bind(&w.tenant.application_id)
        .bind(&w.connection_id)
        .bind(&w.provider)
        .bind(&w.surface)
        .bind(&w.scope_id)
        .bind(&w.token_hash)
        .bind(w.created_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Writes the columns that the runs of the job change, but not the time of the last notification. Returns false when the row is
/// gone.
pub async fn update(tx: &mut Tx, w: &Watch) -> Result<bool> {
    tx.takes(LockRank::Watch)?;
    let sql = "update watches set external_id = $1, resource = $2, account = $3, status = $4, expires_at = $5, renewed_at = $6, \
               due_at = $7, updated_at = $8 where id = $9";
    Ok(changeable(sql, w).execute(tx).await? == 1)
}

/// The statement with the changeable columns, and the id, as its first 9 parameters.
fn changeable<'q>(sql: &'static str, w: &'q Watch) -> Query<'q> {
    query(sql)
        .bind(&w.external_id)
        .bind(&w.resource)
        .bind(&w.account)
        .bind(w.status.as_str())
        .bind(w.expires_at)
        .bind(w.renewed_at)
        .bind(w.due_at)
        .bind(w.updated_at)
        .bind(&w.id)
}

/// Deletes rows.
pub async fn delete(tx: &mut Tx, ids: &[String]) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    let sql = one_of!(tx, "delete from watches where id", "$1");
    query(sql).bind(json_text(ids)).execute(tx).await?;
    Ok(())
}

/// Deletes the watches of a connection, with the transaction that disconnects it.
pub async fn remove_of_connection(tx: &mut Tx, lock: &ConnectionLock) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    query("delete from watches where connection_id = $1").bind(&lock.id).execute(tx).await?;
    Ok(())
}

/// Records that notifications arrived, for watches whose last record is at `before` or earlier. Rows that another transaction
/// changes at this moment are left out.
pub async fn note_notified(tx: &mut Tx, ids: &[String], now: i64, before: i64) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    let sql = unlocked_among!(
        tx,
        "watches",
        "update watches set last_notified_at = $1 where id",
        "$2",
        "(last_notified_at is null or last_notified_at <= $3)",
        ""
    );
    query(sql).bind(now).bind(json_text(ids)).bind(before).execute(tx).await?;
    Ok(())
}

/// Makes the renewal of active watches due at once.
pub async fn hurry(tx: &mut Tx, ids: &[String], now: i64) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    let sql = one_of!(
        tx,
        "update watches set due_at = $1, updated_at = $1 where status in ('active', 'expiring') and id",
        "$2"
    );
    query(sql).bind(now).bind(json_text(ids)).execute(tx).await?;
    Ok(())
}

/// Marks active watches as expired: the provider ended them before their time.
pub async fn expire(tx: &mut Tx, ids: &[String], now: i64) -> Result<()> {
    tx.takes(LockRank::Watch)?;
    let sql = one_of!(
        tx,
        "update watches set expires_at = $1, updated_at = $1 where status in ('active', 'expiring') and id",
        "$2"
    );
    query(sql).bind(now).bind(json_text(ids)).execute(tx).await?;
    Ok(())
}

/// When a job is due, as far as a notification has to know that.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// The job's id.
    pub id: String,
    pub is_running: bool,
    /// When it is due next: a running one, after its run. Milliseconds since 1970; none: it is parked.
    pub next_at: Option<i64>,
    /// Whether its last run failed, and it is retried automatically.
    pub is_failing: bool,
    /// When its run began: the present one, else the last successful one. Milliseconds since 1970.
    pub began_at: Option<i64>,
}

/// The jobs with these ids that are there.
pub async fn planned(reader: &Reader, job_ids: &[String]) -> Result<Vec<PlannedRun>> {
    let sql = one_of!(
        reader,
        "select id, state, due_at, again_at, attempts, started_at, done_at from jobs where id",
        "$1"
    );
    let planned = |row: &Row<'_>| {
        let is_running = row.get::<String>("state")? == "running";
        let next_at = if is_running { row.get("again_at")? } else { row.get("due_at")? };
        let is_failing = !is_running && row.get::<i64>("attempts")? > 0;
        let began_at = if is_running { row.get("started_at")? } else { row.get("done_at")? };
        Ok(PlannedRun { id: row.get("id")?, is_running, next_at, is_failing, began_at })
    };
    query(sql).bind(json_text(job_ids)).fetch_all(reader, planned).await
}

/// Makes jobs due at this time at the latest; a running one is due again then, after its run. One that failed keeps the time of
/// its next attempt, which reads all changes, unless `even_failing`. Missing jobs are not created.
pub async fn wake(
    tx: &mut Tx,
    job_ids: &[String],
    (due_at, even_failing): (i64, bool),
    now: i64,
) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = one_of!(
        tx,
        "update jobs set due_at = case when state = 'running' then due_at else $1 end, \
         again_at = case when state = 'running' then $1 else again_at end, updated_at = $2 \
         where ((state = 'queued' and (attempts = 0 or $3 = 1) and (due_at is null or due_at > $1)) \
         or (state = 'running' and (again_at is null or again_at > $1))) and id",
        "$4"
    );
    let statement = query(sql).bind(due_at).bind(now).bind(i64::from(even_failing)).bind(json_text(job_ids));
    if statement.execute(tx).await? > 0 {
        transaction::enqueued(JobClass::Pull);
    }
    Ok(())
}
