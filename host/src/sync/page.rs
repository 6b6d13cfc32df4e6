//! One page of what a provider has, written with its log lines, the state and the cursor in one transaction.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;

use base::error::{Error, Result};
use futures::FutureExt;
use storage::Tx;
use storage::items;
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::sync_states::{self as table, Batch, SyncState};

use crate::app::App;
use crate::resources::apply::{self, Applied, Place};
use crate::resources::differences::Superseded;
use crate::resources::mail::is_only_here;
use crate::resources::prepare::Prepared;
use crate::supervise::said;
use crate::sync::schedule::{interval_ms, pull_job_of};
use crate::sync::unreadable;

/// An answer of the connector, as it is written.
#[derive(Clone)]
pub struct Page {
    pub sources: Vec<Prepared>,
    /// The build of the connector that read them.
    pub connector: Option<String>,
    /// The log's last sequence when the provider was asked for it.
    pub as_of: i64,
    /// The scan that it belongs to.
    pub scan: Option<Scan>,
    /// Everything from here on has been told, ms.
    pub covered_since: Option<i64>,
    pub cursor: Option<String>,
    pub more: bool,
    /// Records that an earlier page named and that were left out of it: this page is what the provider says of them now.
    pub reread: Vec<String>,
    pub named: Named,
}

/// What a page does to the names whose content is still to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    None,
    /// These are to be read before the next page.
    Kept(Vec<Batch>),
    /// It is the content of this batch, but for these: what is held of them is what the provider has.
    Read(Batch, Vec<String>),
}

/// Reading everything that a collection has, page by page. What no page named is gone when the last one was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Its number: items are marked with it as they are named.
    pub generation: i64,
    /// The log's last sequence when it began.
    pub since: i64,
}

impl Page {
    /// The provider's names of all that it tells is there.
    pub fn told(&self) -> Vec<&str> {
        let held = match &self.named {
            Named::Read(_, held) => held.as_slice(),
            Named::None | Named::Kept(_) => &[],
        };
        let sources = self.sources.iter().map(|source| source.source_id.as_str());
        sources.chain(held.iter().map(String::as_str)).collect()
    }

    /// The scan that ends with this page.
    fn ended(&self) -> Option<Scan> {
        self.scan.filter(|_| !self.more)
    }
}

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
pub struct Writing {
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
    place: Place,
    mut page: Page,
    (mut state, began_in): (SyncState, i64),
    how: Writing,
) -> Result<Option<SyncState>> {
    let lock = apply::lock(tx, &place).await?;
    let stored = table::lock_state(tx, &lock, (&state.surface, &state.scope_id)).await?;
    if stored.as_ref().is_some_and(|stored| stored.generation != began_in) {
        return Ok(None);
    }
    let is_failing = stored.is_some_and(|stored| stored.followed && stored.last_error.is_some());
    let applied = match how.mode {
        Mode::Whole => apply::apply_read(tx, &app, (&lock, &place), &page.sources, page.as_of).await?,
        Mode::Isolated => apply_isolated(tx, &app, (&lock, &place), &mut page.sources, page.as_of).await?,
    };
    let Applied { mut last, mut superseded } = applied;
    unreadable::keep(tx, &state, &page, app.now()).await?;
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
        Named::None => {}
        Named::Kept(batches) => table::keep_names(tx, state.key(), state.generation, batches).await?,
        Named::Read(batch, _) => table::remove_names(tx, state.key(), state.generation, batch).await?,
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
    (lock, place): (&ConnectionLock, &Place),
    scan: Scan,
) -> Result<Applied> {
    let inside = (place.kind.family(), place.parent_id.as_str());
    let mut gone = items::unseen_sources(&mut *tx, &lock.id, inside, scan.generation).await?;
    gone.retain(|source_id| !is_only_here(source_id));
    let mut removed = apply::remove_sources(tx, app, (lock, place), &gone, scan.since).await?;
    gone.retain(|id| !removed.superseded.sources.contains(id));
    if place.kind.is_collection() {
        removed.last = remove_contents(tx, app, (lock, place), &gone).await?.or(removed.last);
    }
    Ok(removed)
}

/// Sources whose failures say that it is not them: so many, none of them for what is in it, and no other source could be written.
const HOPELESS: usize = 5;

/// Writes sources in halves, and a half that fails in halves again, each in a savepoint of its own, until what fails is one source:
/// that is quarantined with its error. Fails when nothing can be written, which is then no source's fault.
pub async fn apply_isolated(
    tx: &mut Tx,
    app: &App,
    at: (&ConnectionLock, &Place),
    sources: &mut [Prepared],
    as_of: i64,
) -> Result<Applied> {
    let mut all = Applied::default();
    let (mut written, mut failed) = (0, 0);
    let whole = 0..sources.len();
    let mut waiting = vec![whole];
    while let Some(range) = waiting.pop().filter(|range| !range.is_empty()) {
        tx.batch("savepoint source").await?;
        let some = &sources[range.clone()];
        let tried = AssertUnwindSafe(apply::apply_read(tx, app, at, some, as_of)).catch_unwind().await;
        let (error, is_of_the_data) = match tried {
            Ok(Ok(applied)) => {
                tx.batch("release savepoint source").await?;
                all.last = applied.last.or(all.last);
                all.superseded.sources.extend(applied.superseded.sources);
                all.superseded.folders |= applied.superseded.folders;
                written += some.iter().filter(|source| source.error.is_none()).count();
                continue;
            }
            Ok(Err(e)) => {
                let is_of_the_data = matches!(&e, Error::Internal(e) if storage::is_of_the_data(e));
                (e, is_of_the_data)
            }
            Err(panic) => (anyhow::anyhow!("a panic while it was written: {}", said(panic)).into(), true),
        };
        tx.batch("rollback to savepoint source").await?;
        tx.batch("release savepoint source").await?;
        if error.code().is_some() {
            return Err(error);
        }
        if range.len() > 1 {
            let middle = range.start + range.len() / 2;
            waiting.extend([middle..range.end, range.start..middle]);
            continue;
        }
        failed += usize::from(!is_of_the_data);
        if failed >= HOPELESS && written == 0 {
            return Err(error);
        }
        let source = &mut sources[range.start];
        tracing::error!(connection = %at.1.connection_id, source = %source.source_id, error = %error,
            "an item cannot be stored and is quarantined");
        source.items.clear();
        source.error = Some(("not_storable".to_owned(), "the item cannot be stored".to_owned()));
    }
    Ok(all)
}

/// Notes what was left out, to be read again. Collections come whole with every pull.
pub async fn note_superseded(tx: &mut Tx, app: &App, place: &Place, superseded: &Superseded) -> Result<()> {
    if place.kind.is_collection() {
        return Ok(());
    }
    let surface = place.kind.surface().as_str();
    let of = table::ScopeKey { connection_id: &place.connection_id, surface, scope_id: &place.parent_id };
    Ok(table::add_rereads(tx, of, &superseded.sources, app.now()).await?)
}

/// What was in collections that are gone.
async fn remove_contents(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &Place),
    gone: &[String],
) -> Result<Option<i64>> {
    let mut last = None;
    for source_id in gone {
        let collections = items::lock_of_source(tx, lock, place.kind.family(), "", source_id).await?;
        for collection in collections {
            last = remove_contents_of(tx, app, (lock, place), &collection.id).await?.or(last);
        }
    }
    Ok(last)
}

/// Sources of which one transaction makes tombstones.
const SWEPT: usize = 200;

/// What is gone with the end of a scan, where that is much: in steps, so that other writes have their turn in between. The few that
/// are left go with the page, which is where it is settled: a crash before that repeats the end of the scan.
/// `job`: whose turn the pull is.
pub async fn sweep_ahead(app: &App, place: &Place, page: &Page, job: Option<&Job>) -> Result<()> {
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
    sweep_sources(app, place, (&gone, scan.since), job).await
}

/// The same for what is in a collection, which lies in `place`.
pub async fn sweep_contents(app: &App, place: &Place, collection_id: &str) -> Result<()> {
    sweep_collection(app, place, collection_id, None).await
}

async fn sweep_collection(app: &App, place: &Place, collection_id: &str, job: Option<&Job>) -> Result<()> {
    let kind = place.kind.contents();
    let inside = Place { kind, parent_id: collection_id.to_owned(), ..place.clone() };
    let reader = app.db.reader();
    let sources = items::live_sources(reader, &place.connection_id, kind.family(), collection_id).await?;
    sweep_sources(app, &inside, (&sources, i64::MAX), job).await
}

async fn sweep_sources(
    app: &App,
    place: &Place,
    (gone, as_of): (&[String], i64),
    job: Option<&Job>,
) -> Result<()> {
    if gone.len() <= SWEPT {
        return Ok(());
    }
    for some in gone.chunks(SWEPT) {
        let (held, place, some, job) = (app.clone(), place.clone(), some.to_vec(), job.cloned());
        let removed = app.db.write(move |tx| {
            Box::pin(async move {
                let lock = apply::lock(tx, &place).await?;
                apply::remove_sources(tx, &held, (&lock, &place), &some, as_of).await?;
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

/// Makes tombstones of everything in a collection, which lies in `place`.
pub async fn remove_contents_of(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &Place),
    collection_id: &str,
) -> Result<Option<i64>> {
    let kind = place.kind.contents();
    let inside = Place { kind, parent_id: collection_id.to_owned(), ..place.clone() };
    let sources = items::live_sources(&mut *tx, &place.connection_id, kind.family(), collection_id).await?;
    Ok(apply::remove_sources(tx, app, (lock, &inside), &sources, i64::MAX).await?.last)
}
