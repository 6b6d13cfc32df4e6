//! Start, reset, renewal and status of a sync.

use anyhow::Context;
use base::error::{Code, Error, Result, not_found, refuse};
use model::Instant;
use model::sync::{self, SecondReading, SyncError, SyncItemError, SyncProgress, Watch, WatchStatus};
use serde::de::DeserializeOwned;
use serde::de::value::StrDeserializer;
use serde_json::Value;
use storage::connections::Connection;
use storage::items::Item;
use storage::locked::ConnectionLock;
use storage::sync_states::{ItemError, SyncState};
use storage::{Tx, job_claims, jobs, log as log_table, sync_states as table};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::live_channels::{Channel, LiveChannel};
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::sync::scan_end::ScanDoubt;
use crate::sync::schedule::{enqueue_watch, pull_job, pull_job_of, watch_job, watched_by_rows};
use crate::sync::scope::SyncScope;
use crate::sync::{change_feed, collection_set, push_status, quarantine, state};

/// The effect of a request on a state.
#[derive(Clone)]
enum StateUpdate {
    /// The scope is followed already, and is pulled once more.
    Again,
    Start,
    /// Ids of the collections inside, for a surface that is followed as a whole.
    Reset(Vec<String>),
}

impl StateUpdate {
    /// Returns the event for the log.
    fn event(&self) -> Option<&'static str> {
        match self {
            StateUpdate::Again => None,
            StateUpdate::Start => Some("started"),
            StateUpdate::Reset(_) => Some("reset"),
        }
    }
}

/// A state to store, and the state that it was derived from.
struct StateRevision {
    known: SyncState,
    state: SyncState,
    step: StateUpdate,
}

/// Starts following a scope: from now on the host pulls without requests. The first pull starts at once, after the response. Starting a
/// started sync changes nothing and returns 200.
pub async fn start(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    backfill_since: Option<i64>,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for _ in 0..MAX_ATTEMPTS {
        let known = state(app, connection, scope).await?;
        let status = if known.followed { 200 } else { 202 };
        let state = match known.followed {
            true => known.clone(),
            false => started(&known, backfill_since, app.now()),
        };
        let answer = StoredResponse::json(status, begun(app, connection, &state).await?).warned(warnings);
        let step = if status == 202 { StateUpdate::Start } else { StateUpdate::Again };
        if store(app, connection, scope, StateRevision { known, state, step }, &answer, attempt).await? {
            return Ok(answer);
        }
    }
    Err(contended_error())
}

/// Returns the state of a scope that is followed from now on (ms since 1970), and was not before.
pub fn started(known: &SyncState, backfill_since: Option<i64>, now: i64) -> SyncState {
    let mut state = known.clone();
    state.followed = true;
    state.started_at = Some(now);
    state.backfill_since = backfill_since;
    state.next_pull_at = Some(now);
    state.last_activity_at = Some(now);
    if state.last_success_at.is_none() {
        state.status = "initial".to_owned();
    }
    state
}

/// Returns the log entry for a scope, `started` or `reset`, with its state as responses render it.
pub fn log_entry(state: &SyncState, word: &str, printed: String) -> NewLogEntry {
    NewLogEntry {
        connection_id: Some(state.connection_id.clone()),
        account_ids: None,
        entry_type: format!("sync.{word}"),
        change_type: "state",
        resource_type: "sync",
        resource_id: state.connection_id.clone(),
        parent_id: state.scope_id.clone(),
        changed_fields: None,
        etag: None,
        origin: Origin::Api,
        resource: Some(printed),
    }
}

/// Most times that a state is read again because another writer has changed it.
const MAX_ATTEMPTS: usize = 5;

fn contended_error() -> Error {
    refuse(Code::Overloaded, "the sync is being started or reset by others at the same time; try again")
}

/// Reads everything again. Soft: cursors stay valid and only real differences are reported. Hard: all cursors end, and the whole copy is
/// reported again. A running pull, on any host, stops writing; the next one is due with the commit of the reset.
pub async fn reset(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    hard: bool,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let inside = match scope.is_whole() {
        true => collection_set::scope_ids(app, connection, scope).await?,
        false => Vec::new(),
    };
    for _ in 0..MAX_ATTEMPTS {
        let known = state(app, connection, scope).await?;
        let mut state = known.clone();
        state.cursor = None;
        state.next_pull_at = Some(app.now());
        state.last_activity_at = Some(app.now());
        state.consecutive_errors = 0;
        if hard {
            state.epoch += 1;
            state.seen = 0;
            state.status = "initial".to_owned();
        }
        let answer = StoredResponse::accepted(begun(app, connection, &state).await?).warned(warnings);
        let step = StateUpdate::Reset(inside.clone());
        if store(app, connection, scope, StateRevision { known, state, step }, &answer, attempt).await? {
            app.freshness.forget(&scope.lock_name(connection));
            for scope_id in inside {
                let of =
                    SyncScope { kind: scope.kind.contents(), scope_id, collection: None, time_zone: None };
                app.freshness.forget(&of.lock_name(connection));
            }
            return Ok(answer);
        }
    }
    Err(contended_error())
}

/// Writes a state, with its jobs. False: the stored state is not the one that it was derived from.
async fn store(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    StateRevision { known, state, step }: StateRevision,
    answer: &StoredResponse,
    attempt: &IdempotentAttempt,
) -> Result<bool> {
    let known = (known.followed, known.epoch);
    let printed = || String::from_utf8_lossy(&answer.body).into_owned();
    let note = step.event().map(|word| log_entry(&state, word, printed()));
    let (app, answer, attempt) = (app.clone(), answer.clone(), attempt.clone());
    let (tenant, scope) = (connection.tenant.clone(), scope.clone());
    app.clone()
        .db
        .write(move |tx| {
            Box::pin(async move {
                // The connection, the log, the state, in the order of a pull: otherwise two transactions could deadlock.
                let lock = ConnectionLock::take(tx, &tenant, &state.connection_id).await?;
                let lock = lock.ok_or_else(|| not_found("connection"))?;
                let stored = table::lock_state(tx, &lock, (&state.surface, &state.scope_id)).await?;
                if stored.is_some_and(|stored| (stored.followed, stored.epoch) != known) {
                    return Ok(false);
                }
                if let Some(note) = note {
                    event_log::append(tx, &app, &tenant, vec![note]).await?;
                }
                write(tx, &app, &lock, &scope, &state, &step).await?;
                attempt.store(tx, &app.keyring, &answer, app.now()).await?;
                Ok::<_, Error>(true)
            })
        })
        .await
}

/// Writes the state and schedules its pull. A reset takes the job away from a running pull.
async fn write(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    scope: &SyncScope,
    state: &SyncState,
    step: &StateUpdate,
) -> Result<()> {
    let StateUpdate::Reset(inside) = step else { return write_start(tx, app, lock, scope, state).await };
    let (pull, now) = (pull_job(lock, scope), app.now());
    table::reset(tx, lock, state).await?;
    table::forget_attempts(tx, &state.connection_id).await?;
    collection_set::forget_cursors(tx, lock, scope.surface(), inside).await?;
    // Includes collections that another host has just read, or reads now.
    let mut ids: Vec<String> = inside.iter().map(|id| pull_job_of(lock, scope.surface(), id).id()).collect();
    ids.sort_unstable();
    for id in &ids {
        job_claims::undo(tx, id, now).await?;
    }
    job_claims::evict(tx, &pull.due(lock, Some(now)), now).await?;
    Ok(())
}

/// Writes the state of a scope that is now followed, and schedules its pull at once.
pub async fn write_start(
    tx: &mut Tx,
    app: &App,
    lock: &ConnectionLock,
    scope: &SyncScope,
    state: &SyncState,
) -> Result<()> {
    let (pull, now) = (pull_job(lock, scope), app.now());
    table::follow(tx, lock, state).await?;
    jobs::enqueue(tx, &pull.due(lock, Some(now)), now).await?;
    if let Some(watch) = watch_job(app, lock, scope) {
        enqueue_watch(tx, app, lock, &watch).await?;
    }
    Ok(())
}

/// Most errors of single items in a response.
const ITEM_ERRORS: i64 = 20;

/// Returns the state as rendered in the response that makes its pull due.
pub async fn begun(app: &App, connection: &Connection, s: &SyncState) -> Result<String> {
    let now = Some(Instant::from_millis(app.now()));
    let begun = sync::SyncState { next_attempt_at: now, ..view(app, connection, s).await? };
    Ok(serde_json::to_string(&begun)?)
}

/// Returns the state for the API, with the records that could not be read. It depends on rows alone, so that every host returns the same.
pub async fn view(app: &App, connection: &Connection, s: &SyncState) -> Result<sync::SyncState> {
    let (s, collections) = &all_of(app, connection, s).await?;
    let job = jobs::find(app.db.reader(), &pull_job_of(connection, &s.surface, &s.scope_id).id()).await?;
    let queued = job.as_ref().filter(|job| s.followed && job.state == "queued");
    let next_attempt_at = queued.and_then(|job| job.due_at).map(Instant::from_millis);
    let mut last_error: Option<SyncError> = s.last_error.as_deref().map(serde_json::from_str).transpose()?;
    if let Some(error) = last_error.as_mut().filter(|_| next_attempt_at.is_some()) {
        error.retry_at = next_attempt_at;
    }
    // A pull without changes is not always written into the state. For a whole surface the job may have read the collections alone.
    let done_at = job.as_ref().filter(|_| !is_whole(s)).and_then(|job| job.done_at);
    let last_success_at = s.last_success_at.map(|at| done_at.map_or(at, |done_at| done_at.max(at)));
    let (item_errors, item_error_count) = table::item_errors(app.db.reader(), s, ITEM_ERRORS).await?;
    let watched = watched_by_rows(app, &connection.id).await?;
    let shown = push_status::load(app, connection, s, watch(app, connection, Some((s, watched)))).await?;
    let at = |ms: Option<i64>| ms.map(Instant::from_millis);
    // Own writes count too; the log drops old entries, the state does not.
    let last = match (s.scope_id.as_str(), s.surface.as_str()) {
        ("", "email") => {
            log_table::last_of(app.db.reader(), &connection.tenant, &s.connection_id, change_feed::MAIL)
                .await?
        }
        ("", _) => {
            log_table::last_of(app.db.reader(), &connection.tenant, &s.connection_id, change_feed::CONTACTS)
                .await?
        }
        (collection, _) => log_table::last_in(app.db.reader(), &connection.tenant, collection).await?,
    };
    Ok(sync::SyncState {
        connection_id: s.connection_id.clone(),
        surface: parse_stored(&s.surface)?,
        scope_id: (!s.scope_id.is_empty()).then(|| s.scope_id.clone()),
        status: parse_stored(&s.status)?,
        epoch: s.epoch,
        started_at: at(s.started_at),
        last_success_at: at(last_success_at),
        last_attempt_at: at(s.last_attempt_at),
        lag_seconds: last_success_at.map(|ms| (app.now() - ms).max(0) / 1000),
        progress: SyncProgress { seen: s.seen, estimated: s.estimated, covered_since: at(s.covered_since) },
        backfill_since: at(s.backfill_since),
        watch_error: push_status::find_error(app, connection, s, shown.as_ref()).await?,
        watch: shown,
        watch_coverage: push_status::coverage(app, connection, s, *collections).await?,
        consecutive_errors: s.consecutive_errors,
        last_error,
        next_attempt_at,
        provider_resets: s.provider_resets,
        second_reading: ScanDoubt::from_state(s)?.map(second_reading),
        latest_sequence: s.latest_sequence.max(last.unwrap_or(0)),
        item_errors: item_errors.into_iter().map(item_error).collect(),
        item_error_count,
    })
}

fn is_whole(s: &SyncState) -> bool {
    s.scope_id.is_empty() && s.surface != ResourceKind::EmailMessage.surface().as_str()
}

/// Returns the state of a surface that is followed as a whole, combined with its collections', and the number of collections.
async fn all_of(app: &App, connection: &Connection, s: &SyncState) -> Result<(SyncState, i64)> {
    if !is_whole(s) {
        return Ok((s.clone(), 0));
    }
    let mut all = SyncState { seen: 0, ..s.clone() };
    let live = collection_set::collections(app, connection, ResourceKind::ContactBook).await?;
    let inside = collection_set::states(app, connection, ResourceKind::ContactBook, &live).await?;
    // A book that was created since waits for the next round. The collections on the last list were written after the provider was asked
    // for it, and that write was an activity.
    let listed_at = s.last_success_at.max(s.last_activity_at);
    let is_due = |book: &Item| listed_at.is_some_and(|at| book.created_at <= at);
    let is_unread = |book: &Item| !inside.iter().any(|s| s.scope_id == book.id);
    if live.iter().any(|book| is_due(book) && is_unread(book)) {
        all.last_success_at = None;
    }
    for inside in inside {
        all.seen += inside.seen;
        all.provider_resets += inside.provider_resets;
        all.latest_sequence = all.latest_sequence.max(inside.latest_sequence);
        // The whole is as old as its oldest part.
        all.last_success_at = match (all.last_success_at, inside.last_success_at) {
            (Some(all), Some(inside)) => Some(all.min(inside)),
            _ => None,
        };
        if ScanDoubt::from_state(&all)?.is_none() {
            all.doubt = inside.doubt;
        }
    }
    if all.last_success_at.is_none() && all.status == "caught_up" {
        all.status = "initial".to_owned();
    }
    Ok((all, i64::try_from(live.len()).unwrap_or(i64::MAX)))
}

/// Returns the state of a scope's push channel: unsupported if the provider has no stream. None: the provider has one, which is opened once
/// the scope is followed. `state`: the sync state, with its channel on this or another host.
pub fn watch(
    app: &App,
    connection: &Connection,
    state: Option<(&SyncState, Option<LiveChannel>)>,
) -> Option<Watch> {
    let mail = state.filter(|(s, _)| s.surface == ResourceKind::EmailMessage.surface().as_str());
    let Some((state, watched)) = mail.filter(|_| app.runtime.can_listen(&connection.provider)) else {
        return Some(Watch { status: WatchStatus::Unsupported, ..Watch::default() });
    };
    if !state.followed {
        return None;
    }
    let watched = watched.unwrap_or_default();
    let status = match watched.channel {
        Channel::Open => WatchStatus::Active,
        Channel::Closed => WatchStatus::Expired,
        Channel::None => WatchStatus::Unsupported,
    };
    let last_notification_at = watched.told_at.map(Instant::from_millis);
    Some(Watch { status, expires_at: None, last_notification_at })
}

fn second_reading(doubt: ScanDoubt) -> SecondReading {
    let ScanDoubt { missing, known, at, .. } = doubt;
    SecondReading { missing, known, since: Instant::from_millis(at) }
}

fn item_error(e: ItemError) -> SyncItemError {
    SyncItemError {
        quarantined: quarantine::is_quarantined(&e),
        external_id: e.source_id,
        code: e.code,
        message: e.message,
        attempts: e.attempts,
        at: Instant::from_millis(e.at),
    }
}

/// Parses a value of the model that the database stores.
fn parse_stored<T: DeserializeOwned>(word: &str) -> Result<T> {
    Ok(T::deserialize(StrDeserializer::<serde::de::value::Error>::new(word))
        .with_context(|| word.to_owned())?)
}
