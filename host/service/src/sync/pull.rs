//! One pull: asks the connector for the changes since the stored cursor, page by page, and writes each page with its cursor in one
//! transaction. Without a cursor the connector enumerates everything: a scan. It continues where it stopped, and only after its last page
//! are records that no page named deleted, so that a partial scan never deletes.

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

/// Maximum pages of one pull, for a connector whose pages never end.
const MAX_PAGES: usize = 10_000;
/// Unreadable records without a readable one after which the pull fails and blames the connector.
pub(crate) const MAX_UNREADABLE_RECORDS: usize = 5;
/// Maximum pages of one background run, and the time after which it reads no more; the next run continues.
const TURN_PAGES: usize = 20;
const TURN_TIME: Duration = Duration::from_secs(10);

/// Pages and time that a pull may take, and the job whose fence its writes check.
#[derive(Clone, Copy, Debug)]
pub struct PullLimits<'a> {
    /// A background pull: its calls run after those that a request waits for.
    pub background: bool,
    /// The job that the pull is a run of: its fence is checked by every write.
    pub job: Option<&'a Job>,
    /// Requested before its due time.
    pub is_asked_for: bool,
    /// Maximum pages, if the next pull can continue.
    pub pages: usize,
    /// Time after which no page is started, if the next pull can continue. None: unlimited.
    pub time: Option<Duration>,
}

impl<'a> PullLimits<'a> {
    /// Returns the limits of a pull that a request waits for: the whole scope.
    pub fn waiting(job: Option<&'a Job>) -> PullLimits<'a> {
        PullLimits { background: false, job, is_asked_for: false, pages: MAX_PAGES, time: None }
    }

    /// Returns the limits of a background run.
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

/// Updates the local copy of a scope. The caller holds the scope's lock. Fails with `LostLease`, and writes no more, if the job is no
/// longer this host's.
pub async fn run(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    by: PullLimits<'_>,
) -> Result<PullEnd> {
    let mark = app.freshness.mark();
    let mut state = state(app, connection, scope).await?;
    let was_well_at = state.last_success_at.filter(|_| state.status == "caught_up");
    // Records are the provider's version as of now, not as of the end of the pull.
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
        // Deferred names are read and written before the page is requested.
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
                // No request was sent, so this is no failed attempt.
                Some(until) => Ok(PullEnd::Waits(until)),
                None => Err(failed(app, connection, &e).await),
            }
        }
        Err(PullError::Host(e)) => Err(e),
    }
}

/// The end of a pull that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullEnd {
    CaughtUp,
    /// The scope was reset, or another process completed the same scan, while a page was read.
    Superseded,
    /// The page or time limit was reached; the next pull continues at the stored cursor.
    Enough,
    /// The provider asked for a wait, and no request waits for the pull; it continues at this time, ms since 1970, at the stored cursor.
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
    /// Time after which no page is started.
    until: Option<Instant>,
    /// Whether the provider notifies of changes; queried on first use.
    pub(crate) is_watched: OnceCell<bool>,
    /// Time since which the stored state is the one that a pull without changes would write.
    pub(crate) was_well_at: Option<i64>,
    /// The log's last sequence when the state was read, until the first request to the provider.
    log_position: Option<i64>,
    /// Whether there may be names whose content must be read before the next page.
    has_names: bool,
    /// Whether it has written anything besides failures of calls.
    pub(crate) has_written: AtomicBool,
    restarted: bool,
    pub(crate) walk: Walk,
}

/// A page of the connector's answer.
pub(crate) type ConnectorPage = Reply<Sources>;

/// The result of requesting a page. During an initial sync the next page is requested while one is normalized and written.
pub(crate) type PageResult = Result<ConnectorPage, runtime::Error>;

/// A page to write: its metadata, and its records.
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
                    // The provider has dropped the cursor: read everything, and report only differences.
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
            connections::state::record_outcome(self.app, self.connection, Ok(())).await;
            self.check(state, &answer, cursor.as_deref())?;
            let (more, next) = (answer.more, answer.cursor.clone());
            // A mailbox whose sync began under an earlier version has no marks of the records read.
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
                // The stored cursor is inside a round, whose end must be stored even without changes.
                self.was_well_at = None;
                continue;
            }
            if state.doubt.is_none() && (!is_resumed || state.cursor.is_none()) {
                return Ok(PullEnd::CaughtUp);
            }
            // For a second full read before a deletion, or for the changes since the start of a resumed walk, whose first pages are as old.
            cursor = state.cursor.clone().filter(|_| state.doubt.is_none());
            (scan, is_resumed, self.walk) = (None, false, Walk::starting_at(cursor.as_deref()));
        }
        let e = runtime::Error::bad_output(format!("more than {MAX_PAGES} pages"));
        Err(PullError::Provider(Box::new(e)))
    }

    /// Refuses a walk that would never end, names that were not requested, and a page of another kind than the earlier ones: the next pull
    /// restarts the walk.
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
            return Err(bad_page(
                "names to be read later, though they were not requested or no page follows",
            ));
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

    /// Writes a page, and requests the next one at the same time.
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

    /// Starts the walk at the stored position, in a scan or at a cursor. Returns both, and whether an earlier pull started the walk.
    fn begin(&mut self, state: &SyncState) -> (Option<Scan>, Option<String>, bool) {
        let scan = self.resumed(state);
        let cursor = match scan {
            Some(_) => state.scan_cursor.clone(),
            None => state.cursor.clone().filter(|_| !state.rescan),
        };
        self.walk = Walk::resumed(state, scan.is_some(), cursor.as_deref());
        // Later pages of a walk over changes may be as old as its first one.
        let is_resumed = scan.is_some() || state.walk_start.is_some() && cursor.is_some();
        (scan, cursor, is_resumed)
    }

    /// Returns the scan that an earlier pull did not complete. Collections are few, so they are read from the beginning.
    fn resumed(&self, state: &SyncState) -> Option<Scan> {
        let is_resumable = !self.scope.kind.is_collection() && state.scan_cursor.is_some();
        let since = state.scan_since.filter(|_| is_resumable)?;
        Some(Scan { generation: state.generation, since })
    }

    /// Returns the log's last sequence: records requested later are newer.
    pub(crate) async fn now(&self) -> Result<i64> {
        Ok(log::last_sequence(self.app.db.reader(), &self.connection.tenant).await?)
    }

    /// As `now`, before a page is requested; the first page uses the sequence that was read with the state.
    async fn position(&mut self) -> Result<i64> {
        match self.log_position.take() {
            Some(position) => Ok(position),
            None => self.now().await,
        }
    }

    /// Whether the time limit is reached.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether the next pull can continue where this one stops. Collections are read from the beginning each time, and a waiting request
    /// gets a partial result only for a mailbox.
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

    /// Whether a mailbox has never been read completely: the end of each page is stored, and the next pull continues from there.
    pub(crate) fn is_first_reading(&self, state: &SyncState) -> bool {
        self.scope.kind.is_mail() && state.last_success_at.is_none()
    }
}

/// Whether everything is being read, for the first time or after a reset.
pub(crate) fn is_initial(state: &SyncState) -> bool {
    state.status == "initial"
}

/// Returns the error for a page that violates the connector interface.
fn bad_page(message: &str) -> PullError {
    let message = message.to_owned();
    let error = runtime::Error::bad_output(message.clone());
    PullError::Provider(Box::new(runtime::Error { message, ..error }))
}

/// Returns the error for a provider that dropped a cursor it had just issued. A client cannot fix that by a restart.
fn forgetful(e: &runtime::Error) -> PullError {
    let message = "the provider dropped a cursor that it had just issued";
    let mut error = runtime::Error::new(runtime::Code::Unavailable, e.author.detail.clone());
    error.message = message.to_owned();
    PullError::Provider(Box::new(error))
}
