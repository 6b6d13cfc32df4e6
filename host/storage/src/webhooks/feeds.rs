//! The position up to which an application's log was matched with its subscriptions, for changes of subscriptions. Table:
//! `migrations/0060_webhooks.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::sql::query;

/// Records that subscriptions of the application change: first in the transaction of the change, so that one change waits for
/// another. The application gets its feed with its first subscription. Returns the position up to which the log was matched with
/// the subscriptions.
pub async fn note_change(tx: &mut Tx, tenant: &Tenant) -> Result<i64> {
    tx.takes(LockRank::Feed)?;
    let sql = "insert into webhook_feeds (application_id, organization_id, cursor, version) \
               select id, organization_id, last_sequence, 1 from applications where id = $1 and organization_id = $2 \
               on conflict (application_id) do update set version = webhook_feeds.version + 1 returning cursor";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_one(tx, |row| row.get("cursor"))
        .await
}
