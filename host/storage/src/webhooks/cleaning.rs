//! Removal of old deliveries by their age, and of a deleted subscription with all its data. Each function removes at most `most`
//! rows, and returns how many; none when nothing is left. Tables: `migrations/0060_webhooks.sql`.

use anyhow::Result;

use crate::Tx;
use crate::sql::query;

/// Removes deliveries that arrived before then. A delivery above the cursor of its subscription records that its event was sent:
/// it stays until the cursor has passed it, which a pause can delay for long, and is checked again an hour later. A step visits
/// at most the `most` oldest ones. Returns how many were removed or stay.
pub async fn delivered(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let stays = "update webhook_deliveries set updated_at = $1 + 3600000 where (webhook_id, sequence, replay_id) in \
                 (select webhook_id, sequence, replay_id from (select webhook_id, sequence, replay_id from webhook_deliveries \
                 where status <> 'pending' and status = 'delivered' and updated_at < $1 order by updated_at limit $2) as oldest \
                 where oldest.replay_id = '' and oldest.sequence > \
                 (select w.cursor from webhooks w where w.id = oldest.webhook_id and w.deleted_at is null))";
    let stay =
        i64::try_from(query(stays).bind(before).bind(most).execute(&mut *tx).await?).unwrap_or(i64::MAX);
    // Without the deliveries that stay, the `most - stay` oldest ones are the rest of the visited ones. A cursor never goes back;
    // the condition is for others that become the oldest when another host has removed some at the same moment.
    let goes = "delete from webhook_deliveries where (webhook_id, sequence, replay_id) in \
                (select webhook_id, sequence, replay_id from (select webhook_id, sequence, replay_id from webhook_deliveries \
                where status <> 'pending' and status = 'delivered' and updated_at < $1 order by updated_at limit $2) as oldest \
                where oldest.replay_id <> '' or oldest.sequence <= coalesce( \
                (select w.cursor from webhooks w where w.id = oldest.webhook_id and w.deleted_at is null), oldest.sequence))";
    let gone = query(goes).bind(before).bind(most.saturating_sub(stay)).execute(tx).await?;
    Ok(stay.saturating_add(i64::try_from(gone).unwrap_or(i64::MAX)))
}

/// Removes deliveries that failed for good before then.
pub async fn given_up(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    match over(tx, "failed", before, most).await? {
        0 => over(tx, "discarded", before, most).await,
        rows => Ok(rows),
    }
}

async fn over(tx: &mut Tx, status: &str, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from webhook_deliveries where (webhook_id, sequence, replay_id) in \
               (select webhook_id, sequence, replay_id from webhook_deliveries \
               where status <> 'pending' and status = $1 and updated_at < $2 order by updated_at limit $3)";
    let done = query(sql).bind(status).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Replays that ended before then, and of which nothing waits for a webhook that is paused.
pub async fn replays(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from webhook_replays where id in (select id from webhook_replays \
               where status <> 'running' and written <= sent + failed and updated_at < $1 order by updated_at limit $2)";
    let done = query(sql).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Deletes deliveries and replays of the subscription that was deleted first, and finally the subscription.
pub async fn deleted(tx: &mut Tx, most: i64) -> Result<i64> {
    let sql = "select id from webhooks where deleted_at is not null order by deleted_at limit 1";
    let Some(id) = query(sql).fetch_optional(&mut *tx, |row| row.get::<String>("id")).await? else {
        return Ok(0);
    };
    for sql in [
        "delete from webhook_deliveries where (webhook_id, sequence, replay_id) in \
         (select webhook_id, sequence, replay_id from webhook_deliveries where webhook_id = $1 order by sequence limit $2)",
        "delete from webhook_replays where id in (select id from webhook_replays where webhook_id = $1 order by id limit $2)",
    ] {
        let done = query(sql).bind(&id).bind(most).execute(&mut *tx).await?;
        if done > 0 {
            return Ok(i64::try_from(done).unwrap_or(i64::MAX));
        }
    }
    let done = query("delete from webhooks where id = $1").bind(&id).execute(&mut *tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
