//! Links between series and those of their exceptions that a provider keeps as records of their own. Such an exception names its series
//! (`Item::series_name`), and the two are created and deleted in any order: the link is made once both exist. Deleting a series deletes its
//! exceptions; deleting an exception restores the instance of its series.

use std::collections::{BTreeSet, HashMap, HashSet};

use base::error::Result;
use storage::items::{self, Item};
use storage::locked::LockedRow;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, Differences, ItemChange};
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::stored_records::StoredRecords;
use crate::local_copy::transaction::CopyTransaction;

/// The treatment of exceptions in other records when their series was deleted.
#[derive(Clone, Copy, Debug)]
pub enum LostSeries<'g> {
    /// The provider reports the deletion in `records`, and the exceptions are deleted with the series. Rows that were written after
    /// `as_of`, a sequence of the log, are left to be read again.
    TakesExceptions { records: &'g [NormalizedRecord], as_of: i64 },
    /// A scan of the provider did not name the series. Exceptions that it named become events of their own; those in `gone`, the records
    /// that it did not name, are deleted with these or in another step, unless they were written after `as_of`.
    LeavesExceptions { gone: &'g HashSet<String>, as_of: i64 },
}

impl LostSeries<'_> {
    /// Whether a stored event is deleted on its own, in any step.
    fn is_gone(self, row: &Item) -> bool {
        match self {
            LostSeries::TakesExceptions { .. } => false,
            LostSeries::LeavesExceptions { gone, as_of } => {
                row.sequence <= as_of && gone.contains(&row.source_id)
            }
        }
    }

    /// Returns the names of deleted records that are not stored. A series among them was created and deleted between two reads.
    fn unseen(self, stored: &StoredRecords<'_>) -> BTreeSet<String> {
        let LostSeries::TakesExceptions { records, .. } = self else { return BTreeSet::new() };
        let is_unseen = |record: &&NormalizedRecord| {
            let rows = stored.of_source(&record.source_id);
            record.deleted && record.error.is_none() && rows.iter().all(|row| row.deleted_at.is_some())
        };
        records.iter().filter(is_unseen).map(|record| record.source_id.clone()).collect()
    }
}

/// Most exceptions that one transaction links when their series is created or deleted.
const MOST_LINKED: i64 = 5_000;

/// Links the exceptions that these changes of events affect, or that wait for one of their series, and adds the resulting changes. If very
/// many wait, by number or bytes, the rest is linked at the next full read. Needs at most two statements, and none if no series is created
/// or deleted and no exception leaves its series.
pub async fn link_series<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    stored: &StoredRecords<'l>,
    all: &mut Differences<'l>,
    lost: LostSeries<'_>,
) -> Result<()> {
    if copy.location.kind != ResourceKind::Event {
        return Ok(());
    }
    let now = copy.app.now();
    let live = LiveSeries::new(stored, all);
    link_told(stored, all, &live, now);
    let (names, unseen) = (changed_names(&all.changed), lost.unseen(stored));
    let names: Vec<&str> = names.union(&unseen).map(String::as_str).collect();
    if !names.is_empty() {
        let parent_id = &copy.location.parent_id;
        let mut others = items::exceptions_named(copy.tx, copy.lock, parent_id, &names, MOST_LINKED).await?;
        all.superseded.folders |= !others.is_last;
        others.rows.sort_by(|a, b| a.id.cmp(&b.id));
        link_others(others.rows, all, &live, &unseen, lost, now);
    }
    let mut regaining = regaining_series(&all.changed);
    take_told(stored, all, &regaining, now);
    for one in &all.changed {
        regaining.remove(&one.item.id);
    }
    let ids: Vec<&str> = regaining.iter().map(String::as_str).collect();
    let series = items::lock_items(copy.tx, copy.lock, &ids).await?;
    let is_told =
        |row: &LockedRow<'_, Item>| row.deleted_at.is_none() && is_series(row) && !lost.is_gone(row);
    all.changed.extend(series.into_iter().filter(is_told).map(|row| new_update(row, now)));
    // Readers of the log see a series before its exceptions.
    all.changed.sort_by_key(|one| one.item.series_name.is_some());
    Ok(())
}

/// Whether an event can be a series: one that names a series itself is an exception, whatever else it contains.
fn is_series(item: &Item) -> bool {
    item.is_series && item.series_name.is_none() && item.series_id.is_none()
}

/// The series of a collection after a page, by their external ids.
struct LiveSeries {
    /// Ids of those that the page changes; none if the event is deleted, or no series any more.
    changed: HashMap<String, Option<String>>,
    /// Ids of the others.
    stored: HashMap<String, String>,
}

impl LiveSeries {
    fn new(stored: &StoredRecords<'_>, all: &Differences<'_>) -> LiveSeries {
        let mut changed: HashMap<String, Option<String>> = HashMap::new();
        for one in &all.changed {
            let id = is_live_series(one).then(|| one.item.id.clone());
            let known = changed.entry(one.item.external_id.clone()).or_default();
            *known = known.take().or(id);
        }
        let ids: HashSet<&str> = all.changed.iter().map(|one| one.item.id.as_str()).collect();
        let is_there = |row: &&LockedRow<'_, Item>| {
            row.deleted_at.is_none() && is_series(row) && !ids.contains(row.id.as_str())
        };
        let rows = stored.rows().iter().filter(is_there);
        let stored = rows.map(|row| (row.external_id.clone(), row.id.clone())).collect();
        LiveSeries { changed, stored }
    }

    /// The id of the live series with this external id.
    fn id_of(&self, name: &str) -> Option<&String> {
        match self.changed.get(name) {
            Some(id) => id.as_ref(),
            None => self.stored.get(name),
        }
    }
}

fn is_live_series(one: &ItemChange<'_>) -> bool {
    one.change != ChangeKind::Deleted && is_series(&one.item)
}

/// Returns the row that a change replaces, if it is live.
fn live_before<'c, 'l>(one: &'c ItemChange<'l>) -> Option<&'c LockedRow<'l, Item>> {
    one.before.as_ref().filter(|before| before.deleted_at.is_none())
}

/// Links the exceptions in the page itself.
fn link_told<'l>(stored: &StoredRecords<'l>, all: &mut Differences<'l>, live: &LiveSeries, now: i64) {
    let is_relinked = |item: &&Item| {
        item.series_name.as_ref().is_some_and(|name| live.id_of(name) != item.series_id.as_ref())
    };
    let as_before = all.quiet.iter().map(|one| &one.item).chain(&all.unchanged);
    let relinked: BTreeSet<String> = as_before.filter(is_relinked).map(|item| item.id.clone()).collect();
    take_told(stored, all, &relinked, now);
    for one in all.changed.iter_mut().filter(|one| one.change != ChangeKind::Deleted) {
        if let Some(name) = &one.item.series_name {
            one.item.series_id = live.id_of(name).cloned();
        }
    }
}

/// Returns external ids under which a series was created or deleted.
fn changed_names(changed: &[ItemChange<'_>]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for one in changed {
        let was = live_before(one).filter(|before| is_series(before)).map(|before| &before.external_id);
        let is = is_live_series(one).then_some(&one.item.external_id);
        if was != is {
            names.extend(was.into_iter().chain(is).cloned());
        }
    }
    names
}

/// Links stored exceptions outside the page whose series was created or deleted: a new series adopts them, a deleted one, whether it was
/// stored or not (`unseen`), deletes them, and without one they are events of their own.
fn link_others<'l>(
    others: Vec<LockedRow<'l, Item>>,
    all: &mut Differences<'l>,
    live: &LiveSeries,
    unseen: &BTreeSet<String>,
    lost: LostSeries<'_>,
    now: i64,
) {
    let changed = all.changed.iter().map(|one| &one.item);
    let told = changed.chain(all.quiet.iter().map(|one| &one.item)).chain(&all.unchanged);
    let told: HashSet<String> = told.map(|item| item.id.clone()).collect();
    let gone = all.changed.iter().filter(|one| one.change == ChangeKind::Deleted);
    let gone: HashSet<String> = gone.map(|one| one.item.id.clone()).collect();
    for row in others.into_iter().filter(|row| !told.contains(&row.id) && !lost.is_gone(row)) {
        let name = row.series_name.as_deref().unwrap_or_default();
        let series_id = live.id_of(name).cloned();
        let is_orphan = series_id.is_none()
            && row.series_id.as_ref().map_or_else(|| unseen.contains(name), |id| gone.contains(id));
        if let LostSeries::TakesExceptions { as_of, .. } = lost
            && is_orphan
        {
            if row.sequence <= as_of {
                let update = new_update(row, now);
                let item = Item { deleted_at: Some(now), ..update.item };
                all.changed.push(ItemChange { item, change: ChangeKind::Deleted, ..update });
                continue;
            }
            // Only the provider knows which of the two came last.
            all.superseded.sources.push(row.source_id.clone());
        }
        if series_id != row.series_id {
            let mut linked = new_update(row, now);
            linked.item.series_id = series_id;
            all.changed.push(linked);
        }
    }
}

/// Returns series that regain an instance, because an exception with its own record was deleted, or names another series.
fn regaining_series(changed: &[ItemChange<'_>]) -> BTreeSet<String> {
    let of_exception = |one: &ItemChange<'_>| {
        let before = live_before(one).filter(|before| before.series_name.is_some())?;
        let is_left = one.change == ChangeKind::Deleted || one.item.series_id != before.series_id;
        before.series_id.clone().filter(|_| is_left)
    };
    changed.iter().filter_map(of_exception).collect()
}

/// Turns those of these items that the page reports as unchanged, or nearly so, into updates.
fn take_told<'l>(stored: &StoredRecords<'l>, all: &mut Differences<'l>, ids: &BTreeSet<String>, now: i64) {
    if ids.is_empty() {
        return;
    }
    let (taken, quiet): (Vec<_>, Vec<_>) =
        std::mem::take(&mut all.quiet).into_iter().partition(|one| ids.contains(&one.item.id));
    all.quiet = quiet;
    all.changed.extend(taken.into_iter().map(|quiet| {
        let item = Item { updated_at: now, ..quiet.item };
        ItemChange { item, ..new_update(quiet.before, now) }
    }));
    let (same, unchanged): (Vec<_>, Vec<_>) =
        std::mem::take(&mut all.unchanged).into_iter().partition(|item| ids.contains(&item.id));
    all.unchanged = unchanged;
    let same: HashSet<String> = same.into_iter().map(|item| item.id).collect();
    let rows = stored.rows().iter().filter(|row| same.contains(&row.id));
    all.changed.extend(rows.map(|row| new_update(row.clone(), now)));
}

/// Returns an update of a stored event without any difference yet.
fn new_update<'l>(row: LockedRow<'l, Item>, now: i64) -> ItemChange<'l> {
    ItemChange {
        kind: ResourceKind::Event,
        item: Item { updated_at: now, ..Item::clone(&row) },
        change: ChangeKind::Updated,
        before: Some(row),
        stored: None,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
    }
}
