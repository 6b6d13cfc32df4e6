//! What items can be looked up by exactly. Table: `migrations/0011_contacts_and_tasks.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::items::row::Item;
use crate::sql::query;

/// A name and a value: `email` and a folded address, `phone` and a number, `group` and a group's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub name: &'static str,
    pub value: String,
}

/// Makes these the keys of an item. A list of what has a key is read off them, so they stand in its order.
pub async fn set_keys(tx: &mut Tx, tenant: &Tenant, item: &Item, keys: &[Key]) -> Result<()> {
    query("delete from item_keys where item_id = $1").bind(&item.id).execute(&mut *tx).await?;
    let sql = "insert into item_keys (application_id, connection_id, item_id, name, value, sort_text) \
               values ($1, $2, $3, $4, $5, $6) on conflict (item_id, name, value) do nothing";
    for key in keys {
        query(sql)
            .bind(&tenant.application_id)
            .bind(&item.connection_id)
            .bind(&item.id)
            .bind(key.name)
            .bind(&key.value)
            .bind(&item.sort_text)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}
