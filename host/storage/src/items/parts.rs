//! Parts of items that have their own ids. Table: `migrations/0011_contacts_and_tasks.sql`.

use std::collections::HashMap;

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::items::row::Item;
use crate::json_text;
use crate::sql::{On, Row, query};
use crate::statement_rows::{self, RowValues};

/// A step or a link of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    pub id: String,
    pub kind: String,
    /// The provider's id of it, unique in the item.
    pub external_id: String,
    /// When it was seen first.
    pub created_at: i64,
}

fn part(row: &Row<'_>) -> Result<StoredPart> {
    Ok(StoredPart {
        id: row.get("id")?,
        kind: row.get("kind")?,
        external_id: row.get("external_id")?,
        created_at: row.get("created_at")?,
    })
}

/// All parts that an item ever had; removed ones keep their ids.
pub async fn parts_of(on: impl Into<On<'_>>, item_id: &str) -> Result<Vec<StoredPart>> {
    let sql = "select id, kind, external_id, created_at from item_parts where item_id = $1 order by id";
    query(sql).bind(item_id).fetch_all(on, part).await
}

/// The same for many items, by their ids.
pub async fn parts_of_items(on: impl Into<On<'_>>, ids: &[&str]) -> Result<HashMap<String, Vec<StoredPart>>> {
    let mut parts: HashMap<String, Vec<StoredPart>> = HashMap::new();
    if ids.is_empty() {
        return Ok(parts);
    }
    let on: On<'_> = on.into();
    let sql = one_of!(
        on,
        "select item_id, id, kind, external_id, created_at from item_parts where item_id",
        "$1",
        " order by id"
    );
    let of_item = |row: &Row<'_>| Ok((row.get::<String>("item_id")?, part(row)?));
    for (item_id, part) in query(sql).bind(json_text(ids)).fetch_all(on, of_item).await? {
        parts.entry(item_id).or_default().push(part);
    }
    Ok(parts)
}

/// An item and parts of it.
#[derive(Clone, Copy, Debug)]
pub struct ItemParts<'p> {
    pub item: &'p Item,
    pub parts: &'p [StoredPart],
}

/// Adds parts that were not there before.
pub async fn put_parts(tx: &mut Tx, all: &[ItemParts<'_>]) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "item_parts",
        [
            id "$1" "text", connection_id "$2" "text", item_id "$3" "text", kind "$4" "text",
            external_id "$5" "text", created_at "$6" "bigint"
        ],
        ""
    );
    let rows = all.iter().flat_map(|one| {
        one.parts.iter().map(move |part| {
            RowValues::new()
                .bind(&part.id)
                .bind(&one.item.connection_id)
                .bind(&one.item.id)
                .bind(&part.kind)
                .bind(&part.external_id)
                .bind(part.created_at)
        })
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}
