//! Runs every statement that reads or writes many items at once.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::items::{
    self, FormerSource, Item, ItemKeys, ItemParts, ItemRefs, ItemWrite, Key, LinkQuery, RecordNames,
    StoredPart,
};
use crate::locked::ConnectionLock;

const EVENTS: &str = "conn_0_0";
const CONTACTS: &str = "conn_0_1";
const TASKS: &str = "conn_0_2";
const MAIL: &str = "conn_0_3";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    db.write(|tx| Box::pin(async move { write_events(tx).await })).await?;
    db.write(|tx| Box::pin(async move { write_contacts(tx).await })).await?;
    db.write(|tx| Box::pin(async move { write_tasks(tx).await })).await?;
    items::parts_of(db.reader(), "task_1050020").await?;
    let parts = items::parts_of_items(db.reader(), &["task_1050020", "task_1050021", "none"]).await?;
    assert_eq!((parts["task_1050020"].len(), parts["task_1050021"].len()), (2, 2));
    Ok(())
}

/// The lock on a connection of the seed.
async fn locked(tx: &mut Tx, id: &str) -> Result<ConnectionLock> {
    Ok(ConnectionLock::take(tx, &tenant(), id).await?.expect("it is in the seed"))
}

async fn write_events(tx: &mut Tx) -> Result<()> {
    let lock = &locked(tx, EVENTS).await?;
    let found = items::lock_items(tx, lock, &["evt_1040001", "evt_1040000", "none", "ct_1050010"]).await?;
    assert_eq!(found.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["evt_1040000", "evt_1040001"]);
    let names = RecordNames { source_ids: &["s40000", "none"], external_ids: &["x40000", "x40001"] };
    let family = ["event", "event", "event", "event"];
    assert_eq!(items::lock_records(tx, lock, family, "cal_0_1", names).await?.len(), 2);
    let waiting = items::exceptions_named(tx, lock, "cal_0_0", &["x39840", "none"], 10).await?;
    assert_eq!(waiting.rows.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["evt_1039960"]);
    let gone = Item { deleted_at: Some(1), sequence: 200_000, ..Item::clone(&found[0]) };
    let longer = Item { body: "{\"title\":\"something longer\"}".into(), ..Item::clone(&found[1]) };
    let new = Item { id: "evt_of_set".into(), external_id: "of set".into(), ..longer.clone() };
    let writes = [
        ItemWrite { before: Some(&found[0]), item: &gone },
        ItemWrite { before: Some(&found[1]), item: &longer },
        ItemWrite { before: None, item: &new },
    ];
    items::write(tx, lock, &writes).await?;
    let written = items::relock(lock, longer.clone())?;
    items::set_provider_sides(tx, &[ItemWrite { before: Some(&written), item: &longer }]).await?;
    items::depart(tx, &[&found[0], &found[1]], 1).await?;
    assert_eq!(items::departed(tx, &["evt_1040000", "none"]).await?.len(), 1);
    assert_eq!(items::forget_departures(tx, 2, 50).await?, 2);
    let former = |source_id| FormerSource { source_id, sequence: 1 };
    items::leave_sources(tx, EVENTS, &[former("s40000"), former("s40001"), former("s40000")], 1).await?;
    assert_eq!(items::left_sources(tx, EVENTS, &["s40000", "s40001"], 0).await?.len(), 2);
    Ok(())
}

async fn write_contacts(tx: &mut Tx) -> Result<()> {
    let (contacts, mail) = (&locked(tx, CONTACTS).await?, &locked(tx, MAIL).await?);
    let found = items::lock_items(tx, contacts, &["ct_1050010", "ct_1050011"]).await?;
    let keys = [Key { name: "email", value: "one@example.test".into() }];
    let all = [ItemKeys { item: &found[0], keys: &keys }, ItemKeys { item: &found[1], keys: &keys }];
    items::set_keys(tx, &tenant(), &all).await?;
    assert!(!items::lock_of_threads(tx, mail, &["thr_0_400", "thr_0_401"]).await?.is_empty());
    Ok(())
}

async fn write_tasks(tx: &mut Tx) -> Result<()> {
    let lock = &locked(tx, TASKS).await?;
    let found = items::lock_items(tx, lock, &["task_1050020", "task_1050021"]).await?;
    let (one, other) = (&found[0], &found[1]);
    let uids = [other.uid.clone().expect("tasks of the seed have one")];
    items::set_refs(tx, &[ItemRefs { item: one, uids: &uids }, ItemRefs { item: other, uids: &[] }]).await?;
    let targets = items::targets_of(tx, &[one.id.as_str(), other.id.as_str()]).await?;
    assert_eq!((targets.len(), &targets[&one.id][..]), (1, &uids[..]));
    let both = [LinkQuery { item: one, kind: "task" }, LinkQuery { item: other, kind: "task" }];
    let links = items::linked_of(tx, &both).await?;
    assert_eq!(
        (&links[&one.id].named, &links[&other.id].naming),
        (&vec![other.id.clone()], &vec![one.id.clone()])
    );
    assert!(links[&one.id].naming.is_empty() && links[&other.id].named.is_empty());
    assert!(items::linked_of(tx, &[LinkQuery { item: one, kind: "contact" }]).await?.is_empty());
    let namers = items::namers_of(tx, &one.parent_id, &["uid-49600", uids[0].as_str()]).await?;
    assert!(namers.len() > 1 && namers.contains(&one.id) && namers.is_sorted());
    let part = |id: &str| {
        [StoredPart { id: id.into(), kind: "step".into(), external_id: "new".into(), created_at: 0 }]
    };
    let (of_one, of_other) = (part("part_new_1"), part("part_new_2"));
    let all = [ItemParts { item: one, parts: &of_one }, ItemParts { item: other, parts: &of_other }];
    items::put_parts(tx, &all).await
}
