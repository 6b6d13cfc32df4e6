//! Who names whom inside a collection, as the provider names it. Table: `migrations/0011_contacts_and_tasks.sql`.

use anyhow::Result;

use crate::Tx;
use crate::items::row::Item;
use crate::sql::query;

/// Whether anybody names anybody in a collection: most have neither groups nor subtasks.
pub async fn has_refs(tx: &mut Tx, parent_id: &str) -> Result<bool> {
    let sql = "select from_id from item_refs where parent_id = $1 limit 1";
    let found: Option<String> =
        query(sql).bind(parent_id).fetch_optional(&mut *tx, |row| row.get("from_id")).await?;
    Ok(found.is_some())
}

/// Whom an item names, in its order.
pub async fn targets(tx: &mut Tx, from_id: &str) -> Result<Vec<String>> {
    let sql = "select to_uid from item_refs where from_id = $1 order by position, to_uid";
    query(sql).bind(from_id).fetch_all(&mut *tx, |row| row.get("to_uid")).await
}

/// The ids of the live items of a kind that an item names, in its order, and of those that name it.
pub async fn linked(tx: &mut Tx, item: &Item, kind: &str) -> Result<Vec<String>> {
    let named = "select i.id from item_refs r join items i on i.parent_id = r.parent_id and i.uid = r.to_uid \
                 and i.kind = $2 and i.deleted_at is null where r.from_id = $1 order by r.position, i.id";
    let mut found: Vec<String> =
        query(named).bind(&item.id).bind(kind).fetch_all(&mut *tx, |row| row.get("id")).await?;
    let Some(uid) = &item.uid else { return Ok(found) };
    let naming = "select i.id from item_refs r join items i on i.id = r.from_id and i.kind = $3 \
                  and i.deleted_at is null where r.parent_id = $1 and r.to_uid = $2 order by i.id";
    found.extend(
        query(naming)
            .bind(&item.parent_id)
            .bind(uid)
            .bind(kind)
            .fetch_all(&mut *tx, |row| row.get::<String>("id"))
            .await?,
    );
    Ok(found)
}

/// The ids of those that name it.
pub async fn namers(tx: &mut Tx, parent_id: &str, uid: &str) -> Result<Vec<String>> {
    let sql = "select from_id from item_refs where parent_id = $1 and to_uid = $2 order by from_id";
    query(sql).bind(parent_id).bind(uid).fetch_all(&mut *tx, |row| row.get("from_id")).await
}

/// Makes these the names that an item names.
pub async fn set_refs(tx: &mut Tx, item: &Item, uids: &[String]) -> Result<()> {
    query("delete from item_refs where from_id = $1").bind(&item.id).execute(&mut *tx).await?;
    let sql = "insert into item_refs (connection_id, parent_id, from_id, to_uid, position) \
               values ($1, $2, $3, $4, $5) on conflict (from_id, to_uid) do nothing";
    for (position, uid) in (0_i64..).zip(uids) {
        query(sql)
            .bind(&item.connection_id)
            .bind(&item.parent_id)
            .bind(&item.id)
            .bind(uid)
            .bind(position)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}
