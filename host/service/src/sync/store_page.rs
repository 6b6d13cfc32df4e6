//! Prepares and writes the pages of a pull.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;

use base::error::{Error, Result};
use futures::FutureExt;
use model::wire::{Source, SourceName};
use runtime::{self, Blame};
use storage::items::{self, FingerprintedItem};
use storage::sync_states::SyncState;

use crate::app::event_log::Origin;
use crate::app::supervise::panic_message;
use crate::local_copy::change::CopyLocation;
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::sync::page::{Mode, PageEnd, PageWrite, sweep_ahead, write_page};
use crate::sync::provider_page::{DeferredNames, ProviderPage, Scan};
use crate::sync::pull::{PageToStore, Pull, PullError, is_initial};
use crate::sync::scan_end::ScanEnd;
use crate::sync::{backfill, on_demand, quarantine, schedule, superseded};

/// Returns the most stored items that are compared with a page of `items` items, which find themselves too. If there are more, the provider
/// does not use UIDs.
fn most_former(items: usize) -> usize {
    100 + 2 * items
}

/// Returns the names of stored objects that may be earlier names of the page's new items: not on the page, and the only ones with their
/// UID, since several would be ambiguous.
fn former_names(
    page: &[NormalizedRecord],
    found: &[FingerprintedItem],
    collection_id: &str,
) -> Vec<SourceName> {
    let mut stored: HashMap<&str, Vec<&str>> = HashMap::new();
    for one in found.iter().filter(|one| one.parent_id == collection_id) {
        stored.entry(&one.fingerprint).or_default().push(&one.source_id);
    }
    let told: HashSet<&str> = page.iter().map(|source| source.source_id.as_str()).collect();
    let prints = page.iter().flat_map(|source| &source.items).filter_map(|item| item.fingerprint.as_deref());
    let alone = prints.filter_map(|print| match stored.get(print).map(Vec::as_slice) {
        Some([alone]) => Some(*alone),
        _ => None,
    });
    let names: BTreeSet<&str> = alone.filter(|name| !told.contains(name)).collect();
    let name = |name: &str| SourceName { external_id: name.to_owned(), etag: None, deleted: false };
    names.into_iter().map(name).collect()
}

/// Whether a connector, or its provider, cannot answer a request for many records.
fn is_no_answer(e: &runtime::Error) -> bool {
    use runtime::Code::{Invalid, NotFound, Unsupported, UnsupportedSurface};
    matches!(e.code, Invalid | NotFound | Unsupported | UnsupportedSurface)
}

impl Pull<'_> {
    /// Normalizes these records. Runs on another thread: it takes a while, and a request may wait for the next page.
    async fn ready(&self, sources: Vec<Source>) -> Result<Vec<NormalizedRecord>, PullError> {
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        let kind = self.scope.kind;
        let ready = tokio::task::spawn_blocking(move || prepared(kind, sources)).await;
        let mut ready = ready.map_err(anyhow::Error::from)?;
        if kind.is_mail() {
            let completed = backfill::complete(self.app, self.connection, &mut ready, self.background).await;
            completed.map_err(|e| PullError::Provider(Box::new(e)))?;
        }
        self.add_former(&mut ready).await?;
        Ok(ready)
    }

    /// Adds the provider's records under the earlier names of a page's new items to the page: those of stored items with the same UID. A
    /// provider can report an object's new name pages before the deletion of the old one, and a full read never reports deletions. With
    /// both on one page the item keeps its id (`merge_renamed`). If the old name still exists, it is a second object with that UID.
    async fn add_former(&self, ready: &mut Vec<NormalizedRecord>) -> Result<(), PullError> {
        let (app, connection, scope) = (self.app, self.connection, self.scope);
        if !self.takes_names() {
            return Ok(());
        }
        let new = ready.iter().flat_map(|source| &source.items);
        let prints: Vec<&str> = new.filter_map(|item| item.fingerprint.as_deref()).collect();
        let most = most_former(prints.len());
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let found = items::live_by_fingerprint(app.db.reader(), &connection.id, &prints, limit).await?;
        let names = former_names(ready, &found, &scope.scope_id);
        if names.is_empty() || found.len() >= most {
            return Ok(());
        }
        match self.content(&names, true).await {
            Ok(sources) => {
                // An unreadable record is no evidence of a deletion.
                let sources = sources.into_iter().filter(|source| source.error.is_none()).collect();
                ready.extend(prepared(scope.kind, sources));
                Ok(())
            }
            Err(e) if e.blame == Blame::Connector || is_no_answer(&e) => {
                tracing::warn!(connection = %connection.id, scope = %scope.scope_id, error = %e,
                    "the former names of new items cannot be asked for, they are taken for other items");
                Ok(())
            }
            Err(e) => Err(PullError::Provider(Box::new(e))),
        }
    }

    /// Writes a page: items, log entries, state, cursor. False: nothing was written, because the scope was reset or another process
    /// completed the scan.
    pub(crate) async fn store(&self, state: &mut SyncState, read: PageToStore) -> Result<bool, PullError> {
        let app = self.app;
        let mut page = ProviderPage { sources: self.ready(read.sources).await?, ..read.page };
        // Collections are never read one by one: left out of a page, they would be lost.
        let is_from_feed = page.is_feed() && !self.scope.kind.is_collection();
        for record in &mut page.sources {
            record.is_from_feed = is_from_feed;
        }
        let end = self.scan_end(state, &page).await?;
        match &end {
            ScanEnd::None => {}
            ScanEnd::Doubted(_) => page.is_doubted = true,
            ScanEnd::Deleted { since, .. } => {
                page.scan = page.scan.map(|scan| Scan { since: *since, ..scan });
            }
        }
        let is_first = state.last_success_at.is_none();
        let mut next = state.clone();
        next.seen += if is_initial(state) { page.sources.len() as i64 } else { 0 };
        self.go_on(&mut next, &page);
        next.covered_since = page.covered_since.filter(|_| is_first && page.more).or(next.covered_since);
        if !self.background || self.by.is_asked_for {
            next.last_activity_at = Some(app.now());
        }
        if !page.more {
            self.conclude(&mut next, &end)?;
        }
        let is_inside_of_a_walk = state.doubt.is_some() || state.walk_start.is_some();
        let says_nothing =
            !page.more && page.scan.is_none() && page.sources.is_empty() && !is_inside_of_a_walk;
        let is_due = state.followed && state.next_pull_at.is_none_or(|at| at <= app.now());
        if says_nothing && !is_due && !self.by.is_asked_for && self.was_well_lately() {
            // Nothing new: the time of the last pull is only written now and then.
            return Ok(true);
        }
        // Clients that were notified of the deletion of a collection's contents are notified of their return.
        let is_backfill = is_first && !state.is_return;
        let origin = if is_backfill { Origin::Backfill } else { Origin::Provider };
        if let ScanEnd::Deleted { sources, since } = &end {
            sweep_ahead(app, &self.place(origin), sources, *since, self.by.job).await?;
        }
        let is_written = self.write(state, origin, page, next).await?;
        app.coverage.tell(&self.scope.lock_name(self.connection));
        Ok(is_written)
    }

    /// Sets the state after the last page of a walk: all was read, or a second full read follows.
    fn conclude(&self, next: &mut SyncState, end: &ScanEnd) -> Result<()> {
        next.covered_since = None;
        if let ScanEnd::Doubted(doubt) = end {
            doubt.store(next)?;
            next.rescan = true;
            if !is_initial(next) {
                next.status = "syncing".to_owned();
            }
            return Ok(());
        }
        next.doubt = None;
        next.is_return = false;
        next.status = "caught_up".to_owned();
        // The provider had this version when the pull began, which `pull::run` records: later changes may be on none of its pages.
        next.last_success_at = next.last_attempt_at.or_else(|| Some(self.app.now()));
        next.consecutive_errors = 0;
        next.last_error = None;
        Ok(())
    }

    /// Sets the position at which the next page, or the next pull, continues. Collections are read from the beginning each time.
    fn go_on(&self, next: &mut SyncState, page: &ProviderPage) {
        let cursor = page.cursor.clone().filter(|_| !self.scope.kind.is_collection());
        let Some(scan) = page.scan else {
            next.walk_start = self.walk.stored_start().filter(|_| page.more && cursor.is_some());
            next.cursor = cursor;
            return;
        };
        next.walk_start = None;
        if next.generation != scan.generation {
            // The scan starts, and replaces another one that may have been requested.
            next.rescan = false;
        }
        next.generation = scan.generation;
        if page.more {
            (next.scan_cursor, next.scan_since) = (cursor, Some(scan.since));
            return;
        }
        // Another process at the same scan has nothing left to do.
        next.generation += 1;
        (next.scan_cursor, next.scan_since) = (None, None);
        next.cursor = cursor;
    }

    /// Writes a page, in parts if it has many records. If a part cannot be written, those before it stay: the page is read again, which
    /// does not change them.
    async fn write(
        &self,
        state: &mut SyncState,
        origin: Origin,
        page: ProviderPage,
        mut next: SyncState,
    ) -> Result<bool> {
        let began_in = state.generation;
        let is_watched = !page.more && self.is_watched().await?;
        let (mut as_of, mut has_written) = (page.as_of, false);
        let parts = self.parts(origin, page).await?;
        let last = parts.len().saturating_sub(1);
        for (number, part) in parts.into_iter().enumerate() {
            let how = PageWrite {
                mode: Mode::Whole,
                job: self.by.job.cloned(),
                is_watched,
                began_in,
                is_end: number == last,
                has_written,
            };
            let part = ProviderPage { as_of, ..part };
            let Some(end) = self.write_part(origin, part, next, how).await? else { return Ok(false) };
            (next, as_of, has_written) = (end.state, end.as_of, end.has_written);
        }
        self.has_written.store(true, Ordering::Relaxed);
        *state = next;
        Ok(true)
    }

    /// Writes a page, or a part of one. If a record in it cannot be written, it is found and quarantined, and the rest is written.
    async fn write_part(
        &self,
        origin: Origin,
        page: ProviderPage,
        next: SyncState,
        how: PageWrite,
    ) -> Result<Option<PageEnd>> {
        let write = |mode: Mode, page: ProviderPage, next: SyncState| {
            let (app, location, how) =
                (self.app.clone(), self.place(origin), PageWrite { mode, ..how.clone() });
            let written = self.app.db.write(move |tx| {
                Box::pin(async move { write_page(tx, app, location, page, next, how).await })
            });
            // On PostgreSQL a write runs on the caller's task: a panic must not end the pull.
            AssertUnwindSafe(written).catch_unwind()
        };
        let fault = |panic| {
            Err(Error::from(anyhow::anyhow!("a panic while a page was written: {}", panic_message(panic))))
        };
        match write(how.mode, page.clone(), next.clone()).await.unwrap_or_else(fault) {
            Err(e) if e.code().is_none() && !on_demand::is_lost(&e) && !page.sources.is_empty() => {
                tracing::warn!(connection = %self.connection.id, scope = %self.scope.scope_id, error = %e,
                    "a page cannot be written and is written source by source");
                write(Mode::Isolated, page, next).await.unwrap_or_else(fault)
            }
            written => written,
        }
    }

    async fn is_watched(&self) -> Result<bool> {
        let read = || schedule::is_watched(self.app, self.connection, self.scope);
        Ok(*self.is_watched.get_or_try_init(read).await?)
    }

    /// Whether a successful state was written less than a poll interval ago.
    fn was_well_lately(&self) -> bool {
        self.was_well_at.is_some_and(|at| self.app.now() - at < self.app.config.poll_interval_ms)
    }

    pub(crate) fn place(&self, origin: Origin) -> CopyLocation {
        CopyLocation {
            tenant: self.connection.tenant.clone(),
            connection_id: self.connection.id.clone(),
            kind: self.scope.kind,
            parent_id: self.scope.scope_id.clone(),
            origin,
        }
    }

    /// Reads the records again that were left out of pages because they were written here in between. Those that the provider does not
    /// return now are requested by the next pull.
    pub(crate) async fn read_superseded(&self, state: &mut SyncState) -> Result<()> {
        let (app, connection, scope) = (self.app, self.connection, self.scope);
        let mut names = superseded::due(app, connection, scope).await?;
        if names.is_empty() {
            return Ok(());
        }
        let as_of = self.now().await?;
        match superseded::read(app, connection, scope, &mut names, self.background).await? {
            Ok(sources) => self.write_alone(state, prepared(scope.kind, sources), as_of, names).await,
            Err(e) => {
                tracing::warn!(connection = %connection.id, scope = %scope.scope_id, error = %e,
                    "records that were written during the pull cannot be read again now");
                Ok(())
            }
        }
    }

    /// Writes records that were read one by one.
    async fn write_alone(
        &self,
        state: &mut SyncState,
        sources: Vec<NormalizedRecord>,
        as_of: i64,
        reread: Vec<String>,
    ) -> Result<()> {
        let connector = quarantine::connector(self.app, self.connection);
        let (scan, is_doubted, covered_since, cursor) = (None, false, None, None);
        let named = DeferredNames::None;
        let page = ProviderPage {
            sources,
            earlier: Vec::new(),
            connector,
            as_of,
            scan,
            is_doubted,
            covered_since,
            cursor,
            more: false,
            reread,
            named,
        };
        let next = state.clone();
        // If the scope was reset in between, everything is read again anyway.
        self.write(state, Origin::Provider, page, next).await.map(|_| ())
    }

    /// Reads each of the unreadable records again whose retry is due.
    pub(crate) async fn retry_unreadable(&self, state: &SyncState) -> Result<()> {
        if !quarantine::is_retried(self.scope.kind) {
            return Ok(());
        }
        let (app, mut state) = (self.app, state.clone());
        for error in quarantine::due(app, self.connection, &state).await? {
            let as_of = self.now().await?;
            let again =
                quarantine::retry_record(app, self.connection, self.scope, &error, self.background).await?;
            let Some(sources) = again else { return Ok(()) };
            self.write_alone(&mut state, prepared(self.scope.kind, sources), as_of, Vec::new()).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::resource_kind::ResourceKind;
    use crate::local_copy::record::{NormalizedContent, NormalizedItem};

    fn source(name: &str, fingerprint: &str) -> NormalizedRecord {
        let item = NormalizedItem {
            kind: ResourceKind::Event,
            external_id: name.to_owned(),
            uid: None,
            series_external_id: None,
            hash: String::new(),
            provider_data: None,
            content: NormalizedContent::default(),
            fingerprint: Some(fingerprint.to_owned()),
            aside: None,
            partial: None,
        };
        NormalizedRecord { items: vec![item], deleted: false, ..NormalizedRecord::gone(name) }
    }

    fn stored(fingerprint: &str, parent: &str, source: &str) -> FingerprintedItem {
        FingerprintedItem {
            fingerprint: fingerprint.into(),
            parent_id: parent.into(),
            source_id: source.into(),
        }
    }

    #[test]
    fn only_what_may_be_an_older_name_is_asked_for() {
        let page = [source("new", "a"), source("known", "b"), source("moved", "c"), source("double", "d")];
        let found = [
            stored("a", "cal", "old"),
            stored("a", "other", "elsewhere"),
            stored("b", "cal", "known"),
            // Both names are on the page.
            stored("c", "cal", "double"),
            stored("d", "cal", "one"),
            stored("d", "cal", "two"),
        ];
        let names: Vec<String> =
            former_names(&page, &found, "cal").into_iter().map(|name| name.external_id).collect();
        assert_eq!(names, ["old"]);
    }
}
