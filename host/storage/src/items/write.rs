//! Writes rows of items, many with a few statements.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Result, ensure};

use crate::Tx;
use crate::dialect::{insert_rows, update_rows};
use crate::items::row::{Item, ItemWrite};
use crate::items::totals;
use crate::items::window::span_of;
use crate::locked::{ConnectionLock, LockedRow};
use crate::statement_rows::{self, RowValues};

/// The statement that writes rows with the columns of `changeable`, then with the given ones.
macro_rules! write_rows {
    ($rows:ident, $tx:expr, [$($columns:tt)*], $($last:tt)+) => {
        $rows!($tx, "items", [
            external_id "$1" "text", source_id "$2" "text", series_id "$3" "text", provider_etag "$4" "text",
            etag "$5" "text", hash "$6" "text", body "$7" "text", metadata "$8" "text", provider_data "$9" "text",
            is_series "$10" "bigint", sort_at "$11" "bigint", until_at "$12" "bigint", sequence "$13" "bigint",
            created_at "$14" "bigint", updated_at "$15" "bigint", deleted_at "$16" "bigint", uid "$17" "text",
            sort_text "$18" "text", search_text "$19" "text", is_open "$20" "bigint", flags "$21" "bigint",
            fingerprint "$22" "text", aside "$23" "text", span "$24" "bigint", series_name "$25" "text",
            provider_updated_at "$26" "bigint", $($columns)*
        ], $($last)+)
    };
}

/// The values of the columns that an update can change. A tombstone keeps only its names; one of mail, which may come back under
/// another name, also keeps `body` and `metadata` (see `local_copy/mail`).
fn changeable(item: &Item) -> RowValues<'_> {
    let is_live = item.deleted_at.is_none();
    let is_kept = is_live || matches!(item.kind.as_str(), "email_message" | "email_draft");
    let (body, metadata) = if is_kept { (item.body.as_str(), item.metadata.as_str()) } else { ("{}", "{}") };
    let (sort_text, search_text) =
        if is_live { (item.sort_text.as_str(), item.search_text.as_str()) } else { ("", "") };
    RowValues::new()
        .bind(&item.external_id)
        .bind(&item.source_id)
        .bind(&item.series_id)
        .bind(&item.provider_etag)
        .bind(&item.etag)
        .bind(&item.hash)
        .bind(body)
        .bind(metadata)
        .bind(item.provider_data.as_deref().filter(|_| is_live))
        .bind(i64::from(item.is_series))
        .bind(item.sort_at)
        .bind(item.until_at)
        .bind(item.sequence)
        .bind(item.created_at)
        .bind(item.updated_at)
        .bind(item.deleted_at)
        .bind(&item.uid)
        .bind(sort_text)
        .bind(search_text)
        .bind(i64::from(item.is_open))
        .bind(item.flags)
        .bind(&item.fingerprint)
        .bind(item.aside.as_deref().filter(|_| is_live))
        .bind(span_of(item.is_series, item.sort_at, item.until_at))
        .bind(&item.series_name)
        .bind(item.provider_updated_at)
}

/// Writes rows of the locked connection, and the totals of their collections. Of several writes of a row the last one counts.
/// Fails when a row with the id of a new one exists, or another row of the kind and the collection with an external id that is
/// written.
pub async fn write(tx: &mut Tx, lock: &ConnectionLock, writes: &[ItemWrite<'_, '_>]) -> Result<()> {
    let writes = last_of_each_row(lock, writes)?;
    totals::add(tx, lock, &writes).await?;
    for round in rounds(writes) {
        let (changed, new): (Vec<_>, Vec<_>) = round.into_iter().partition(|one| one.before.is_some());
        let sql = write_rows!(update_rows, tx, [], id "$27");
        let rows = changed.iter().map(|one| changeable(one.item).bind(&one.item.id)).collect();
        statement_rows::execute(tx, sql, rows).await?;
        let sql = write_rows!(
            insert_rows,
            tx,
            [
                id "$27" "text", connection_id "$28" "text", kind "$29" "text", parent_id "$30" "text",
                organization_id "$31" "text", application_id "$32" "text"
            ],
            ""
        );
        let rows = new.iter().map(|one| {
            changeable(one.item)
                .bind(&one.item.id)
                .bind(&one.item.connection_id)
                .bind(&one.item.kind)
                .bind(&one.item.parent_id)
                .bind(&lock.tenant.organization_id)
                .bind(&lock.tenant.application_id)
        });
        statement_rows::execute(tx, sql, rows.collect()).await?;
    }
    Ok(())
}

/// One write for each row: from the present row of the table to the last version.
fn last_of_each_row<'w, 'l>(
    lock: &ConnectionLock,
    writes: &[ItemWrite<'w, 'l>],
) -> Result<Vec<ItemWrite<'w, 'l>>> {
    let mut rows: Vec<ItemWrite<'w, 'l>> = Vec::with_capacity(writes.len());
    let mut known: HashMap<&str, usize> = HashMap::with_capacity(writes.len());
    for one in writes {
        lock.covers(&one.item.connection_id)?;
        if let Some(before) = one.before {
            ensure!(
                before.id == one.item.id,
                "the row {} was read, and {} is to be written",
                before.id,
                one.item.id
            );
        }
        let at = *known.entry(one.item.id.as_str()).or_insert(rows.len());
        match rows.get_mut(at) {
            Some(row) => row.item = one.item,
            None => rows.push(*one),
        }
    }
    Ok(rows)
}

/// Kind, collection and external id, which are unique in a connection.
type UniqueName<'w> = (&'w str, &'w str, &'w str);

fn name(item: &Item) -> UniqueName<'_> {
    (item.kind.as_str(), item.parent_id.as_str(), item.external_id.as_str())
}

/// The name that a row has until it is written.
fn name_given_up<'w>(one: &ItemWrite<'w, '_>) -> Option<UniqueName<'w>> {
    let before: &'w Item = one.before?;
    Some(name(before)).filter(|before| *before != name(one.item))
}

/// The writes in groups that run one after the other. Engines check unique names row by row, and PostgreSQL changes the rows of a
/// statement in a certain order: a row that takes a name which another one releases (a message that moved to where another
/// one was) is written in a later group than that one. Nearly always there is one group. Rows that exchange their names are in
/// the last one and are refused, as they are whatever the order.
fn rounds<'w, 'l>(mut writes: Vec<ItemWrite<'w, 'l>>) -> Vec<Vec<ItemWrite<'w, 'l>>> {
    let mut rounds = Vec::new();
    while !writes.is_empty() {
        let given_up: HashSet<UniqueName<'w>> = writes.iter().filter_map(name_given_up).collect();
        let (now, later): (Vec<_>, Vec<_>) =
            writes.into_iter().partition(|one| !given_up.contains(&name(one.item)));
        if now.is_empty() {
            rounds.push(later);
            break;
        }
        rounds.push(now);
        writes = later;
    }
    rounds
}

/// The row as `write` has just written it.
pub fn relock<'l>(lock: &'l ConnectionLock, item: Item) -> Result<LockedRow<'l, Item>> {
    lock.covers(&item.connection_id)?;
    Ok(LockedRow::new(lock, item))
}

/// Inserts a new row. Fails when a row has its id, or its kind, collection and external id.
pub async fn insert<'l>(tx: &mut Tx, lock: &'l ConnectionLock, item: Item) -> Result<LockedRow<'l, Item>> {
    write(tx, lock, &[ItemWrite { before: None, item: &item }]).await?;
    relock(lock, item)
}

/// Writes all changeable columns of a row. Returns the new row.
pub async fn replace<'l>(
    tx: &mut Tx,
    before: LockedRow<'l, Item>,
    item: Item,
) -> Result<LockedRow<'l, Item>> {
    write(tx, before.lock(), &[ItemWrite { before: Some(&before), item: &item }]).await?;
    relock(before.lock(), item)
}

/// Stores changes of items that only the provider sees: their versions, and data without a field in the model.
pub async fn set_provider_sides(tx: &mut Tx, changes: &[ItemWrite<'_, '_>]) -> Result<()> {
    let sql = update_rows!(
        tx,
        "items",
        [
            provider_etag "$1" "text", provider_data "$2" "text", aside "$3" "text", sequence "$4" "bigint",
            provider_updated_at "$5" "bigint"
        ],
        id "$6"
    );
    let of_rows: BTreeMap<&str, &Item> =
        changes.iter().filter_map(|one| Some((one.before?.id.as_str(), one.item))).collect();
    let rows = of_rows.into_iter().map(|(id, item)| {
        RowValues::new()
            .bind(&item.provider_etag)
            .bind(&item.provider_data)
            .bind(&item.aside)
            .bind(item.sequence)
            .bind(item.provider_updated_at)
            .bind(id)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}
