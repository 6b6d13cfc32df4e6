//! One page of what a provider has, written with its log lines, the state and the cursor in one transaction.

use std::collections::HashSet;

use base::error::{Error, Result};
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::scheduling::meeting_events;
use storage::sync_states::SyncState;
use storage::{Tx, items, sync_states as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{CopyLocation, Upserted};
use crate::local_copy::isolate::apply_isolated;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::superseded::note_superseded;
use crate::local_copy::upsert;
use crate::sync::provider_page::{DeferredNames, ProviderPage, Scan};
use crate::sync::quarantine;
use crate::sync::schedule::{interval_ms, pull_job_of};

/// How a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All at once.
    Whole,
    /// A source that cannot be written is quarantined, and the others are written.
    Isolated,
}

/// How a page is written, and by whom.
#[derive(Clone, Debug)]
pub struct PageWrite {
    pub mode: Mode,
    /// The job that the pull is a turn of. When it is no longer this host's, nothing is written, and `LostLease` is returned.
    pub job: Option<Job>,
    /// The provider tells of changes.
    pub is_watched: bool,
}

/// Returns the state as it was written; none when the state is not of the generation any more in which the pull began, and then nothing
/// is written. What was written here since the provider was asked is left out of the page and noted: it is read again by itself, so
/// that somebody who writes the same item all the time keeps nobody else's changes out.
pub async fn write_page(
    tx: &mut Tx,
    app: App,
    place: CopyLocation,
    mut page: ProviderPage,
    (mut state, began_in): (SyncState, i64),
    how: PageWrite,
) -> Result<Option<SyncState>> {
    let lock = crate::local_copy::change::lock(tx, &place).await?;
    let stored = table::lock_state(tx, &lock, (&state.surface, &state.scope_id)).await?;
    if stored.as_ref().is_some_and(|stored| stored.generation != began_in) {
        return Ok(None);
    }
    let is_back = !page.more && stored.as_ref().is_some_and(|stored| stored.is_return);
    let is_failing = stored.is_some_and(|stored| stored.followed && stored.last_error.is_some());
    let applied = match how.mode {
        Mode::Whole => upsert::apply_read(tx, &app, (&lock, &place), &page.sources, page.as_of).await?,
        Mode::Isolated => apply_isolated(tx, &app, (&lock, &place), &mut page.sources, page.as_of).await?,
    };
    let Upserted { mut last, mut superseded } = applied;
    quarantine::keep(tx, &state, &page, app.now()).await?;
    if let Some(scan) = page.scan {
        let inside = (place.kind.family(), place.parent_id.as_str());
        items::mark_seen(tx, &lock, inside, &page.told(), scan.generation).await?;
    }
    if let Some(scan) = page.ended() {
        let removed = sweep(tx, &app, (&lock, &place), scan).await?;
        last = removed.last.or(last);
        superseded.sources.extend(removed.superseded.sources);
        superseded.folders |= removed.superseded.folders;
    }
    if let Some(last) = last {
        state.latest_sequence = last;
        state.last_activity_at = Some(app.now());
    }
    if !page.more {
        plan(&app, &mut state, how.is_watched);
    }
    for source_id in &page.reread {
        table::remove_reread(tx, state.key(), source_id).await?;
    }
    match &page.named {
        DeferredNames::None => {}
        DeferredNames::Kept(batches) => table::keep_names(tx, state.key(), state.generation, batches).await?,
        DeferredNames::Read(batch, _) => {
            table::remove_names(tx, state.key(), state.generation, batch).await?
        }
    }
    // Folders come only with everything else.
    state.rescan |= superseded.folders;
    note_superseded(tx, &app, &place, &superseded).await?;
    if !table::upsert(tx, &lock, &state, began_in).await? {
        return Ok(None);
    }
    if let Some(job) = &how.job {
        let progress = format!("{{\"seen\":{}}}", state.seen);
        jobs::check_fence(tx, job, Some(&progress), app.now()).await?;
    }
    if is_back && place.kind == ResourceKind::Event {
        meeting_events::calendar_returned(tx, &place.tenant, &place.parent_id, app.now()).await?;
    }
    if is_failing && !page.more {
        // Its job may be put off for long.
        let job = pull_job_of(&lock, &state.surface, &state.scope_id);
        jobs::enqueue(tx, &job.due(&lock, state.next_pull_at), app.now()).await?;
    }
    Ok(Some(state))
}

/// Sets when a collection that was read to its end is read again: the later, the longer nothing has happened.
pub fn plan(app: &App, state: &mut SyncState, is_watched: bool) {
    let now = app.now();
    // From an earlier version: nothing is known of it yet.
    let since = *state.last_activity_at.get_or_insert(now);
    let interval = interval_ms(app.config.poll_interval_ms, now - since, is_watched);
    state.next_pull_at = Some(now.saturating_add(interval));
}

/// Deletes what a scan that has ended did not name. What was written here since it began is spared: whether it is there, another look
/// will show.
async fn sweep(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    scan: Scan,
) -> Result<Upserted> {
    let inside = (place.kind.family(), place.parent_id.as_str());
    let mut gone = items::unseen_sources(&mut *tx, &lock.id, inside, scan.generation).await?;
    gone.retain(|source_id| !is_only_here(source_id));
    upsert::remove_sources(tx, app, (lock, place), &gone, scan.since).await
}

/// Sources of which one transaction makes tombstones.
const SWEPT: usize = 200;

/// What is gone with the end of a scan, where that is much: in steps, so that other writes have their turn in between. The few that
/// are left go with the page, which is where it is settled: a crash before that repeats the end of the scan.
/// `job`: whose turn the pull is.
pub async fn sweep_ahead(
    app: &App,
    place: &CopyLocation,
    page: &ProviderPage,
    job: Option<&Job>,
) -> Result<()> {
    let Some(scan) = page.ended() else { return Ok(()) };
    let inside = (place.kind.family(), place.parent_id.as_str());
    let reader = app.db.reader();
    let named: HashSet<&str> = page.sources.iter().map(|source| source.source_id.as_str()).collect();
    let mut gone = items::unseen_sources(reader, &place.connection_id, inside, scan.generation).await?;
    gone.retain(|source_id| !is_only_here(source_id) && !named.contains(source_id.as_str()));
    if place.kind.is_collection() {
        for source_id in &gone {
            let of = (place.connection_id.as_str(), place.kind.family(), "", source_id.as_str());
            for id in items::ids_of_source(app.db.reader(), of).await? {
                sweep_collection(app, place, &id, job).await?;
            }
        }
    }
    sweep_sources(app, place, &gone, SweepReason::Unseen { since: scan.since }, job).await
}

/// The same for what is in a collection, which lies in `place`.
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

/// Why records are deleted in steps.
#[derive(Clone, Copy)]
enum SweepReason {
    /// No page of a scan named them, which began when this was the log's last sequence.
    Unseen { since: i64 },
    /// Their collection is gone.
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
    for some in gone.chunks(SWEPT) {
        let (held, place, some, job) = (app.clone(), place.clone(), some.to_vec(), job.cloned());
        let removed = app.db.write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                match reason {
                    SweepReason::Unseen { since } => {
                        upsert::remove_sources(tx, &held, (&lock, &place), &some, since).await?;
                    }
                    // Each step forgets the cursor: none of them may be the last.
                    SweepReason::Collection => {
                        upsert::remove_contents(tx, &held, &lock, &place, &some).await?;
                    }
                }
                if let Some(job) = &job {
                    jobs::check_fence(tx, job, Some("{}"), held.now()).await?;
                }
                Ok::<_, Error>(())
            })
        });
        removed.await?;
    }
    Ok(())
}
