//! One pull: ask the connector what changed since the stored cursor, page by page, and write each page with its cursor in one
//! transaction. Without a cursor the connector enumerates everything; only when the last page of an enumeration has been
//! read is what it did not name taken for gone, so that a partial scan never deletes.

use std::collections::HashSet;

use model::wire::{ChangesRequest, Source, Sources};

use crate::app::App;
use crate::connections;
use crate::connections::call::{self, Op, Options, Reply, Target};
use crate::error::{Error, Result};
use crate::log::Origin;
use crate::resources::apply::{Overtaken, Place};
use crate::resources::failed;
use crate::resources::prepare::{Prepared, prepared};
use crate::runtime::{self, Blame};
use crate::storage::connections::Connection;
use crate::storage::log;
use crate::storage::sync_states::SyncState;
use crate::sync::failing::note_failure;
use crate::sync::page::{Enumeration, Page, write_page};
use crate::sync::{Scope, mailbox, save, state, unreadable};

/// Pages of one pull; a connector that never ends is cut here.
const MAX_PAGES: usize = 10_000;
/// Sources that are read one by one where a page stops the connector: each is a call.
const NAMES: u32 = 50;
/// So many of them unreadable and none readable: then it is the connector that is broken, and no source is to blame.
const HOPELESS: usize = 5;
/// Times in a row that a page is read again because somebody wrote in the meantime.
const OVERTAKEN: usize = 3;

/// Brings the copy of a scope up to date. The caller holds the scope's lock.
pub async fn run(app: &App, connection: &Connection, scope: &Scope, background: bool) -> Result<()> {
    run_pages(app, connection, scope, background, MAX_PAGES).await
}

/// The same, for at most so many pages where that does no harm: a mailbox is read from new to old, and each page is worth something.
pub async fn run_pages(
    app: &App,
    connection: &Connection,
    scope: &Scope,
    background: bool,
    pages: usize,
) -> Result<()> {
    let mut state = state(app, connection, scope).await?;
    let was_well_at = state.last_success_at.filter(|_| state.status == "caught_up");
    // What is read shows the provider as it was from here on, not as it is at the end.
    let began = app.now();
    state.last_attempt_at = Some(began);
    if state.last_success_at.is_none() {
        state.status = "initial".to_owned();
        save(app, &state).await?;
    }
    let is_resumed = state.cursor.is_some();
    let mut pull =
        Pull { app, connection, scope, background, was_well_at, restarted: false, is_resumed, pages };
    match pull.read_to_the_end(&mut state).await {
        Ok(Ended::ForReset | Ended::Enough) => Ok(()),
        Ok(Ended::CaughtUp) => {
            app.freshness.set(&scope.lock_name(connection), began);
            pull.retry_unreadable(&state).await
        }
        Err(Failed::Provider(e)) => {
            note_failure(app, &mut state, &e).await?;
            app.coverage.tell(&scope.lock_name(connection));
            Err(failed(app, connection, &e).await)
        }
        Err(Failed::Host(e)) => Err(e),
    }
}

enum Ended {
    CaughtUp,
    /// Somebody wants all of it read again.
    ForReset,
    /// As many pages as were asked for; the place is kept.
    Enough,
}

enum Failed {
    Provider(Box<runtime::Error>),
    Host(Error),
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(e: E) -> Self {
        Failed::Host(e.into())
    }
}

struct Pull<'a> {
    app: &'a App,
    connection: &'a Connection,
    scope: &'a Scope,
    background: bool,
    /// When the stored state became what a quiet pull would make of it.
    was_well_at: Option<i64>,
    restarted: bool,
    /// It goes on where an earlier one stopped: what that one saw is not known here.
    is_resumed: bool,
    /// Pages to read in a first reading.
    pages: usize,
}

/// A page as the connector answered it.
type Answer = Reply<Sources>;

/// What became of asking for a page. Of a first reading the next page is asked for while one is made ready and written.
type Asked = Result<Answer, runtime::Error>;

/// A page that is to be written: all that is known of it, and what it tells of.
struct Read {
    page: Page,
    sources: Vec<Source>,
}

/// What a page is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageOf {
    Sources,
    Names,
}

impl Pull<'_> {
    async fn read_to_the_end(&mut self, state: &mut SyncState) -> Result<Ended, Failed> {
        // An enumeration's cursor lives here until its end: a crash starts it again, which repeats work and loses nothing.
        let mut cursor = state.cursor.clone();
        let mut enumeration: Option<Enumeration> = None;
        let mut overtaken = 0;
        let mut ahead: Option<(i64, Asked)> = None;
        for number in 0..MAX_PAGES {
            if number >= self.pages && self.is_first_reading(state) {
                return Ok(Ended::Enough);
            }
            if self.background && self.is_to_be_reset() {
                return Ok(Ended::ForReset);
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
                    self.is_resumed = false;
                    state.provider_resets += 1;
                    cursor = None;
                    enumeration = None;
                    continue;
                }
                Err(e) if e.code == runtime::Code::CursorExpired => return Err(forgetful(&e)),
                Err(e) if e.blame == Blame::Connector && unreadable::is_retried(self.scope.kind) => {
                    self.rescued(state, cursor.clone(), e).await?
                }
                Err(e) => return Err(Failed::Provider(Box::new(e))),
            };
            connections::state::note(self.app, self.connection, Ok(())).await;
            if answer.more && answer.cursor == cursor {
                let e = runtime::Error::bad_output("the same cursor came back though there is more");
                return Err(Failed::Provider(Box::new(e)));
            }
            let more = answer.more;
            let next = answer.cursor.clone();
            let mut read = self.arranged(answer, &mut enumeration, as_of);
            // Somebody who writes the same source all the time must not keep everybody else's changes out: then what was
            // read is written, and the next pull, which finds those writes at the provider, puts it right.
            read.page.as_of = if overtaken < OVERTAKEN { as_of } else { i64::MAX };
            let is_next_wanted =
                more && number + 1 < self.pages && self.scope.kind.is_mail() && is_initial(state);
            let stored = match is_next_wanted {
                true => self.store_and_ask(state, read, &mut ahead).await?,
                false => self.store(state, read).await?,
            };
            if stored.is_err() {
                overtaken += 1;
                ahead = None;
                continue;
            }
            (cursor, overtaken) = (next, 0);
            if !more {
                return Ok(Ended::CaughtUp);
            }
        }
        let e = runtime::Error::bad_output(format!("more than {MAX_PAGES} pages"));
        Err(Failed::Provider(Box::new(e)))
    }

    /// Writes a page, and asks for the one after it meanwhile.
    async fn store_and_ask(
        &self,
        state: &mut SyncState,
        read: Read,
        ahead: &mut Option<(i64, Asked)>,
    ) -> Result<Result<(), Overtaken>, Failed> {
        let (now, next) = (self.now().await?, read.page.cursor.clone());
        let (stored, asked) = tokio::join!(self.store(state, read), self.answer(next));
        *ahead = Some((now, asked));
        stored
    }

    /// The log's last sequence: what the provider is asked for from here on is newer.
    async fn now(&self) -> Result<i64> {
        Ok(log::last_sequence(self.app.db.reader(), &self.connection.tenant).await?)
    }

    /// Whether a reset waits, of this scope or of the surface as a whole. Where somebody waits for the pull, it goes on.
    fn is_to_be_reset(&self) -> bool {
        let whole = Scope::collections(self.scope.kind);
        [self.scope, &whole].iter().any(|scope| self.app.locks.is_locked(&scope.reset_name(self.connection)))
    }

    async fn answer(&self, cursor: Option<String>) -> Asked {
        self.page(cursor, PageOf::Sources).await
    }

    fn arranged(&self, answer: Answer, enumeration: &mut Option<Enumeration>, as_of: i64) -> Read {
        let Reply { body: Sources { sources, covered_since, .. }, cursor, more, .. } = answer;
        if answer.body.enumeration && !self.is_resumed {
            let enumeration = enumeration.get_or_insert(Enumeration { seen: HashSet::new(), as_of });
            enumeration.seen.extend(sources.iter().map(|s| s.external_id.clone()));
        }
        // Only the last page needs to know all that was seen.
        let enumeration = match (more, &enumeration) {
            (true, Some(e)) => Some(Enumeration { seen: HashSet::new(), as_of: e.as_of }),
            (_, e) => (*e).clone(),
        };
        let connector = unreadable::connector(self.app, self.connection);
        let covered_since = covered_since.map(model::Instant::as_millis);
        let page = Page { sources: Vec::new(), connector, as_of, enumeration, covered_since, cursor, more };
        Read { page, sources }
    }

    /// What is written of these sources. Made ready off this thread: it takes a while, and somebody may wait for the next page meanwhile.
    async fn ready(&self, sources: Vec<Source>) -> Result<Vec<Prepared>, Failed> {
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        let kind = self.scope.kind;
        let ready = tokio::task::spawn_blocking(move || prepared(kind, sources)).await;
        let mut ready = ready.map_err(anyhow::Error::from)?;
        if kind.is_mail() {
            let completed = mailbox::complete(self.app, self.connection, &mut ready, self.background).await;
            completed.map_err(|e| Failed::Provider(Box::new(e)))?;
        }
        Ok(ready)
    }

    /// A mailbox that was never read to its end: where a page ends is kept, and the next pull goes on from there.
    fn is_first_reading(&self, state: &SyncState) -> bool {
        self.scope.kind.is_mail() && state.last_success_at.is_none()
    }

    /// A page that killed the connector, read source by source. What killed it is among them and kept out; or it is the
    /// connector that fails at everything, and then the first error stands.
    async fn rescued(
        &self,
        state: &SyncState,
        cursor: Option<String>,
        error: runtime::Error,
    ) -> Result<Answer, Failed> {
        let Ok(mut reply) = self.page(cursor, PageOf::Names).await else {
            return Err(Failed::Provider(Box::new(error)));
        };
        let (app, connection, scope) = (self.app, self.connection, self.scope);
        let named = std::mem::take(&mut reply.body.sources);
        tracing::warn!(connection = %connection.id, scope = %scope.scope_id, sources = named.len(),
            "a page of the provider's data stopped the connector, its sources are read one by one");
        let read = unreadable::one_by_one(app, connection, scope, state, named, self.background).await?;
        let read = read.map_err(|e| Failed::Provider(Box::new(e)))?;
        if read.len() >= HOPELESS && read.iter().all(|source| source.error.is_some()) {
            return Err(Failed::Provider(Box::new(error)));
        }
        reply.body.sources = read;
        Ok(reply)
    }

    async fn page(&self, cursor: Option<String>, of: PageOf) -> Result<Reply<Sources>, runtime::Error> {
        let target = Target::of(self.app, self.connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let args = ChangesRequest {
            collection: self.scope.collection.clone(),
            time_zone: self.scope.time_zone.clone(),
            limit: match of {
                PageOf::Sources => self.app.config.pull_page,
                PageOf::Names => self.app.config.pull_page.min(NAMES),
            },
            names_only: of == PageOf::Names,
        };
        let (verb, name) = self.scope.kind.ops().pull;
        let op = Op { surface: self.scope.kind.surface(), verb, name };
        let options = Options { cursor, background: self.background, ..Options::default() };
        call::run(self.app, &target, op, &args, options).await
    }

    /// Writes a page: items, log lines, state, cursor.
    async fn store(&self, state: &mut SyncState, read: Read) -> Result<Result<(), Overtaken>, Failed> {
        let app = self.app;
        let page = Page { sources: self.ready(read.sources).await?, ..read.page };
        let is_first = state.last_success_at.is_none();
        let mut next = state.clone();
        next.seen += if is_initial(state) { page.sources.len() as i64 } else { 0 };
        if page.enumeration.is_none() || !page.more || self.is_first_reading(state) {
            next.cursor = if self.scope.kind.is_collection() { None } else { page.cursor.clone() };
        }
        next.covered_since = page.covered_since.filter(|_| is_first && page.more).or(next.covered_since);
        if !page.more {
            let now = app.now();
            next.covered_since = None;
            next.status = "caught_up".to_owned();
            next.last_success_at = Some(now);
            next.next_pull_at = Some(now + app.config.poll_interval_ms);
            next.consecutive_errors = 0;
            next.last_error = None;
        }
        let says_nothing = !page.more && page.enumeration.is_none() && page.sources.is_empty();
        let is_due = state.followed && state.next_pull_at.is_none_or(|at| at <= app.now());
        if says_nothing && !is_due && self.was_well_lately() {
            // Nothing new: the time of the last look is only worth a write now and then.
            return Ok(Ok(()));
        }
        let place = self.place(if is_first { Origin::Backfill } else { Origin::Provider });
        let held = app.clone();
        let written = app.db.write(move |tx| Box::pin(write_page(tx, held, place, page, next))).await?;
        app.coverage.tell(&self.scope.lock_name(self.connection));
        Ok(written.map(|written| *state = written))
    }

    /// A good state that was written less than a poll interval ago.
    fn was_well_lately(&self) -> bool {
        self.was_well_at.is_some_and(|at| self.app.now() - at < self.app.config.poll_interval_ms)
    }

    fn place(&self, origin: Origin) -> Place {
        Place {
            tenant: self.connection.tenant.clone(),
            connection_id: self.connection.id.clone(),
            kind: self.scope.kind,
            parent_id: self.scope.scope_id.clone(),
            origin,
        }
    }

    /// Asks for each of the sources that could not be read and may be readable by now.
    async fn retry_unreadable(&self, state: &SyncState) -> Result<()> {
        if !unreadable::is_retried(self.scope.kind) {
            return Ok(());
        }
        let (app, mut state) = (self.app, state.clone());
        for error in unreadable::due(app, self.connection, &state).await? {
            let as_of = self.now().await?;
            let again = unreadable::again(app, self.connection, self.scope, &error, self.background).await?;
            let Some(sources) = again else { return Ok(()) };
            let sources = prepared(self.scope.kind, sources);
            let connector = unreadable::connector(app, self.connection);
            let (enumeration, covered_since, cursor) = (None, None, None);
            let page = Page { sources, connector, as_of, enumeration, covered_since, cursor, more: false };
            let (held, place, next) = (app.clone(), self.place(Origin::Provider), state.clone());
            let written = app.db.write(move |tx| Box::pin(write_page(tx, held, place, page, next))).await?;
            // Overtaken by somebody's write: it is read with the next pull.
            state = written.unwrap_or(state);
        }
        Ok(())
    }
}

/// Everything is being read, for the first time or after a reset.
fn is_initial(state: &SyncState) -> bool {
    state.status == "initial"
}

/// The provider forgot its own fresh cursor. No client can mend that by starting anew.
fn forgetful(e: &runtime::Error) -> Failed {
    let message = "the provider forgot the place that it had just named";
    let mut error = runtime::Error::new(runtime::Code::Unavailable, e.author.detail.clone());
    error.message = message.to_owned();
    Failed::Provider(Box::new(error))
}
