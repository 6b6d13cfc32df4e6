//! Removal of the data of deleted connections. The progress is stored with every step, in its transaction: a process that
//! restarts, or another host, continues there. Each has a job (`JOB`), which ends with the last step.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::jobs::{self, NewJob};
use crate::json_text;
use crate::retention::{Budget, delete_some};
use crate::sql::{On, Row, query};
use crate::transaction::LockRank;
use crate::wakes::JobClass;

/// The kind of the jobs; the key is the connection's id.
pub const JOB: &str = "purge";

/// A deleted connection whose data is being removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Purge {
    pub connection_id: String,
    pub tenant: Tenant,
    /// Index of the current phase in `PHASES`.
    phase: i64,
    after_type: String,
    after_sequence: i64,
}

/// Kinds of phases. Each deletes in the order of an index that begins with the connection, so that deleted rows and those of
/// other connections are not visited. Rows that jobs would still process come first, the largest tables last.
enum Phase {
    /// Rows of a table that name the connection.
    Rows(&'static str),
    /// Rows with dependent rows that do not name the connection: the dependent rows are deleted first.
    Family(RowFamily),
    /// Entries of the log: they stay, but their content is removed.
    Log,
}

/// The ids of at most `$2` rows of a connection, and statements that delete at most `$2` rows that depend on the ids in `$1`, and
/// then these rows.
struct RowFamily {
    first: &'static str,
    children: fn(&Tx) -> &'static str,
    rows: fn(&Tx) -> &'static str,
    /// Whether the dependent rows of a row also exist under `<id>/copy`.
    has_copies: bool,
}

const PHASES: [Phase; 22] = [
    Phase::Rows(
        "delete from sync_states where (connection_id, surface, scope_id) in \
         (select connection_id, surface, scope_id from sync_states where connection_id = $1 order by surface, scope_id limit $2)",
    ),
    Phase::Rows(
        "delete from sync_item_errors where (connection_id, surface, scope_id, source_id) in \
         (select connection_id, surface, scope_id, source_id from sync_item_errors where connection_id = $1 \
         order by surface, scope_id, source_id limit $2)",
    ),
    Phase::Rows(
        "delete from sync_rereads where (connection_id, surface, scope_id, source_id) in \
         (select connection_id, surface, scope_id, source_id from sync_rereads where connection_id = $1 \
         order by surface, scope_id, source_id limit $2)",
    ),
    Phase::Rows(
        "delete from sync_names where (connection_id, surface, scope_id, generation, batch) in \
         (select connection_id, surface, scope_id, generation, batch from sync_names where connection_id = $1 \
         order by surface, scope_id, generation, batch limit $2)",
    ),
    Phase::Rows(
        "delete from item_former_sources where (connection_id, source_id) in \
         (select connection_id, source_id from item_former_sources where connection_id = $1 order by source_id limit $2)",
    ),
    Phase::Rows(
        "delete from email_reports where item_id in \
         (select item_id from email_reports where connection_id = $1 order by next_attempt_at limit $2)",
    ),
    Phase::Family(RowFamily {
        first: "select id from outbox where connection_id = $1 order by internet_message_id limit $2",
        children: |tx| {
            one_of!(
                tx,
                "delete from outbox_contents where (id, position) in (select id, position from outbox_contents where id",
                "$1",
                " limit $2)"
            )
        },
        rows: |tx| one_of!(tx, "delete from outbox where id", "$1"),
        has_copies: true,
    }),
    Phase::Family(RowFamily {
        first: "select id from tracking where connection_id = $1 order by created_at limit $2",
        children: |tx| {
            one_of!(
                tx,
                "delete from tracking_events where id in (select id from tracking_events where tracking_id",
                "$1",
                " limit $2)"
            )
        },
        rows: |tx| one_of!(tx, "delete from tracking where id", "$1"),
        has_copies: false,
    }),
    Phase::Rows(
        "delete from item_totals where (connection_id, parent_id, kind) in \
         (select connection_id, parent_id, kind from item_totals where connection_id = $1 order by parent_id, kind limit $2)",
    ),
    Phase::Rows(
        "delete from email_places where (place_id, sort_at, item_id) in \
         (select place_id, sort_at, item_id from email_places where connection_id = $1 order by item_id limit $2)",
    ),
    Phase::Rows(
        "delete from item_keys where (item_id, name, value) in \
         (select item_id, name, value from item_keys where connection_id = $1 order by item_id limit $2)",
    ),
    Phase::Rows(
        "delete from item_refs where (from_id, to_uid) in \
         (select from_id, to_uid from item_refs where connection_id = $1 order by from_id limit $2)",
    ),
    Phase::Rows(
        "delete from item_parts where id in (select id from item_parts where connection_id = $1 order by created_at limit $2)",
    ),
    Phase::Rows(
        "delete from items where id in (select id from items where connection_id = $1 order by kind, id limit $2)",
    ),
    Phase::Rows(
        "delete from email_thread_refs where (connection_id, ref) in \
         (select connection_id, ref from email_thread_refs where connection_id = $1 order by ref limit $2)",
    ),
    Phase::Rows(
        "delete from email_threads where id in \
         (select id from email_threads where connection_id = $1 order by application_id, latest_at, id limit $2)",
    ),
    Phase::Log,
    // The number of a phase is in the table: new phases are added at the end, so that hosts of two versions agree on those
    // before.
    Phase::Rows(
        "delete from jobs where id in (select id from jobs where connection_id = $1 order by kind limit $2)",
    ),
    Phase::Rows(
        "delete from item_departures where item_id in \
         (select item_id from item_departures where connection_id = $1 order by item_id limit $2)",
    ),
    Phase::Rows(
        "delete from watches where id in \
         (select id from watches where connection_id = $1 order by surface, scope_id limit $2)",
    ),
    Phase::Rows(
        "delete from connection_throttles where (connection_id, bucket) in \
         (select connection_id, bucket from connection_throttles where connection_id = $1 order by bucket limit $2)",
    ),
    Phase::Rows(
        "delete from provider_units where (connection_id, day, bucket) in \
         (select connection_id, day, bucket from provider_units where connection_id = $1 order by day limit $2)",
    ),
];

fn purge(row: &Row<'_>) -> Result<Purge> {
    Ok(Purge {
        connection_id: row.get("connection_id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        phase: row.get("phase")?,
        after_type: row.get("after_type")?,
        after_sequence: row.get("after_sequence")?,
    })
}

/// Starts the removal of this connection's data from `now` on; in the transaction that deletes it.
pub async fn begin(tx: &mut Tx, tenant: &Tenant, connection_id: &str, now: i64) -> Result<()> {
    // The columns for claims are for hosts of the version before, which use them to find their work.
    let sql = "insert into purges (connection_id, organization_id, application_id, phase, after_type, after_sequence, \
               claimed_until) values ($1, $2, $3, 0, '', 0, 0)";
    query(sql)
        .bind(connection_id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .execute(&mut *tx)
        .await?;
    let job = NewJob {
        kind: JOB,
        key: connection_id,
        class: JobClass::Upkeep,
        tenant,
        // Jobs that name the connection are deleted with its data.
        connection_id: None,
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::enqueue(tx, &job, now).await
}

/// Creates a job for each connection whose data is being removed and that has none, at most `most`: a host of the version before
/// deleted it. Returns how many jobs it created.
pub async fn adopt(tx: &mut Tx, now: i64, most: i64) -> Result<u64> {
    tx.takes(LockRank::Job)?;
    let sql = "insert into jobs (id, kind, class, organization_id, application_id, state, due_at, created_at, updated_at) \
               select 'purge:' || p.connection_id, 'purge', 'upkeep', p.organization_id, p.application_id, 'queued', \
               cast($1 as bigint), cast($1 as bigint), cast($1 as bigint) from purges p \
               where not exists (select 1 from jobs j where j.id = 'purge:' || p.connection_id) \
               order by p.connection_id limit $2 on conflict (id) do nothing";
    query(sql).bind(now).bind(most).execute(tx).await
}

/// The progress of removing the data of a connection. None: all of it is removed.
pub async fn find(on: impl Into<On<'_>>, connection_id: &str) -> Result<Option<Purge>> {
    query("select * from purges where connection_id = $1").bind(connection_id).fetch_optional(on, purge).await
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeStep {
    pub rows: i64,
    /// Whether all data is gone, with the record of the progress.
    pub is_last: bool,
}

/// One step: removes at most `most` rows.
pub async fn step(tx: &mut Tx, mut purge: Purge, most: i64) -> Result<PurgeStep> {
    let mut budget = Budget::new(most);
    let phase = |number: i64| usize::try_from(number).ok().and_then(|number| PHASES.get(number));
    while let Some(now) = phase(purge.phase) {
        let is_over = match now {
            Phase::Rows(sql) => delete_some(tx, sql, &purge.connection_id, &mut budget).await?,
            Phase::Family(family) => delete_families(tx, family, &purge.connection_id, &mut budget).await?,
            Phase::Log => empty_log(tx, &mut purge, &mut budget).await?,
        };
        if !is_over {
            break;
        }
        purge.phase += 1;
    }
    let is_last = phase(purge.phase).is_none();
    match is_last {
        false => {
            query(
                "update purges set phase = $1, after_type = $2, after_sequence = $3 where connection_id = $4",
            )
            .bind(purge.phase)
            .bind(&purge.after_type)
            .bind(purge.after_sequence)
            .bind(&purge.connection_id)
            .execute(&mut *tx)
            .await?;
        }
        true => {
            query("delete from purges where connection_id = $1")
                .bind(&purge.connection_id)
                .execute(&mut *tx)
                .await?;
        }
    }
    Ok(PurgeStep { rows: budget.spent(), is_last })
}

/// False: there is more.
async fn delete_families(
    tx: &mut Tx,
    family: &RowFamily,
    connection_id: &str,
    budget: &mut Budget,
) -> Result<bool> {
    while !budget.is_spent() {
        let first = query(family.first).bind(connection_id).bind(budget.left);
        let mut ids = first.fetch_all(&mut *tx, |row| row.get::<String>("id")).await?;
        if ids.is_empty() {
            return Ok(true);
        }
        let rows = ids.len();
        if family.has_copies {
            let copies: Vec<String> = ids.iter().map(|id| format!("{id}/copy")).collect();
            ids.extend(copies);
        }
        let children = (family.children)(tx);
        if !delete_some(tx, children, &json_text(&ids), budget).await? {
            return Ok(false);
        }
        ids.truncate(rows);
        budget.take(query((family.rows)(tx)).bind(budget.ids(&ids)).execute(&mut *tx).await?);
    }
    Ok(false)
}

/// Removes the content of the next log entries. False: there are more.
async fn empty_log(tx: &mut Tx, purge: &mut Purge, budget: &mut Budget) -> Result<bool> {
    if budget.is_spent() {
        return Ok(false);
    }
    let sql = "select resource_type, sequence from log where application_id = $1 and connection_id = $2 \
               and (resource_type, sequence) > ($3, $4) order by resource_type, sequence limit $5";
    let lines = query(sql)
        .bind(&purge.tenant.application_id)
        .bind(&purge.connection_id)
        .bind(&purge.after_type)
        .bind(purge.after_sequence)
        .bind(budget.left)
        .fetch_all(&mut *tx, |row| Ok((row.get::<String>("resource_type")?, row.get::<i64>("sequence")?)))
        .await?;
    let Some((last_type, last)) = lines.last() else { return Ok(true) };
    let sql = "update log set resource = null where application_id = $1 and connection_id = $2 \
               and (resource_type, sequence) > ($3, $4) and (resource_type, sequence) <= ($5, $6)";
    query(sql)
        .bind(&purge.tenant.application_id)
        .bind(&purge.connection_id)
        .bind(&purge.after_type)
        .bind(purge.after_sequence)
        .bind(last_type)
        .bind(*last)
        .execute(&mut *tx)
        .await?;
    budget.take(lines.len() as u64);
    (purge.after_type, purge.after_sequence) = (last_type.clone(), *last);
    Ok(!budget.is_spent())
}
