//! Writes the provider's records into the local copy: one function for the pages of a sync and for the answers to our own writes. Records
//! with unchanged content are skipped, so that a write of ours that a pull reads back makes no second log entry.

use std::collections::{BTreeMap, HashSet};

use base::error::Result;
use serde_json::Value;
use storage::items::{self, FormerSource, Item, ItemWrite};
use storage::locked::LockedRow;
use storage::scheduling::meeting_events;
use storage::sync_states::{self, ScopeKey};

use crate::app::event_log::{self, NewLogEntry};
use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;
use crate::connections::call_target::server_of;
use crate::local_copy::change::{
    ChangeKind, CopyLocation, Differences, ItemChange, UnloggedChange, UpsertResult, etag,
};
use crate::local_copy::diff::{differences, merge_renamed, provider_side, take_up_departed};
use crate::local_copy::mail::source_names::{is_nameless, is_only_here};
use crate::local_copy::mail::{self, locations, replies_and_reports};
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::series_links::{LostSeries, link_series};
use crate::local_copy::stored_records::StoredRecords;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::{references, render};

/// Writes records in the provider's version, and their log entries. A record is left out if it would undo, rename or delete a change that
/// was written after `as_of`, the log's last sequence when the provider was asked; `i64::MAX`: there was no other writer. Sequences are the
/// database's, so that this includes writes of other hosts. A record of a feed that is older than the stored row is left out too.
pub async fn upsert(
    copy: &mut CopyTransaction<'_, '_>,
    records: &[NormalizedRecord],
    as_of: i64,
) -> Result<UpsertResult> {
    let Differences { changed, quiet, unchanged, superseded } = all_differences(copy, records, as_of).await?;
    let quiet = write_quiet(copy, quiet).await?;
    let mut upserted = write(copy, changed).await?;
    // An unchanged record can look different because of one that it is linked with.
    let written: HashSet<String> = upserted.items.iter().map(|item| item.id.clone()).collect();
    let others = quiet.into_iter().chain(unchanged).filter(|item| !written.contains(&item.id));
    upserted.items.extend(others);
    upserted.superseded = superseded;
    Ok(upserted)
}

async fn all_differences<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    records: &[NormalizedRecord],
    as_of: i64,
) -> Result<Differences<'l>> {
    if copy.location.kind.is_mail() {
        return mail::diff::differences(copy, records, as_of).await;
    }
    let stored = StoredRecords::load(copy, records).await?;
    let mut all = Differences::default();
    for record in records.iter().filter(|record| record.error.is_none()) {
        let of_record = differences(copy.app, copy.location, &stored, record);
        match of_record.is_superseded(as_of) || of_record.is_late(record, stored.read_at) {
            true => all.superseded.sources.push(record.source_id.clone()),
            false => all.extend(of_record),
        }
    }
    // An item that moves from one record of the page to another is not deleted.
    let live: HashSet<String> =
        all.changed.iter().filter(|c| c.change != ChangeKind::Deleted).map(|c| c.item.id.clone()).collect();
    let quiet: HashSet<String> = all.quiet.iter().map(|q| q.item.id.clone()).collect();
    all.changed.retain(|c| {
        c.change != ChangeKind::Deleted || !(live.contains(&c.item.id) || quiet.contains(&c.item.id))
    });
    merge_renamed(&mut all.changed);
    if copy.location.is_read() {
        take_up_departed(copy, &mut all.changed).await?;
    }
    link_series(copy, &stored, &mut all, LostSeries::TakesExceptions { records, as_of }).await?;
    Ok(all)
}

/// Deletes the rows of those of these records that are `gone` at the provider; rows written after `as_of` are kept.
pub async fn remove(
    copy: &mut CopyTransaction<'_, '_>,
    source_ids: &[String],
    gone: &HashSet<String>,
    as_of: i64,
) -> Result<UpsertResult> {
    let (stored, mut all) = deletions(copy, source_ids, as_of).await?;
    link_series(copy, &stored, &mut all, LostSeries::LeavesExceptions { gone, as_of }).await?;
    let mut removed = write(copy, all.changed).await?;
    removed.superseded = all.superseded;
    Ok(removed)
}

/// Deletes records inside a deleted collection, at the transaction's location, and drops its cursor: a collection that reappears under its
/// id is read from the beginning, and until then its contents are unknown. Returns the last sequence that was given.
pub async fn remove_contents(
    copy: &mut CopyTransaction<'_, '_>,
    source_ids: &[String],
) -> Result<Option<i64>> {
    let (_, all) = deletions(copy, source_ids, i64::MAX).await?;
    let removed = write_rows(copy, all.changed).await?;
    // After the log, because it wakes jobs: see `LockRank`.
    let scope = scope_of(copy.location);
    sync_states::forget_contents(copy.tx, copy.lock, scope, copy.app.now()).await?;
    let name = scope_name(scope.connection_id, scope.surface, scope.scope_id);
    let held = copy.app.clone();
    copy.tx.after_commit(move || held.freshness.forget(&name));
    Ok(removed.last_sequence)
}

/// Returns the key of the sync state of the records there.
fn scope_of(place: &CopyLocation) -> ScopeKey<'_> {
    ScopeKey {
        connection_id: &place.connection_id,
        surface: place.kind.surface().as_str(),
        scope_id: &place.parent_id,
    }
}

/// Loads the rows of these records, and returns the deletions of everything that was read from them.
async fn deletions<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    source_ids: &[String],
    as_of: i64,
) -> Result<(StoredRecords<'l>, Differences<'l>)> {
    let gone: Vec<NormalizedRecord> = source_ids.iter().map(|id| NormalizedRecord::gone(id)).collect();
    let stored = StoredRecords::load(copy, &gone).await?;
    let mut all = Differences::default();
    for record in &gone {
        let of_record = differences(copy.app, copy.location, &stored, record);
        let is_place =
            |c: &ItemChange<'_>| matches!(c.kind, ResourceKind::EmailFolder | ResourceKind::EmailLabel);
        match of_record.is_superseded(as_of) {
            true if of_record.changed.iter().any(is_place) => all.superseded.folders = true,
            true => all.superseded.sources.push(record.source_id.clone()),
            false => all.extend(of_record),
        }
    }
    Ok((stored, all))
}

/// Writes hidden changes, and returns the rows. A write of ours gets a new sequence, without a log entry, so that a page which was
/// read before it does not undo it.
async fn write_quiet(
    copy: &mut CopyTransaction<'_, '_>,
    quiet: Vec<UnloggedChange<'_>>,
) -> Result<Vec<Item>> {
    if quiet.is_empty() {
        return Ok(Vec::new());
    }
    let sequence = match copy.location.is_read() {
        true => None,
        false => Some(storage::log::next_sequence(copy.tx, &copy.location.tenant, 1).await?),
    };
    let numbered = |UnloggedChange { before, item }| {
        let item = Item { sequence: sequence.unwrap_or(before.sequence), ..item };
        UnloggedChange {
            item: if keeps_names(&before, &item) { provider_side(&before, item) } else { item },
            before,
        }
    };
    let quiet: Vec<UnloggedChange<'_>> = quiet.into_iter().map(numbered).collect();
    let writes = quiet.iter().map(|one| ItemWrite { before: Some(&one.before), item: &one.item });
    let (versions, renames): (Vec<_>, Vec<_>) =
        writes.partition(|one| one.before.is_some_and(|before| keeps_names(before, one.item)));
    items::set_provider_sides(copy.tx, &versions).await?;
    items::write(copy.tx, copy.lock, &renames).await?;
    leave(copy, &renames).await?;
    Ok(quiet.into_iter().map(|one| one.item).collect())
}

/// Whether an item and its series keep their names at the provider.
fn keeps_names(before: &Item, item: &Item) -> bool {
    before.source_id == item.source_id
        && before.external_id == item.external_id
        && before.series_name == item.series_name
}

/// Records the items' previous source ids, so that a late page that names one is recognized.
async fn leave(copy: &mut CopyTransaction<'_, '_>, writes: &[ItemWrite<'_, '_>]) -> Result<()> {
    let mut former = Vec::new();
    for ItemWrite { before, item } in writes {
        let Some(before) = before.filter(|before| before.source_id != item.source_id) else { continue };
        if before.deleted_at.is_none() && !is_only_here(&before.source_id) && !is_nameless(&item.source_id) {
            former.push(FormerSource { source_id: &before.source_id, sequence: item.sequence });
        }
    }
    Ok(items::leave_sources(copy.tx, &copy.lock.id, &former, copy.app.now()).await?)
}

/// Stores the metadata of items that the provider no longer has: they may reappear under another name. Metadata of items that were deleted
/// here is dropped.
async fn keep_departed(copy: &mut CopyTransaction<'_, '_>, changed: &[ItemChange<'_>]) -> Result<()> {
    let location = copy.location;
    if !location.is_read() || location.kind.is_mail() {
        return Ok(());
    }
    let mut departures: BTreeMap<i64, Vec<&LockedRow<'_, Item>>> = BTreeMap::new();
    for one in changed {
        let Some(left_at) = one.item.deleted_at else { continue };
        let before = one.before.as_ref().filter(|before| before.deleted_at.is_none());
        let is_found_again =
            |before: &&LockedRow<'_, Item>| before.fingerprint.is_some() || location.kind.is_collection();
        if let Some(before) = before.filter(is_found_again).filter(|before| before.metadata != "{}") {
            departures.entry(left_at).or_default().push(before);
        }
    }
    for (left_at, departed) in departures {
        items::depart(copy.tx, &departed, left_at).await?;
    }
    Ok(())
}

/// Writes changes. The contents of deleted collections are deleted too, and collections that reappear are read again. Collections that a
/// client has deleted are no longer followed.
async fn write<'l>(copy: &mut CopyTransaction<'_, 'l>, changed: Vec<ItemChange<'l>>) -> Result<UpsertResult> {
    if !copy.location.kind.is_collection() {
        return write_rows(copy, changed).await;
    }
    let known = |change: ChangeKind| -> Vec<String> {
        let of_kind = changed.iter().filter(|one| one.change == change && one.before.is_some());
        of_kind.map(|one| one.item.id.clone()).collect()
    };
    let (gone, returned) = (known(ChangeKind::Deleted), known(ChangeKind::Created));
    let mut written = write_rows(copy, changed).await?;
    for id in &returned {
        let location = copy.location;
        let inside = location.contents_of(id);
        let of = scope_of(&inside);
        // Contacts are followed with all of their books.
        let followed = if location.kind == ResourceKind::ContactBook { scope_of(location) } else { of };
        let (target, now) = (server_of(copy.lock), copy.app.now());
        sync_states::resume_contents(copy.tx, copy.lock, of, followed, &target, now).await?;
    }
    for id in &gone {
        written.last_sequence = remove_collection(copy, id).await?.or(written.last_sequence);
    }
    Ok(written)
}

/// Deletes the contents of a deleted collection.
async fn remove_collection(copy: &mut CopyTransaction<'_, '_>, id: &str) -> Result<Option<i64>> {
    let inside = copy.location.contents_of(id);
    let family = inside.kind.family();
    let sources = items::live_sources(&mut *copy.tx, &inside.connection_id, family, id).await?;
    let last = remove_contents(&mut copy.at(&inside), &sources).await?;
    if !copy.location.is_read() {
        sync_states::end_follow(copy.tx, copy.lock, scope_of(&inside)).await?;
    }
    Ok(last)
}

async fn write_rows<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    changed: Vec<ItemChange<'l>>,
) -> Result<UpsertResult> {
    if changed.is_empty() {
        return Ok(UpsertResult::default());
    }
    let location = copy.location;
    let mut changed = references::resolve(copy, changed).await?;
    let count = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    let first = storage::log::next_sequence(copy.tx, &location.tenant, count).await?;
    for (sequence, one) in (first..).zip(&mut changed) {
        one.item.sequence = sequence;
        one.item.etag = etag(&one.item);
        if location.kind.is_mail() && one.change == ChangeKind::Deleted {
            one.item.body = mail::normalize::own_of(&one.item.body)?;
        }
    }
    store(copy, &changed).await?;
    let notes = changed.iter().map(|one| log_entry(location, one)).collect();
    event_log::insert(copy.tx, copy.app, &location.tenant, first, notes).await?;
    // After the log, because these can enqueue jobs: see `LockRank`.
    if location.kind == ResourceKind::Event {
        // No meeting refers to an id that was just generated.
        let known = changed.iter().filter(|one| one.before.is_some());
        let ids: Vec<String> = known.map(|one| one.item.id.clone()).collect();
        if !ids.is_empty() {
            meeting_events::events_changed(copy.tx, &location.tenant, &ids, copy.app.now()).await?;
        }
    }
    if location.kind.is_mail() {
        replies_and_reports::process_messages(copy, &changed).await?;
    }
    let live = changed.into_iter().filter(|one| one.change != ChangeKind::Deleted);
    Ok(UpsertResult {
        first_sequence: Some(first),
        last_sequence: Some(first + count - 1),
        items: live.map(|one| one.item).collect(),
        ..UpsertResult::default()
    })
}

/// Writes the rows of changes that have their sequences, with their side data.
async fn store(copy: &mut CopyTransaction<'_, '_>, changed: &[ItemChange<'_>]) -> Result<()> {
    let mut rows = Vec::with_capacity(changed.len());
    let mut replaced = Vec::with_capacity(changed.len());
    for one in changed {
        rows.push(ItemWrite { before: one.stored.as_ref().or(one.before.as_ref()), item: &one.item });
        replaced.push(ItemWrite { before: one.before.as_ref(), item: &one.item });
    }
    items::write(copy.tx, copy.lock, &rows).await?;
    leave(copy, &replaced).await?;
    keep_departed(copy, changed).await?;
    if copy.location.kind.is_mail() {
        locations::store(copy, changed).await?;
    }
    Ok(())
}

fn log_entry(place: &CopyLocation, changed: &ItemChange<'_>) -> NewLogEntry {
    let word = match changed.change {
        ChangeKind::Created => "created",
        ChangeKind::Updated => "updated",
        ChangeKind::Deleted => "deleted",
    };
    let fields = match (&changed.before, changed.change) {
        (Some(before), ChangeKind::Updated) => Some(changed_fields(before, &changed.item)),
        _ => None,
    };
    let kind = changed.kind;
    let told = if is_completion(changed, fields.as_deref()) { "completed" } else { word };
    let is_gone = changed.change == ChangeKind::Deleted;
    NewLogEntry {
        connection_id: Some(place.connection_id.clone()),
        account_ids: None,
        entry_type: format!("{}.{told}", kind.resource_type()),
        change_type: word,
        resource_type: kind.resource_type(),
        resource_id: changed.item.id.clone(),
        parent_id: place.parent_id.clone(),
        changed_fields: fields,
        etag: (!is_gone).then(|| changed.item.etag.clone()),
        origin: place.origin,
        resource: (!is_gone).then(|| render::item(&changed.item, &[], false)),
    }
}

/// Whether a task was completed, which has a separate notification.
fn is_completion(changed: &ItemChange<'_>, fields: Option<&[String]>) -> bool {
    changed.kind == ResourceKind::Task
        && fields.is_some_and(|f| f.iter().any(|f| f == "status"))
        && changed.item.body.contains("\"status\":\"completed\"")
}

/// Stores new metadata of an item, which is logged like any other change.
pub async fn set_metadata<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    before: LockedRow<'l, Item>,
    metadata: String,
) -> Result<LockedRow<'l, Item>> {
    if before.metadata == metadata {
        return Ok(before);
    }
    let location = copy.location;
    let mut item = Item { metadata, ..Item::clone(&before) };
    item.updated_at = copy.app.now();
    let sequence = storage::log::next_sequence(copy.tx, &location.tenant, 1).await?;
    item.sequence = sequence;
    item.etag = etag(&item);
    let stored = items::replace(copy.tx, before, item).await?;
    let changed = ItemChange {
        kind: ResourceKind::parse(&stored.kind).unwrap_or(location.kind),
        before: None,
        stored: None,
        item: Item::clone(&stored),
        change: ChangeKind::Updated,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
    };
    let note =
        NewLogEntry { changed_fields: Some(vec!["metadata".to_owned()]), ..log_entry(location, &changed) };
    event_log::insert(copy.tx, copy.app, &location.tenant, sequence, vec![note]).await?;
    Ok(stored)
}

/// Returns the names of the top-level fields that differ.
fn changed_fields(before: &Item, after: &Item) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (old, new) = (parse(&before.body), parse(&after.body));
    let Some(new) = new.as_object() else { return Vec::new() };
    let differs = |(name, value): &(&String, &Value)| old.get(name.as_str()) != Some(*value);
    let mut fields: Vec<String> = new.iter().filter(differs).map(|(name, _)| name.clone()).collect();
    // For messages it is the thread.
    if before.series_id != after.series_id && after.kind == ResourceKind::Event.as_str() {
        fields.push("seriesId".to_owned());
    }
    fields
}
