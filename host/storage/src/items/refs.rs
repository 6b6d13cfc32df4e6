//! References between the items of a collection, under the provider's names. Table: `migrations/0011_contacts_and_tasks.sql`.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::items::row::Item;
use crate::json_text;
use crate::sql::{Row, query};
use crate::statement_rows::{self, RowValues};

/// Whether any item of a collection names another: most collections have neither groups nor subtasks.
pub async fn has_refs(tx: &mut Tx, parent_id: &str) -> Result<bool> {
    let sql = "select from_id from item_refs where parent_id = $1 limit 1";
    let found: Option<String> =
        query(sql).bind(parent_id).fetch_optional(&mut *tx, |row| row.get("from_id")).await?;
    Ok(found.is_some())
}

/// The names that items refer to, by the items' ids, each in its order. Items without references are left out.
pub async fn targets_of(tx: &mut Tx, ids: &[&str]) -> Result<HashMap<String, Vec<String>>> {
    let mut targets: HashMap<String, Vec<String>> = HashMap::new();
    if ids.is_empty() {
        return Ok(targets);
    }
    let sql = one_of!(
        tx,
        "select from_id, to_uid from item_refs where from_id",
        "$1",
        " order by from_id, position, to_uid"
    );
    let target = |row: &Row<'_>| Ok((row.get::<String>("from_id")?, row.get::<String>("to_uid")?));
    for (from_id, to_uid) in query(sql).bind(json_text(ids)).fetch_all(&mut *tx, target).await? {
        targets.entry(from_id).or_default().push(to_uid);
    }
    Ok(targets)
}

/// An item and the kind of its linked items.
#[derive(Clone, Copy, Debug)]
pub struct LinkQuery<'q> {
    pub item: &'q Item,
    pub kind: &'q str,
}

/// Ids of live items of a kind that an item is linked with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemLinks {
    /// Items that it names, in its order.
    pub named: Vec<String>,
    /// Items that name it, in the order of their ids.
    pub naming: Vec<String>,
}

/// Links of items, by the items' ids; items without links are left out. One statement reads the items that they name, and one for
/// each collection the items that name them.
pub async fn linked_of(tx: &mut Tx, all: &[LinkQuery<'_>]) -> Result<HashMap<String, ItemLinks>> {
    let mut links: HashMap<String, ItemLinks> = HashMap::new();
    if all.is_empty() {
        return Ok(links);
    }
    let kinds: HashMap<&str, &str> = all.iter().map(|one| (one.item.id.as_str(), one.kind)).collect();
    let ids: Vec<&str> = all.iter().map(|one| one.item.id.as_str()).collect();
    let named = one_of!(
        tx,
        "select r.from_id, i.id, i.kind from item_refs r join items i on i.parent_id = r.parent_id and i.uid = r.to_uid \
         and i.deleted_at is null where r.from_id",
        "$1",
        " order by r.from_id, r.position, i.id"
    );
    let link = |row: &Row<'_>| Ok([row.get::<String>("from_id")?, row.get("id")?, row.get("kind")?]);
    for [from_id, id, kind] in query(named).bind(json_text(&ids)).fetch_all(&mut *tx, link).await? {
        if kinds.get(from_id.as_str()).is_some_and(|wanted| *wanted == kind) {
            links.entry(from_id).or_default().named.push(id);
        }
    }
    let mut collections: BTreeMap<&str, BTreeMap<&str, Vec<LinkQuery<'_>>>> = BTreeMap::new();
    for one in all {
        let Some(uid) = &one.item.uid else { continue };
        collections
            .entry(one.item.parent_id.as_str())
            .or_default()
            .entry(uid.as_str())
            .or_default()
            .push(*one);
    }
    for (parent_id, by_uid) in collections {
        let uids: Vec<&str> = by_uid.keys().copied().collect();
        let naming = one_of!(
            tx,
            "select r.to_uid, i.id, i.kind from item_refs r join items i on i.id = r.from_id and i.deleted_at is null \
             where r.parent_id = $1 and r.to_uid",
            "$2",
            " order by i.id"
        );
        let link = |row: &Row<'_>| Ok([row.get::<String>("to_uid")?, row.get("id")?, row.get("kind")?]);
        let found = query(naming).bind(parent_id).bind(json_text(&uids)).fetch_all(&mut *tx, link).await?;
        for [to_uid, id, kind] in found {
            for one in by_uid.get(to_uid.as_str()).into_iter().flatten().filter(|one| one.kind == kind) {
                links.entry(one.item.id.clone()).or_default().naming.push(id.clone());
            }
        }
    }
    Ok(links)
}

/// The ids of the items in a collection that name one of these, each once.
pub async fn namers_of(tx: &mut Tx, parent_id: &str, uids: &[&str]) -> Result<Vec<String>> {
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = one_of!(
        tx,
        "select distinct from_id from item_refs where parent_id = $1 and to_uid",
        "$2",
        " order by from_id"
    );
    query(sql).bind(parent_id).bind(json_text(uids)).fetch_all(&mut *tx, |row| row.get("from_id")).await
}

/// An item and all its references.
#[derive(Clone, Copy, Debug)]
pub struct ItemRefs<'r> {
    pub item: &'r Item,
    pub uids: &'r [String],
}

/// Replaces the references of items.
pub async fn set_refs(tx: &mut Tx, all: &[ItemRefs<'_>]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = all.iter().map(|one| one.item.id.as_str()).collect();
    let sql = one_of!(tx, "delete from item_refs where from_id", "$1");
    query(sql).bind(json_text(&ids)).execute(&mut *tx).await?;
    let sql = insert_rows!(
        tx,
        "item_refs",
        [
            connection_id "$1" "text", parent_id "$2" "text", from_id "$3" "text", to_uid "$4" "text",
            position "$5" "bigint"
        ],
        " on conflict (from_id, to_uid) do nothing"
    );
    let rows = all.iter().flat_map(|one| {
        (0_i64..).zip(one.uids).map(move |(position, uid)| {
            RowValues::new()
                .bind(&one.item.connection_id)
                .bind(&one.item.parent_id)
                .bind(&one.item.id)
                .bind(uid)
                .bind(position)
        })
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}
