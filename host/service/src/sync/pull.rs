//! One pull: ask the connector what changed since the stored cursor, page by page, and write each page with its cursor in one
//! transaction. Without a cursor the connector enumerates everything: a scan. It goes on where it stopped, and only when its last page has
//! been read is what no page named taken for gone, so that a partial scan never deletes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::error::{Error, Result};
use model::wire::{Source, Sources};
use runtime::{self, Blame};
use storage::connections::Connection;
use storage::jobs::Job;
use storage::sync_states::SyncState;
use storage::{log, sync_states as table};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::app::App;
use crate::connections;
use crate::connections::call::Reply;
use crate::connections::provider_call::failed;
use crate::connections::throttle;
use crate::sync::failure::note_failure;
use crate::sync::provider_page::{DeferredNames, ProviderPage, Scan};
use crate::sync::scope::SyncScope;
use crate::sync::walk::Walk;
use crate::sync::{quarantine, save, state};

/// Pages of one pull; a connector that never ends is cut here.
const MAX_PAGES: usize = 10_000;
/// So many of them unreadable and none readable: then it is the connector that is broken, and no source is to blame.
pub(crate) const HOPELESS: usize = 5;
/// Pages that one turn in the background reads, and how long it begins new ones: then others have their turn, and the next one goes on.
const TURN_PAGES: usize = 20;
const TURN_TIME: Duration = Duration::from_secs(10);

/// For whom a pull is done, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct PullLimits<'a> {
    /// Nobody waits for it: it goes behind calls that somebody waits for.
    pub background: bool,
    /// The job that it is a turn of: its fence goes into everything that is written.
    pub job: Option<&'a Job>,
    /// Somebody asked for it before its time was come.
    pub is_asked_for: bool,
    /// Pages to read, where the next pull can go on.
    pub pages: usize,
    /// No page is begun after this time, where the next pull can go on. None: whatever time it takes.
    pub time: Option<Duration>,
}

impl<'a> PullLimits<'a> {
    /// Somebody waits until all of it is read.
    pub fn waiting(job: Option<&'a Job>) -> PullLimits<'a> {
        PullLimits { background: false, job, is_asked_for: false, pages: MAX_PAGES, time: None }
    }

    /// A turn in the background.
    pub fn turn(job: &'a Job, is_asked_for: bool) -> PullLimits<'a> {
        PullLimits {
            background: true,
            job: Some(job),
            is_asked_for,
            pages: TURN_PAGES,
            time: Some(TURN_TIME),
        }
    }
}

/// Brings the copy of a scope up to date. The caller holds the scope's lock. Fails with `LostLease` when the job is no longer this host's:
/// nothing more is written then.
pub async fn run(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    by: PullLimits<'_>,
) -> Result<PullEnd> {
    let mark = app.freshness.mark();
    let mut state = state(app, connection, scope).await?;
    let was_well_at = state.last_success_at.filter(|_| state.status == "caught_up");
    // What is read shows the provider as it was from here on, not as it is at the end.
    let began = app.now();
    state.last_attempt_at = Some(began);
    if state.last_success_at.is_none() {
        state.status = "initial".to_owned();
        save(app, &state, by.job).await?;
    }
    let remains = table::pull_remains(app.db.reader(), state.key(), state.generation).await?;
    let mut pull = Pull {
        app,
        connection,
        scope,
        background: by.background,
        by,
        until: by.time.map(|time| Instant::now() + time),
        is_watched: OnceCell::new(),
        was_well_at,
        // Names are read, and written, before the page is asked for.
        log_position: Some(state.log_sequence).filter(|last| *last > 0 && !remains.has_names),
        has_names: remains.has_names,
        has_written: AtomicBool::new(false),
        restarted: false,
        walk: Walk::default(),
    };
    match pull.read_to_the_end(&mut state).await {
        Ok(PullEnd::CaughtUp) => {
            app.freshness.set_since(mark, &scope.lock_name(connection), began, state.generation);
            let left = match pull.has_written.load(Ordering::Relaxed) {
                true => table::pull_remains(app.db.reader(), state.key(), state.generation).await?,
                false => remains,
            };
            if left.has_rereads {
                pull.read_superseded(&mut state).await?;
            }
            if left.has_item_errors {
                pull.retry_unreadable(&state).await?;
            }
            Ok(PullEnd::CaughtUp)
        }
        Ok(ended) => Ok(ended),
        Err(PullError::Provider(e)) => {
            note_failure(app, &mut state, &e, by.job).await?;
            app.coverage.tell(&scope.lock_name(connection));
            let until = state.next_pull_at.filter(|_| by.background && throttle::is_held(&e));
            match until {
                // The provider was not asked: no attempt has failed.
                Some(until) => Ok(PullEnd::Waits(until)),
                None => Err(failed(app, connection, &e).await),
            }
        }
        Err(PullError::Host(e)) => Err(e),
    }
}

/// How a pull ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullEnd {
    CaughtUp,
    /// It was reset, or another process came to the end of the same scan, while a page was read.
    Superseded,
    /// As much as was to be read at a time; the place is kept.
    Enough,
    /// The provider wants to be left alone, and nobody waits for the pull: it goes on at this time, ms since 1970. The place is kept.
    Waits(i64),
}

pub(crate) enum PullError {
    Provider(Box<runtime::Error>),
    Host(Error),
}

impl<E: Into<Error>> From<E> for PullError {
    fn from(e: E) -> Self {
        PullError::Host(e.into())
    }
}

pub(crate) struct Pull<'a> {
    pub(crate) app: &'a App,
    pub(crate) connection: &'a Connection,
    pub(crate) scope: &'a SyncScope,
    pub(crate) background: bool,
    pub(crate) by: PullLimits<'a>,
    /// When no page is begun any more.
    until: Option<Instant>,
    /// Whether the provider tells of changes, once that was asked for.
    pub(crate) is_watched: OnceCell<bool>,
    /// When the stored state became what a quiet pull would make of it.
    pub(crate) was_well_at: Option<i64>,
    /// The log's last sequence when the state was read, as long as nothing was asked for since.
    log_position: Option<i64>,
    /// There may be names whose content is to be read before the next page.
    has_names: bool,
    /// It has written something besides the failures of calls.
    pub(crate) has_written: AtomicBool,
    restarted: bool,
    pub(crate) walk: Walk,
}

/// A page as the connector answered it.
pub(crate) type ConnectorPage = Reply<Sources>;

/// What became of asking for a page. Of a first reading the next page is asked for while one is made ready and written.
pub(crate) type PageResult = Result<ConnectorPage, runtime::Error>;

/// A page that is to be written: all that is known of it, and what it tells of.
pub(crate) struct PageToStore {
    pub(crate) page: ProviderPage,
    pub(crate) sources: Vec<Source>,
}

impl Pull<'_> {
    async fn read_to_the_end(&mut self, state: &mut SyncState) -> Result<PullEnd, PullError> {
        let (mut scan, mut cursor, mut is_resumed) = self.begin(state);
        let mut ahead: Option<(i64, PageResult)> = None;
        for number in 0..MAX_PAGES {
            if (number >= self.by.pages || number > 0 && self.is_late()) && self.can_go_on_later(state) {
                return Ok(PullEnd::Enough);
            }
            if self.has_names
                && let Some(ended) = self.read_named(state, cursor.as_deref(), scan).await?
            {
                return Ok(ended);
            }
            let (as_of, asked) = match ahead.take() {
                Some(asked) => asked,
                None => (self.position().await?, self.answer(cursor.clone()).await),
            };
            let answer = match asked {
                Ok(answer) => answer,
                Err(e) if e.code == runtime::Code::CursorExpired && !self.restarted => {
                    // The provider forgot our place: read everything and tell only what differs.
                    self.restarted = true;
                    state.provider_resets += 1;
                    (cursor, scan, is_resumed, self.walk) = (None, None, false, Walk::default());
                    continue;
                }
                Err(e) if e.code == runtime::Code::CursorExpired => return Err(forgetful(&e)),
                Err(e) if e.blame == Blame::Connector && quarantine::is_retried(self.scope.kind) => {
                    self.rescued(state, cursor.clone(), e).await?
                }
                Err(e) => return Err(PullError::Provider(Box::new(e))),
            };
            connections::state::note(self.app, self.connection, Ok(())).await;
            self.check(state, &answer, cursor.as_deref())?;
            let (more, next) = (answer.more, answer.cursor.clone());
            // A mailbox that an earlier version began to read has no marks of what that saw.
            let is_unmarked = self.is_first_reading(state) && cursor.is_some();
            if scan.is_none() && answer.body.enumeration && !is_unmarked {
                scan = Some(Scan { generation: state.generation + 1, since: as_of });
            }
            let read = self.arranged(answer, scan, as_of)?;
            self.has_names = read.page.named != DeferredNames::None;
            let is_next_wanted =
                more && number + 1 < self.by.pages && self.scope.kind.is_mail() && is_initial(state);
            let is_stored = match is_next_wanted {
                true => self.store_and_ask(state, read, &mut ahead).await?,
                false => self.store(state, read).await?,
            };
            if !is_stored {
                return Ok(PullEnd::Superseded);
            }
            cursor = next;
            if more {
                // The stored place is inside of a round, and the end of the round has to be stored, also where it tells nothing new.
                self.was_well_at = None;
                continue;
            }
            if state.doubt.is_none() && (!is_resumed || state.cursor.is_none()) {
                return Ok(PullEnd::CaughtUp);
            }
            // All of it once more, before anything is deleted; or what changed since a walk began that was resumed: its first pages are as old.
            cursor = state.cursor.clone().filter(|_| state.doubt.is_none());
            (scan, is_resumed, self.walk) = (None, false, Walk::starting_at(cursor.as_deref()));
        }
        let e = runtime::Error::bad_output(format!("more than {MAX_PAGES} pages"));
        Err(PullError::Provider(Box::new(e)))
    }

    /// Refuses an answer that would never come to an end, names that nobody asked for, and a page of another kind than those before it: the
    /// next pull begins the walk again.
    fn check(
        &mut self,
        state: &mut SyncState,
        answer: &ConnectorPage,
        cursor: Option<&str>,
    ) -> Result<(), PullError> {
        let is_enumeration = answer.body.enumeration;
        if answer.more && answer.cursor.as_deref() == cursor {
            return Err(bad_page("the same cursor came back though there is more"));
        }
        if !(answer.body.named.is_empty() || answer.more && self.takes_names()) {
            return Err(bad_page("names to be read later, though nobody asked for them or nothing follows"));
        }
        if self.walk.add_page(is_enumeration, answer.failed_requests) {
            return Ok(());
        }
        tracing::warn!(connection = %self.connection.id, surface = self.scope.surface(), scope = %self.scope.scope_id,
            is_enumeration, "a page of changes is of another kind than the pages before it, it is refused");
        self.walk.restart(state);
        let message = format!("a later page says enumeration: {is_enumeration}, unlike the first page");
        Err(bad_page(&message))
    }

    /// Writes a page, and asks for the one after it meanwhile.
    async fn store_and_ask(
        &self,
        state: &mut SyncState,
        read: PageToStore,
        ahead: &mut Option<(i64, PageResult)>,
    ) -> Result<bool, PullError> {
        let (now, next) = (self.now().await?, read.page.cursor.clone());
        let (stored, asked) = tokio::join!(self.store(state, read), self.answer(next));
        *ahead = Some((now, asked));
        stored
    }

    /// Begins the walk at the stored place: in a scan or at a cursor. Returns both, and whether an earlier pull has begun the walk.
    fn begin(&mut self, state: &SyncState) -> (Option<Scan>, Option<String>, bool) {
        let scan = self.resumed(state);
        let cursor = match scan {
            Some(_) => state.scan_cursor.clone(),
            None => state.cursor.clone().filter(|_| !state.rescan),
        };
        self.walk = Walk::resumed(state, scan.is_some(), cursor.as_deref());
        // The later pages of a walk over differences may be as old as its first one.
        let is_resumed = scan.is_some() || state.walk_start.is_some() && cursor.is_some();
        (scan, cursor, is_resumed)
    }

    /// The scan that an earlier pull did not come to the end of. Collections are few: they are read from the beginning.
    fn resumed(&self, state: &SyncState) -> Option<Scan> {
        let is_resumable = !self.scope.kind.is_collection() && state.scan_cursor.is_some();
        let since = state.scan_since.filter(|_| is_resumable)?;
        Some(Scan { generation: state.generation, since })
    }

    /// The log's last sequence: what the provider is asked for from here on is newer.
    pub(crate) async fn now(&self) -> Result<i64> {
        Ok(log::last_sequence(self.app.db.reader(), &self.connection.tenant).await?)
    }

    /// The same before a page is asked for: what the state was read with serves for the first one.
    async fn position(&mut self) -> Result<i64> {
        match self.log_position.take() {
            Some(position) => Ok(position),
            None => self.now().await,
        }
    }

    /// Whether its time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether the next pull goes on where this one stops. Collections are read from the beginning each time, and whoever waits is served
    /// with less than everything only of a mailbox.
    fn can_go_on_later(&self, state: &SyncState) -> bool {
        self.is_first_reading(state) || self.background && !self.scope.kind.is_collection()
    }

    fn arranged(&self, answer: ConnectorPage, scan: Option<Scan>, as_of: i64) -> Result<PageToStore> {
        let Reply { body: Sources { sources, covered_since, named, .. }, cursor, more, .. } = answer;
        let connector = quarantine::connector(self.app, self.connection);
        let covered_since = covered_since.map(model::Instant::as_millis);
        let page = ProviderPage {
            sources: Vec::new(),
            earlier: Vec::new(),
            connector,
            as_of,
            scan,
            is_doubted: false,
            covered_since,
            cursor,
            more,
            reread: Vec::new(),
            named: self.batches(&named)?,
        };
        Ok(PageToStore { page, sources })
    }

    /// A mailbox that was never read to its end: where a page ends is kept, and the next pull goes on from there.
    pub(crate) fn is_first_reading(&self, state: &SyncState) -> bool {
        self.scope.kind.is_mail() && state.last_success_at.is_none()
    }
}

/// Everything is being read, for the first time or after a reset.
pub(crate) fn is_initial(state: &SyncState) -> bool {
    state.status == "initial"
}

/// A page that the connector must not answer.
fn bad_page(message: &str) -> PullError {
    let message = message.to_owned();
    let error = runtime::Error::bad_output(message.clone());
    PullError::Provider(Box::new(runtime::Error { message, ..error }))
}

/// The provider forgot its own fresh cursor. No client can mend that by starting anew.
fn forgetful(e: &runtime::Error) -> PullError {
    let message = "the provider forgot the place that it had just named";
    let mut error = runtime::Error::new(runtime::Code::Unavailable, e.author.detail.clone());
    error.message = message.to_owned();
    PullError::Provider(Box::new(error))
}
