//! Guarantees of writes of many items at once: the totals of collections stay right, and names can move between items. On SQLite
//! and, where `POSTGRES_URL` names a server, on PostgreSQL.

use std::collections::BTreeMap;

use anyhow::Result;
use base::clock::Entropy;

use crate::Db;
use crate::Tx;
use crate::is_of_the_data;
use crate::items::{self, Family, Item, ItemWrite, RecordNames};
use crate::sql::{Row, query};
use crate::tests::jobs::{Opened, databases};
use crate::tests::outbox::{lock, open_account};

/// Items of a collection, those that are open, and bytes of bodies, by collection and kind; nothing where there is nothing.
type Totals = BTreeMap<[String; 2], [i64; 3]>;

async fn totals(db: &Db, sql: &'static str) -> Totals {
    let of_group = |row: &Row<'_>| {
        let totals: [i64; 3] = [row.get("items")?, row.get("open")?, row.get("bytes")?];
        Ok(([row.get::<String>("parent_id")?, row.get("kind")?], totals))
    };
    let found = query(sql).fetch_all(db.reader(), of_group).await.unwrap();
    found.into_iter().filter(|(_, totals)| *totals != [0; 3]).collect()
}

async fn kept_totals(db: &Db) -> Totals {
    totals(db, "select parent_id, kind, items, open, bytes from item_totals").await
}

async fn counted_totals(db: &Db) -> Totals {
    let sql = "select parent_id, kind, cast(sum(case when sort_text <> '' then 1 else 0 end) as bigint) as items, \
               cast(sum(case when sort_text <> '' then is_open else 0 end) as bigint) as open, \
               cast(sum(octet_length(body)) as bigint) as bytes from items where deleted_at is null group by parent_id, kind";
    totals(db, sql).await
}

fn contact(id: &str, external_id: &str) -> Item {
    Item {
        id: id.into(),
        connection_id: "conn_1".into(),
        kind: "contact".into(),
        parent_id: "book_1".into(),
        external_id: external_id.into(),
        source_id: format!("source of {external_id}"),
        body: "{\"name\":\"Zoë\"}".into(),
        metadata: "{}".into(),
        sort_text: "a".into(),
        ..Item::default()
    }
}

/// Writes these versions of items, whatever is stored of them, with one call.
async fn put(tx: &mut Tx, fresh: &[Item]) -> Result<()> {
    let lock = lock(tx).await?;
    let ids: Vec<&str> = fresh.iter().map(|item| item.id.as_str()).collect();
    let stored = items::lock_items(tx, &lock, &ids).await?;
    let before = |item: &Item| stored.iter().find(|stored| stored.id == item.id);
    let writes: Vec<ItemWrite<'_, '_>> =
        fresh.iter().map(|item| ItemWrite { before: before(item), item }).collect();
    items::write(tx, &lock, &writes).await
}

async fn put_all(db: &Db, fresh: Vec<Item>) -> Result<()> {
    db.write(move |tx| Box::pin(async move { put(tx, &fresh).await })).await
}

/// The stored items with these ids.
async fn stored(db: &Db, ids: &'static [&'static str]) -> Vec<Item> {
    let found: Result<Vec<Item>> = db
        .write(move |tx| {
            Box::pin(async move {
                let lock = lock(tx).await?;
                let found = items::lock_items(tx, &lock, ids).await?;
                Ok(found.into_iter().map(|item| item.into_row()).collect())
            })
        })
        .await;
    found.unwrap()
}

/// Versions of some of sixteen items in four groups, of some items two; each is listed or not, open or not, live or deleted.
fn random_items(random: &Entropy) -> Vec<Item> {
    let bytes = random.bytes::<96>();
    let version = |[number, shape, length]: [u8; 3]| {
        let id = format!("item_{}", number % 16);
        Item {
            kind: ["contact", "task"][usize::from(number % 2)].into(),
            parent_id: ["one", "other"][usize::from(number / 2 % 2)].into(),
            body: "é".repeat(usize::from(length)),
            sort_text: if shape & 1 == 0 { "a".into() } else { String::new() },
            is_open: shape & 2 == 0,
            deleted_at: (shape & 12 == 0).then_some(1),
            ..contact(&id, &id)
        }
    };
    bytes.chunks_exact(3).map(|of_one| version([of_one[0], of_one[1], of_one[2]])).take(20).collect()
}

#[tokio::test]
async fn totals_are_what_a_count_of_the_items_finds() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let random = Entropy::seeded(7);
        for round in 0..60 {
            put_all(db, random_items(&random)).await.unwrap();
            assert_eq!(kept_totals(db).await, counted_totals(db).await, "after round {round}");
        }
        assert_eq!(kept_totals(db).await.len(), 4);
    }
}

#[tokio::test]
async fn of_two_writes_of_an_item_the_last_one_counts() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let gone = Item { deleted_at: Some(1), ..contact("item_1", "x") };
        let renamed = contact("item_1", "y");
        put_all(db, vec![contact("item_1", "x"), gone.clone(), renamed.clone()]).await.unwrap();
        assert_eq!(stored(db, &["item_1"]).await[..], [renamed]);
        put_all(db, vec![contact("item_1", "z"), gone]).await.unwrap();
        let kept = stored(db, &["item_1"]).await;
        assert_eq!((kept[0].external_id.as_str(), kept[0].body.as_str()), ("x", "{}"));
        assert_eq!(kept_totals(db).await, counted_totals(db).await);
    }
}

#[tokio::test]
async fn a_name_that_an_item_gives_up_is_another_ones_at_once() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        put_all(db, vec![contact("a", "x"), contact("b", "y"), contact("c", "z")]).await.unwrap();
        // In the order in which a name is never free, if it were written so.
        let gone = Item { deleted_at: Some(1), ..contact("c", "gone:c") };
        put_all(db, vec![contact("d", "x"), contact("a", "y"), contact("b", "z"), gone]).await.unwrap();
        let found = stored(db, &["a", "b", "c", "d"]).await;
        let names: Vec<&str> = found.iter().map(|item| item.external_id.as_str()).collect();
        assert_eq!(names, ["y", "z", "gone:c", "x"]);
        assert_eq!((found[2].body.as_str(), found[2].sort_text.as_str()), ("{}", ""));
        // Two rows that exchange their names are refused, as is a name that another row keeps.
        for wrong in [vec![contact("a", "z"), contact("b", "y")], vec![contact("e", "x")]] {
            assert!(is_of_the_data(&put_all(db, wrong).await.unwrap_err()));
        }
        assert_eq!(stored(db, &["a", "b", "c", "d", "e"]).await, found, "nothing of it was written");
        assert_eq!(kept_totals(db).await, counted_totals(db).await);
    }
}

#[tokio::test]
async fn two_thousand_items_are_written_and_read_with_one_call() {
    const COUNT: usize = 2_000;
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let fresh: Vec<Item> = (0..COUNT).map(|n| contact(&format!("item_{n}"), &format!("x{n}"))).collect();
        put_all(db, fresh.clone()).await.unwrap();
        assert_eq!(kept_totals(db).await, counted_totals(db).await);
        let open = fresh.into_iter().map(|item| Item { is_open: true, ..item }).collect();
        put_all(db, open).await.unwrap();
        assert_eq!(kept_totals(db).await, counted_totals(db).await);
        let sums: Vec<i64> = kept_totals(db).await.into_values().flatten().collect();
        assert_eq!(sums[..2], [COUNT as i64, COUNT as i64]);
        let read: Result<usize> = db
            .write(|tx| {
                Box::pin(async move {
                    let lock = lock(tx).await?;
                    let names: Vec<String> = (0..COUNT).map(|n| format!("x{n}")).collect();
                    let sources: Vec<String> = names.iter().map(|name| format!("source of {name}")).collect();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
                    let names = RecordNames { source_ids: &sources, external_ids: &names };
                    Ok(items::lock_records(tx, &lock, FAMILY, "book_1", names).await?.len())
                })
            })
            .await;
        assert_eq!(read.unwrap(), COUNT);
    }
}

const FAMILY: Family = ["contact", "contact_group", "contact", "contact"];

#[tokio::test]
async fn records_are_found_once_by_either_name() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let gone = Item { deleted_at: Some(1), ..contact("c", "z") };
        let elsewhere = Item { parent_id: "book_2".into(), ..contact("d", "y") };
        let of_other_kind = Item { kind: "task".into(), ..contact("e", "x") };
        let fresh =
            vec![contact("a", "x"), contact("b", "y"), gone, elsewhere, of_other_kind, contact("f", "w")];
        put_all(db, fresh).await.unwrap();
        let found: Result<Vec<Vec<String>>> = db
            .write(|tx| {
                Box::pin(async move {
                    let lock = lock(tx).await?;
                    let mut found = Vec::new();
                    for names in [
                        RecordNames {
                            source_ids: &["source of x", "source of z"],
                            external_ids: &["x", "y"],
                        },
                        RecordNames { source_ids: &[], external_ids: &["z", "none"] },
                        RecordNames { source_ids: &["source of y"], external_ids: &[] },
                        RecordNames { source_ids: &[], external_ids: &[] },
                    ] {
                        let items = items::lock_records(tx, &lock, FAMILY, "book_1", names).await?;
                        let mut ids: Vec<String> = items.into_iter().map(|item| item.into_row().id).collect();
                        ids.sort_unstable();
                        found.push(ids);
                    }
                    Ok(found)
                })
            })
            .await;
        assert_eq!(found.unwrap(), [vec!["a", "b", "c"], vec!["c"], vec!["b"], vec![]]);
    }
}

#[tokio::test]
async fn exceptions_are_found_by_the_series_that_they_name() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let event = |id: &str, series_name: Option<&str>| Item {
            kind: "event".into(),
            parent_id: "cal_1".into(),
            series_name: series_name.map(str::to_owned),
            ..contact(id, id)
        };
        let gone = Item { deleted_at: Some(1), ..event("c", Some("s")) };
        let elsewhere = Item { parent_id: "cal_2".into(), ..event("d", Some("s")) };
        let fresh = vec![event("b", Some("t")), event("a", Some("s")), gone, elsewhere, event("f", None)];
        put_all(db, fresh).await.unwrap();
        put_all(db, vec![event("g", Some("t")), event("f", Some("other"))]).await.unwrap();
        put_all(db, vec![event("g", None)]).await.unwrap();
        let found: Result<Vec<String>> = db
            .write(|tx| {
                Box::pin(async move {
                    let lock = lock(tx).await?;
                    let first = items::exceptions_named(tx, &lock, "cal_1", &["t", "s"], 1).await?;
                    assert!(first.rows.len() == 1 && !first.is_last);
                    let found = items::exceptions_named(tx, &lock, "cal_1", &["t", "s", "none"], 3).await?;
                    assert!(found.is_last);
                    let mut ids: Vec<String> =
                        found.rows.into_iter().map(|item| item.into_row().id).collect();
                    ids.sort();
                    Ok(ids)
                })
            })
            .await;
        assert_eq!(found.unwrap(), ["a", "b"]);
        assert_eq!(stored(db, &["f"]).await[0].series_name.as_deref(), Some("other"));
    }
}

#[tokio::test]
async fn the_providers_time_of_a_record_is_kept() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        let version = |at: Option<i64>| Item { provider_updated_at: at, ..contact("a", "x") };
        put_all(db, vec![version(Some(7))]).await.unwrap();
        assert_eq!(stored(db, &["a"]).await[0].provider_updated_at, Some(7));
        let fresh = version(Some(8));
        let changed: Result<()> = db
            .write(move |tx| {
                Box::pin(async move {
                    let lock = lock(tx).await?;
                    let before = items::lock_items(tx, &lock, &["a"]).await?;
                    let change = ItemWrite { before: before.first(), item: &fresh };
                    items::set_provider_sides(tx, &[change]).await
                })
            })
            .await;
        changed.unwrap();
        assert_eq!(stored(db, &["a"]).await[0].provider_updated_at, Some(8));
        let gone = Item { deleted_at: Some(9), ..version(Some(9)) };
        put_all(db, vec![gone]).await.unwrap();
        assert_eq!(stored(db, &["a"]).await[0].provider_updated_at, Some(9));
        put_all(db, vec![version(None)]).await.unwrap();
        assert_eq!(stored(db, &["a"]).await[0].provider_updated_at, None);
    }
}
