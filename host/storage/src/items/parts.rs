//! Parts of items that have ids of their own. Table: `migrations/0011_contacts_and_tasks.sql`.

use anyhow::Result;

use crate::Tx;
use crate::items::row::Item;
use crate::sql::{On, query};

/// A step or a link of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub id: String,
    pub kind: String,
    /// The provider's id of it, unique in the item.
    pub external_id: String,
    /// When it was seen first.
    pub created_at: i64,
}

/// All that an item ever had; those that are gone keep their ids.
pub async fn parts_of(on: impl Into<On<'_>>, item_id: &str) -> Result<Vec<Part>> {
    let sql = "select id, kind, external_id, created_at from item_parts where item_id = $1 order by id";
    query(sql)
        .bind(item_id)
        .fetch_all(on, |row| {
            Ok(Part {
                id: row.get("id")?,
                kind: row.get("kind")?,
                external_id: row.get("external_id")?,
                created_at: row.get("created_at")?,
            })
        })
        .await
}

/// Adds parts that were not there before.
pub async fn put_parts(tx: &mut Tx, item: &Item, parts: &[Part]) -> Result<()> {
    let sql = "insert into item_parts (id, connection_id, item_id, kind, external_id, created_at) \
               values ($1, $2, $3, $4, $5, $6)";
    for part in parts {
        query(sql)
            .bind(&part.id)
            .bind(&item.connection_id)
            .bind(&item.id)
            .bind(&part.kind)
            .bind(&part.external_id)
            .bind(part.created_at)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}
