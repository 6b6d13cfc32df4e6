//! Totals of collections, kept up to date with every change. Table: `migrations/0021_totals.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::insert_rows;
use crate::items::row::{Item, ItemWrite};
use crate::locked::ConnectionLock;
use crate::sql::{On, Row, query};
use crate::statement_rows::{self, RowValues};

/// The share of an item in the totals of its collection: listed items, open ones among them, and bytes of bodies.
fn share(item: &Item) -> [i64; 3] {
    if item.deleted_at.is_some() {
        return [0; 3];
    }
    let is_listed = !item.sort_text.is_empty();
    [i64::from(is_listed), i64::from(is_listed && item.is_open), item.body.len() as i64]
}

/// Replaces the stored rows in the totals by the rows to be written; each row must occur once.
pub(super) async fn add(tx: &mut Tx, lock: &ConnectionLock, writes: &[ItemWrite<'_, '_>]) -> Result<()> {
    let mut changes: BTreeMap<[&str; 2], [i64; 3]> = BTreeMap::new();
    for one in writes {
        let before = one.before.map_or([0; 3], |before| share(before));
        let change = changes.entry([one.item.parent_id.as_str(), one.item.kind.as_str()]).or_default();
        for (sum, (after, before)) in change.iter_mut().zip(share(one.item).into_iter().zip(before)) {
            *sum += after - before;
        }
    }
    let sql = insert_rows!(
        tx,
        "item_totals",
        [
            connection_id "$1" "text", parent_id "$2" "text", kind "$3" "text", organization_id "$4" "text",
            application_id "$5" "text", items "$6" "bigint", open "$7" "bigint", bytes "$8" "bigint"
        ],
        " on conflict (connection_id, parent_id, kind) do update set items = item_totals.items + excluded.items, \
         open = item_totals.open + excluded.open, bytes = item_totals.bytes + excluded.bytes"
    );
    let rows = changes.into_iter().filter(|(_, change)| *change != [0; 3]).map(|(of, change)| {
        let ([parent_id, kind], [items, open, bytes]) = (of, change);
        RowValues::new()
            .bind(&lock.id)
            .bind(parent_id)
            .bind(kind)
            .bind(&lock.tenant.organization_id)
            .bind(&lock.tenant.application_id)
            .bind(items)
            .bind(open)
            .bind(bytes)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The number of live items in a collection, and of the open ones among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionCount {
    pub collection_id: String,
    pub items: i64,
    pub open: i64,
}

/// Counts of the tenant's collections from one id to another; collections that were never read completely are left out. `kinds`:
/// the kinds of the collections and of their items.
pub async fn counts(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    kinds: (&str, &str),
    (from_id, to_id): (&str, &str),
) -> Result<Vec<CollectionCount>> {
    let sql = "select p.id, coalesce(t.items, 0) as n, coalesce(t.open, 0) as open from items p \
               left join item_totals t on t.connection_id = p.connection_id and t.parent_id = p.id and t.kind = $4 \
               where p.organization_id = $1 and p.application_id = $2 and p.kind = $3 and p.id >= $5 and p.id <= $6 \
               and p.parent_id = '' and p.deleted_at is null \
               and exists (select 1 from sync_states s where s.connection_id = p.connection_id \
               and s.scope_id = p.id and s.last_success_at is not null) order by p.id";
    let count = |row: &Row<'_>| {
        Ok(CollectionCount { collection_id: row.get("id")?, items: row.get("n")?, open: row.get("open")? })
    };
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(kinds.0)
        .bind(kinds.1)
        .bind(from_id)
        .bind(to_id)
        .fetch_all(on, count)
        .await
}

/// Bytes stored for a tenant's accounts.
pub async fn bytes(on: impl Into<On<'_>>, tenant: &Tenant) -> Result<i64> {
    let sql = "select cast(coalesce(sum(t.bytes), 0) as bigint) as bytes from item_totals t \
               join connections c on c.id = t.connection_id and c.deleted_at is null \
               where t.application_id = $1 and t.organization_id = $2";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_one(on, |row| row.get("bytes"))
        .await
}
