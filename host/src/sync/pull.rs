//! One pull: ask the connector what changed since the stored cursor, page by page, and write each page with its cursor in one
//! transaction. Without a cursor the connector enumerates everything; only when the last page of an enumeration has been
//! read is what it did not name taken for gone, so that a partial scan never deletes.

use std::collections::HashSet;

use model::wire::{ChangesRequest, Sources};
use serde_json::json;

use crate::app::App;
use crate::connections::call::{self, Op, Options, Reply, Target};
use crate::error::{Error, Result};
use crate::log::Origin;
use crate::resources::apply::{self, Place, Prepared};
use crate::resources::{Kind, failed};
use crate::runtime::{self, Surface, Verb};
use crate::storage::connections::Connection;
use crate::storage::items;
use crate::storage::sync_states::{self as table, ItemError, SyncState};
use crate::sync::{Scope, save, state};

/// Pages of one pull; a connector that never ends is cut here.
const MAX_PAGES: usize = 10_000;
/// Sources that a page is asked for.
const PAGE: u32 = 200;
/// Times that one source may fail before it is set aside for good.
const ATTEMPTS: i64 = 3;

/// Brings the copy of a scope up to date. The caller holds the scope's lock.
pub async fn run(app: &App, connection: &Connection, scope: &Scope, background: bool) -> Result<()> {
    let mut state = state(app, connection, scope).await?;
    state.last_attempt_at = Some(app.now());
    if state.last_success_at.is_none() {
        state.status = "initial".to_owned();
        save(app, &state).await?;
    }
    let mut pull = Pull { app, connection, scope, background, restarted: false };
    match pull.read_to_the_end(&mut state).await {
        Ok(()) => {
            app.freshness.set(&scope.lock_name(connection), app.now());
            Ok(())
        }
        Err(Failed::Provider(e)) => {
            note_failure(app, &mut state, &e).await?;
            Err(failed(app, connection, &e).await)
        }
        Err(Failed::Host(e)) => Err(e),
    }
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
    restarted: bool,
}

impl Pull<'_> {
    async fn read_to_the_end(&mut self, state: &mut SyncState) -> Result<(), Failed> {
        // An enumeration's cursor lives here until its end: a crash starts it again, which repeats work and loses nothing.
        let mut cursor = state.cursor.clone();
        let mut enumerated: Option<HashSet<String>> = None;
        for _ in 0..MAX_PAGES {
            let page = match self.page(cursor.clone()).await {
                Ok(page) => page,
                Err(e) if e.code == runtime::Code::CursorExpired && !self.restarted => {
                    // The provider forgot our place: read everything and tell only what differs.
                    self.restarted = true;
                    state.provider_resets += 1;
                    cursor = None;
                    enumerated = None;
                    continue;
                }
                Err(e) => return Err(Failed::Provider(Box::new(e))),
            };
            if page.more && page.cursor == cursor {
                let e = runtime::Error::bad_output("the same cursor came back though there is more");
                return Err(Failed::Provider(Box::new(e)));
            }
            let sources: Vec<Prepared> =
                page.body.sources.into_iter().map(|s| apply::prepare(self.scope.kind, s)).collect();
            if page.body.enumeration {
                let seen = enumerated.get_or_insert_default();
                seen.extend(sources.iter().map(|s| s.source_id.clone()));
            }
            cursor = page.cursor;
            self.store(state, sources, enumerated.as_ref(), cursor.clone(), page.more).await?;
            if !page.more {
                return Ok(());
            }
        }
        let e = runtime::Error::bad_output(format!("more than {MAX_PAGES} pages"));
        Err(Failed::Provider(Box::new(e)))
    }

    async fn page(&self, cursor: Option<String>) -> Result<Reply<Sources>, runtime::Error> {
        let target = Target::of(self.app, self.connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let args = ChangesRequest {
            collection: self.scope.collection.clone(),
            time_zone: self.scope.time_zone.clone(),
            limit: PAGE,
        };
        let (verb, name) = match self.scope.kind {
            Kind::Calendar => (Verb::Fetch, "calendars.list"),
            Kind::Event => (Verb::Changes, "events"),
        };
        let op = Op { surface: Surface::Calendar, verb, name };
        let options = Options { cursor, background: self.background, ..Options::default() };
        call::run(self.app, &target, op, &args, options).await
    }

    /// Writes a page: items, log lines, state, cursor.
    async fn store(
        &self,
        state: &mut SyncState,
        sources: Vec<Prepared>,
        enumerated: Option<&HashSet<String>>,
        cursor: Option<String>,
        more: bool,
    ) -> Result<(), Failed> {
        let app = self.app;
        let is_first = state.last_success_at.is_none();
        state.seen = if is_first { state.seen + sources.len() as i64 } else { state.seen };
        if enumerated.is_none() || !more {
            state.cursor = if self.scope.kind == Kind::Calendar { None } else { cursor };
        }
        if !more {
            let now = app.now();
            state.status = "caught_up".to_owned();
            state.last_success_at = Some(now);
            state.next_pull_at = Some(now + app.config.poll_interval_ms);
            state.consecutive_errors = 0;
            state.last_error = None;
        }
        let place = Place {
            tenant: self.connection.tenant.clone(),
            connection_id: self.connection.id.clone(),
            kind: self.scope.kind,
            parent_id: self.scope.scope_id.clone(),
            origin: if is_first { Origin::Backfill } else { Origin::Provider },
        };
        let whole = enumerated.filter(|_| !more).cloned();
        if !more && whole.is_none() && sources.is_empty() && !is_first && is_quiet(app, state) {
            // Nothing new: the time of the last look is only worth a write now and then.
            return Ok(());
        }
        let (app, written) = (app.clone(), state.clone());
        let last = app
            .clone()
            .db
            .write(move |tx| Box::pin(write_page(tx, app, place, sources, whole, written)))
            .await?;
        state.latest_sequence = last.unwrap_or(state.latest_sequence);
        Ok(())
    }
}

/// A state that was written less than a poll interval ago and shows no trouble.
fn is_quiet(app: &App, state: &SyncState) -> bool {
    state.last_attempt_at.is_some_and(|at| app.now() - at < app.config.poll_interval_ms) && !state.followed
}

async fn write_page(
    tx: &mut crate::storage::Tx,
    app: App,
    place: Place,
    sources: Vec<Prepared>,
    whole: Option<HashSet<String>>,
    mut state: SyncState,
) -> Result<Option<i64>> {
    let mut last = apply::apply(tx, &app, &place, &sources).await?;
    for source in &sources {
        match &source.error {
            Some((code, message)) => {
                let error = ItemError {
                    source_id: source.source_id.clone(),
                    code: code.clone(),
                    message: message.clone(),
                    attempts: 1,
                    at: app.now(),
                };
                table::note_item_error(tx, &state, &error).await?;
            }
            None => table::clear_item_error(tx, &state, &source.source_id).await?,
        }
    }
    if let Some(seen) = whole {
        let live =
            items::live_sources(tx, &place.connection_id, place.kind.as_str(), &place.parent_id).await?;
        let gone: Vec<String> = live.into_iter().filter(|id| !seen.contains(id)).collect();
        last = apply::remove_sources(tx, &app, &place, &gone).await?.or(last);
        if place.kind == Kind::Calendar {
            last = remove_contents(tx, &app, &place, &gone).await?.or(last);
        }
    }
    if let Some(last) = last {
        state.latest_sequence = last;
    }
    table::upsert(tx, &state).await?;
    Ok(last)
}

/// Events of calendars that are gone.
async fn remove_contents(
    tx: &mut crate::storage::Tx,
    app: &App,
    place: &Place,
    gone: &[String],
) -> Result<Option<i64>> {
    let mut last = None;
    for source_id in gone {
        let calendars =
            items::of_source(tx, &place.connection_id, Kind::Calendar.as_str(), "", source_id).await?;
        for calendar in calendars {
            last = remove_collection(tx, app, place, &calendar.id).await?.or(last);
        }
    }
    Ok(last)
}

/// Makes tombstones of everything in a collection.
pub async fn remove_collection(
    tx: &mut crate::storage::Tx,
    app: &App,
    place: &Place,
    collection_id: &str,
) -> Result<Option<i64>> {
    let inside = Place { kind: Kind::Event, parent_id: collection_id.to_owned(), ..place.clone() };
    let sources = items::live_sources(tx, &place.connection_id, Kind::Event.as_str(), collection_id).await?;
    apply::remove_sources(tx, app, &inside, &sources).await
}

async fn note_failure(app: &App, state: &mut SyncState, e: &runtime::Error) -> Result<()> {
    let now = app.now();
    state.consecutive_errors += 1;
    state.status = match e.code {
        runtime::Code::RateLimited => "throttled",
        runtime::Code::AuthExpired | runtime::Code::Forbidden => "blocked",
        _ => "error",
    }
    .to_owned();
    let asked = e.retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0);
    let retry_at = now + backoff_ms(state.consecutive_errors).max(asked);
    state.next_pull_at = Some(retry_at);
    let at = |ms| model::Instant::from_millis(ms);
    state.last_error = Some(
        json!({ "code": e.code.as_str(), "message": e.message, "at": at(now), "retryAt": at(retry_at) })
            .to_string(),
    );
    save(app, state).await
}

/// 15 s, doubled each time, at most 30 minutes.
fn backoff_ms(errors: i64) -> i64 {
    (15_000_i64 << errors.clamp(1, 8).saturating_sub(1)).min(30 * 60_000)
}

/// Whether a source has failed so often that it is set aside until it changes.
pub fn is_quarantined(error: &ItemError) -> bool {
    error.attempts >= ATTEMPTS
}
