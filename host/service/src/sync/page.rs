//! Writes one page of a provider's records with its log entries, the state and the cursor in one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use base::error::{Error, Result};
use storage::jobs::{self, Job};
use storage::scheduling::meeting_events;
use storage::sync_states::SyncState;
use storage::{Tx, items, sync_states as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{CopyLocation, UpsertResult};
use crate::local_copy::isolate::upsert_isolated_part;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::superseded::note_superseded;
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::upsert::{remove, remove_contents, upsert};
use crate::sync::provider_page::{DeferredNames, ProviderPage};
use crate::sync::quarantine;
use crate::sync::schedule::{interval_ms, pull_job_of};

/// The handling of records that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All records at once.
    Whole,
    /// A record that cannot be written is quarantined, and the others are written.
    Isolated,
}

/// The options of writing a page.
#[derive(Clone, Debug)]
pub struct PageWrite {
    pub mode: Mode,
    /// The job that the pull is a run of. If it is no longer this host's, nothing is written, and `LostLease` is returned.
    pub job: Option<Job>,
    /// The provider notifies of changes.
    pub is_watched: bool,
    /// The generation of the state in which the pull began. If it has changed, nothing is written.
    pub began_in: i64,
    /// False for a part of a page (`page_parts`): then the records alone are written. Until the end is written the page counts as not read.
    pub is_end: bool,
    /// A record of an earlier part of the page could be written.
    pub has_written: bool,
}

/// The state from which the next part of a page continues.
#[derive(Clone, Debug)]
pub struct PageEnd {
    /// The state, which is stored with the end of the page.
    pub state: SyncState,
    /// The sequence of the log up to which all rows were written before the provider was asked for the page, or by its parts.
    pub as_of: i64,
    /// A record of the page could be written.
    pub has_written: bool,
}

/// Writes a page, or a part of one. Returns the state as written; none if the state's generation is not the one in which the pull began,
/// and then nothing is written. Records that were written here since the provider was asked are left out of the page and marked: they are
/// read again one by one, so that a client that writes one item all the time does not delay other changes.
pub async fn write_page(
    tx: &mut Tx,
    app: App,
    location: CopyLocation,
    mut page: ProviderPage,
    mut state: SyncState,
    how: PageWrite,
) -> Result<Option<PageEnd>> {
    let lock = crate::local_copy::change::lock(tx, &location).await?;
    let stored = table::lock_state(tx, &lock, (&state.surface, &state.scope_id)).await?;
    if stored.as_ref().is_some_and(|stored| stored.generation != how.began_in) {
        return Ok(None);
    }
    let is_back = !page.more && !page.is_doubted && stored.as_ref().is_some_and(|stored| stored.is_return);
    let is_failing = stored.is_some_and(|stored| stored.followed && stored.last_error.is_some());
    let mut copy = CopyTransaction { tx, app: &app, lock: &lock, location: &location };
    let mut written = match how.mode {
        Mode::Whole => upsert(&mut copy, &page.sources, page.as_of).await?,
        Mode::Isolated => {
            upsert_isolated_part(&mut copy, &mut page.sources, page.as_of, how.has_written).await?
        }
    };
    let as_of = next_as_of(page.as_of, &written);
    let has_written = how.has_written || page.sources.iter().any(|source| source.error.is_none());
    quarantine::store(copy.tx, &state, &page, app.now()).await?;
    written.extend(mark_and_sweep(&mut copy, &page).await?);
    if let Some(last) = written.last_sequence {
        state.latest_sequence = last;
        state.last_activity_at = Some(app.now());
    }
    // Folders come only with a full read.
    state.rescan |= written.superseded.folders;
    table::remove_rereads(copy.tx, state.key(), &page.reread).await?;
    note_superseded(&mut copy, &written.superseded).await?;
    if !how.is_end {
        if let Some(job) = &how.job {
            // No progress of the job yet: a page that kills its host is read again as a whole.
            jobs::check_fence(copy.tx, job, None, app.now()).await?;
        }
        return Ok(Some(PageEnd { state, as_of, has_written }));
    }
    if !page.more {
        plan(&app, &mut state, how.is_watched);
    }
    match &page.named {
        DeferredNames::None => {}
        DeferredNames::Kept(batches) => {
            table::keep_names(copy.tx, state.key(), state.generation, batches).await?
        }
        DeferredNames::Read(batch, _) => {
            table::remove_names(copy.tx, state.key(), state.generation, batch).await?
        }
    }
    if !table::upsert(copy.tx, &lock, &state, how.began_in).await? {
        return Ok(None);
    }
    if let Some(job) = &how.job {
        let progress = format!("{{\"seen\":{}}}", state.seen);
        jobs::check_fence(copy.tx, job, Some(&progress), app.now()).await?;
    }
    if is_back && location.kind == ResourceKind::Event {
        meeting_events::calendar_returned(copy.tx, &location.tenant, &location.parent_id, app.now()).await?;
    }
    if is_failing && !page.more {
        // Its job may be scheduled much later.
        let job = pull_job_of(&lock, &state.surface, &state.scope_id);
        jobs::enqueue(copy.tx, &job.due(&lock, state.next_pull_at), app.now()).await?;
    }
    Ok(Some(PageEnd { state, as_of, has_written }))
}

/// Returns the position in the log up to which all rows were written before a page was asked for, or by its parts: if there was no other
/// writer in between, it is the end of the last write. Otherwise this part's changes to a record of a later part count as newer than the
/// page, and that record is read again.
fn next_as_of(as_of: i64, written: &UpsertResult) -> i64 {
    match (written.first_sequence, written.last_sequence) {
        (Some(first), Some(last)) if first == as_of.saturating_add(1) => last,
        _ => as_of,
    }
}

/// Marks the records that a page of a scan names. At the end of a scan deletes the others; rows that were written here since it began are
/// kept, and another read decides.
async fn mark_and_sweep(copy: &mut CopyTransaction<'_, '_>, page: &ProviderPage) -> Result<UpsertResult> {
    let Some(scan) = page.scan else { return Ok(UpsertResult::default()) };
    let inside = (copy.location.kind.family(), copy.location.parent_id.as_str());
    items::mark_seen(copy.tx, copy.lock, inside, &page.existing_names(), scan.generation).await?;
    if page.ended().is_none() {
        return Ok(UpsertResult::default());
    }
    let mut gone = items::unseen_sources(&mut *copy.tx, &copy.lock.id, inside, scan.generation).await?;
    gone.retain(|source_id| !is_only_here(source_id));
    let all_gone = gone.iter().cloned().collect();
    remove(copy, &gone, &all_gone, scan.since).await
}

/// Sets the time at which a completely read collection is read again: later, the longer it was quiet.
pub fn plan(app: &App, state: &mut SyncState, is_watched: bool) {
    let now = app.now();
    // From an earlier version: the time is unknown.
    let since = *state.last_activity_at.get_or_insert(now);
    let interval = interval_ms(app.config.poll_interval_ms, now - since, is_watched);
    state.next_pull_at = Some(now.saturating_add(interval));
}

/// Records that one transaction deletes.
const SWEPT: usize = 200;
/// Most collections of a connection whose contents are deleted ahead.
const MAX_COLLECTIONS: i64 = 1_000;

/// Deletes missing records ahead of the end of a large scan: in steps, so that other writes can run in between. The last few are deleted
/// with the page, which completes the scan: after a crash before that the end of the scan is repeated. Rows that were written after
/// `since`, a sequence of the log, are kept. `job`: the job that the pull is a run of.
pub async fn sweep_ahead(
    app: &App,
    place: &CopyLocation,
    gone: &[String],
    since: i64,
    job: Option<&Job>,
) -> Result<()> {
    if place.kind.is_collection() && !gone.is_empty() {
        let (reader, id, kind) = (app.db.reader(), &place.connection_id, place.kind.as_str());
        for collection in items::list_top(reader, &place.tenant, Some(id), kind, "", MAX_COLLECTIONS).await? {
            if gone.contains(&collection.source_id) {
                sweep_collection(app, place, &collection.id, job).await?;
            }
        }
    }
    sweep_sources(app, place, gone, SweepReason::Unseen { since }, job).await
}

/// Deletes the contents of a collection at `place` in the same way.
pub async fn sweep_contents(app: &App, place: &CopyLocation, collection_id: &str) -> Result<()> {
    sweep_collection(app, place, collection_id, None).await
}

async fn sweep_collection(
    app: &App,
    place: &CopyLocation,
    collection_id: &str,
    job: Option<&Job>,
) -> Result<()> {
    let inside = place.contents_of(collection_id);
    let (reader, family) = (app.db.reader(), inside.kind.family());
    let sources = items::live_sources(reader, &place.connection_id, family, collection_id).await?;
    sweep_sources(app, &inside, &sources, SweepReason::Collection, job).await
}

/// The reason why records are deleted in steps.
#[derive(Clone, Copy)]
enum SweepReason {
    /// No page of a scan named them; `since` was the log's last sequence when it began.
    Unseen { since: i64 },
    /// Their collection was deleted.
    Collection,
}

async fn sweep_sources(
    app: &App,
    place: &CopyLocation,
    gone: &[String],
    reason: SweepReason,
    job: Option<&Job>,
) -> Result<()> {
    if gone.len() <= SWEPT {
        return Ok(());
    }
    let all_gone: Arc<HashSet<String>> = Arc::new(gone.iter().cloned().collect());
    for some in gone.chunks(SWEPT) {
        let (held, place, some, job) = (app.clone(), place.clone(), some.to_vec(), job.cloned());
        let all_gone = all_gone.clone();
        let removed = app.db.write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                let mut copy = CopyTransaction { tx, app: &held, lock: &lock, location: &place };
                match reason {
                    SweepReason::Unseen { since } => {
                        remove(&mut copy, &some, &all_gone, since).await?;
                    }
                    // Each step drops the cursor: any of them may be the last.
                    SweepReason::Collection => {
                        remove_contents(&mut copy, &some).await?;
                    }
                }
                if let Some(job) = &job {
                    jobs::check_fence(copy.tx, job, Some("{}"), held.now()).await?;
                }
                Ok::<_, Error>(())
            })
        });
        removed.await?;
    }
    Ok(())
}
