//! Deliveries that are over go by their age, and a subscription that was deleted goes with everything of it. Each function removes at most
//! `most` rows, and returns how many; none when nothing is left.

use anyhow::Result;

use crate::Tx;
use crate::sql::query;

/// Deliveries that arrived before then.
pub async fn delivered(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    over(tx, "delivered", before, most).await
}

/// Deliveries that were given up before then.
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

/// Replays that ended before then.
pub async fn replays(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from webhook_replays where id in (select id from webhook_replays \
               where status <> 'running' and updated_at < $1 order by updated_at limit $2)";
    let done = query(sql).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Deliveries and replays of the subscription that was deleted first, and once they are gone the subscription.
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
