//! What collections hold, counted as it changes. Table: `migrations/0021_totals.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::items::row::Item;
use crate::sql::{On, Row, query};

/// Counts an item as it is about to be written, instead of what is stored of it now.
pub(super) async fn count(tx: &mut Tx, tenant: &Tenant, item: &Item) -> Result<()> {
    // `octet_length` knows the length of a stored text without reading it.
    let sql = "insert into item_totals (connection_id, parent_id, kind, organization_id, application_id, items, open, bytes) \
               select $1, $2, $3, $4, $5, $6 - cast(coalesce(sum(o.listed), 0) as bigint), \
               $7 - cast(coalesce(sum(o.listed * o.is_open), 0) as bigint), $8 - cast(coalesce(sum(o.bytes), 0) as bigint) \
               from (select case when sort_text <> '' then 1 else 0 end as listed, is_open, octet_length(body) as bytes \
               from items where id = $9 and deleted_at is null) as o where true \
               on conflict (connection_id, parent_id, kind) do update set items = item_totals.items + excluded.items, \
               open = item_totals.open + excluded.open, bytes = item_totals.bytes + excluded.bytes";
    let is_live = item.deleted_at.is_none();
    let is_listed = is_live && !item.sort_text.is_empty();
    query(sql)
        .bind(&item.connection_id)
        .bind(&item.parent_id)
        .bind(&item.kind)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(i64::from(is_listed))
        .bind(i64::from(is_listed && item.is_open))
        .bind(if is_live { item.body.len() as i64 } else { 0 })
        .bind(&item.id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// What a collection holds: how many live items, and how many of them are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub collection_id: String,
    pub items: i64,
    pub open: i64,
}

/// What collections hold, those from one id to another; of what was never read nothing is known. `kinds`: the collections' and
/// their items'.
pub async fn counts(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    kinds: (&str, &str),
    (from_id, to_id): (&str, &str),
) -> Result<Vec<Count>> {
    let sql = "select p.id, coalesce(t.items, 0) as n, coalesce(t.open, 0) as open from items p \
               left join item_totals t on t.connection_id = p.connection_id and t.parent_id = p.id and t.kind = $4 \
               where p.organization_id = $1 and p.application_id = $2 and p.kind = $3 and p.id >= $5 and p.id <= $6 \
               and p.parent_id = '' and p.deleted_at is null \
               and exists (select 1 from sync_states s where s.connection_id = p.connection_id \
               and s.scope_id = p.id and s.last_success_at is not null) order by p.id";
    let count = |row: &Row<'_>| {
        Ok(Count { collection_id: row.get("id")?, items: row.get("n")?, open: row.get("open")? })
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

/// The bytes of what is kept of a tenant's accounts.
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
