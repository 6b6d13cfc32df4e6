//! Items that name each other: a group its members, a task its parent. The provider names them in its own way, and either side
//! may come first or go first; what stands in a body are our ids. So whenever one of two changes, the other is looked at too,
//! and is told as changed if that shows in it.

use std::collections::{BTreeSet, HashSet};

use base::error::Result;
use model::contacts::{Contact, ContactGroup};
use model::tasks::Task;
use storage::Tx;
use storage::items::{self, Item};
use storage::locked::ConnectionLock;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, CopyLocation, ItemChange};
use crate::local_copy::contact::MAX_INLINE_MEMBERS;
use crate::local_copy::stored_warnings::as_before;

/// Puts our ids into what changed, and adds what changes with it.
pub async fn bind<'l>(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&'l ConnectionLock, &CopyLocation),
    mut changed: Vec<ItemChange<'l>>,
) -> Result<Vec<ItemChange<'l>>> {
    if !matches!(place.kind, ResourceKind::Contact | ResourceKind::ContactGroup | ResourceKind::Task) {
        return Ok(changed);
    }
    let names = changed.iter().any(|c| !c.refs.is_empty()) || items::has_refs(tx, &place.parent_id).await?;
    let mut concerned = BTreeSet::new();
    if names {
        // Rows first, so that names can be looked up among them.
        for one in &mut changed {
            match &one.before {
                Some(before) => items::update(tx, before, &one.item).await?,
                None => one.inserted = Some(items::insert(tx, lock, one.item.clone()).await?),
            }
        }
        for one in &changed {
            concerned.extend(others(tx, place, one).await?);
        }
    }
    for one in &mut changed {
        if one.change != ChangeKind::Deleted {
            settle(tx, app, one, names).await?;
        }
        if one.kind == ResourceKind::Contact {
            items::set_keys(tx, &place.tenant, &one.item, &one.keys).await?;
        }
    }
    let known: HashSet<String> = changed.iter().map(|c| c.item.id.clone()).collect();
    for id in concerned.into_iter().filter(|id| !known.contains(id)) {
        let Some(item) = items::lock_item(tx, lock, &id).await? else { continue };
        if item.deleted_at.is_some() {
            continue;
        }
        let mut one = ItemChange {
            kind: ResourceKind::parse(&item.kind).unwrap_or(place.kind),
            item: Item { updated_at: app.now(), ..Item::clone(&item) },
            change: ChangeKind::Updated,
            inserted: None,
            refs: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
            before: Some(item),
        };
        settle(tx, app, &mut one, true).await?;
        if one.before.as_ref().is_none_or(|before| before.body != one.item.body) {
            if one.kind == ResourceKind::Contact {
                items::set_keys(tx, &place.tenant, &one.item, &one.keys).await?;
            }
            changed.push(one);
        }
    }
    Ok(changed)
}

/// The ids of the others that may look different because of this change. Keeps whom it names.
async fn others(tx: &mut Tx, place: &CopyLocation, one: &ItemChange<'_>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    if items::targets(tx, &one.item.id).await? != one.refs {
        let other = other_side(one.kind);
        let before: BTreeSet<String> = items::linked(tx, &one.item, other).await?.into_iter().collect();
        items::set_refs(tx, &one.item, &one.refs).await?;
        let after: BTreeSet<String> = items::linked(tx, &one.item, other).await?.into_iter().collect();
        found.extend(before.symmetric_difference(&after).cloned());
    }
    // Who names it sees it come, go, or change its name.
    let uids = [one.item.uid.clone(), one.before.as_ref().and_then(|b| b.uid.clone())];
    if one.change != ChangeKind::Updated || uids[0] != uids[1] {
        for uid in uids.into_iter().flatten() {
            found.extend(items::namers(tx, &place.parent_id, &uid).await?);
        }
        // The same from its side: whom it names may name nobody.
        found.extend(items::linked(tx, &one.item, other_side(one.kind)).await?);
    }
    Ok(found)
}

/// The kind of those that an item of this kind and they name.
fn other_side(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Contact => ResourceKind::ContactGroup.as_str(),
        ResourceKind::ContactGroup => ResourceKind::Contact.as_str(),
        other => other.as_str(),
    }
}

/// The body as it is among the others now.
async fn settle(tx: &mut Tx, app: &App, one: &mut ItemChange<'_>, names: bool) -> Result<()> {
    match one.kind {
        ResourceKind::Contact if names => {
            let mut contact: Contact = serde_json::from_str(&one.item.body)?;
            contact.group_ids = linked(tx, &one.item, ResourceKind::ContactGroup).await?;
            one.keys = crate::local_copy::contact::keys(&contact);
            one.item.body = as_before(&one.item.body, serde_json::to_string(&contact)?);
        }
        ResourceKind::ContactGroup if names => {
            let mut group: ContactGroup = serde_json::from_str(&one.item.body)?;
            let members = linked(tx, &one.item, ResourceKind::Contact).await?;
            group.member_count = i64::try_from(members.len()).unwrap_or(i64::MAX);
            group.contact_ids = (members.len() <= MAX_INLINE_MEMBERS).then_some(members);
            one.item.body = as_before(&one.item.body, serde_json::to_string(&group)?);
        }
        ResourceKind::Task if names || crate::local_copy::task_parts::has_parts(&one.item.body) => {
            let mut task: Task = serde_json::from_str(&one.item.body)?;
            task.parent_id = parent(tx, &one.item).await?;
            crate::local_copy::task_parts::bind_parts(tx, app, &one.item, &mut task).await?;
            one.item.body = as_before(&one.item.body, serde_json::to_string(&task)?);
        }
        _ => {}
    }
    Ok(())
}

/// The ids of the live items of this kind that it names or that name it, sorted. A provider keeps membership on one side, on
/// either.
async fn linked(tx: &mut Tx, item: &Item, kind: ResourceKind) -> Result<Vec<String>> {
    let found: BTreeSet<String> = items::linked(tx, item, kind.as_str()).await?.into_iter().collect();
    Ok(found.into_iter().collect())
}

/// The task that it is a part of; nobody is the parent of itself.
async fn parent(tx: &mut Tx, item: &Item) -> Result<Option<String>> {
    if items::targets(tx, &item.id).await?.is_empty() {
        return Ok(None);
    }
    // Those that it names come first, before its own children.
    let nameless = Item { uid: None, ..item.clone() };
    let found = items::linked(tx, &nameless, ResourceKind::Task.as_str()).await?;
    Ok(found.into_iter().find(|id| *id != item.id))
}
