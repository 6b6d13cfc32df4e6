//! The sandbox provider: a small mail, calendar, contacts and tasks service with an API of its own, for trying Switchboard out with no
//! account anywhere. The host serves it under `/sandbox` when it is told to; `connectors/sandbox` is the connector to it. Nothing
//! here knows Switchboard's model, database or API: it is a provider like any other.
//!
//! # Accounts
//! `alice@sandbox.test`, `bob@` and `carol@` have calendars with some sixty events around today, an address book of forty people
//! and the team's directory, two lists of things to do, and some sixty messages of the last months. Any other `<name>@sandbox.test` is an empty account from its first
//! request on. Log in with HTTP Basic and the password `sandbox`, or with `Bearer sandbox-<name>`.
//!
//! # Requests
//! | request | does |
//! |---|---|
//! | `GET /sandbox/v1/me` | the account |
//! | `GET POST /sandbox/v1/calendars` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/calendars/{calendar}` | the main one cannot be deleted: 403 `mainCalendar` |
//! | `GET POST /sandbox/v1/calendars/{calendar}/events` | list or what changed, create |
//! | `GET PATCH DELETE …/events/{event}` | a single event, or a series with its overrides |
//! | `GET …/events/{event}/instances` | a series from `from` to `to`, at most 400 days and 2,500 instances |
//! | `GET PATCH DELETE …/events/{event}/instances/{original}` | one instance by its original local start; `?span=following`: from it on |
//! | `POST …/events/{event}/answer` | answer an invitation: `{answer, note, original, span}` |
//! | `POST …/events/{event}/video` | add a meeting: `{service, requestId, original}`; once per event |
//! | `POST /sandbox/v1/busy` | busy times of own calendars and of people: `{from, to, calendars, people}` |
//! | `GET POST /sandbox/v1/books` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/books/{book}` | the main one cannot be deleted: 409 `mainBook`; one with cards in it: 409 `notEmpty`, unless `?force=true` |
//! | `GET POST /sandbox/v1/books/{book}/cards` | list or what changed, create: `kind` `person` or `circle` |
//! | `GET PATCH DELETE …/cards/{card}` | a person, or a circle with its `members`: persons of the same book, else 400 `notAMember`. Deleting a person takes it out of all circles |
//! | `GET …/cards/{card}/picture` | a stored picture: `{type, bytes, fingerprint}`, the bytes in base64; elsewhere only the fingerprint is shown |
//! | `GET POST /sandbox/v1/lists` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/lists/{list}` | the main one cannot be deleted: 409 `mainList` |
//! | `GET POST /sandbox/v1/lists/{list}/todos` | list or what changed, create |
//! | `GET PATCH DELETE …/todos/{todo}` | a todo with its steps and links; `parent`: another todo of the list, else 400 `notAParent`. Deleting one deletes all below it |
//! | `POST …/todos/{todo}/steps` | add a step: `{title, done, position}` |
//! | `PATCH DELETE …/steps/{step}` | |
//! | `POST …/todos/{todo}/links` | add a link: `{about, url, label, app, reference, foreignId}` |
//! | `DELETE …/links/{link}` | |
//! | `GET POST /sandbox/v1/mail/folders`, `…/labels` | list, create |
//! | `GET PATCH DELETE /sandbox/v1/mail/folders/{folder}`, `…/labels/{label}` | a folder with a `purpose` cannot be changed: 403 `systemFolder`; one that is not empty cannot be deleted: 409 `notEmpty` |
//! | `GET /sandbox/v1/mail/changes` | the token of now; what changed since: folders, labels, messages |
//! | `GET /sandbox/v1/mail/messages` | newest first; filters: `q` and those beside it in `mail::messages`, the language of `q` in `mail::search` |
//! | `POST /sandbox/v1/mail/messages` | import: the body is the message, its places and flags stand in the query string, see `mail::upload` |
//! | `GET PATCH DELETE …/messages/{message}` | one, with `headers=true` and `body=true`; flags, folders (several), labels, words; into the trash, or `?forever=true` |
//! | `POST /sandbox/v1/mail/batch` | several at once: `{ids, headers, body, maxText}` |
//! | `GET …/messages/{message}/raw`, `…/files/{part}` | its bytes, those of a file |
//! | `POST /sandbox/v1/mail/drafts` | a draft; `?replaces=` the version before: every version is a message of its own |
//! | `POST /sandbox/v1/mail/send` | `{raw, copy, sender, recipients, keepCopy, draft, id}`: base64 messages; the answer has `outcomes`, one for each recipient |
//! | `GET POST DELETE /sandbox/faults` | trouble on demand, see `faults::Fault` |
//! | `POST /sandbox/reset` | the account as it was in the beginning; sync tokens expire |
//!
//! * Bodies are JSON, at most 1 MiB (messages: 26 MiB); field names are in `calendar::types`, `contacts::types`, `tasks::types` and
//!   `mail::types`. `PATCH` is a merge patch (RFC 7396). Unknown fields are refused.
//! * Every folder (calendar, book, list) and every record (event, card, todo) has an `etag`, also in the `ETag` header. `If-Match`
//!   with another one: 412. A series and its overrides have one etag together, and so have a todo, its steps and its links.
//! * A change of a record answers `{"event" | "card" | "todo", "others", "dropped"}`: the record as it is now (null: deleted),
//!   others that changed with it, and what is gone with it. A change of a step or link answers its id as `part`, too.
//! * Creating takes an `id` of the client's choice (`[a-z0-9_-]`, 4 to 64 characters); one that exists: 409. Every write takes
//!   an `Idempotency-Key`: its repetition within a day answers about the same things and changes nothing; with another
//!   request: 422.
//! * Lists of records take `limit` (at most 250) and `pageToken`. The last page of an unfiltered list has `nextSyncToken`; a list
//!   with `syncToken` has what changed since, deleted records as `{"id","deleted":true}`. Tokens last seven days; an expired one:
//!   410.
//! * Filters of the event list: `updatedMin`, `from`, `to`, `q`, `uid`, `guest`. A filtered list has no sync token.
//! * Invited `@sandbox.test` people with an account see the event on their main calendar, and their answer comes back to the
//!   host. `accepts@`, `declines@` and `hesitates@` answer at once.
//! * Mail to `@sandbox.test` is in the inbox at once (an account that is not there yet is made), `<name>+<tag>@` too; mail to other
//!   domains goes nowhere. `reject@` and `defer@` refuse it, `bounce@` sends it back, `away@` and `replies@` answer, in any domain.
//!   If every recipient refuses it, nothing is kept as sent.
//! * Words in a subject, label or title make that write fail: see `faults::magic`. Accounts `revoked@`, `throttled@`, `down@`
//!   always fail.
//!
//! # Durability
//! A write is in `<data dir>/sandbox/journal.jsonl`, synced, before its answer leaves; see `journal`.

mod account;
mod auth;
mod calendar;
mod collections;
mod contacts;
mod faults;
mod journal;
mod mail;
mod ops;
mod patch;
mod problem;
mod receipts;
mod routes;
mod seed;
mod state;
mod store;
mod tasks;
mod times;
mod walk;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use axum::Extension;
use axum::extract::State as AxumState;
use axum::http::StatusCode;
use compute::Compute;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::auth::Login;
use crate::faults::Faults;
use crate::journal::Journal;
use crate::problem::Problem;
pub use crate::routes::router;
use crate::state::State;

/// Writes on their way at the same time; more wait.
const MAX_WRITES: usize = 256;
/// Large bodies that are read at the same time; more wait.
const MAX_LARGE_BODIES: usize = 4;
/// How long a sync token lasts, unless configured.
const SYNC_TOKEN_MS: i64 = 7 * 24 * 3_600_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What the provider needs to know.
#[derive(Clone)]
pub struct Config {
    /// The host's data directory: the journal goes to `sandbox/` in it. None: everything is forgotten at the end (tests).
    pub data_dir: Option<PathBuf>,
    /// Where now is. The seeded events lie around the moment when an account is made.
    pub clock: Clock,
    /// Ids come from the system's randomness, or repeat with this seed.
    pub seed: Option<u64>,
    /// How long a sync token lasts.
    pub sync_token_ms: i64,
}

impl Config {
    /// Nothing on disk, system randomness, tokens of seven days.
    pub fn new(clock: Clock) -> Self {
        Config { data_dir: None, clock, seed: None, sync_token_ms: SYNC_TOKEN_MS }
    }
}

/// The running provider: cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    store: Mutex<Store>,
    faults: Faults,
    clock: Clock,
    ids: Ids,
    sync_token_ms: i64,
    writes: Semaphore,
    large_bodies: Semaphore,
    compute: Compute,
}

struct Store {
    state: State,
    journal: Journal,
}

impl Sandbox {
    /// Reads the journal, or begins one. Fails when the data directory cannot be written, is in use by another process, or
    /// holds a damaged journal.
    pub fn new(config: Config) -> anyhow::Result<Self> {
        let ids = Ids { seed: config.seed, next: AtomicU64::new(0) };
        let mut state = State::default();
        let epoch = ids.make(8)?;
        let journal = match &config.data_dir {
            Some(dir) => Journal::open(&dir.join("sandbox"), epoch, &mut state)?,
            None => Journal::in_memory(epoch),
        };
        // A seeded run that goes on after a restart must not repeat its ids.
        ids.next.store(state.seq << 8, Ordering::Relaxed);
        Ok(Sandbox(Arc::new(Inner {
            store: Mutex::new(Store { state, journal }),
            faults: Faults::default(),
            clock: config.clock,
            ids,
            sync_token_ms: config.sync_token_ms,
            writes: Semaphore::new(MAX_WRITES),
            large_bodies: Semaphore::new(MAX_LARGE_BODIES),
            compute: Compute::default(),
        })))
    }

    /// For messages that take long to take apart, of each account as much as it has a share of.
    fn compute(&self) -> &Compute {
        &self.0.compute
    }

    fn now_ms(&self) -> i64 {
        (self.0.clock)()
    }

    fn new_id(&self) -> Result<String, Problem> {
        self.0.ids.make(20).map_err(|e| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", format!("no randomness: {e}"))
        })
    }

    fn faults(&self) -> &Faults {
        &self.0.faults
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the state and waits until nothing that it saw can be forgotten: a sync token for a change that a crash
    /// undoes would later skip the change that takes its number.
    async fn read<T>(&self, act: impl FnOnce(&State) -> Result<T, Problem>) -> Result<T, Problem> {
        let (result, position) = {
            let store = self.store();
            (act(&store.state), store.journal.position())
        };
        durable(position).await?;
        result
    }

    /// Runs `act` and waits until its changes are on disk. `act` decides before it changes anything: after a refusal the
    /// state is as before.
    async fn write<T>(&self, act: impl FnOnce(&mut State) -> Result<T, Problem>) -> Result<T, Problem> {
        let _permit = self.0.writes.acquire().await.map_err(|_| broken())?;
        let (result, position) = {
            let mut store = self.store();
            if store.journal.is_broken() {
                return Err(broken());
            }
            let result = act(&mut store.state);
            let Store { state, journal } = &mut *store;
            journal.append(&state.take_pending()).map_err(|_| broken())?;
            if journal.needs_rewrite() {
                journal.rewrite(state).map_err(|_| broken())?;
            }
            (result, journal.position())
        };
        durable(position).await?;
        result
    }

    /// The journal's name, which sync tokens carry.
    fn epoch(&self) -> String {
        self.store().journal.epoch.clone()
    }
}

fn broken() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the sandbox cannot write to its disk")
}

async fn durable(
    (line, mut durable): (u64, tokio::sync::watch::Receiver<journal::Durable>),
) -> Result<(), Problem> {
    let known = *durable.borrow();
    let reached = if known.broken || known.lines >= line {
        known
    } else {
        *durable.wait_for(|d| d.broken || d.lines >= line).await.map_err(|_| broken())?
    };
    if reached.broken { Err(broken()) } else { Ok(()) }
}

/// Makes ids: from the system's randomness, or the same ones for the same seed.
struct Ids {
    seed: Option<u64>,
    next: AtomicU64,
}

impl Ids {
    /// `len` (at most 32) characters of `[a-z2-7]`.
    fn make(&self, len: usize) -> anyhow::Result<String> {
        let mut bytes = [0; 32];
        match self.seed {
            None => getrandom::fill(&mut bytes).ok().context("the system gives no randomness")?,
            Some(seed) => {
                let next = self.next.fetch_add(1, Ordering::Relaxed);
                bytes = Sha256::digest([seed.to_be_bytes(), next.to_be_bytes()].concat()).into();
            }
        }
        Ok(bytes
            .iter()
            .take(len)
            .map(|b| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(b % 32)]))
            .collect())
    }
}

/// What handlers take: the provider and the account.
type Caller = (AxumState<Sandbox>, Extension<Login>);
