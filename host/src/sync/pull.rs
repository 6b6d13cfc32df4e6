//! One pull: ask the connector what changed since the stored cursor, page by page, and write each page with its cursor in one
//! transaction. Without a cursor the connector enumerates everything: a scan. It goes on where it stopped, and only when its last page has
//! been read is what no page named taken for gone, so that a partial scan never deletes.

use std::time::Duration;

use base::error::{Error, Result};
use model::wire::{ChangesRequest, Source, SourceName, Sources};
use runtime::{self, Blame};
use storage::connections::Connection;
use storage::jobs::Job;
use storage::log;
use storage::sync_states::SyncState;
use tokio::time::Instant;

use crate::app::App;
use crate::connections;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::provider_call::failed;
use crate::sync::failure::note_failure;
use crate::sync::provider_page::{ProviderPage, Scan};
use crate::sync::scope::SyncScope;
use crate::sync::{quarantine, save, schedule, state};

/// Pages of one pull; a connector that never ends is cut here.
const MAX_PAGES: usize = 10_000;
/// Sources that are read one by one where a page stops the connector: each is a call.
const NAMES: u32 = 50;
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
    let mut pull = Pull {
        app,
        connection,
        scope,
        background: by.background,
        by,
        until: by.time.map(|time| Instant::now() + time),
        is_watched: schedule::is_watched(app, connection, scope).await?,
        was_well_at,
        restarted: false,
    };
    match pull.read_to_the_end(&mut state).await {
        Ok(PullEnd::CaughtUp) => {
            app.freshness.set_since(mark, &scope.lock_name(connection), began, state.generation);
            pull.read_superseded(&mut state).await?;
            pull.retry_unreadable(&state).await?;
            Ok(PullEnd::CaughtUp)
        }
        Ok(ended) => Ok(ended),
        Err(PullError::Provider(e)) => {
            note_failure(app, &mut state, &e, by.job).await?;
            app.coverage.tell(&scope.lock_name(connection));
            Err(failed(app, connection, &e).await)
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
    /// The provider tells of changes.
    pub(crate) is_watched: bool,
    /// When the stored state became what a quiet pull would make of it.
    pub(crate) was_well_at: Option<i64>,
    restarted: bool,
}

/// A page as the connector answered it.
type ConnectorPage = Reply<Sources>;

/// What became of asking for a page. Of a first reading the next page is asked for while one is made ready and written.
type PageResult = Result<ConnectorPage, runtime::Error>;

/// A page that is to be written: all that is known of it, and what it tells of.
pub(crate) struct PageToStore {
    pub(crate) page: ProviderPage,
    pub(crate) sources: Vec<Source>,
}

/// What a page is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageOf {
    Sources,
    Names,
}

impl Pull<'_> {
    async fn read_to_the_end(&mut self, state: &mut SyncState) -> Result<PullEnd, PullError> {
        let mut scan = self.resumed(state);
        let mut is_resumed = scan.is_some();
        let stored = if is_resumed { &state.scan_cursor } else { &state.cursor };
        let mut cursor = stored.clone().filter(|_| is_resumed || !state.rescan);
        let mut ahead: Option<(i64, PageResult)> = None;
        for number in 0..MAX_PAGES {
            if (number >= self.by.pages || number > 0 && self.is_late()) && self.can_go_on_later(state) {
                return Ok(PullEnd::Enough);
            }
            if let Some(ended) = self.read_named(state, (cursor.as_deref(), scan)).await? {
                return Ok(ended);
            }
            let (as_of, asked) = match ahead.take() {
                Some(asked) => asked,
                None => (self.now().await?, self.answer(cursor.clone()).await),
            };
            let answer = match asked {
                Ok(answer) => answer,
                Err(e) if e.code == runtime::Code::CursorExpired && !self.restarted => {
                    // The provider forgot our place: read everything and tell only what differs.
                    self.restarted = true;
                    state.provider_resets += 1;
                    (cursor, scan, is_resumed) = (None, None, false);
                    continue;
                }
                Err(e) if e.code == runtime::Code::CursorExpired => return Err(forgetful(&e)),
                Err(e) if e.blame == Blame::Connector && quarantine::is_retried(self.scope.kind) => {
                    self.rescued(state, cursor.clone(), e).await?
                }
                Err(e) => return Err(PullError::Provider(Box::new(e))),
            };
            connections::state::note(self.app, self.connection, Ok(())).await;
            self.checked(&answer, cursor.as_deref())?;
            let more = answer.more;
            let next = answer.cursor.clone();
            // A mailbox that an earlier version began to read has no marks of what that saw.
            let is_unmarked = self.is_first_reading(state) && cursor.is_some();
            if scan.is_none() && answer.body.enumeration && !is_unmarked {
                scan = Some(Scan { generation: state.generation + 1, since: as_of });
            }
            let read = self.arranged(answer, scan, as_of)?;
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
            if !is_resumed || state.cursor.is_none() {
                return Ok(PullEnd::CaughtUp);
            }
            // Its first pages are as old as its beginning: what changed since then is still to be read.
            (scan, is_resumed) = (None, false);
            cursor.clone_from(&state.cursor);
        }
        let e = runtime::Error::bad_output(format!("more than {MAX_PAGES} pages"));
        Err(PullError::Provider(Box::new(e)))
    }

    /// Refuses an answer that would never come to an end, and names that nobody asked for.
    fn checked(&self, answer: &ConnectorPage, cursor: Option<&str>) -> Result<(), PullError> {
        let detail = if answer.more && answer.cursor.as_deref() == cursor {
            "the same cursor came back though there is more"
        } else if !(answer.body.named.is_empty() || answer.more && self.takes_names()) {
            "names to be read later, though nobody asked for them or nothing follows"
        } else {
            return Ok(());
        };
        Err(PullError::Provider(Box::new(runtime::Error::bad_output(detail))))
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

    /// Whether its time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether the next pull goes on where this one stops. Collections are read from the beginning each time, and whoever waits is served
    /// with less than everything only of a mailbox.
    fn can_go_on_later(&self, state: &SyncState) -> bool {
        self.is_first_reading(state) || self.background && !self.scope.kind.is_collection()
    }

    async fn answer(&self, cursor: Option<String>) -> PageResult {
        self.page(cursor, PageOf::Sources).await
    }

    fn arranged(&self, answer: ConnectorPage, scan: Option<Scan>, as_of: i64) -> Result<PageToStore> {
        let Reply { body: Sources { sources, covered_since, named, .. }, cursor, more, .. } = answer;
        let connector = quarantine::connector(self.app, self.connection);
        let covered_since = covered_since.map(model::Instant::as_millis);
        let page = ProviderPage {
            sources: Vec::new(),
            connector,
            as_of,
            scan,
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

    /// A page that killed the connector, or was more than an answer holds, read in parts. What killed it is among them and kept out; or it
    /// is the connector that fails at everything, and then the first error stands.
    async fn rescued(
        &self,
        state: &SyncState,
        cursor: Option<String>,
        error: runtime::Error,
    ) -> Result<ConnectorPage, PullError> {
        let Ok(mut reply) = self.page(cursor, PageOf::Names).await else {
            return Err(PullError::Provider(Box::new(error)));
        };
        let named = std::mem::take(&mut reply.body.sources);
        tracing::warn!(connection = %self.connection.id, scope = %self.scope.scope_id, sources = named.len(),
            "a page of the provider's data stopped the connector, it is read in parts");
        let name = |s: Source| SourceName { external_id: s.external_id, etag: s.etag, deleted: s.deleted };
        let names: Vec<SourceName> = named.into_iter().map(name).collect();
        reply.body.sources = self.in_halves(state, (&names, 0), error).await?;
        Ok(reply)
    }

    async fn page(&self, cursor: Option<String>, of: PageOf) -> Result<Reply<Sources>, runtime::Error> {
        let target = CallTarget::of(self.app, self.connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let args = ChangesRequest {
            collection: self.scope.collection.clone(),
            time_zone: self.scope.time_zone.clone(),
            limit: match of {
                PageOf::Sources => self.app.config.pull_page,
                PageOf::Names => self.app.config.pull_page.min(NAMES),
            },
            names_only: of == PageOf::Names,
            names_first: of == PageOf::Sources && self.takes_names(),
        };
        let (verb, name) = self.scope.kind.ops().pull;
        let op = Op { surface: self.scope.kind.surface(), verb, name };
        let options = CallOptions { cursor, background: self.background, ..CallOptions::default() };
        call::run(self.app, &target, op, &args, options).await
    }
}

/// Everything is being read, for the first time or after a reset.
pub(crate) fn is_initial(state: &SyncState) -> bool {
    state.status == "initial"
}

/// The provider forgot its own fresh cursor. No client can mend that by starting anew.
fn forgetful(e: &runtime::Error) -> PullError {
    let message = "the provider forgot the place that it had just named";
    let mut error = runtime::Error::new(runtime::Code::Unavailable, e.author.detail.clone());
    error.message = message.to_owned();
    PullError::Provider(Box::new(error))
}
