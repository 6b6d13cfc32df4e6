//! Keys for exact look-ups of items. Table: `migrations/0011_contacts_and_tasks.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::items::row::Item;
use crate::json_text;
use crate::sql::query;
use crate::statement_rows::{self, RowValues};

/// A name and a value: `email` and a folded address, `phone` and a number, `group` and a group's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub name: &'static str,
    pub value: String,
}

/// An item and all of its keys.
#[derive(Clone, Copy, Debug)]
pub struct ItemKeys<'k> {
    pub item: &'k Item,
    pub keys: &'k [Key],
}

/// Replaces the keys of these items. Lists of the items with a key are read from the keys alone, which have the same order.
pub async fn set_keys(tx: &mut Tx, tenant: &Tenant, all: &[ItemKeys<'_>]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = all.iter().map(|one| one.item.id.as_str()).collect();
    let sql = one_of!(tx, "delete from item_keys where item_id", "$1");
    query(sql).bind(json_text(&ids)).execute(&mut *tx).await?;
    let sql = insert_rows!(
        tx,
        "item_keys",
        [
            application_id "$1" "text", connection_id "$2" "text", item_id "$3" "text", name "$4" "text",
            value "$5" "text", sort_text "$6" "text"
        ],
        " on conflict (item_id, name, value) do nothing"
    );
    let rows = all.iter().flat_map(|one| {
        one.keys.iter().map(move |key| {
            RowValues::new()
                .bind(&tenant.application_id)
                .bind(&one.item.connection_id)
                .bind(&one.item.id)
                .bind(key.name)
                .bind(&key.value)
                .bind(&one.item.sort_text)
        })
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}
