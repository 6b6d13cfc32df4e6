//! Outgoing messages. Tables: `migrations/0013_outbox.sql` and `0051_sending.sql`. A due message has a job; each step of its run names the
//! fence. A step that changes no row shows that the message no longer belongs to the run.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::jobs::Fence;
use crate::json_text;
use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{On, Reader, Row, query};
use crate::transaction::LockRank;

/// Characters of one stored piece of a message.
const PIECE: usize = 256 << 10;
/// Time for which a host of the previous version leaves a message to the run that works on it, ms: it knows no jobs and reads
/// `claimed_until`.
const LEFT_ALONE_MS: i64 = 180_000;

/// An outgoing message.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxMessage {
    pub id: String,
    pub tenant: Tenant,
    pub connection_id: String,
    pub draft_id: Option<String>,
    pub state: String,
    /// Without angle brackets.
    pub internet_message_id: String,
    /// JSON.
    pub options: String,
    /// JSON.
    pub recipients: String,
    pub send_at: Option<i64>,
    pub next_attempt_at: Option<i64>,
    pub attempts: i64,
    /// When the message was handed over to the provider, in the attempt whose result is unknown.
    pub handed_over_at: Option<i64>,
    /// When the provider last accepted the message for at least one recipient.
    pub accepted_at: Option<i64>,
    /// The fence of the run that works on it.
    pub claimed_by: Option<String>,
    pub claimed_until: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl OutboxMessage {
    /// Whether the provider accepted the message in the attempt whose result is unknown.
    pub fn is_accepted(&self) -> bool {
        self.handed_over_at.is_some_and(|handed_over| self.accepted_at >= Some(handed_over))
    }
}

fn outgoing(row: &Row<'_>) -> Result<OutboxMessage> {
    Ok(OutboxMessage {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        connection_id: row.get("connection_id")?,
        draft_id: row.get("draft_id")?,
        state: row.get("state")?,
        internet_message_id: row.get("internet_message_id")?,
        options: row.get("options")?,
        recipients: row.get("recipients")?,
        send_at: row.get("send_at")?,
        next_attempt_at: row.get("next_attempt_at")?,
        attempts: row.get("attempts")?,
        handed_over_at: row.get("handed_over_at")?,
        accepted_at: row.get("accepted_at")?,
        claimed_by: row.get("claimed_by")?,
        claimed_until: row.get("claimed_until")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// Inserts a row with the message itself, and the sender's own copy if that differs.
pub async fn insert(tx: &mut Tx, o: &OutboxMessage, message: &str, copy: Option<&str>) -> Result<()> {
    let sql = "insert into outbox (id, organization_id, application_id, connection_id, draft_id, state, \
               internet_message_id, options, recipients, send_at, next_attempt_at, attempts, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    query(sql)
        .bind(&o.id)
        .bind(&o.tenant.organization_id)
        .bind(&o.tenant.application_id)
        .bind(&o.connection_id)
        .bind(&o.draft_id)
        .bind(&o.state)
        .bind(&o.internet_message_id)
        .bind(&o.options)
        .bind(&o.recipients)
        .bind(o.send_at)
        .bind(o.next_attempt_at)
        .bind(o.attempts)
        .bind(o.created_at)
        .bind(o.updated_at)
        .execute(&mut *tx)
        .await?;
    insert_message(tx, &o.id, message).await?;
    match copy {
        Some(copy) => insert_message(tx, &copy_of(&o.id), copy).await,
        None => Ok(()),
    }
}

/// The key of the sender's own copy.
pub fn copy_of(id: &str) -> String {
    format!("{id}/copy")
}

async fn insert_message(tx: &mut Tx, id: &str, message: &str) -> Result<()> {
    let mut rest = message;
    let mut position = 0_i64;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        query("insert into outbox_contents (id, position, piece) values ($1, $2, $3)")
            .bind(id)
            .bind(position)
            .bind(piece)
            .execute(&mut *tx)
            .await?;
        (rest, position) = (after, position + 1);
    }
    Ok(())
}

/// The row with this id, if it is of the tenant.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<OutboxMessage>> {
    query("select * from outbox where id = $1 and organization_id = $2 and application_id = $3")
        .bind(id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_optional(on, outgoing)
        .await
}

/// The row of a locked connection, to be changed. PostgreSQL locks the row too, because a run that begins an attempt does not lock the
/// connection.
pub async fn lock_outgoing<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    id: &str,
) -> Result<Option<LockedRow<'l, OutboxMessage>>> {
    let sql = match tx {
        Tx::Sqlite(_) => "select * from outbox where id = $1 and connection_id = $2",
        Tx::Postgres(_) => "select * from outbox where id = $1 and connection_id = $2 for no key update",
    };
    let found = query(sql).bind(id).bind(&lock.id).fetch_optional(&mut *tx, outgoing).await?;
    Ok(found.map(|row| LockedRow::new(lock, row)))
}

/// The row of a sent message, by its Message-ID.
pub async fn by_message_id(
    on: impl Into<On<'_>>,
    connection_id: &str,
    internet_message_id: &str,
) -> Result<Option<OutboxMessage>> {
    query("select * from outbox where connection_id = $1 and internet_message_id = $2 order by id limit 1")
        .bind(connection_id)
        .bind(internet_message_id)
        .fetch_optional(on, outgoing)
        .await
}

/// The ids of sent messages, by their Message-IDs; of duplicates the first, as in `by_message_id`.
pub async fn by_message_ids(
    on: impl Into<On<'_>>,
    connection_id: &str,
    internet_message_ids: &[&str],
) -> Result<HashMap<String, String>> {
    let on = on.into();
    let sql = one_of!(
        on,
        "select id, internet_message_id from outbox where connection_id = $1 and internet_message_id",
        "$2",
        " order by id desc"
    );
    let statement = query(sql).bind(connection_id).bind(json_text(internet_message_ids));
    let found = statement
        .fetch_all(on, |row| Ok((row.get::<String>("internet_message_id")?, row.get::<String>("id")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// The pieces of a message, in order.
pub async fn pieces(reader: &Reader, id: &str) -> Result<Vec<String>> {
    query("select piece from outbox_contents where id = $1 order by position")
        .bind(id)
        .fetch_all(reader, |row| row.get("piece"))
        .await
}

/// Deletes the content of a message that is sent, or never will be.
pub async fn forget_contents(tx: &mut Tx, id: &str) -> Result<()> {
    query("delete from outbox_contents where id in ($1, $2)")
        .bind(id)
        .bind(copy_of(id))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Begins an attempt of a due message for the run with this fence, even if an earlier run claimed it: that run's host is gone, or has
/// released the job. A message that was handed over before is searched for at the provider, which does not count as an attempt. None:
/// nothing to do, because the message is not due, was cancelled or settled, its account was disconnected, or a host of the previous version
/// works on it. Delivery reports since then do not matter: other recipients still wait for the message.
pub async fn begin(tx: &mut Tx, id: &str, fence: Fence, now: i64) -> Result<Option<OutboxMessage>> {
    let sql = "update outbox set state = 'sending', claimed_by = $1, claimed_until = $2, \
               attempts = attempts + case when handed_over_at is null then 1 else 0 end, updated_at = $3 \
               where id = $4 and next_attempt_at <= $3 \
               and (claimed_until is null or claimed_until <= $3 or claimed_by not like '%/%') \
               and exists (select 1 from connections c where c.id = outbox.connection_id and c.deleted_at is null) returning *";
    // Claims of hosts of the previous version contain a slash; a fence has none.
    query(sql)
        .bind(fence.to_string())
        .bind(now + LEFT_ALONE_MS)
        .bind(now)
        .bind(id)
        .fetch_optional(&mut *tx, outgoing)
        .await
}

/// Creates jobs for at most `most` due messages without one: hosts of the previous version, which run beside this one, create no jobs.
/// Messages due by `since` are left out: their job failed or was cancelled, and is already deleted. Returns the number of jobs.
pub async fn adopt(tx: &mut Tx, (since, now): (i64, i64), most: i64) -> Result<u64> {
    tx.takes(LockRank::Job)?;
    let sql = "insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, created_at, updated_at) \
               select 'send:' || o.id, 'send', 'send', o.organization_id, o.application_id, o.connection_id, 'queued', \
               o.next_attempt_at, cast($2 as bigint), cast($2 as bigint) from outbox o \
               where o.next_attempt_at > $1 and o.next_attempt_at <= $2 \
               and not exists (select 1 from jobs j where j.id = 'send:' || o.id) \
               and exists (select 1 from connections c where c.id = o.connection_id and c.deleted_at is null) \
               order by o.next_attempt_at limit $3 on conflict (id) do nothing";
    query(sql).bind(since).bind(now).bind(most).execute(tx).await
}

/// Records that the provider may have the message from now on. False: the message was cancelled or belongs to another run; then it must not
/// be handed over.
pub async fn handed_over(tx: &mut Tx, id: &str, fence: Fence, now: i64) -> Result<bool> {
    // Not before an earlier acceptance, whatever the clock says: `is_accepted` compares the two times.
    let sql = "update outbox set handed_over_at = case when accepted_at >= $1 then accepted_at + 1 else $1 end, updated_at = $1 \
               where id = $2 and claimed_by = $3 and next_attempt_at is not null";
    Ok(query(sql).bind(now).bind(id).bind(fence.to_string()).execute(&mut *tx).await? == 1)
}

/// Records that the provider accepted the message for at least one recipient. False: the run no longer owns the message.
pub async fn accepted(tx: &mut Tx, id: &str, fence: Fence, now: i64) -> Result<bool> {
    let sql = "update outbox set accepted_at = case when handed_over_at > $1 then handed_over_at else $1 end, updated_at = $1 \
               where id = $2 and claimed_by = $3 and handed_over_at is not null";
    Ok(query(sql).bind(now).bind(id).bind(fence.to_string()).execute(&mut *tx).await? == 1)
}

/// Writes the result of an attempt, and releases the message. False: the run no longer owns the message, and nothing was written.
pub async fn settle(
    tx: &mut Tx,
    before: &LockedRow<'_, OutboxMessage>,
    o: &OutboxMessage,
    fence: Fence,
) -> Result<bool> {
    let sql = "update outbox set state = $1, recipients = $2, next_attempt_at = $3, handed_over_at = $4, \
               claimed_by = null, claimed_until = null, updated_at = $5, options = $8, attempts = $9, accepted_at = $10 \
               where id = $6 and claimed_by = $7";
    let written = query(sql)
        .bind(&o.state)
        .bind(&o.recipients)
        .bind(o.next_attempt_at)
        .bind(o.handed_over_at)
        .bind(o.updated_at)
        .bind(&before.id)
        .bind(fence.to_string())
        .bind(&o.options)
        .bind(o.attempts)
        .bind(o.accepted_at)
        .execute(&mut *tx)
        .await?;
    Ok(written == 1)
}

/// Stores later delivery reports (bounces) of recipients.
pub async fn set_recipients(
    tx: &mut Tx,
    before: &LockedRow<'_, OutboxMessage>,
    (state, recipients): (&str, &str),
    now: i64,
) -> Result<()> {
    query("update outbox set state = $1, recipients = $2, updated_at = $3 where id = $4")
        .bind(state)
        .bind(recipients)
        .bind(now)
        .bind(&before.id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Cancels a message that has reached no recipient, even while a run prepares it: the run notices before it hands the message over. Returns
/// the new row. None, and nothing is changed: it was handed over, some recipients have it, or it is settled.
pub async fn cancel(tx: &mut Tx, lock: &ConnectionLock, id: &str, now: i64) -> Result<Option<OutboxMessage>> {
    let sql = "update outbox set state = 'cancelled', next_attempt_at = null, claimed_by = null, claimed_until = null, updated_at = $1 \
               where id = $2 and connection_id = $3 and next_attempt_at is not null and handed_over_at is null and accepted_at is null \
               returning *";
    query(sql).bind(now).bind(id).bind(&lock.id).fetch_optional(&mut *tx, outgoing).await
}
