//! References between items: a group's members, a task's parent. The provider refers to them by its own names, and either side may be
//! created or deleted first; stored bodies contain our ids. So whenever one of two changes, the other is compared too, and is logged as
//! changed if it differs.

use std::collections::{BTreeSet, HashMap, HashSet};

use base::error::Result;
use model::contacts::{Contact, ContactGroup};
use model::tasks::Task;
use storage::items::{
    self, Item, ItemKeys, ItemLinks, ItemParts, ItemRefs, ItemWrite, LinkQuery, StoredPart,
};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, ItemChange};
use crate::local_copy::contact::{self, MAX_INLINE_MEMBERS};
use crate::local_copy::stored_warnings::as_before;
use crate::local_copy::task_parts::{bind_parts, has_parts};
use crate::local_copy::transaction::CopyTransaction;

/// The live items that each item is linked with, by its id. An item that was queried has an entry.
type Links = HashMap<String, ItemLinks>;

/// Replaces names by our ids in changed items, and appends the items that change with them.
pub async fn resolve<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    mut changed: Vec<ItemChange<'l>>,
) -> Result<Vec<ItemChange<'l>>> {
    let location = copy.location;
    if !matches!(location.kind, ResourceKind::Contact | ResourceKind::ContactGroup | ResourceKind::Task) {
        return Ok(changed);
    }
    let has_names = changed.iter().any(|one| !one.refs.is_empty())
        || items::has_refs(copy.tx, &location.parent_id).await?;
    let (mut links, mut others) = (Links::new(), Vec::new());
    if has_names {
        // Rows first, so that names can be resolved among them.
        store_rows(copy, &mut changed).await?;
        let concerned = concerned_ids(copy, &changed, &mut links).await?;
        others = lock_others(copy, &changed, &concerned).await?;
        let is_open =
            |one: &&ItemChange<'_>| one.change != ChangeKind::Deleted && !links.contains_key(&one.item.id);
        let open: Vec<&ItemChange<'_>> = changed.iter().chain(&others).filter(is_open).collect();
        let found = collect_links(copy, &open).await?;
        links.extend(found);
    }
    let live = changed.iter_mut().filter(|one| one.change != ChangeKind::Deleted);
    settle(copy, &links, live.chain(&mut others).collect()).await?;
    others.retain(|one| one.before.as_ref().is_none_or(|before| before.body != one.item.body));
    changed.extend(others);
    let contacts = changed.iter().filter(|one| one.kind == ResourceKind::Contact);
    let keys: Vec<ItemKeys<'_>> = contacts.map(|one| ItemKeys { item: &one.item, keys: &one.keys }).collect();
    items::set_keys(copy.tx, &location.tenant, &keys).await?;
    Ok(changed)
}

/// Writes the rows of changed items, as far as they are known.
async fn store_rows<'l>(copy: &mut CopyTransaction<'_, 'l>, changed: &mut [ItemChange<'l>]) -> Result<()> {
    let rows: Vec<ItemWrite<'_, '_>> =
        changed.iter().map(|one| ItemWrite { before: one.before.as_ref(), item: &one.item }).collect();
    items::write(copy.tx, copy.lock, &rows).await?;
    for one in changed {
        one.stored = Some(items::relock(copy.lock, one.item.clone())?);
    }
    Ok(())
}

/// Returns the ids of other items that may look different because of these changes. Stores the references of the changed items, and adds
/// the links that were read to `links`.
async fn concerned_ids(
    copy: &mut CopyTransaction<'_, '_>,
    changed: &[ItemChange<'_>],
    links: &mut Links,
) -> Result<BTreeSet<String>> {
    let ids: Vec<&str> = changed.iter().map(|one| one.item.id.as_str()).collect();
    let targets = items::targets_of(copy.tx, &ids).await?;
    let named = |one: &ItemChange<'_>| targets.get(&one.item.id).map_or(&[][..], Vec::as_slice);
    let renaming: Vec<&ItemChange<'_>> =
        changed.iter().filter(|one| named(one) != one.refs.as_slice()).collect();
    // The items that refer to one are the same before and after its own references change.
    let parting: Vec<&ItemChange<'_>> =
        renaming.iter().copied().filter(|one| !named(one).is_empty()).collect();
    let before = collect_links(copy, &parting).await?;
    let refs: Vec<ItemRefs<'_>> =
        renaming.iter().map(|one| ItemRefs { item: &one.item, uids: &one.refs }).collect();
    items::set_refs(copy.tx, &refs).await?;
    let appearing: Vec<&ItemChange<'_>> = changed.iter().filter(|one| appears(one)).collect();
    let mut looked_at = renaming.clone();
    looked_at.extend(appearing.iter().copied().filter(|one| named(one) == one.refs.as_slice()));
    links.extend(collect_links(copy, &looked_at).await?);
    let mut found = BTreeSet::new();
    for one in renaming {
        let (was, is) = (named_in(&before, &one.item), named_in(links, &one.item));
        found.extend(was.symmetric_difference(&is).map(|id| (*id).clone()));
    }
    // Items that refer to one of these see it created, deleted or renamed.
    let uids: BTreeSet<&str> = appearing.iter().flat_map(|one| uids(one)).flatten().collect();
    let uids: Vec<&str> = uids.into_iter().collect();
    found.extend(items::namers_of(copy.tx, &copy.location.parent_id, &uids).await?);
    // Also in the other direction: the referred item may have no references itself.
    for links in appearing.iter().filter_map(|one| links.get(&one.item.id)) {
        found.extend(links.named.iter().chain(&links.naming).cloned());
    }
    Ok(found)
}

/// Returns the names by which others refer to an item, the present and the previous one.
fn uids<'i>(one: &'i ItemChange<'_>) -> [Option<&'i str>; 2] {
    [one.item.uid.as_deref(), one.before.as_ref().and_then(|before| before.uid.as_deref())]
}

/// Whether an item is created, deleted or renamed.
fn appears(one: &ItemChange<'_>) -> bool {
    let [is, was] = uids(one);
    one.change != ChangeKind::Updated || is != was
}

fn named_in<'k>(links: &'k Links, item: &Item) -> BTreeSet<&'k String> {
    links.get(&item.id).into_iter().flat_map(|links| &links.named).collect()
}

/// Returns the links of these items.
async fn collect_links(copy: &mut CopyTransaction<'_, '_>, all: &[&ItemChange<'_>]) -> Result<Links> {
    let queries: Vec<LinkQuery<'_>> =
        all.iter().map(|one| LinkQuery { item: &one.item, kind: other_side(one.kind) }).collect();
    let mut found = items::linked_of(copy.tx, &queries).await?;
    for one in all {
        found.entry(one.item.id.clone()).or_default();
    }
    Ok(found)
}

/// Returns the kind of the items on the other side of a reference.
fn other_side(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Contact => ResourceKind::ContactGroup.as_str(),
        ResourceKind::ContactGroup => ResourceKind::Contact.as_str(),
        other => other.as_str(),
    }
}

/// Locks those of these items that are live and unchanged, in the order of their ids, as changes that are still empty.
async fn lock_others<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    changed: &[ItemChange<'l>],
    concerned: &BTreeSet<String>,
) -> Result<Vec<ItemChange<'l>>> {
    let known: HashSet<&str> = changed.iter().map(|one| one.item.id.as_str()).collect();
    let ids: Vec<&str> = concerned.iter().map(String::as_str).filter(|id| !known.contains(id)).collect();
    let mut found = items::lock_items(copy.tx, copy.lock, &ids).await?;
    found.retain(|item| item.deleted_at.is_none());
    found.sort_by(|a, b| a.id.cmp(&b.id));
    let (now, kind) = (copy.app.now(), copy.location.kind);
    let others = found.into_iter().map(|item| ItemChange {
        kind: ResourceKind::parse(&item.kind).unwrap_or(kind),
        item: Item { updated_at: now, ..Item::clone(&item) },
        change: ChangeKind::Updated,
        stored: None,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
        before: Some(item),
    });
    Ok(others.collect())
}

/// Sets the bodies of items according to their present links. Items without links are in a collection without references.
async fn settle(
    copy: &mut CopyTransaction<'_, '_>,
    links: &Links,
    all: Vec<&mut ItemChange<'_>>,
) -> Result<()> {
    let is_divided = |one: &&&mut ItemChange<'_>| one.kind == ResourceKind::Task && has_parts(&one.item.body);
    let divided: Vec<&str> = all.iter().filter(is_divided).map(|one| one.item.id.as_str()).collect();
    let mut known = items::parts_of_items(&mut *copy.tx, &divided).await?;
    let (mut settled, mut new) = (Vec::with_capacity(all.len()), Vec::new());
    for one in all {
        let (of_one, parts) = (links.get(&one.item.id), known.remove(&one.item.id).unwrap_or_default());
        new.push(bind(copy.app, one, of_one, parts)?);
        settled.push(&*one);
    }
    let parts = settled.iter().zip(&new).filter(|(_, parts)| !parts.is_empty());
    let parts: Vec<ItemParts<'_>> = parts.map(|(one, parts)| ItemParts { item: &one.item, parts }).collect();
    Ok(items::put_parts(copy.tx, &parts).await?)
}

/// Puts our ids into one body. `known`: the parts that a task ever had. Returns the new ones.
fn bind(
    app: &App,
    one: &mut ItemChange<'_>,
    links: Option<&ItemLinks>,
    known: Vec<StoredPart>,
) -> Result<Vec<StoredPart>> {
    let mut new = Vec::new();
    let body = match (one.kind, links) {
        (ResourceKind::Contact, Some(links)) => {
            let mut contact: Contact = serde_json::from_str(&one.item.body)?;
            contact.group_ids = either_side(links);
            one.keys = contact::keys(&contact);
            serde_json::to_string(&contact)?
        }
        (ResourceKind::ContactGroup, Some(links)) => {
            let mut group: ContactGroup = serde_json::from_str(&one.item.body)?;
            let members = either_side(links);
            group.member_count = i64::try_from(members.len()).unwrap_or(i64::MAX);
            group.contact_ids = (members.len() <= MAX_INLINE_MEMBERS).then_some(members);
            serde_json::to_string(&group)?
        }
        (ResourceKind::Task, links) if links.is_some() || has_parts(&one.item.body) => {
            let mut task: Task = serde_json::from_str(&one.item.body)?;
            // An item is never its own parent.
            let mut named = links.into_iter().flat_map(|links| &links.named);
            task.parent_id = named.find(|id| **id != one.item.id).cloned();
            new = bind_parts(app, &one.item.id, &mut task, known)?;
            serde_json::to_string(&task)?
        }
        _ => return Ok(new),
    };
    one.item.body = as_before(&one.item.body, body);
    Ok(new)
}

/// Returns the ids of the live items on either end of an item's references, sorted. A provider stores membership on one side, on either.
fn either_side(links: &ItemLinks) -> Vec<String> {
    let ids: BTreeSet<&String> = links.named.iter().chain(&links.naming).collect();
    ids.into_iter().cloned().collect()
}
