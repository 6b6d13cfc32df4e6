//! Computes the changes that the provider's records make to the local copy, before anything is written. For mail: `mail::differences`.

use std::collections::{HashMap, HashSet};

use base::error::Result;
use storage::items::{self, Item};
use storage::locked::LockedRow;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, CopyLocation, Differences, ItemChange, UnloggedChange};
use crate::local_copy::mail::draft_state::is_being_sent;
use crate::local_copy::record::{NormalizedItem, NormalizedRecord};
use crate::local_copy::stored_records::StoredRecords;
use crate::local_copy::transaction::CopyTransaction;

/// The changes that one record makes to the local copy. Of mail: `mail::diff`.
pub fn differences<'l>(
    app: &App,
    location: &CopyLocation,
    stored: &StoredRecords<'l>,
    record: &NormalizedRecord,
) -> Differences<'l> {
    let mut found = Differences::default();
    let of_record = stored.of_source(&record.source_id);
    // Ids of the items so far, by the provider's names, whatever their kinds.
    let mut told_ids: HashMap<&str, String> = HashMap::with_capacity(record.items.len());
    // Exceptions after their series, whatever the connector's order: they refer to it.
    let (exceptions, others): (Vec<_>, Vec<_>) =
        record.items.iter().partition(|item| item.series_external_id.is_some());
    for fresh in others.into_iter().chain(exceptions) {
        let known = stored.find_item(fresh.kind, &fresh.external_id);
        let id = known.map_or_else(|| app.new_id(fresh.kind.id_kind()), |i| i.id.clone());
        told_ids.entry(&fresh.external_id).or_insert_with(|| id.clone());
        let row = row(app, location, record, fresh, id, known.map(|known| -> &Item { known }));
        let series = fresh.series_external_id.as_deref();
        let told = series.map(|name| (name, told_ids.get(name).filter(|told| **told != row.id)));
        let (series_id, series_name) = match told {
            None => (None, None),
            Some((_, Some(id))) => (Some(id.clone()), None),
            // A series of another record: `series_links` finds it, until then the item keeps its present one.
            Some((name, None)) => (live_series_id(known), Some(name.to_owned())),
        };
        found.compare(fresh, Item { series_id, series_name, ..row }, known);
    }
    let kept: HashSet<(&str, &str)> =
        record.items.iter().map(|i| (i.kind.as_str(), i.external_id.as_str())).collect();
    let is_gone = |i: &&LockedRow<'_, Item>| {
        i.deleted_at.is_none()
            && !kept.contains(&(i.kind.as_str(), i.external_id.as_str()))
            && !is_being_sent(i)
    };
    let gone = of_record.into_iter().filter(is_gone).cloned();
    found.changed.extend(gone.map(|item| deleted(item, location, stored.read_at)));
    found
}

/// Returns the series of a stored item, if the item is live.
fn live_series_id(known: Option<&LockedRow<'_, Item>>) -> Option<String> {
    known.filter(|known| known.deleted_at.is_none())?.series_id.clone()
}

impl<'l> Differences<'l> {
    /// Adds an item of a record, with its stored row.
    fn compare(&mut self, fresh: &NormalizedItem, item: Item, known: Option<&LockedRow<'l, Item>>) {
        let change = match known {
            Some(known) if is_same(known, &item) => {
                match differs_quietly(known, &item) {
                    true => {
                        self.quiet.push(UnloggedChange { item: kept_as(known, item), before: known.clone() })
                    }
                    false => self.unchanged.push(Item::clone(known)),
                }
                return;
            }
            Some(known) if known.deleted_at.is_none() => ChangeKind::Updated,
            _ => ChangeKind::Created,
        };
        self.changed.push(ItemChange {
            kind: fresh.kind,
            item,
            change,
            before: known.cloned(),
            stored: None,
            refs: fresh.content.refs.clone(),
            keys: fresh.content.keys.clone(),
            places: Vec::new(),
        });
    }
}

/// Returns the deletion of an item that its record no longer has. After a deletion by a write of ours, feeds may still return older
/// versions.
fn deleted<'l>(item: LockedRow<'l, Item>, location: &CopyLocation, now: i64) -> ItemChange<'l> {
    let provider_updated_at = item.provider_updated_at.filter(|_| !location.is_read()).map(|at| at.max(now));
    ItemChange {
        kind: ResourceKind::parse(&item.kind).unwrap_or(location.kind),
        item: Item { deleted_at: Some(now), updated_at: now, provider_updated_at, ..Item::clone(&item) },
        change: ChangeKind::Deleted,
        before: Some(item),
        stored: None,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
    }
}

/// Most tombstones that are compared with the new items of a page.
const MOST_DEPARTED: i64 = 2_000;

fn is_new(one: &ItemChange<'_>) -> bool {
    one.change == ChangeKind::Created && one.before.is_none()
}

/// Turns a new item into an update of the row that it had under another name. Returns the id that was generated for it, and the one that it
/// keeps.
fn keep_id<'l>(one: &mut ItemChange<'l>, before: LockedRow<'l, Item>) -> (String, String) {
    let made = std::mem::replace(&mut one.item.id, before.id.clone());
    one.item.created_at = before.created_at;
    one.before = Some(before);
    (made, one.item.id.clone())
}

/// Replaces generated ids of series by the ids that they keep.
fn keep_series(changed: &mut [ItemChange<'_>], kept: &HashMap<String, String>) {
    for one in changed {
        if let Some(id) = one.item.series_id.as_ref().and_then(|id| kept.get(id)) {
            one.item.series_id = Some(id.clone());
        }
    }
}

/// Merges a new and a deleted item with the same UID into one update: another client moved the object inside its collection (WebDAV MOVE),
/// or deleted it and stored it again. The item keeps its id and its metadata. Both must be on one page: only the deletion of the old name
/// shows that the new one is no second object with that UID, which some providers allow. If the new name is reported first, the old one is
/// read with it (`sync::store_page`).
pub fn merge_renamed(changed: &mut Vec<ItemChange<'_>>) {
    let is_gone = |one: &ItemChange<'_>| one.change == ChangeKind::Deleted;
    if !(changed.iter().any(is_new) && changed.iter().any(is_gone)) {
        return;
    }
    let mut gone = HashMap::new();
    for one in changed.iter().filter(|one| is_gone(one)) {
        if let (Some(print), Some(before)) = (&one.item.fingerprint, &one.before) {
            gone.insert(print.clone(), before.clone());
        }
    }
    let mut kept = HashMap::new();
    for one in changed.iter_mut().filter(|one| is_new(one)) {
        let print = one.item.fingerprint.as_deref();
        let Some(before) = print.and_then(|print| gone.remove(print)) else { continue };
        one.item.metadata.clone_from(&before.metadata);
        one.change = ChangeKind::Updated;
        let (made, id) = keep_id(one, before);
        kept.insert(made, id);
    }
    let updated: HashSet<String> = kept.values().cloned().collect();
    changed.retain(|one| !is_gone(one) || !updated.contains(&one.item.id));
    keep_series(changed, &kept);
}

/// Gives new items the ids that they had until a recent deletion: an earlier page deleted the old name, in a separate commit. Readers
/// then see the item again, under its id. It also gets its former metadata, even if it returns under its own name.
// Contract silent: for how long an object that is gone is the same one when it comes back. A day.
pub async fn take_up_departed<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    changed: &mut [ItemChange<'l>],
) -> Result<()> {
    let since = copy.app.now() - items::RETURN_MS;
    let new = changed.iter().filter(|one| is_new(one));
    let prints: Vec<&str> = new.filter_map(|one| one.item.fingerprint.as_deref()).collect();
    let found = items::lock_gone_by_fingerprint(copy.tx, copy.lock, &prints, since, MOST_DEPARTED).await?;
    // Tombstones that the page itself refers to take precedence.
    let told = changed.iter().filter_map(|one| one.before.as_ref());
    let told: HashSet<String> = told.map(|before| before.id.clone()).collect();
    let mut departed: HashMap<String, LockedRow<'l, Item>> = HashMap::new();
    for one in found {
        let is_free = one.parent_id == copy.location.parent_id && !told.contains(&one.id);
        if let Some(print) = one.fingerprint.clone().filter(|_| is_free) {
            // The most recent deletion comes first.
            departed.entry(print).or_insert(one);
        }
    }
    let mut kept = HashMap::new();
    for one in changed.iter_mut().filter(|one| is_new(one)) {
        let print = one.item.fingerprint.as_deref();
        if let Some(before) = print.and_then(|print| departed.remove(print)) {
            let (made, id) = keep_id(one, before);
            kept.insert(made, id);
        }
    }
    keep_series(changed, &kept);
    let returned = changed.iter().filter(|one| has_returned(one));
    let ids: Vec<&str> = returned.map(|one| one.item.id.as_str()).collect();
    let mut metadata = items::departed(copy.tx, &ids).await?;
    for one in changed.iter_mut().filter(|one| has_returned(one)) {
        let went_at = one.before.as_ref().and_then(|before| before.deleted_at).filter(|at| *at >= since);
        if let Some((metadata, left_at)) = metadata.remove(&one.item.id)
            && went_at == Some(left_at)
        {
            one.item.metadata = metadata;
        }
    }
    Ok(())
}

/// Whether an item replaces the tombstone of the same object.
fn has_returned(one: &ItemChange<'_>) -> bool {
    let is_it = |before: &LockedRow<'_, Item>| {
        before.deleted_at.is_some() && before.fingerprint == one.item.fingerprint
    };
    one.change == ChangeKind::Created
        && (one.item.fingerprint.is_some() || one.kind.is_collection())
        && one.before.as_ref().is_some_and(is_it)
}

/// Whether clients see no difference. A series that is created or deleted changes its instances, although their content is the same.
fn is_same(known: &Item, row: &Item) -> bool {
    known.deleted_at.is_none() && known.hash == row.hash && known.series_id == row.series_id
}

/// Returns an unchanged item with the hidden columns of the new row.
fn kept_as(known: &Item, row: Item) -> Item {
    Item {
        source_id: row.source_id,
        series_name: row.series_name,
        provider_etag: row.provider_etag,
        provider_updated_at: row.provider_updated_at,
        provider_data: row.provider_data,
        ..known.clone()
    }
}

/// Returns the row with only the provider's columns changed, as `items::set_provider_sides` writes them.
pub fn provider_side(before: &Item, item: Item) -> Item {
    Item {
        provider_etag: item.provider_etag,
        provider_updated_at: item.provider_updated_at,
        provider_data: item.provider_data,
        aside: item.aside,
        sequence: item.sequence,
        ..before.clone()
    }
}

/// Whether a hidden column differs.
fn differs_quietly(known: &Item, row: &Item) -> bool {
    known.source_id != row.source_id
        || known.series_name != row.series_name
        || known.provider_etag != row.provider_etag
        || known.provider_updated_at != row.provider_updated_at
        || known.provider_data != row.provider_data
}

/// Returns the row of an item as the record has it, without the id of its series.
pub fn row(
    app: &App,
    place: &CopyLocation,
    source: &NormalizedRecord,
    fresh: &NormalizedItem,
    id: String,
    known: Option<&Item>,
) -> Item {
    let now = app.now();
    let live = known.filter(|k| k.deleted_at.is_none());
    Item {
        id,
        connection_id: place.connection_id.clone(),
        kind: fresh.kind.as_str().to_owned(),
        parent_id: place.parent_id.clone(),
        external_id: fresh.external_id.clone(),
        source_id: source.source_id.clone(),
        series_id: None,
        series_name: None,
        provider_etag: source.provider_etag.clone(),
        provider_updated_at: source.version_time(now),
        etag: String::new(),
        hash: fresh.hash.clone(),
        body: fresh.content.body.clone(),
        metadata: live.map_or_else(|| "{}".to_owned(), |k| k.metadata.clone()),
        provider_data: fresh.provider_data.clone(),
        uid: fresh.uid.clone(),
        is_series: fresh.content.is_series,
        sort_at: fresh.content.sort_at,
        until_at: fresh.content.until_at,
        sort_text: fresh.content.sort_text.clone(),
        search_text: fresh.content.search_text.clone(),
        is_open: fresh.content.is_open,
        flags: fresh.content.flags,
        fingerprint: fresh.fingerprint.clone(),
        aside: fresh.aside.clone(),
        sequence: 0,
        created_at: live.map_or(now, |k| k.created_at),
        updated_at: now,
        deleted_at: None,
    }
}
