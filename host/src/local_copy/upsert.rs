//! What the provider holds, written into the local copy: one function for a sync's pages and for the answer of our own
//! writes. Equal content changes nothing and is told to nobody, so that our own write coming back is no second event.

use std::collections::HashSet;

use base::error::Result;
use serde_json::Value;
use storage::Tx;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, Locked};
use storage::scheduling::meeting_events;
use storage::sync_states::{self, ScopeKey};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{
    ChangeKind, CopyLocation, Differences, ItemChange, UnloggedChange, Upserted, etag,
};
use crate::local_copy::diff::{differences, merge_renamed, take_up_departed};
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::references::bind;
use crate::local_copy::render;

/// Writes sources that nobody else can have changed meanwhile, and their log lines. Returns the last sequence that was given, if
/// anything changed.
pub async fn apply(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    place: &CopyLocation,
    sources: &[NormalizedRecord],
) -> Result<Option<i64>> {
    Ok(apply_read(tx, app, (lock, place), sources, i64::MAX).await?.last)
}

/// The same for what was read while others may have written. A source is left out when it would undo, rename or delete what was
/// written after `as_of`, the log's last sequence when the provider was asked. Sequences are the database's, so this holds for
/// writes of other hosts as well.
pub async fn apply_read(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    sources: &[NormalizedRecord],
    as_of: i64,
) -> Result<Upserted> {
    let differences = all_differences(tx, app, (lock, place), sources, as_of).await?;
    let Differences { changed, quiet, superseded } = differences;
    write_quiet(tx, app, place, quiet).await?;
    let last = write(tx, app, (lock, place), changed).await?;
    Ok(Upserted { last, superseded })
}

async fn all_differences<'l>(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&'l ConnectionLock, &CopyLocation),
    sources: &[NormalizedRecord],
    as_of: i64,
) -> Result<Differences<'l>> {
    if place.kind.is_mail() {
        return crate::local_copy::mail::diff::differences(tx, app, (lock, place), sources, as_of).await;
    }
    let mut all = Differences::default();
    for source in sources.iter().filter(|source| source.error.is_none()) {
        let of_source = differences(tx, app, (lock, place), source).await?;
        match of_source.is_superseded(as_of) {
            true => all.superseded.sources.push(source.source_id.clone()),
            false => all.extend(of_source),
        }
    }
    // An item that goes from one source of the page to another is not gone.
    let live: HashSet<String> =
        all.changed.iter().filter(|c| c.change != ChangeKind::Deleted).map(|c| c.item.id.clone()).collect();
    let quiet: HashSet<String> = all.quiet.iter().map(|q| q.item.id.clone()).collect();
    all.changed.retain(|c| {
        c.change != ChangeKind::Deleted || !(live.contains(&c.item.id) || quiet.contains(&c.item.id))
    });
    merge_renamed(&mut all.changed);
    if place.is_read() {
        take_up_departed(tx, app, (lock, place), &mut all.changed).await?;
    }
    Ok(all)
}

/// Makes tombstones of everything that the provider no longer has; what was written after `as_of` is spared.
pub async fn remove_sources(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    gone: &[String],
    as_of: i64,
) -> Result<Upserted> {
    let all = deletions(tx, app, lock, place, gone, as_of).await?;
    let last = write(tx, app, (lock, place), all.changed).await?;
    Ok(Upserted { last, superseded: all.superseded })
}

/// Deletes records inside of a collection that is gone, and forgets how far it was read: a collection that comes back under its id is read
/// from the beginning, and until then nothing is known of its contents.
pub async fn remove_contents(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    inside: &CopyLocation,
    source_ids: &[String],
) -> Result<Option<i64>> {
    let all = deletions(tx, app, lock, inside, source_ids, i64::MAX).await?;
    let last = write_rows(tx, app, lock, inside, all.changed).await?;
    // After the log, because it wakes jobs: see `LockRank`.
    sync_states::forget_contents(tx, lock, scope_of(inside), app.now()).await?;
    let ScopeKey { connection_id, surface, scope_id } = scope_of(inside);
    let (held, name) = (app.clone(), scope_name(connection_id, surface, scope_id));
    tx.after_commit(move || held.freshness.forget(&name));
    Ok(last)
}

/// The sync state of the records that lie there.
fn scope_of(place: &CopyLocation) -> ScopeKey<'_> {
    ScopeKey {
        connection_id: &place.connection_id,
        surface: place.kind.surface().as_str(),
        scope_id: &place.parent_id,
    }
}

/// The deletions of everything that was read from these sources.
async fn deletions<'l>(
    tx: &mut Tx,
    app: &App,
    lock: &'l ConnectionLock,
    place: &CopyLocation,
    gone: &[String],
    as_of: i64,
) -> Result<Differences<'l>> {
    let mut all = Differences::default();
    for source_id in gone {
        let source = NormalizedRecord::gone(source_id);
        let of_source = differences(tx, app, (lock, place), &source).await?;
        let is_place =
            |c: &ItemChange| matches!(c.kind, ResourceKind::EmailFolder | ResourceKind::EmailLabel);
        match of_source.is_superseded(as_of) {
            true if of_source.changed.iter().any(is_place) => all.superseded.folders = true,
            true => all.superseded.sources.push(source_id.clone()),
            false => all.extend(of_source),
        }
    }
    Ok(all)
}

/// Writes what nobody sees. A write of ours is given a sequence of its own, without a line in the log, so that a page which was read
/// before it does not undo it.
async fn write_quiet(
    tx: &mut Tx,
    app: &App,
    place: &CopyLocation,
    quiet: Vec<UnloggedChange<'_>>,
) -> Result<()> {
    if quiet.is_empty() {
        return Ok(());
    }
    let sequence = match place.is_read() {
        true => None,
        false => Some(storage::log::next_sequence(tx, &place.tenant, 1).await?),
    };
    for UnloggedChange { before, item } in quiet {
        let item = Item { sequence: sequence.unwrap_or(before.sequence), ..item };
        if before.source_id == item.source_id && before.external_id == item.external_id {
            items::set_provider_side(tx, &before, &item).await?;
            continue;
        }
        items::update(tx, &before, &item).await?;
        leave(tx, app, &before, &item).await?;
    }
    Ok(())
}

/// Keeps the name that an item of the mailbox had until now.
async fn leave(tx: &mut Tx, app: &App, before: &Item, item: &Item) -> Result<()> {
    let is_renamed = before.source_id != item.source_id && before.deleted_at.is_none();
    if !is_renamed
        || crate::local_copy::mail::source_names::is_only_here(&before.source_id)
        || crate::local_copy::mail::source_names::is_nameless(&item.source_id)
    {
        return Ok(());
    }
    let at = (item.sequence, app.now());
    Ok(items::leave_source(tx, &item.connection_id, &before.source_id, at).await?)
}

/// Keeps the metadata of an item that the provider no longer has: it may come back under another name. What was deleted here is deleted.
async fn keep_departed(
    tx: &mut Tx,
    place: &CopyLocation,
    before: &Locked<'_, Item>,
    item: &Item,
) -> Result<()> {
    let is_kept = place.is_read() && !place.kind.is_mail() && before.deleted_at.is_none();
    let is_found_again = before.fingerprint.is_some() || place.kind.is_collection();
    let has_any = is_found_again && before.metadata != "{}";
    match item.deleted_at.filter(|_| is_kept && has_any) {
        Some(left_at) => Ok(items::depart(tx, before, left_at).await?),
        None => Ok(()),
    }
}

/// Writes changes. The contents of collections that are gone go with them, and collections that are back are read again.
async fn write(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    changed: Vec<ItemChange<'_>>,
) -> Result<Option<i64>> {
    if !place.kind.is_collection() {
        return write_rows(tx, app, lock, place, changed).await;
    }
    let known = |change: ChangeKind| -> Vec<String> {
        let of_kind = changed.iter().filter(|one| one.change == change && one.before.is_some());
        of_kind.map(|one| one.item.id.clone()).collect()
    };
    let (gone, returned) = (known(ChangeKind::Deleted), known(ChangeKind::Created));
    let mut last = write_rows(tx, app, lock, place, changed).await?;
    for id in &returned {
        let inside = place.contents_of(id);
        let of = scope_of(&inside);
        // Contacts are followed with all of their books.
        let followed = if place.kind == ResourceKind::ContactBook { scope_of(place) } else { of };
        sync_states::resume_contents(tx, lock, of, followed, app.now()).await?;
    }
    for id in &gone {
        let inside = place.contents_of(id);
        let family = inside.kind.family();
        let sources = items::live_sources(&mut *tx, &place.connection_id, family, id).await?;
        last = remove_contents(tx, app, lock, &inside, &sources).await?.or(last);
    }
    Ok(last)
}

async fn write_rows(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    place: &CopyLocation,
    changed: Vec<ItemChange<'_>>,
) -> Result<Option<i64>> {
    if changed.is_empty() {
        return Ok(None);
    }
    let mut changed = bind(tx, app, (lock, place), changed).await?;
    let count = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    let first = storage::log::next_sequence(tx, &place.tenant, count).await?;
    let mut notes = Vec::with_capacity(changed.len());
    for (sequence, changed) in (first..).zip(&mut changed) {
        changed.item.sequence = sequence;
        changed.item.etag = etag(&changed.item);
        if place.kind.is_mail() && changed.change == ChangeKind::Deleted {
            changed.item.body = crate::local_copy::mail::normalize::own_of(&changed.item.body)?;
        }
        match changed.before.as_ref().or(changed.inserted.as_ref()) {
            Some(stored) => items::update(tx, stored, &changed.item).await?,
            None => drop(items::insert(tx, lock, changed.item.clone()).await?),
        }
        if let Some(before) = &changed.before {
            leave(tx, app, before, &changed.item).await?;
            keep_departed(tx, place, before, &changed.item).await?;
        }
        if place.kind.is_mail() {
            crate::local_copy::mail::locations::put(tx, &place.tenant, changed).await?;
        }
        notes.push(note(place, changed));
    }
    if place.kind.is_mail() {
        crate::local_copy::mail::locations::date_threads(tx, &changed, app.now()).await?;
    }
    event_log::insert(tx, app, &place.tenant, first, notes).await?;
    if place.kind == ResourceKind::Event {
        // After the log, because it can enqueue jobs: see `LockRank`. No meeting knows an id that was made just now.
        let known = changed.iter().filter(|changed| changed.before.is_some());
        let ids: Vec<String> = known.map(|changed| changed.item.id.clone()).collect();
        if !ids.is_empty() {
            meeting_events::events_changed(tx, &place.tenant, &ids, app.now()).await?;
        }
    }
    if place.kind.is_mail() {
        // After the log, because it can enqueue jobs: see `LockRank`.
        for changed in &changed {
            crate::local_copy::mail::replies_and_reports::look(tx, app, place, changed).await?;
        }
    }
    Ok(Some(first + count - 1))
}

fn note(place: &CopyLocation, changed: &ItemChange<'_>) -> NewLogEntry {
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

/// A task that is done has a notification of its own.
fn is_completion(changed: &ItemChange<'_>, fields: Option<&[String]>) -> bool {
    changed.kind == ResourceKind::Task
        && fields.is_some_and(|f| f.iter().any(|f| f == "status"))
        && changed.item.body.contains("\"status\":\"completed\"")
}

/// Stores new metadata for an item: a change of ours alone, told like any other.
pub async fn set_metadata<'l>(
    tx: &mut Tx,
    app: &App,
    place: &CopyLocation,
    before: Locked<'l, Item>,
    metadata: String,
) -> Result<Locked<'l, Item>> {
    if before.metadata == metadata {
        return Ok(before);
    }
    let mut item = Item { metadata, ..Item::clone(&before) };
    item.updated_at = app.now();
    let sequence = storage::log::next_sequence(tx, &place.tenant, 1).await?;
    item.sequence = sequence;
    item.etag = etag(&item);
    let stored = items::replace(tx, before, item).await?;
    let changed = ItemChange {
        kind: ResourceKind::parse(&stored.kind).unwrap_or(place.kind),
        before: None,
        inserted: None,
        item: Item::clone(&stored),
        change: ChangeKind::Updated,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
    };
    let note = NewLogEntry { changed_fields: Some(vec!["metadata".to_owned()]), ..note(place, &changed) };
    event_log::insert(tx, app, &place.tenant, sequence, vec![note]).await?;
    Ok(stored)
}

/// Names of the top-level fields that differ.
fn changed_fields(before: &Item, after: &Item) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (before, after) = (parse(&before.body), parse(&after.body));
    let Some(after) = after.as_object() else { return Vec::new() };
    let differs = |(name, value): &(&String, &Value)| before.get(name.as_str()) != Some(*value);
    after.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}
